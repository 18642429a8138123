/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses the data of a page, and reads the bundle of charts. The bundle lies beside the library or the program that
 * contains it, or in share/kfe of the tree in which it was built or installed. Used by page.c.
 */
#include "report/page/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/packing/packing.h"
#include "report/figure/markup.h"
#include "system/system.h"

/* Base64 is written in pieces of a multiple of three bytes. */
enum { BUFFER = 3 << 14 };

kfe_status kfe_i_put_packed(kfe_context *ctx, const char *text, kfe_i_text *out)
{
    kfe_status status = KFE_OK;
    kfe_i_codec_io io = {.in = (const unsigned char *)text, .in_size = (int64_t)strlen(text)};
    unsigned char *packed = NULL;
    void *packer = NULL;
    kfe_i_codec_result result = kfe_i_packing_gzip.begin(ctx, 1, &packer);

    KFE_ALLOC(ctx, packed, BUFFER);
    while (result == KFE_CODEC_GOES_ON) {
        io.out = packed;
        io.out_size = BUFFER;
        result = kfe_i_packing_gzip.run(packer, &io, KFE_CODEC_FINISH);
        kfe_i_put_base64(out, packed, BUFFER - io.out_size);
    }
    status = result == KFE_CODEC_ENDED ? out->status : kfe_i_lack(ctx);
cleanup:
    kfe_i_packing_gzip.end(packer);
    kfe_i_free(ctx, packed);
    return status;
}

/* ---- charts ---- */

static FILE *open_charts(void)
{
    static const char *const places[] = {"", "share/kfe/", "../share/kfe/", "../../share/kfe/"};
    const char *given = getenv("KFE_CHARTS");
    char folder[KFE_PATH_SIZE];
    char path[KFE_PATH_SIZE + 64];
    FILE *file = NULL;

    if (given)
        return *given ? kfe_i_fopen(given, "rb") : NULL;
    kfe_i_own_folder(folder);
    for (size_t i = 0; !file && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%skfe-charts.js.gz", folder, places[i]);
        file = kfe_i_fopen(path, "rb");
    }
    return file;
}

kfe_status kfe_i_put_charts(kfe_context *ctx, kfe_i_text *out, int *found)
{
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
