/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of ARFF files (Weka), a row of read.c's table.
 *
 *     @relation NAME
 *     @attribute NAME numeric | real | integer | string | date | {VALUE, 'A VALUE', …}
 *     @data
 *     1.5, 'A VALUE', ?
 *     {0 1.5, 3 VALUE}             the sparse form, with indices from 0 (arff_sparse.c)
 *
 * Dense rows become comma-separated text with the same line numbers and the attributes as its header, which the CSV reader reads: columns
 * are named, chosen and encoded as in any text table. A label whose attribute is nominal gives classes. Memory: the text and the table.
 */
#include "data/read/arff.h"

#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/utf8.h"

/* ---- values ---- */

kfe_status kfe_i_arff_fail(const kfe_i_arff *arff, const char *reason)
{
    return kfe_i_fail_at(arff->ctx, KFE_EINPUT, arff->file, arff->lines.number, 0, "%s", reason);
}

const char *kfe_i_arff_skip_blanks(const kfe_i_arff *arff, const char *c)
{
    while (c < arff->lines.end && (*c == ' ' || *c == '\t'))
        c++;
    return c;
}

int kfe_i_arff_is_missing(const kfe_i_arff *arff)
{
    return !arff->quoted && arff->value.length == 1 && arff->value.bytes[0] == '?';
}

/* Scans up to the closing quote, which a backslash before it makes part of the text. */
static kfe_status scan_quoted(kfe_i_arff *arff, const char **c)
{
    char quote = *(*c)++;

    for (; *c < arff->lines.end && **c != quote; (*c)++) {
        if (**c == '\\' && *c + 1 < arff->lines.end) {
            (*c)++;
            kfe_i_text_add(&arff->value, **c == 'n' || **c == 'r' || **c == 't' ? " " : *c, 1);
        } else {
            kfe_i_text_add(&arff->value, *c, 1);
        }
    }
    if (*c == arff->lines.end)
        return kfe_i_arff_fail(arff,
                               "a quote opened in this line is never closed; close it, or write \\' inside");
    (*c)++;
    return KFE_OK;
}

static int ends_value(char c, const char *ends)
{
    return c == ',' || strchr(ends, c) != NULL;
}

static void scan_plain(kfe_i_arff *arff, const char **c, const char *ends)
{
    const char *begin = *c;
    const char *end;

    while (*c < arff->lines.end && !ends_value(**c, ends))
        (*c)++;
    for (end = *c; end > begin && (end[-1] == ' ' || end[-1] == '\t'); end--)
        ;
    kfe_i_text_add(&arff->value, begin, end - begin);
}

kfe_status kfe_i_arff_scan(kfe_i_arff *arff, const char **c, const char *ends)
{
    kfe_status status = KFE_OK;

    *c = kfe_i_arff_skip_blanks(arff, *c);
    arff->value.length = 0;
    kfe_i_text_puts(&arff->value, "");
    arff->quoted = *c < arff->lines.end && (**c == '\'' || **c == '"');
    if (arff->quoted)
        KFE_TRY(scan_quoted(arff, c));
    else
        scan_plain(arff, c, ends);
    KFE_TRY(arff->value.status);
    kfe_i_force_utf8(arff->value.bytes);
    arff->value.length = (int64_t)strlen(arff->value.bytes);
    *c = kfe_i_arff_skip_blanks(arff, *c);
cleanup:
    return status;
}

kfe_status kfe_i_arff_check_nominal(kfe_i_arff *arff, kfe_i_arff_attribute *attribute)
{
    int32_t number = 0;
    kfe_status status = kfe_i_intern_add(&attribute->values, arff->value.bytes, arff->value.length, &number);

    if (status != KFE_OK || number < attribute->declared)
        return status;
    return kfe_i_fail_at(arff->ctx, KFE_EINPUT, arff->file, arff->lines.number, 0,
                         "'%.60s' is no value that @attribute %.60s declares; correct it, or add it there",
                         arff->value.bytes, attribute->name);
}

kfe_status kfe_i_arff_next_line(kfe_i_arff *arff, const char **c)
{
    return kfe_i_lines_next_content(&arff->lines, '%', c);
}

/* ---- attributes ---- */

static kfe_status take_nominal_values(kfe_i_arff *arff, const char *c, kfe_i_arff_attribute *attribute)
{
    kfe_status status = KFE_OK;
    int32_t number = 0;

    attribute->kind = KFE_ARFF_NOMINAL;
    do {
        c++; /* the brace or the comma */
        KFE_TRY(kfe_i_arff_scan(arff, &c, "}"));
        KFE_TRY(kfe_i_intern_add(&attribute->values, arff->value.bytes, arff->value.length, &number));
    } while (c < arff->lines.end && *c == ',');
    if (c == arff->lines.end || *c != '}')
        return kfe_i_arff_fail(arff, "the values of a nominal attribute end in '}'");
    attribute->declared = attribute->values.count;
cleanup:
    return status;
}

