/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orthonormal polynomials on equally spaced points t (Gram polynomials), by their three-term recurrence about the centre:
 *
 *     c_k q_{k+1} = t q_k − b_k q_{k−1},   and for derivatives   c_k q_{k+1}^(d) = t q_k^(d) + d q_k^(d−1) − b_k q_{k−1}^(d).
 *
 * b_k = ⟨t q_k, q_{k−1}⟩ and c_k is the norm of the right side; ⟨t q_k, q_k⟩ = 0 since the points are symmetric. Forsythe (1957).
 */
#include "data/steps/polynomial.h"

#include <math.h>

#include "core/memory.h"

typedef struct family {
    int64_t count, order, depth; /* depth: derivatives 0 … depth */
    double *all;                 /* (depth + 1) × (order + 1) × count */
} family;

static double *part(const family *f, int64_t d, int64_t k)
{
    return f->all + (d * (f->order + 1) + k) * f->count;
}

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static double point(const family *f, int64_t i)
{
    return (double)i - (double)(f->count - 1) / 2;
}

/* Derivative d of the polynomial of degree k + 1, before it is divided by c_k. */
static void rise(const family *f, int64_t d, int64_t k, double b)
{
    double *next = part(f, d, k + 1);

    for (int64_t i = 0; i < f->count; i++) {
        next[i] = point(f, i) * part(f, d, k)[i];
        if (d > 0)
            next[i] += (double)d * part(f, d - 1, k)[i];
        if (k > 0)
            next[i] -= b * part(f, d, k - 1)[i];
    }
}

static void fill(const family *f)
{
    for (int64_t i = 0; i < f->count; i++)
        part(f, 0, 0)[i] = 1 / sqrt((double)f->count);
    for (int64_t k = 0; k < f->order; k++) {
        double b = 0;
        for (int64_t i = 0; k > 0 && i < f->count; i++)
            b += point(f, i) * part(f, 0, k)[i] * part(f, 0, k - 1)[i];
        for (int64_t d = 0; d <= f->depth; d++)
            rise(f, d, k, b);
        double *next = part(f, 0, k + 1);
        double norm = sqrt(dot(f->count, next, next));
        for (int64_t d = 0; d <= f->depth; d++)
            for (int64_t i = 0; i < f->count; i++)
                part(f, d, k + 1)[i] /= norm;
    }
}

kfe_status kfe_i_polynomials(kfe_context *ctx, int64_t count, int64_t order, int64_t derivative,
                             double *values, double *derivatives)
{
    kfe_status status = KFE_OK;
    family f = {.count = count, .order = order, .depth = derivative};
    int64_t size = (order + 1) * count;

    KFE_ALLOC_ZERO(ctx, f.all, (derivative + 1) * size);
    fill(&f);
    for (int64_t i = 0; i < size; i++)
        values[i] = f.all[i];
    for (int64_t i = 0; derivatives && i < size; i++)
        derivatives[i] = f.all[derivative * size + i];
cleanup:
    kfe_i_free(ctx, f.all);
    return status;
}
