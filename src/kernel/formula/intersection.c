/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = Σ min(x_j, y_j), for histograms. */
#include "kernel/kernel.h"

static double overlap(const double *x, const double *y, int64_t count)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < count; j++)
        sum += kfe_i_term_intersection_f64(x[j], y ? y[j] : 0);
    return sum;
}

static void describe(const void *settings, kfe_i_formula *out)
{
    (void)settings;
    *out = (kfe_i_formula){.base = KFE_FORMULA_COORDINATE, .term = KFE_TERM_OVERLAP};
}

const kfe_i_kernel_def kfe_i_kernel_intersection = {
    .name = "intersection",
    .summary = "histogram intersection",
    .formula = "sum_j min(x_j,y_j)",
    .flags = KFE_HAS_NONNEGATIVE,
    .base = KFE_BASE_COORDINATE,
    .pair_sum = overlap,
    .describe = describe,
};
