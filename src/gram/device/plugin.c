/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a device's plug-in, libkfe_NAME.so (core/plugin.h), and lists the devices of this machine. session.c uses it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/plugin.h"
#include "core/text.h"
#include "gram/device/session.h"

/* ---- opening ---- */

/* An index that the name does not give. */
enum { ANY_DEVICE = -1 };

/* "cuda:1" is device 1 of the plug-in cuda, "cuda" any of them. Returns 0 for other names. */
static int parse_name(const char *text, char *plugin, size_t size, int *index)
{
    size_t length = 0;

    while (isalnum((unsigned char)text[length]))
        length++;
    if (length == 0 || length >= size)
        return 0;
    memcpy(plugin, text, length);
    plugin[length] = '\0';
    *index = ANY_DEVICE;
    if (text[length] == '\0')
        return 1;
    char *end = NULL;
    long number = text[length] == ':' ? strtol(text + length + 1, &end, 10) : -1;
    *index = (int)number;
    return number >= 0 && number < 1024 && end && end != text + length + 1 && *end == '\0';
}

static kfe_status load(kfe_context *ctx, const char *name, kfe_i_device *device)
{
    char file[64];
    char owner[64];
    const void *table = NULL;
    kfe_i_plugin plugin = {.file = file,
                           .owner = owner,
                           .interface = "device interface",
                           .advice = "install it, or use {device=cpu}",
                           .symbol = KFE_DEVICE_SYMBOL,
                           .abi = KFE_DEVICE_ABI,
                           .size = sizeof *device->table};

    (void)snprintf(file, sizeof file, "libkfe_%s.so", name);
    (void)snprintf(owner, sizeof owner, "the device '%s'", name);
    kfe_status status = kfe_i_plugin_open(ctx, &plugin, &table);
    device->table = status == KFE_OK ? table : NULL;
    return status;
}

static kfe_status open_failed(kfe_context *ctx, const char *name, kfe_device_status status, const char *text)
{
    if (status == KFE_DEVICE_NO_MEMORY)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "the device '%s' has no memory left: %s", name, text);
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "the device '%s' is not usable: %s", name, text);
}

static kfe_status start(kfe_context *ctx, kfe_i_device *device, int index)
{
    kfe_device_error error = {{0}};
    int devices = 0;
    kfe_device_status result = device->table->count(&devices, &error);

    if (result != KFE_DEVICE_OK)
        return open_failed(ctx, device->name, result, error.text);
    if (index == ANY_DEVICE)
        index = kfe_i_local_process(ctx) % devices; /* processes of one machine share its devices evenly */
    if (index >= devices)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "the device '%s' does not exist: there %s %d", device->name,
                          devices == 1 ? "is only" : "are", devices);
    result = device->table->open(index, &device->handle, &error);
    if (result != KFE_DEVICE_OK)
        return open_failed(ctx, device->name, result, error.text);
    result = device->table->info(device->handle, &device->info);
    return result == KFE_DEVICE_OK
               ? KFE_OK
               : open_failed(ctx, device->name, result, device->table->message(device->handle));
}

/* The device asks this now and then while a long call runs. */
static int watch(void *user, int64_t done, int64_t total)
{
    kfe_i_device *device = user;

    return kfe_i_progress(device->ctx, device->stage ? device->stage : "computing on the device", done,
                          total) != KFE_OK;
}

static void log_opened(const kfe_i_device *device)
{
    char total[32];
    char left[32];

    kfe_i_format_bytes((double)device->info.total, total, sizeof total);
    kfe_i_format_bytes((double)device->info.free, left, sizeof left);
    kfe_i_log(device->ctx, KFE_LOG_INFO, "device %s: %s, %s of %s free", device->name, device->info.name,
              left, total);
}

