/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of delimited text (RFC 4180 and its common variants). The file passes through a buffer of a few
 * megabytes. Threads share the records in the buffer and parse them directly into the growing table. Memory: the
 * table and the buffer. The result does not depend on the number of threads.
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
                             "strings need one column besides the label, this file has %lld; check {label} "
                             "and {delimiter}",
                             (long long)numbers);
    if (numbers == 0)
        return kfe_i_fail_at(csv->ctx, KFE_EINPUT, file, csv->dialect.first_line, 0,
                             "the only column is the label, which leaves no features; use {label=none}, or "
                             "check {delimiter}");
    if (csv->settings->content == KFE_CONTENT_STRINGS)
        csv->cols = 0;
    return KFE_OK;
}

static kfe_status read_blocks(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    int64_t used = 0;

    for (;;) {
        KFE_TRY(kfe_i_csv_parse_block(csv, &used));
        kfe_i_block_consume(&csv->block, used);
        KFE_TRY(kfe_i_source_checkpoint(csv->block.source));
        if (csv->block.finished && csv->block.length == 0)
            break;
        if (used == 0 && csv->block.finished)
            return kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, csv->block.line, 0,
                                 "a quote opened in this row is never closed; close it, or double it if it "
                                 "is part of the text");
        if (used == 0)
            KFE_TRY(kfe_i_block_widen(&csv->block));
        else
            KFE_TRY(kfe_i_block_fill(&csv->block));
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

/* Takes the names of the columns and of the label from the header. */
static kfe_status take_names(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    if (!csv->dialect.names)
        return KFE_OK;
    KFE_ALLOC_ZERO(csv->ctx, out->column_names, out->table.cols);
    for (int64_t j = 0; j < csv->dialect.fields; j++) {
        if (j == csv->dialect.label)
            out->labels.name = csv->dialect.names[j];
        else if (j == csv->dialect.id)
            out->id_name = csv->dialect.names[j];
        else if (csv->dialect.place[j] >= 0)
            out->column_names[csv->dialect.place[j]] = csv->dialect.names[j];
        else
            continue;
        csv->dialect.names[j] = NULL;
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
        shrink_values(csv);
        table->kind = KFE_TABLE_DENSE;
        table->cols = table->stride = csv->cols;
        table->values = csv->values;
        csv->values = NULL;
    }
    KFE_TRY(take_names(csv, out));
    KFE_TRY(take_fields(csv, out));
    KFE_TRY(kfe_i_csv_encode(csv, out));
    KFE_TRY(kfe_i_csv_take_groups(csv, out));
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

static kfe_status read_delimited(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                                 char delimiter, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_csv csv;

    memset(&csv, 0, sizeof csv);
    csv.ctx = ctx;
    csv.settings = settings;
    csv.dialect.delimiter = delimiter;
    csv.labels = &out->labels;
    kfe_i_text_init(&csv.strings, ctx);
    kfe_i_text_init(&csv.ids, ctx);
    kfe_i_intern_init(&csv.group_words, ctx);
    KFE_TRY(kfe_i_block_open(source, &csv.block));
    KFE_TRY(kfe_i_block_fill(&csv.block));
    KFE_TRY(kfe_i_csv_choose_dialect(&csv));
    KFE_TRY(check_shape(&csv));
    out->labels.present = csv.dialect.label >= 0;
    out->labels.column = csv.dialect.label + 1;
    KFE_TRY(read_blocks(&csv));
    if (csv.rows == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: there is a header but no row of data; it needs at least one",
                 source->name);
    KFE_TRY(take_result(&csv, out));
cleanup:
    close_csv(&csv);
    return status;
}

static kfe_status read_csv(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                           kfe_i_raw_table *out)
{
    return read_delimited(ctx, source, settings, '\0', out);
}

static kfe_status read_tsv(kfe_context *ctx, kfe_i_source *source, const kfe_i_read_settings *settings,
                           kfe_i_raw_table *out)
{
    int chosen = strcmp(settings->delimiter, "auto") != 0;
    return read_delimited(ctx, source, settings, chosen ? '\0' : '\t', out);
}

const kfe_i_reader kfe_i_csv_reader = {"csv", "csv", NULL, read_csv};
const kfe_i_reader kfe_i_tsv_reader = {"tsv", "tsv|tab", NULL, read_tsv};