static kfe_status take_type(kfe_i_arff *arff, const char *c, kfe_i_arff_attribute *attribute)
{
    static const struct {
        const char *name;
        int kind;
    } types[] = {{"numeric", KFE_ARFF_NUMERIC},
                 {"real", KFE_ARFF_NUMERIC},
                 {"integer", KFE_ARFF_NUMERIC},
                 {"string", KFE_ARFF_TEXT},
                 {"date", KFE_ARFF_TEXT}};

    if (c < arff->lines.end && *c == '{')
        return take_nominal_values(arff, c, attribute);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        size_t length = strlen(types[k].name);
        if ((size_t)(arff->lines.end - c) >= length && strncasecmp(c, types[k].name, length) == 0) {
            attribute->kind = types[k].kind;
            return KFE_OK;
        }
    }
    return kfe_i_arff_fail(
        arff,
        "the type of an attribute is numeric, real, integer, string, date or a list of values in braces; "
        "relational attributes are not read");
}

static kfe_status take_attribute(kfe_i_arff *arff, const char *c)
{
    kfe_status status = KFE_OK;
    kfe_i_arff_attribute *attribute;

    KFE_GROW(arff->ctx, arff->attributes, arff->capacity, arff->count + 1);
    attribute = &arff->attributes[arff->count];
    memset(attribute, 0, sizeof *attribute);
    kfe_i_intern_init(&attribute->values, arff->ctx);
    arff->count++;
    KFE_TRY(kfe_i_arff_scan(arff, &c, " \t{"));
    KFE_STRDUP(arff->ctx, attribute->name, arff->value.bytes);
    KFE_TRY(take_type(arff, c, attribute));
cleanup:
    return status;
}

static int is_keyword(const kfe_i_arff *arff, const char *c, const char *keyword)
{
    size_t length = strlen(keyword);

    return (size_t)(arff->lines.end - c) >= length && strncasecmp(c, keyword, length) == 0;
}

/* Reads up to the line @data. */
static kfe_status read_header(kfe_i_arff *arff)
{
    kfe_status status = KFE_OK;
    const char *c = NULL;

    for (;;) {
        KFE_TRY(kfe_i_arff_next_line(arff, &c));
        if (!c)
            return kfe_i_arff_fail(arff, "the file ends before the line '@data'");
        if (is_keyword(arff, c, "@data"))
            break;
        if (is_keyword(arff, c, "@attribute"))
            KFE_TRY(take_attribute(arff, c + strlen("@attribute")));
        else if (!is_keyword(arff, c, "@relation"))
            return kfe_i_arff_fail(arff, "before '@data' come lines '@relation' and '@attribute' only");
    }
    if (arff->count == 0)
        status = kfe_i_arff_fail(arff, "no '@attribute' comes before '@data'");
cleanup:
    return status;
}

/* ---- dense rows as text ---- */

static int needs_quotes(const char *text, int64_t length)
{
    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ' || strpbrk(text, ",\""))
        return 1;
    return kfe_i_is_missing_text(text, text + length);
}

