/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes of a pursuit over its rows, in host memory; pool.c and pursuit.c call them.
 *
 * With Q the features so far, a pick v becomes the feature q in two passes, each of which reads Q once:
 *
 *   first    v ← v − Qh,  g = Qᵀv,  ‖v‖², vᵀ(residual target), and Kᵀv over the pool;
 *   second   q = (v − Qg)/‖v − Qg‖, the residual target loses q; new columns are evaluated and multiplied with Q and q.
 *
 * h = Qᵀv is known where the pool keeps the parts of its columns along the features; those of a pool in single precision have that
 * error, which g corrects. A further pass measures h otherwise. What the first pass measures of v gives what is needed of q:
 * ‖v − Qg‖² = ‖v‖² − ‖g‖² and Kᵀ(v − Qg) = Kᵀv − (KᵀQ)g. So the pool is chosen from before the second pass, and its new columns are part
 * of that pass.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "gram/column_slabs.h"
#include "method/pursuit/pursuit.h"

/* Columns evaluated at a time: slab by slab, and as whole columns. */
enum { STEP = 32, STEP_WHOLE = 16 };
/* Passes over fewer entries run on one thread: waking the others would take longer. */
enum { SERIAL_ENTRIES = 1 << 18 };

/* ---- memory ---- */

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sums of the first pass: ‖v‖² before and after, Qᵀv, vᵀ(residual), Kᵀv. */
typedef struct first_sums {
    int64_t again, slopes, along, width;
} first_sums;

enum { WHOLE, LENGTH, FIRST_NUMBERS };

static first_sums first_layout(const kfe_i_pool *pool)
{
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t slopes = FIRST_NUMBERS + p->found.count;
    int64_t along = slopes + p->targets;

    return (first_sums){FIRST_NUMBERS, slopes, along, along + pool->size};
}

/* Sums of the second pass: Kᵀq; of new columns, squares, products with the residual and with the features. */
typedef struct second_sums {
    int64_t squares, covariance, parts, width;
} second_sums;

static second_sums second_layout(const kfe_i_pool *pool, int64_t count, int along, int parts)
{
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t squares = along ? pool->size : 0;
    int64_t covariance = squares + count;
    int64_t first_part = covariance + count * p->targets;

    return (second_sums){squares, covariance, first_part, first_part + (parts ? p->found.count * count : 0)};
}

kfe_status kfe_i_passes_begin(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    kfe_i_pass_work *w = &pool->work.pass;
    int slabs = p->part->kernel != NULL;
    int64_t most = p->found.most;

    w->threads = p->n * pool->size < SERIAL_ENTRIES ? 1 : kfe_context_threads(pool->ctx);
    w->step = largest(slabs ? STEP : STEP_WHOLE, p->sparsity);
    int64_t width = largest(FIRST_NUMBERS + most + p->targets + pool->size,
                            pool->size + w->step * (1 + p->targets + most));
    if (!slabs)
        KFE_TAKE(&pool->memory, w->whole, p->n * w->step);
    KFE_TAKE(&pool->memory, w->columns, (w->step + p->targets) * p->slabs.rows * w->threads);
    KFE_TAKE(&pool->memory, w->room, p->slabs.groups * width);
    KFE_TAKE(&pool->memory, w->sums, width);
    KFE_TAKE(&pool->memory, pool->pick.again, most);
    KFE_TAKE(&pool->memory, pool->pick.slopes, p->targets);
cleanup:
    return status;
}

/* pool->work.pass.sums[width] = the sums of the pass, over the rows of all processes. */
static kfe_status run_pass(kfe_i_pool *pool, kfe_i_slab_fn run, const void *job, int64_t width)
{
    kfe_i_pass_work *w = &pool->work.pass;

    kfe_i_each_slab(&pool->pursuit->slabs, w->threads, run, job, width, w->room, w->sums);
    return kfe_i_pursuit_sum(pool->pursuit, w->sums, width);
}

/* ---- columns ---- */

static kfe_status begin_columns(kfe_i_pool *pool, const int64_t *places, int64_t count,
                                kfe_i_column_slabs *out)
{
    const kfe_i_pass_work *w = &pool->work.pass;
    int64_t index[STEP];

    for (int64_t c = 0; c < count; c++)
        index[c] = pool->example[places[c]];
    return kfe_i_column_slabs_begin(pool->pursuit->part, index, count, w->threads, w->whole, out);
}

