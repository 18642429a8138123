/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = (gamma·⟨x, y⟩ + coef0)^degree. Positive definite for coef0 ≥ 0. */
#include "kernel/formula/formula.h"

/* Integer powers by squaring: exact for small integers, and faster than pow. */
KFE_KERNEL(poly, 0, {
    KFE_NUMBER power[KFE_CHUNK];
    for (int64_t j = 0; j < count; j++) {
        power[j] = params[1] * values[j] + params[2];
        values[j] = 1;
    }
    for (int exponent = (int)params[0]; exponent > 0; exponent >>= 1)
        for (int64_t j = 0; j < count; j++) {
            values[j] *= exponent & 1 ? power[j] : 1;
            power[j] *= power[j];
        }
})

#ifdef KFE_KERNEL_FILE
typedef struct poly_settings {
    int64_t degree;
    double gamma, coef0;
} poly_settings;

static const kfe_i_param rows[] = {
    KFE_INT(poly_settings, degree, "degree", "3", 1, 100, "exponent"),
    KFE_GAMMA_ROW(poly_settings, gamma, "1"),
    KFE_REAL(poly_settings, coef0, "coef0", "1", 0, KFE_REAL_MAX, "constant added to the dot product"),
};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((poly_settings *)settings)->gamma, train);
}

static void describe(const void *settings, double *params)
{
    const poly_settings *s = settings;

    params[0] = (double)s->degree;
    params[1] = s->gamma;
    params[2] = s->coef0;
}

static double slope(const void *settings, kfe_i_formula *out)
{
    const poly_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DOT,
                           .map = KFE_KERNEL_poly,
                           .params = {(double)(s->degree - 1), s->gamma, s->coef0}};
    return s->gamma * (double)s->degree;
}

const kfe_i_kernel_def kfe_i_kernel_poly = {
    .name = "poly",
    .alias = "polynomial",
    .summary = "polynomial",
    .formula = "(gamma <x,y> + coef0)^degree",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DOT,
    .params = KFE_PARAM_TABLE(rows, poly_settings),
    .map = KFE_KERNEL_poly,
    .slope = slope,
    .describe = describe,
    .resolve = resolve,
};
#endif
