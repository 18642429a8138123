/* SPDX-License-Identifier: Apache-2.0 */
/* Read or build a fitted model with this header: scaling, projector, predictor and records. */
#ifndef KFE_MODEL_MODEL_H
#define KFE_MODEL_MODEL_H

#include "data/data.h"
#include "data/prepare/scale.h"
#include "learn/calibration.h"
#include "learn/conformal.h"
#include "learn/learner.h"
#include "method/method.h"
#include "method/shared/moments.h"

/* One view of the training data, as the model keeps it. */
/* The record of scale=auto: for each view, how many times the widest range of a column is that of the narrowest ones (scale.h); 0: the
 * rule did not ask. */
#define KFE_RECORD_SCALE_RATIO "auto-scale-ratio"

typedef struct kfe_i_model_view {
    char *name;
    int64_t cols;
    char **column_names; /* one per column, or NULL */
    int strings;
    kfe_i_encoding encoding; /* of text columns, which `cols` counts as they are after encoding */
    kfe_i_scaler scaler;
    /* Support examples, scaled; else empty. */
    kfe_i_table support;
} kfe_i_model_view;

typedef enum kfe_i_projector {
    KFE_PROJECT_KERNEL,
    KFE_PROJECT_LINEAR,
    KFE_PROJECT_IDENTITY,
    KFE_PROJECT_LOCAL,
    KFE_PROJECT_TREE,
    KFE_PROJECT_VIEWS
} kfe_i_projector;

/* Whether the projector evaluates kernels with support examples. */
int kfe_i_projector_has_kernels(kfe_i_projector projector);

/* Where a model comes from. */
typedef struct kfe_i_origin {
    char *version; /* of the kfe that fitted it */
    int64_t train_rows;
    uint64_t fingerprint;          /* of the training data (data/rows/fingerprint.h); 0: not known */
    char *label_name;              /* the header of the label in the training file, or NULL */
    char *id_name;                 /* the header of the column that named the rows there, or NULL */
    kfe_i_label_place label_place; /* in the training file */
} kfe_i_origin;

/* The part of the spec that a fit changes, as it was given: refit.c makes the spec again from it. */
typedef struct kfe_i_given_spec {
    char *options; /* of kfe_i_fit_params, "key=value,..."; NULL: not known, in older files */
    /* Bound to views, before names such as `scale` are resolved; empty: none were given. */
    kfe_i_kernel_list kernels;
} kfe_i_given_spec;

/* A model that was fitted without a fold of the rows, and its file. */
typedef struct kfe_i_fold_model {
    kfe_model *model;
    char *bytes;
    int64_t size;
} kfe_i_fold_model;

/* What a model was fitted to predict. */
typedef struct kfe_i_model_target {
    kfe_task task;
    int64_t class_count; /* 0: no classes */
    char **class_names;
} kfe_i_model_target;

/*
 * features(x) = Aᵀκ(S, x) − offset for kernel projectors, Wᵀx − offset for linear ones (x has the columns of all views), x for the identity, and
 * Σ_v A_vᵀκ_v(S, x) − offset for those of views, with κ_v the sum of the kernels of view v;
 * localized ones are in method/shared/local.h, trees in method/shared/tree.h.
 * Centring in feature space is contained in A and offset, so one transform serves all methods. The predictor,
 * if the model has one, turns features into predictions.
 */
struct kfe_model {
    kfe_context *ctx;
    char *method;
    char *params; /* "key=value,..." as fitted */
    kfe_i_origin origin;
    kfe_i_given_spec given;
    kfe_i_model_target target;

    int view_count;
    kfe_i_model_view *views;
    kfe_i_division division; /* of the one table that the views are columns of; no columns: none */

    kfe_i_projector projector; /* linear: coefficients are on the columns of the views; kernels: none */
    kfe_i_kernel_list kernels;
    int64_t rows, dim;
    /* rows × dim; with several views, one such block per view, one below the other; NULL: the identity. */
    double *coefficients;
    double *offset; /* dim; NULL: zero */
    kfe_i_nipals
        nipals; /* how rows with missing values get their features, of a linear projector; dim 0: not at all */
    int64_t *support_index; /* training row of each support example; NULL if they are synthetic or linear */
    kfe_i_local *local;     /* localized projectors; `rows` is then the number of support examples */
    kfe_i_tree *tree;       /* trees; the same */

    kfe_i_record *records;
    int64_t record_count;
    kfe_i_moments moments; /* of the training data; dim 0: none */

    char *learner;        /* NULL: features only */
    char *learner_params; /* "key=value,..." as fitted */
    kfe_i_predictor predictor;
    kfe_i_calibration calibration; /* of its outputs; kind none: no probabilities */
    kfe_i_conformal conformal;     /* kind none: no intervals */
    kfe_i_fold_model *fold_models; /* one per fold of `conformal` */
};

