/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator whose matrix is divided over the processes of a cluster; gram.c and policy.c make it.
 *
 * The lower triangle is cut into panels of rows, which are dealt forwards and backwards (core/share.h), so that all processes have the
 * same number of entries. A product: every process has the vectors and multiplies its panels and their transposes, and the parts are
 * added over the processes,
 *     2·8·n·k·(p − 1)/p bytes sent by each of p processes for k vectors.
 * Columns and blocks: every process evaluates some rows, and these are gathered, 8·entries·(p − 1)/p bytes received.
 *
 * Panels of 64 rows are kept (linalg/symmetric.h): the whole matrix, or its first rows and columns if memory is short; the rest is
 * evaluated at every pass, in panels of 256 rows.
 */
#include "gram/cluster/dealt.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "gram/cluster/ways.h"
#include "gram/form.h"
#include "kernel/tile/tile.h"
#include "linalg/basis.h"
#include "linalg/symmetric.h"

/* Smaller blocks are evaluated by every process: a message would take longer. */
enum { WORTH_A_MESSAGE = 1 << 14 };

typedef struct dealt_state {
    kfe_i_gram *source; /* works in this process alone */
    kfe_i_gram *owned;  /* what is freed with this operator; NULL: nothing */
    kfe_i_share share;
    int tiled;              /* all of its kernels are evaluated tile by tile */
    kfe_i_symmetric matrix; /* of the rows that are kept; n 0: none */
} dealt_state;

/* ---- entries ---- */

/* Copies a block of the lower triangle that this process keeps in double precision. Returns 0 if it does not. */
static int copy_kept(const dealt_state *s, kfe_i_places rows, kfe_i_places cols, double *out, int64_t stride)
{
    enum { PANEL = KFE_SYMMETRIC_PANEL };
    int64_t panel = rows.first / PANEL;
    int64_t turn = panel / s->share.parts; /* panels are dealt in turns of as many as there are processes */
    int64_t length = kfe_i_symmetric_stride(s->matrix.n, panel);

    if (!s->matrix.wide || rows.index || cols.index || kfe_i_dealt(s->share, turn) != panel ||
        rows.first + rows.count > length || cols.first + cols.count > length)
        return 0;
    const double *from = s->matrix.wide + kfe_i_symmetric_dealt_offset(s->share, turn) +
                         (rows.first - panel * PANEL) * length + cols.first;
    kfe_i_copy_block(rows.count, cols.count, from, length, out, stride);
    return 1;
}

/* Every process evaluates its share of consecutive rows. Rows that are listed are few; every process evaluates all of them. */
static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    const dealt_state *s = gram->state;
    int works_alone = kfe_i_processes(gram->ctx) == 1; /* the processes have paused working together */

    if (works_alone && copy_kept(s, rows, cols, out, stride))
        return KFE_OK;
    if (works_alone || rows.index || rows.count * cols.count < WORTH_A_MESSAGE)
        return kfe_i_gram_entries(s->source, rows, cols, out, stride);
    return kfe_i_gram_divided_entries(s->source, s->share, rows, cols, out, stride);
}

static kfe_status prepare(const kfe_i_gram *gram, const int64_t *index, int64_t count, kfe_i_points *out)
{
    return kfe_i_gram_prepare(((const dealt_state *)gram->state)->source, index, count, out);
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_diagonal(((const dealt_state *)gram->state)->source, out);
}

/* ---- products ---- */

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    int64_t kept = s->matrix.n;

    assert(kfe_i_processes(gram->ctx) == s->share.parts); /* the processes have not paused working together */
    memset(out, 0, (size_t)(gram->size * k) * sizeof *out);
    if (kept > 0) {
        double *work = kfe_i_gram_workspace(gram, kfe_i_symmetric_work(gram->ctx, kept));
        if (!work)
            return kfe_i_lack(gram->ctx);
        kfe_i_symmetric_times(gram->ctx, &s->matrix, v, k, out, work);
    }
    if (kept < gram->size)
        KFE_TRY(kfe_i_gram_add_share(s->source, s->share, kept, 1, (kfe_i_vectors){v, k}, out));
    KFE_TRY(kfe_i_cluster_sum(gram->ctx, out, gram->size * k));
