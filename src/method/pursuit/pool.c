/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of candidate columns of a pursuit: which examples are in it, and what is known of their columns. Used by pursuit.c;
 * pool_search.c chooses the best candidate. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/thin.h"
#include "method/pursuit/pursuit.h"

/* Entries of a pool that is kept in double precision. */
#define KFE_SMALL_POOL 3e7

/* Columns evaluated at a time: in host memory, and anywhere at most. */
enum { CHUNK = 16, CHUNK_MOST = KFE_DEVICE_POOL_CHUNK };

/* A residual column whose squared norm is below this share of the whole column's is rounding error: for columns in double
 * precision, and for columns kept in single precision. */
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

int64_t kfe_i_pool_size(const kfe_i_pursuit *p)
{
    int64_t columns = p->settings->columns;

    return columns == 0 || columns > p->candidates ? p->candidates : columns;
}

int kfe_i_pool_is_small(const kfe_i_pursuit *p, int64_t size)
{
    return (double)size * (double)p->n <= KFE_SMALL_POOL || p->sparsity > 1;
}

/* Keeps the columns in double precision while the pool is small; else in single precision, which is enough to choose by and
 * half as much to read in each iteration; not at all if that does not fit beside the basis. */
static kfe_status choose_storage(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    double available =
        (double)kfe_i_memory_left(pool->ctx) - 8.0 * (double)p->n * (double)(CHUNK + 2 * p->targets);
    double entries = (double)pool->size * (double)p->n;

    int small = kfe_i_pool_is_small(p, pool->size);

    if (p->device_pool) {
        kfe_i_log(pool->ctx, KFE_LOG_INFO, "%s: a pool of %lld columns on %s, kept in %s precision",
                  p->method, (long long)pool->size, p->device_pool->device->name,
                  small ? "double" : "single");
        return KFE_OK;
    }
    if (!p->settings->low_memory && small && 8 * entries <= available)
        KFE_ALLOC(pool->ctx, pool->columns.wide, pool->size * p->n);
    else if (!p->settings->low_memory && 4 * entries <= available)
        KFE_ALLOC(pool->ctx, pool->columns.narrow, pool->size * p->n);
    kfe_i_log(pool->ctx, KFE_LOG_DEBUG, "%s: a pool of %lld columns, %s", p->method, (long long)pool->size,
              pool->columns.wide     ? "kept in double precision"
              : pool->columns.narrow ? "kept in single precision"
                                     : "evaluated in each iteration");
cleanup:
    return status;
}

/* Queues all examples that may still become candidates, in random order; in their own if all of them are in the pool. */
static void shuffle_examples(kfe_i_pool *pool)
{
    int64_t n = pool->pursuit->candidates;

    pool->queue.next = pool->queue.waiting = 0;
    for (int64_t i = 0; i < n; i++)
        if (!pool->queue.spent[i])
            pool->queue.order[pool->queue.waiting++] = i;
    for (int64_t i = 0; pool->size < n && i < pool->queue.waiting; i++) {
        int64_t other = i + kfe_i_rng_below(&pool->queue.rng, pool->queue.waiting - i);
        int64_t swap = pool->queue.order[i];
        pool->queue.order[i] = pool->queue.order[other];
        pool->queue.order[other] = swap;
    }
}

/* ---- columns ---- */

/* Evaluates the columns of `count` ≤ CHUNK places into columns.chunk (n × count). */
static kfe_status evaluate(kfe_i_pool *pool, const int64_t *places, int64_t count)
{
    int64_t index[CHUNK];

    for (int64_t c = 0; c < count; c++)
        index[c] = pool->example[places[c]];
    return kfe_i_pursuit_columns(pool->pursuit, index, count, pool->columns.chunk);
}

/* Rows of a chunk that are worked on while they are in cache. */
enum { BLOCK = 512 };