/* Memory of a thread: a slab of `step` columns, and of the residual targets. */
static double *own_columns(const kfe_i_pool *pool, int thread)
{
    const kfe_i_pursuit *p = pool->pursuit;

    return pool->work.pass.columns + (pool->work.pass.step + p->targets) * p->slabs.rows * thread;
}

/* A slab of the columns over the kernel's unit, in memory of the thread. */
static double *evaluate(const kfe_i_pool *pool, const kfe_i_column_slabs *columns, int64_t s, int thread)
{
    const kfe_i_pursuit *p = pool->pursuit;
    double *out = own_columns(pool, thread);

    kfe_i_column_slab(columns, &p->slabs, s, thread, out);
    for (int64_t i = 0; p->kernel_unit != 1 && i < p->slabs.rows * columns->count; i++)
        out[i] /= p->kernel_unit;
    return out;
}

static double *basis_slab(const kfe_i_pursuit *p, int64_t s)
{
    return p->found.basis + s * p->found.most * p->slabs.rows;
}

/* out[size] += products of the slab of all columns that are kept with v. */
static void add_along(const kfe_i_pool *pool, int64_t s, const double *v, double *out)
{
    int64_t rows = pool->pursuit->slabs.rows;
    int64_t first = s * pool->size * rows;

    if (pool->columns.wide)
        kfe_i_slab_products(rows, pool->size, pool->columns.wide + first, 1, v, out, 1);
    else if (pool->columns.narrow)
        kfe_i_slab_dots(rows, pool->size, pool->columns.narrow + first, v, out);
}

static int keeps_columns(const kfe_i_pool *pool)
{
    return pool->columns.wide || pool->columns.narrow;
}

/* ---- the first pass ---- */

typedef struct pick_job {
    const kfe_i_pool *pool;
    const kfe_i_column_slabs *columns; /* NULL: v has been evaluated */
    const double *weights;
    const double *parts; /* h; NULL: Qᵀv is measured, and no more */
    int along;           /* whether to multiply with the pool */
} pick_job;

static double squared_norm(int64_t rows, const double *v)
{
    double sum = 0;

    kfe_i_slab_products(rows, 1, v, 1, v, &sum, 1);
    return sum;
}

static void combine_columns(int64_t rows, int64_t count, const double *columns, const double *weights,
                            double *v)
{
    for (int64_t i = 0; i < rows; i++) {
        v[i] = 0;
        for (int64_t c = 0; c < count; c++)
            v[i] += weights[c] * columns[c * rows + i];
    }
}

/* The residual targets of slab s, column by column, in memory of the thread. */
static const double *own_residual(const kfe_i_pool *pool, int64_t s, int thread)
{
    const kfe_i_pursuit *p = pool->pursuit;
    const double *residual = p->residual + s * p->slabs.rows * p->targets;
    int64_t used = kfe_i_slab_used(&p->slabs, s);
    double *out = own_columns(pool, thread) + pool->work.pass.step * p->slabs.rows;

    for (int64_t t = 0; t < p->targets; t++) {
        double *column = out + t * p->slabs.rows;
        for (int64_t i = 0; i < used; i++)
            column[i] = residual[i * p->targets + t];
        memset(column + used, 0, (size_t)(p->slabs.rows - used) * sizeof *column);
    }
    return out;
}

static void pick_slab(const void *user, int64_t s, int thread, double *sums)
{
    const pick_job *job = user;
    const kfe_i_pursuit *p = job->pool->pursuit;
    first_sums at = first_layout(job->pool);
    int64_t k = p->found.count;
    int64_t rows = p->slabs.rows;
    double *basis = basis_slab(p, s);
    double *v = basis + k * rows;

    if (job->columns) {
        combine_columns(rows, job->columns->count, evaluate(job->pool, job->columns, s, thread), job->weights,
                        v);
        sums[WHOLE] += squared_norm(rows, v);
    }
    if (job->parts)
        kfe_i_slab_subtract(rows, k, basis, job->parts, v);
    kfe_i_slab_products(rows, k, basis, 1, v, sums + at.again, 1);
    if (!job->parts)
        return;
    sums[LENGTH] += squared_norm(rows, v);
    kfe_i_slab_products(rows, p->targets, own_residual(job->pool, s, thread), 1, v, sums + at.slopes, 1);
    if (job->along)
        add_along(job->pool, s, v, sums + at.along);
}

/* parts[k] = Qᵀv of the pick, from the parts of its columns. */
static void take_parts(const kfe_i_pool *pool, const int64_t *places, const double *weights, int64_t count,
                       double *parts)
{
    for (int64_t j = 0; j < pool->pursuit->found.count; j++) {
        parts[j] = 0;
        for (int64_t c = 0; c < count; c++)
            parts[j] += weights[c] * pool->parts[j * pool->size + places[c]];
    }
}

