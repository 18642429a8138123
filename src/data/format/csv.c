/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delimited text (RFC 4180 and its common variants), read whole or in parts, and written. The file passes through a buffer of a few megabytes. Threads share the records in the buffer and parse them
 * directly into the growing table. Memory: the table and the buffer. The result does not depend on the number of
 * threads.
 */
#include "data/format/csv.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/format/format.h"

/* Checks the number of columns for the content that is expected; rows of another length are refused later. */
static kfe_status check_shape(kfe_i_csv *csv)
{
    int64_t numbers = csv->cols;
    const char *file = csv->block.source->name;

    if (csv->settings->content == KFE_CONTENT_LABELS && csv->dialect.fields != 1)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             "a label file has one column, but this one has %lld",
                             (long long)csv->dialect.fields);
    if (csv->settings->content == KFE_CONTENT_LABELS)
        return KFE_OK;
    if (csv->settings->content == KFE_CONTENT_STRINGS && numbers != 1)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             csv->settings->expected
                                 ? "the model takes strings, one column besides the label, but this file has "
                                   "%lld; give the strings, or check {label} and {delimiter}"
                                 : "strings need one column besides the label, but this file has %lld; "
                                   "check {label} and {delimiter}, or, for columns of numbers, use a "
                                   "kernel on numbers, such as {kernel=rbf}",
                             (long long)numbers);
    if (numbers == 0)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             "the only column is the label, which leaves no features; use {label=none}, or "
                             "check {delimiter}");
    if (csv->settings->content == KFE_CONTENT_STRINGS)
        csv->cols = 0;
    return KFE_OK;
}

static kfe_status take_block(void *reader, int64_t *used)
{
    kfe_i_csv *csv = reader;
    kfe_status status = kfe_i_csv_parse_block(csv, used);

    if (status == KFE_OK && *used == 0 && csv->block.finished && csv->block.length > 0)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, csv->block.line, 0,
                             "a quote opened in this row is never closed; close it, or double it if it "
                             "is part of the text");
    return status;
}

/* Frees the part of the table that the estimate of the number of rows made too large. */
static void shrink_values(kfe_i_csv *csv)
{
    double *fitting = kfe_i_resize(csv->ctx, csv->values, csv->rows * csv->cols, sizeof *fitting);

    csv->values = fitting ? fitting : csv->values;
}

/* Copies the names of the columns and of the label from the header. */
static kfe_status copy_names(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    if (!csv->dialect.names)
        return KFE_OK;
    KFE_ALLOC_ZERO(csv->ctx, out->column_names, out->table.cols);
    for (int64_t j = 0; j < csv->dialect.fields; j++) {
        const char *name = csv->dialect.names[j];
        if (j == csv->dialect.picks.label)
            KFE_STRDUP(csv->ctx, out->labels.name, name);
        if (j == csv->dialect.picks.id)
            KFE_STRDUP(csv->ctx, out->id_name, name);
        if (csv->dialect.place[j] >= 0 && csv->dialect.place[j] < out->table.cols)
            KFE_STRDUP(csv->ctx, out->column_names[csv->dialect.place[j]], name);
    }
cleanup:
    return status;
}

/* Where the columns stood in the file. */
static kfe_status take_fields(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    if (out->table.kind != KFE_TABLE_DENSE)
        return KFE_OK;
    KFE_ALLOC(csv->ctx, out->fields, out->table.cols);
    for (int64_t j = 0; j < csv->dialect.fields; j++)
        if (csv->dialect.place[j] >= 0 && csv->dialect.place[j] < out->table.cols)
            out->fields[csv->dialect.place[j]] = j;
    out->field_count = csv->dialect.fields;
cleanup:
    return status;
}

