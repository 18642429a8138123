/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the panels that one process keeps of a kernel matrix divided over processes; dealt.c uses it. */
#include "gram/cluster/fill.h"

#include <string.h>

#include "core/memory.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"

enum { PANEL = KFE_SYMMETRIC_PANEL, TILE_STRIDE = KFE_TILE_LARGEST + 8 };

typedef struct fill_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    const kfe_i_symmetric *matrix;
    double *work; /* per thread: a tile and scratch */
    int64_t own;
} fill_job;

/* A panel that is kept. */
typedef struct place {
    int64_t row, rows, stride, offset;
} place;

/* The panel that begins at a row. Panels are dealt in turns of `ranks`, so the row says the turn. */
static place place_of(const kfe_i_symmetric *a, int64_t row)
{
    int64_t panel = row / PANEL;
    int64_t stride = kfe_i_symmetric_stride(a->n, panel);

    return (place){row, stride - row, stride, kfe_i_symmetric_dealt_offset(a->share, panel / a->share.ranks)};
}

static void store(const kfe_i_symmetric *a, const place *p, int64_t col, int64_t cols, const double *tile,
                  int64_t tile_stride)
{
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t at = p->offset + i * p->stride + col;
        if (a->wide)
            memcpy(a->wide + at, tile + i * tile_stride, (size_t)cols * sizeof *tile);
        for (int64_t j = 0; a->narrow && j < cols; j++)
            a->narrow[at + j] = (float)tile[i * tile_stride + j];
    }
}

/* Makes a diagonal block symmetric to the last bit. */
static void symmetrise(double *tile, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++)
            tile[j * TILE_STRIDE + i] = tile[i * TILE_STRIDE + j];
}

/* Tiles end at the diagonal block, which is one of its own. */
static void fill_panel(const void *user, int64_t row, int thread)
{
    const fill_job *job = user;
    double *tile = job->work + job->own * thread;
    place p = place_of(job->matrix, row);

    for (int64_t col = 0; col < p.stride;) {
        int64_t end = col < row ? row : p.stride;
        int64_t cols = end - col < KFE_TILE_LARGEST ? end - col : KFE_TILE_LARGEST;
        kfe_i_tile_eval(job->kernel, (kfe_i_range){job->points, row, p.rows},
                        (kfe_i_range){job->points, col, cols}, tile, TILE_STRIDE, tile + PANEL * TILE_STRIDE);
        if (col == row)
            symmetrise(tile, p.rows);
        store(job->matrix, &p, col, cols, tile, TILE_STRIDE);
        col += cols;
    }
}

/* In single precision the dot products are too. */
static kfe_status fill_from_tiles(const kfe_i_kernel *kernel, const kfe_i_points *points,
                                  const kfe_i_symmetric *a)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = points->ctx;
    kfe_i_points narrowed = *points; /* borrows everything but the narrow copy */
    int threads = kfe_i_tile_threads(ctx, kernel);
    fill_job job = {.kernel = kernel, .points = &narrowed, .matrix = a};

    narrowed.narrow = NULL;
    if (a->narrow)
        KFE_TRY(kfe_i_points_narrow(kernel, &narrowed));
    job.own = PANEL * TILE_STRIDE + kfe_i_tile_scratch(&narrowed, &narrowed);
    KFE_ALLOC_ZERO(ctx, job.work, job.own * threads);
    KFE_TRY(kfe_i_each_dealt_panel(
        ctx, &(kfe_i_panels){"computing the kernel", threads, a->n, PANEL, KFE_SHARE_FREE}, a->share,
        fill_panel, &job));
cleanup:
    kfe_i_free(ctx, job.work);
    kfe_i_free(ctx, narrowed.narrow);
    return status;
}

kfe_status kfe_i_dealt_fill(const kfe_i_gram *source, const kfe_i_symmetric *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    int64_t turns = kfe_i_dealt_count(a->share, (a->n + PANEL - 1) / PANEL);
    double *block = NULL;

    if (kfe_i_gram_tiles(source, &kernel, &points))
        return fill_from_tiles(kernel, points, a);
    KFE_ALLOC(source->ctx, block, a->n * PANEL);
    for (int64_t turn = 0; turn < turns; turn++) {
        place p = place_of(a, kfe_i_dealt(a->share, turn) * PANEL);
        KFE_TRY(kfe_i_checkpoint(source->ctx, "computing the kernel", turn, turns));
        KFE_TRY(kfe_i_gram_block(source, p.row, p.rows, 0, p.stride, block, p.stride));
        store(a, &p, 0, p.stride, block, p.stride);
    }
cleanup:
    kfe_i_free(source->ctx, block);
    return status;
}