/* Stores the columns of the chunk at their places; squares[count]: their squared norms, summed block by block so that the number
 * of threads does not matter. */
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
                double value = pool->columns.chunk[i * count + c];
                if (pool->columns.narrow) {
                    pool->columns.narrow[places[c] * n + i] = (float)value;
                    value = (double)(float)value; /* the norm is that of what is kept */
                } else if (pool->columns.wide) {
                    pool->columns.wide[places[c] * n + i] = value;
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

/* The size of work.chunk_work: norms of a chunk by blocks, covariances, or products with the basis. */
static int64_t chunk_work_size(const kfe_i_pursuit *p)
{
    int64_t blocks = (p->n + BLOCK - 1) / BLOCK;
    int64_t products = p->found.most > p->targets ? p->found.most : p->targets;

    if (p->device_pool)
        return KFE_DEVICE_POOL_CHUNK * products;
    return CHUNK * (blocks > products ? blocks : products);
}

/* Measures what the features so far leave of new columns with these squared norms. */
static void measure_new(kfe_i_pool *pool, const int64_t *places, int64_t count, const double *squares)
{
    const kfe_i_pursuit *p = pool->pursuit;
    double *work = pool->work.chunk_work;
    int64_t t = p->targets;

    for (int64_t c = 0; c < count; c++) {
        pool->whole[places[c]] = pool->norms[places[c]] = squares[c];
        pool->dead[places[c]] = !(squares[c] > 0) || !(p->diagonal[pool->example[places[c]]] > 0);
    }
    if (needs_targets(p) && !p->device_pool) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)count, (blasint)t, (blasint)p->n, 1,
                    pool->columns.chunk, (blasint)count, p->residual, (blasint)t, 0, work, (blasint)t);
        for (int64_t c = 0; c < count; c++)
            memcpy(pool->covariance + places[c] * t, work + c * t, (size_t)t * sizeof *work);
    }
    if (!needs_norms(p) || p->found.count == 0)
        return;
    if (!p->device_pool) {
        memset(work, 0, (size_t)(p->found.count * count) * sizeof *work);
        kfe_i_thin_times(pool->ctx, &(kfe_i_thin_matrix){p->found.count, p->n, p->n, p->found.basis, NULL},
                         pool->columns.chunk, count, work, pool->work.thin_work);
    }
    for (int64_t j = 0; j < p->found.count; j++)
        for (int64_t c = 0; c < count; c++)
            pool->norms[places[c]] -= work[j * count + c] * work[j * count + c];
}

/* Gives a place to the next example of the queue. */
static void take_next(kfe_i_pool *pool, int64_t place)
{
    pool->example[place] = pool->queue.order[pool->queue.next++];
    pool->queue.spent[pool->example[place]] = 1;
}

static kfe_status fill(kfe_i_pool *pool, const int64_t *places, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t step = pool->pursuit->device_pool ? KFE_DEVICE_POOL_CHUNK : CHUNK;

    for (int64_t first = 0; first < count; first += step) {
        int64_t part = count - first < step ? count - first : step;
        for (int64_t c = 0; c < part; c++)
            take_next(pool, places[first + c]);
        double squares[CHUNK_MOST];
        if (pool->pursuit->device_pool) {
            KFE_TRY(kfe_i_pool_load(pool, places + first, part, needs_norms(pool->pursuit), squares,
                                    pool->work.chunk_work));
        } else {
            KFE_TRY(evaluate(pool, places + first, part));
            store(pool, places + first, part, pool->work.chunk_work, squares);
        }
        measure_new(pool, places + first, part, squares);
        KFE_TRY(kfe_i_checkpoint(pool->ctx, "evaluating candidate columns", first, count));
    }
cleanup:
    return status;
}

/* ---- products for directions of several examples ---- */

/* Between the candidates of two places. */
static double kernel_value(const kfe_i_pool *pool, int64_t a, int64_t b)
{
    const kfe_i_pursuit *p = pool->pursuit;

    if (p->gram)
        return pool->columns.wide[a * p->n + pool->example[b]];
    return p->given.inner[pool->example[a] * p->given.count + pool->example[b]] / p->kernel_unit;
}

/* Eq. (8) needs kernel values, eq. (10) products of residual columns; both from columns in double precision. */
static void fill_products(kfe_i_pool *pool)
{
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t size = pool->size;

    if (p->aim == KFE_AIM_COVARIANCE) {
        for (int64_t a = 0; a < size; a++)
            for (int64_t b = 0; b < size; b++)
                pool->products[a * size + b] = kernel_value(pool, a, b);
        return;
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)size, (blasint)p->n, 1, pool->columns.wide,
                (blasint)p->n, 0, pool->products, (blasint)size);
    for (int64_t a = 0; a < size; a++)
        for (int64_t b = 0; b < a; b++)
            pool->products[b * size + a] = pool->products[a * size + b];
}

