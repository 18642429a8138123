/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses the data of a page, and reads the bundle of charts. The bundle lies beside the library or the program that
 * contains it, or in share/kfe of the tree in which it was built or installed. Used by page.c.
 */
#define _GNU_SOURCE /* dladdr */
#include "report/page/pack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/memory.h"
#include "report/figure/markup.h"

enum { PATH_SIZE = 4096 };

/* ---- compression ---- */

static voidpf allocate_for_zlib(voidpf user, uInt count, uInt size)
{
    return kfe_i_alloc(user, (int64_t)count, size);
}

static void free_for_zlib(voidpf user, voidpf block)
{
    kfe_i_free(user, block);
}

kfe_status kfe_i_put_packed(kfe_context *ctx, const char *text, kfe_i_text *out)
{
    kfe_status status = KFE_OK;
    z_stream z = {.zalloc = allocate_for_zlib, .zfree = free_for_zlib, .opaque = ctx};
    unsigned char *packed = NULL;
    size_t length = strlen(text);

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return kfe_i_lack(ctx);
    uLong bound = deflateBound(&z, (uLong)length);
    if (length > 1u << 30)
        KFE_FAIL(ctx, KFE_ELIMIT, "the figures are too large for a page");
    KFE_ALLOC(ctx, packed, (int64_t)bound);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (uInt)length;
    z.next_out = packed;
    z.avail_out = (uInt)bound;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        KFE_FAIL(ctx, KFE_ENUMERIC, "the figures could not be compressed");
    kfe_i_put_base64(out, packed, (int64_t)z.total_out);
    status = out->status;
cleanup:
    deflateEnd(&z);
    kfe_i_free(ctx, packed);
    return status;
}

/* ---- charts ---- */

/* The folder of the library, with a slash at its end; of a program that contains it, the folder of the program. */
static void own_folder(char out[PATH_SIZE])
{
    Dl_info info;
    const char *path = NULL;

    if (dladdr((const void *)(uintptr_t)&kfe_i_put_charts, &info))
        path = info.dli_fname;
    if (path && strchr(path, '/')) {
        snprintf(out, PATH_SIZE, "%s", path);
    } else {
        ssize_t length = readlink("/proc/self/exe", out, PATH_SIZE - 1);
        out[length > 0 ? length : 0] = '\0';
    }
    char *slash = strrchr(out, '/');
    if (slash)
        slash[1] = '\0';
}

static FILE *open_charts(void)
{
    static const char *const places[] = {"", "share/kfe/", "../share/kfe/", "../../share/kfe/"};
    const char *given = getenv("KFE_CHARTS");
    char folder[PATH_SIZE];
    char path[PATH_SIZE + 64];
    FILE *file = NULL;

    if (given)
        return *given ? fopen(given, "rb") : NULL;
    own_folder(folder);
    for (size_t i = 0; !file && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%skfe-charts.js.gz", folder, places[i]);
        file = fopen(path, "rb");
    }
    return file;
}

kfe_status kfe_i_put_charts(kfe_context *ctx, kfe_i_text *out, int *found)
{
    enum { BUFFER = 3 << 14 }; /* a multiple of three: base64 is written in pieces */
    kfe_status status = KFE_OK;
    unsigned char *buffer = NULL;
    FILE *file = open_charts();
    size_t got;

    *found = 0;
    if (!file)
        return KFE_OK;
    KFE_ALLOC(ctx, buffer, BUFFER);
    while ((got = fread(buffer, 1, BUFFER, file)) > 0) {
        kfe_i_put_base64(out, buffer, (int64_t)got);
        *found = 1;
    }
    status = out->status;
cleanup:
    fclose(file);
    kfe_i_free(ctx, buffer);
    return status;
}