/* What the first pass says of the feature q: its length, and, if that is not 0, slopes and products with the pool. */
static double take_first_sums(kfe_i_pool *pool, double whole, double *column)
{
    const double *sums = pool->work.pass.sums;
    first_sums at = first_layout(pool);
    kfe_i_pick *pick = &pool->pick;
    int64_t k = pool->pursuit->found.count;
    double squared = sums[LENGTH];

    for (int64_t j = 0; j < k; j++) {
        pick->again[j] = sums[at.again + j];
        column[j] += pick->again[j];
        squared -= pick->again[j] * pick->again[j];
    }
    if (!(squared > DBL_EPSILON * whole))
        return 0;
    pick->length = sqrt(squared);
    for (int64_t t = 0; t < pool->pursuit->targets; t++)
        pick->slopes[t] = sums[at.slopes + t] / pick->length;
    for (int64_t c = 0; pick->has_along && c < pool->size; c++)
        pool->along[c] = sums[at.along + c];
    for (int64_t j = 0; pick->has_along && j < k; j++)
        for (int64_t c = 0; c < pool->size; c++)
            pool->along[c] -= pick->again[j] * pool->parts[j * pool->size + c];
    for (int64_t c = 0; pick->has_along && c < pool->size; c++)
        pool->along[c] /= pick->length;
    return pick->length;
}

kfe_status kfe_i_pass_pick(kfe_i_pool *pool, const int64_t *places, const double *weights, double *column,
                           double *length)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    kfe_i_column_slabs columns = {0};
    int64_t count = 0;
    pick_job job = {.pool = pool, .columns = &columns, .weights = weights, .parts = column};
    double whole = 0;

    while (count < p->sparsity && places[count] >= 0)
        count++;
    KFE_TRY(begin_columns(pool, places, count, &columns));
    if (pool->parts) {
        take_parts(pool, places, weights, count, column);
    } else if (p->found.count > 0) {
        job.parts = NULL;
        KFE_TRY(run_pass(pool, pick_slab, &job, first_layout(pool).slopes));
        memcpy(column, pool->work.pass.sums + FIRST_NUMBERS, (size_t)p->found.count * sizeof *column);
        whole = pool->work.pass.sums[WHOLE];
        job.columns = NULL;
        job.parts = column;
    }
    job.along = pool->pick.has_along = keeps_columns(pool) && (pool->parts || p->found.count == 0);
    KFE_TRY(run_pass(pool, pick_slab, &job, job.along ? first_layout(pool).width : first_layout(pool).along));
    whole = job.columns ? pool->work.pass.sums[WHOLE] : whole;
    *length = take_first_sums(pool, whole, column);
    pool->pick.unsettled = *length > 0;
cleanup:
    kfe_i_column_slabs_end(&columns);
    return status;
}

/* ---- the second pass ---- */

typedef struct settle_job {
    const kfe_i_pool *pool;
    int settles, along;                /* whether to end the last feature; to multiply it with the pool */
    const kfe_i_column_slabs *columns; /* new ones; NULL: none */
    const int64_t *places;
    second_sums at;
    int parts;
} settle_job;

/* q ← (q − Qg)/length; the residual target loses what it explains. */
static void settle(const kfe_i_pool *pool, int64_t s)
{
    const kfe_i_pursuit *p = pool->pursuit;
    const kfe_i_pick *pick = &pool->pick;
    int64_t before = p->found.count - 1;
    int64_t rows = p->slabs.rows;
    double *q = basis_slab(p, s) + before * rows;
    double *residual = p->residual + s * rows * p->targets;
    int64_t used = kfe_i_slab_used(&p->slabs, s);

    kfe_i_slab_subtract(rows, before, basis_slab(p, s), pick->again, q);
    for (int64_t i = 0; i < rows; i++)
        q[i] /= pick->length;
    for (int64_t i = 0; i < used; i++)
        for (int64_t t = 0; t < p->targets; t++)
            residual[i * p->targets + t] -= pick->slopes[t] * q[i];
}

/* Stores a slab of the new columns at their places, and adds their squared norms as they are kept. */
static void store(const settle_job *job, int64_t s, const double *columns, double *squares)
{
    const kfe_i_pool *pool = job->pool;
    int64_t rows = pool->pursuit->slabs.rows;

    for (int64_t c = 0; c < job->columns->count; c++) {
        const double *column = columns + c * rows;
        int64_t place = (s * pool->size + job->places[c]) * rows;
        if (pool->columns.narrow) {
            squares[c] += kfe_i_slab_narrow(rows, column, pool->columns.narrow + place);
            continue;
        }
        if (pool->columns.wide)
            memcpy(pool->columns.wide + place, column, (size_t)rows * sizeof *column);
        squares[c] += squared_norm(rows, column);
    }
}

