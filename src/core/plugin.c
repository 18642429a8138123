/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens plug-ins: those for devices (gram/device/plugin.c), the one for clusters (core/cluster.c) and the one for Arrow files
 * (data/format/arrow.c). */
#include "core/plugin.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wording.h"
#include "system/system.h"

enum { PLACES = 4 };

/* Whether "folder + file" exists; `out` then is that path. */
static int found_in(const char *folder, size_t length, const char *file, char *out)
{
    int written = snprintf(out, KFE_PATH_SIZE, "%.*s/%s", (int)length, folder, file);

    return written > 0 && written < KFE_PATH_SIZE && kfe_i_path_look(out, NULL) == KFE_PATH_FILE;
}

/* *found: whether the file is in one of the folders. A relative one would load code from whatever folder the program runs in. */
static kfe_status find_in_list(kfe_context *ctx, const char *list, const char *file, char *out, int *found)
{
    *found = 0;
    for (const char *from = list; from && *from && !*found;) {
        size_t length = strcspn(from, ":");
        if (length > 0 && *from != '/')
            return kfe_i_fail(
                ctx, KFE_EINVAL,
                "KFE_DEVICE_PATH names the folder '%.*s', but plug-ins are taken only from absolute "
                "paths, such as /opt/kfe/lib",
                (int)length, from);
        *found = length > 0 && found_in(from, length, file, out);
        from += length + (from[length] == ':');
    }
    return KFE_OK;
}

/* The path of `file`, or its bare name, for the system's loader. */
static kfe_status find(kfe_context *ctx, const char *file, char *out)
{
    static const char *const neighbours[PLACES] = {".", "../lib", "../lib/kfe", ".."};
    char folder[KFE_PATH_SIZE];
    char place[KFE_PATH_SIZE + 16];
    int found = 0;
    kfe_status status = find_in_list(ctx, getenv("KFE_DEVICE_PATH"), file, out, &found);

    if (status != KFE_OK || found)
        return status;
    kfe_i_own_folder(folder);
    for (int i = 0; *folder && i < PLACES; i++) {
        (void)snprintf(place, sizeof place, "%s%s", folder, neighbours[i]);
        if (found_in(place, strlen(place), file, out))
            return KFE_OK;
    }
    (void)snprintf(out, KFE_PATH_SIZE, "%s", file);
    return KFE_OK;
}

/* How every table begins. */
typedef struct table_head {
    uint32_t abi, size;
} table_head;

static kfe_status check_table(kfe_context *ctx, const kfe_i_plugin *plugin, const char *path,
                              const table_head *head)
{
    if (!head)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "%s is not a plug-in for %s: it lacks %s", path,
                          plugin->owner, plugin->symbol);
    if (head->abi != plugin->abi || head->size < plugin->size)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "%s has version %u of the %s, but this library needs version %u; install both from "
                          "the same release",
                          path, (unsigned)head->abi, plugin->interface, (unsigned)plugin->abi);
    return KFE_OK;
}

kfe_status kfe_i_plugin_open(kfe_context *ctx, const kfe_i_plugin *plugin, const void **table)
{
    char path[KFE_PATH_SIZE];
    char advice[KFE_WORDING_TEXT];
    const void *(*get_table)(void) = NULL;
    kfe_status status = find(ctx, plugin->file, path);

    *table = NULL;
    if (status != KFE_OK)
        return status;
    kfe_i_word_format(ctx, plugin->advice, advice);
    void *library = kfe_i_library_open(path);
    if (!library && strcmp(path, plugin->file) == 0)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "there is no plug-in for %s: %s is neither in KFE_DEVICE_PATH nor beside the "
                          "library; %s",
                          plugin->owner, plugin->file, advice);
    if (!library)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "the plug-in for %s cannot be loaded: %s", plugin->owner,
                          kfe_i_library_error());
    void *symbol = kfe_i_library_symbol(library, plugin->symbol);
    memcpy(&get_table, &symbol, sizeof get_table); /* ISO C has no conversion between them */
    *table = symbol ? get_table() : NULL;
    return check_table(ctx, plugin, path, *table);
}
