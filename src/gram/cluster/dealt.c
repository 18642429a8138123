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
 *
 * If every process has a device, panels are kept and multiplied there (device/panels.h). One process may have to go on without its
 * device, with other rounding; so whatever only devices computed is gathered or sent by process 0, and all processes have the same bits.
 */
#include "gram/cluster/dealt.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "gram/cluster/fill.h"
#include "gram/dense/symmetric.h"
#include "gram/device/panels.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/tile.h"

/* Smaller blocks are evaluated by every process: a message would take longer. */
enum { WORTH_A_MESSAGE = 1 << 14, GROUP = 64 /* vectors multiplied at once */ };

typedef struct dealt_state {
    kfe_i_gram *source; /* works in this process alone */
    kfe_i_gram *owned;  /* what is freed with this operator; NULL: nothing */
    kfe_i_share share;
    kfe_i_symmetric matrix; /* of the rows that are kept; n 0: none */
    kfe_i_device_panels
        *panels; /* on the device of this process, which then has all of its part; NULL: on the CPU */
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

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    span own = own_rows(s->share, rows);
    double *packed = NULL;
    double *values = out;

    if ((rows * cols < WORTH_A_MESSAGE && !s->panels) ||
        kfe_i_ranks(gram->ctx) == 1) /* paused: this process works alone */
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

    if (!s->panels && (gram->size * count < WORTH_A_MESSAGE || !is_tiled(s->source)))
        return kfe_i_gram_columns(s->source, index, count, out);
    if (s->panels) /* all rows, of which those of the others are replaced by theirs */
        KFE_TRY(kfe_i_gram_columns(s->source, index, count, out));
    else
        KFE_TRY(tiled_columns(s->source, own, index, count, out + own.first * count));
    KFE_TRY(kfe_i_cluster_gather_rows(gram->ctx, out, gram->size, count));
cleanup:
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const dealt_state *s = gram->state;
    kfe_status status = kfe_i_gram_among(s->source, index, count, out);

    if (status == KFE_OK && s->panels)
        status = kfe_i_cluster_broadcast(gram->ctx, 0, out, count * count * (int64_t)sizeof *out);
    return status;
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

    if (s->panels) {
        KFE_TRY(kfe_i_device_panels_times(s->panels, v, k, out));
        return kfe_i_cluster_sum(gram->ctx, out, gram->size * k);
    }
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

kfe_status kfe_i_dealt_times_on_devices(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                        const kfe_device_matrix *out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    const kfe_i_device *device = gram->ctx->device;
    double *sum = kfe_i_gram_workspace(gram, v->rows * v->cols);

    if (!sum)
        return kfe_i_lack(gram->ctx);
    KFE_TRY(kfe_i_device_panels_times_there(s->panels, v, out, sum));
    KFE_TRY(kfe_i_cluster_sum(gram->ctx, sum, v->rows * v->cols));
    KFE_TRY(kfe_i_device_status(device, device->table->upload(device->handle, sum, v->cols, out)));
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
    kfe_i_device_panels_free(s->panels);
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

/* On devices. The first is the one that evaluates; its sums over groups are made from products. */
static const kfe_i_gram_form form_devices = {
    .name = "computed on the devices of all processes, not stored", .evaluates = 1, KFE_DEALT_CALLS};
static const kfe_i_gram_form form_devices_f64 = {
    .name = "stored in double precision, divided over the devices of the processes", KFE_DEALT_CALLS};
static const kfe_i_gram_form form_devices_f32 = {
    .name = "stored in single precision, divided over the devices of the processes",
    .single = 1,
    KFE_DEALT_CALLS};
static const kfe_i_gram_form form_devices_partial = {
    .name = "partly stored in single precision, the rest computed, divided over the devices of the processes",
    .single = 1,
    KFE_DEALT_CALLS};
static const kfe_i_gram_form form_devices_single = {
    .name = "computed in single precision on the devices of all processes, not stored",
    .single = 1,
    KFE_DEALT_CALLS};

/* Whether all processes have this operator on a device; if only some have, all go on without. */
static kfe_status agree_on_devices(kfe_context *ctx, kfe_i_gram **gram, int *on_devices)
{
    kfe_status status = KFE_OK;
    int own = kfe_i_gram_device(*gram) != NULL;
    double all = own;

    if (strcmp(kfe_i_device_wanted(ctx), "cpu") != 0)
        KFE_TRY(kfe_i_cluster_least(ctx, &all));
    *on_devices = all > 0;
    if (own && !*on_devices) {
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "kernel matrix: on the CPU in all processes, since not all of them have it on a device");
        kfe_i_fused_unwrap(gram);
    }
cleanup:
    return status;
}

kfe_status kfe_i_gram_deal(kfe_context *ctx, kfe_i_gram **gram)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;
    int on_devices = 0;

    if (kfe_i_ranks(ctx) == 1 || !(*gram)->form->evaluates)
        return KFE_OK;
    KFE_TRY(agree_on_devices(ctx, gram, &on_devices));
    KFE_TRY(kfe_i_gram_new(ctx, on_devices ? &form_devices : &form_evaluated, (*gram)->size,
                           sizeof(dealt_state), &made));
    dealt_state *s = made->state;
    s->source = *gram;
    s->share = kfe_i_own_share(ctx);
    if (on_devices)
        KFE_TRY(kfe_i_device_panels_new(s->source, &(kfe_i_device_panels_shape){s->share, KFE_DEVICE_F64, 0},
                                        &s->panels));
    s->owned = *gram;
    *gram = made;
    made = NULL;
cleanup:
    kfe_i_gram_free(made);
    return status;
}

