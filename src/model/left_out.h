/* SPDX-License-Identifier: Apache-2.0 */
/* Fit a spec without some of its training rows with these functions, and let each fit answer the rows that it did not see. */
#ifndef KFE_MODEL_LEFT_OUT_H
#define KFE_MODEL_LEFT_OUT_H

#include "model/model.h"
#include "model/spec.h"

typedef struct kfe_i_row_list {
    const int64_t *items;
    int64_t count;
} kfe_i_row_list;

/* The rows of a data set for a fold of its own training rows, `columns`; of a precomputed kernel matrix, only their columns. */
kfe_status kfe_i_gather_fold(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                             kfe_i_row_list rows, kfe_i_row_list columns, kfe_data **out);

typedef struct kfe_i_left_out {
    kfe_context *ctx;
    const kfe_spec *spec;
    const kfe_data *train;
    int64_t folds;        /* below 2: some class has fewer than two rows that differ */
    int mixed;            /* more than half of the weight lies on rows that occur with several classes */
    int64_t *fold_of;     /* of each row */
    int64_t *kept, *left; /* row numbers of the last fold */
    int64_t kept_count, left_count; /* how many */
} kfe_i_left_out;

/* Deals the rows to at most `most` folds; INT64_MAX: a fold for each distinct row, or each group. Free *out also after a failure. */
kfe_status kfe_i_left_out_begin(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, int64_t most,
                                uint64_t stream, kfe_i_left_out *out);
void kfe_i_left_out_free(kfe_i_left_out *job);
/* The model of the other folds, and its outputs for the rows job->left (left_count × predictor.outputs). The caller frees both, also
 * after a failure. */
kfe_status kfe_i_left_out_fit(kfe_i_left_out *job, int64_t fold, kfe_model **model, double **outputs);

#endif
