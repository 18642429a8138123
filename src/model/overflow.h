/* SPDX-License-Identifier: Apache-2.0 */
/* Explain features or outputs that are not finite: name the view and the column whose value overflowed. */
#ifndef KFE_MODEL_OVERFLOW_H
#define KFE_MODEL_OVERFLOW_H

#include "model/model.h"

/* The largest number of one row so far. Begin with {0}. */
typedef struct kfe_i_largest {
    const char *view; /* not owned; NULL: no number is above zero */
    int64_t col;
    double magnitude;
} kfe_i_largest;

/* The first row of rows × cols numbers with one that is not finite; -1 if all are. */
int64_t kfe_i_find_overflow(const double *computed, int64_t rows, int64_t cols);
/* Compares the numbers of one row of a view, as scaled by `scaler` (NULL: the table is scaled already). */
void kfe_i_largest_add(kfe_i_largest *largest, const char *view, const kfe_i_table *table,
                       const kfe_i_scaler *scaler, int64_t row);
/* Fails with KFE_EINPUT; `row` is counted from 0. `view` is named if no number is above zero. */
kfe_status kfe_i_refuse_overflow(kfe_context *ctx, const kfe_i_largest *largest, const char *view,
                                 int64_t row);

#endif
