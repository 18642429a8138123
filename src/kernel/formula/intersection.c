/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = Σ min(x_j, y_j), for histograms. */
#include "kernel/formula/formula.h"

KFE_KERNEL(intersection, x < y ? x : y, {})

#ifdef KFE_KERNEL_FILE
const kfe_i_kernel_def kfe_i_kernel_intersection = {
    .name = "intersection",
    .summary = "histogram intersection",
    .formula = "sum_j min(x_j,y_j)",
    .flags = KFE_HAS_NONNEGATIVE,
    .base = KFE_BASE_COORDINATE,
    .map = KFE_KERNEL_intersection,
    .pair_sum = pair_sum,
};
#endif
