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
 * Panels of 64 rows are kept (dense/symmetric.h): the whole matrix, or its first rows and columns if memory is short; the rest is
 * evaluated at every pass, in panels of 256 rows.
 */
#include "gram/cluster/dealt.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "gram/cluster/fill.h"
#include "gram/cluster/on_devices.h"
#include "gram/dense/symmetric.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/tile.h"

/* Smaller blocks are evaluated by every process: a message would take longer. */
enum { WORTH_A_MESSAGE = 1 << 14, GROUP = 64 /* vectors multiplied at once */ };

typedef struct dealt_state {
    kfe_i_gram *source; /* works in this process alone */
    kfe_i_gram *owned;  /* what is freed with this operator; NULL: nothing */
    kfe_i_share share;
    kfe_i_symmetric matrix; /* of the rows that are kept; n 0: none */
} dealt_state;

/* ---- entries ---- */

/* Rows of the block that this process evaluates. */
typedef struct span {
    int64_t first, count;
} span;

static span own_rows(kfe_i_share share, int64_t rows)
{
    int64_t first = kfe_i_share_begin(rows, share.rank, share.ranks);

    return (span){first, kfe_i_share_begin(rows, share.rank + 1, share.ranks) - first};
}

/* Copies a block of the lower triangle that this process keeps in double precision. Returns 0 if it does not. */
static int copy_kept(const dealt_state *s, int64_t row, int64_t rows, int64_t col, int64_t cols, double *out,
                     int64_t stride)
{
    enum { PANEL = KFE_SYMMETRIC_PANEL };
    int64_t panel = row / PANEL;
    int64_t turn = panel / s->share.ranks; /* panels are dealt in turns of `ranks` */
    int64_t length = kfe_i_symmetric_stride(s->matrix.n, panel);

    if (!s->matrix.wide || kfe_i_dealt(s->share, turn) != panel || row + rows > length || col + cols > length)
        return 0;
    const double *from =
        s->matrix.wide + kfe_i_symmetric_dealt_offset(s->share, turn) + (row - panel * PANEL) * length + col;
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * stride, from + i * length, (size_t)cols * sizeof *out);
    return 1;
}

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    span own = own_rows(s->share, rows);
    double *packed = NULL;
    double *values = out;

    int paused = kfe_i_ranks(gram->ctx) == 1; /* this process works alone */

    if (paused && copy_kept(s, row, rows, col, cols, out, stride))
        return KFE_OK;
    if (paused || rows * cols < WORTH_A_MESSAGE)
        return kfe_i_gram_block(s->source, row, rows, col, cols, out, stride);
    if (stride != cols) {
        KFE_ALLOC(gram->ctx, packed, rows * cols);
        values = packed;
    }
    KFE_TRY(
        kfe_i_gram_block(s->source, row + own.first, own.count, col, cols, values + own.first * cols, cols));
    KFE_TRY(kfe_i_cluster_gather_rows(gram->ctx, values, rows, cols));
    for (int64_t i = 0; packed && i < rows; i++)
        memcpy(out + i * stride, packed + i * cols, (size_t)cols * sizeof *out);
cleanup:
    kfe_i_free(gram->ctx, packed);
    return status;
}

/* The rows `own` of the columns listed, of a tiled operator. */
static kfe_status tiled_columns(const kfe_i_gram *source, span own, const int64_t *index, int64_t count,
                                double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    kfe_i_points chosen = {0};

    (void)kfe_i_gram_tiles(source, &kernel, &points);
    KFE_TRY(kfe_i_points_gather(source->ctx, points, index, count, &chosen));
    KFE_TRY(kfe_i_cross_block(source->ctx, kernel, (kfe_i_range){points, own.first, own.count},
                              (kfe_i_range){&chosen, 0, count}, out, count));
cleanup:
    kfe_i_points_free(&chosen);
    return status;
}

static int is_tiled(const kfe_i_gram *source)
{
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;

    return kfe_i_gram_tiles(source, &kernel, &points);
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    span own = own_rows(s->share, gram->size);

    if (gram->size * count < WORTH_A_MESSAGE || !is_tiled(s->source))
        return kfe_i_gram_columns(s->source, index, count, out);
    KFE_TRY(tiled_columns(s->source, own, index, count, out + own.first * count));
    KFE_TRY(kfe_i_cluster_gather_rows(gram->ctx, out, gram->size, count));
cleanup:
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    return kfe_i_gram_among(((const dealt_state *)gram->state)->source, index, count, out);
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_diagonal(((const dealt_state *)gram->state)->source, out);
}

