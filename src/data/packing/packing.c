/* SPDX-License-Identifier: Apache-2.0 */
/* The table of compressions, for data/read/source.c and data/write/sink.c. */
#include "data/packing/packing.h"

#include <string.h>
#include <strings.h>

#ifdef KFE_HAS_XZ
#define XZ_CODEC &kfe_i_xz_codec
#else
#define XZ_CODEC NULL
#endif
#ifdef KFE_HAS_ZSTD
#define ZSTD_CODEC &kfe_i_zstd_codec
#else
#define ZSTD_CODEC NULL
#endif

static const kfe_i_packing_info packings[] = {
    [KFE_PACKING_GZIP] = {"gzip", "gz", "\x1f\x8b", 2, "gunzip", NULL, NULL},
    [KFE_PACKING_XZ] = {"xz", "xz", "\xfd\x37\x7a\x58\x5a\x00", 6, "unxz", "liblzma-dev", XZ_CODEC},
    [KFE_PACKING_ZSTD] = {"Zstandard", "zst", "\x28\xb5\x2f\xfd", 4, "unzstd", "libzstd-dev", ZSTD_CODEC},
};
enum { FIRST = KFE_PACKING_GZIP, LAST = KFE_PACKING_ZSTD };

const kfe_i_packing_info *kfe_i_packing_find(kfe_i_packing packing)
{
    return &packings[packing];
}

int kfe_i_packing_is_available(kfe_i_packing packing)
{
    return packing == KFE_PACKING_NONE || packing == KFE_PACKING_GZIP || packings[packing].codec != NULL;
}

kfe_i_packing kfe_i_packing_recognise(const unsigned char *bytes, int64_t count, int *unsure)
{
    *unsure = 0;
    for (int k = FIRST; k <= LAST; k++) {
        int64_t length = packings[k].magic_length;
        int64_t common = count < length ? count : length;
        if (common > 0 && memcmp(bytes, packings[k].magic, (size_t)common) != 0)
            continue;
        if (common == length)
            return (kfe_i_packing)k;
        *unsure = 1;
    }
    return KFE_PACKING_NONE;
}

kfe_i_packing kfe_i_packing_of_path(const char *path, size_t *length)
{
    const char *dot = strrchr(path, '.');

    *length = 0;
    for (int k = FIRST; dot && dot > path && k <= LAST; k++)
        if (strcasecmp(dot + 1, packings[k].extension) == 0) {
            *length = strlen(dot);
            return (kfe_i_packing)k;
        }
    return KFE_PACKING_NONE;
}