const kfe_i_gram *kfe_i_gram_dealt_source(const kfe_i_gram *gram)
{
    return gram->form == &form_evaluated || gram->form == &form_devices
               ? ((const dealt_state *)gram->state)->source
               : NULL;
}

int kfe_i_gram_is_on_devices(const kfe_i_gram *gram)
{
    return gram->form == &form_devices || gram->form == &form_devices_f64 ||
           gram->form == &form_devices_f32 || gram->form == &form_devices_partial ||
           gram->form == &form_devices_single;
}

const kfe_i_gram *kfe_i_gram_own_device(const kfe_i_gram *gram)
{
    return kfe_i_gram_is_on_devices(gram) ? ((const dealt_state *)gram->state)->source : gram;
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

/* ---- keeping on devices ---- */

/* The room of the device that has the least. */
static kfe_status room_of_devices(const kfe_i_gram *gram, double *out)
{
    kfe_i_device *device = kfe_i_fused_device(((const dealt_state *)gram->state)->source);

    *out = device ? kfe_i_device_room(device) : 0;
    return kfe_i_cluster_least(gram->ctx, out);
}

/* All processes have an operator, or none has. */
static kfe_status keep_or_drop(kfe_context *ctx, kfe_i_gram **gram)
{
    double made = *gram != NULL;
    kfe_status status = kfe_i_cluster_least(ctx, &made);

    if (status != KFE_OK || !(made > 0)) {
        kfe_i_gram_free(*gram);
        *gram = NULL;
    }
    return status;
}

/* An operator of this form with so many panels; *out NULL if the memory of a device was less than it seemed. */
static kfe_status keep_panels(const kfe_i_gram *gram, const kfe_i_gram_form *form, kfe_device_type type,
                              int64_t kept, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const dealt_state *from = gram->state;

    KFE_TRY(kfe_i_gram_new(gram->ctx, form, gram->size, sizeof(dealt_state), out));
    dealt_state *s = (*out)->state;
    s->source = from->source;
    s->share = from->share;
    KFE_TRY(
        kfe_i_device_panels_new(s->source, &(kfe_i_device_panels_shape){s->share, type, kept}, &s->panels));
cleanup:
    if (*out && (status != KFE_OK || !((dealt_state *)(*out)->state)->panels)) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status == KFE_OK ? keep_or_drop(gram->ctx, out) : status;
}

/* The whole matrix in `bytes` of each device; *out NULL: it does not fit. */
static kfe_status keep_all_panels(const kfe_i_gram *gram, int type, double bytes, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    int ranks = ((const dealt_state *)gram->state)->share.ranks;
    int64_t all = kfe_i_device_panels_count(n, ranks);

    if (type != KFE_DEVICE_F32 && kfe_i_device_panels_bytes(n, ranks, KFE_DEVICE_F64, all) <= bytes)
        KFE_TRY(keep_panels(gram, &form_devices_f64, KFE_DEVICE_F64, all, out));
    if (!*out && type != KFE_DEVICE_F64 && kfe_i_device_panels_bytes(n, ranks, KFE_DEVICE_F32, all) <= bytes)
        KFE_TRY(keep_panels(gram, &form_devices_f32, KFE_DEVICE_F32, all, out));
cleanup:
    return status;
}

kfe_status kfe_i_dealt_keep_on_devices(const kfe_i_gram *gram, int type, double reserve, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    double room = 0;

    *out = NULL;
    KFE_TRY(room_of_devices(gram, &room));
    KFE_TRY(keep_all_panels(gram, type, room - reserve, out));
    if (!*out) /* the vectors will be in host memory */
        KFE_TRY(keep_all_panels(gram, type, room, out));
    int64_t some = *out || type != 0 ? 0 : kfe_i_device_panels_that_fit(s->source, s->share.ranks, room);
    if (some > 0)
        KFE_TRY(keep_panels(gram, &form_devices_partial, KFE_DEVICE_F32, some, out));
    if (!*out && type == 0)
        KFE_TRY(keep_panels(gram, &form_devices_single, KFE_DEVICE_F32, 0, out));
cleanup:
    return status;
}

kfe_status kfe_i_dealt_keep_whole(const kfe_i_gram *gram, double reserve, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const dealt_state *s = gram->state;
    double fits = kfe_i_device_wide_fits(s->source, reserve);

    *out = NULL;
    KFE_TRY(kfe_i_cluster_least(gram->ctx, &fits));
    if (fits > 0) {
        KFE_TRY(kfe_i_device_keep(s->source, KFE_DEVICE_F64, reserve, out));
        KFE_TRY(keep_or_drop(gram->ctx, out));
    }
cleanup:
    return status;
}

int kfe_i_dealt_wide_fits_on_devices(const kfe_i_gram *gram, double reserve)
{
    int ranks = kfe_i_ranks(gram->ctx);
    int64_t all = kfe_i_device_panels_count(gram->size, ranks);
    double room = 0;

    return room_of_devices(gram, &room) == KFE_OK &&
           kfe_i_device_panels_bytes(gram->size, ranks, KFE_DEVICE_F64, all) <= room - reserve;
}

kfe_status kfe_i_dealt_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    if (kfe_i_gram_is_on_devices(*gram))
        KFE_TRY(kfe_i_dealt_keep_on_devices(*gram, single ? KFE_DEVICE_F32 : KFE_DEVICE_F64, 0, out));
    if (!*out)
        KFE_TRY(kfe_i_dealt_keep(*gram, single, (*gram)->size, out));
    ((dealt_state *)(*out)->state)->owned = *gram;
    *gram = NULL;
cleanup:
    return status;
}