cleanup:
    return status;
}

/* ---- sums over groups ---- */

static kfe_status group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group, int64_t groups,
                             double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;

    (void)share; /* that of the processes */
    KFE_TRY(kfe_i_gram_group_share(s->source, s->share, group, groups, out));
    KFE_TRY(kfe_i_cluster_sum(gram->ctx, out, groups * groups));
cleanup:
    return status;
}

/* ---- the forms ---- */

static void release(kfe_i_gram *gram)
{
    dealt_state *s = gram->state;

    kfe_i_free(gram->ctx, s->matrix.wide);
    kfe_i_free(gram->ctx, s->matrix.narrow);
    kfe_i_gram_free(s->owned);
}

#define KFE_DEALT_CALLS                                                                                      \
    .entries = entries, .diagonal = diagonal, .prepare = prepare, .times = times, .release = release

static const kfe_i_gram_form form_f64 = {.name = "stored in double precision, divided over the processes",
                                         KFE_DEALT_CALLS};
static const kfe_i_gram_form form_f32 = {.name = "stored in single precision, divided over the processes",
                                         KFE_DEALT_CALLS};
static const kfe_i_gram_form form_partial = {
    .name = "partly stored in single precision, the rest computed tile by tile, divided over the processes",
    KFE_DEALT_CALLS};

/* An operator of this form around a source that works in this process alone. */
static kfe_status make(const kfe_i_gram_form *form, kfe_i_gram *source, int tiled, kfe_i_gram **out)
{
    kfe_status status = kfe_i_gram_new(source->ctx, form, source->size, sizeof(dealt_state), out);

    if (status != KFE_OK)
        return status;
    dealt_state *s = (*out)->state;
    s->source = source;
    s->tiled = tiled;
    s->share = s->matrix.share = kfe_i_own_share(source->ctx);
    (*out)->processes = s->share.parts;
    (*out)->ways = kfe_i_ways_of_cluster;
    return KFE_OK;
}

/* ---- keeping ---- */

double kfe_i_dealt_bytes(int64_t n, int processes, int single)
{
    return (single ? 4.0 : 8.0) * (double)kfe_i_symmetric_dealt_entries(n, processes);
}

/* How many rows of an operator made by kfe_i_gram_deal fit in this number of bytes per process, in single precision; 0: too few to be
 * useful, or its kernels cannot be evaluated in part. */
static int64_t rows_that_fit(const kfe_i_gram *gram, double bytes)
{
    enum { WORTH_IT = 3 }; /* a third of the rows, a ninth of the matrix */
    const dealt_state *s = gram->state;
    int processes = s->share.parts;
    int64_t n = gram->size;
    int64_t rows;

    if (kfe_i_dealt_bytes(n, processes, 1) <= bytes)
        return n;
    if (!s->tiled)
        return 0;
    rows = (int64_t)sqrt(fmax(0, bytes) / 2 * processes) / KFE_TILE_SIDE * KFE_TILE_SIDE;
    while (rows > 0 && (rows > n || kfe_i_dealt_bytes(rows, processes, 1) > bytes))
        rows -= KFE_TILE_SIDE;
    return rows >= n / WORTH_IT ? rows : 0;
}

static const kfe_i_gram_form *kept_form(int single, int all)
{
    if (!all)
        return &form_partial;
    return single ? &form_f32 : &form_f64;
}

