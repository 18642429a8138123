/* SPDX-License-Identifier: Apache-2.0 */
/* Products with kernel matrices and blocks of their entries, tile by tile; the operators (src/gram) and the
 * projection of new examples (expansion.c) use them. */
#include "kernel/tile/cross.h"

#include <cblas.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/rows.h"
#include "kernel/tile/tile.h"

/* Doubles for one tile and the scratch to evaluate it. */
static int64_t tile_work(const kfe_i_points *a, const kfe_i_points *b)
{
    return KFE_TILE_SIZE + kfe_i_tile_scratch(a, b);
}

/* Scratch must be zero before the first tile, but the workspace holds what the last call left in it. */
static void clear_scratch(const kfe_i_points *a, const kfe_i_points *b, double *work, int64_t own,
                          int64_t before, int threads)
{
    for (int t = 0; t < threads; t++)
        memset(work + own * t + before, 0, (size_t)kfe_i_tile_scratch(a, b) * sizeof *work);
}

/* out (rows × k) += weight · tile · v (cols × k) */
static void multiply_tile(const double *tile, int64_t rows, int64_t cols, const kfe_i_product *product)
{
    blasint k = (blasint)product->k;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, k, (blasint)cols, product->weight,
                tile, KFE_TILE_STRIDE, product->v, k, 1, product->out, k);
}

/* out (cols × k) += weight · tileᵀ · v (rows × k) */
static void multiply_transposed(const double *tile, int64_t rows, int64_t cols, const kfe_i_product *product)
{
    blasint k = (blasint)product->k;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)cols, k, (blasint)rows, product->weight,
                tile, KFE_TILE_STRIDE, product->v, k, 1, product->out, k);
}

/* ---- κ(a, b)·v ---- */

typedef struct cross_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *a, *b;
    const kfe_i_product *product;
    double *work;
    int64_t own; /* doubles of work per thread */
} cross_job;

static void cross_panel(const void *user, int64_t row, int thread)
{
    const cross_job *job = user;
    double *tile = job->work + job->own * thread;
    int64_t rows = kfe_i_least(KFE_TILE_SIDE, job->a->table.rows - row);

    for (int64_t col = 0; col < job->b->table.rows; col += KFE_TILE_SIDE) {
        int64_t cols = kfe_i_least(KFE_TILE_SIDE, job->b->table.rows - col);
        kfe_i_tile_eval(job->kernel, (kfe_i_range){job->a, row, rows}, (kfe_i_range){job->b, col, cols}, tile,
                        KFE_TILE_STRIDE, tile + KFE_TILE_SIZE);
        kfe_i_product part = *job->product;
        part.v += col * part.k;
        part.out += row * part.k;
        multiply_tile(tile, rows, cols, &part);
    }
}

int64_t kfe_i_cross_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                               const kfe_i_points *b)
{
    return tile_work(a, b) * kfe_i_tile_threads(ctx, kernel);
}

kfe_status kfe_i_cross_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                             const kfe_i_points *b, const kfe_i_product *product, double *work)
{
    assert(a->table.rows >= 0 && b->table.rows >= 0 && product->k >= 0);
    cross_job job = {kernel, a, b, product, work, tile_work(a, b)};
    kfe_i_panels panels = {.stage = "multiplying with the kernel",
                           .threads = kfe_i_tile_threads(ctx, kernel),
                           .rows = a->table.rows,
                           .side = KFE_TILE_SIDE,
                           .sharing = KFE_SHARE_FREE};

    clear_scratch(a, b, work, job.own, KFE_TILE_SIZE, panels.threads);
    return kfe_i_each_panel(ctx, &panels, cross_panel, &job);
}

/* ---- the symmetric case ---- */

typedef struct self_job {
    const kfe_i_self_product *product;
    int64_t size; /* points */
    int64_t own;  /* doubles of work per thread: sums (size × k), a tile, scratch */
    double *work;
} self_job;

/* One panel of rows against all columns up to its own end. A tile left of the diagonal is used twice, itself
 * and transposed; the tile on the diagonal is evaluated whole. */
static void self_panel(const void *user, int64_t panel_row, int thread)
{
    const self_job *job = user;
    const kfe_i_self_product *p = job->product;
    int64_t row = p->from + panel_row;
    int64_t k = p->v.k;
    double *out = job->work + job->own * thread;
    double *tile = out + job->size * k;
    int64_t rows = kfe_i_least(KFE_TILE_SIDE, job->size - row);

    for (int64_t col = 0; col < row + rows;) {
        int64_t cols = kfe_i_least(KFE_TILE_SIDE, (col < row ? row : row + rows) - col);
        kfe_i_tile_eval(p->kernel, (kfe_i_range){p->points, row, rows}, (kfe_i_range){p->points, col, cols},
                        tile, KFE_TILE_STRIDE, tile + KFE_TILE_SIZE);
        multiply_tile(tile, rows, cols, &(kfe_i_product){1, p->v.values + col * k, k, out + row * k});
        if (col < row)
            multiply_transposed(tile, rows, cols,
                                &(kfe_i_product){1, p->v.values + row * k, k, out + col * k});
        col += cols;
    }
}

int64_t kfe_i_self_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                              int64_t k)
{
    return (points->table.rows * k + tile_work(points, points)) * kfe_i_tile_threads(ctx, kernel);
}

