/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the host plug-in, and its one device. Environment variables for tests:
 *
 *     KFE_DEVICE_MEMORY            bytes of memory that the device claims to have
 *     KFE_DEVICE_FAIL_ALLOCATION   the number of the allocation that fails, from 1
 *     KFE_DEVICE_COUNT             how many devices there are; 0: none
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/host.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 40)

/* The number in an environment variable; `otherwise` if it is not set. */
static long long number_of(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atoll(text) : otherwise;
}

static kfe_device_status count(int *devices, kfe_device_error *error)
{
    *devices = (int)number_of("KFE_DEVICE_COUNT", 1);
    if (*devices > 0)
        return KFE_DEVICE_OK;
    *devices = 0;
    if (error)
        (void)snprintf(error->text, sizeof error->text, "there is no device");
    return KFE_DEVICE_NO_DEVICE;
}

static kfe_device_status open_device(int index, kfe_device **out, kfe_device_error *error)
{
    *out = calloc(1, sizeof **out);
    if (!*out) {
        if (error)
            (void)snprintf(error->text, sizeof error->text, "out of memory for device %d", index);
        return KFE_DEVICE_NO_MEMORY;
    }
    (*out)->index = index;
    (*out)->limit = (uint64_t)number_of("KFE_DEVICE_MEMORY", (long long)DEFAULT_MEMORY);
    (*out)->until_failure = number_of("KFE_DEVICE_FAIL_ALLOCATION", 0);
    return KFE_DEVICE_OK;
}

static kfe_device_status info(kfe_device *device, kfe_device_info *out)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->name, sizeof out->name, "the CPU through the interface of devices, for tests");
    if (device->index > 0)
        (void)snprintf(out->name, sizeof out->name, "device %d of the plug-in for tests", device->index);
    out->total = device->limit;
    out->free = device->used < device->limit ? device->limit - device->used : 0;
    return KFE_DEVICE_OK;
}

static const char *message(const kfe_device *device)
{
    return device->text;
}

static void set_watch(kfe_device *device, kfe_device_watch watch, void *user)
{
    device->watch = watch;
    device->watch_user = user;
}

static kfe_device_status allocate(kfe_device *device, uint64_t bytes, uint64_t *address)
{
    *address = (uint64_t)(uintptr_t)host_allocate(device, bytes);
    return *address ? KFE_DEVICE_OK : KFE_DEVICE_NO_MEMORY;
}

static void release(kfe_device *device, uint64_t address)
{
    host_release(device, (void *)(uintptr_t)address);
}

static kfe_device_status wait_for_all(kfe_device *device)
{
    (void)device;
    return KFE_DEVICE_OK;
}

static void close_device(kfe_device *device)
{
    if (device)
        host_release_all(device);
    free(device);
}

/* ---- failures and stopping ---- */

kfe_device_status host_fail(kfe_device *device, kfe_device_status status, const char *text)
{
    (void)snprintf(device->text, sizeof device->text, "%s", text);
    return status;
}

int host_must_stop(const kfe_device *device, int64_t done, int64_t total)
{
    return device->watch && device->watch(device->watch_user, done, total);
}

__attribute__((visibility("default"))) const kfe_device_table *kfe_device_plugin(void)
{
    static const kfe_device_table table = {
        .abi = KFE_DEVICE_ABI,
        .size = sizeof(kfe_device_table),
        .name = "host",
        .count = count,
        .open = open_device,
        .close = close_device,
        .info = info,
        .message = message,
        .set_watch = set_watch,
        .allocate = allocate,
        .release = release,
        .upload = host_upload,
        .download = host_download,
        .copy = host_copy,
        .fill = host_fill,
        .gather = host_gather,
        .wait = wait_for_all,
        .points_new = host_points_new,
        .points_gather = host_points_gather,
        .points_free = host_points_free,
        .block = host_block,
        .map = host_map,
        .times = host_times,
        .group_sums = host_group_sums,
        .stream = host_stream,
        .linear_svms = host_linear_svms,
        .nearest = host_nearest,
        .gemm = host_gemm,
        .add = host_add,
        .shift = host_shift,
        .scale = host_scale,
        .column_dots = host_column_dots,
        .row_dots = host_row_dots,
        .potrf_bytes = host_no_bytes,
        .syevd_bytes = host_no_bytes,
        .potrf = host_potrf,
        .potrs = host_potrs,
        .trsm = host_trsm,
        .syevd = host_syevd,
    };

    return &table;
}