kfe_status kfe_i_device_open(kfe_context *ctx, const char *name, kfe_i_device **out)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = NULL;
    char plugin[32];
    int index = ANY_DEVICE;

    *out = NULL;
    if (!parse_name(name, plugin, sizeof plugin, &index))
        return kfe_i_fail(ctx, KFE_EINVAL, "{device} takes cpu, cuda, host or auto, not '%.64s'", name);
    KFE_ALLOC_ZERO(ctx, device, 1);
    device->ctx = ctx;
    (void)snprintf(device->name, sizeof device->name, "%s", name);
    KFE_TRY(load(ctx, plugin, device));
    KFE_TRY(start(ctx, device, index));
    device->table->set_watch(device->handle, watch, device);
    log_opened(device);
    *out = device;
    device = NULL;
cleanup:
    kfe_i_device_close(device);
    return status;
}

void kfe_i_device_close(kfe_i_device *device)
{
    if (!device)
        return;
    if (device->handle)
        device->table->close(device->handle);
    kfe_i_free(device->ctx, device);
}

/* ---- the list ---- */

static void describe_cpu(const kfe_context *ctx, kfe_device_entry *out)
{
    *out = (kfe_device_entry){.usable = 1, .memory = kfe_context_memory(ctx)};
    out->free_memory = out->memory;
    (void)snprintf(out->name, sizeof out->name, "cpu");
    (void)snprintf(out->description, sizeof out->description, "%d %s", kfe_context_threads(ctx),
                   kfe_context_threads(ctx) == 1 ? "thread" : "threads");
}

/* Opens the device for a moment; a failure is the description. */
static kfe_status describe_device(kfe_context *ctx, const char *plugin, int index, kfe_device_entry *out,
                                  int *devices)
{
    kfe_device_error error = {{0}};
    kfe_i_device *device = NULL;
    char name[sizeof out->name];
    char before[sizeof ctx->message];

    memcpy(before, ctx->message, sizeof before);
    (void)snprintf(name, sizeof name, index > 0 ? "%s:%d" : "%s", plugin, index);
    *out = (kfe_device_entry){0};
    memcpy(out->name, name, sizeof name);
    *devices = 1;
    kfe_status status = kfe_i_device_open(ctx, name, &device);
    if (status == KFE_ENOMEM)
        return status;
    if (status == KFE_OK) {
        (void)device->table->count(devices, &error);
        out->usable = 1;
        out->memory = (int64_t)device->info.total;
        out->free_memory = (int64_t)device->info.free;
    }
    (void)snprintf(out->description, sizeof out->description, "%.255s",
                   status == KFE_OK ? device->info.name : ctx->message);
    memcpy(ctx->message, before, sizeof before);
    kfe_i_device_close(device);
    return KFE_OK;
}

struct kfe_device_list {
    kfe_context *ctx;
    kfe_device_entry *entries;
    int64_t count, capacity;
};

static kfe_status add_plugin(kfe_context *ctx, kfe_device_list *list, const char *plugin, int only_usable)
{
    kfe_status status = KFE_OK;
    int devices = 1;

    for (int index = 0; index < devices; index++) {
        KFE_GROW(ctx, list->entries, list->capacity, list->count + 1);
        KFE_TRY(describe_device(ctx, plugin, index, &list->entries[list->count], &devices));
        list->count += list->entries[list->count].usable || !only_usable;
    }
cleanup:
    return status;
}

kfe_status kfe_devices(kfe_context *ctx, kfe_device_list **out)
{
    kfe_status status = KFE_OK;
    kfe_device_list *list = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, list, 1);
    list->ctx = ctx;
    KFE_GROW(ctx, list->entries, list->capacity, 1);
    describe_cpu(ctx, &list->entries[list->count++]);
    KFE_TRY(add_plugin(ctx, list, "cuda", 0));
    KFE_TRY(add_plugin(ctx, list, "host", 1)); /* only tests need it */
    *out = list;
    list = NULL;
cleanup:
    kfe_device_list_free(list);
    return status;
}

const kfe_device_entry *kfe_device_list_entry(const kfe_device_list *list, int index)
{
    return index >= 0 && index < list->count ? &list->entries[index] : NULL;
}

void kfe_device_list_free(kfe_device_list *list)
{
    if (!list)
        return;
    kfe_i_free(list->ctx, list->entries);
    kfe_i_free(list->ctx, list);
}
