/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FASTA files, read and written: one string per record, for kernels on strings.
 *
 *     >NAME description
 *     SEQUENCE, over any number of lines
 *
 * Lines that begin with ';' are comments. Blanks inside a sequence are skipped; letters stay as they are, upper or lower case. The label
 * comes from a regular expression on the header line ({label-pattern}), from "KEY=VALUE" in it ({label=KEY}) or from a file of its own.
 * {id=name} names the rows by the first word of the header, {id=header} by all of it. Written headers are ">NAME [label=CLASS]".
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "core/utf8.h"
#include "data/format/format.h"
#include "data/read/block.h"
#include "data/table/text_rows.h"
#include "system/system.h"

typedef struct fasta {
    kfe_context *ctx;
    const char *file;
    const kfe_i_read_settings *settings;
    kfe_i_lines lines;
    kfe_i_pattern *pattern; /* NULL: labels come from elsewhere */
    int64_t header;         /* line of the current record's header; 0: none yet */
    kfe_i_text title;       /* that header, without '>' */
    kfe_i_text_rows sequences, ids;
    kfe_i_labels *labels;
} fasta;

/* ---- labels ---- */

static kfe_status compile_pattern(fasta *reader)
{
    const char *text = reader->settings->label_pattern;
    char reason[128];

    if (!text[0])
        return KFE_OK;
    reader->pattern = kfe_i_pattern_new(text, reason, sizeof reason);
    return reader->pattern ? KFE_OK
                           : kfe_i_fail(reader->ctx, KFE_EINVAL,
                                        "{label-pattern=%s} is not a regular expression: %s", text, reason);
}

static int64_t header_line(void *user, const char *place)
{
    (void)place;
    return ((const fasta *)user)->header;
}

static kfe_status add_label(fasta *reader, const char *begin, int64_t length)
{
    return kfe_i_labels_add(reader->labels, begin, length, header_line, reader, begin);
}

static kfe_status no_label(fasta *reader, const char *what)
{
    if (reader->settings->missing == KFE_MISSING_DROP)
        return kfe_i_labels_add_missing(reader->labels);
    return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->header, 0,
                         "the header '%.100s' has no label: %s '%.100s'; correct it, or use {missing=drop}",
                         reader->title.bytes, what,
                         reader->pattern ? reader->settings->label_pattern : reader->settings->label);
}

static kfe_status label_by_pattern(fasta *reader)
{
    const char *title = reader->title.bytes;
    int64_t begin = 0;
    int64_t end = 0;

    if (!kfe_i_pattern_find(reader->pattern, title, &begin, &end))
        return no_label(reader, "it does not match");
    if (begin == end)
        return no_label(reader, "nothing is in the parentheses of");
    return add_label(reader, title + begin, end - begin);
}

static int ends_word(char c)
{
    return c == '\0' || c == ' ' || c == '\t' || c == '|' || c == ';' || c == ',';
}

/* "KEY=VALUE" as a word of its own, or "[KEY=VALUE]", whose value may have blanks. */
static kfe_status label_by_key(fasta *reader)
{
    const char *key = reader->settings->label;
    const char *title = reader->title.bytes;
    size_t length = strlen(key);

    for (const char *c = strstr(title, key); c; c = strstr(c + 1, key)) {
        int bracket = c > title && c[-1] == '[';
        const char *begin = c + length + 1;
        const char *end = begin;
        if (c[length] != '=' || !(c == title || bracket || ends_word(c[-1])))
            continue;
        while (bracket ? *end && *end != ']' : !ends_word(*end))
            end++;
        return end > begin ? add_label(reader, begin, end - begin) : no_label(reader, "no value follows");
    }
    return no_label(reader, "there is no value for");
}

/* Whether labels come from the headers. */
static int takes_labels(const kfe_i_read_settings *settings)
{
    return settings->label_pattern[0] || kfe_i_word_index("auto|none|first|last", settings->label) < 0;
}

/* ---- records ---- */

static kfe_status end_record(fasta *reader)
{
    kfe_status status = KFE_OK;
    const kfe_i_text_rows *list = &reader->sequences;
    int64_t begin = list->count > 0 ? list->starts[list->count] : 0;

    if (reader->header == 0)
        return KFE_OK;
    if (list->bytes.status == KFE_OK && list->bytes.length == begin)
        return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->header, 0,
                             "the record '%.100s' has no sequence; remove it, or copy the file again",
                             reader->title.bytes);
    KFE_TRY(kfe_i_text_rows_end(&reader->sequences));
cleanup:
    return status;
}

static void add_id(fasta *reader)
{
    const char *title = reader->title.bytes;
    size_t length = strcmp(reader->settings->id, "header") == 0 ? strlen(title) : strcspn(title, " \t");

    kfe_i_text_add(&reader->ids.bytes, title, (int64_t)length);
}

