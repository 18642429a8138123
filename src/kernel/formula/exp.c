/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−(r/sigma)^power) with the Euclidean distance r = ‖x − y‖: the Laplace kernel of the distance for
 * power 1, the Gaussian for power 2. Positive definite for powers up to 2 (Schoenberg 1938).
 *
 * The derivative by r² is −κ·(power/2)·(r/sigma)^power / r². For powers below 2 it has no limit at r = 0; there it is
 * set to 0, because gradients multiply it with x − y = 0. So it is for points that differ by no more than rounding, where
 * that difference has lost its digits. */
#include <math.h>

#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"

/* Squared distances below this share of the squared norms count as 0. */
#define KFE_SAME_POINT 1e-18

typedef struct exp_settings {
    double sigma, power;
} exp_settings;

static const kfe_i_param rows[] = {
    KFE_SIGMA_ROW(exp_settings, sigma, "median"),
    KFE_REAL(exp_settings, power, "power", "1", KFE_REAL_POSITIVE, 2,
             "exponent of the distance: 1 is the Laplace kernel, 2 the Gaussian"),
};

/* (r/sigma)^power for a squared distance; dividing first keeps r = 0 exact for every sigma. */
static double scaled_power(const exp_settings *s, double squared)
{
    double t = sqrt(squared) / s->sigma;

    return s->power == 1 ? t : s->power == 2 ? t * t : pow(t, s->power);
}

static void map(const void *settings, kfe_i_tile *tile)
{
    const exp_settings *s = settings;

    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = scaled_power(s, row[j]);
        kfe_i_vexp_scaled(row, tile->cols, -1);
    }
}

static double slope_at(const exp_settings *s, double squared, double least)
{
    double u = scaled_power(s, squared);

    if (s->power == 2)
        return -exp(-u) / (s->sigma * s->sigma);
    return squared > least && isfinite(u) ? -exp(-u) * s->power / 2 * u / squared : 0;
}

static void slope(const void *settings, kfe_i_tile *tile)
{
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++) {
            double norms = tile->row_norms && tile->col_norms ? tile->row_norms[i] + tile->col_norms[j] : 0;
            row[j] = slope_at(settings, row[j], KFE_SAME_POINT * norms);
        }
    }
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_sigma_resolve(ctx, &((exp_settings *)settings)->sigma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const exp_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE, .map = KFE_MAP_EXP, .params = {s->sigma, s->power}};
}

const kfe_i_kernel_def kfe_i_kernel_exp = {
    .name = "exp",
    .summary = "exponential of the Euclidean distance, or of a power of it",
    .formula = "exp(-(|x-y|/sigma)^power)",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DISTANCE,
    .params = KFE_PARAM_TABLE(rows, exp_settings),
    .map = map,
    .slope = slope,
    .describe = describe,
    .resolve = resolve,
};
