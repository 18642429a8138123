/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−gamma·‖x − y‖²), the Gaussian. Papers that write σ: exp(−‖·‖²/σ) is gamma = 1/σ,
 * exp(−‖·‖²/2σ²) is gamma = 1/(2σ²), exp(−‖·‖²/s²) is gamma = 1/s². */
#include "kernel/formula/formula.h"

KFE_KERNEL(rbf, 0, { KFE_EXP(values, count, -params[0]); })

#ifdef KFE_KERNEL_FILE
typedef struct rbf_settings {
    double gamma;
} rbf_settings;

static const kfe_i_param rows[] = {KFE_GAMMA_ROW(rbf_settings, gamma, "scale")};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((rbf_settings *)settings)->gamma, train);
}

static void describe(const void *settings, double *params)
{
    const rbf_settings *s = settings;

    params[0] = s->gamma;
}

static double slope(const void *settings, kfe_i_formula *out)
{
    double gamma = ((const rbf_settings *)settings)->gamma;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE, .map = KFE_KERNEL_rbf, .params = {gamma}};
    return -gamma;
}

const kfe_i_kernel_def kfe_i_kernel_rbf = {
    .name = "rbf",
    .alias = "gaussian",
    .summary = "Gaussian (radial basis function)",
    .formula = "exp(-gamma |x-y|^2)",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DISTANCE,
    .params = KFE_PARAM_TABLE(rows, rbf_settings),
    .map = KFE_KERNEL_rbf,
    .slope = slope,
    .describe = describe,
    .resolve = resolve,
};
#endif
