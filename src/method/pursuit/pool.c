/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of candidate columns of a pursuit: which examples are in it, and what is known of their columns. Used by pursuit.c;
 * pool_search.c chooses the best candidate. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/share.h"
#include "method/pursuit/pursuit.h"

/* Entries of a pool that is kept in double precision. */
#define KFE_SMALL_POOL 3e7

/* Parts of the columns along the features may take this share of the memory that is left. */
#define PARTS_SHARE 0.125

/* A residual column whose squared norm is below this share of the whole column's is rounding error: for columns in double
 * precision, and for columns kept in single precision. */
#define KFE_EXPLAINED DBL_EPSILON
#define KFE_EXPLAINED_SINGLE 1e-9

/* What the aim needs: covariances with the targets; norms of residual columns, also to know which columns are explained. */
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

    return columns == 0 || columns > p->different_count ? p->different_count : columns;
}

int kfe_i_pool_is_small(const kfe_i_pursuit *p, int64_t size)
{
    int64_t rows = p->divided ? p->candidates : p->n;

    return (double)size * (double)rows <= KFE_SMALL_POOL || p->sparsity > 1;
}

/* Bytes of an entry of the pool, so that it fits beside the basis; 0: it does not. Processes that divide the rows agree on the least. */
static kfe_status choose_width(const kfe_i_pool *pool, double *bytes)
{
    const kfe_i_pursuit *p = pool->pursuit;
    double available = (double)kfe_i_memory_left(pool->ctx) - 8.0 * (double)p->n * (double)p->targets;
    double entries = (double)kfe_i_slabs_entries(&p->slabs, pool->size);

    *bytes = 0;
    if (!p->settings->low_memory && kfe_i_pool_is_small(p, pool->size) && 8 * entries <= available)
        *bytes = 8;
    else if (!p->settings->low_memory && 4 * entries <= available)
        *bytes = 4;
    return p->divided ? kfe_i_cluster_least(pool->ctx, bytes) : KFE_OK;
}

/* Keeps the columns in double precision while the pool is small; else in single precision, which is enough to choose by and
 * half as much to read in each iteration; not at all if that does not fit beside the basis. */
static kfe_status choose_storage(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    int small = kfe_i_pool_is_small(p, pool->size);
    double bytes = 0;

    if (p->device_pool) {
        kfe_i_log(pool->ctx, KFE_LOG_INFO, "%s: a pool of %lld columns on %s, kept in %s precision",
                  p->method, (long long)pool->size, p->device_pool->device->name,
                  small ? "double" : "single");
        return KFE_OK;
    }
    KFE_TRY(choose_width(pool, &bytes));
    if (bytes == 8)
        KFE_TAKE(&pool->memory, pool->columns.wide, kfe_i_slabs_entries(&p->slabs, pool->size));
    else if (bytes == 4)
        KFE_TAKE(&pool->memory, pool->columns.narrow, kfe_i_slabs_entries(&p->slabs, pool->size));
    kfe_i_log(pool->ctx, KFE_LOG_DEBUG, "%s: a pool of %lld columns, %s", p->method, (long long)pool->size,
              pool->columns.wide     ? "kept in double precision"
              : pool->columns.narrow ? "kept in single precision"
                                     : "evaluated in each iteration");
cleanup:
    return status;
}

/* Queues all examples that may still become candidates, in random order; as they are listed if all of them are in the pool. */
static void shuffle_examples(kfe_i_pool *pool)
{
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t n = p->different_count;

    pool->queue.next = pool->queue.waiting = 0;
    for (int64_t i = 0; i < n; i++)
        if (!pool->queue.spent[p->different[i]])
            pool->queue.order[pool->queue.waiting++] = p->different[i];
    for (int64_t i = 0; pool->size < n && i < pool->queue.waiting; i++) {
        int64_t other = i + kfe_i_rng_below(&pool->queue.rng, pool->queue.waiting - i);
        int64_t swap = pool->queue.order[i];
        pool->queue.order[i] = pool->queue.order[other];
        pool->queue.order[other] = swap;
    }
}

/* ---- columns ---- */

/* Takes the squared norms of new columns and, unless it is NULL, their products (features × count) with the features, which they lose. */
static void measure_new(kfe_i_pool *pool, const int64_t *places, int64_t count, const double *squares,
                        const double *products)
{
    const kfe_i_pursuit *p = pool->pursuit;

    for (int64_t c = 0; c < count; c++) {
        pool->whole[places[c]] = pool->norms[places[c]] = squares[c];
        pool->dead[places[c]] = !(squares[c] > 0) || !(p->diagonal[pool->example[places[c]]] > 0);
    }
    for (int64_t j = 0; products && j < p->found.count; j++)
        for (int64_t c = 0; c < count; c++) {
            double part = products[j * count + c];
            pool->norms[places[c]] -= part * part;
            if (pool->parts)
                pool->parts[j * pool->size + places[c]] = part;
        }
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
    int on_device = pool->pursuit->device_pool != NULL;
    int norms = needs_norms(pool->pursuit);
    int64_t step = on_device ? KFE_DEVICE_POOL_CHUNK : pool->work.pass.step;

    for (int64_t first = 0; first < count; first += step) {
        int64_t part = kfe_i_least(count - first, step);
        double squares[KFE_DEVICE_POOL_CHUNK];
        const double *products = pool->work.chunk_work;
        for (int64_t c = 0; c < part; c++)
            take_next(pool, places[first + c]);
        if (on_device)
            KFE_TRY(kfe_i_pool_load(pool, places + first, part, norms, squares, pool->work.chunk_work));
        else
            KFE_TRY(kfe_i_pass_load(pool, places + first, part, norms, squares, &products));
        measure_new(pool, places + first, part, squares, norms ? products : NULL);
        KFE_TRY(kfe_i_progress(pool->ctx, "evaluating candidate columns", first, count));
    }
cleanup:
    return status;
}

