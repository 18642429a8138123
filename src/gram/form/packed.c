/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a kernel matrix whose lower half is in memory, in double or single precision: what policy.c keeps for many
 * passes. Sums are in double precision, unless products are asked for in single precision. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/dense/symmetric.h"
#include "gram/gram.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"

/* Fewer entries than SERIAL_ENTRIES are copied by one thread: starting others would take longer. */
enum { PANEL = KFE_SYMMETRIC_PANEL, SERIAL_ENTRIES = 1 << 17 };

static const kfe_i_symmetric *matrix_of(const kfe_i_gram *gram)
{
    return gram->state;
}

/* Entry i, j of the lower half, j before the end of the diagonal block of row i. */
static double lower_entry(const kfe_i_symmetric *a, int64_t i, int64_t j)
{
    int64_t panel = i / PANEL;
    int64_t at = kfe_i_symmetric_offset(panel) + i % PANEL * kfe_i_symmetric_stride(a->n, panel) + j;

    return a->wide ? a->wide[at] : (double)a->narrow[at];
}

static double entry(const kfe_i_symmetric *a, int64_t i, int64_t j)
{
    return j <= i ? lower_entry(a, i, j) : lower_entry(a, j, i);
}

/* Part of row i: what is stored of it is copied, the rest is read from the columns of later rows. */
static void copy_row(const kfe_i_symmetric *a, int64_t i, int64_t col, int64_t cols, double *out)
{
    int64_t panel = i / PANEL;
    int64_t stride = kfe_i_symmetric_stride(a->n, panel);
    int64_t at = kfe_i_symmetric_offset(panel) + i % PANEL * stride + col;
    int64_t stored = stride - col < 0 ? 0 : stride - col < cols ? stride - col : cols;

    if (a->wide)
        memcpy(out, a->wide + at, (size_t)stored * sizeof *out);
    for (int64_t j = 0; a->narrow && j < stored; j++)
        out[j] = (double)a->narrow[at + j];
    for (int64_t j = stored; j < cols; j++)
        out[j] = lower_entry(a, col + j, i);
}

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const kfe_i_symmetric *a = matrix_of(gram);

    /* whole panels for each thread, so that what is read from the columns of later rows stays in cache */
#pragma omp parallel for num_threads(kfe_context_threads(gram->ctx)) if (rows * cols >= SERIAL_ENTRIES)      \
    schedule(static, PANEL)
    for (int64_t i = 0; i < rows; i++)
        copy_row(a, row + i, col, cols, out + i * stride);
    return KFE_OK;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const kfe_i_symmetric *a = matrix_of(gram);

#pragma omp parallel for num_threads(kfe_context_threads(gram->ctx)) if (gram->size * count >= SERIAL_ENTRIES)
    for (int64_t i = 0; i < gram->size; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] = entry(a, i, index[j]);
    return KFE_OK;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] = entry(matrix_of(gram), index[i], index[j]);
    return KFE_OK;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    for (int64_t i = 0; i < gram->size; i++)
        out[i] = lower_entry(matrix_of(gram), i, i);
    return KFE_OK;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    double *work = kfe_i_gram_workspace(gram, kfe_i_symmetric_work(gram->ctx, gram->size));

    if (!work)
        return kfe_i_lack(gram->ctx);
    kfe_i_symmetric_times(gram->ctx, matrix_of(gram), v, k, out, work);
    return KFE_OK;
}

static kfe_status times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    double *work = kfe_i_gram_workspace(gram, kfe_i_symmetric_work(gram->ctx, gram->size));

    if (!work)
        return kfe_i_lack(gram->ctx);
    kfe_i_symmetric_times_single(gram->ctx, matrix_of(gram), v, k, out, work);
    return KFE_OK;
}

static void release(kfe_i_gram *gram)
{
    kfe_i_symmetric *a = gram->state;

    kfe_i_free(gram->ctx, a->wide);
    kfe_i_free(gram->ctx, a->narrow);
}

static const kfe_i_gram_form form_f64 = {
    .name = "stored in double precision",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .times_single = times_single,
    .release = release,
};
static const kfe_i_gram_form form_f32 = {
    .name = "stored in single precision",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .times_single = times_single,
    .release = release,
    .single = 1,
};

/* ---- filling ---- */

