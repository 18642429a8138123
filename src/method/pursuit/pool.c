/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of candidate columns of a pursuit. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/thin.h"
#include "method/pursuit/pursuit.h"

/* Entries of a pool that is kept in double precision. */
#define KFE_SMALL_POOL 3e7

/* Columns evaluated at a time. */
enum { CHUNK = 16 };

/* Below this share of a column's squared norm, what is left of it is rounding: of the column in double
 * precision, or kept in single precision. */
#define KFE_EXPLAINED DBL_EPSILON
#define KFE_EXPLAINED_SINGLE 1e-9

static int needs_targets(const kfe_i_pursuit *p)
{
    return p->aim != KFE_AIM_VARIANCE;
}

static int needs_norms(const kfe_i_pursuit *p)
{
    return p->aim != KFE_AIM_COVARIANCE || p->sparsity > 1; /* to know which columns are explained */
}

/* ---- memory ---- */

/* In double precision while the pool is small; else in single precision, which is enough to choose by and
 * half as much to read each round; not at all where that does not fit beside the basis. */
static kfe_status choose_storage(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    double room =
        (double)kfe_context_memory(pool->ctx) - 8.0 * (double)p->n * (double)(CHUNK + 2 * p->targets);
    double entries = (double)pool->size * (double)p->n;

    int small = entries <= KFE_SMALL_POOL || p->sparsity > 1;

    if (!p->settings->low_memory && small && 8 * entries <= room)
        KFE_ALLOC(pool->ctx, pool->wide, pool->size * p->n);
    else if (!p->settings->low_memory && 4 * entries <= room)
        KFE_ALLOC(pool->ctx, pool->narrow, pool->size * p->n);
    kfe_i_log(pool->ctx, KFE_LOG_DEBUG, "%s: a pool of %lld columns, %s", p->method, (long long)pool->size,
              pool->wide     ? "kept in double precision"
              : pool->narrow ? "kept in single precision"
                             : "evaluated each round");
cleanup:
    return status;
}

/* All examples that may still become candidates, in random order; in their own if all of them do. */
static void shuffle_examples(kfe_i_pool *pool)
{
    int64_t n = pool->pursuit->n;

    pool->next = pool->waiting = 0;
    for (int64_t i = 0; i < n; i++)
        if (!pool->spent[i])
            pool->order[pool->waiting++] = i;
    for (int64_t i = 0; pool->size < n && i < pool->waiting; i++) {
        int64_t other = i + kfe_i_rng_below(&pool->rng, pool->waiting - i);
        int64_t swap = pool->order[i];
        pool->order[i] = pool->order[other];
        pool->order[other] = swap;
    }
}

/* ---- columns ---- */

/* Columns of `count` ≤ CHUNK places into pool->chunk (n × count). */
static kfe_status evaluate(kfe_i_pool *pool, const int64_t *places, int64_t count)
{
    int64_t index[CHUNK];

    for (int64_t c = 0; c < count; c++)
        index[c] = pool->example[places[c]];
    return kfe_i_gram_columns(pool->pursuit->gram, index, count, pool->chunk);
}

/* Rows of a chunk that are worked on while they are in cache. */
enum { BLOCK = 512 };

/* Columns of the chunk to their places, and, into squares[count], their squared norms: summed block by block,
 * so that the number of threads does not matter. */
static void store(kfe_i_pool *pool, const int64_t *places, int64_t count, double *partial, double *squares)
{
    int64_t n = pool->pursuit->n;
    int64_t blocks = (n + BLOCK - 1) / BLOCK;

#pragma omp parallel for num_threads(kfe_context_threads(pool->ctx)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t last = (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n;
        for (int64_t c = 0; c < count; c++) {
            double sum = 0;
            for (int64_t i = b * BLOCK; i < last; i++) {
                double value = pool->chunk[i * count + c];
                if (pool->narrow) {
                    pool->narrow[places[c] * n + i] = (float)value;
                    value = (double)(float)value; /* the norm is that of what is kept */
                } else if (pool->wide) {
                    pool->wide[places[c] * n + i] = value;
                }
                sum += value * value;
            }
            partial[b * CHUNK + c] = sum;
        }
    }
    for (int64_t c = 0; c < count; c++) {
        squares[c] = 0;
        for (int64_t b = 0; b < blocks; b++)
            squares[c] += partial[b * CHUNK + c];
    }
}

/* Doubles for measuring a chunk: its norms, block by block; covariances; products with the basis. */
static int64_t chunk_work_size(const kfe_i_pursuit *p)
{
    int64_t blocks = (p->n + BLOCK - 1) / BLOCK;
    int64_t products = p->most > p->targets ? p->most : p->targets;
    return CHUNK * (blocks > products ? blocks : products);
}

