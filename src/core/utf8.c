/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and repairs UTF-8. */
#include "core/utf8.h"

#include <stddef.h>
#include <stdint.h>

/* The number of bytes that follow this first byte; -1 if no character starts with it. */
static int followers(unsigned char first)
{
    if (first < 0x80)
        return 0;
    if (first < 0xC2 || first > 0xF4)
        return -1;
    return first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
}

/* Overlong forms, surrogates and characters beyond U+10FFFF are not UTF-8. */
static int is_forbidden(uint32_t character, int count)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};

    return character < smallest[count] || (character >= 0xD800 && character <= 0xDFFF) ||
           character > 0x10FFFF;
}

int kfe_i_is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    while (*c) {
        int count = followers(*c);
        if (count < 0)
            return 0;
        uint32_t character = count == 0 ? *c : *c & (0x3Fu >> count);
        for (int i = 1; i <= count; i++) {
            if ((c[i] & 0xC0) != 0x80)
                return 0;
            character = character << 6 | (c[i] & 0x3Fu);
        }
        if (is_forbidden(character, count))
            return 0;
        c += count + 1;
    }
    return 1;
}

void kfe_i_force_utf8(char *text)
{
    if (kfe_i_is_utf8(text))
        return;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
}
