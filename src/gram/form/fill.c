/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a kernel matrix, or its leading square, into the lower half that packed.c and cluster/dealt.c keep. */
#include <string.h>

#include "core/memory.h"
#include "gram/form.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"
#include "linalg/symmetric.h"

enum { PANEL = KFE_SYMMETRIC_PANEL };

/* A panel that is kept here. */
typedef struct place {
    int64_t row, rows, stride, offset;
} place;

/* The panel that begins at a row. Panels are dealt in turns of as many as there are processes, so the row says the turn. */
static place place_of(const kfe_i_symmetric *a, int64_t row)
{
    int64_t panel = row / PANEL;
    int64_t stride = kfe_i_symmetric_stride(a->n, panel);

    return (place){panel * PANEL, stride - panel * PANEL, stride,
                   kfe_i_symmetric_dealt_offset(a->share, panel / a->share.parts)};
}

/* Part of row i of a panel, up to the end of what is kept of it. */
static void store_row(const kfe_i_symmetric *a, const place *p, int64_t i, int64_t col, int64_t cols,
                      const double *from)
{
    int64_t at = p->offset + (i - p->row) * p->stride + col;
    int64_t kept = p->stride - col < cols ? p->stride - col : cols;

    if (kept <= 0)
        return;
    if (a->wide)
        memcpy(a->wide + at, from, (size_t)kept * sizeof *from);
    for (int64_t j = 0; a->narrow && j < kept; j++)
        a->narrow[at + j] = (float)from[j];
}

/* ---- from tiles ---- */

typedef struct fill_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    const kfe_i_symmetric *matrix;
    kfe_i_tile_room room;
} fill_job;

static void store_tile(const fill_job *job, int64_t row, int64_t rows, int64_t col, int64_t cols,
                       const double *tile)
{
    for (int64_t i = row; i < row + rows; i++) {
        place p = place_of(job->matrix, i);
        store_row(job->matrix, &p, i, col, cols, tile + (i - row) * KFE_LARGEST_STRIDE);
    }
}

/* Where all panels are here: one of the large tiles of the triangle. */
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
    store_tile(job, row, rows, col, cols, tile);
}

/* Where processes divide the panels: one panel. Its tiles end at the diagonal block, which is one of its own. */
static void fill_panel(const void *user, int64_t row, int thread)
{
    const fill_job *job = user;
    double *tile = job->room.work + job->room.own * thread;
    place p = place_of(job->matrix, row);
    kfe_i_range rows = {job->points, row, p.rows};

    for (int64_t col = 0; col < p.stride;) {
        int64_t end = col < row ? row : p.stride;
        int64_t cols = end - col < KFE_TILE_LARGEST ? end - col : KFE_TILE_LARGEST;
        kfe_i_triangle_tile_eval(job->kernel, rows, (kfe_i_range){job->points, col, cols}, tile,
                                 tile + job->room.tile);
        store_tile(job, row, p.rows, col, cols, tile);
        col += cols;
    }
}

/* Whether a copy of the points in single precision, which makes products faster, leaves room for the tiles. */
static int may_narrow(const kfe_i_points *points)
{
    double bytes = (double)sizeof(float) * (double)points->table.rows * (double)points->table.cols;

    return bytes <= (double)kfe_i_memory_left(points->ctx) / 2;
}

/* In single precision the dot products are too, if there is memory for such a copy of the points. */
kfe_status kfe_i_fill_from_tiles(const kfe_i_kernel *kernel, const kfe_i_points *points,
                                 const kfe_i_symmetric *a)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = points->ctx;
    kfe_i_points narrowed = *points; /* borrows everything but the narrow copy */
    fill_job job = {.kernel = kernel, .points = &narrowed, .matrix = a};
    int divided = a->share.parts > 1;

    narrowed.narrow = NULL;
    if (a->narrow && may_narrow(points))
        KFE_TRY(kfe_i_points_narrow(kernel, &narrowed));
    KFE_TRY(kfe_i_tile_room_new(ctx, kernel, &narrowed, &job.room));
    kfe_i_panels work = {"computing the kernel", job.room.threads,
                         divided ? a->n : kfe_i_triangle_tiles(a->n, KFE_TILE_LARGEST), divided ? PANEL : 1,
                         KFE_SHARE_FREE};
    KFE_TRY(divided ? kfe_i_each_dealt_panel(ctx, &work, a->share, fill_panel, &job)
                    : kfe_i_each_panel(ctx, &work, fill_tile, &job));
cleanup:
    kfe_i_free(ctx, job.room.work);
    kfe_i_free(ctx, narrowed.narrow);
    return status;
}

/* ---- from blocks ---- */

static kfe_status fill_from_blocks(const kfe_i_gram *source, const kfe_i_symmetric *a)
{
    kfe_status status = KFE_OK;
    int64_t turns = kfe_i_dealt_count(a->share, (a->n + PANEL - 1) / PANEL);
    double *block = NULL;

    KFE_ALLOC(source->ctx, block, a->n * PANEL);
    for (int64_t turn = 0; turn < turns; turn++) {
        place p = place_of(a, kfe_i_dealt(a->share, turn) * PANEL);
        KFE_TRY(kfe_i_progress(source->ctx, "computing the kernel", turn, turns));
        KFE_TRY(kfe_i_gram_block(source, p.row, p.rows, 0, p.stride, block, p.stride));
        for (int64_t i = 0; i < p.rows; i++)
            store_row(a, &p, p.row + i, 0, p.stride, block + i * p.stride);
    }
cleanup:
    kfe_i_free(source->ctx, block);
    return status;
}

kfe_status kfe_i_gram_fill(const kfe_i_gram *gram, const kfe_i_symmetric *matrix)
{
    return gram->form->fill ? gram->form->fill(gram, matrix) : fill_from_blocks(gram, matrix);
}
