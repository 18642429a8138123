/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that grow, and failures with a formatted reason. Used by every file of this folder. */
#include "reproduce/src/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures and memory ---- */

kfe_status rep_fail(kfe_context *ctx, kfe_status status, const char *format, ...)
{
    char reason[1536];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return kfe_fail(ctx, status, reason);
}

kfe_status rep_out_of_memory(kfe_context *ctx)
{
    return kfe_fail(ctx, KFE_ENOMEM, "out of memory");
}

kfe_status rep_allocate(kfe_context *ctx, size_t count, size_t size, void **out)
{
    *out = calloc(count > 0 ? count : 1, size);
    return *out ? KFE_OK : rep_out_of_memory(ctx);
}

kfe_status rep_copy(kfe_context *ctx, const char *string, char **out)
{
    *out = strdup(string);
    return *out ? KFE_OK : rep_out_of_memory(ctx);
}

/* ---- strings ---- */

static int make_room(rep_text *text, size_t count)
{
    size_t needed = text->length + count + 1;
    size_t capacity = 2 * needed;

    if (text->failed || needed <= text->capacity)
        return !text->failed;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = 1;
        return 0;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return 1;
}

void rep_text_add(rep_text *text, const char *bytes, size_t count)
{
    if (!make_room(text, count))
        return;
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void rep_text_puts(rep_text *text, const char *string)
{
    rep_text_add(text, string, strlen(string));
}

void rep_text_printf(rep_text *text, const char *format, ...)
{
    va_list arguments;
    va_list again;

    va_start(arguments, format);
    va_copy(again, arguments);
    int count = vsnprintf(NULL, 0, format, arguments);
    if (count >= 0 && make_room(text, (size_t)count)) {
        vsnprintf(text->bytes + text->length, (size_t)count + 1, format, again);
        text->length += (size_t)count;
    }
    va_end(again);
    va_end(arguments);
}

void rep_text_number(rep_text *text, double value)
{
    enum { SURELY_EXACT = 17 };
    char number[40];

    for (int digits = 15; digits <= SURELY_EXACT; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        double back = strtod(number, NULL);
        if (!(back < value) && !(back > value))
            break;
    }
    rep_text_puts(text, number);
}

const char *rep_text_string(const rep_text *text)
{
    return text->bytes ? text->bytes : "";
}

kfe_status rep_text_check(kfe_context *ctx, const rep_text *text)
{
    return text->failed ? rep_out_of_memory(ctx) : KFE_OK;
}

kfe_status rep_text_take(kfe_context *ctx, rep_text *text, char **out)
{
    *out = NULL;
    rep_text_puts(text, "");
    if (text->failed) {
        rep_text_free(text);
        return rep_out_of_memory(ctx);
    }
    *out = text->bytes;
    *text = (rep_text){0};
    return KFE_OK;
}

void rep_text_free(rep_text *text)
{
    free(text->bytes);
    *text = (rep_text){0};
}

/* ---- words ---- */

int rep_word_index(const char *words, const char *word)
{
    size_t length = strlen(word);
    int index = 0;

    for (; words; index++) {
        const char *bar = strchr(words, '|');
        size_t size = bar ? (size_t)(bar - words) : strlen(words);
        if (size == length && memcmp(words, word, size) == 0)
            return index;
        words = bar ? bar + 1 : NULL;
    }
    return -1;
}
