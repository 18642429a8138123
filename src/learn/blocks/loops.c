/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loops of the SVM solver in blocks.c, compiled for AVX-512, AVX2 and the baseline, and chosen at run time. */
#include "learn/blocks/loops.h"

#include <math.h>

#include "core/instructions.h"

KFE_LOOP kfe_i_extremes extremes(const double *residual, const double *rise, const double *fall,
                                 int64_t count)
{
    double highest = -INFINITY;
    double lowest = INFINITY;

#pragma omp simd reduction(max : highest) reduction(min : lowest)
    for (int64_t t = 0; t < count; t++) {
        double up = residual[t] + rise[t];
        double down = residual[t] + fall[t];
        highest = up > highest ? up : highest;
        lowest = down < lowest ? down : lowest;
    }
    return (kfe_i_extremes){highest, lowest};
}

enum { BLOCK = 64 };

KFE_LOOP int64_t find_value(const double *residual, const double *rise, double value, int64_t count)
{
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t last = first + BLOCK < count ? first + BLOCK : count;
        int found = 0;
#pragma omp simd reduction(| : found)
        for (int64_t t = first; t < last; t++)
            found |= residual[t] + rise[t] == value;
        for (int64_t t = first; found && t < last; t++)
            if (residual[t] + rise[t] == value)
                return t;
    }
    return count;
}

KFE_LOOP int64_t find_gain(const float *gain, float value, int64_t count)
{
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t last = first + BLOCK < count ? first + BLOCK : count;
        int found = 0;
#pragma omp simd reduction(| : found)
        for (int64_t t = first; t < last; t++)
            found |= gain[t] == value;
        for (int64_t t = first; found && t < last; t++)
            if (gain[t] == value)
                return t;
    }
    return -1;
}

/* Gains are in single precision: they only order the candidates. Differences are computed in double precision. */
KFE_LOOP int64_t partner(const kfe_i_partner_search *search, int64_t count, float *restrict gain)
{
    const double *restrict residual = search->residual;
    const double *restrict fall = search->fall;
    const double *restrict diagonal = search->diagonal;
    const float *restrict row = search->row;
    double highest = search->highest;
    double own = search->own;
    float best = -1;

#pragma omp simd reduction(max : best)
    for (int64_t t = 0; t < count; t++) {
        float d = (float)(highest - (residual[t] + fall[t]));
        float c = (float)(own + diagonal[t] - 2 * (double)row[t]);
        c = c > (float)KFE_TINY_CURVATURE ? c : (float)KFE_TINY_CURVATURE;
        float g = d > 0 ? d * d / c : -1.0F;
        gain[t] = g;
        best = g > best ? g : best;
    }
    return best < 0 ? -1 : find_gain(gain, best, count);
}

KFE_LOOP void step_residuals(double *restrict residual, double step, const float *restrict first,
                             const float *restrict second, int64_t count)
{
    for (int64_t t = 0; t < count; t++)
        residual[t] -= step * ((double)first[t] - (double)second[t]);
}

enum { TOGETHER = 4, CHUNK = 512 };

KFE_LOOP void add_four(const double *weights, const float *const *rows, int64_t from, int64_t count,
                       double *restrict values)
{
    const float *restrict a = rows[0] + from;
    const float *restrict b = rows[1] + from;
    const float *restrict c = rows[2] + from;
    const float *restrict d = rows[3] + from;
    double u = weights[0];
    double v = weights[1];
    double w = weights[2];
    double x = weights[3];

    for (int64_t i = 0; i < count; i++)
        values[i] += (u * (double)a[i] + v * (double)b[i]) + (w * (double)c[i] + x * (double)d[i]);
}

KFE_LOOP void add_one(double weight, const float *restrict row, int64_t count, double *restrict values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] += weight * (double)row[i];
}

/* A chunk of values stays in the first-level cache while all rows pass. */
KFE_LOOP void add_rows(const double *weights, const float *const *rows, int64_t row_count, int64_t count,
                       double *values)
{
    for (int64_t from = 0; from < count; from += CHUNK) {
        int64_t width = count - from < CHUNK ? count - from : CHUNK;
        int64_t r = 0;
        for (; r + TOGETHER <= row_count; r += TOGETHER)
            add_four(weights + r, rows + r, from, width, values + from);
        for (; r < row_count; r++)
            add_one(weights[r], rows[r] + from, width, values + from);
    }
}

/* 2^t for −126 ≤ t ≤ 0: the nearest integer goes to the exponent, and the rest, within ½ of 0, to the polynomial of
 * Cephes' exp2f. */
KFE_LOOP float power_of_two(float t)
{
    float whole = (t + 12582912.0F) - 12582912.0F; /* rounds, because of the 23 bits of a float */
    float x = t - whole;
    float p = 1.535336188319500e-4F;
    union {
        int32_t bits;
        float value;
    } scale = {.bits = ((int32_t)whole + 127) << 23};

    p = p * x + 1.339887440266574e-3F;
    p = p * x + 9.618437357674640e-3F;
    p = p * x + 5.550332471162809e-2F;
    p = p * x + 2.402264791363012e-1F;
    p = p * x + 6.931472028550421e-1F;
    return (p * x + 1) * scale.value;
}

KFE_LOOP void gaussian_row(const kfe_i_products *products, float gamma, int64_t count, float *out)
{
    const float *values = products->values;
    const float *norms = products->norms;
    float norm = products->norm;
    float factor = gamma * -1.44269504F; /* 1/ln 2 */

#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
        float distance = norm + norms[j] - 2 * values[j];
        float t = factor * (distance > 0 ? distance : 0);
        float value = power_of_two(t > -126 ? t : -126);
        out[j] = t > -126 ? value : 0;
    }
}

KFE_CHOOSE_LOOP(kfe_i_extremes, return, kfe_i_find_extremes, extremes,
                (const double *residual, const double *rise, const double *fall, int64_t count),
                (residual, rise, fall, count))
KFE_CHOOSE_LOOP(int64_t, return, kfe_i_find_value, find_value,
                (const double *residual, const double *rise, double value, int64_t count),
                (residual, rise, value, count))
KFE_CHOOSE_LOOP(int64_t, return, kfe_i_find_partner, partner,
                (const kfe_i_partner_search *search, int64_t count, float *gain), (search, count, gain))
KFE_CHOOSE_LOOP(void, , kfe_i_step_residuals, step_residuals,
                (double *residual, double step, const float *first, const float *second, int64_t count),
                (residual, step, first, second, count))
KFE_CHOOSE_LOOP(void, , kfe_i_add_kernel_rows, add_rows,
                (const double *weights, const float *const *rows, int64_t row_count, int64_t count,
                 double *values),
                (weights, rows, row_count, count, values))
KFE_CHOOSE_LOOP(void, , kfe_i_gaussian_row, gaussian_row,
                (const kfe_i_products *products, float gamma, int64_t count, float *out),
                (products, gamma, count, out))