static int takes_names(const kfe_i_read_settings *settings)
{
    return kfe_i_word_index("name|header", settings->id) >= 0;
}

static kfe_status begin_record(fasta *reader)
{
    kfe_status status = KFE_OK;
    const char *begin = reader->lines.begin + 1;

    KFE_TRY(end_record(reader));
    while (begin < reader->lines.end && (*begin == ' ' || *begin == '\t'))
        begin++;
    reader->header = reader->lines.number;
    reader->title.length = 0;
    kfe_i_text_add(&reader->title, begin, reader->lines.end - begin);
    if (reader->title.length == 0)
        kfe_i_text_puts(&reader->title, "");
    KFE_TRY(reader->title.status);
    kfe_i_force_utf8(reader->title.bytes);
    if (takes_names(reader->settings)) {
        add_id(reader);
        KFE_TRY(kfe_i_text_rows_end(&reader->ids));
    }
    if (reader->pattern)
        KFE_TRY(label_by_pattern(reader));
    else if (takes_labels(reader->settings))
        KFE_TRY(label_by_key(reader));
cleanup:
    return status;
}

static int is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '-' || c == '.';
}

static kfe_status take_sequence(fasta *reader)
{
    const char *c = reader->lines.begin;
    const char *end = reader->lines.end;

    while (c < end) {
        const char *begin = c;
        while (c < end && is_letter(*c))
            c++;
        if (c > begin && reader->header == 0)
            return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->lines.number, 0,
                                 "a FASTA file begins with a line '>NAME'");
        kfe_i_text_add(&reader->sequences.bytes, begin, c - begin);
        if (c < end && *c != ' ' && *c != '\t')
            return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->file, reader->lines.number,
                                 c - reader->lines.begin + 1,
                                 "a sequence consists of letters, '*', '-' and '.', not of '%c'",
                                 *c >= ' ' && *c < 127 ? *c : '?');
        c += c < end;
    }
    return reader->sequences.bytes.status;
}

static kfe_status read_records(fasta *reader)
{
    kfe_status status = KFE_OK;
    int found = 0;

    for (;;) {
        KFE_TRY(kfe_i_lines_next(&reader->lines, &found));
        if (!found)
            break;
        if (reader->lines.begin == reader->lines.end || *reader->lines.begin == ';')
            continue;
        KFE_TRY(*reader->lines.begin == '>' ? begin_record(reader) : take_sequence(reader));
    }
    KFE_TRY(end_record(reader));
cleanup:
    return status;
}

/* ---- the reader ---- */

static kfe_status check_settings(const fasta *reader)
{
    const kfe_i_read_settings *settings = reader->settings;

    if (settings->content == KFE_CONTENT_LABELS)
        return kfe_i_fail(reader->ctx, KFE_EINPUT, "%s: a label file is a text table of one column",
                          reader->file);
    if (settings->drop[0] || settings->select[0] ||
        (!settings->is_one_of_several && (settings->groups[0] || settings->weight[0])))
        return kfe_i_fail(
            reader->ctx, KFE_EINVAL,
            "%s: {drop}, {select}, {groups} and {weight} are for tables; a FASTA file has no columns",
            reader->file);
    if (settings->id[0] && !settings->is_one_of_several && !takes_names(settings))
        return kfe_i_fail(
            reader->ctx, KFE_EINVAL,
            "%s: {id} of a FASTA file is 'name', the first word of the header, or 'header', all of it",
            reader->file);
    if (kfe_i_word_index("first|last", settings->label) >= 0)
        return kfe_i_fail(reader->ctx, KFE_EINVAL,
                          "%s: labels of a FASTA file are taken from its headers by {label-pattern}, or by "
                          "{label=KEY} from 'KEY=VALUE'; or give {label-file}",
                          reader->file);
    return KFE_OK;
}

static kfe_status take_result(fasta *reader, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_text_rows_take(&reader->sequences, &out->table));
    if (takes_names(reader->settings)) {
        KFE_STRDUP(reader->ctx, out->id_name, reader->settings->id);
        KFE_TRY(kfe_i_text_rows_take(&reader->ids, &out->ids));
    }
    out->labels.present = takes_labels(reader->settings);
    out->has_missing = out->labels.present && kfe_i_labels_find_missing(&out->labels) >= 0;
    if (out->labels.present && !reader->pattern)
        KFE_STRDUP(reader->ctx, out->labels.name, reader->settings->label);
cleanup:
    return status;
}

