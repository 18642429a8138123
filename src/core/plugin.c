/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of plug-ins: those for devices (gram/device/plugin.c) and the one for clusters (core/cluster.c). */
#define _GNU_SOURCE /* dladdr */
#include "core/plugin.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = KFE_PLUGIN_PATH, PLACES = 4 };

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
    if (dladdr((const void *)(uintptr_t)&kfe_i_plugin_find, &info) && info.dli_fname)
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

void kfe_i_plugin_find(const char *file, char *out)
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
