/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator whose matrix is divided over the devices of the processes of a cluster; dealt.c and policy.c make it.
 *
 * Products: every device multiplies the panels of its process (device/panels.h), and the parts are added in host memory. Entries: every
 * device evaluates some rows, which are gathered.
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
#include "gram/cluster/dealt.h"
#include "gram/cluster/ways.h"
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

/* Entries at listed rows are those of process 0, for the same bits. */
static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;

    if (!rows.index && kfe_i_processes(gram->ctx) > 1) /* else the processes have paused working together */
        return kfe_i_gram_divided_entries(own_matrix(gram), s->share, rows, cols, out, stride);
    KFE_TRY(kfe_i_gram_entries(own_matrix(gram), rows, cols, out, stride));
    for (int64_t i = 0; i < rows.count; i++)
        KFE_TRY(kfe_i_cluster_broadcast(gram->ctx, 0, out + i * stride, cols.count * (int64_t)sizeof *out));
cleanup:
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

    assert(kfe_i_processes(gram->ctx) == s->share.parts); /* the processes have not paused working together */
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
    kfe_device_status result = s->whole->form->device->times(s->whole, v, out);
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

static kfe_status times_together(const kfe_i_gram *gram, const kfe_device_matrix *v,
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

static const kfe_i_device_calls on_device = {.times_together = times_together};

/* Sums over groups are made from products. */
#define KFE_DEVICES_CALLS                                                                                    \
    .entries = entries, .diagonal = diagonal, .times = times, .alone = own_matrix, .device = &on_device,     \
    .release = release, KFE_DEVICE_SOLUTIONS

static const kfe_i_gram_form form_f64 = {
    .name = "stored in double precision, divided over the devices of the processes", KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_f32 = {
    .name = "stored in single precision, divided over the devices of the processes", KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_partial = {
    .name = "partly stored in single precision, the rest computed, divided over the devices of the processes",
    KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_single = {
    .name = "computed in single precision on the devices of all processes, not stored", KFE_DEVICES_CALLS};
static const kfe_i_gram_form form_whole = {
    .name = "stored in double precision, whole on the device of every process", KFE_DEVICES_CALLS};

/* An empty operator in all processes that share the work of `source`. */
static kfe_status make_empty(const kfe_i_gram *source, const kfe_i_gram_form *form, kfe_i_gram **out)
{
    kfe_status status = kfe_i_gram_new(source->ctx, form, source->size, sizeof(devices_state), out);

    if (status != KFE_OK)
        return status;
    devices_state *s = (*out)->state;
    s->source = source;
    s->share = kfe_i_own_share(source->ctx);
    (*out)->processes = s->share.parts;
    (*out)->ways = kfe_i_ways_of_cluster;
    return KFE_OK;
}

/* An operator of this form that keeps this number of panels, over all processes; *out NULL: the device has no room for them. */
static kfe_status make(const kfe_i_gram *source, const kfe_i_gram_form *form, kfe_device_type type,
                       int64_t kept, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;

    *out = NULL;
    KFE_TRY(make_empty(source, form, &made));
    devices_state *s = made->state;
    if (type == KFE_DEVICE_F32)
        made->precision = &kfe_i_single;
    KFE_TRY(kfe_i_device_panels_new(source, &(kfe_i_device_panels_shape){s->share, type, kept}, &s->panels));
    if (s->panels) {
        *out = made;
        made = NULL;
    }
cleanup:
    kfe_i_gram_free(made);
    return status;
}

/* ---- keeping ---- */

/* Free bytes, less those reserved, of the device that has the least. */
static kfe_status room_of_devices(const kfe_i_gram *gram, double reserve, double *out)
{
    const kfe_i_device *device = kfe_i_fused_device(((const devices_state *)gram->state)->source);

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
    kfe_status status = make(((const devices_state *)gram->state)->source, form, type, kept, out);

    return status == KFE_OK ? keep_or_drop(gram->ctx, out) : status;
}

kfe_status kfe_i_devices_keep(const kfe_i_gram *gram, int type, double reserve, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    const devices_state *s = gram->state;
    int64_t n = gram->size;
    int processes = s->share.parts;
    int64_t all = kfe_i_device_panels_count(n, processes);
    double room = 0;

    *out = NULL;
    KFE_TRY(room_of_devices(gram, reserve, &room));
    if (type != KFE_DEVICE_F32 && kfe_i_device_panels_bytes(n, processes, KFE_DEVICE_F64, all) <= room)
        KFE_TRY(keep_panels(gram, &form_f64, KFE_DEVICE_F64, all, out));
    if (!*out && type != KFE_DEVICE_F64 &&
        kfe_i_device_panels_bytes(n, processes, KFE_DEVICE_F32, all) <= room)
        KFE_TRY(keep_panels(gram, &form_f32, KFE_DEVICE_F32, all, out));
    int64_t some = *out || type != 0 ? 0 : kfe_i_device_panels_that_fit(s->source, processes, room);
    if (some > 0)
        KFE_TRY(keep_panels(gram, &form_partial, KFE_DEVICE_F32, some, out));
    if (!*out && type == 0)
        KFE_TRY(keep_panels(gram, &form_single, KFE_DEVICE_F32, 0, out));
cleanup:
    return status;
}

static kfe_status keep_whole(const kfe_i_gram *gram, double reserve, kfe_i_gram **out)
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
    KFE_TRY(make_empty(from->source, &form_whole, out));
    ((devices_state *)(*out)->state)->whole = whole;
    whole = NULL;
cleanup:
    kfe_i_gram_free(whole);
    return status;
}

/* Callers that want rows get them in host memory. Where every device has room for the whole matrix in double precision, products of
 * vectors there need no messages; else the matrix is divided over the devices. */
static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *stored = NULL;

    if (how == KFE_KEEP_ROWS)
        return kfe_i_keep_in_memory(gram, how, reserve, NULL, out);
    KFE_TRY(keep_whole(gram, reserve, &stored));
    if (!stored)
        KFE_TRY(kfe_i_devices_keep(gram, how == KFE_KEEP_DOUBLE ? KFE_DEVICE_F64 : 0, reserve, &stored));
    if (!stored)
        return KFE_OK;
    kfe_i_kept_take(out, stored);
    kfe_i_log(gram->ctx, KFE_LOG_INFO, "kernel matrix of %lld examples: %s", (long long)gram->size,
              stored->form->name);
cleanup:
    return status;
}

kfe_status kfe_i_devices_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out)
{
    kfe_status status = kfe_i_devices_keep(*gram, single ? KFE_DEVICE_F32 : KFE_DEVICE_F64, 0, out);

    if (*out) {
        ((devices_state *)(*out)->state)->owned = *gram;
        *gram = NULL;
    }
    return status;
}

/* ---- the operator that computes at every pass ---- */

static const kfe_i_gram_form form_evaluated = {.name = "computed on the devices of all processes, not stored",
                                               .column_seconds = kfe_i_gram_time_columns,
                                               .keep = keep,
                                               KFE_DEVICES_CALLS};

/* Whether all processes have this operator on a device; if only some have, all use the CPU. */
static kfe_status agree_on_devices(kfe_context *ctx, kfe_i_gram **gram, int *on_devices)
{
    kfe_status status = KFE_OK;
    int own = *on_devices;
    double all = own;

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

kfe_status kfe_i_devices_deal(kfe_context *ctx, kfe_i_gram **gram, int *on_devices)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;

    KFE_TRY(agree_on_devices(ctx, gram, on_devices));
    if (!*on_devices)
        return KFE_OK;
    KFE_TRY(make(*gram, &form_evaluated, KFE_DEVICE_F64, 0, &made));
    ((devices_state *)made->state)->owned = *gram;
    *gram = made;
cleanup:
    return status;
}
