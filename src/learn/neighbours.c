/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of k nearest neighbours by brute force, for predictors of the learner knn.
 *
 * Squared distances come from the kernel engine tile by tile: dense rows by matrix products, sparse rows by panels. Their
 * rounding error has a known bound. Rows that may be among the k nearest so far are measured again from differences, so
 * that rows at equal distances are equal, and dense and sparse rows give the same neighbours. Each query has a heap of its
 * k nearest rows, the farthest on top. Of rows at equal distances the lower one is nearer.
 *
 * Time O(n·d) per query; memory one tile and 256 heaps per thread.
 */
#include "learn/neighbours.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"

/* Queries are prepared in chunks, so that memory does not grow with their number. */
enum { CHUNK_ROWS = 16384 };

static const kfe_i_kernel_def squared_distance = {
    .name = "squared distance",
    .base = KFE_BASE_DISTANCE,
};

typedef struct neighbour {
    double distance; /* squared */
    int64_t row;
} neighbour;

typedef struct search_job {
    const kfe_i_predictor *predictor;
    const kfe_i_kernel *kernel;
    const kfe_i_points *queries, *support;
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

static double distance_between(const kfe_i_table *a, int64_t i, const kfe_i_table *b, int64_t j)
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
        double distance = distance_between(&job->queries->source, query, &job->support->source, first + j);
        offer(heap, job->k, (neighbour){distance, first + j});
    }
}

static int compare_neighbours(const void *a, const void *b)
{
    const neighbour *x = a;
    const neighbour *y = b;
    return nearer(*x, *y) ? -1 : nearer(*y, *x);
}

/* ---- votes ---- */

/* 1/distance, relative to that of the nearest row, so that nothing overflows. An exact match leaves the others no weight. */
static double vote_weight(const kfe_i_predictor *predictor, double nearest, double distance)
{
    if (!predictor->by_distance || distance == nearest)
        return 1;
    return sqrt(nearest / distance);
}

static void add_vote(const kfe_i_predictor *predictor, int64_t row, double weight, double *out)
{
    if (predictor->classes > 0) {
        out[(int64_t)predictor->answers[row]] += weight;
        return;
    }
    for (int64_t j = 0; j < predictor->outputs; j++)
        out[j] += weight * predictor->answers[row * predictor->outputs + j];
}

/* Sorts first, so that the sums do not depend on the shape of the heap. */
static void vote(const kfe_i_predictor *predictor, neighbour *found, int64_t k, double *out)
{
    double total = 0;

    qsort(found, (size_t)k, sizeof *found, compare_neighbours);
    memset(out, 0, (size_t)predictor->outputs * sizeof *out);
    for (int64_t r = 0; r < k; r++) {
        double weight = vote_weight(predictor, found[0].distance, found[r].distance);
        add_vote(predictor, found[r].row, weight, out);
        total += weight;
    }
    for (int64_t j = 0; j < predictor->outputs; j++)
        out[j] /= total;
}

/* ---- the search ---- */

static void search_panel(const void *user, int64_t row, int thread)
{
    const search_job *job = user;
    double *tile = job->work + job->own * thread;
    neighbour *heaps = job->heaps + KFE_TILE_SIDE * job->k * thread;
    int64_t left = job->queries->table.rows - row;
    int64_t rows = left < KFE_TILE_SIDE ? left : KFE_TILE_SIDE;
    int64_t support_rows = job->support->table.rows;

    for (int64_t col = 0; col < support_rows; col += KFE_TILE_SIDE) {
        int64_t cols = support_rows - col < KFE_TILE_SIDE ? support_rows - col : KFE_TILE_SIDE;
        kfe_i_tile_eval(job->kernel, (kfe_i_range){job->queries, row, rows},
                        (kfe_i_range){job->support, col, cols}, tile, KFE_TILE_STRIDE, tile + KFE_TILE_SIZE);
        for (int64_t i = 0; i < rows; i++)
            offer_row(job, heaps + i * job->k, row + i, col, cols, tile + i * KFE_TILE_STRIDE);
    }
    for (int64_t i = 0; i < rows; i++)
        vote(job->predictor, heaps + i * job->k, job->k, job->out + (row + i) * job->predictor->outputs);
}

static kfe_status search_chunk(kfe_context *ctx, search_job *job, const kfe_i_table *chunk)
{
    kfe_status status = KFE_OK;
    int threads = kfe_context_threads(ctx);
    kfe_i_points queries = {0};

    KFE_TRY(kfe_i_points_prepare(ctx, job->kernel, chunk, job->support, &queries));
    job->queries = &queries;
    job->own = KFE_TILE_SIZE + kfe_i_tile_scratch(&queries, job->support);
    KFE_ALLOC_ZERO(ctx, job->work, job->own * threads);
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"finding neighbours", threads, chunk->rows, KFE_TILE_SIDE, KFE_SHARE_FREE},
        search_panel, job));
cleanup:
    kfe_i_free(ctx, job->work);
    job->work = NULL;
    job->queries = NULL;
    kfe_i_points_free(&queries);
    return status;
}

kfe_status kfe_i_neighbours_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                    const kfe_i_table *features, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel kernel = {.def = &squared_distance};
    kfe_i_points support = {0};
    search_job job = {
        .predictor = predictor, .kernel = &kernel, .support = &support, .k = predictor->neighbours};
    double heaps = (double)KFE_TILE_SIDE * (double)job.k * kfe_context_threads(ctx);

    KFE_TRY(kfe_i_check_memory(ctx, heaps * (double)sizeof *job.heaps, "keeping so many neighbours",
                               "use fewer {neighbors}, or raise {memory}"));
    KFE_TRY(kfe_i_points_prepare(ctx, &kernel, &predictor->support, NULL, &support));
    KFE_ALLOC(ctx, job.heaps, (int64_t)heaps);
    for (int64_t first = 0; first < features->rows; first += CHUNK_ROWS) {
        int64_t left = features->rows - first;
        kfe_i_table chunk = kfe_i_table_slice(features, first, left < CHUNK_ROWS ? left : CHUNK_ROWS);
        job.out = out + first * predictor->outputs;
        KFE_TRY(search_chunk(ctx, &job, &chunk));
    }
cleanup:
    kfe_i_free(ctx, job.heaps);
    kfe_i_points_free(&support);
    return status;
}
