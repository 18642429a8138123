/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a Gaussian kernel matrix in single precision, for kernel_rows.c: GEMM for the dot products of a tile, then
 * distances and exp in one pass over each of its rows. Takes a third of the time of double precision. */
#include "learn/blocks/gaussian_rows.h"

#include <cblas.h>
#include <string.h>

#include "core/least.h"
#include "core/memory.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"
#include "learn/blocks/loops.h"

/* gamma·‖x‖² up to this is accepted: kernel values then have errors of some 1e-6 at most. */
#define LARGEST_EXPONENT 8.0
/* The points in single precision may take this share of the memory that is left. */
#define POINTS_SHARE 0.125
enum { CHUNK_ROWS = 1024, SMALL_PRODUCT = 1 << 18 };

static int suits(const kfe_i_gram *gram, const kfe_i_points **points, double *gamma)
{
    const kfe_i_kernel *kernel = NULL;
    kfe_i_formula formula = {0};
    double largest = 0;

    if (!kfe_i_gram_tiles(gram, &kernel, points) || !kernel->def->describe)
        return 0;
    kernel->def->describe(kernel->settings, &formula);
    const kfe_i_table *table = &(*points)->table;
    if (formula.map != KFE_MAP_RBF || formula.base != KFE_FORMULA_DISTANCE || table->kind != KFE_TABLE_DENSE)
        return 0;
    for (int64_t i = 0; i < table->rows; i++)
        largest = (*points)->norms[i] > largest ? (*points)->norms[i] : largest;
    *gamma = formula.params[0];
    double bytes = 4.0 * (double)table->rows * (double)(table->cols + 1);
    return *gamma * largest <= LARGEST_EXPONENT && largest < 1e30 && *gamma < 1e30 &&
           bytes < POINTS_SHARE * (double)kfe_i_memory_left(gram->ctx);
}

kfe_status kfe_i_gaussian_points_make(const kfe_i_gram *gram, const int64_t *position,
                                      kfe_i_gaussian_points *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_points *points = NULL;
    double gamma = 0;

    *out = (kfe_i_gaussian_points){.position = position};
    if (!suits(gram, &points, &gamma))
        return KFE_OK;
    const kfe_i_table *table = &points->table;
    out->gamma = (float)gamma;
    out->count = table->rows;
    out->cols = table->cols;
    KFE_ALLOC(gram->ctx, out->norms, table->rows);
    KFE_ALLOC(gram->ctx, out->values, table->rows * table->cols);
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

/* Some rows, whose points lie together. */
typedef struct rows_job {
    const kfe_i_gaussian_points *points;
    const float *chosen;       /* rows × cols */
    const float *chosen_norms; /* rows */
    int64_t rows;
    float *const *out;
    float *work; /* per thread: a tile of products */
} rows_job;

static void evaluate_panel(const void *user, int64_t first, int thread)
{
    const rows_job *job = user;
    const kfe_i_gaussian_points *points = job->points;
    blasint d = (blasint)points->cols;
    float *tile = job->work + (int64_t)KFE_TILE_SIZE * thread;
    int64_t width = kfe_i_least(KFE_TILE_SIDE, points->count - first);

    for (int64_t r = 0; r < job->rows; r += KFE_TILE_SIDE) {
        int64_t rows = kfe_i_least(KFE_TILE_SIDE, job->rows - r);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)width, d, 1,
                    job->chosen + r * d, d, points->values + first * d, d, 0, tile, KFE_TILE_STRIDE);
        for (int64_t i = 0; i < rows; i++) {
            kfe_i_products products = {tile + i * KFE_TILE_STRIDE, points->norms + first,
                                       job->chosen_norms[r + i]};
            kfe_i_gaussian_row(&products, points->gamma, width, job->out[r + i] + first);
        }
    }
}

static void gather(const kfe_i_gaussian_points *points, const int64_t *example, int64_t rows, float *chosen,
                   float *norms)
{
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = points->position ? points->position[example[r]] : example[r];
        memcpy(chosen + r * points->cols, points->values + at * points->cols,
               (size_t)points->cols * sizeof *chosen);
        norms[r] = points->norms[at];
    }
}

kfe_status kfe_i_gaussian_rows(kfe_context *ctx, const kfe_i_gaussian_points *points, const int64_t *example,
                               int64_t rows, float *const *out)
{
    kfe_status status = KFE_OK;
    int threads = rows * points->count < SMALL_PRODUCT ? 1 : kfe_context_threads(ctx);
    kfe_i_panels panels = {"computing rows of the kernel", threads, points->count, KFE_TILE_SIDE,
                           KFE_SHARE_FREE};
    int64_t most = kfe_i_least(rows, CHUNK_ROWS);
    float *chosen = NULL;
    float *norms = NULL;
    float *work = NULL;

    KFE_ALLOC(ctx, chosen, most * points->cols);
    KFE_ALLOC(ctx, norms, most);
    KFE_ALLOC(ctx, work, (int64_t)KFE_TILE_SIZE * threads);
    for (int64_t first = 0; first < rows; first += CHUNK_ROWS) {
        int64_t count = kfe_i_least(CHUNK_ROWS, rows - first);
        rows_job job = {points, chosen, norms, count, out + first, work};
        gather(points, example + first, count, chosen, norms);
        KFE_TRY(kfe_i_each_panel(ctx, &panels, evaluate_panel, &job));
    }
cleanup:
    kfe_i_free(ctx, chosen);
    kfe_i_free(ctx, norms);
    kfe_i_free(ctx, work);
    return status;
}