static kfe_status begin_products(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;

    if (pool->pursuit->sparsity == 1)
        return KFE_OK;
    if (!pool->columns.wide)
        return kfe_i_fail(pool->ctx, KFE_ELIMIT,
                          "%s: directions of several examples need the pool of columns in memory; lower "
                          "{columns}, raise {memory}, or do not use {low-memory}",
                          pool->pursuit->method);
    KFE_ALLOC(pool->ctx, pool->products, pool->size * pool->size);
cleanup:
    return status;
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

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->pursuit = p;
    out->size = kfe_i_pool_size(p);
    KFE_ALLOC(ctx, out->example, out->size);
    if (!p->device_pool)
        KFE_ALLOC(ctx, out->columns.chunk, p->n * CHUNK);
    KFE_ALLOC_ZERO(ctx, out->covariance, out->size * p->targets);
    KFE_ALLOC(ctx, out->norms, out->size);
    KFE_ALLOC(ctx, out->whole, out->size);
    KFE_ALLOC(ctx, out->dead, out->size);
    KFE_ALLOC_ZERO(ctx, out->along, out->size);
    KFE_ALLOC(ctx, out->work.gained, p->targets);
    KFE_ALLOC(ctx, out->work.scores, out->size);
    KFE_ALLOC(ctx, out->work.places, out->size);
    KFE_ALLOC(ctx, out->work.chunk_work, chunk_work_size(p));
    if (needs_norms(p) && !p->device_pool)
        KFE_ALLOC(ctx, out->work.thin_work, kfe_i_thin_work(p->found.most, p->n));
    KFE_ALLOC(ctx, out->queue.order, p->candidates);
    KFE_ALLOC_ZERO(ctx, out->queue.spent, p->candidates);
    kfe_i_rng_init(&out->queue.rng, ctx->seed, KFE_STREAM_COLUMNS);
    KFE_TRY(choose_storage(out));
    KFE_TRY(begin_products(out));
cleanup:
    return status;
}

kfe_status kfe_i_pool_fill(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;

    shuffle_examples(pool);
    for (int64_t i = 0; i < pool->size; i++)
        pool->work.places[i] = i;
    KFE_TRY(fill(pool, pool->work.places, pool->size));
    if (pool->products)
        fill_products(pool);
cleanup:
    return status;
}

void kfe_i_pool_list_state(kfe_i_pool *pool, kfe_i_loop *loop)
{
    int64_t n = pool->pursuit->n;
    int64_t size = pool->size;

    KFE_LOOP_ARRAY(loop, pool->example, size);
    KFE_LOOP_ARRAY(loop, pool->covariance, size * pool->pursuit->targets);
    KFE_LOOP_ARRAY(loop, pool->norms, size);
    KFE_LOOP_ARRAY(loop, pool->whole, size);
    KFE_LOOP_ARRAY(loop, pool->dead, size);
    KFE_LOOP_ARRAY(loop, pool->products, size * size);
    KFE_LOOP_ARRAY(loop, pool->columns.wide, size * n);
    KFE_LOOP_ARRAY(loop, pool->columns.narrow, size * n);
    KFE_LOOP_ARRAY(loop, pool->queue.order, pool->pursuit->candidates);
    KFE_LOOP_ARRAY(loop, pool->queue.spent, pool->pursuit->candidates);
    KFE_LOOP_VALUE(loop, pool->queue.next);
    KFE_LOOP_VALUE(loop, pool->queue.waiting);
    KFE_LOOP_VALUE(loop, pool->queue.rng);
}

void kfe_i_pool_free(kfe_i_pool *pool)
{
    if (!pool->ctx)
        return;
    kfe_i_free(pool->ctx, pool->example);
    kfe_i_free(pool->ctx, pool->queue.order);
    kfe_i_free(pool->ctx, pool->queue.spent);
    kfe_i_free(pool->ctx, pool->columns.wide);
    kfe_i_free(pool->ctx, pool->columns.narrow);
    kfe_i_free(pool->ctx, pool->columns.chunk);
    kfe_i_free(pool->ctx, pool->covariance);
    kfe_i_free(pool->ctx, pool->norms);
    kfe_i_free(pool->ctx, pool->whole);
    kfe_i_free(pool->ctx, pool->dead);
    kfe_i_free(pool->ctx, pool->along);
    kfe_i_free(pool->ctx, pool->products);
    kfe_i_free(pool->ctx, pool->work.gained);
    kfe_i_free(pool->ctx, pool->work.scores);
    kfe_i_free(pool->ctx, pool->work.places);
    kfe_i_free(pool->ctx, pool->work.chunk_work);
    kfe_i_free(pool->ctx, pool->work.thin_work);
    memset(pool, 0, sizeof *pool);
}

/* ---- an iteration ---- */

static double dot_narrow(int64_t n, const float *column, const double *q)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (double)column[i] * q[i];
    return sum;
}

/* along = kᵢᵀq for all places; one thread makes each sum, so that the number of threads does not matter. */
static kfe_status measure_along(kfe_i_pool *pool, const double *q)
{
    kfe_status status = KFE_OK;
    int64_t n = pool->pursuit->n;

    if (pool->columns.wide || pool->columns.narrow) {
#pragma omp parallel for num_threads(kfe_context_threads(pool->ctx)) schedule(dynamic, 1)
        for (int64_t c = 0; c < pool->size; c++)
            if (!pool->dead[c])
                pool->along[c] = pool->columns.wide
                                     ? cblas_ddot((blasint)n, pool->columns.wide + c * n, 1, q, 1)
                                     : dot_narrow(n, pool->columns.narrow + c * n, q);
        return KFE_OK;
    }
    for (int64_t first = 0; first < pool->size; first += CHUNK) {
        int64_t part = pool->size - first < CHUNK ? pool->size - first : CHUNK;
        int64_t places[CHUNK];
        for (int64_t c = 0; c < part; c++)
            places[c] = first + c;
        KFE_TRY(evaluate(pool, places, part));
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)n, (blasint)part, 1, pool->columns.chunk,
                    (blasint)part, q, 1, 0, pool->along + first, 1);
    }