static void put_field(kfe_i_text *out, const char *text, int64_t length)
{
    if (!needs_quotes(text, length)) {
        kfe_i_text_add(out, text, length);
        return;
    }
    kfe_i_text_add(out, "\"", 1);
    for (int64_t i = 0; i < length; i++)
        kfe_i_text_add(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    kfe_i_text_add(out, "\"", 1);
}

/* The header stands in the line of '@data', after blank lines. */
static void put_names(const kfe_i_arff *arff, int64_t data_line, kfe_i_text *out)
{
    for (int64_t k = 1; k < data_line; k++)
        kfe_i_text_add(out, "\n", 1);
    for (int64_t j = 0; j < arff->count; j++) {
        if (j > 0)
            kfe_i_text_add(out, ",", 1);
        put_field(out, arff->attributes[j].name, (int64_t)strlen(arff->attributes[j].name));
    }
}

static kfe_status put_row(kfe_i_arff *arff, const char *c, kfe_i_text *out)
{
    kfe_status status = KFE_OK;

    for (int64_t j = 0;; j++) {
        if (j == arff->count)
            return kfe_i_fail_at(arff->ctx, KFE_EINPUT, arff->file, arff->lines.number, 0,
                                 "more values than the %lld attributes; instance weights are not read",
                                 (long long)arff->count);
        KFE_TRY(kfe_i_arff_scan(arff, &c, ""));
        if (kfe_i_arff_is_missing(arff)) {
            kfe_i_text_add(out, "?", 1);
        } else {
            if (arff->attributes[j].kind == KFE_ARFF_NOMINAL)
                KFE_TRY(kfe_i_arff_check_nominal(arff, &arff->attributes[j]));
            put_field(out, arff->value.bytes, arff->value.length);
        }
        if (c == arff->lines.end)
            break;
        if (*c++ != ',')
            return kfe_i_arff_fail(arff, "a comma is expected after a value in quotes");
        kfe_i_text_add(out, ",", 1);
    }
cleanup:
    return status;
}

static kfe_status put_rows(kfe_i_arff *arff, const char *first, kfe_i_text *out)
{
    kfe_status status = KFE_OK;

    for (const char *c = first; c;) {
        int64_t line = arff->lines.number;
        KFE_TRY(put_row(arff, c, out));
        KFE_TRY(kfe_i_arff_next_line(arff, &c));
        for (int64_t k = line; c && k < arff->lines.number; k++)
            kfe_i_text_add(out, "\n", 1);
        KFE_TRY(out->status);
    }
    kfe_i_text_add(out, "\n", 1);
    status = out->status;
cleanup:
    return status;
}

static kfe_status read_text(const kfe_i_arff *arff, const kfe_i_text *text, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_read_settings own = *arff->settings;
    kfe_i_source source;

    own.header = KFE_HEADER_YES;
    memcpy(own.delimiter, "comma", sizeof "comma");
    KFE_TRY(kfe_i_source_open_memory(arff->ctx, arff->file, text->bytes, text->length, &source));
    KFE_TRY(kfe_i_csv_reader.read(arff->ctx, &source, &own, out));
    if (out->labels.present && out->labels.column >= 1 && out->labels.column <= arff->count)
        out->labels.nominal = arff->attributes[out->labels.column - 1].kind == KFE_ARFF_NOMINAL;
cleanup:
    kfe_i_source_close(&source);
    return status;
}

static kfe_status read_dense(kfe_i_arff *arff, int64_t data_line, const char *first, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;

    kfe_i_text_init(&text, arff->ctx);
    put_names(arff, data_line, &text);
    for (int64_t k = data_line; k < arff->lines.number; k++)
        kfe_i_text_add(&text, "\n", 1);
    KFE_TRY(put_rows(arff, first, &text));
    KFE_TRY(read_text(arff, &text, out));
cleanup:
    kfe_i_text_free(&text);
    return status;
}

/* ---- the reader ---- */

static void close_arff(kfe_i_arff *arff)
{
    for (int64_t j = 0; j < arff->count; j++) {
        kfe_i_free(arff->ctx, arff->attributes[j].name);
        kfe_i_intern_free(&arff->attributes[j].values);
    }
    kfe_i_free(arff->ctx, arff->attributes);
    kfe_i_text_free(&arff->value);
    kfe_i_lines_close(&arff->lines);
}

static kfe_status read_arff(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                            kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arff arff = {.ctx = ctx, .file = source->name, .settings = settings};
    const char *first = NULL;
    int64_t data_line;

    kfe_i_text_init(&arff.value, ctx);
    KFE_TRY(kfe_i_lines_open(source, &arff.lines));
    KFE_TRY(read_header(&arff));
    data_line = arff.lines.number;
    KFE_TRY(kfe_i_arff_next_line(&arff, &first));
    if (!first)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: no row follows '@data'; it needs at least one", source->name);
    KFE_TRY(*first == '{' ? kfe_i_arff_read_sparse(&arff, first, out)
                          : read_dense(&arff, data_line, first, out));
cleanup:
    close_arff(&arff);
    return status;
}

/* The first line that is neither blank nor a comment begins with @relation or @attribute. */
static int recognise_arff(const char *head, int64_t length)
{
    const char *end = head + length;

    for (const char *c = head; c < end;) {
        const char *stop = memchr(c, '\n', (size_t)(end - c));
        stop = stop ? stop : end;
        while (c < stop && (*c == ' ' || *c == '\t' || *c == '\r'))
            c++;
        if (c < stop && *c != '%')
            return (stop - c >= 9 && strncasecmp(c, "@relation", 9) == 0) ||
                   (stop - c >= 10 && strncasecmp(c, "@attribute", 10) == 0);
        c = stop + 1;
    }
    return 0;
}

const kfe_i_reader kfe_i_arff_reader = {
    .name = "arff",
    .extensions = "arff",
    .recognise = recognise_arff,
    .read = read_arff,
    .has_text_columns = 1,
};
