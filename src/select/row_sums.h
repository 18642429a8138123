/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get XᵀX of the training rows of a split from that of all rows: it is the total's less the test rows'. So the folds of a
 * cross-validation together take little more than one product. For methods that use it (kfe_i_problem.products).
 */
#ifndef KFE_SELECT_ROW_SUMS_H
#define KFE_SELECT_ROW_SUMS_H

#include "data/data.h"
#include "data/scale.h"
#include "select/splits.h"

/* Over some rows of a data set, about their mean. Begin with zeros. */
typedef struct kfe_i_row_sums {
    kfe_context *ctx;
    const kfe_i_table *table;
    int64_t *rows, count; /* the rows; count 0: there are no sums */
    double *centre;       /* cols */
    double *squares;      /* cols × cols: the upper triangle of Σ (x − centre)(x − centre)ᵀ */
} kfe_i_row_sums;

/* Makes them for these rows of the one table of the data, unless they are made already, the data is sparse, has gaps or several views,
 * or there are too few rows or too little memory for that to pay off: then `count` is 0. */
kfe_status kfe_i_row_sums_make(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                               kfe_i_row_sums *sums);
void kfe_i_row_sums_free(kfe_i_row_sums *sums);

/* *out (cols × cols, allocated; the caller frees it) is the upper triangle of XᵀX for the training rows, scaled and less their
 * means. *out is NULL where it cannot be had from the sums: they do not cover the split, or the test rows hold so much of the
 * total that the difference would lose digits. */
kfe_status kfe_i_row_sums_train(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                                const kfe_i_scaler *scaler, double **out);

#endif
