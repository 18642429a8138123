/* SPDX-License-Identifier: Apache-2.0 */
/* Products with kernel matrices and blocks of their entries, tile by tile; the operators (src/gram) and the
 * projection of new examples (expansion.c) use them. */
#include "kernel/tile/cross.h"

#include <cblas.h>
#include <string.h>

#include "core/invariant.h"
#include "core/least.h"
#include "core/memory.h"
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
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    int64_t first, size; /* the points from `first` on */
    int64_t from;        /* rows before that one are left out */
    kfe_i_vectors v;
    double *work; /* per thread: sums (size × k), a tile, scratch */
    int64_t own;
} self_job;

/* One panel of rows against all columns up to its own end. A tile left of the diagonal is used twice, itself
 * and transposed; the tile on the diagonal is evaluated whole. */
static void self_panel(const void *user, int64_t panel_row, int thread)
{
    const self_job *job = user;
    int64_t row = job->from + panel_row;
    int64_t k = job->v.k;
    double *out = job->work + job->own * thread;
    double *tile = out + job->size * k;
    int64_t rows = kfe_i_least(KFE_TILE_SIDE, job->size - row);
    int64_t end = row + rows;

    for (int64_t col = 0; col < end; col += KFE_TILE_SIDE) {
        int64_t cols = kfe_i_least(KFE_TILE_SIDE, end - col);
        kfe_i_tile_eval(job->kernel, (kfe_i_range){job->points, job->first + row, rows},
                        (kfe_i_range){job->points, job->first + col, cols}, tile, KFE_TILE_STRIDE,
                        tile + KFE_TILE_SIZE);
        multiply_tile(tile, rows, cols, &(kfe_i_product){1, job->v.values + col * k, k, out + row * k});
        if (col < row)
            multiply_transposed(tile, rows, cols,
                                &(kfe_i_product){1, job->v.values + row * k, k, out + col * k});
    }
}

int64_t kfe_i_self_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                              int64_t first, int64_t k)
{
    return ((points->table.rows - first) * k + tile_work(points, points)) * kfe_i_tile_threads(ctx, kernel);
}

/* Every thread adds to sums of its own; they are combined in the order of the threads. */
static kfe_status run_self_job(kfe_context *ctx, self_job *job, kfe_i_share share, double *out)
{
    int threads = kfe_i_tile_threads(ctx, job->kernel);
    int64_t sums = job->size * job->v.k;
    kfe_i_panels panels = {"multiplying with the kernel", threads, job->size - job->from, KFE_TILE_SIDE,
                           KFE_SHARE_FIXED};

    job->own = sums + tile_work(job->points, job->points);
    for (int t = 0; t < threads; t++)
        memset(job->work + job->own * t, 0, (size_t)sums * sizeof *job->work);
    clear_scratch(job->points, job->points, job->work, job->own, sums + KFE_TILE_SIZE, threads);
    kfe_status status = kfe_i_each_dealt_panel(ctx, &panels, share, self_panel, job);
    for (int t = 0; status == KFE_OK && t < threads; t++)
        for (int64_t i = 0; i < sums; i++)
            out[i] += job->work[job->own * t + i];
    return status;
}

kfe_status kfe_i_self_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                            int64_t first, kfe_i_vectors v, double *out, double *work)
{
    self_job job = {.kernel = kernel,
                    .points = points,
                    .first = first,
                    .size = points->table.rows - first,
                    .v = v,
                    .work = work};

    assert(first >= 0 && first <= points->table.rows && v.k >= 0);
    return run_self_job(ctx, &job, (kfe_i_share){0, 1}, out);
}

kfe_status kfe_i_self_times_part(kfe_context *ctx, const kfe_i_self_part *part, double *work)
{
    self_job job = {.kernel = part->kernel,
                    .points = part->points,
                    .size = part->points->table.rows,
                    .from = part->from,
                    .v = part->v,
                    .work = work};

    assert(part->from % KFE_TILE_SIDE == 0 && part->from >= 0 && part->v.k >= 0);
    return part->from < job.size ? run_self_job(ctx, &job, part->share, part->out) : KFE_OK;
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

static void block_panel(const void *user, int64_t i, int thread)
{
    const block_job *job = user;

    for (int64_t j = 0; j < job->cols.count; j += KFE_TILE_SIDE)
        kfe_i_tile_eval(job->kernel, part_of(job->rows, i), part_of(job->cols, j),
                        job->out + i * job->stride + j, job->stride, job->work + job->own * thread);
}

kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols,
                             double *out, int64_t stride)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, kernel);
    int64_t scratch = kfe_i_tile_scratch(rows.points, cols.points);
    block_job job = {kernel, rows, cols, out, stride, NULL, scratch};
    kfe_i_panels panels = {"computing the kernel", threads, rows.count, KFE_TILE_SIDE, KFE_SHARE_FREE};

    assert(kfe_i_range_within(rows.first, rows.count, rows.points->table.rows));
    assert(kfe_i_range_within(cols.first, cols.count, cols.points->table.rows));
    assert(stride >= cols.count);
    KFE_ALLOC_ZERO(ctx, job.work, job.own * threads);
    KFE_TRY(kfe_i_each_panel(ctx, &panels, block_panel, &job));
cleanup:
    kfe_i_free(ctx, job.work);
    return status;
}

/* ---- the whole symmetric matrix ---- */

typedef struct matrix_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    double *wide;
    float *narrow;
    kfe_i_tile_room room;
} matrix_job;

enum { MIRROR = 8 }; /* rows that are written together, for whole cache lines */

/* Writes a tile to its place and, transposed, to its mirror image. */
static void place_wide(const double *tile, int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t n,
                       double *out)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + (row + i) * n + col, tile + i * KFE_LARGEST_STRIDE, (size_t)cols * sizeof *out);
    kfe_i_transpose(tile, KFE_LARGEST_STRIDE, rows, cols, out + col * n + row, n);
}

static void place_narrow(const double *tile, int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t n,
                         float *out)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out[(row + i) * n + col + j] = (float)tile[i * KFE_LARGEST_STRIDE + j];
    for (int64_t first = 0; first < cols; first += MIRROR)
        for (int64_t j = first; j < kfe_i_least(cols, first + MIRROR); j++)
            for (int64_t i = 0; i < rows; i++)
                out[(col + j) * n + row + i] = (float)tile[i * KFE_LARGEST_STRIDE + j];
}

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
    if (job->wide)
        place_wide(tile, row, rows, col, cols, n, job->wide);
    else
        place_narrow(tile, row, rows, col, cols, n, job->narrow);
}

kfe_status kfe_i_self_matrix(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                             double *wide, float *narrow)
{
    kfe_status status = KFE_OK;
    matrix_job job = {.kernel = kernel, .points = points, .wide = wide, .narrow = narrow};

    KFE_TRY(kfe_i_tile_room_new(ctx, kernel, points, &job.room));
    int64_t tiles = kfe_i_triangle_tiles(points->table.rows, KFE_TILE_LARGEST);
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"computing the kernel", job.room.threads, tiles, 1, KFE_SHARE_FREE}, matrix_tile,
        &job));
cleanup:
    kfe_i_free(ctx, job.room.work);
    return status;
}
