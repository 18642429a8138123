/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of k nearest neighbours by brute force, for votes (neighbours_votes.c).
 *
 * Most rows are passed over: dense ones by dot products in single precision (narrow.h), sparse ones by squared distances from
 * the kernel engine, tile by tile, both with a known bound of their rounding error. Rows that may be among the k nearest so
 * far are measured from differences, so that rows at equal distances are equal, and dense and sparse rows give the same
 * neighbours. Each query has a heap of its k nearest rows, the farthest on top. Of rows at equal distances the lower one is
 * nearer. A device does the same with dense rows (nearest of plugin/device.h) and finds the same bits.
 *
 * Time O(n·d) per query; memory one tile and 256 heaps per thread.
 */
#include "learn/neighbours_search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "gram/device/form.h"
#include "gram/place.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/rows.h"
#include "kernel/tile/tile.h"
#include "learn/narrow.h"

/* Queries are prepared in chunks, so that memory does not grow with their number. */
enum { CHUNK_ROWS = 16384 };

static const kfe_i_kernel_def squared_distance = {
    .name = "squared distance",
    .base = KFE_BASE_DISTANCE,
};

typedef kfe_i_neighbour neighbour;

typedef struct search_job {
    const kfe_i_neighbour_search *asked;
    int64_t first; /* the first query of the chunk */
    const kfe_i_kernel *kernel;
    const kfe_i_points *queries, *support;
    kfe_i_narrow narrow_queries, narrow_support; /* without rows: not used */
    int64_t k;
    double *work; /* per thread a tile and its scratch */
    int64_t own;
    neighbour *heaps; /* per thread KFE_TILE_SIDE heaps of k */
    double *out;
} search_job;

/* ---- heaps ---- */

static int nearer(neighbour a, neighbour b)
{
    return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
}

