/* SPDX-License-Identifier: Apache-2.0 */
/* The best direction that the candidates of a pool can make, by trying every candidate, pair or triple; used by pursuit.c. */
#include <math.h>
#include <string.h>

#include "method/pursuit/pursuit.h"

typedef struct subset {
    int64_t places[KFE_SPARSITY_MOST];
    int64_t count;
    double value, weights[KFE_SPARSITY_MOST];
} subset;

/* Cholesky factorisation in place; returns 0 if the examples are dependent. */
static int factor(int64_t count, double *m)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = m[i * KFE_SPARSITY_MOST + j];
            double before = sum;
            for (int64_t l = 0; l < j; l++)
                sum -= m[i * KFE_SPARSITY_MOST + l] * m[j * KFE_SPARSITY_MOST + l];
            if (i == j && !(sum > 1e-12 * before))
                return 0;
            m[i * KFE_SPARSITY_MOST + j] = i == j ? sqrt(sum) : sum / m[j * KFE_SPARSITY_MOST + j];
        }
    return 1;
}

/* The largest eigenvalue of a symmetric matrix of at most three rows and its unit eigenvector, by repeated squaring. */
static double largest_eigen(int64_t count, const double *h, double *vector)
{
    double power[KFE_SPARSITY_MOST * KFE_SPARSITY_MOST];
    int64_t best = 0;

    memcpy(power, h, sizeof power);
    for (int step = 0; step < 40; step++) {
        double next[KFE_SPARSITY_MOST * KFE_SPARSITY_MOST] = {0};
        double largest = 0;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < count; j++) {
                for (int64_t l = 0; l < count; l++)
                    next[i * KFE_SPARSITY_MOST + j] +=
                        power[i * KFE_SPARSITY_MOST + l] * power[l * KFE_SPARSITY_MOST + j];
                largest = fmax(largest, fabs(next[i * KFE_SPARSITY_MOST + j]));
            }
        if (!(largest > 0))
            return 0;
        for (int i = 0; i < KFE_SPARSITY_MOST * KFE_SPARSITY_MOST; i++)
            power[i] = next[i] / largest;
    }
    for (int64_t i = 1; i < count; i++)
        if (power[i * (KFE_SPARSITY_MOST + 1)] > power[best * (KFE_SPARSITY_MOST + 1)])
            best = i;
    double length = 0;
    double value = 0;
    for (int64_t i = 0; i < count; i++)
        length += power[i * KFE_SPARSITY_MOST + best] * power[i * KFE_SPARSITY_MOST + best];
    for (int64_t i = 0; i < count; i++)
        vector[i] = power[i * KFE_SPARSITY_MOST + best] / sqrt(length);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            value += vector[i] * h[i * KFE_SPARSITY_MOST + j] * vector[j];
    return value;
}

/* Finds the best weights α on these places: the leading eigenvector of M⁻¹SSᵀ, S their covariances with the targets (for one
 * target M⁻¹s), with αᵀMα = 1. */
static void weigh(const kfe_i_pool *pool, subset *s)
{
    enum { W = KFE_SPARSITY_MOST };
    int64_t t = pool->pursuit->targets;
    double m[W * W] = {0};
    double h[W * W] = {0};
    double v[W] = {0};
    double y[W] = {0};

    s->value = -1;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = 0; j <= i; j++)
            m[i * W + j] = pool->products[s->places[i] * pool->size + s->places[j]];
    if (!factor(s->count, m))
        return;
    for (int64_t k = 0; k < t; k++) { /* h = Σ (L⁻¹s)(L⁻¹s)ᵀ over targets */
        for (int64_t i = 0; i < s->count; i++) {
            y[i] = pool->covariance[s->places[i] * t + k];
            for (int64_t l = 0; l < i; l++)
                y[i] -= m[i * W + l] * y[l];
            y[i] /= m[i * W + i];
        }
        for (int64_t i = 0; i < s->count; i++)
            for (int64_t j = 0; j < s->count; j++)
                h[i * W + j] += y[i] * y[j];
    }
    s->value = largest_eigen(s->count, h, v);
    for (int64_t i = s->count - 1; i >= 0; i--) { /* α = L⁻ᵀv */
        for (int64_t l = i + 1; l < s->count; l++)
            v[i] -= m[l * W + i] * v[l];
        v[i] /= m[i * W + i];
    }
    memcpy(s->weights, v, sizeof v);
}

static void consider(const kfe_i_pool *pool, subset *s, subset *best)
{
    weigh(pool, s);
    if (s->value > best->value)
        *best = *s;
}

static void search_triples(const kfe_i_pool *pool, int64_t a, int64_t b, subset *best)
{
    for (int64_t c = b + 1; c < pool->size; c++) {
        subset three = {.places = {a, b, c}, .count = 3};
        if (!pool->dead[c])
            consider(pool, &three, best);
    }
}

/* The best subset whose first place is a. */
static void search_from(const kfe_i_pool *pool, int64_t a, subset *best)
{
    subset one = {.places = {a}, .count = 1};

    if (pool->dead[a])
        return;
    consider(pool, &one, best);
    for (int64_t b = a + 1; b < pool->size; b++) {
        subset two = {.places = {a, b}, .count = 2};
        if (pool->dead[b])
            continue;
        consider(pool, &two, best);
        if (pool->pursuit->sparsity > 2)
            search_triples(pool, a, b, best);
    }
}

/* Small pools are searched by one thread. */
static int useful_threads(const kfe_i_pool *pool)
{
    enum { SERIAL_SIZE = 32 };

    return pool->size < SERIAL_SIZE ? 1 : kfe_context_threads(pool->ctx);
}

/* Of equal values the first counts, whichever thread is faster. */
static void search_subsets(const kfe_i_pool *pool, subset *best)
{
#pragma omp parallel for num_threads(useful_threads(pool)) schedule(dynamic, 1)
    for (int64_t a = 0; a < pool->size; a++) {
        subset own = {.value = 0};
        search_from(pool, a, &own);
#pragma omp critical
        if (own.value > best->value ||
            (own.value == best->value && own.count > 0 && own.places[0] < best->places[0]))
            *best = own;
    }
}

static void search_ones(const kfe_i_pool *pool, subset *best)
{
    const kfe_i_pursuit *p = pool->pursuit;

    for (int64_t c = 0; c < pool->size; c++) {
        double value = kfe_i_pool_score(pool, c);
        if (value <= best->value)
            continue;
        double squared = p->aim == KFE_AIM_ALIGNMENT ? pool->norms[c] : p->diagonal[pool->example[c]];
        *best = (subset){.places = {c}, .count = 1, .value = value, .weights = {1 / sqrt(squared)}};
    }
}

void kfe_i_pool_best(const kfe_i_pool *pool, int64_t *places, double *weights, int *found)
{
    int64_t most = pool->pursuit->sparsity;
    subset best = {.value = 0};

    if (pool->products)
        search_subsets(pool, &best);
    else
        search_ones(pool, &best);
    *found = best.value > 0;
    for (int64_t i = 0; i < most; i++) {
        places[i] = i < best.count ? best.places[i] : -1;
        weights[i] = i < best.count ? best.weights[i] : 0;
    }
}
