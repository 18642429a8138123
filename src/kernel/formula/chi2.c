/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−gamma·Σ (x_j − y_j)² / (x_j + y_j)) for histograms; 0/0 counts as 0. */
#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"

typedef struct chi2_settings {
    double gamma;
} chi2_settings;

static const kfe_i_param rows[] = {KFE_GAMMA_ROW(chi2_settings, gamma, "1")};

static double chi_square(const double *x, const double *y, int64_t count)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < count; j++)
        sum += kfe_i_term_chi2_f64(x[j], y ? y[j] : 0);
    return sum;
}

static void map(const void *settings, kfe_i_tile *tile)
{
    const chi2_settings *s = settings;

    for (int64_t i = 0; i < tile->rows; i++)
        kfe_i_vexp_scaled(tile->values + i * tile->stride, tile->cols, -s->gamma);
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((chi2_settings *)settings)->gamma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const chi2_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_COORDINATE,
                           .map = KFE_MAP_CHI2,
                           .term = KFE_TERM_CHI_SQUARE,
                           .params = {s->gamma}};
}

const kfe_i_kernel_def kfe_i_kernel_chi2 = {
    .name = "chi2",
    .summary = "exponential chi-square, for histograms",
    .formula = "exp(-gamma sum_j (x_j-y_j)^2/(x_j+y_j))",
    .flags = KFE_HAS_NONNEGATIVE,
    .base = KFE_BASE_COORDINATE,
    .params = KFE_PARAM_TABLE(rows, chi2_settings),
    .map = map,
    .pair_sum = chi_square,
    .describe = describe,
    .resolve = resolve,
};
