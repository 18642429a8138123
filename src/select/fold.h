/* SPDX-License-Identifier: Apache-2.0 */
/* Fit one method on the training rows of a split and measure predictors on its test rows. */
#ifndef KFE_SELECT_FOLD_H
#define KFE_SELECT_FOLD_H

#include "data/data.h"
#include "gram/device/shared.h"
#include "model/fit.h"
#include "select/metric.h"
#include "select/row_sums.h"
#include "select/splits.h"
#include "select/train_rows.h"

typedef struct kfe_i_fold {
    kfe_context *ctx;
    kfe_i_table train, test; /* features */
    kfe_i_sums sums; /* over the training features, in place of `train` and `target`; no columns: not made */
    kfe_i_target target; /* of the training rows, classes without a member left out */
    int32_t *old_code;   /* class in the whole data of each class of `target` */
    int64_t dim;
    int has_predictor;         /* there is nothing left to learn: `predictor` predicts from the features */
    kfe_i_predictor predictor; /* of the method, or of a learner on the kernel */
} kfe_i_fold;

/* A kernel matrix over `count` rows of the data (increasing), for splits of these rows. */
typedef struct kfe_i_shared_matrix {
    const double *values;        /* count × count; NULL: on a device */
    kfe_i_device_shared *device; /* NULL: in host memory */
    int64_t count;
    const int64_t *place; /* of each data row in it */
} kfe_i_shared_matrix;

/* What splits share; a pointer is NULL if they do not. */
typedef struct kfe_i_shared {
    const kfe_i_shared_matrix *matrix;
    const kfe_i_row_sums *sums;
    const kfe_i_train_rows *train; /* of this split */
    int keeps_units;               /* scale=auto is known to leave the columns of every split as they are */
} kfe_i_shared;

/* Some rows of a data set. */
typedef struct kfe_i_rows {
    const int64_t *items;
    int64_t count;
} kfe_i_rows;

/* Copies rows of the data with their targets, and from a precomputed kernel matrix only the columns listed. */
kfe_status kfe_i_fold_gather(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec, kfe_i_rows rows,
                             kfe_i_rows columns, kfe_data **out);
/* The training rows of a split, with the weights of classes that the spec gives. Free *out also after a failure. */
kfe_status kfe_i_fold_gather_train(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec,
                                   const kfe_i_split *split, kfe_data **out);

/* Fits `spec` on the training rows, as kfe_fit does unless something is shared. The result is freed by `owner`, which may
 * outlive ctx. */
kfe_status kfe_i_fold_extract(kfe_context *ctx, kfe_context *owner, const kfe_data *data,
                              const kfe_i_split *split, const kfe_spec *spec, const kfe_i_shared *shared,
                              kfe_i_fold *out);
void kfe_i_fold_free(kfe_i_fold *fold);
/* Frees a fold that was begun, by the context of the task, since the owner may be busy in another thread. */
void kfe_i_fold_give_up(kfe_context *ctx, kfe_i_fold *fold);

/* What to measure on a fold. */
typedef struct kfe_i_trial {
    const kfe_data *data;
    const kfe_i_split *split;
    const kfe_i_learner *learner; /* NULL: the fold has a predictor */
    const void *settings;
    const kfe_i_predictor *trained; /* by these settings already, on a device; NULL: not yet */
    int64_t dim;                    /* number of leading features to use; 0: all */
    int64_t positive;               /* class looked for; see kfe_i_outcome */
    const kfe_i_metric *const *metrics;
    int64_t metric_count;
    /* The whole setting, to be fitted for its probabilities; NULL: not asked for. */
    const kfe_spec *calibrated;
} kfe_i_trial;

/* Trains `count` settings of a learner on the first `dim` features of the training rows at once, where a device does that; out[s].outputs
 * is 0 where none does. The caller frees the others. */
kfe_status kfe_i_fold_learn_on_device(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_learner *learner,
                                      int64_t dim, const void *const *settings, int64_t count,
                                      kfe_i_predictor *out);

/* Where the numbers of a fold are put; NULL: not wanted. */
typedef struct kfe_i_measured_fold {
    double *values;          /* metric_count */
    double *variances;       /* metric_count, of what one row contributes (metric.h) */
    double *residuals;       /* of real targets: columns × 2 (cells.h) */
    double *predictions;     /* of the test rows: numbers of classes, or rows × columns */
    double *support_vectors; /* examples that the learner rests on; NaN: not applicable */
} kfe_i_measured_fold;

/* Trains the learner on the training rows, unless there is a predictor, and measures on the test rows. */
kfe_status kfe_i_fold_measure(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_trial *trial,
                              const kfe_i_measured_fold *out);

#endif
