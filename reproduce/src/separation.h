/* SPDX-License-Identifier: Apache-2.0 */
/* How far apart the classes lie in features. */
#ifndef KFE_SELECT_SEPARATION_H
#define KFE_SELECT_SEPARATION_H

#include "data/target.h"

typedef struct kfe_i_separation {
    double
        neighbour_accuracy; /* share of rows whose nearest other row is of their class; the first of equals */
    double scatter_ratio;   /* trace of the between-class over that of the within-class scatter */
} kfe_i_separation;

/* Features: target->rows × cols, each row `stride` after the last. NaN with fewer than two rows, and for the
 * ratio when no class varies. Time O(rows² cols). */
kfe_status kfe_i_separation_measure(kfe_context *ctx, const kfe_i_target *target, int64_t cols,
                                    int64_t stride, const double *features, kfe_i_separation *out);

#endif
