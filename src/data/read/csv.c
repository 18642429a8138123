/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of delimited text (RFC 4180 and its common variants), used by read.c for whole files and by stream.c for
 * parts. The file passes through a buffer of a few megabytes. Threads share the records in the buffer and parse them
 * directly into the growing table. Memory: the table and the buffer. The result does not depend on the number of
 * threads.
 */
#include "data/read/csv.h"

#include <string.h>

#include "core/memory.h"

/* Checks the number of columns for the content that is expected; rows of another length are refused later. */
static kfe_status check_shape(kfe_i_csv *csv)
{
    int64_t numbers = csv->cols;
    const char *file = csv->block.source->name;

    if (csv->settings->content == KFE_CONTENT_LABELS && csv->dialect.fields != 1)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             "a label file has one column, this one has %lld",
                             (long long)csv->dialect.fields);
    if (csv->settings->content == KFE_CONTENT_LABELS)
        return KFE_OK;
    if (csv->settings->content == KFE_CONTENT_STRINGS && numbers != 1)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             csv->settings->expected
                                 ? "the model takes strings, one column besides the label, but this file has "
                                   "%lld; give the strings, or check {label} and {delimiter}"
                                 : "strings need one column besides the label, this file has %lld; check "
                                   "{label} and {delimiter}, or, for columns of numbers, use a kernel on "
                                   "numbers, such as {kernel=rbf}",
                             (long long)numbers);
    if (numbers == 0)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             "the only column is the label, which leaves no features; use {label=none}, or "
                             "check {delimiter}");
    if (csv->settings->content == KFE_CONTENT_STRINGS)
        csv->cols = 0;
    return KFE_OK;
}

/* Parses the block at hand and removes what was parsed. *ended: nothing follows. */
static kfe_status take_block(kfe_i_csv *csv, int64_t *used, int *ended)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_csv_parse_block(csv, used));
    kfe_i_block_consume(&csv->block, *used);
    KFE_TRY(kfe_i_source_checkpoint(csv->block.source));
    *ended = csv->block.finished && csv->block.length == 0;
    if (*used == 0 && csv->block.finished && !*ended)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, csv->block.line, 0,
                             "a quote opened in this row is never closed; close it, or double it if it "
                             "is part of the text");
cleanup:
    return status;
}

static kfe_status read_blocks(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    int64_t used = 0;
    int ended = 0;

    for (;;) {
        KFE_TRY(take_block(csv, &used, &ended));
        if (ended)
            break;
        if (used == 0)
            KFE_TRY(kfe_i_block_widen(&csv->block));
        else
            KFE_TRY(kfe_i_block_fill(&csv->block));
    }
cleanup:
    return status;
}

/* Reads rows until there are some, or the file ends. */
static kfe_status read_some_rows(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    int64_t used = 0;
    int ended = 0;

    while (csv->rows == 0 && !ended) {
        int has_line = kfe_i_block_lines_end(&csv->block) > csv->block.bytes;
        KFE_TRY(kfe_i_block_fill_at_hand(&csv->block, !has_line));
        KFE_TRY(take_block(csv, &used, &ended));
        if (used == 0 && !ended)
            KFE_TRY(kfe_i_csv_read_on(csv));
    }
cleanup:
    return status;
}

/* Frees the part of the table that the estimate of the number of rows made too large. */
static void shrink_values(kfe_i_csv *csv)
{
    double *fitting = kfe_i_resize(csv->ctx, csv->values, csv->rows * csv->cols, sizeof *fitting);

    csv->values = fitting ? fitting : csv->values;
}

static kfe_status take_strings(kfe_i_csv *csv, kfe_i_table *table)
{
    kfe_status status = kfe_i_text_take(&csv->strings, &table->bytes);

    table->kind = KFE_TABLE_TEXT;
    table->cols = 1;
    table->row_start = csv->string_start;
    csv->string_start = NULL;
    return status;
}

static kfe_status take_ids(kfe_i_csv *csv, kfe_i_table *ids)
{
    kfe_status status = kfe_i_text_take(&csv->ids, &ids->bytes);

    ids->ctx = csv->ctx;
    ids->owned = 1;
    ids->kind = KFE_TABLE_TEXT;
    ids->rows = csv->rows;
    ids->cols = 1;
    ids->row_start = csv->id_start;
    csv->id_start = NULL;
    return status;
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
        if (j == csv->dialect.label)
            KFE_STRDUP(csv->ctx, out->labels.name, name);
        if (j == csv->dialect.id)
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
        KFE_TRY(take_strings(csv, table));
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
    KFE_TRY(kfe_i_csv_encode(csv, out));
    KFE_TRY(kfe_i_csv_take_groups(csv, out));
    out->weights = csv->weights;
    csv->weights = NULL;
    if (csv->dialect.id >= 0)
        KFE_TRY(take_ids(csv, &out->ids));
cleanup:
    return status;
}

