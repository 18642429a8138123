/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−gamma·Σ|x_j − y_j|). */
#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"

typedef struct laplacian_settings {
    double gamma;
} laplacian_settings;

static const kfe_i_param rows[] = {KFE_GAMMA_ROW(laplacian_settings, gamma, "auto")};

static double city_block(const double *x, const double *y, int64_t count)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < count; j++)
        sum += kfe_i_term_laplacian_f64(x[j], y ? y[j] : 0);
    return sum;
}

static void map(const void *settings, kfe_i_tile *tile)
{
    const laplacian_settings *s = settings;

    for (int64_t i = 0; i < tile->rows; i++)
        kfe_i_vexp_scaled(tile->values + i * tile->stride, tile->cols, -s->gamma);
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((laplacian_settings *)settings)->gamma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const laplacian_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_COORDINATE,
                           .map = KFE_MAP_LAPLACIAN,
                           .term = KFE_TERM_CITY_BLOCK,
                           .params = {s->gamma}};
}

const kfe_i_kernel_def kfe_i_kernel_laplacian = {
    .name = "laplacian",
    .summary = "Laplacian, of the city-block distance",
    .formula = "exp(-gamma sum_j |x_j-y_j|)",
    .base = KFE_BASE_COORDINATE,
    .params = KFE_PARAM_TABLE(rows, laplacian_settings),
    .map = map,
    .pair_sum = city_block,
    .describe = describe,
    .resolve = resolve,
};
