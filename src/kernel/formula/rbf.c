/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−gamma·‖x − y‖²), the Gaussian. Papers that write σ: exp(−‖·‖²/σ) is gamma = 1/σ,
 * exp(−‖·‖²/2σ²) is gamma = 1/(2σ²), exp(−‖·‖²/s²) is gamma = 1/s². */
#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"

typedef struct rbf_settings {
    double gamma;
} rbf_settings;

static const kfe_i_param rows[] = {KFE_GAMMA_ROW(rbf_settings, gamma, "scale")};

static void map(const void *settings, kfe_i_tile *tile)
{
    const rbf_settings *s = settings;

    for (int64_t i = 0; i < tile->rows; i++)
        kfe_i_vexp_scaled(tile->values + i * tile->stride, tile->cols, -s->gamma);
}

static void slope(const void *settings, kfe_i_tile *tile)
{
    const rbf_settings *s = settings;

    map(settings, tile);
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] *= -s->gamma;
    }
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((rbf_settings *)settings)->gamma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const rbf_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE, .map = KFE_MAP_RBF, .params = {s->gamma}};
}

static double describe_slope(const void *settings, kfe_i_formula *out)
{
    describe(settings, out);
    return -((const rbf_settings *)settings)->gamma;
}

const kfe_i_kernel_def kfe_i_kernel_rbf = {
    .name = "rbf",
    .alias = "gaussian",
    .summary = "Gaussian (radial basis function)",
    .formula = "exp(-gamma |x-y|^2)",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DISTANCE,
    .params = KFE_PARAM_TABLE(rows, rbf_settings),
    .map = map,
    .slope = slope,
    .describe = describe,
    .describe_slope = describe_slope,
    .resolve = resolve,
};