static void settle_slab(const void *user, int64_t s, int thread, double *sums)
{
    const settle_job *job = user;
    const kfe_i_pool *pool = job->pool;
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t rows = p->slabs.rows;

    if (job->settles)
        settle(pool, s);
    if (job->along)
        add_along(pool, s, basis_slab(p, s) + (p->found.count - 1) * rows, sums);
    if (!job->columns)
        return;
    int64_t count = job->columns->count;
    double *columns = evaluate(pool, job->columns, s, thread);
    store(job, s, columns, sums + job->at.squares);
    kfe_i_slab_products(rows, count, columns, p->targets, own_residual(pool, s, thread),
                        sums + job->at.covariance, p->targets);
    if (job->parts)
        kfe_i_slab_products(rows, p->found.count, basis_slab(p, s), count, columns, sums + job->at.parts,
                            count);
}

kfe_status kfe_i_pass_settle(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    int along = keeps_columns(pool) && !pool->pick.has_along;
    settle_job job = {.pool = pool, .settles = 1, .along = along, .at = second_layout(pool, 0, along, 0)};

    if (!pool->pick.unsettled)
        return KFE_OK;
    KFE_TRY(run_pass(pool, settle_slab, &job, job.at.width));
    if (along)
        memcpy(pool->along, pool->work.pass.sums, (size_t)pool->size * sizeof *pool->along);
    pool->pick.has_along |= along;
    pool->pick.unsettled = 0;
cleanup:
    return status;
}

kfe_status kfe_i_pass_load(kfe_i_pool *pool, const int64_t *places, int64_t count, int along, double *squares,
                           const double **products)
{
    kfe_status status = KFE_OK;
    int64_t targets = pool->pursuit->targets;
    kfe_i_column_slabs columns = {0};
    settle_job job = {.pool = pool,
                      .settles = pool->pick.unsettled,
                      .columns = &columns,
                      .places = places,
                      .at = second_layout(pool, count, 0, along),
                      .parts = along && pool->pursuit->found.count > 0};
    const double *sums = pool->work.pass.sums;

    KFE_TRY(begin_columns(pool, places, count, &columns));
    KFE_TRY(run_pass(pool, settle_slab, &job, job.at.width));
    pool->pick.unsettled = 0;
    memcpy(squares, sums + job.at.squares, (size_t)count * sizeof *squares);
    for (int64_t c = 0; c < count; c++)
        for (int64_t t = 0; t < targets; t++)
            pool->covariance[places[c] * targets + t] = sums[job.at.covariance + c * targets + t];
    *products = sums + job.at.parts;
cleanup:
    kfe_i_column_slabs_end(&columns);
    return status;
}

/* ---- columns that are not kept ---- */

static void along_slab(const void *user, int64_t s, int thread, double *sums)
{
    const settle_job *job = user;
    const kfe_i_pursuit *p = job->pool->pursuit;
    int64_t rows = p->slabs.rows;

    kfe_i_slab_products(rows, job->columns->count, evaluate(job->pool, job->columns, s, thread), 1,
                        basis_slab(p, s) + (p->found.count - 1) * rows, sums, 1);
}

kfe_status kfe_i_pass_evaluate_along(kfe_i_pool *pool)
{
    kfe_status status = KFE_OK;
    int64_t step = pool->work.pass.step;
    kfe_i_column_slabs columns = {0};
    settle_job job = {.pool = pool, .columns = &columns};

    for (int64_t first = 0; first < pool->size; first += step) {
        int64_t places[STEP];
        int64_t count = kfe_i_least(pool->size - first, step);
        for (int64_t c = 0; c < count; c++)
            places[c] = first + c;
        KFE_TRY(begin_columns(pool, places, count, &columns));
        KFE_TRY(run_pass(pool, along_slab, &job, count));
        memcpy(pool->along + first, pool->work.pass.sums, (size_t)count * sizeof *pool->along);
        kfe_i_column_slabs_end(&columns);
        KFE_TRY(kfe_i_progress(pool->ctx, "evaluating candidate columns", first, pool->size));
    }
    pool->pick.has_along = 1;
cleanup:
    kfe_i_column_slabs_end(&columns);
    return status;
}