/* ---- products ---- */

/* out += weight · this process's part of the product with the rows that are not kept. */
static kfe_status add_evaluated(const kfe_i_gram *gram, const kfe_i_gram *term, double weight,
                                kfe_i_vectors v, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    kfe_context *ctx = gram->ctx;
    int64_t size = gram->size * v.k;
    kfe_i_self_part part = {.share = s->share, .from = s->matrix.n, .v = v};
    int tiled = kfe_i_gram_tiles(term, &part.kernel, &part.points);
    int64_t engine = tiled ? kfe_i_self_times_work(ctx, part.kernel, part.points, 0, v.k) : 0;
    double *work = kfe_i_gram_workspace(gram, engine + size);

    if (!work)
        return kfe_i_lack(ctx);
    part.out = work + engine;
    memset(part.out, 0, (size_t)size * sizeof *part.out);
    if (tiled)
        KFE_TRY(kfe_i_self_times_part(ctx, &part, work));
    else if (s->share.rank == 0) /* a factored or given matrix, whose product is cheap */
        KFE_TRY(kfe_i_gram_times(term, v.values, v.k, part.out));
    for (int64_t i = 0; i < size; i++)
        out[i] += weight * part.out[i];
cleanup:
    return status;
}

static kfe_status add_terms(const kfe_i_gram *gram, kfe_i_vectors v, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    kfe_i_gram *const *terms = NULL;
    const double *weights = NULL;
    int64_t count = kfe_i_gram_sum_terms(s->source, &terms, &weights);

    if (count == 0)
        return add_evaluated(gram, s->source, 1, v, out);
    for (int64_t m = 0; m < count; m++)
        KFE_TRY(add_evaluated(gram, terms[m], weights[m], v, out));
cleanup:
    return status;
}

/* The same, a group of vectors at a time, so that the sums of the threads stay small. */
static kfe_status add_groups(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    double *part = NULL;
    double *product = NULL;

    if (k <= GROUP)
        return add_terms(gram, (kfe_i_vectors){v, k}, out);
    KFE_ALLOC(gram->ctx, part, n * GROUP);
    KFE_ALLOC(gram->ctx, product, n * GROUP);
    for (int64_t first = 0; first < k; first += GROUP) {
        int64_t count = k - first < GROUP ? k - first : GROUP;
        for (int64_t i = 0; i < n; i++)
            memcpy(part + i * count, v + i * k + first, (size_t)count * sizeof *part);
        memset(product, 0, (size_t)(n * count) * sizeof *product);
        KFE_TRY(add_terms(gram, (kfe_i_vectors){part, count}, product));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < count; j++)
                out[i * k + first + j] += product[i * count + j];
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    kfe_i_free(gram->ctx, product);
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    int64_t kept = s->matrix.n;

    assert(kfe_i_ranks(gram->ctx) == s->share.ranks); /* the processes have not paused working together */
    memset(out, 0, (size_t)(gram->size * k) * sizeof *out);
    if (kept > 0) {
        double *work = kfe_i_gram_workspace(gram, kfe_i_symmetric_work(gram->ctx, kept));
        if (!work)
            return kfe_i_lack(gram->ctx);
        kfe_i_symmetric_times(gram->ctx, &s->matrix, v, k, out, work);
    }
    if (kept < gram->size)
        KFE_TRY(add_groups(gram, v, k, out));
    KFE_TRY(kfe_i_cluster_sum(gram->ctx, out, gram->size * k));
cleanup:
    return status;
}

/* ---- sums over groups ---- */

