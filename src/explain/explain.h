/* SPDX-License-Identifier: Apache-2.0 */
/* Build an explanation: a result whose tables hold numbers with labelled rows and columns. Each part of explain/ adds its
 * tables with these functions. */
#ifndef KFE_EXPLAIN_EXPLAIN_H
#define KFE_EXPLAIN_EXPLAIN_H

#include "core/param.h"
#include "model/model.h"
#include "result/result.h"

/* The axes that several tables share; KFE_BY_PREPARED: the columns that the steps of the model make, without steps its columns. Other axes have numbers from KFE_MODEL_AXES on. */
enum {
    KFE_BY_COLUMN,
    KFE_BY_PREPARED,
    KFE_BY_FEATURE,
    KFE_BY_OUTPUT,
    KFE_BY_TARGET,
    KFE_BY_EXAMPLE,
    KFE_MODEL_AXES
};

typedef struct kfe_i_explain_settings {
    char parts[KFE_PARAM_TEXT_SIZE];  /* "NAME;NAME"; empty: all that apply */
    int examples;                     /* also tables with a row per example */
    char metric[KFE_PARAM_TEXT_SIZE]; /* that permutation makes worse; empty: accuracy or rmse */
    int64_t repeats;                  /* permutations of each column */
    int64_t rows;                     /* importance is measured on at most this many examples */
    double level;                     /* of the limits of diagnostics and the intervals of the jack-knife */
    int64_t folds;                    /* of the jack-knife */
    int64_t top;                      /* number of columns to permute; 0: all, -1: as many as take seconds */
} kfe_i_explain_settings;

/* One call of kfe_explain. */
typedef struct kfe_i_explaining {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_data *data;  /* in the model's order of views; NULL: none was given */
    const kfe_data *train; /* the same of training data, for refits */
    kfe_i_explain_settings settings;
    kfe_i_labels *axes; /* those of the model have no name until a table has them */
    int64_t axis_count, axis_capacity;
    kfe_result *result;
} kfe_i_explaining;

/* ---- building ---- */

kfe_status kfe_i_explain_begin(kfe_i_explaining *job);
/* Frees what kfe_explain has not handed over. */
void kfe_i_explain_free(kfe_i_explaining *job);
/* A new axis; labels are copied, NULL: positions. */
kfe_status kfe_i_explain_axis(kfe_i_explaining *job, const char *name, int64_t count,
                              const char *const *labels, int *out);
/* Makes an axis of the model, unless it is made: columns of all views, features, outputs, targets, or the rows of the data. */
kfe_status kfe_i_explain_model_axis(kfe_i_explaining *job, int axis);
/* "name" or, of several views, "view.name", and "column 3" without a name; the caller frees it. */
kfe_status kfe_i_explain_column_label(const kfe_i_explaining *job, int v, int64_t j, const char *name,
                                      char **out);
/* Adds a zeroed table over two axes; *values is its memory, row by row. */
kfe_status kfe_i_explain_table(kfe_i_explaining *job, const char *name, const char *about, int rows, int cols,
                               double **values);

/* ---- the parts; each returns KFE_EUNSUPPORTED with the reason if it does not apply to the model ---- */

kfe_status kfe_i_explain_linear(kfe_i_explaining *job);
kfe_status kfe_i_explain_permutation(kfe_i_explaining *job);
kfe_status kfe_i_explain_views(kfe_i_explaining *job);
kfe_status kfe_i_explain_distance(kfe_i_explaining *job);
kfe_status kfe_i_explain_gradient(kfe_i_explaining *job);
kfe_status kfe_i_explain_support(kfe_i_explaining *job);
/* How far examples are from the training data; only for those who ask. */
kfe_status kfe_i_explain_rows(kfe_i_explaining *job);
/* Standard deviations and intervals of coefficients, by fits without some training rows; only for those who ask. */
kfe_status kfe_i_explain_jackknife(kfe_i_explaining *job);
/* How often the runs of steps such as cars kept each column, and whether it was chosen. */
kfe_status kfe_i_explain_chosen(kfe_i_explaining *job);

/* sizes[c] = the gradient importance of each column of all views, summed over outputs or features. KFE_EUNSUPPORTED as
 * kfe_i_explain_gradient. */
kfe_status kfe_i_gradient_sizes(kfe_i_explaining *job, double *sizes);

/* A copy of at most settings.rows examples with a weight above zero, drawn by their content and weight, with the weights that they
 * stand for; `dense`: sparse views are made dense. The caller frees it. */
kfe_status kfe_i_sample_data(const kfe_i_explaining *job, int dense, kfe_data **out);
/* Returns the status of a computation on the sample. If it refused a row, which stands elsewhere in the sample, the message names its place
 * in the data. */
kfe_status kfe_i_sample_name_row(const kfe_i_explaining *job, kfe_status status);
/* A dense copy of all examples in their order. The caller frees it. */
kfe_status kfe_i_every_example(const kfe_i_explaining *job, kfe_data **out);
/* Makes the gaps of a sample NaNs where the model fills them, so that they move with the values. */
kfe_status kfe_i_sample_open_gaps(const kfe_i_explaining *job, kfe_data *sample);

/* Adds y-rotations and, of examples with targets, y-scores, given the y-loadings (targets × features). */
kfe_status kfe_i_explain_y_scores(kfe_i_explaining *job, const double *y_loadings);

/* loadings (columns × features) = XᵀT(TᵀT)⁻¹ of the training data, on scaled columns; the caller frees them. */
kfe_status kfe_i_loadings(kfe_context *ctx, const kfe_model *model, double **out);

#endif
