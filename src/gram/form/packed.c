/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator of a kernel matrix whose lower half is in memory, in double or single precision: what policy.c keeps for many passes. Sums are
 * in double precision, unless products are asked for in single precision.
 *
 * The lower half is evaluated here, also those panels of it that cluster/dealt.c keeps in one process.
 *
 * If memory is short, only the leading square of the matrix is kept, in single precision. Another operator evaluates its entries and the rest of
 * the products at every pass: in tiles, of which each is used twice, like those kept.
 */
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/form.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/tile.h"
#include "linalg/symmetric.h"

/* Fewer entries than SERIAL_ENTRIES are copied by one thread: starting others would take longer. */
enum { PANEL = KFE_SYMMETRIC_PANEL, SERIAL_ENTRIES = 1 << 17 };

typedef struct packed_state {
    kfe_i_symmetric matrix;
    const kfe_i_gram *source; /* evaluates what is not kept; NULL: all is kept */
} packed_state;

static const kfe_i_symmetric *matrix_of(const kfe_i_gram *gram)
{
    return &((const packed_state *)gram->state)->matrix;
}

/* ---- evaluating the lower half ---- */

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

/* ---- entries ---- */

/* Entry i, j of the lower half, j before the end of the diagonal block of row i. */
static double lower_entry(const kfe_i_symmetric *a, int64_t i, int64_t j)
{
    int64_t panel = i / PANEL;
    int64_t at = kfe_i_symmetric_offset(panel) + i % PANEL * kfe_i_symmetric_stride(a->n, panel) + j;

    return a->wide ? a->wide[at] : (double)a->narrow[at];
}

/* Part of row i: what is stored of it is copied, the rest is read from the columns of later rows. */
static void copy_consecutive(const kfe_i_symmetric *a, int64_t i, int64_t col, int64_t cols, double *out)
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

static void copy_row(const kfe_i_symmetric *a, int64_t i, const kfe_i_places *cols, double *out)
{
    if (!cols->index) {
        copy_consecutive(a, i, cols->first, cols->count, out);
        return;
    }
    for (int64_t j = 0; j < cols->count; j++) {
        int64_t col = cols->index[j];
        out[j] = col <= i ? lower_entry(a, i, col) : lower_entry(a, col, i);
    }
}

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    const kfe_i_symmetric *a = matrix_of(gram);

    /* whole panels for each thread, so that what is read from the columns of later rows stays in cache */
#pragma omp parallel for num_threads(kfe_context_threads(gram->ctx))                                         \
    schedule(static, PANEL) if (rows.count * cols.count >= SERIAL_ENTRIES)
    for (int64_t i = 0; i < rows.count; i++)
        copy_row(a, kfe_i_place(&rows, i), &cols, out + i * stride);
    return KFE_OK;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    for (int64_t i = 0; i < gram->size; i++)
        out[i] = lower_entry(matrix_of(gram), i, i);
    return KFE_OK;
}

/* ---- products ---- */

static kfe_status multiply(const kfe_i_gram *gram, kfe_i_symmetric_times_fn *way, const double *v, int64_t k,
                           double *out)
{
    double *work = kfe_i_gram_workspace(gram, kfe_i_symmetric_work(gram->ctx, matrix_of(gram)->n));

    if (!work)
        return kfe_i_lack(gram->ctx);
    way(gram->ctx, matrix_of(gram), v, k, out, work);
    return KFE_OK;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return multiply(gram, kfe_i_symmetric_times, v, k, out);
}

static kfe_status times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return multiply(gram, kfe_i_symmetric_times_single, v, k, out);
}

static void release(kfe_i_gram *gram)
{
    kfe_i_symmetric *a = &((packed_state *)gram->state)->matrix;

    kfe_i_free(gram->ctx, a->wide);
    kfe_i_free(gram->ctx, a->narrow);
}

#define KFE_PACKED_CALLS                                                                                     \
    .entries = entries, .diagonal = diagonal, .times = times, .times_single = times_single, .release = release

static const kfe_i_gram_form form_f64 = {.name = "stored in double precision", KFE_PACKED_CALLS};
static const kfe_i_gram_form form_f32 = {.name = "stored in single precision", KFE_PACKED_CALLS};

/* ---- a part ---- */

static kfe_status source_entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                                 int64_t stride)
{
    return kfe_i_gram_entries(((const packed_state *)gram->state)->source, rows, cols, out, stride);
}

static kfe_status source_diagonal(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_diagonal(((const packed_state *)gram->state)->source, out);
}

static kfe_status times_part(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const packed_state *s = gram->state;

    memset(out, 0, (size_t)(gram->size * k) * sizeof *out);
    KFE_TRY(times(gram, v, k, out));
    KFE_TRY(kfe_i_gram_add_share(s->source, (kfe_i_share){0, 1}, s->matrix.n, 1, (kfe_i_vectors){v, k}, out));
cleanup:
    return status;
}

static const kfe_i_gram_form form_part = {
    .name = "partly stored in single precision, the rest computed tile by tile",
    .entries = source_entries,
    .diagonal = source_diagonal,
    .times = times_part,
    .release = release,
};

/* ---- making one ---- */

double kfe_i_gram_packed_bytes(int64_t n, int single)
{
    return (single ? 4.0 : 8.0) * (double)kfe_i_symmetric_entries(n);
}

/* Keeps the first `rows` rows and columns. */
static kfe_status make(const kfe_i_gram *source, const kfe_i_gram_form *form, int single, int64_t rows,
                       kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;

    KFE_TRY(kfe_i_gram_new(ctx, form, source->size, sizeof(packed_state), out));
    kfe_i_symmetric *a = &((packed_state *)(*out)->state)->matrix;
    kfe_i_gram_inherit(*out, source);
    (*out)->processes = 1;
    if (single)
        (*out)->precision = &kfe_i_single;
    a->n = rows;
    a->share = (kfe_i_share){0, 1};
    KFE_TRY(kfe_i_check_stored(ctx, kfe_i_gram_packed_bytes(rows, single)));
    if (single)
        KFE_ALLOC(ctx, a->narrow, kfe_i_symmetric_entries(rows));
    else
        KFE_ALLOC(ctx, a->wide, kfe_i_symmetric_entries(rows));
    KFE_TRY(kfe_i_gram_fill(source, a));
cleanup:
    return kfe_i_gram_made(status, out);
}

kfe_status kfe_i_gram_packed(kfe_context *ctx, const kfe_i_gram *source, int single, kfe_i_gram **out)
{
    (void)ctx;
    return make(source, single ? &form_f32 : &form_f64, single, source->size, out);
}

int64_t kfe_i_gram_packed_rows(double bytes)
{
    int64_t rows = bytes > 0 ? (int64_t)sqrt(bytes / 2) : 0;

    while (rows > 0 && kfe_i_gram_packed_bytes(rows, 1) > bytes)
        rows--;
    return rows;
}

kfe_status kfe_i_gram_partial(const kfe_i_gram *source, int64_t rows, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    if (!source->form->add_share)
        return kfe_i_fail(source->ctx, KFE_EINVAL, "only a tiled operator can be kept in part");
    KFE_TRY(make(source, &form_part, 1, kfe_i_least(rows, source->size), out));
    ((packed_state *)(*out)->state)->source = source;
cleanup:
    return status;
}
