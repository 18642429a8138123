/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a Gaussian kernel matrix in single precision, for kernel_rows.c: GEMM for the dot products of a tile, then
 * distances and exp in one pass over each of its rows. Takes a third of the time of double precision. */
#include "learn/blocks/gaussian_rows.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"
#include "learn/blocks/loops.h"

/* gamma·‖x‖² up to this is accepted: kernel values then have errors of some 1e-6 at most. */
#define LARGEST_EXPONENT 8.0
/* The points in single precision may take this share of the memory that is left. */
#define POINTS_SHARE 0.125
enum { SMALL_PRODUCT = 1 << 18 };

static int suits(const kfe_i_kernel *kernel, const kfe_i_points *points, double *gamma)
{
    const kfe_i_table *table = &points->table;
    double largest = 0;

    if (kernel->def->map != KFE_KERNEL_rbf || table->kind != KFE_TABLE_DENSE)
        return 0;
    for (int64_t i = 0; i < table->rows; i++)
        largest = points->norms[i] > largest ? points->norms[i] : largest;
    *gamma = kfe_i_kernel_formula(kernel).params[0];
    double bytes = 4.0 * (double)table->rows * (double)(table->cols + 1);
    return *gamma * largest <= LARGEST_EXPONENT && largest < 1e30 && *gamma < 1e30 &&
           bytes < POINTS_SHARE * (double)kfe_i_memory_left(points->ctx);
}

kfe_status kfe_i_gaussian_points_make(const kfe_i_kernel *kernel, const kfe_i_points *points,
                                      const int64_t *position, kfe_i_gaussian_points *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = points->ctx;
    double gamma = 0;

    *out = (kfe_i_gaussian_points){.position = position};
    if (!suits(kernel, points, &gamma))
        return KFE_OK;
    const kfe_i_table *table = &points->table;
    out->gamma = (float)gamma;
    out->count = table->rows;
    out->cols = table->cols;
    KFE_ALLOC(ctx, out->norms, table->rows);
    KFE_ALLOC(ctx, out->values, table->rows * table->cols);
    for (int64_t i = 0; i < table->rows; i++) {
        int64_t at = position ? position[i] : i;
        for (int64_t j = 0; j < table->cols; j++)
            out->values[at * table->cols + j] = (float)kfe_i_points_value(points, i, j);
        out->norms[at] = (float)points->norms[i];
    }
cleanup:
    return status;
}

void kfe_i_gaussian_points_free(kfe_context *ctx, kfe_i_gaussian_points *points)
{
    kfe_i_free(ctx, points->values);
    kfe_i_free(ctx, points->norms);
}

static int64_t position_of(const kfe_i_gaussian_points *points, int64_t example)
{
    return points->position ? points->position[example] : example;
}

typedef struct rows_job {
    const kfe_i_gaussian_points *points;
    const kfe_i_wanted_rows *wanted;
    float *work; /* per thread: a tile of products, and points and norms of its rows */
    int64_t own;
} rows_job;

/* Numbers of up to KFE_TILE_SIDE wanted rows that lack a part, from number *next on. */
static int64_t next_rows(const kfe_i_wanted_rows *wanted, int64_t part, int64_t *next, int64_t *numbers)
{
    int64_t found = 0;

    for (; *next < wanted->count && found < KFE_TILE_SIDE; ++*next)
        if (wanted->parts[*next] >> part & 1)
            numbers[found++] = *next;
    return found;
}

/* All rows that lack the part with this panel of entries. */
static void evaluate_panel(const void *user, int64_t first, int thread)
{
    const rows_job *job = user;
    const kfe_i_gaussian_points *points = job->points;
    blasint d = (blasint)points->cols;
    float *tile = job->work + job->own * thread;
    float *chosen = tile + KFE_TILE_SIZE;
    float *norms = chosen + KFE_TILE_SIDE * points->cols;
    int64_t width = kfe_i_least(KFE_TILE_SIDE, points->count - first);
    int64_t numbers[KFE_TILE_SIDE];
    int64_t next = 0;
    int64_t rows;

    while ((rows = next_rows(job->wanted, first / job->wanted->part_size, &next, numbers)) > 0) {
        for (int64_t r = 0; r < rows; r++) {
            int64_t at = position_of(points, job->wanted->example[numbers[r]]);
            memcpy(chosen + r * d, points->values + at * d, (size_t)d * sizeof *chosen);
            norms[r] = points->norms[at];
        }
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)width, d, 1, chosen, d,
                    points->values + first * d, d, 0, tile, KFE_TILE_STRIDE);
        for (int64_t r = 0; r < rows; r++) {
            kfe_i_products products = {tile + r * KFE_TILE_STRIDE, points->norms + first, norms[r]};
            kfe_i_gaussian_row(&products, points->gamma, width, job->wanted->out[numbers[r]] + first);
        }
    }
}

kfe_status kfe_i_gaussian_rows(kfe_context *ctx, const kfe_i_gaussian_points *points,
                               const kfe_i_wanted_rows *wanted)
{
    kfe_status status = KFE_OK;
    int threads = wanted->count * points->count < SMALL_PRODUCT ? 1 : kfe_context_threads(ctx);
    kfe_i_panels panels = {"computing rows of the kernel", threads, points->count, KFE_TILE_SIDE,
                           KFE_SHARE_FREE};
    rows_job job = {.points = points, .wanted = wanted};

    job.own = KFE_TILE_SIZE + KFE_TILE_SIDE * (points->cols + 1);
    KFE_ALLOC(ctx, job.work, job.own * threads);
    KFE_TRY(kfe_i_each_panel(ctx, &panels, evaluate_panel, &job));
cleanup:
    kfe_i_free(ctx, job.work);
    return status;
}

void kfe_i_gaussian_block(const kfe_i_gaussian_points *points, const int64_t *example, int64_t count,
                          float *work, float *out, int64_t stride)
{
    blasint d = (blasint)points->cols;
    float *norms = work + count * points->cols;

    for (int64_t a = 0; a < count; a++) {
        int64_t at = position_of(points, example[a]);
        memcpy(work + a * d, points->values + at * d, (size_t)d * sizeof *work);
        norms[a] = points->norms[at];
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)count, d, 1, work, d, work,
                d, 0, out, (blasint)stride);
    for (int64_t a = 0; a < count; a++) {
        kfe_i_products products = {out + a * stride, norms, norms[a]};
        kfe_i_gaussian_row(&products, points->gamma, count, out + a * stride);
    }
}