/* What a new column, of this squared norm, has left after the rounds so far. */
static void measure_new(kfe_i_pool *pool, const int64_t *places, int64_t count, const double *squares)
{
    const kfe_i_pursuit *p = pool->pursuit;
    double *work = pool->chunk_work;
    int64_t t = p->targets;

    for (int64_t c = 0; c < count; c++) {
        pool->whole[places[c]] = pool->norms[places[c]] = squares[c];
        pool->dead[places[c]] = !(squares[c] > 0) || !(p->diagonal[pool->example[places[c]]] > 0);
    }
    if (needs_targets(p)) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)count, (blasint)t, (blasint)p->n, 1,
                    pool->chunk, (blasint)count, p->residual, (blasint)t, 0, work, (blasint)t);
        for (int64_t c = 0; c < count; c++)
            memcpy(pool->covariance + places[c] * t, work + c * t, (size_t)t * sizeof *work);
    }
    if (!needs_norms(p) || p->count == 0)
        return;
    memset(work, 0, (size_t)(p->count * count) * sizeof *work);
    kfe_i_thin_times(pool->ctx, &(kfe_i_thin_matrix){p->count, p->n, p->n, p->basis, NULL}, pool->chunk,
                     count, work, pool->thin_work);
    for (int64_t j = 0; j < p->count; j++)
        for (int64_t c = 0; c < count; c++)
            pool->norms[places[c]] -= work[j * count + c] * work[j * count + c];
}

/* The next example to a place. */
static void take_next(kfe_i_pool *pool, int64_t place)
{
    pool->example[place] = pool->order[pool->next++];
    pool->spent[pool->example[place]] = 1;
}

static kfe_status fill(kfe_i_pool *pool, const int64_t *places, int64_t count)
{
    kfe_status status = KFE_OK;

    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t part = count - first < CHUNK ? count - first : CHUNK;
        for (int64_t c = 0; c < part; c++)
            take_next(pool, places[first + c]);
        double squares[CHUNK];
        KFE_TRY(evaluate(pool, places + first, part));
        store(pool, places + first, part, pool->chunk_work, squares);
        measure_new(pool, places + first, part, squares);
        KFE_TRY(kfe_i_checkpoint(pool->ctx, "evaluating candidate columns", first, count));
    }
cleanup:
    return status;
}

/* ---- products for directions of several examples ---- */

/* eq. (8): kernel values; eq. (10): products of residual columns, from columns kept in double precision. */
static kfe_status fill_products(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t size = pool->size;

    if (!pool->products)
        KFE_ALLOC(pool->ctx, pool->products, size * size);
    if (p->aim == KFE_AIM_COVARIANCE) {
        for (int64_t a = 0; a < size; a++)
            for (int64_t b = 0; b < size; b++)
                pool->products[a * size + b] = pool->wide[a * p->n + pool->example[b]];
        return KFE_OK;
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)size, (blasint)p->n, 1, pool->wide,
                (blasint)p->n, 0, pool->products, (blasint)size);
    for (int64_t a = 0; a < size; a++)
        for (int64_t b = 0; b < a; b++)
            pool->products[b * size + a] = pool->products[a * size + b];
cleanup:
    return status;
}

static kfe_status begin_products(kfe_i_pool *pool)
{
    if (pool->pursuit->sparsity == 1)
        return KFE_OK;
    if (!pool->wide)
        return kfe_i_fail(pool->ctx, KFE_ELIMIT,
                          "%s: directions of several examples need the pool of columns in memory; take fewer "
                          "columns, raise --memory, or leave out --low-memory",
                          pool->pursuit->method);
    return fill_products(pool);
}

static void update_products(kfe_i_pool *pool)
{
    if (!pool->products || pool->pursuit->aim == KFE_AIM_COVARIANCE)
        return;
    cblas_dger(CblasRowMajor, (blasint)pool->size, (blasint)pool->size, -1, pool->along, 1, pool->along, 1,
               pool->products, (blasint)pool->size);
}

/* ---- beginning and end ---- */

