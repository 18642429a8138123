/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get the sums over the training rows of a split from those over all rows: they are the total's less the test rows'. So the folds
 * of a cross-validation together take little more than one pass over products of columns. For linear methods that are fitted from
 * sums (kfe_i_method.fit_sums) or are faster with products of columns (kfe_i_problem.products).
 */
#ifndef KFE_SELECT_ROW_SUMS_H
#define KFE_SELECT_ROW_SUMS_H

#include "data/data.h"
#include "data/scale.h"
#include "data/sums.h"
#include "method/method.h"
#include "select/splits.h"

/* Over some rows of a data set. Begin with zeros. */
typedef struct kfe_i_row_sums {
    kfe_context *ctx;
    const kfe_data *data;
    int64_t *rows, count; /* the rows; count 0: there are no sums */
    kfe_i_sums total;
} kfe_i_row_sums;

/* Whether folds of this method may be fitted from sums. */
int kfe_i_row_sums_serve(const kfe_i_method *method);
/* Makes them for these rows of the one table of the data, unless they are made already, the data is sparse, has gaps or several views,
 * or there are too few rows or too little memory for that to pay off: then `count` is 0. */
kfe_status kfe_i_row_sums_make(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                               kfe_i_row_sums *sums);
void kfe_i_row_sums_free(kfe_i_row_sums *sums);

/* The sums over the training rows, scaled; classes without members are left out. *known is 0, and `out` empty, where they cannot be had from the
 * total: it does not cover the split, or the test rows hold so much of it that the difference would lose digits. Free
 * them also after a failure. */
kfe_status kfe_i_row_sums_train(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                                const kfe_i_scaler *scaler, kfe_i_sums *out, int *known);

#endif