static kfe_status add_group_sums(const kfe_i_gram *gram, const kfe_i_gram *term, double weight,
                                 const int32_t *group, int64_t groups, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC_ZERO(gram->ctx, part, groups * groups);
    if (is_tiled(term))
        KFE_TRY(kfe_i_gram_tiled_group_sums(term, s->share, group, groups, part));
    else if (s->share.rank == 0)
        KFE_TRY(kfe_i_gram_group_sums(term, group, groups, part));
    for (int64_t c = 0; c < groups * groups; c++)
        out[c] += weight * part[c];
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static kfe_status group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    kfe_i_gram *const *terms = NULL;
    const double *weights = NULL;
    int64_t count = kfe_i_gram_sum_terms(s->source, &terms, &weights);

    memset(out, 0, (size_t)(groups * groups) * sizeof *out);
    if (count == 0)
        KFE_TRY(add_group_sums(gram, s->source, 1, group, groups, out));
    for (int64_t m = 0; m < count; m++)
        KFE_TRY(add_group_sums(gram, terms[m], weights[m], group, groups, out));
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
    .block = block, .columns = columns, .among = among, .diagonal = diagonal, .times = times,                \
    .release = release

static const kfe_i_gram_form form_evaluated = {.name = "computed tile by tile by all processes, not stored",
                                               .group_sums = group_sums,
                                               .evaluates = 1,
                                               KFE_DEALT_CALLS};
static const kfe_i_gram_form form_f64 = {.name = "stored in double precision, divided over the processes",
                                         KFE_DEALT_CALLS};
static const kfe_i_gram_form form_f32 = {
    .name = "stored in single precision, divided over the processes", .single = 1, KFE_DEALT_CALLS};
static const kfe_i_gram_form form_partial = {
    .name = "partly stored in single precision, the rest computed tile by tile, divided over the processes",
    .single = 1,
    KFE_DEALT_CALLS};

kfe_status kfe_i_gram_deal(kfe_context *ctx, kfe_i_gram **gram)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;

    if (kfe_i_ranks(ctx) == 1 || !(*gram)->form->evaluates)
        return KFE_OK;
    KFE_TRY(kfe_i_devices_deal(ctx, gram));
    if (kfe_i_gram_is_on_devices(*gram))
        return KFE_OK;
    KFE_TRY(kfe_i_gram_new(ctx, &form_evaluated, (*gram)->size, sizeof(dealt_state), &made));
    dealt_state *s = made->state;
    s->source = s->owned = *gram;
    s->share = kfe_i_own_share(ctx);
    *gram = made;
cleanup:
    return status;
}

const kfe_i_gram *kfe_i_gram_dealt_source(const kfe_i_gram *gram)
{
    return gram->form == &form_evaluated ? ((const dealt_state *)gram->state)->source : NULL;
}

int kfe_i_gram_is_dealt(const kfe_i_gram *gram)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);

    return (inner ? inner : gram)->form->times == times;
}

/* ---- keeping ---- */

double kfe_i_dealt_bytes(int64_t n, int ranks, int single)
{
    return (single ? 4.0 : 8.0) * (double)kfe_i_symmetric_dealt_entries(n, ranks);
}

int kfe_i_dealt_is_tiled(const kfe_i_gram *source)
{
    kfe_i_gram *const *terms = NULL;
    const double *weights = NULL;
    int64_t count = kfe_i_gram_sum_terms(source, &terms, &weights);

    if (count == 0)
        return is_tiled(source);
    for (int64_t m = 0; m < count; m++)
        if (!is_tiled(terms[m]))
            return 0;
    return 1;
}

int64_t kfe_i_dealt_rows(const kfe_i_gram *gram, double bytes)
{
    enum { WORTH_IT = 3 }; /* a third of the rows, a ninth of the matrix */
    const dealt_state *s = gram->state;
    int ranks = s->share.ranks;
    int64_t n = gram->size;
    int64_t rows;

    if (kfe_i_dealt_bytes(n, ranks, 1) <= bytes)
        return n;
    if (!kfe_i_dealt_is_tiled(s->source))
        return 0;
    rows = (int64_t)sqrt(fmax(0, bytes) / 2 * ranks) / KFE_TILE_SIDE * KFE_TILE_SIDE;
    while (rows > 0 && (rows > n || kfe_i_dealt_bytes(rows, ranks, 1) > bytes))
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
    int64_t entries = kfe_i_symmetric_dealt_entries(rows, from->share.ranks);

    assert(rows == gram->size || rows % KFE_TILE_SIDE == 0);
    KFE_TRY(kfe_i_gram_new(ctx, kept_form(single, rows == gram->size), gram->size, sizeof(dealt_state), out));
    dealt_state *s = (*out)->state;
    s->source = from->source;
    s->share = s->matrix.share = from->share;
    KFE_TRY(
        kfe_i_check_memory(ctx, kfe_i_dealt_bytes(rows, s->share.ranks, single),
                           "this process's part of the stored kernel matrix",
                           "raise {memory}, use more processes, {gram=f32}, {gram=tiled} or {gram=auto}"));
    if (single)
        KFE_ALLOC(ctx, s->matrix.narrow, entries);
    else
        KFE_ALLOC(ctx, s->matrix.wide, entries);
    s->matrix.n = rows;
    KFE_TRY(kfe_i_dealt_fill(s->source, &s->matrix));
cleanup:
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
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