static kfe_status read_fasta(kfe_i_source *source, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;
    fasta reader = {.ctx = ctx, .file = source->name, .settings = settings, .labels = &out->labels};

    kfe_i_text_init(&reader.title, ctx);
    kfe_i_text_rows_init(&reader.sequences, ctx);
    kfe_i_text_rows_init(&reader.ids, ctx);
    KFE_TRY(kfe_i_lines_open(source, &reader.lines));
    KFE_TRY(check_settings(&reader));
    KFE_TRY(compile_pattern(&reader));
    KFE_TRY(read_records(&reader));
    if (reader.sequences.count == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: no record; a FASTA file has lines '>NAME', each before its sequence",
                 source->name);
    KFE_TRY(take_result(&reader, out));
cleanup:
    kfe_i_pattern_free(reader.pattern);
    kfe_i_text_free(&reader.title);
    kfe_i_text_rows_free(&reader.sequences);
    kfe_i_text_rows_free(&reader.ids);
    kfe_i_lines_close(&reader.lines);
    return status;
}

/* A line '>…' and after it a line of letters. */
static int recognise_fasta(const char *head, int64_t length)
{
    const char *end = head + length;
    const char *c;

    if (length == 0 || *head != '>')
        return 0;
    c = memchr(head, '\n', (size_t)length);
    if (!c || ++c == end || !is_letter(*c))
        return 0;
    while (c < end && (is_letter(*c) || *c == ' '))
        c++;
    return c == end || *c == '\n' || *c == '\r';
}

/* ---- writing ---- */

enum { LINE = 60 };

static void put_header(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_target *target = what->target;
    char name[32];

    kfe_i_sink_put(sink, ">", 1);
    if (what->ids) {
        int64_t begin = what->ids->row_start[i];
        kfe_i_sink_put(sink, what->ids->bytes + begin, what->ids->row_start[i + 1] - begin);
    } else {
        snprintf(name, sizeof name, "%lld", (long long)i + 1);
        kfe_i_sink_puts(sink, name);
    }
    if (target) {
        kfe_i_sink_puts(sink, " [");
        kfe_i_sink_puts(sink, what->target_name ? what->target_name : "label");
        kfe_i_sink_put(sink, "=", 1);
        if (target->task == KFE_TASK_CLASSES)
            kfe_i_sink_puts(sink, target->names[target->codes[i]]);
        else
            kfe_i_put_target_value(what, sink, target->values[i * target->cols]);
        kfe_i_sink_put(sink, "]", 1);
    }
    kfe_i_sink_put(sink, "\n", 1);
}

/* Fails if the string would not be read back as it is. */
static kfe_status check_sequence(const kfe_i_written *what, int64_t i)
{
    const kfe_i_table *table = &what->table;
    int64_t length = table->row_start[i + 1] - table->row_start[i];
    const char *text = table->bytes + table->row_start[i];

    for (int64_t p = 0; p < length; p++)
        if (!((text[p] >= 'A' && text[p] <= 'Z') || (text[p] >= 'a' && text[p] <= 'z') ||
              (text[p] && strchr("*-.", text[p]))))
            return kfe_i_fail(
                what->ctx, KFE_EINVAL,
                "%s: row %lld has a character that no sequence of a FASTA file may have; write .csv",
                what->path, (long long)i + 1);
    if (length == 0)
        return kfe_i_fail(what->ctx, KFE_EINVAL, "%s: the string of row %lld is empty; write .csv",
                          what->path, (long long)i + 1);
    return KFE_OK;
}

/* A class stands in brackets, so that its name may have blanks but no closing bracket. */
static kfe_status check_classes(const kfe_i_written *what)
{
    for (int64_t k = 0; what->target && k < what->target->class_count; k++)
        if (!what->target->names[k][0] || strpbrk(what->target->names[k], "]\r\n"))
            return kfe_i_fail(
                what->ctx, KFE_EINVAL,
                "%s: the label '%s' does not fit into a FASTA header; write .csv, or rename the "
                "class",
                what->path, what->target->names[k]);
    return KFE_OK;
}

static kfe_status write_fasta(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &what->table;

    if (table->kind != KFE_TABLE_TEXT)
        return kfe_i_fail(what->ctx, KFE_EINVAL,
                          "%s: FASTA files hold strings; write numbers as .csv or .npz", what->path);
    KFE_TRY(check_classes(what));
    for (int64_t i = 0; i < table->rows; i++) {
        KFE_TRY(check_sequence(what, i));
        put_header(what, sink, i);
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p += LINE) {
            int64_t left = table->row_start[i + 1] - p;
            kfe_i_sink_put(sink, table->bytes + p, left < LINE ? left : LINE);
            kfe_i_sink_put(sink, "\n", 1);
        }
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

const kfe_i_format kfe_i_format_fasta = {
    .name = "fasta",
    .extensions = "fasta|fa|fna|faa|ffn|fas",
    .recognise = recognise_fasta,
    .read = read_fasta,
    .has_headers = 1,
    .write = write_fasta,
    .holds_strings = 1,
    .holds_ids = 1,
};
