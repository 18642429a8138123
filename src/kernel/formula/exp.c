/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−(r/sigma)^power) with the Euclidean distance r = ‖x − y‖: the Laplace kernel of the distance for
 * power 1, the Gaussian for power 2. Positive definite for powers up to 2 (Schoenberg 1938).
 *
 * The derivative by r² is −κ·(power/2)·(r/sigma)^power / r². For powers below 2 it has no limit at r = 0; there it is
 * set to 0, because gradients multiply it with x − y = 0. So it is for points that differ by no more than rounding, where
 * that difference has lost its digits. */
#include "kernel/formula/formula.h"

/* params: sigma, power, 1 for the derivative, and sigma^(−power). If the latter overflows, distances are divided by sigma instead. */
KFE_KERNEL(exp, 0, {
    int is_finite = params[3] - params[3] == 0;
    KFE_NUMBER factor = is_finite ? params[3] : 1;
    KFE_NUMBER over = is_finite ? 1 : 1 / params[0];
    KFE_NUMBER raised[KFE_CHUNK];
    KFE_NUMBER decay[KFE_CHUNK];
    if (params[2] == 0) {
        for (int64_t j = 0; !is_finite && j < count; j++)
            values[j] = values[j] * over * over;
        KFE_POWER(values, count, params[1] / 2);
        KFE_EXP(values, count, -factor);
        return;
    }
    for (int64_t j = 0; j < count; j++)
        raised[j] = values[j] * over * over;
    KFE_POWER(raised, count, params[1] / 2);
    for (int64_t j = 0; j < count; j++)
        decay[j] = raised[j] *= factor;
    KFE_EXP(decay, count, -1);
    for (int64_t j = 0; j < count; j++) {
        int apart = values[j] > (KFE_NUMBER)KFE_SAME_POINT * (row_norm + col_norms[j]);
        KFE_NUMBER value = decay[j] * (-params[1] / 2) * (raised[j] / (apart ? values[j] : 1));
        values[j] = apart && decay[j] > 0 ? value : 0; /* `raised` may be infinite */
    }
})

#ifdef KFE_KERNEL_FILE
typedef struct exp_settings {
    double sigma, power;
} exp_settings;

static const kfe_i_param rows[] = {
    KFE_SIGMA_ROW(exp_settings, sigma, "median"),
    KFE_REAL(exp_settings, power, "power", "1", KFE_REAL_POSITIVE, 2,
             "exponent of the distance: 1 is the Laplace kernel, 2 the Gaussian"),
};

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_sigma_resolve(ctx, &((exp_settings *)settings)->sigma, train);
}

static void describe(const void *settings, double *params)
{
    const exp_settings *s = settings;

    params[0] = s->sigma;
    params[1] = s->power;
    params[3] = pow(s->sigma, -s->power);
}

/* The Gaussian's derivative has a limit at r = 0: it is a multiple of the kernel. */
static double slope(const void *settings, kfe_i_formula *out)
{
    const exp_settings *s = settings;
    int is_gaussian = s->power == 2;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE, .map = KFE_KERNEL_exp};
    describe(settings, out->params);
    out->params[2] = !is_gaussian;
    return is_gaussian ? -1 / (s->sigma * s->sigma) : 1;
}

const kfe_i_kernel_def kfe_i_kernel_exp = {
    .name = "exp",
    .summary = "exponential of the Euclidean distance, or of a power of it",
    .formula = "exp(-(|x-y|/sigma)^power)",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DISTANCE,
    .params = KFE_PARAM_TABLE(rows, exp_settings),
    .map = KFE_KERNEL_exp,
    .slope = slope,
    .describe = describe,
    .resolve = resolve,
};
#endif
