/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARFF files (Weka), read and written.
 *
 *     @relation NAME
 *     @attribute NAME numeric | real | integer | string | date | {VALUE, 'A VALUE', …}
 *     @data
 *     1.5, 'A VALUE', ?
 *     {0 1.5, 3 VALUE}             the sparse form, with indices from 0 (arff_sparse.c)
 *
 * Dense rows become comma-separated text with the same line numbers and the attributes as its header, which the CSV reader reads: columns
 * are named, chosen and encoded as in any text table. A label whose attribute is nominal gives classes. Memory: the text and the table. Written
 * files have the target last, classes as a nominal attribute.
 */
#include "data/format/arff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "core/utf8.h"
#include "data/format/format.h"

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
                         "@attribute %.60s does not declare the value '%.60s'; correct it, or add it there",
                         attribute->name, arff->value.bytes);
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
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (kfe_i_begins_with(c, arff->lines.end, types[k].name)) {
            attribute->kind = types[k].kind;
            return KFE_OK;
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

/* Reads up to the line @data. */
static kfe_status read_header(kfe_i_arff *arff)
{
    kfe_status status = KFE_OK;
    const char *c = NULL;

    for (;;) {
        KFE_TRY(kfe_i_arff_next_line(arff, &c));
        if (!c)
            return kfe_i_arff_fail(arff, "the file ends before the line '@data'");
        if (kfe_i_begins_with(c, arff->lines.end, "@data"))
            break;
        if (kfe_i_begins_with(c, arff->lines.end, "@attribute"))
            KFE_TRY(take_attribute(arff, c + strlen("@attribute")));
        else if (!kfe_i_begins_with(c, arff->lines.end, "@relation"))
            return kfe_i_arff_fail(arff, "only '@relation' and '@attribute' lines may come before '@data'");
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
    KFE_TRY(kfe_i_format_read(&kfe_i_format_csv, &source, &own, out));
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

static kfe_status read_arff(kfe_i_source *source, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;
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
            return kfe_i_begins_with(c, stop, "@relation") || kfe_i_begins_with(c, stop, "@attribute");
        c = stop + 1;
    }
    return 0;
}

/* ---- writing ---- */

/* Text in quotes unless it is a plain word. */
static void put_text(kfe_i_sink *sink, const char *text, int64_t length)
{
    static const char special[] = " \t\r\n,{}'\"\\%";
    int plain = length > 0 && !(length == 1 && text[0] == '?') && text[0] != '@';

    for (int64_t i = 0; i < length && plain; i++)
        plain = !memchr(special, text[i], sizeof special - 1);
    if (plain) {
        kfe_i_sink_put(sink, text, length);
        return;
    }
    kfe_i_sink_put(sink, "'", 1);
    for (int64_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            kfe_i_sink_put(sink, "\\", 1);
        kfe_i_sink_put(sink, text[i] == '\n' || text[i] == '\r' ? " " : text + i, 1);
    }
    kfe_i_sink_put(sink, "'", 1);
}

static void put_number(kfe_i_sink *sink, double value)
{
    if (isnan(value))
        kfe_i_sink_put(sink, "?", 1);
    else
        kfe_i_sink_put_number(sink, value);
}

static void put_attribute(kfe_i_sink *sink, const char *name, const char *type)
{
    kfe_i_sink_puts(sink, "@attribute ");
    put_text(sink, name, (int64_t)strlen(name));
    kfe_i_sink_puts(sink, type);
}

static void put_columns(const kfe_i_written *what, kfe_i_sink *sink)
{
    int text = what->table.kind == KFE_TABLE_TEXT;
    char made_up[64];

    for (int64_t j = 0; j < what->table.cols; j++) {
        const char *name = what->column_names ? what->column_names[j] : NULL;
        snprintf(made_up, sizeof made_up, "%s%lld", what->name_prefix ? what->name_prefix : "x",
                 (long long)j + 1);
        name = name ? name : text ? "text" : made_up;
        put_attribute(sink, name, text ? " string\n" : " numeric\n");
    }
}

static void put_target_attributes(const kfe_i_written *what, kfe_i_sink *sink)
{
    const kfe_i_target *target = what->target;
    const char *label = what->target_name ? what->target_name : "label";
    char name[320];

    if (!target)
        return;
    if (target->task == KFE_TASK_CLASSES) {
        put_attribute(sink, label, " {");
        for (int64_t k = 0; k < target->class_count; k++) {
            kfe_i_sink_puts(sink, k > 0 ? "," : "");
            put_text(sink, target->names[k], (int64_t)strlen(target->names[k]));
        }
        kfe_i_sink_puts(sink, "}\n");
        return;
    }
    for (int64_t k = 0; k < target->cols; k++) {
        if (target->cols > 1)
            snprintf(name, sizeof name, "%.250s%lld", label, (long long)k + 1);
        put_attribute(sink, target->cols > 1 ? name : label, " numeric\n");
    }
}

static void put_id(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    int64_t begin = what->ids ? what->ids->row_start[i] : 0;

    if (!what->ids)
        return;
    put_text(sink, what->ids->bytes + begin, what->ids->row_start[i + 1] - begin);
    kfe_i_sink_put(sink, ",", 1);
}

static void put_target(const kfe_i_written *what, kfe_i_sink *sink, int64_t i, int64_t k)
{
    const kfe_i_target *target = what->target;

    if (target->task == KFE_TASK_CLASSES)
        put_text(sink, target->names[target->codes[i]], (int64_t)strlen(target->names[target->codes[i]]));
    else
        kfe_i_put_target_value(what, sink, target->values[i * target->cols + k]);
}

static int64_t target_count(const kfe_i_written *what)
{
    return !what->target ? 0 : what->target->task == KFE_TASK_CLASSES ? 1 : what->target->cols;
}

static void put_dense_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_table *table = &what->table;

    put_id(what, sink, i);
    if (table->kind == KFE_TABLE_TEXT) {
        put_text(sink, table->bytes + table->row_start[i], table->row_start[i + 1] - table->row_start[i]);
    } else {
        const double *row = kfe_i_written_dense(what, i);
        for (int64_t j = 0; j < table->cols; j++) {
            kfe_i_sink_puts(sink, j > 0 ? "," : "");
            put_number(sink, row[j]);
        }
    }
    for (int64_t k = 0; k < target_count(what); k++) {
        kfe_i_sink_puts(sink, table->cols > 0 || k > 0 ? "," : "");
        put_target(what, sink, i, k);
    }
}

/* "{index value, …}"; the label is always written, since a nominal one that is left out means the first class. */
static void put_sparse_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_table *table = &what->table;
    char index[32];
    const char *separator = "{";

    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++, separator = ", ") {
        snprintf(index, sizeof index, "%s%d ", separator, table->columns[p]);
        kfe_i_sink_puts(sink, index);
        put_number(sink, table->values[p]);
    }
    for (int64_t k = 0; k < target_count(what); k++, separator = ", ") {
        snprintf(index, sizeof index, "%s%lld ", separator, (long long)(table->cols + k));
        kfe_i_sink_puts(sink, index);
        put_target(what, sink, i, k);
    }
    kfe_i_sink_puts(sink, separator[0] == '{' ? "{}" : "}");
}

static kfe_status write_arff(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    int sparse = what->table.kind == KFE_TABLE_CSR;

    if (sparse && what->ids)
        return kfe_i_fail(what->ctx, KFE_EINVAL,
                          "%s: sparse ARFF files have no place for the names of the rows; write .npz",
                          what->path);
    kfe_i_sink_puts(sink, "@relation kfe\n\n");
    if (what->ids)
        put_attribute(sink, what->id_name, " string\n");
    put_columns(what, sink);
    put_target_attributes(what, sink);
    kfe_i_sink_puts(sink, "\n@data\n");
    for (int64_t i = 0; i < what->table.rows; i++) {
        if (sparse)
            put_sparse_row(what, sink, i);
        else
            put_dense_row(what, sink, i);
        kfe_i_sink_put(sink, "\n", 1);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

const kfe_i_format kfe_i_format_arff = {
    .name = "arff",
    .extensions = "arff",
    .recognise = recognise_arff,
    .read = read_arff,
    .has_text_columns = 1,
    .write = write_arff,
    .holds_strings = 1,
    .holds_sparse = 1,
    .holds_ids = 1,
};