static kfe_status take_result(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &out->table;

    out->has_missing = csv->has_missing;
    table->ctx = csv->ctx;
    table->owned = 1;
    table->rows = csv->rows;
    if (csv->dialect.string >= 0) {
        KFE_TRY(kfe_i_text_rows_take(&csv->strings, table));
    } else if (csv->cols > 0 && csv->values) {
        if (csv->part_rows == 0)
            shrink_values(csv);
        table->kind = KFE_TABLE_DENSE;
        table->cols = table->stride = csv->cols;
        table->values = csv->values;
        csv->values = NULL;
    }
    KFE_TRY(copy_names(csv, out));
    KFE_TRY(take_fields(csv, out));
    if (csv->text_count > 0)
        KFE_TRY(kfe_i_csv_encode(csv, out));
    if (csv->dialect.picks.group >= 0)
        KFE_TRY(kfe_i_csv_take_groups(csv, out));
    out->weights = csv->weights;
    csv->weights = NULL;
    if (csv->dialect.picks.id >= 0)
        KFE_TRY(kfe_i_text_rows_take(&csv->ids, &out->ids));
cleanup:
    return status;
}

static void close_csv(kfe_context *ctx, void *state)
{
    kfe_i_csv *csv = state;

    kfe_i_strings_free(ctx, csv->dialect.fields, csv->dialect.names);
    kfe_i_free(ctx, csv->values);
    kfe_i_free(ctx, csv->dialect.place);
    kfe_i_picks_free(ctx, &csv->dialect.picks);
    kfe_i_free(ctx, csv->dialect.text);
    kfe_i_intern_free(&csv->group_words);
    kfe_i_free(ctx, csv->groups);
    kfe_i_free(ctx, csv->weights);
    kfe_i_free(ctx, csv->group_spans);
    if (csv->texts)
        kfe_i_text_columns_free(ctx, csv->text_count, csv->texts);
    kfe_i_free(ctx, csv->text_spans);
    kfe_i_free(ctx, csv->id_spans);
    kfe_i_text_rows_free(&csv->ids);
    kfe_i_free(ctx, csv->label_spans);
    kfe_i_free(ctx, csv->string_spans);
    kfe_i_text_rows_free(&csv->strings);
    kfe_i_block_close(&csv->block);
    kfe_i_free(ctx, csv);
}

/* Finds out what the columns are. `delimiter` '\0': look for it; `part_rows` 0: the file is read whole. */
static kfe_status open_csv(kfe_i_source *source, const kfe_i_read_settings *settings, char delimiter,
                           int64_t part_rows, void **state)
{
    kfe_status status = KFE_OK;
    kfe_i_csv *csv = NULL;

    KFE_ALLOC_ZERO(source->ctx, csv, 1);
    *state = csv;
    csv->ctx = source->ctx;
    csv->settings = settings;
    csv->part_rows = part_rows;
    csv->dialect.delimiter = delimiter;
    kfe_i_text_rows_init(&csv->strings, csv->ctx);
    kfe_i_text_rows_init(&csv->ids, csv->ctx);
    kfe_i_intern_init(&csv->group_words, csv->ctx);
    KFE_TRY(kfe_i_block_open(source, &csv->block));
    KFE_TRY(part_rows > 0 ? kfe_i_block_fill_at_hand(&csv->block, 1) : kfe_i_block_fill(&csv->block));
    KFE_TRY(kfe_i_csv_choose_dialect(csv));
    KFE_TRY(check_shape(csv));
cleanup:
    return status;
}

static void begin_result(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    const kfe_i_dialect *dialect = &csv->dialect;
    kfe_i_label_place *place = &out->labels.place;

    csv->labels = &out->labels;
    out->labels.present = dialect->picks.label >= 0;
    out->labels.column = dialect->picks.label + 1;
    if (dialect->picks.label < 0)
        return;
    *place = (kfe_i_label_place){.column = dialect->picks.label + 1, .columns = dialect->fields};
    for (int64_t j = 0; j < dialect->picks.label; j++)
        place->before += dialect->place[j] >= 0;
}

