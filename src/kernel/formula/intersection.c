/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = Σ min(x_j, y_j), for histograms. */
#include "kernel/kernel.h"

static double overlap(const double *x, const double *y, int64_t count)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < count; j++) {
        double b = y ? y[j] : 0;
        sum += x[j] < b ? x[j] : b;
    }
    return sum;
}

const kfe_i_kernel_def kfe_i_kernel_intersection = {
    .name = "intersection",
    .summary = "histogram intersection",
    .formula = "sum_j min(x_j,y_j)",
    .flags = KFE_HAS_NONNEGATIVE,
    .base = KFE_BASE_COORDINATE,
    .pair_sum = overlap,
};