/* How many blocks of rows × dim the coefficients have. */
int64_t kfe_i_model_blocks(const kfe_model *model);
/* Whether a kernel, or each of the list, is a plain dot product. */
int kfe_i_kernel_is_dot_product(const kfe_i_kernel *kernel);
int kfe_i_kernels_are_linear(const kfe_i_kernel_list *kernels);
/* Whether a learned distance (data/table/map.h) mixes the scaled columns of a view. */
int kfe_i_model_has_map(const kfe_model *model);

enum { KFE_FEATURE_NAME = 64 }; /* room for the name of a feature */
/* What feature number `feature`, from 0, is called: "LV 2", "PC 1", "orthogonal 1", or "feature 3" if the method has no word for it. */
void kfe_i_feature_name(const kfe_model *model, int64_t feature, char *out, size_t size);
int kfe_i_features_have_names(const kfe_model *model);
/* How many views have as many features each, those of one view after those of another; 1: the features are those of all views together. */
int64_t kfe_i_model_feature_views(const kfe_model *model);

/* Names in model files and reports: "none", "classes" or "real" */
const char *kfe_i_task_name(kfe_task task);
/* "kernel", "linear", "identity", "local", "tree" or "views" */
const char *kfe_i_projector_name(kfe_i_projector projector);
/* The reverse; 0 if no task or projector has this name (NULL included). */
int kfe_i_task_find(const char *name, kfe_task *out);
int kfe_i_projector_find(const char *name, kfe_i_projector *out);

/* A zeroed model with `views` zeroed views. */
kfe_status kfe_i_model_new(kfe_context *ctx, int views, kfe_model **out);

/* Takes coefficients, records and synthetic points out of the solution and the support set out of the (scaled)
 * training tables; examples whose coefficients are all zero are not kept. `kernels` is moved into the model, and so is a table
 * that the fit owns and that is all support.
 */
kfe_status kfe_i_model_adopt(kfe_model *model, kfe_i_solution *solution, kfe_i_kernel_list *kernels,
                             kfe_i_table *train);

/* Whether a localized model reads the training examples of this view. */
int kfe_i_model_reads_support(const kfe_model *model, int view);

/* Fails if the data does not fit the model's views, or has a value that is not finite and not filled in. */
kfe_status kfe_i_model_check(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
/* Checks the data and scales it as the training data was: one table per view, zeroed before; freed also after a failure. */
kfe_status kfe_i_model_scale(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                             kfe_i_table *scaled);
/* out (rows × dim) = features of data that fits the model's views. */
kfe_status kfe_i_model_project(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out);
/* The same as a table, which the identity keeps sparse; freed by the caller, before the data. */
kfe_status kfe_i_model_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                kfe_i_table *out);
/* Decision values (rows × predictor.outputs) of data. */
kfe_status kfe_i_model_outputs(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out);

/* Multiplications that the prediction of one row takes, roughly. */
double kfe_i_model_row_work(const kfe_model *model);

/* A model applied to rows that are checked and scaled already. */
typedef struct kfe_i_ready {
    const kfe_model *model;
    kfe_i_table *scaled;     /* one per view */
    kfe_i_table *supports;   /* one per view, borrowed from the model */
    const kfe_i_view *given; /* the views as they were given, for messages; NULL: not known */
    int64_t first_row;       /* rows before these, for messages */
} kfe_i_ready;

/* Sets the supports, given room for them. */
void kfe_i_ready_supports(kfe_i_ready *ready);
/* out (rows × dim) = the features of the rows. Fails if one is not finite: new data may hold larger values than training data. */
kfe_status kfe_i_ready_features(kfe_context *ctx, const kfe_i_ready *ready, double *out);
/* out (rows × predictor.outputs) = their decision values; `features` is room for rows × dim numbers. Fails as the features do. */
kfe_status kfe_i_ready_outputs(kfe_context *ctx, const kfe_i_ready *ready, double *features, double *out);
/* What an output of the predictor decides: "a", "a : b", or "target 1"; the caller frees the name. */
kfe_status kfe_i_output_name(kfe_context *ctx, const kfe_model *model, int64_t index, char **out);
/* Fails if the model cannot predict. */
kfe_status kfe_i_model_check_learner(kfe_context *ctx, const kfe_model *model);
/* Fails if a kernel of the model is a function of the user that is not bound. */
kfe_status kfe_i_model_check_kernels(kfe_context *ctx, const kfe_model *model);

/* Whether a view of the model has steps that prepare its rows. */
int kfe_i_model_prepares(const kfe_model *model);

#endif