static kfe_status no_rows(const kfe_i_csv *csv)
{
    return kfe_i_fail(csv->ctx, KFE_EINPUT, "%s: there is a header but no row of data; it needs at least one",
                      csv->block.source->name);
}

/* ---- the format ---- */

static char first_delimiter(const kfe_i_read_settings *settings, char of_format)
{
    return strcmp(settings->delimiter, "auto") == 0 ? of_format : '\0';
}

static kfe_status open_csv_file(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                                void **state)
{
    return open_csv(source, settings, '\0', part_rows, state);
}

static kfe_status open_tsv_file(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                                void **state)
{
    return open_csv(source, settings, first_delimiter(settings, '\t'), part_rows, state);
}

/* Forgets what the last part took away. */
static void begin_part(kfe_i_csv *csv)
{
    csv->rows = csv->capacity = 0;
    csv->group_capacity = csv->weight_capacity = 0;
    csv->has_missing = 0;
    kfe_i_intern_free(&csv->group_words);
    kfe_i_intern_init(&csv->group_words, csv->ctx);
}

static kfe_status next_rows(void *state, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_csv *csv = state;

    begin_part(csv);
    begin_result(csv, out);
    KFE_TRY(kfe_i_block_each(&csv->block, csv->part_rows > 0 ? &csv->rows : NULL, take_block, csv));
    if (csv->rows > 0)
        KFE_TRY(take_result(csv, out));
    else if (csv->rows_before == 0)
        status = no_rows(csv);
    csv->rows_before += csv->rows;
cleanup:
    return status;
}

/* ---- writing ---- */

