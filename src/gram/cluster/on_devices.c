/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator whose matrix is divided over the devices of the processes of a cluster; dealt.c and policy.c make it.
 *
 * Products: every device multiplies the panels of its process (device/panels.h), and the parts are added in host memory. Blocks: every
 * device evaluates some rows, which are gathered. Columns: every device evaluates all rows, and each process's share of them is gathered.
 *
 * A process whose device gives up goes on with the CPU, which rounds differently. So results are added over the processes, gathered, or
 * sent by process 0, and all processes have the same bits.
 *
 * A matrix for which every device has room is kept whole by each. Products of vectors on the devices then need no messages, and may differ
 * in the last bits; solve/space.c shares the numbers on which decisions rest.
 */
#include "gram/cluster/on_devices.h"

#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "gram/device/panels.h"

typedef struct devices_state {
    const kfe_i_gram *source; /* computes the whole matrix on this process's device (device/fused.c) */
    kfe_i_gram *owned;        /* freed with this operator; NULL: nothing */
    kfe_i_share share;
    kfe_i_device_panels *panels; /* NULL: whole */
    kfe_i_gram *whole;           /* the whole matrix, kept on the device of this process; NULL: panels */
} devices_state;

/* The operator that evaluates entries in this process. */
static const kfe_i_gram *own_matrix(const kfe_i_gram *gram)
{
    const devices_state *s = gram->state;

    return s->whole ? s->whole : s->source;
}

/* ---- entries ---- */

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;
    int64_t first = kfe_i_share_begin(rows, s->share.rank, s->share.ranks);
    int64_t count = kfe_i_share_begin(rows, s->share.rank + 1, s->share.ranks) - first;
    double *packed = NULL;
    double *values = out;

    if (kfe_i_ranks(gram->ctx) == 1) /* paused: this process works alone */
        return kfe_i_gram_block(own_matrix(gram), row, rows, col, cols, out, stride);
    if (stride != cols) {
        KFE_ALLOC(gram->ctx, packed, rows * cols);
        values = packed;
    }
    KFE_TRY(kfe_i_gram_block(own_matrix(gram), row + first, count, col, cols, values + first * cols, cols));
    KFE_TRY(kfe_i_cluster_gather_rows(gram->ctx, values, rows, cols));
    for (int64_t i = 0; packed && i < rows; i++)
        memcpy(out + i * stride, packed + i * cols, (size_t)cols * sizeof *out);
cleanup:
    kfe_i_free(gram->ctx, packed);
    return status;
}

/* Every process evaluates all rows, and takes the others' share of them from the others, for the same bits. */
static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = kfe_i_gram_columns(own_matrix(gram), index, count, out);

    return status == KFE_OK ? kfe_i_cluster_gather_rows(gram->ctx, out, gram->size, count) : status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = kfe_i_gram_among(own_matrix(gram), index, count, out);

    if (status == KFE_OK)
        status = kfe_i_cluster_broadcast(gram->ctx, 0, out, count * count * (int64_t)sizeof *out);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_diagonal(own_matrix(gram), out);
}

/* ---- products ---- */

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;

    assert(kfe_i_ranks(gram->ctx) == s->share.ranks); /* the processes have not paused working together */
    if (s->whole) {
        KFE_TRY(kfe_i_gram_times(s->whole, v, k, out));
        return kfe_i_cluster_broadcast(gram->ctx, 0, out, gram->size * k * (int64_t)sizeof *out);
    }
    KFE_TRY(kfe_i_device_panels_times(s->panels, v, k, out));
    KFE_TRY(kfe_i_cluster_sum(gram->ctx, out, gram->size * k));
cleanup:
    return status;
}

