/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = tanh(gamma·⟨x, y⟩ + coef0). Not positive definite in general. */
#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"

typedef struct sigmoid_settings {
    double gamma, coef0;
} sigmoid_settings;

static const kfe_i_param rows[] = {
    KFE_GAMMA_ROW(sigmoid_settings, gamma, "auto"),
    KFE_REAL(sigmoid_settings, coef0, "coef0", "0", -KFE_REAL_MAX, KFE_REAL_MAX,
             "constant added to the dot product"),
};

static void map(const void *settings, kfe_i_tile *tile)
{
    const sigmoid_settings *s = settings;
    const double params[] = {s->gamma, s->coef0};

    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = kfe_i_map_sigmoid_f64(row[j], 0, 0, params);
    }
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((sigmoid_settings *)settings)->gamma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const sigmoid_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DOT, .map = KFE_MAP_SIGMOID, .params = {s->gamma, s->coef0}};
}

const kfe_i_kernel_def kfe_i_kernel_sigmoid = {
    .name = "sigmoid",
    .summary = "hyperbolic tangent",
    .formula = "tanh(gamma <x,y> + coef0)",
    .flags = KFE_HAS_INDEFINITE,
    .base = KFE_BASE_DOT,
    .params = KFE_PARAM_TABLE(rows, sigmoid_settings),
    .map = map,
    .describe = describe,
    .resolve = resolve,
};
