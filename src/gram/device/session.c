/* SPDX-License-Identifier: Apache-2.0 */
/* The device of a context: chosen by name, opened at the first need, closed with the context. Used by the operator's forms on
 * devices, by the solver and by transforms. */
#include "gram/device/session.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"

/* The share of the free memory that matrices may take. */
#define KFE_DEVICE_SHARE 0.93
/* The device that `auto` tries. */
#define KFE_AUTO_DEVICE "cuda"

/* ---- the device of a context ---- */

static void close_with_context(kfe_context *ctx)
{
    kfe_i_device_close(ctx->device);
    ctx->device = NULL;
}

static void adopt(kfe_context *ctx, kfe_i_device *device)
{
    if (ctx->device)
        kfe_i_device_close(ctx->device);
    ctx->device = device;
    ctx->device_close = close_with_context;
    ctx->device_tried = 1;
}

static int is_cpu(const char *name)
{
    return strcmp(name, "cpu") == 0;
}

static int is_auto(const char *name)
{
    return strcmp(name, "auto") == 0;
}

kfe_status kfe_context_set_device(kfe_context *ctx, const char *name)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = NULL;

    if (name && (strlen(name) >= sizeof ctx->device_name || !*name))
        return kfe_i_fail(ctx, KFE_EINVAL, "{device} takes cpu, cuda, host or auto, not '%.64s'", name);
    if (name && !is_cpu(name) && !is_auto(name))
        KFE_TRY(kfe_i_device_open(ctx, name, &device));
    adopt(ctx, device);
    ctx->device_tried = device != NULL;
    memset(ctx->device_name, 0, sizeof ctx->device_name);
    if (name)
        memcpy(ctx->device_name, name, strlen(name));
cleanup:
    return status;
}

const char *kfe_context_device(const kfe_context *ctx)
{
    return ctx->device ? ctx->device->name : "cpu";
}

/* The reason goes to the log, since `auto` is content with the CPU. */
static void open_quietly(kfe_context *ctx, kfe_i_device **out)
{
    char before[sizeof ctx->message];

    memcpy(before, ctx->message, sizeof before);
    if (kfe_i_device_open(ctx, KFE_AUTO_DEVICE, out) != KFE_OK) {
        kfe_i_log(ctx, KFE_LOG_INFO, "{device=auto}: the CPU, since %s", ctx->message);
        memcpy(ctx->message, before, sizeof before);
    }
}

kfe_status kfe_i_device_get(kfe_context *ctx, kfe_i_device **out)
{
    kfe_status status = KFE_OK;
    const char *wanted = kfe_i_device_wanted(ctx);
    kfe_i_device *device = NULL;

    *out = NULL;
    if (!ctx->device_tried) {
        if (is_auto(wanted))
            open_quietly(ctx, &device);
        else
            KFE_TRY(kfe_i_device_open(ctx, wanted, &device));
        adopt(ctx, device);
    }
    *out = ctx->device;
cleanup:
    return status;
}

/* ---- status ---- */

int kfe_i_device_gives_up(const kfe_i_device *device, kfe_device_status status, const char *what)
{
    kfe_device_info info = {0};
    char needed[32];

    if (status == KFE_DEVICE_UNSUPPORTED)
        kfe_i_log(device->ctx, KFE_LOG_INFO, "%s: not available on %s, so it runs on the CPU", what,
                  device->name);
    if (status == KFE_DEVICE_NO_MEMORY) {
        if (device->table->info(device->handle, &info) != KFE_DEVICE_OK)
            info.free = 0;
        kfe_i_format_bytes((double)info.free, needed, sizeof needed);
        kfe_i_log(device->ctx, KFE_LOG_WARNING,
                  "%s: the memory of %s is used up (%s are free), so it runs on the CPU", what, device->name,
                  needed);
    }
    return status == KFE_DEVICE_UNSUPPORTED || status == KFE_DEVICE_NO_MEMORY;
}

int kfe_i_device_leaves_to_cpu(const kfe_i_device *device, kfe_device_status result, const char *what,
                               kfe_status *status)
{
    int leaves = result != KFE_DEVICE_OK && kfe_i_device_gives_up(device, result, what);

    *status = leaves ? KFE_OK : kfe_i_device_status(device, result);
    return leaves;
}

kfe_status kfe_i_device_status(const kfe_i_device *device, kfe_device_status status)
{
    const char *text = device->table->message(device->handle);

    switch (status) {
    case KFE_DEVICE_OK:
        return KFE_OK;
    case KFE_DEVICE_STOPPED:
        return kfe_i_fail(device->ctx, KFE_ECANCEL, "cancelled on %s", device->name);
    case KFE_DEVICE_NO_MEMORY:
        return kfe_i_fail(device->ctx, KFE_EDEVICE, "%s: out of memory: %s", device->name, text);
    default:
        return kfe_i_fail(device->ctx, KFE_EDEVICE, "%s: %s", device->name, text);
    }
}

double kfe_i_device_room(const kfe_i_device *device)
{
    kfe_device_info info;

    if (device->table->info(device->handle, &info) != KFE_DEVICE_OK)
        return 0;
    return KFE_DEVICE_SHARE * (double)info.free;
}

/* ---- memory ---- */

kfe_device_status kfe_i_device_matrix_new(const kfe_i_device *device, int64_t rows, int64_t cols,
                                          kfe_device_type type, kfe_device_matrix *out)
{
    uint64_t bytes = (uint64_t)rows * (uint64_t)cols * (uint64_t)type;

    *out = (kfe_device_matrix){.rows = rows, .cols = cols, .stride = cols, .type = type};
    return device->table->allocate(device->handle, bytes > 0 ? bytes : 1, &out->address);
}

void kfe_i_device_matrix_free(const kfe_i_device *device, kfe_device_matrix *matrix)
{
    if (matrix->address)
        device->table->release(device->handle, matrix->address);
    *matrix = (kfe_device_matrix){0};
}