/* Part of row i, up to the end of what is stored of it. */
static void store_row(const kfe_i_symmetric *a, int64_t i, int64_t col, int64_t cols, const double *from)
{
    int64_t panel = i / PANEL;
    int64_t stride = kfe_i_symmetric_stride(a->n, panel);
    int64_t at = kfe_i_symmetric_offset(panel) + i % PANEL * stride + col;
    int64_t stored = stride - col < cols ? stride - col : cols;

    if (stored <= 0)
        return;
    if (a->wide)
        memcpy(a->wide + at, from, (size_t)stored * sizeof *from);
    for (int64_t j = 0; a->narrow && j < stored; j++)
        a->narrow[at + j] = (float)from[j];
}

typedef struct fill_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    const kfe_i_symmetric *matrix;
    kfe_i_tile_room room;
} fill_job;

static void fill_tile(const void *user, int64_t index, int thread)
{
    const fill_job *job = user;
    double *tile = job->room.work + job->room.own * thread;
    int64_t n = job->matrix->n;
    int64_t row;
    int64_t col;

    kfe_i_triangle_tile(index, KFE_TILE_LARGEST, &row, &col);
    int64_t rows = n - row < KFE_TILE_LARGEST ? n - row : KFE_TILE_LARGEST;
    int64_t cols = n - col < KFE_TILE_LARGEST ? n - col : KFE_TILE_LARGEST;
    kfe_i_triangle_tile_eval(job->kernel, (kfe_i_range){job->points, row, rows},
                             (kfe_i_range){job->points, col, cols}, tile, tile + job->room.tile);
    for (int64_t i = 0; i < rows; i++)
        store_row(job->matrix, row + i, col, cols, tile + i * KFE_LARGEST_STRIDE);
}

/* In single precision the dot products are too. */
static kfe_status fill_from_tiles(const kfe_i_kernel *kernel, const kfe_i_points *points,
                                  const kfe_i_symmetric *a)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = points->ctx;
    kfe_i_points narrowed = *points; /* borrows everything but the narrow copy */
    fill_job job = {.kernel = kernel, .points = &narrowed, .matrix = a};

    narrowed.narrow = NULL;
    if (a->narrow)
        KFE_TRY(kfe_i_points_narrow(kernel, &narrowed));
    KFE_TRY(kfe_i_tile_room_new(ctx, kernel, &narrowed, &job.room));
    int64_t tiles = kfe_i_triangle_tiles(a->n, KFE_TILE_LARGEST);
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"computing the kernel", job.room.threads, tiles, 1, KFE_SHARE_FREE}, fill_tile,
        &job));
cleanup:
    kfe_i_free(ctx, job.room.work);
    kfe_i_free(ctx, narrowed.narrow);
    return status;
}

static kfe_status fill(const kfe_i_gram *source, const kfe_i_symmetric *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    int64_t n = a->n;
    double *panel = NULL;

    if (kfe_i_gram_tiles(source, &kernel, &points))
        return fill_from_tiles(kernel, points, a);
    KFE_ALLOC(source->ctx, panel, n * PANEL);
    for (int64_t row = 0; row < n; row += PANEL) {
        int64_t rows = n - row < PANEL ? n - row : PANEL;
        KFE_TRY(kfe_i_checkpoint(source->ctx, "computing the kernel", row, n));
        KFE_TRY(kfe_i_gram_block(source, row, rows, 0, row + rows, panel, row + rows));
        for (int64_t i = 0; i < rows; i++)
            store_row(a, row + i, 0, row + rows, panel + i * (row + rows));
    }
cleanup:
    kfe_i_free(source->ctx, panel);
    return status;
}

double kfe_i_gram_packed_bytes(int64_t n, int single)
{
    return (single ? 4.0 : 8.0) * (double)kfe_i_symmetric_entries(n);
}

kfe_status kfe_i_gram_packed(kfe_context *ctx, const kfe_i_gram *source, int single, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t n = source->size;

    assert(n >= 0);
    KFE_TRY(kfe_i_gram_new(ctx, single ? &form_f32 : &form_f64, n, sizeof(kfe_i_symmetric), out));
    kfe_i_symmetric *a = (*out)->state;
    a->n = n;
    (*out)->roots = source->roots;
    KFE_TRY(kfe_i_check_stored(ctx, kfe_i_gram_packed_bytes(n, single)));
    if (single)
        KFE_ALLOC(ctx, a->narrow, kfe_i_symmetric_entries(n));
    else
        KFE_ALLOC(ctx, a->wide, kfe_i_symmetric_entries(n));
    KFE_TRY(fill(source, a));
cleanup:
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}
