/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens plug-ins: those for devices (gram/device/plugin.c), the one for clusters (core/cluster.c) and the one for Arrow files
 * (data/arrow/file.c). */
#define _GNU_SOURCE /* dladdr */
#include "core/plugin.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wording.h"

enum { PATH_SIZE = 4096, PLACES = 4 };

static int is_file(const char *path)
{
    return access(path, R_OK) == 0;
}

/* The folder that contains this code, with the '/' at its end; "" if unknown. */
static void own_folder(char *out, size_t size)
{
    Dl_info info;
    const char *slash = NULL;

    out[0] = '\0';
    if (dladdr((const void *)(uintptr_t)&kfe_i_plugin_open, &info) && info.dli_fname)
        slash = strrchr(info.dli_fname, '/');
    if (slash && (size_t)(slash - info.dli_fname) + 2 < size) {
        memcpy(out, info.dli_fname, (size_t)(slash - info.dli_fname) + 1);
        out[slash - info.dli_fname + 1] = '\0';
    }
}

/* Whether "folder + file" exists; `out` then is that path. */
static int found_in(const char *folder, size_t length, const char *file, char *out)
{
    int written = snprintf(out, PATH_SIZE, "%.*s/%s", (int)length, folder, file);

    return written > 0 && written < PATH_SIZE && is_file(out);
}

static int found_in_list(const char *list, const char *file, char *out)
{
    for (const char *from = list; from && *from;) {
        size_t length = strcspn(from, ":");
        if (length > 0 && found_in(from, length, file, out))
            return 1;
        from += length + (from[length] == ':');
    }
    return 0;
}

/* The path of `file`, or its bare name, for the system's loader. */
static void find(const char *file, char *out)
{
    static const char *const neighbours[PLACES] = {".", "../lib", "../lib/kfe", ".."};
    char folder[PATH_SIZE];
    char place[PATH_SIZE + 16];

    if (found_in_list(getenv("KFE_DEVICE_PATH"), file, out))
        return;
    own_folder(folder, sizeof folder);
    for (int i = 0; *folder && i < PLACES; i++) {
        (void)snprintf(place, sizeof place, "%s%s", folder, neighbours[i]);
        if (found_in(place, strlen(place), file, out))
            return;
    }
    (void)snprintf(out, PATH_SIZE, "%s", file);
}

/* How every table begins. */
typedef struct table_head {
    uint32_t abi, size;
} table_head;

static kfe_status check_table(kfe_context *ctx, const kfe_i_plugin *plugin, const char *path,
                              const table_head *head)
{
    if (!head)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "%s is no plug-in for %s: it has no %s", path, plugin->owner,
                          plugin->symbol);
    if (head->abi != plugin->abi || head->size < plugin->size)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "%s has version %u of the %s, but this library needs version %u; install both from "
                          "the same release",
                          path, (unsigned)head->abi, plugin->interface, (unsigned)plugin->abi);
    return KFE_OK;
}

kfe_status kfe_i_plugin_open(kfe_context *ctx, const kfe_i_plugin *plugin, kfe_i_plugin_table_fn get_table,
                             void **library, const void **table)
{
    char path[PATH_SIZE];
    char advice[KFE_WORDING_TEXT];

    find(plugin->file, path);
    kfe_i_word_format(ctx, plugin->advice, advice);
    /* it stays loaded: drivers and MPI start once per process */
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!*library && strcmp(path, plugin->file) == 0)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "there is no plug-in for %s: %s is neither in KFE_DEVICE_PATH nor beside the "
                          "library; %s",
                          plugin->owner, plugin->file, advice);
    if (!*library)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "the plug-in for %s cannot be loaded: %s", plugin->owner,
                          dlerror());
    void *symbol = dlsym(*library, plugin->symbol);
    *table = symbol ? get_table(symbol) : NULL;
    return check_table(ctx, plugin, path, *table);
}