/* Every thread adds to sums of its own; they are combined in the order of the threads. */
kfe_status kfe_i_self_times(kfe_context *ctx, const kfe_i_self_product *p, double weight, double *out,
                            double *work)
{
    int threads = kfe_i_tile_threads(ctx, p->kernel);
    int64_t size = p->points->table.rows;
    int64_t sums = size * p->v.k;
    self_job job = {p, size, sums + tile_work(p->points, p->points), work};
    kfe_i_panels panels = {"multiplying with the kernel", threads, size - p->from, KFE_TILE_SIDE,
                           KFE_SHARE_FIXED};

    assert(p->from >= 0 && p->v.k >= 0);
    if (p->from >= size)
        return KFE_OK;
    for (int t = 0; t < threads; t++)
        memset(work + job.own * t, 0, (size_t)sums * sizeof *work);
    clear_scratch(p->points, p->points, work, job.own, sums + KFE_TILE_SIZE, threads);
    kfe_status status = kfe_i_each_dealt_panel(ctx, &panels, p->share, self_panel, &job);
    for (int t = 0; status == KFE_OK && t < threads; t++)
        for (int64_t i = 0; i < sums; i++)
            out[i] += weight * work[job.own * t + i];
    return status;
}

/* ---- entries ---- */

typedef struct block_job {
    const kfe_i_kernel *kernel;
    kfe_i_range rows, cols;
    double *out;
    int64_t stride;
    double *work;
    int64_t own;
} block_job;

/* The points of one tile: those from `offset` on, as far as a tile reaches. */
static kfe_i_range part_of(kfe_i_range span, int64_t offset)
{
    return (kfe_i_range){span.points, span.first + offset, kfe_i_least(KFE_TILE_SIDE, span.count - offset)};
}

static void block_tile(const block_job *job, int64_t i, int64_t j, int thread)
{
    kfe_i_tile_eval(job->kernel, part_of(job->rows, i), part_of(job->cols, j), job->out + i * job->stride + j,
                    job->stride, job->work + job->own * thread);
}

static void block_rows(const void *user, int64_t i, int thread)
{
    const block_job *job = user;

    for (int64_t j = 0; j < job->cols.count; j += KFE_TILE_SIDE)
        block_tile(job, i, j, thread);
}

static void block_columns(const void *user, int64_t j, int thread)
{
    const block_job *job = user;

    for (int64_t i = 0; i < job->rows.count; i += KFE_TILE_SIDE)
        block_tile(job, i, j, thread);
}

kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols,
                             double *out, int64_t stride)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, kernel);
    int64_t scratch = kfe_i_tile_scratch(rows.points, cols.points);
    block_job job = {kernel, rows, cols, out, stride, NULL, scratch};
    int wide = cols.count > rows.count; /* threads share the longer side */
    kfe_i_panels panels = {"computing the kernel", threads, wide ? cols.count : rows.count, KFE_TILE_SIDE,
                           KFE_SHARE_FREE};

    assert(kfe_i_range_within(rows.first, rows.count, rows.points->table.rows));
    assert(kfe_i_range_within(cols.first, cols.count, cols.points->table.rows));
    assert(stride >= cols.count);
    KFE_ALLOC_ZERO(ctx, job.work, job.own * threads);
    KFE_TRY(kfe_i_each_panel(ctx, &panels, wide ? block_columns : block_rows, &job));
cleanup:
    kfe_i_free(ctx, job.work);
    return status;
}

/* ---- the whole symmetric matrix ---- */

typedef struct matrix_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    double *out;
    kfe_i_tile_room room;
} matrix_job;

static void matrix_tile(const void *user, int64_t index, int thread)
{
    const matrix_job *job = user;
    double *tile = job->room.work + job->room.own * thread;
    int64_t n = job->points->table.rows;
    int64_t row;
    int64_t col;

    kfe_i_triangle_tile(index, KFE_TILE_LARGEST, &row, &col);
    int64_t rows = kfe_i_least(KFE_TILE_LARGEST, n - row);
    int64_t cols = kfe_i_least(KFE_TILE_LARGEST, n - col);
    kfe_i_triangle_tile_eval(job->kernel, (kfe_i_range){job->points, row, rows},
                             (kfe_i_range){job->points, col, cols}, tile, tile + job->room.tile);
    for (int64_t i = 0; i < rows; i++)
        memcpy(job->out + (row + i) * n + col, tile + i * KFE_LARGEST_STRIDE, (size_t)cols * sizeof *tile);
    kfe_i_transpose(tile, KFE_LARGEST_STRIDE, rows, cols, job->out + col * n + row, n);
}

kfe_status kfe_i_self_matrix(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                             double *out)
{
    kfe_status status = KFE_OK;
    matrix_job job = {.kernel = kernel, .points = points, .out = out};

    KFE_TRY(kfe_i_tile_room_new(ctx, kernel, points, &job.room));
    int64_t tiles = kfe_i_triangle_tiles(points->table.rows, KFE_TILE_LARGEST);
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"computing the kernel", job.room.threads, tiles, 1, KFE_SHARE_FREE}, matrix_tile,
        &job));
cleanup:
    kfe_i_free(ctx, job.room.work);
    return status;
}