kfe_status kfe_i_dealt_keep(const kfe_i_gram *gram, int single, int64_t rows, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const dealt_state *from = gram->state;
    kfe_context *ctx = gram->ctx;
    int64_t entries = kfe_i_symmetric_dealt_entries(rows, from->share.parts);

    assert(rows == gram->size || rows % KFE_TILE_SIDE == 0);
    KFE_TRY(make(kept_form(single, rows == gram->size), from->source, from->tiled, out));
    dealt_state *s = (*out)->state;
    if (single)
        (*out)->precision = &kfe_i_single;
    KFE_TRY(
        kfe_i_check_memory(ctx, kfe_i_dealt_bytes(rows, s->share.parts, single),
                           "this process's part of the stored kernel matrix",
                           "raise {memory}, use more processes, {gram=f32}, {gram=tiled} or {gram=auto}"));
    if (single)
        KFE_ALLOC(ctx, s->matrix.narrow, entries);
    else
        KFE_ALLOC(ctx, s->matrix.wide, entries);
    s->matrix.n = rows;
    KFE_TRY(kfe_i_gram_fill(s->source, &s->matrix));
cleanup:
    return kfe_i_gram_made(status, out);
}

kfe_status kfe_i_dealt_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out)
{
    kfe_status status = kfe_i_dealt_keep(*gram, single, (*gram)->size, out);

    if (status == KFE_OK) {
        ((dealt_state *)(*out)->state)->owned = *gram;
        *gram = NULL;
    }
    return status;
}

/* In the memory of all processes. Callers that want rows get them in host memory. */
static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    double budget = kfe_i_keep_budget(gram, reserve);
    int single = kfe_i_dealt_bytes(gram->size, s->share.parts, 0) > budget;
    int64_t rows = single ? rows_that_fit(gram, budget) : gram->size;
    kfe_i_gram *stored = NULL;

    if (how == KFE_KEEP_ROWS)
        return kfe_i_keep_in_memory(gram, how, reserve, NULL, out);
    if (rows > 0 && (how == KFE_KEEP_ANY || !single))
        KFE_TRY(kfe_i_dealt_keep(gram, single, rows, &stored));
    if (stored)
        kfe_i_kept_take(out, stored);
    if (stored || how == KFE_KEEP_ANY)
        kfe_i_log_kept(out->gram);
cleanup:
    return status;
}

/* ---- the operator that evaluates at every pass ---- */

/* Methods that divide the rows evaluate slabs of columns, so the kernels must be evaluated tile by tile. */
static const kfe_i_gram *row_source(const kfe_i_gram *gram)
{
    const dealt_state *s = gram->state;

    return s->tiled ? s->source : NULL;
}

static const kfe_i_gram_form form_evaluated = {.name = "computed tile by tile by all processes, not stored",
                                               .column_seconds = kfe_i_gram_time_columns,
                                               .group_sums = group_sums,
                                               .keep = keep,
                                               .row_source = row_source,
                                               KFE_DEALT_CALLS};

kfe_status kfe_i_gram_deal(kfe_i_gram **gram, int tiled)
{
    kfe_i_gram *made = NULL;
    kfe_status status = make(&form_evaluated, *gram, tiled, &made);

    if (status != KFE_OK)
        return status;
    ((dealt_state *)made->state)->owned = *gram;
    *gram = made;
    return KFE_OK;
}

kfe_status kfe_i_gram_divided_entries(const kfe_i_gram *source, kfe_i_share share, kfe_i_places rows,
                                      kfe_i_places cols, double *out, int64_t stride)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;
    int64_t first = kfe_i_share_begin(rows.count, share.part, share.parts);
    int64_t count = kfe_i_share_begin(rows.count, share.part + 1, share.parts) - first;
    double *packed = NULL;
    double *values = out;

    if (stride != cols.count) {
        KFE_ALLOC(ctx, packed, rows.count * cols.count);
        values = packed;
    }
    KFE_TRY(kfe_i_gram_entries(source, kfe_i_places_part(rows, first, count), cols,
                               values + first * cols.count, cols.count));
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, values, rows.count, cols.count));
    if (packed)
        kfe_i_copy_block(rows.count, cols.count, packed, cols.count, out, stride);
cleanup:
    kfe_i_free(ctx, packed);
    return status;
}
