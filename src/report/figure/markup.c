/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes for HTML, SVG and scripts, and base64; used by the writers of figures and pages. */
#include "report/figure/markup.h"

#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Length in bytes of the first `characters` characters; sets *is_cut if there are more. */
static size_t cut_length(const char *text, int characters, int *is_cut)
{
    size_t length = 0;

    for (; text[length]; length++)
        if (((unsigned char)text[length] & 0xC0) != 0x80 && characters-- == 0)
            break;
    *is_cut = text[length] != '\0';
    return length;
}

static void put_escaped(kfe_i_text *out, const char *text, size_t length)
{
    char *shown = kfe_i_alloc(out->ctx, (int64_t)length * KFE_ESCAPE_GROWTH + 1, 1);

    if (!shown) {
        out->status = kfe_i_lack(out->ctx);
        return;
    }
    size_t size = kfe_i_escape(text, length, "", shown);
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        const char *entity = entity_of(shown[i]);
        if (!entity)
            continue;
        kfe_i_text_add(out, shown + start, (int64_t)(i - start));
        kfe_i_text_puts(out, entity);
        start = i + 1;
    }
    kfe_i_text_add(out, shown + start, (int64_t)(size - start));
    kfe_i_free(out->ctx, shown);
}

void kfe_i_put_markup(kfe_i_text *out, const char *text)
{
    put_escaped(out, text, strlen(text));
}

void kfe_i_put_markup_cut(kfe_i_text *out, const char *text, int characters)
{
    int is_cut = 0;
    size_t length = cut_length(text, characters, &is_cut);

    put_escaped(out, text, length);
    if (is_cut)
        kfe_i_text_puts(out, "…");
}

void kfe_i_put_base64(kfe_i_text *out, const unsigned char *bytes, int64_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (int64_t i = 0; i < count; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16;
        char four[4];
        group |= i + 1 < count ? (unsigned)bytes[i + 1] << 8 : 0;
        group |= i + 2 < count ? (unsigned)bytes[i + 2] : 0;
        for (int k = 0; k < 4; k++)
            four[k] = digits[(group >> (18 - 6 * k)) & 63];
        if (i + 1 >= count)
            four[2] = '=';
        if (i + 2 >= count)
            four[3] = '=';
        kfe_i_text_add(out, four, 4);
    }
}