cleanup:
    return status;
}

static void subtract_explained(kfe_i_pool *pool)
{
    const kfe_i_pursuit *p = pool->pursuit;
    int single = pool->columns.narrow || (p->device_pool && p->device_pool->shape.type == KFE_DEVICE_F32);
    double explained = single ? KFE_EXPLAINED_SINGLE : KFE_EXPLAINED;

    for (int64_t c = 0; c < pool->size; c++) {
        for (int64_t t = 0; needs_targets(p) && t < p->targets; t++)
            pool->covariance[c * p->targets + t] -= pool->along[c] * pool->work.gained[t];
        pool->norms[c] -= pool->along[c] * pool->along[c];
        if (needs_norms(p) && pool->norms[c] <= explained * pool->whole[c])
            pool->dead[c] = 1;
    }
}

double kfe_i_pool_score(const kfe_i_pool *pool, int64_t c)
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

/* Puts the places of lowest score, dead ones first, into work.places. */
static void worst_places(kfe_i_pool *pool, int64_t count)
{
    double *scores = pool->work.scores;

    for (int64_t c = 0; c < pool->size; c++)
        scores[c] = kfe_i_pool_score(pool, c);
    for (int64_t r = 0; r < count; r++) {
        int64_t worst = 0;
        for (int64_t c = 1; c < pool->size; c++)
            if (scores[c] < scores[worst])
                worst = c;
        pool->work.places[r] = worst;
        scores[worst] = INFINITY;
    }
}

int64_t kfe_i_pool_refresh(const kfe_i_pursuit_settings *settings, int64_t size)
{
    int64_t asked = settings->refresh > 0 ? settings->refresh : size / 20;

    return asked < 1 ? 1 : asked > size ? size : asked;
}

/* Replaces the columns that were picked and the worst by new ones. */
static kfe_status refresh(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t asked = kfe_i_pool_refresh(p->settings, pool->size);

    if (pool->queue.next + asked > pool->queue.waiting)
        shuffle_examples(pool); /* examples that left the pool alive come back to the queue */
    asked = asked > pool->queue.waiting - pool->queue.next ? pool->queue.waiting - pool->queue.next : asked;
    if (asked == 0)
        return KFE_OK;
    worst_places(pool, asked);
    for (int64_t r = 0; r < asked; r++)
        pool->queue.spent[pool->example[pool->work.places[r]]] = pool->dead[pool->work.places[r]];
    KFE_TRY(fill(pool, pool->work.places, asked));
    if (pool->products) {
        fill_products(pool);
        /* subtract what the features before have explained */
        for (int64_t j = 0; p->aim != KFE_AIM_COVARIANCE && j < p->found.count; j++) {
            KFE_TRY(measure_along(pool, p->found.basis + j * p->n));
            update_products(pool);
        }
    }
cleanup:
    return status;
}

/* gained = qᵀY, the same for target and residual target, since q is orthogonal to the other features. */
static void measure_gain(kfe_i_pool *pool, const double *q)
{
    const kfe_i_pursuit *p = pool->pursuit;

    memset(pool->work.gained, 0, (size_t)p->targets * sizeof *pool->work.gained);
    for (int64_t i = 0; needs_targets(p) && i < p->n; i++)
        for (int64_t t = 0; t < p->targets; t++)
            pool->work.gained[t] += q[i] * p->target[i * p->targets + t];
}

kfe_status kfe_i_pool_update(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;

    if (p->device_pool) {
        memcpy(pool->work.gained, p->found.slopes + (p->found.count - 1) * p->targets,
               (size_t)p->targets * sizeof *pool->work.gained);
        for (int64_t t = 0; t < p->targets; t++) /* slopes are qᵀY over the length */
            pool->work.gained[t] *= p->found.lengths[p->found.count - 1];
        KFE_TRY(kfe_i_device_pool_along(p->device_pool, p->found.count - 1, pool->along));
    } else {
        const double *q = p->found.basis + (p->found.count - 1) * p->n;
        measure_gain(pool, q);
        KFE_TRY(measure_along(pool, q));
    }
    subtract_explained(pool);
    update_products(pool);
    KFE_TRY(refresh(pool));
cleanup:
    return status;
}
