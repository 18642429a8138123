/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = exp(−(r/sigma)^power) with the Euclidean distance r = ‖x − y‖: the Laplace kernel of the distance for
 * power 1, the Gaussian for power 2. Positive definite for powers up to 2 (Schoenberg 1938).
 *
 * The derivative by r² is −κ·(power/2)·(r/sigma)^power / r². For powers below 2 it has no limit at r = 0; there it is
 * set to 0, because gradients multiply it with x − y = 0. So it is for points that differ by no more than rounding, where
 * that difference has lost its digits. */
#include <math.h>
#include <string.h>

#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"
#include "kernel/tile/vpow.h"

enum { CHUNK = 128 };

typedef struct exp_settings {
    double sigma, power;
} exp_settings;

static const kfe_i_param rows[] = {
    KFE_SIGMA_ROW(exp_settings, sigma, "median"),
    KFE_REAL(exp_settings, power, "power", "1", KFE_REAL_POSITIVE, 2,
             "exponent of the distance: 1 is the Laplace kernel, 2 the Gaussian"),
};

/* values = (r/sigma)^power for squared distances, up to the factor that is returned. It is sigma^(-power), or 1 if that overflows: then r is
 * divided by sigma first, so that r = 0 stays exact. */
static double raise_distances(const exp_settings *s, double *values, int64_t count)
{
    double factor = pow(s->sigma, -s->power);

    if (isfinite(factor)) {
        kfe_i_vpow(values, count, s->power / 2);
        return factor;
    }
    for (int64_t j = 0; j < count; j++)
        values[j] = pow(sqrt(values[j]) / s->sigma, s->power);
    return 1;
}

static void map(const void *settings, kfe_i_tile *tile)
{
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        double factor = raise_distances(settings, row, tile->cols);
        kfe_i_vexp_scaled(row, tile->cols, -factor);
    }
}

/* squared ← the derivative there; squared distances up to `least` count as 0. */
static void slope_chunk(const exp_settings *s, double *squared, const double *least, int64_t count)
{
    double u[CHUNK];
    double decay[CHUNK];
    double factor;

    memcpy(u, squared, (size_t)count * sizeof *u);
    factor = raise_distances(s, u, count);
    memcpy(decay, u, (size_t)count * sizeof *u);
    kfe_i_vexp_scaled(decay, count, -factor);
    factor *= -s->power / 2;
    for (int64_t j = 0; j < count; j++) {
        int apart = squared[j] > least[j];
        double value = decay[j] * (factor * u[j] / (apart ? squared[j] : 1));
        squared[j] = apart && decay[j] > 0 ? value : 0; /* u may be infinite */
    }
}

/* The Gaussian's derivative has a limit at r = 0. */
static void gaussian_slope(const exp_settings *s, double *squared, int64_t count)
{
    double over = 1 / (s->sigma * s->sigma);

    kfe_i_vexp_scaled(squared, count, -over);
    for (int64_t j = 0; j < count; j++)
        squared[j] *= -over;
}

static void slope(const void *settings, kfe_i_tile *tile)
{
    const exp_settings *s = settings;
    double least[CHUNK] = {0};

    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j += CHUNK) {
            double *row = tile->values + i * tile->stride + j;
            int64_t count = tile->cols - j < CHUNK ? tile->cols - j : CHUNK;
            for (int64_t k = 0; tile->row_norms && tile->col_norms && k < count; k++)
                least[k] = KFE_SAME_POINT * (tile->row_norms[i] + tile->col_norms[j + k]);
            if (s->power == 2)
                gaussian_slope(s, row, count);
            else
                slope_chunk(s, row, least, count);
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

static double describe_slope(const void *settings, kfe_i_formula *out)
{
    const exp_settings *s = settings;

    describe(settings, out);
    if (s->power == 2)
        return -1 / (s->sigma * s->sigma); /* times the kernel itself */
    out->map = KFE_MAP_EXP_SLOPE;
    return 1;
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
    .describe_slope = describe_slope,
    .resolve = resolve,
};