/* ---- products for directions of several examples ---- */

/* Between the candidates of two places, at the row of the second one. */
static double kernel_value(const kfe_i_pool *pool, int64_t a, int64_t b)
{
    int64_t row = pool->example[b];
    int64_t rows = pool->pursuit->slabs.rows;

    return pool->columns.wide[(row / rows * pool->size + a) * rows + row % rows];
}

/* products[place, first … last − 1] of columns in double precision, at the rows that are here. */
static void multiply_columns(kfe_i_pool *pool, int64_t place, int64_t first, int64_t last)
{
    const kfe_i_slabs *slabs = &pool->pursuit->slabs;
    double *out = pool->products + place * pool->size;

    memset(out + first, 0, (size_t)(last - first) * sizeof *out);
    for (int64_t s = 0; s < slabs->count; s++) {
        const double *columns = pool->columns.wide + s * pool->size * slabs->rows;
        kfe_i_slab_products(slabs->rows, last - first, columns + first * slabs->rows, 1,
                            columns + place * slabs->rows, out + first, 1);
    }
}

/* The products of one column, over the rows of all processes, become those of residual columns. */
static kfe_status take_residuals(kfe_i_pool *pool, int64_t place)
{
    kfe_status status = KFE_OK;
    double *out = pool->products + place * pool->size;

    KFE_TRY(kfe_i_pursuit_sum(pool->pursuit, out, pool->size));
    for (int64_t j = 0; j < pool->pursuit->found.count; j++)
        for (int64_t c = 0; c < pool->size; c++)
            out[c] -= pool->parts[j * pool->size + place] * pool->parts[j * pool->size + c];
cleanup:
    return status;
}

/* Kernel values between all candidates, whose rows may not be here. */
static kfe_status ask_kernel_values(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;

    KFE_TRY(p->part->among(p->part, pool->example, pool->size, pool->products));
    for (int64_t e = 0; e < pool->size * pool->size; e++)
        pool->products[e] /= p->kernel_unit;
cleanup:
    return status;
}

/* Eq. (8) needs kernel values, eq. (10) products of residual columns: those of the columns at `places` with all. */
static kfe_status fill_products(kfe_i_pool *pool, const int64_t *places, int64_t count)
{
    enum { SLICE = 64 };
    kfe_status status = KFE_OK;
    int64_t size = pool->size;
    int values = pool->pursuit->aim == KFE_AIM_COVARIANCE;

    if (values && !pool->pursuit->gram)
        return ask_kernel_values(pool);

#pragma omp parallel for num_threads(pool->work.pass.threads) schedule(dynamic, 1)
    for (int64_t first = 0; first < size; first += SLICE)
        for (int64_t i = 0; i < count; i++) {
            int64_t last = kfe_i_least(first + SLICE, size);
            if (!values)
                multiply_columns(pool, places[i], first, last);
            else
                for (int64_t c = first; c < last; c++)
                    pool->products[places[i] * size + c] = kernel_value(pool, places[i], c);
        }
    for (int64_t i = 0; !values && i < count; i++)
        KFE_TRY(take_residuals(pool, places[i]));
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < size; c++)
            pool->products[c * size + places[i]] = pool->products[places[i] * size + c];
cleanup:
    return status;
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
    KFE_TAKE(&pool->memory, pool->products, pool->size * pool->size);
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

/* Keeps the parts of the columns along the features if these are measured anyway and take little memory. */
static kfe_status begin_parts(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t entries = pool->size * p->found.most;

    if (p->device_pool || !needs_norms(p))
        return KFE_OK;
    double fits = 8.0 * (double)entries <= PARTS_SHARE * (double)kfe_i_memory_left(pool->ctx);
    if (p->divided)
        KFE_TRY(kfe_i_cluster_least(pool->ctx, &fits));
    if (p->sparsity > 1 || fits > 0)
        KFE_TAKE(&pool->memory, pool->parts, entries);
cleanup:
    return status;
}

