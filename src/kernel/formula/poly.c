/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = (gamma·⟨x, y⟩ + coef0)^degree. Positive definite for coef0 ≥ 0. */
#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"

typedef struct poly_settings {
    int64_t degree;
    double gamma, coef0;
} poly_settings;

static const kfe_i_param rows[] = {
    KFE_INT(poly_settings, degree, "degree", "3", 1, 100, "exponent"),
    KFE_GAMMA_ROW(poly_settings, gamma, "1"),
    KFE_REAL(poly_settings, coef0, "coef0", "1", 0, KFE_REAL_MAX, "constant added to the dot product"),
};

static void map(const void *settings, kfe_i_tile *tile)
{
    const poly_settings *s = settings;
    const double params[] = {(double)s->degree, s->gamma, s->coef0};

    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = kfe_i_map_poly_f64(row[j], 0, 0, params);
    }
}

static void slope(const void *settings, kfe_i_tile *tile)
{
    const poly_settings *s = settings;
    double factor = s->gamma * (double)s->degree;
    const double params[] = {(double)(s->degree - 1), s->gamma, s->coef0};

    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = factor * kfe_i_map_poly_f64(row[j], 0, 0, params);
    }
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((poly_settings *)settings)->gamma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const poly_settings *s = settings;

    *out = (kfe_i_formula){
        .base = KFE_FORMULA_DOT, .map = KFE_MAP_POLY, .params = {(double)s->degree, s->gamma, s->coef0}};
}

static double describe_slope(const void *settings, kfe_i_formula *out)
{
    const poly_settings *s = settings;

    describe(settings, out);
    out->params[0] -= 1;
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
    .map = map,
    .slope = slope,
    .describe = describe,
    .describe_slope = describe_slope,
    .resolve = resolve,
};