/* By the whole matrix of this process; on the CPU if the device gives up. */
static kfe_status times_whole(const kfe_i_gram *gram, const kfe_device_matrix *v,
                              const kfe_device_matrix *out)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;
    const kfe_i_device *device = gram->ctx->device;
    kfe_device_status result = kfe_i_device_times(s->whole, v, out);
    double *product = NULL;
    double *copy = NULL;

    if (result == KFE_DEVICE_OK || !kfe_i_device_gives_up(device, result, "kernel products"))
        return kfe_i_device_status(device, result);
    KFE_ALLOC(gram->ctx, copy, v->rows * v->cols);
    KFE_ALLOC(gram->ctx, product, v->rows * v->cols);
    KFE_TRY(kfe_i_device_status(device, device->table->download(device->handle, v, copy, v->cols)));
    KFE_TRY(kfe_i_gram_times(kfe_i_fused_source(s->source), copy, v->cols, product));
    KFE_TRY(kfe_i_device_status(device, device->table->upload(device->handle, product, v->cols, out)));
cleanup:
    kfe_i_free(gram->ctx, copy);
    kfe_i_free(gram->ctx, product);
    return status;
}

kfe_status kfe_i_devices_times(const kfe_i_gram *gram, const kfe_device_matrix *v,
                               const kfe_device_matrix *out)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;
    const kfe_i_device *device = gram->ctx->device;

    if (s->whole)
        return times_whole(gram, v, out);
    double *sum = kfe_i_gram_workspace(gram, v->rows * v->cols);
    if (!sum)
        return kfe_i_lack(gram->ctx);
    KFE_TRY(kfe_i_device_panels_times_there(s->panels, v, out, sum));
    KFE_TRY(kfe_i_cluster_sum(gram->ctx, sum, v->rows * v->cols));
    KFE_TRY(kfe_i_device_status(device, device->table->upload(device->handle, sum, v->cols, out)));
cleanup:
    return status;
}

/* ---- the forms ---- */

static void release(kfe_i_gram *gram)
{
    devices_state *s = gram->state;

    kfe_i_device_panels_free(s->panels);
    kfe_i_gram_free(s->whole);
    kfe_i_gram_free(s->owned);
}

#define KFE_DEVICES_CALLS                                                                                    \
    .block = block, .columns = columns, .among = among, .diagonal = diagonal, .times = times,                \
    .release = release

