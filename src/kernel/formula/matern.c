/* SPDX-License-Identifier: Apache-2.0 */
/* The Matérn kernels with closed forms; r = ‖x − y‖:
 *
 *   nu = 1.5   t = √3 r/sigma,  κ = (1 + t) exp(−t),          dκ/d(r²) = −3/(2 sigma²) · exp(−t)
 *   nu = 2.5   t = √5 r/sigma,  κ = (1 + t + t²/3) exp(−t),   dκ/d(r²) = −5/(6 sigma²) · (1 + t) exp(−t)
 *
 * Functions in their spaces are once and twice differentiable. exp is the case nu = 0.5, rbf the limit of large nu. */
#include <math.h>

#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"

enum { NU_THREE_HALVES, NU_FIVE_HALVES };
enum { CHUNK = 128 };

typedef struct matern_settings {
    double sigma;
    int nu;
} matern_settings;

static const kfe_i_param rows[] = {
    KFE_SIGMA_ROW(matern_settings, sigma, "median"),
    KFE_CHOICE(matern_settings, nu, "nu", "1.5", "1.5|2.5", "smoothness"),
};

static double root(const matern_settings *s)
{
    return s->nu == NU_THREE_HALVES ? sqrt(3) : sqrt(5);
}

/* t and exp(−t) of squared distances. */
static void evaluate(const matern_settings *s, const double *squared, int64_t count, double *t, double *decay)
{
    for (int64_t j = 0; j < count; j++)
        decay[j] = t[j] = root(s) * (sqrt(squared[j]) / s->sigma);
    kfe_i_vexp_scaled(decay, count, -1);
}

static void map_chunk(const matern_settings *s, double *values, int64_t count)
{
    double t[CHUNK];
    double decay[CHUNK];

    evaluate(s, values, count, t, decay);
    for (int64_t j = 0; j < count; j++) {
        double polynomial = 1 + t[j] + (s->nu == NU_FIVE_HALVES ? t[j] * t[j] / 3 : 0);
        values[j] = decay[j] > 0 ? polynomial * decay[j] : 0; /* t may be infinite */
    }
}

static void slope_chunk(const matern_settings *s, double *values, int64_t count)
{
    double t[CHUNK];
    double decay[CHUNK];
    double squared = s->sigma * s->sigma;

    evaluate(s, values, count, t, decay);
    for (int64_t j = 0; j < count; j++) {
        double factor = s->nu == NU_FIVE_HALVES ? 5.0 / 6 * (1 + t[j]) : 1.5;
        values[j] = decay[j] > 0 ? -factor * decay[j] / squared : 0;
    }
}

static void each_chunk(const void *settings, kfe_i_tile *tile,
                       void (*run)(const matern_settings *s, double *values, int64_t count))
{
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j += CHUNK)
            run(settings, tile->values + i * tile->stride + j,
                tile->cols - j < CHUNK ? tile->cols - j : CHUNK);
}

static void map(const void *settings, kfe_i_tile *tile)
{
    each_chunk(settings, tile, map_chunk);
}

static void slope(const void *settings, kfe_i_tile *tile)
{
    each_chunk(settings, tile, slope_chunk);
}

static kfe_status resolve(kfe_context *ctx, void *settings, const kfe_i_table *train)
{
    return kfe_i_sigma_resolve(ctx, &((matern_settings *)settings)->sigma, train);
}

static void describe(const void *settings, kfe_i_formula *out)
{
    const matern_settings *s = settings;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE,
                           .map = KFE_MAP_MATERN,
                           .params = {s->sigma, s->nu == NU_THREE_HALVES ? 1.5 : 2.5}};
}

/* The kernel of the next lower smoothness, of the same t: exp for nu = 1.5, nu = 1.5 for nu = 2.5. */
static double describe_slope(const void *settings, kfe_i_formula *out)
{
    const matern_settings *s = settings;
    int is_rough = s->nu == NU_THREE_HALVES;

    *out = (kfe_i_formula){.base = KFE_FORMULA_DISTANCE,
                           .map = is_rough ? KFE_MAP_EXP : KFE_MAP_MATERN,
                           .params = {s->sigma / sqrt(is_rough ? 3 : 5.0 / 3), is_rough ? 1 : 1.5}};
    return (is_rough ? -1.5 : -5.0 / 6) / (s->sigma * s->sigma);
}

const kfe_i_kernel_def kfe_i_kernel_matern = {
    .name = "matern",
    .summary = "Matérn of smoothness 3/2 or 5/2",
    .formula = "(1+t) exp(-t), t = sqrt(3) |x-y|/sigma; nu=2.5: (1+t+t^2/3) exp(-t), t = sqrt(5) |x-y|/sigma",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DISTANCE,
    .params = KFE_PARAM_TABLE(rows, matern_settings),
    .map = map,
    .slope = slope,
    .describe = describe,
    .describe_slope = describe_slope,
    .resolve = resolve,
};
