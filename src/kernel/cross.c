/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cross.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/panels.h"
#include "kernel/tile.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A tile and what is needed to evaluate it. */
static int64_t tile_work(const kfe_i_points *a, const kfe_i_points *b)
{
    return KFE_TILE_SIZE + kfe_i_tile_scratch(a, b);
}

/* Tiles want their scratch zeroed at first; the workspace comes as the last call left it. */
static void clear_scratch(const kfe_i_points *a, const kfe_i_points *b, double *work, int64_t own,
                          int64_t before, int threads)
{
    for (int t = 0; t < threads; t++)
        memset(work + own * t + before, 0, (size_t)kfe_i_tile_scratch(a, b) * sizeof *work);
}

/* out (rows × k) += scale · op(tile) · v */
static void multiply_tile(CBLAS_TRANSPOSE transpose, int64_t rows, int64_t cols, int64_t k, double scale,
                          const double *tile, const double *v, double *out)
{
    cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)cols, scale, tile,
                KFE_TILE_STRIDE, v, (blasint)k, 1, out, (blasint)k);
}

/* ---- κ(a, b)·v ---- */

typedef struct cross_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *a, *b;
    double weight;
    const double *v;
    int64_t k;
    double *out, *work;
    int64_t own; /* doubles of work per thread */
} cross_job;

static void cross_panel(const void *user, int64_t row, int thread)
{
    const cross_job *job = user;
    double *tile = job->work + job->own * thread;
    int64_t rows = least(KFE_TILE_SIDE, job->a->table.rows - row);

    for (int64_t col = 0; col < job->b->table.rows; col += KFE_TILE_SIDE) {
        int64_t cols = least(KFE_TILE_SIDE, job->b->table.rows - col);
        kfe_i_tile_eval(job->kernel, job->a, row, rows, job->b, col, cols, tile, KFE_TILE_STRIDE,
                        tile + KFE_TILE_SIZE);
        multiply_tile(CblasNoTrans, rows, cols, job->k, job->weight, tile, job->v + col * job->k,
                      job->out + row * job->k);
    }
}

int64_t kfe_i_cross_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                               const kfe_i_points *b)
{
    return tile_work(a, b) * kfe_i_tile_threads(ctx, kernel);
}

kfe_status kfe_i_cross_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                             const kfe_i_points *b, double weight, const double *v, int64_t k, double *out,
                             double *work)
{
    cross_job job = {kernel, a, b, weight, v, k, out, work, tile_work(a, b)};

    clear_scratch(a, b, work, job.own, KFE_TILE_SIZE, kfe_i_tile_threads(ctx, kernel));
    return kfe_i_each_panel(ctx, "multiplying with the kernel", kfe_i_tile_threads(ctx, kernel),
                            a->table.rows, KFE_TILE_SIDE, KFE_SHARE_FREE, cross_panel, &job);
}

/* ---- the symmetric case ---- */

typedef struct self_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    int64_t first, size; /* the points from `first` on */
    const double *v;
    int64_t k;
    double *work;
    int64_t own;
} self_job;

/* Panel `row` against everything up to its own end. Left of the diagonal a tile serves twice; the one on it
 * is evaluated whole. Sums go to the thread's own out, at the start of its work. */
static void self_panel(const void *user, int64_t row, int thread)
{
    const self_job *job = user;
    int64_t k = job->k;
    double *out = job->work + job->own * thread;
    double *tile = out + job->size * k;
    int64_t rows = least(KFE_TILE_SIDE, job->size - row);
    int64_t end = row + rows;

    for (int64_t col = 0; col < end; col += KFE_TILE_SIDE) {
        int64_t cols = least(KFE_TILE_SIDE, end - col);
        kfe_i_tile_eval(job->kernel, job->points, job->first + row, rows, job->points, job->first + col, cols,
                        tile, KFE_TILE_STRIDE, tile + KFE_TILE_SIZE);
        multiply_tile(CblasNoTrans, rows, cols, k, 1, tile, job->v + col * k, out + row * k);
        if (col < row)
            multiply_tile(CblasTrans, cols, rows, k, 1, tile, job->v + row * k, out + col * k);
    }
}

int64_t kfe_i_self_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                              int64_t first, int64_t k)
{
    return ((points->table.rows - first) * k + tile_work(points, points)) * kfe_i_tile_threads(ctx, kernel);
}

kfe_status kfe_i_self_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                            int64_t first, const double *v, int64_t k, double *out, double *work)
{
    int threads = kfe_i_tile_threads(ctx, kernel);
    int64_t size = points->table.rows - first;
    self_job job = {kernel, points, first, size, v, k, work, size * k + tile_work(points, points)};

    for (int t = 0; t < threads; t++)
        memset(work + job.own * t, 0, (size_t)(size * k) * sizeof *work);
    clear_scratch(points, points, work, job.own, size * k + KFE_TILE_SIZE, threads);
    kfe_status status = kfe_i_each_panel(ctx, "multiplying with the kernel", threads, size, KFE_TILE_SIDE,
                                         KFE_SHARE_FIXED, self_panel, &job);
    for (int t = 0; status == KFE_OK && t < threads; t++)
        for (int64_t i = 0; i < size * k; i++)
            out[i] += work[job.own * t + i];
    return status;
}