kfe_status kfe_i_pool_begin(kfe_context *ctx, const kfe_i_pursuit *p, kfe_i_pool *out)
{
    kfe_status status = KFE_OK;
    int64_t columns = p->settings->columns;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->pursuit = p;
    out->size = columns == 0 || columns > p->n ? p->n : columns;
    KFE_ALLOC(ctx, out->example, out->size);
    KFE_ALLOC(ctx, out->chunk, p->n * CHUNK);
    KFE_ALLOC_ZERO(ctx, out->covariance, out->size * p->targets);
    KFE_ALLOC(ctx, out->norms, out->size);
    KFE_ALLOC(ctx, out->whole, out->size);
    KFE_ALLOC(ctx, out->dead, out->size);
    KFE_ALLOC_ZERO(ctx, out->along, out->size);
    KFE_ALLOC(ctx, out->gained, p->targets);
    KFE_ALLOC(ctx, out->scores, out->size);
    KFE_ALLOC(ctx, out->places, out->size);
    KFE_ALLOC(ctx, out->chunk_work, chunk_work_size(p));
    if (needs_norms(p))
        KFE_ALLOC(ctx, out->thin_work, kfe_i_thin_work(p->most, p->n));
    KFE_ALLOC(ctx, out->order, p->n);
    KFE_ALLOC_ZERO(ctx, out->spent, p->n);
    kfe_i_rng_init(&out->rng, ctx->seed, KFE_STREAM_COLUMNS);
    shuffle_examples(out);
    KFE_TRY(choose_storage(out));
    for (int64_t i = 0; i < out->size; i++)
        out->places[i] = i;
    KFE_TRY(fill(out, out->places, out->size));
    KFE_TRY(begin_products(out));
cleanup:
    return status;
}

void kfe_i_pool_free(kfe_i_pool *pool)
{
    if (!pool->ctx)
        return;
    kfe_i_free(pool->ctx, pool->example);
    kfe_i_free(pool->ctx, pool->order);
    kfe_i_free(pool->ctx, pool->spent);
    kfe_i_free(pool->ctx, pool->wide);
    kfe_i_free(pool->ctx, pool->narrow);
    kfe_i_free(pool->ctx, pool->chunk);
    kfe_i_free(pool->ctx, pool->covariance);
    kfe_i_free(pool->ctx, pool->norms);
    kfe_i_free(pool->ctx, pool->whole);
    kfe_i_free(pool->ctx, pool->dead);
    kfe_i_free(pool->ctx, pool->along);
    kfe_i_free(pool->ctx, pool->products);
    kfe_i_free(pool->ctx, pool->gained);
    kfe_i_free(pool->ctx, pool->scores);
    kfe_i_free(pool->ctx, pool->places);
    kfe_i_free(pool->ctx, pool->chunk_work);
    kfe_i_free(pool->ctx, pool->thin_work);
    memset(pool, 0, sizeof *pool);
}

/* ---- a round ---- */

static double dot_narrow(int64_t n, const float *column, const double *q)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (double)column[i] * q[i];
    return sum;
}

/* along = kᵢᵀq for all places; every sum by one thread, so that their number does not matter. */
static kfe_status look_along(kfe_i_pool *pool, const double *q)
{
    kfe_status status = KFE_OK;
    int64_t n = pool->pursuit->n;

    if (pool->wide || pool->narrow) {
#pragma omp parallel for num_threads(kfe_context_threads(pool->ctx)) schedule(dynamic, 1)
        for (int64_t c = 0; c < pool->size; c++)
            if (!pool->dead[c])
                pool->along[c] = pool->wide ? cblas_ddot((blasint)n, pool->wide + c * n, 1, q, 1)
                                            : dot_narrow(n, pool->narrow + c * n, q);
        return KFE_OK;
    }
    for (int64_t first = 0; first < pool->size; first += CHUNK) {
        int64_t part = pool->size - first < CHUNK ? pool->size - first : CHUNK;
        int64_t places[CHUNK];
        for (int64_t c = 0; c < part; c++)
            places[c] = first + c;
        KFE_TRY(evaluate(pool, places, part));
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)n, (blasint)part, 1, pool->chunk, (blasint)part, q, 1,
                    0, pool->along + first, 1);
    }
cleanup:
    return status;
}

static void subtract_explained(kfe_i_pool *pool)
{
    const kfe_i_pursuit *p = pool->pursuit;
    double explained = pool->narrow ? KFE_EXPLAINED_SINGLE : KFE_EXPLAINED;

    for (int64_t c = 0; c < pool->size; c++) {
        for (int64_t t = 0; needs_targets(p) && t < p->targets; t++)
            pool->covariance[c * p->targets + t] -= pool->along[c] * pool->gained[t];
        pool->norms[c] -= pool->along[c] * pool->along[c];
        if (needs_norms(p) && pool->norms[c] <= explained * pool->whole[c])
            pool->dead[c] = 1;
    }
}