static void close_csv(kfe_i_csv *csv)
{
    for (int64_t j = 0; csv->dialect.names && j < csv->dialect.fields; j++)
        kfe_i_free(csv->ctx, csv->dialect.names[j]);
    kfe_i_free(csv->ctx, csv->dialect.names);
    kfe_i_free(csv->ctx, csv->values);
    kfe_i_free(csv->ctx, csv->string_start);
    kfe_i_free(csv->ctx, csv->dialect.place);
    kfe_i_free(csv->ctx, csv->dialect.text);
    kfe_i_intern_free(&csv->group_words);
    kfe_i_free(csv->ctx, csv->groups);
    kfe_i_free(csv->ctx, csv->weights);
    kfe_i_free(csv->ctx, csv->group_spans);
    kfe_i_text_columns_free(csv->ctx, csv->text_count, csv->texts);
    kfe_i_free(csv->ctx, csv->text_spans);
    kfe_i_free(csv->ctx, csv->id_start);
    kfe_i_free(csv->ctx, csv->id_spans);
    kfe_i_text_free(&csv->ids);
    kfe_i_free(csv->ctx, csv->label_spans);
    kfe_i_free(csv->ctx, csv->string_spans);
    kfe_i_text_free(&csv->strings);
    kfe_i_block_close(&csv->block);
}

/* Finds out what the columns are. `delimiter` '\0': look for it; `part_rows` 0: the file is read whole. */
static kfe_status open_csv(kfe_i_source *source, const kfe_i_read_settings *settings, char delimiter,
                           int64_t part_rows, kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;

    memset(csv, 0, sizeof *csv);
    csv->ctx = source->ctx;
    csv->settings = settings;
    csv->part_rows = part_rows;
    csv->dialect.delimiter = delimiter;
    kfe_i_text_init(&csv->strings, csv->ctx);
    kfe_i_text_init(&csv->ids, csv->ctx);
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
    csv->labels = &out->labels;
    out->labels.present = csv->dialect.label >= 0;
    out->labels.column = csv->dialect.label + 1;
}

static kfe_status no_rows(const kfe_i_csv *csv)
{
    return kfe_i_fail(csv->ctx, KFE_EINPUT, "%s: there is a header but no row of data; it needs at least one",
                      csv->block.source->name);
}

static kfe_status read_delimited(kfe_i_source *source, const kfe_i_read_settings *settings, char delimiter,
                                 kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_csv csv;

    KFE_TRY(open_csv(source, settings, delimiter, 0, &csv));
    begin_result(&csv, out);
    KFE_TRY(read_blocks(&csv));
    KFE_TRY(csv.rows > 0 ? take_result(&csv, out) : no_rows(&csv));
cleanup:
    close_csv(&csv);
    return status;
}

/* ---- in parts ---- */

static char first_delimiter(const kfe_i_read_settings *settings, char of_format)
{
    return strcmp(settings->delimiter, "auto") == 0 ? of_format : '\0';
}

typedef struct csv_parts {
    kfe_i_csv csv;
    int64_t rows; /* of the parts so far */
} csv_parts;

static void end_parts(kfe_context *ctx, void *state)
{
    csv_parts *parts = state;

    if (parts)
        close_csv(&parts->csv);
    kfe_i_free(ctx, parts);
}

static kfe_status begin_parts(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                              char delimiter, void **state)
{
    kfe_status status = KFE_OK;
    csv_parts *parts = NULL;

    KFE_ALLOC_ZERO(source->ctx, parts, 1);
    *state = parts;
    KFE_TRY(open_csv(source, settings, delimiter, part_rows, &parts->csv));
cleanup:
    return status;
}

static kfe_status begin_csv_parts(kfe_i_source *source, const kfe_i_read_settings *settings,
                                  int64_t part_rows, void **state)
{
    return begin_parts(source, settings, part_rows, '\0', state);
}

static kfe_status begin_tsv_parts(kfe_i_source *source, const kfe_i_read_settings *settings,
                                  int64_t part_rows, void **state)
{
    return begin_parts(source, settings, part_rows, first_delimiter(settings, '\t'), state);
}

/* Forgets what the last part took away. */
static void begin_part(kfe_i_csv *csv)
{
    csv->rows = csv->capacity = 0;
    csv->string_capacity = csv->id_capacity = csv->group_capacity = csv->weight_capacity = 0;
    csv->has_missing = 0;
    kfe_i_intern_free(&csv->group_words);
    kfe_i_intern_init(&csv->group_words, csv->ctx);
}

static kfe_status next_part(void *state, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    csv_parts *parts = state;

    begin_part(&parts->csv);
    begin_result(&parts->csv, out);
    KFE_TRY(read_some_rows(&parts->csv));
    if (parts->csv.rows > 0)
        KFE_TRY(take_result(&parts->csv, out));
    else if (parts->rows == 0)
        status = no_rows(&parts->csv);
    parts->rows += parts->csv.rows;
cleanup:
    return status;
}

/* ---- the readers ---- */

static kfe_status read_csv(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                           kfe_i_raw_table *out)
{
    (void)ctx;
    return read_delimited(source, settings, '\0', out);
}

static kfe_status read_tsv(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                           kfe_i_raw_table *out)
{
    (void)ctx;
    return read_delimited(source, settings, first_delimiter(settings, '\t'), out);
}

const kfe_i_reader kfe_i_csv_reader = {
    .name = "csv",
    .extensions = "csv",
    .read = read_csv,
    .begin_parts = begin_csv_parts,
    .next_part = next_part,
    .end_parts = end_parts,
    .has_text_columns = 1,
};
const kfe_i_reader kfe_i_tsv_reader = {
    .name = "tsv",
    .extensions = "tsv|tab",
    .read = read_tsv,
    .begin_parts = begin_tsv_parts,
    .next_part = next_part,
    .end_parts = end_parts,
    .has_text_columns = 1,
};