/* Sums over groups are made from products. */
static const kfe_i_gram_form form_evaluated = {
    .name = "computed on the devices of all processes, not stored", .evaluates = 1, KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_f64 = {
    .name = "stored in double precision, divided over the devices of the processes", KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_f32 = {
    .name = "stored in single precision, divided over the devices of the processes",
    .single = 1,
    KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_partial = {
    .name = "partly stored in single precision, the rest computed, divided over the devices of the processes",
    .single = 1,
    KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_single = {
    .name = "computed in single precision on the devices of all processes, not stored",
    .single = 1,
    KFE_DEVICES_CALLS};

static const kfe_i_gram_form form_whole = {
    .name = "stored in double precision, whole on the device of every process", KFE_DEVICES_CALLS};

int kfe_i_gram_is_on_devices(const kfe_i_gram *gram)
{
    return gram->form == &form_evaluated || gram->form == &form_whole || gram->form == &form_f64 ||
           gram->form == &form_f32 || gram->form == &form_partial || gram->form == &form_single;
}

const kfe_i_gram *kfe_i_gram_own_device(const kfe_i_gram *gram)
{
    return kfe_i_gram_is_on_devices(gram) ? own_matrix(gram) : gram;
}

/* An operator of this form that keeps so many panels of all processes; *out NULL: the device has no room for them. */
static kfe_status make(const kfe_i_gram *source, const kfe_i_gram_form *form, kfe_device_type type,
                       int64_t kept, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_gram_new(source->ctx, form, source->size, sizeof(devices_state), &made));
    devices_state *s = made->state;
    s->source = source;
    s->share = kfe_i_own_share(source->ctx);
    KFE_TRY(kfe_i_device_panels_new(source, &(kfe_i_device_panels_shape){s->share, type, kept}, &s->panels));
    if (s->panels) {
        *out = made;
        made = NULL;
    }
cleanup:
    kfe_i_gram_free(made);
    return status;
}

/* Whether all processes have this operator on a device; if only some have, all use the CPU. */
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

kfe_status kfe_i_devices_deal(kfe_context *ctx, kfe_i_gram **gram)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;
    int on_devices = 0;

    KFE_TRY(agree_on_devices(ctx, gram, &on_devices));
    if (!on_devices)
        return KFE_OK;
    KFE_TRY(make(*gram, &form_evaluated, KFE_DEVICE_F64, 0, &made));
    ((devices_state *)made->state)->owned = *gram;
    *gram = made;
cleanup:
    return status;
}

/* ---- keeping ---- */

/* Free bytes, less those reserved, of the device that has the least. */
static kfe_status room_of_devices(const kfe_i_gram *gram, double reserve, double *out)
{
    kfe_i_device *device = kfe_i_fused_device(((const devices_state *)gram->state)->source);

    *out = device ? kfe_i_device_room(device) - reserve : 0;
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

/* The same in all processes; *out NULL in all if one device had less memory than it seemed. */
static kfe_status keep_panels(const kfe_i_gram *gram, const kfe_i_gram_form *form, kfe_device_type type,
                              int64_t kept, kfe_i_gram **out)
{
    kfe_status status = make(kfe_i_gram_own_device(gram), form, type, kept, out);

    return status == KFE_OK ? keep_or_drop(gram->ctx, out) : status;
}

kfe_status kfe_i_devices_keep(const kfe_i_gram *gram, int type, double reserve, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;
    int64_t n = gram->size;
    int ranks = s->share.ranks;
    int64_t all = kfe_i_device_panels_count(n, ranks);
    double room = 0;

    *out = NULL;
    KFE_TRY(room_of_devices(gram, reserve, &room));
    if (type != KFE_DEVICE_F32 && kfe_i_device_panels_bytes(n, ranks, KFE_DEVICE_F64, all) <= room)
        KFE_TRY(keep_panels(gram, &form_f64, KFE_DEVICE_F64, all, out));
    if (!*out && type != KFE_DEVICE_F64 && kfe_i_device_panels_bytes(n, ranks, KFE_DEVICE_F32, all) <= room)
        KFE_TRY(keep_panels(gram, &form_f32, KFE_DEVICE_F32, all, out));
    int64_t some = *out || type != 0 ? 0 : kfe_i_device_panels_that_fit(s->source, ranks, room);
    if (some > 0)
        KFE_TRY(keep_panels(gram, &form_partial, KFE_DEVICE_F32, some, out));
    if (!*out && type == 0)
        KFE_TRY(keep_panels(gram, &form_single, KFE_DEVICE_F32, 0, out));
cleanup:
    return status;
}

kfe_status kfe_i_devices_keep_whole(const kfe_i_gram *gram, double reserve, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const devices_state *from = gram->state;
    double fits = kfe_i_device_wide_fits(from->source, reserve);
    kfe_i_gram *whole = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_cluster_least(gram->ctx, &fits));
    if (fits > 0) {
        KFE_TRY(kfe_i_device_keep(from->source, KFE_DEVICE_F64, reserve, &whole));
        KFE_TRY(keep_or_drop(gram->ctx, &whole));
    }
    if (!whole)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_new(gram->ctx, &form_whole, gram->size, sizeof(devices_state), out));
    *(devices_state *)(*out)->state =
        (devices_state){.source = from->source, .share = from->share, .whole = whole};
    whole = NULL;
cleanup:
    kfe_i_gram_free(whole);
    return status;
}

int kfe_i_devices_wide_fit(const kfe_i_gram *gram, double reserve)
{
    int ranks = kfe_i_ranks(gram->ctx);
    int64_t all = kfe_i_device_panels_count(gram->size, ranks);
    double room = 0;

    return room_of_devices(gram, reserve, &room) == KFE_OK &&
           kfe_i_device_panels_bytes(gram->size, ranks, KFE_DEVICE_F64, all) <= room;
}

kfe_status kfe_i_devices_keep_owned(kfe_i_gram **gram, int type, kfe_i_gram **out)
{
    kfe_status status = kfe_i_devices_keep(*gram, type, 0, out);

    if (*out) {
        ((devices_state *)(*out)->state)->owned = *gram;
        *gram = NULL;
    }
    return status;
}