static double score(const kfe_i_pool *pool, int64_t c)
{
    const kfe_i_pursuit *p = pool->pursuit;
    const double *covariance = pool->covariance + c * p->targets;
    double squared = 0;

    if (pool->dead[c])
        return -1;
    if (p->aim == KFE_AIM_VARIANCE)
        return pool->norms[c] / p->diagonal[pool->example[c]];
    for (int64_t t = 0; t < p->targets; t++)
        squared += covariance[t] * covariance[t];
    return squared / (p->aim == KFE_AIM_ALIGNMENT ? pool->norms[c] : p->diagonal[pool->example[c]]);
}

/* The places with the lowest scores, dead ones first, into pool->places. */
static void worst_places(kfe_i_pool *pool, int64_t count)
{
    double *scores = pool->scores;

    for (int64_t c = 0; c < pool->size; c++)
        scores[c] = score(pool, c);
    for (int64_t r = 0; r < count; r++) {
        int64_t worst = 0;
        for (int64_t c = 1; c < pool->size; c++)
            if (scores[c] < scores[worst])
                worst = c;
        pool->places[r] = worst;
        scores[worst] = INFINITY;
    }
}

/* New columns in the place of those picked and of the worst. */
static kfe_status refresh(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t asked = p->settings->refresh > 0 ? p->settings->refresh : pool->size / 20;

    asked = asked < 1 ? 1 : asked > pool->size ? pool->size : asked;
    if (pool->next + asked > pool->waiting)
        shuffle_examples(pool); /* those that left the pool alive wait again */
    asked = asked > pool->waiting - pool->next ? pool->waiting - pool->next : asked;
    if (asked == 0)
        return KFE_OK;
    worst_places(pool, asked);
    for (int64_t r = 0; r < asked; r++)
        pool->spent[pool->example[pool->places[r]]] = pool->dead[pool->places[r]];
    KFE_TRY(fill(pool, pool->places, asked));
    if (pool->products) {
        KFE_TRY(fill_products(pool));
        /* columns that were there before have lost what earlier rounds explained */
        for (int64_t j = 0; p->aim != KFE_AIM_COVARIANCE && j < p->count; j++) {
            KFE_TRY(look_along(pool, p->basis + j * p->n));
            update_products(pool);
        }
    }
cleanup:
    return status;
}

/* What q explains of the residual target is what it explains of the target: it is orthogonal to the rest. */
static void find_gained(kfe_i_pool *pool, const double *q)
{
    const kfe_i_pursuit *p = pool->pursuit;

    memset(pool->gained, 0, (size_t)p->targets * sizeof *pool->gained);
    for (int64_t i = 0; needs_targets(p) && i < p->n; i++)
        for (int64_t t = 0; t < p->targets; t++)
            pool->gained[t] += q[i] * p->target[i * p->targets + t];
}

kfe_status kfe_i_pool_update(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    const double *q = p->basis + (p->count - 1) * p->n;

    find_gained(pool, q);
    KFE_TRY(look_along(pool, q));
    subtract_explained(pool);
    update_products(pool);
    KFE_TRY(refresh(pool));
cleanup:
    return status;
}

/* ---- choosing ---- */

typedef struct subset {
    int64_t places[KFE_SPARSITY_MOST];
    int64_t count;
    double value, weights[KFE_SPARSITY_MOST];
} subset;

/* Cholesky of the part of the products, in place; 0 if the examples are dependent. */
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

/* Largest eigenvalue of a symmetric matrix of at most three rows, by repeated squaring of its powers. */
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

/* The best weights on these places: the leading eigenvector of M⁻¹SSᵀ, S their covariances; with one target
 * that is M⁻¹s. Normalised so that αᵀMα = 1. */
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

static void search_subsets(const kfe_i_pool *pool, subset *best)
{
    for (int64_t a = 0; a < pool->size; a++) {
        subset one = {.places = {a}, .count = 1};
        if (pool->dead[a])
            continue;
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
}

static void search_ones(const kfe_i_pool *pool, subset *best)
{
    const kfe_i_pursuit *p = pool->pursuit;

    for (int64_t c = 0; c < pool->size; c++) {
        double value = score(pool, c);
        if (value <= best->value)
            continue;
        double squared = p->aim == KFE_AIM_ALIGNMENT ? pool->norms[c] : p->diagonal[pool->example[c]];
        *best = (subset){.places = {c}, .count = 1, .value = value, .weights = {1 / sqrt(squared)}};
    }
}

kfe_status kfe_i_pool_best(const kfe_i_pool *pool, int64_t *places, double *weights, int *found)
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
    return KFE_OK;
}
