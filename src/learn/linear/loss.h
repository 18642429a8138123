/* SPDX-License-Identifier: Apache-2.0 */
/* Squared losses of outputs outside of intervals, and their derivatives: the inner loops of Newton's method for linear SVMs. */
#ifndef KFE_LEARN_LINEAR_LOSS_H
#define KFE_LEARN_LINEAR_LOSS_H

#include <stdint.h>

/* The loss of row i is cost_i·e², where e is how far its output lies outside of [low_i, high_i]. */
typedef struct kfe_i_losses {
    const double *low, *high, *cost;
    int64_t count;
} kfe_i_losses;

/* The losses at output + step·moved: their sum, its derivatives by the step, and how many rows have a loss. */
typedef struct kfe_i_loss_sums {
    double sum, first, second;
    int64_t active;
} kfe_i_loss_sums;
/* Writes slope_i = 2·cost_i·e too, which is above 0 where the output is too large and below 0 where it is too small. */
kfe_i_loss_sums kfe_i_loss_along(const kfe_i_losses *losses, const double *output, const double *moved,
                                 double step, double *slope);
/* Lists the rows whose slope has another sign than that in `before`; returns their number. `list` has room for `count` + 1. */
int64_t kfe_i_loss_list_changes(const double *slope, const double *before, int64_t count, int32_t *list);

#endif