static void sift_down(neighbour *heap, int64_t count, int64_t at)
{
    neighbour moving = heap[at];

    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && nearer(heap[child], heap[child + 1]))
            child++;
        if (!nearer(moving, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void sift_up(neighbour *heap, int64_t at)
{
    neighbour moving = heap[at];

    while (at > 0 && nearer(heap[(at - 1) / 2], moving)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = moving;
}

/* ---- distances from differences ---- */

static double dense_distance(int64_t cols, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

static double sparse_distance(const kfe_i_table *a, int64_t i, const kfe_i_table *b, int64_t j)
{
    int64_t p = a->row_start[i];
    int64_t q = b->row_start[j];
    double sum = 0;

    while (p < a->row_start[i + 1] || q < b->row_start[j + 1]) {
        int64_t at_p = p < a->row_start[i + 1] ? a->columns[p] : INT64_MAX;
        int64_t at_q = q < b->row_start[j + 1] ? b->columns[q] : INT64_MAX;
        double difference = 0;
        if (at_p <= at_q)
            difference += a->values[p++];
        if (at_q <= at_p)
            difference -= b->values[q++];
        sum += difference * difference;
    }
    return sum;
}

/* A sparse row and a dense one. */
static double mixed_distance(const kfe_i_table *sparse, int64_t i, const double *y)
{
    int64_t p = sparse->row_start[i];
    double sum = 0;

    for (int64_t j = 0; j < sparse->cols; j++) {
        int present = p < sparse->row_start[i + 1] && sparse->columns[p] == j;
        double difference = (present ? sparse->values[p] : 0) - y[j];
        p += present;
        sum += difference * difference;
    }
    return sum;
}

double kfe_i_neighbour_distance(const kfe_i_table *a, int64_t i, const kfe_i_table *b, int64_t j)
{
    int a_sparse = a->kind == KFE_TABLE_CSR;
    int b_sparse = b->kind == KFE_TABLE_CSR;

    if (a_sparse && b_sparse)
        return sparse_distance(a, i, b, j);
    if (a_sparse)
        return mixed_distance(a, i, b->values + j * b->stride);
    if (b_sparse)
        return mixed_distance(b, j, a->values + i * a->stride);
    return dense_distance(a->cols, a->values + i * a->stride, b->values + j * b->stride);
}

/* ---- offering rows to a heap ---- */

/* Bound of the error of a squared distance by dot products, relative to the sum of the squared norms: a sum of d products,
 * with room for the order of operations and for centring. */
static double rounding_share(int64_t cols)
{
    return 8 * ((double)cols + 8) * DBL_EPSILON;
}

static void offer(neighbour *heap, int64_t k, neighbour candidate)
{
    if (candidate.row < k) { /* rows come in increasing order */
        heap[candidate.row] = candidate;
        sift_up(heap, candidate.row);
    } else if (nearer(candidate, heap[0])) {
        heap[0] = candidate;
        sift_down(heap, k, 0);
    }
}

static void offer_exactly(const search_job *job, neighbour *heap, int64_t query, int64_t row)
{
    double distance = kfe_i_neighbour_distance(&job->queries->source, query, &job->support->source, row);

    offer(heap, job->k, (neighbour){distance, row});
}

/* Offers the support rows from `first` on to the heap of one query. The test is written so that NaN passes it: where norms
 * overflow, differences give the distance. */
static void offer_row(const search_job *job, neighbour *heap, int64_t query, int64_t first, int64_t count,
                      const double *distances)
{
    double share = rounding_share(job->support->table.cols);
    double query_norm = job->queries->norms[query];
    const double *norms = job->support->norms + first;

    for (int64_t j = 0; j < count; j++) {
        if (first + j >= job->k && distances[j] - share * (query_norm + norms[j]) > heap[0].distance)
            continue;
        offer_exactly(job, heap, query, first + j);
    }
}

/* The same by products in single precision. The first k rows fill the heap. */
static void offer_narrow_row(const search_job *job, neighbour *heap, int64_t query, int64_t first,
                             int64_t count, const float *products)
{
    const float *levels = job->narrow_support.levels + first;
    int64_t j = 0;

    for (; j < count && first + j < job->k; j++)
        offer_exactly(job, heap, query, first + j);
    while (j < count) {
        float threshold = kfe_i_narrow_threshold(&job->narrow_queries, query, heap[0].distance);
        j = kfe_i_row_find_reaching(products, levels, threshold, j, count);
        if (j < count)
            offer_exactly(job, heap, query, first + j++);
    }
}

static int compare_neighbours(const void *a, const void *b)
{
    const neighbour *x = a;
    const neighbour *y = b;
    return nearer(*x, *y) ? -1 : nearer(*y, *x);
}

/* ---- the search ---- */

/* One tile: the support rows from `col` on, offered to the heaps of the queries from `row` on. */
static void search_tile(const search_job *job, int64_t row, int64_t rows, int64_t col, double *tile,
                        neighbour *heaps)
{
    int64_t left = job->support->table.rows - col;
    int64_t cols = left < KFE_TILE_SIDE ? left : KFE_TILE_SIDE;
    float *products = (float *)tile;

    if (job->narrow_queries.rows > 0)
        kfe_i_narrow_products(&job->narrow_queries, row, rows, &job->narrow_support, col, cols, products);
    else
        kfe_i_tile_eval(job->kernel, (kfe_i_range){job->queries, row, rows},
                        (kfe_i_range){job->support, col, cols}, tile, KFE_TILE_STRIDE, tile + KFE_TILE_SIZE);
    for (int64_t i = 0; i < rows; i++)
        if (job->narrow_queries.rows > 0)
            offer_narrow_row(job, heaps + i * job->k, row + i, col, cols, products + i * cols);
        else
            offer_row(job, heaps + i * job->k, row + i, col, cols, tile + i * KFE_TILE_STRIDE);
}

static void search_panel(const void *user, int64_t row, int thread)
{
    const search_job *job = user;
    double *tile = job->work + job->own * thread;
    neighbour *heaps = job->heaps + KFE_TILE_SIDE * job->k * thread;
    int64_t left = job->queries->table.rows - row;
    int64_t rows = left < KFE_TILE_SIDE ? left : KFE_TILE_SIDE;

    for (int64_t col = 0; col < job->support->table.rows; col += KFE_TILE_SIDE)
        search_tile(job, row, rows, col, tile, heaps);
    for (int64_t i = 0; i < rows; i++) {
        neighbour *found = heaps + i * job->k;
        qsort(found, (size_t)job->k, sizeof *found, compare_neighbours);
        job->asked->answer(job->asked->user, job->first + row + i, found,
                           job->out + (row + i) * job->asked->width);
    }
}

static kfe_status search_chunk(kfe_context *ctx, search_job *job, const kfe_i_table *chunk)
{
    kfe_status status = KFE_OK;
    int threads = kfe_context_threads(ctx);
    kfe_i_points queries = {0};

    KFE_TRY(kfe_i_points_prepare(ctx, job->kernel, chunk, job->support, &queries));
    job->queries = &queries;
    if (job->narrow_support.rows > 0 && kfe_i_narrow_suits(&queries, job->narrow_support.scale))
        KFE_TRY(kfe_i_narrow_make(ctx, &queries, job->narrow_support.scale, &job->narrow_queries));
    job->own = KFE_TILE_SIZE + kfe_i_tile_scratch(&queries, job->support);
    KFE_ALLOC_ZERO(ctx, job->work, job->own * threads);
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"finding neighbours", threads, chunk->rows, KFE_TILE_SIDE, KFE_SHARE_FREE},
        search_panel, job));
cleanup:
    kfe_i_free(ctx, job->work);
    job->work = NULL;
    job->queries = NULL;
    kfe_i_narrow_free(&job->narrow_queries);
    kfe_i_points_free(&queries);
    return status;
}

/* Runs the job on all queries on the CPU; out has `width` numbers for each. */
static kfe_status search_on_cpu(kfe_context *ctx, search_job job, const kfe_i_table *queries, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel kernel = {.def = &squared_distance};
    kfe_i_points support = {0};
    double heaps = (double)KFE_TILE_SIDE * (double)job.k * kfe_context_threads(ctx);

    job.kernel = &kernel;
    job.support = &support;
    double bytes = heaps * (double)sizeof *job.heaps;
    if (bytes > 1e6) /* less needs no plan */
        KFE_TRY(kfe_i_check_memory(ctx, bytes, "keeping so many neighbours",
                                   "use fewer {neighbors}, or raise {memory}"));
    KFE_TRY(kfe_i_points_prepare(ctx, &kernel, job.asked->support, NULL, &support));
    if (kfe_i_narrow_scale(&support) > 0)
        KFE_TRY(kfe_i_narrow_make(ctx, &support, kfe_i_narrow_scale(&support), &job.narrow_support));
    KFE_ALLOC(ctx, job.heaps, (int64_t)heaps);
    for (int64_t first = 0; first < queries->rows; first += CHUNK_ROWS) {
        int64_t left = queries->rows - first;
        kfe_i_table chunk = kfe_i_table_slice(queries, first, left < CHUNK_ROWS ? left : CHUNK_ROWS);
        job.first = first;
        job.out = out + first * job.asked->width;
        KFE_TRY(search_chunk(ctx, &job, &chunk));
    }
cleanup:
    kfe_i_free(ctx, job.heaps);
    kfe_i_narrow_free(&job.narrow_support);
    kfe_i_points_free(&support);
    return status;
}

/* ---- the search on a device ---- */

/* Distances that the CPU finds in about the time of a transfer. */
#define KFE_WORTH_SENDING 2e7

/* What a device finds for a chunk of queries. */
typedef struct device_search {
    kfe_i_device *device;
    kfe_device_points *support;
    double *centre;
    int64_t *numbers;  /* CHUNK_ROWS × k */
    double *distances; /* CHUNK_ROWS × k */
    neighbour *found;  /* k */
} device_search;

static int is_dense(const kfe_i_table *table)
{
    return table->kind == KFE_TABLE_DENSE && !table->singles && table->cols > 0;
}

static kfe_status upload(const device_search *d, const kfe_i_table *table, kfe_device_points **out,
                         kfe_device_status *result)
{
    const kfe_i_formula distance = {.base = KFE_FORMULA_DISTANCE};

    return kfe_i_device_upload_points(d->device, table, &distance, d->centre, out, result);
}

static kfe_status find_chunk(const device_search *d, const search_job *job, const kfe_i_table *chunk,
                             kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    const kfe_device_table *table = d->device->table;
    kfe_device_points *queries = NULL;
    kfe_device_range all = {d->support, 0, job->asked->support->rows};

    KFE_TRY(upload(d, chunk, &queries, result));
    if (*result == KFE_DEVICE_OK)
        *result = table->nearest(d->device->handle, (kfe_device_range){queries, 0, chunk->rows}, all, job->k,
                                 d->numbers, d->distances);
cleanup:
    table->points_free(d->device->handle, queries);
    return status;
}

static void answer_chunk(const device_search *d, const search_job *job, int64_t rows, double *out)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t r = 0; r < job->k; r++)
            d->found[r] = (neighbour){d->distances[i * job->k + r], d->numbers[i * job->k + r]};
        job->asked->answer(job->asked->user, job->first + i, d->found,
                           out + (job->first + i) * job->asked->width);
    }
}