kfe_status kfe_i_pool_begin(kfe_context *ctx, const kfe_i_pursuit *p, kfe_i_pool *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_pool){.ctx = ctx, .memory = {.ctx = ctx}, .pursuit = p, .size = kfe_i_pool_size(p)};
    KFE_TAKE(&out->memory, out->example, out->size);
    KFE_TAKE_ZERO(&out->memory, out->covariance, out->size * p->targets);
    KFE_TAKE(&out->memory, out->norms, out->size);
    KFE_TAKE(&out->memory, out->whole, out->size);
    KFE_TAKE(&out->memory, out->dead, out->size);
    KFE_TAKE_ZERO(&out->memory, out->along, out->size);
    KFE_TAKE(&out->memory, out->work.gained, p->targets);
    KFE_TAKE(&out->memory, out->work.scores, out->size);
    KFE_TAKE(&out->memory, out->work.places, out->size);
    if (p->device_pool)
        KFE_TAKE(&out->memory, out->work.chunk_work,
                 KFE_DEVICE_POOL_CHUNK * (p->found.most > p->targets ? p->found.most : p->targets));
    else
        KFE_TRY(kfe_i_passes_begin(out));
    KFE_TAKE(&out->memory, out->queue.order, p->different_count);
    KFE_TAKE_ZERO(&out->memory, out->queue.spent, p->candidates);
    kfe_i_rng_init(&out->queue.rng, ctx->seed, KFE_STREAM_COLUMNS);
    KFE_TRY(begin_parts(out));
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
        KFE_TRY(fill_products(pool, pool->work.places, pool->size));
cleanup:
    return status;
}

void kfe_i_pool_list_state(kfe_i_pool *pool, kfe_i_loop *loop)
{
    int64_t size = pool->size;
    int64_t entries = kfe_i_slabs_entries(&pool->pursuit->slabs, size);

    KFE_LOOP_ARRAY(loop, pool->example, size);
    KFE_LOOP_ARRAY(loop, pool->covariance, size * pool->pursuit->targets);
    KFE_LOOP_ARRAY(loop, pool->norms, size);
    KFE_LOOP_ARRAY(loop, pool->whole, size);
    KFE_LOOP_ARRAY(loop, pool->dead, size);
    KFE_LOOP_ARRAY(loop, pool->products, size * size);
    KFE_LOOP_ARRAY(loop, pool->parts, size * pool->pursuit->found.most);
    KFE_LOOP_DIVIDED(loop, pool->pursuit->divided, pool->columns.wide, entries);
    KFE_LOOP_DIVIDED(loop, pool->pursuit->divided, pool->columns.narrow, entries);
    KFE_LOOP_ARRAY(loop, pool->queue.order, pool->pursuit->different_count);
    KFE_LOOP_ARRAY(loop, pool->queue.spent, pool->pursuit->candidates);
    KFE_LOOP_VALUE(loop, pool->queue.next);
    KFE_LOOP_VALUE(loop, pool->queue.waiting);
    KFE_LOOP_VALUE(loop, pool->queue.rng);
}

/* ---- an iteration ---- */

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
    int64_t asked = kfe_i_pool_refresh(pool->pursuit->settings, pool->size);

    if (pool->queue.next + asked > pool->queue.waiting)
        shuffle_examples(pool); /* examples that left the pool alive come back to the queue */
    asked = kfe_i_least(asked, pool->queue.waiting - pool->queue.next);
    if (asked == 0)
        return KFE_OK;
    worst_places(pool, asked);
    for (int64_t r = 0; r < asked; r++)
        pool->queue.spent[pool->example[pool->work.places[r]]] = pool->dead[pool->work.places[r]];
    KFE_TRY(fill(pool, pool->work.places, asked));
    if (pool->products)
        KFE_TRY(fill_products(pool, pool->work.places, asked));
cleanup:
    return status;
}

/* along = kᵢᵀq of the last feature, for all places, if its first pass has not measured that. */
static kfe_status measure_along(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;

    if (p->device_pool)
        return kfe_i_device_pool_along(p->device_pool, p->found.count - 1, pool->along);
    if (!pool->pick.has_along)
        KFE_TRY(kfe_i_pass_settle(pool));
    if (!pool->pick.has_along)
        KFE_TRY(kfe_i_pass_evaluate_along(pool));
    if (pool->parts)
        memcpy(pool->parts + (p->found.count - 1) * pool->size, pool->along,
               (size_t)pool->size * sizeof *pool->along);
cleanup:
    return status;
}

/* gained = qᵀY, the same for target and residual target, since q is orthogonal to the other features; slopes are that over the length. */
static void take_gain(kfe_i_pool *pool)
{
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t last = p->found.count - 1;

    for (int64_t t = 0; t < p->targets; t++)
        pool->work.gained[t] = p->found.slopes[last * p->targets + t] * p->found.lengths[last];
}

kfe_status kfe_i_pool_update(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;

    take_gain(pool);
    KFE_TRY(measure_along(pool));
    subtract_explained(pool);
    update_products(pool);
    KFE_TRY(refresh(pool));
    if (!pool->pursuit->device_pool)
        KFE_TRY(kfe_i_pass_settle(pool));
cleanup:
    return status;
}
