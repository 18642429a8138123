/* SPDX-License-Identifier: Apache-2.0 */
/* The table of compressions, for data/read/source.c and data/write/sink.c. */
#include "data/packing/packing.h"

#include <string.h>

#include "core/text.h"

#define KFE_PACKING(identifier) extern const kfe_i_packing kfe_i_packing_##identifier;
#include "data/packing/packings.def"
#undef KFE_PACKING

const kfe_i_packing *kfe_i_packing_at(int index)
{
#define KFE_PACKING(identifier) &kfe_i_packing_##identifier,
    static const kfe_i_packing *const packings[] = {
#include "data/packing/packings.def"
    };
#undef KFE_PACKING
    return index >= 0 && index < (int)(sizeof packings / sizeof *packings) ? packings[index] : NULL;
}

const kfe_i_packing *kfe_i_packing_recognise(const unsigned char *bytes, int64_t count, int *unsure)
{
    const kfe_i_packing *packing;

    *unsure = 0;
    for (int k = 0; (packing = kfe_i_packing_at(k)) != NULL; k++) {
        int64_t common = count < packing->magic_length ? count : packing->magic_length;
        if (common > 0 && memcmp(bytes, packing->magic, (size_t)common) != 0)
            continue;
        if (common == packing->magic_length)
            return packing;
        *unsure = 1;
    }
    return NULL;
}

const kfe_i_packing *kfe_i_packing_of_path(const char *path, size_t *length)
{
    const char *dot = strrchr(path, '.');
    const kfe_i_packing *packing;

    *length = 0;
    for (int k = 0; dot && dot > path && (packing = kfe_i_packing_at(k)) != NULL; k++)
        if (kfe_i_is_word(dot + 1, dot + strlen(dot), packing->extension)) {
            *length = strlen(dot);
            return packing;
        }
    return NULL;
}
