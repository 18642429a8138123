/* SPDX-License-Identifier: Apache-2.0 */
/* The Matérn kernels with closed forms; r = ‖x − y‖:
 *
 *   nu = 1.5   t = √3 r/sigma,  κ = (1 + t) exp(−t),          dκ/d(r²) = −3/(2 sigma²) · exp(−t)
 *   nu = 2.5   t = √5 r/sigma,  κ = (1 + t + t²/3) exp(−t),   dκ/d(r²) = −5/(6 sigma²) · (1 + t) exp(−t)
 *
 * Functions in their spaces are once and twice differentiable. exp is the case nu = 0.5, rbf the limit of large nu. */
#include "kernel/formula/formula.h"

/* params: sigma and nu */
KFE_KERNEL(matern, 0, {
    KFE_NUMBER scale = KFE_F(sqrt)(2 * params[1]) / params[0];
    KFE_NUMBER decay[KFE_CHUNK];
    for (int64_t j = 0; j < count; j++)
        decay[j] = values[j] = scale * KFE_F(sqrt)(values[j]);
    KFE_EXP(decay, count, -1);
    for (int64_t j = 0; j < count; j++) {
        KFE_NUMBER square = params[1] > 2 ? values[j] * values[j] / 3 : 0;
        values[j] = decay[j] > 0 ? (1 + values[j] + square) * decay[j] : 0; /* values[j] may be infinite */
    }
})

#ifdef KFE_KERNEL_FILE
enum { NU_THREE_HALVES, NU_FIVE_HALVES };

typedef struct matern_settings {
    double sigma;
    int nu;
} matern_settings;

static const kfe_i_param rows[] = {
    KFE_SIGMA_ROW(matern_settings, sigma, "median"),
    KFE_CHOICE(matern_settings, nu, "nu", "1.5", "1.5|2.5", "smoothness"),
};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_sigma_resolve(ctx, &((matern_settings *)settings)->sigma, train);
}

static void describe(const void *settings, double *params)
{
    const matern_settings *s = settings;

    params[0] = s->sigma;
    params[1] = s->nu == NU_THREE_HALVES ? 1.5 : 2.5;
}

/* The kernel of the next lower smoothness, of the same t: exp for nu = 1.5, nu = 1.5 for nu = 2.5. */
static double slope(const void *settings, kfe_i_formula *out)
{
    const matern_settings *s = settings;
    int is_rough = s->nu == NU_THREE_HALVES;
    double sigma = s->sigma / sqrt(is_rough ? 3 : 5.0 / 3);

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE,
                           .map = is_rough ? KFE_KERNEL_exp : KFE_KERNEL_matern,
                           .params = {sigma, is_rough ? 1 : 1.5, 0, 1 / sigma}};
    return (is_rough ? -1.5 : -5.0 / 6) / (s->sigma * s->sigma);
}

const kfe_i_kernel_def kfe_i_kernel_matern = {
    .name = "matern",
    .summary = "Matérn of smoothness 3/2 or 5/2",
    .formula = "(1+t) exp(-t), t = sqrt(3) |x-y|/sigma; nu=2.5: (1+t+t^2/3) exp(-t), t = sqrt(5) |x-y|/sigma",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DISTANCE,
    .params = KFE_PARAM_TABLE(rows, matern_settings),
    .map = KFE_KERNEL_matern,
    .slope = slope,
    .describe = describe,
    .resolve = resolve,
};
#endif
