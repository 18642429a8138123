/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−gamma·Σ (x_j − y_j)² / (x_j + y_j)) for histograms; 0/0 counts as 0. */
#include "kernel/formula/formula.h"

KFE_KERNEL(chi2, x + y > 0 ? (x - y) * (x - y) / (x + y) : 0, { KFE_EXP(values, count, -params[0]); })

#ifdef KFE_KERNEL_FILE
typedef struct chi2_settings {
    double gamma;
} chi2_settings;

static const kfe_i_param rows[] = {KFE_GAMMA_ROW(chi2_settings, gamma, "1")};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((chi2_settings *)settings)->gamma, train);
}

static void describe(const void *settings, double *params)
{
    const chi2_settings *s = settings;

    params[0] = s->gamma;
}

const kfe_i_kernel_def kfe_i_kernel_chi2 = {
    .name = "chi2",
    .summary = "exponential chi-square, for histograms",
    .formula = "exp(-gamma sum_j (x_j-y_j)^2/(x_j+y_j))",
    .flags = KFE_HAS_NONNEGATIVE,
    .base = KFE_BASE_COORDINATE,
    .params = KFE_PARAM_TABLE(rows, chi2_settings),
    .map = KFE_KERNEL_chi2,
    .pair_sum = pair_sum,
    .describe = describe,
    .resolve = resolve,
};
#endif
