/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = tanh(gamma·⟨x, y⟩ + coef0). Not positive definite in general. */
#include "kernel/formula/formula.h"

/* A dot product that overflows may have the wrong sign: it becomes NaN. */
KFE_KERNEL(sigmoid, 0, {
    for (int64_t j = 0; j < count; j++)
        values[j] = KFE_F(tanh)(params[0] * values[j] + params[1]) + (values[j] - values[j]);
})

#ifdef KFE_KERNEL_FILE
typedef struct sigmoid_settings {
    double gamma, coef0;
} sigmoid_settings;

static const kfe_i_param rows[] = {
    KFE_GAMMA_ROW(sigmoid_settings, gamma, "auto"),
    KFE_REAL(sigmoid_settings, coef0, "coef0", "0", -KFE_REAL_MAX, KFE_REAL_MAX,
             "constant added to the dot product"),
};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_gamma_resolve(ctx, &((sigmoid_settings *)settings)->gamma, train);
}

static void describe(const void *settings, double *params)
{
    const sigmoid_settings *s = settings;

    params[0] = s->gamma;
    params[1] = s->coef0;
}

const kfe_i_kernel_def kfe_i_kernel_sigmoid = {
    .name = "sigmoid",
    .summary = "hyperbolic tangent",
    .formula = "tanh(gamma <x,y> + coef0)",
    .flags = KFE_HAS_INDEFINITE,
    .base = KFE_BASE_DOT,
    .params = KFE_PARAM_TABLE(rows, sigmoid_settings),
    .map = KFE_KERNEL_sigmoid,
    .describe = describe,
    .resolve = resolve,
};
#endif
