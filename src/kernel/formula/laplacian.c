/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−gamma·Σ|x_j − y_j|). */
#include "kernel/formula/formula.h"

KFE_KERNEL(laplacian, KFE_F(fabs)(x - y), { KFE_EXP(values, count, -params[0]); })

#ifdef KFE_KERNEL_FILE
typedef struct laplacian_settings {
    double gamma;
} laplacian_settings;

static const kfe_i_param rows[] = {KFE_GAMMA_ROW(laplacian_settings, gamma, "auto")};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((laplacian_settings *)settings)->gamma, train);
}

static void describe(const void *settings, double *params)
{
    const laplacian_settings *s = settings;

    params[0] = s->gamma;
}

const kfe_i_kernel_def kfe_i_kernel_laplacian = {
    .name = "laplacian",
    .summary = "Laplacian (exponential of the city-block distance)",
    .formula = "exp(-gamma sum_j |x_j-y_j|)",
    .base = KFE_BASE_COORDINATE,
    .params = KFE_PARAM_TABLE(rows, laplacian_settings),
    .map = KFE_KERNEL_laplacian,
    .pair_sum = pair_sum,
    .describe = describe,
    .resolve = resolve,
};
#endif