/* Whether the text would be read back as several fields, as a missing value or without its blanks. */
static int needs_quotes(const char *text, int64_t length, char delimiter)
{
    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ' || text[0] == '"')
        return 1;
    for (int64_t i = 0; i < length; i++)
        if (text[i] == delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return 1;
    return kfe_i_is_missing_text(text, text + length);
}

static void put_text(kfe_i_sink *sink, const char *text, int64_t length, char delimiter)
{
    if (!needs_quotes(text, length, delimiter)) {
        kfe_i_sink_put(sink, text, length);
        return;
    }
    kfe_i_sink_put(sink, "\"", 1);
    for (int64_t i = 0; i < length; i++)
        kfe_i_sink_put(sink, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    kfe_i_sink_put(sink, "\"", 1);
}

static void put_name(const kfe_i_written *what, kfe_i_sink *sink, int64_t column, char delimiter)
{
    char made_up[64];
    const char *name = made_up;

    if (what->column_names && what->column_names[column])
        name = what->column_names[column];
    else if (what->table.kind == KFE_TABLE_TEXT)
        name = "text";
    else
        snprintf(made_up, sizeof made_up, "%s%lld", what->name_prefix ? what->name_prefix : "x",
                 (long long)column + 1);
    put_text(sink, name, (int64_t)strlen(name), delimiter);
}

/* A row while it is written: the separator before its next field. */
typedef struct line {
    const kfe_i_written *what;
    kfe_i_sink *sink;
    char delimiter;
    int begun;
} line;

static void next_field(line *out)
{
    if (out->begun)
        kfe_i_sink_put(out->sink, &out->delimiter, 1);
    out->begun = 1;
}

static void put_column_names(line *out)
{
    for (int64_t j = 0; j < out->what->table.cols; j++) {
        next_field(out);
        put_name(out->what, out->sink, j, out->delimiter);
    }
}

static void put_target_names(line *out)
{
    const kfe_i_target *target = out->what->target;
    const char *label = out->what->target_name ? out->what->target_name : "label";
    int64_t targets = !target ? 0 : target->task == KFE_TASK_CLASSES ? 1 : target->cols;
    char number[32] = "";

    for (int64_t k = 0; k < targets; k++) {
        next_field(out);
        put_text(out->sink, label, (int64_t)strlen(label), out->delimiter);
        if (targets > 1)
            snprintf(number, sizeof number, "%lld", (long long)k + 1);
        kfe_i_sink_puts(out->sink, number);
    }
}

static void put_header(const kfe_i_written *what, kfe_i_sink *sink, char delimiter)
{
    line out = {what, sink, delimiter, 0};

    if (what->ids) {
        next_field(&out);
        put_text(sink, what->id_name, (int64_t)strlen(what->id_name), delimiter);
    }
    if (what->target_first)
        put_target_names(&out);
    put_column_names(&out);
    if (!what->target_first)
        put_target_names(&out);
    kfe_i_sink_put(sink, "\n", 1);
}

static void put_target(line *out, int64_t i)
{
    const kfe_i_target *target = out->what->target;

    if (!target)
        return;
    if (target->task == KFE_TASK_CLASSES) {
        const char *name = target->names[target->codes[i]];
        next_field(out);
        put_text(out->sink, name, (int64_t)strlen(name), out->delimiter);
        return;
    }
    for (int64_t k = 0; k < target->cols; k++) {
        next_field(out);
        kfe_i_put_target_value(out->what, out->sink, target->values[i * target->cols + k]);
    }
}

static void put_values(line *out, int64_t i)
{
    const kfe_i_table *table = &out->what->table;

    if (table->kind == KFE_TABLE_TEXT) {
        next_field(out);
        put_text(out->sink, table->bytes + table->row_start[i], table->row_start[i + 1] - table->row_start[i],
                 out->delimiter);
        return;
    }
    const double *row = kfe_i_written_dense(out->what, i);
    for (int64_t j = 0; j < table->cols; j++) {
        next_field(out);
        if (out->what->value_words) {
            const char *word = out->what->value_words[(int64_t)row[j]];
            put_text(out->sink, word, (int64_t)strlen(word), out->delimiter);
        } else {
            kfe_i_sink_put_number(out->sink, row[j]);
        }
    }
}

static void put_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i, char delimiter)
{
    line out = {what, sink, delimiter, 0};

    if (what->ids) {
        int64_t begin = what->ids->row_start[i];
        next_field(&out);
        put_text(sink, what->ids->bytes + begin, what->ids->row_start[i + 1] - begin, delimiter);
    }
    if (what->target_first)
        put_target(&out, i);
    put_values(&out, i);
    if (!what->target_first)
        put_target(&out, i);
    kfe_i_sink_put(sink, "\n", 1);
}

static kfe_status write_delimited(const kfe_i_written *what, kfe_i_sink *sink, char delimiter)
{
    kfe_status status = KFE_OK;

    if (!what->continued && (what->column_names || what->name_prefix || what->table.kind == KFE_TABLE_TEXT))
        put_header(what, sink, delimiter);
    for (int64_t i = 0; i < what->table.rows; i++) {
        put_row(what, sink, i, delimiter);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status write_csv(const kfe_i_written *what, kfe_i_sink *sink)
{
    return write_delimited(what, sink, ',');
}

static kfe_status write_tsv(const kfe_i_written *what, kfe_i_sink *sink)
{
    return write_delimited(what, sink, '\t');
}

const kfe_i_format kfe_i_format_csv = {
    .name = "csv",
    .extensions = "csv",
    .open = open_csv_file,
    .next = next_rows,
    .close = close_csv,
    .has_text_columns = 1,
    .write = write_csv,
    .in_parts = 1,
    .holds_strings = 1,
    .holds_ids = 1,
    .has_words = 1,
};
const kfe_i_format kfe_i_format_tsv = {
    .name = "tsv",
    .extensions = "tsv|tab",
    .open = open_tsv_file,
    .next = next_rows,
    .close = close_csv,
    .has_text_columns = 1,
    .write = write_tsv,
    .in_parts = 1,
    .holds_strings = 1,
    .holds_ids = 1,
    .has_words = 1,
};
