/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, line wrapping and spelling suggestions for the command line. */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kfe.h"

enum { SCREEN_WIDTH = 80 };

void *cli_resize(void *block, size_t count, size_t size)
{
    void *grown = count > SIZE_MAX / size ? NULL : realloc(block, count * size + 1);

    if (!grown) {
        fputs("kfe: out of memory\n", stderr);
        exit(1);
    }
    return grown;
}

static void add_bytes(cli_text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->capacity) {
        text->capacity = 2 * (text->length + length + 1);
        text->bytes = cli_resize(text->bytes, text->capacity, 1);
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void cli_text_add(cli_text *text, const char *string)
{
    add_bytes(text, string, strlen(string));
}

void cli_text_printf(cli_text *text, const char *format, ...)
{
    va_list arguments;
    va_list again;

    va_start(arguments, format);
    va_copy(again, arguments);
    size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
    char *formatted = cli_resize(NULL, length + 1, 1);
    vsnprintf(formatted, length + 1, format, again);
    add_bytes(text, formatted, length);
    free(formatted);
    va_end(again);
    va_end(arguments);
}

void cli_text_option(cli_text *text, const char *key, const char *value)
{
    cli_text_printf(text, "%s%s=", text->length ? "," : "", key);
    for (const char *c = value; *c; c++) {
        if (*c == ',' || *c == '\\')
            add_bytes(text, "\\", 1);
        add_bytes(text, c, 1);
    }
}

const char *cli_text_string(const cli_text *text)
{
    return text->bytes ? text->bytes : "";
}

const char *cli_shown(const char *text)
{
    enum { RING = 4 };
    static cli_text ring[RING];
    static unsigned next;
    cli_text *shown = &ring[next++ % RING];
    size_t size = kfe_escape(text, NULL, 0) + 1;

    if (size > shown->capacity)
        shown->bytes = cli_resize(shown->bytes, shown->capacity = 2 * size, 1);
    kfe_escape(text, shown->bytes, size);
    return shown->bytes;
}

/* Characters on the screen, not bytes: UTF-8 continuation bytes take no room. */
static int screen_width(const char *bytes, size_t length)
{
    int width = 0;

    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return width;
}

void cli_print_wrapped(FILE *out, const char *text, int indent, int column)
{
    int fresh = 1;

    while (*text) {
        size_t length = strcspn(text, " \n");
        int width = screen_width(text, length);
        if (!fresh && column + 1 + width > SCREEN_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = 1;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", (int)length, text);
        column += width + !fresh;
        fresh = 0;
        text += length;
        if (*text == '\n') {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = 1;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

void cli_suggest(cli_suggestion *suggestion, const char *word, const char *candidate)
{
    int typos = kfe_count_typos(word, candidate);

    if (typos >= 0 && (!suggestion->best || typos < suggestion->typos)) {
        suggestion->best = candidate;
        suggestion->typos = typos;
    }
}

/* Whether two names are equal but for _ and -. */
static int is_same_name(const char *typed, const char *name)
{
    while (*typed && (*typed == *name || (*typed == '_' && *name == '-'))) {
        typed++;
        name++;
    }
    return *typed == *name;
}

const char *cli_own_name(const char *name)
{
    static const struct {
        const char *other, *own;
    } names[] = {
        {"n-components", "dim"},      {"random-state", "seed"},
        {"n-jobs", "threads"},        {"n-threads", "threads"},
        {"scoring", "metrics"},       {"metric", "metrics"},
        {"n-neighbors", "neighbors"}, {"input", "content"},
        {"n-splits", "folds"},        {"cv", "folds"},
        {"target", "label"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_same_name(name, names[i].other))
            return names[i].own;
    return name;
}
