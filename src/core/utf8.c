/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that somebody else wrote (utf8.h): whether it is UTF-8, and its control characters as visible text. Messages, texts of results and the
 * command line pass names and cells through this, because a class called "ESC ]0;title BEL" or "CSI 2J" would otherwise be obeyed by the
 * terminal that shows it.
 */
#include "core/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kfe.h"

size_t kfe_i_utf8_decode(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = bytes[0];
    size_t size = first < 0x80           ? 1
                  : (first >> 5) == 0x06 ? 2
                  : (first >> 4) == 0x0E ? 3
                  : (first >> 3) == 0x1E ? 4
                                         : 0;

    if (size == 0 || size > length)
        return 0;
    *code = size == 1 ? first : first & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (bytes[i] & 0x3Fu);
    }
    if (*code < least[size] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000))
        return 0;
    return size;
}

size_t kfe_i_utf8_encode(uint32_t code, char out[4])
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t k = size - 1; k > 0; k--, code >>= 6)
        out[k] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[size] | code);
    return size;
}

int kfe_i_is_utf8(const char *text)
{
    uint32_t code = 0;
    size_t size;

    for (; *text; text += size) {
        size = kfe_i_utf8_decode(text, strnlen(text, 4), &code);
        if (size == 0)
            return 0;
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

/* ---- control characters ---- */

/* C0, DEL, C1, line and paragraph separators, and the marks that set the direction of writing. */
static int is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0x061C || code == 0x200E || code == 0x200F;
}

size_t kfe_i_control_beyond_ascii(const char *text, uint32_t *code)
{
    size_t size = kfe_i_utf8_decode(text, strnlen(text, 4), code);
    return size > 1 && is_control(*code) ? size : 0;
}

size_t kfe_i_escape(const char *text, size_t length, const char *kept, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = (const unsigned char *)text;
    size_t written = 0;

    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        size_t size = kfe_i_utf8_decode(text + i, length - i, &code);
        int stays = size > 0 && (!is_control(code) || (code > 0 && code < 0x80 && strchr(kept, (int)code)));
        size_t end = i + (size ? size : 1);
        for (; i < end; i++)
            if (stays)
                out[written++] = text[i];
            else {
                out[written++] = '\\';
                out[written++] = 'x';
                out[written++] = digits[bytes[i] >> 4];
                out[written++] = digits[bytes[i] & 15];
            }
    }
    return written;
}

size_t kfe_escape(const char *text, char *out, size_t size)
{
    size_t length = strlen(text);
    size_t needed = 0;
    size_t written = 0;

    for (size_t i = 0; i < length;) {
        char shown[KFE_ESCAPE_GROWTH * 4];
        uint32_t code = 0;
        size_t step = kfe_i_utf8_decode(text + i, length - i, &code);
        step = step ? step : 1;
        size_t added = kfe_i_escape(text + i, step, "", shown);
        if (written == needed && needed + added < size) {
            memcpy(out + written, shown, added);
            written += added;
        }
        needed += added;
        i += step;
    }
    if (size > 0)
        out[written] = '\0';
    return needed;
}

void kfe_i_escape_in_place(char *text, size_t size)
{
    char copy[4096];

    snprintf(copy, sizeof copy, "%s", text);
    kfe_escape(copy, text, size);
}