static kfe_status begin_device(kfe_context *ctx, const search_job *job, int64_t rows, device_search *d,
                               kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *support = job->asked->support;

    KFE_ALLOC(ctx, d->centre, support->cols);
    KFE_ALLOC(ctx, d->numbers, rows * job->k);
    KFE_ALLOC(ctx, d->distances, rows * job->k);
    KFE_ALLOC(ctx, d->found, job->k);
    kfe_i_column_means(ctx, support, d->centre);
    d->device->stage = "finding neighbours";
    KFE_TRY(upload(d, support, &d->support, result));
cleanup:
    return status;
}

/* *done 0: the CPU has to do it, because there is no device, too little work for one, or something that it does not do. */
static kfe_status search_on_device(kfe_context *ctx, search_job job, const kfe_i_table *queries, double *out,
                                   int *done)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *support = job.asked->support;
    double work = (double)queries->rows * (double)support->rows;
    kfe_device_status result = KFE_DEVICE_OK;
    device_search d = {0};

    *done = 0;
    if (work < KFE_WORTH_SENDING || !is_dense(queries) || !is_dense(support))
        return KFE_OK;
    KFE_TRY(kfe_i_choose_device(ctx, work, &d.device));
    if (!d.device)
        return KFE_OK;
    KFE_TRY(begin_device(ctx, &job, kfe_i_least(queries->rows, CHUNK_ROWS), &d, &result));
    for (; job.first < queries->rows && result == KFE_DEVICE_OK; job.first += CHUNK_ROWS) {
        kfe_i_table chunk =
            kfe_i_table_slice(queries, job.first, kfe_i_least(queries->rows - job.first, CHUNK_ROWS));
        KFE_TRY(find_chunk(&d, &job, &chunk, &result));
        if (result == KFE_DEVICE_OK)
            answer_chunk(&d, &job, chunk.rows, out);
    }
    *done = result == KFE_DEVICE_OK;
    if (*done)
        kfe_i_log(ctx, KFE_LOG_INFO, "knn: the neighbours of %lld rows were found on %s",
                  (long long)queries->rows, d.device->name);
    else if (!kfe_i_device_gives_up(d.device, result, "knn"))
        status = kfe_i_device_status(d.device, result);
cleanup:
    if (d.support)
        d.device->table->points_free(d.device->handle, d.support);
    kfe_i_free(ctx, d.centre);
    kfe_i_free(ctx, d.numbers);
    kfe_i_free(ctx, d.distances);
    kfe_i_free(ctx, d.found);
    return status;
}

kfe_status kfe_i_neighbours_search(kfe_context *ctx, const kfe_i_neighbour_search *asked,
                                   const kfe_i_table *queries, double *out)
{
    kfe_status status = KFE_OK;
    const search_job job = {.asked = asked, .k = asked->k};
    int done = 0;

    KFE_TRY(search_on_device(ctx, job, queries, out, &done));
    if (!done)
        KFE_TRY(search_on_cpu(ctx, job, queries, out));
cleanup:
    return status;
}