/* ---- entries ---- */

typedef struct block_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *a, *b;
    int64_t row, rows, col, cols;
    double *out;
    int64_t stride;
    double *work;
    int64_t own;
} block_job;

static void block_panel(const void *user, int64_t i, int thread)
{
    const block_job *job = user;

    for (int64_t j = 0; j < job->cols; j += KFE_TILE_SIDE)
        kfe_i_tile_eval(job->kernel, job->a, job->row + i, least(KFE_TILE_SIDE, job->rows - i), job->b,
                        job->col + j, least(KFE_TILE_SIDE, job->cols - j), job->out + i * job->stride + j,
                        job->stride, job->work + job->own * thread);
}

kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a, int64_t row,
                             int64_t rows, const kfe_i_points *b, int64_t col, int64_t cols, double *out,
                             int64_t stride)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, kernel);
    block_job job = {kernel, a, b, row, rows, col, cols, out, stride, NULL, kfe_i_tile_scratch(a, b)};

    KFE_ALLOC_ZERO(ctx, job.work, job.own * threads);
    KFE_TRY(kfe_i_each_panel(ctx, "computing the kernel", threads, rows, KFE_TILE_SIDE, KFE_SHARE_FREE,
                             block_panel, &job));
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
    double *work;
    int64_t own;
} matrix_job;

enum { MATRIX_STRIDE = KFE_TILE_LARGEST + 8 };
enum { MIRROR = 8 }; /* a cache line of doubles */

/* out (cols × rows, stride n) = tileᵀ, in squares of whole cache lines on both sides. */
static void mirror_wide(const double *tile, int64_t rows, int64_t cols, int64_t n, double *out)
{
    for (int64_t j = 0; j < cols; j += MIRROR)
        for (int64_t i = 0; i < rows; i += MIRROR) {
            const double *from = tile + i * MATRIX_STRIDE + j;
            double *to = out + j * n + i;
            if (j + MIRROR <= cols && i + MIRROR <= rows) {
                for (int q = 0; q < MIRROR; q++)
                    for (int p = 0; p < MIRROR; p++)
                        to[q * n + p] = from[p * MATRIX_STRIDE + q];
                continue;
            }
            for (int64_t q = 0; q < least(MIRROR, cols - j); q++)
                for (int64_t p = 0; p < least(MIRROR, rows - i); p++)
                    to[q * n + p] = from[p * MATRIX_STRIDE + q];
        }
}

/* Writes a tile to its place and to its mirror image. */
static void place_wide(const double *tile, int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t n,
                       double *out)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + (row + i) * n + col, tile + i * MATRIX_STRIDE, (size_t)cols * sizeof *out);
    mirror_wide(tile, rows, cols, n, out + col * n + row);
}

static void place_narrow(const double *tile, int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t n,
                         float *out)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out[(row + i) * n + col + j] = (float)tile[i * MATRIX_STRIDE + j];
    for (int64_t first = 0; first < cols; first += MIRROR)
        for (int64_t j = first; j < least(cols, first + MIRROR); j++)
            for (int64_t i = 0; i < rows; i++)
                out[(col + j) * n + row + i] = (float)tile[i * MATRIX_STRIDE + j];
}

/* The upper triangle of a tile on the diagonal from its lower: symmetric to the last bit. */
static void symmetrise(double *tile, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++)
            tile[j * MATRIX_STRIDE + i] = tile[i * MATRIX_STRIDE + j];
}

static void matrix_panel(const void *user, int64_t row, int thread)
{
    const matrix_job *job = user;
    double *tile = job->work + job->own * thread;
    int64_t n = job->points->table.rows;
    int64_t rows = least(KFE_TILE_LARGEST, n - row);

    for (int64_t col = 0; col < row + rows; col += KFE_TILE_LARGEST) {
        int64_t cols = least(KFE_TILE_LARGEST, row + rows - col);
        kfe_i_tile_eval(job->kernel, job->points, row, rows, job->points, col, cols, tile, MATRIX_STRIDE,
                        tile + KFE_TILE_LARGEST * MATRIX_STRIDE);
        if (col == row)
            symmetrise(tile, rows);
        if (job->wide)
            place_wide(tile, row, rows, col, cols, n, job->wide);
        else
            place_narrow(tile, row, rows, col, cols, n, job->narrow);
    }
}

kfe_status kfe_i_self_matrix(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                             double *wide, float *narrow)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, kernel);
    matrix_job job = {kernel, points, wide,
                      narrow, NULL,   KFE_TILE_LARGEST * MATRIX_STRIDE + kfe_i_tile_scratch(points, points)};

    KFE_ALLOC_ZERO(ctx, job.work, job.own * threads);
    KFE_TRY(kfe_i_each_panel(ctx, "computing the kernel", threads, points->table.rows, KFE_TILE_LARGEST,
                             KFE_SHARE_FREE, matrix_panel, &job));
cleanup:
    kfe_i_free(ctx, job.work);
    return status;
}
