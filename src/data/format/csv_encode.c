/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of categories and of groups in delimited text, for csv.c. While a file is read, the table holds the number of each text; at the
 * end, each category becomes a column of zeros and ones (data/prepare/encoding.h).
 *
 * Which columns they are: for a model, those that it was fitted with; else those that the user lists or, for encode=auto, those
 * that hold a text in the first block of the file (eight megabytes).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/format/csv.h"
#include "data/table/columns.h"
#include "data/target/classes.h"

/* ---- which columns ---- */

/* Marks the fields of one record; returns its line end, or NULL if it is not whole. */
static const char *mark_record(const kfe_i_csv *csv, const char *begin, const char *end, unsigned char *marks)
{
    char delimiter = csv->dialect.delimiter;
    kfe_i_field field = {begin, begin, begin, 0};
    int64_t j = 0;
    double number;

    for (const char *c = kfe_i_csv_row_begin(delimiter, begin); c && j < csv->dialect.fields; j++) {
        if (!kfe_i_csv_field(delimiter, c, end, &field))
            return NULL;
        if (!kfe_i_parse_number(field.begin, field.end, &number) &&
            !kfe_i_is_missing_text(field.begin, field.end))
            marks[j] = 1;
        c = kfe_i_csv_next_field(delimiter, &field);
    }
    return memchr(field.next, '\n', (size_t)(end - field.next));
}

void kfe_i_csv_mark_texts(const kfe_i_csv *csv, const char *c, unsigned char *marks)
{
    const char *end = kfe_i_block_lines_end(&csv->block);

    while (c && c < end) {
        const char *stop = kfe_i_csv_is_blank(csv->dialect.delimiter, c) ? memchr(c, '\n', (size_t)(end - c))
                                                                         : mark_record(csv, c, end, marks);
        c = stop ? stop + 1 : NULL;
    }
}

static kfe_status mark_chosen(const kfe_i_csv *csv, unsigned char *marks)
{
    const kfe_i_encoding *known = kfe_i_csv_expected_encoding(csv);
    kfe_i_column_list columns = {"encode", csv->block.source->name, csv->dialect.fields, csv->dialect.names,
                                 NULL};

    for (int64_t j = 0; known && j < csv->dialect.fields; j++)
        marks[j] = csv->dialect.place[j] >= 0 && kfe_i_encoding_find(known, csv->dialect.place[j]) != NULL;
    if (known)
        return KFE_OK;
    if (strcmp(csv->settings->encode, "auto") != 0)
        return kfe_i_columns_mark(csv->ctx, &columns, csv->settings->encode, marks);
    kfe_i_csv_mark_texts(csv, csv->block.bytes, marks);
    return KFE_OK;
}

/* Refuses listed columns that are not read as features: the label, the name of the row, columns left out. */
static kfe_status refuse_unread(const kfe_i_csv *csv, const unsigned char *marks)
{
    if (kfe_i_csv_expected_encoding(csv) || strcmp(csv->settings->encode, "auto") == 0)
        return KFE_OK;
    for (int64_t j = 0; j < csv->dialect.fields; j++)
        if (marks[j] && csv->dialect.place[j] < 0)
            return kfe_i_fail_at(csv->ctx, KFE_EINVAL, csv->block.source->name, 0, 0,
                                 "{encode} names column %lld, which is %s; list other columns",
                                 (long long)j + 1,
                                 j == csv->dialect.picks.label ? "the label"
                                 : j == csv->dialect.picks.id  ? "the name of the row"
                                                               : "left out");
    return KFE_OK;
}

/* Text columns are numbered in the order of the table, which for a model may differ from that of the file. */
static kfe_status number_columns(kfe_i_csv *csv, const unsigned char *marks)
{
    kfe_status status = KFE_OK;
    int64_t *field = NULL; /* that each column of the table is read from */

    KFE_ALLOC(csv->ctx, field, csv->cols);
    KFE_ALLOC(csv->ctx, csv->dialect.text, csv->dialect.fields);
    KFE_ALLOC_ZERO(csv->ctx, csv->texts, csv->cols);
    for (int64_t j = 0; j < csv->dialect.fields; j++) {
        csv->dialect.text[j] = -1;
        if (csv->dialect.place[j] >= 0)
            field[csv->dialect.place[j]] = j;
    }
    for (int64_t k = 0; k < csv->cols; k++)
        if (marks[field[k]]) {
            csv->dialect.text[field[k]] = csv->text_count;
            csv->texts[csv->text_count].column = k;
            kfe_i_intern_init(&csv->texts[csv->text_count++].words, csv->ctx);
        }
    if (kfe_i_csv_expected_encoding(csv) && csv->text_count != kfe_i_csv_expected_encoding(csv)->count)
        KFE_FAIL(csv->ctx, KFE_EINPUT, "%s: the model was fitted on %lld columns, but the data has %lld",
                 csv->block.source->name, (long long)kfe_i_csv_expected(csv)->count, (long long)csv->cols);
cleanup:
    kfe_i_free(csv->ctx, field);
    return status;
}

kfe_status kfe_i_csv_choose_texts(kfe_i_csv *csv)
{
    kfe_status status = KFE_OK;
    unsigned char *marks = NULL;

    KFE_ALLOC_ZERO(csv->ctx, marks, csv->dialect.fields);
    KFE_TRY(mark_chosen(csv, marks));
    KFE_TRY(refuse_unread(csv, marks));
    KFE_TRY(number_columns(csv, marks));
cleanup:
    kfe_i_free(csv->ctx, marks);
    return status;
}

/* ---- numbers of texts ---- */

/* The number of the text at a span, or NaN. `scratch` is memory to reuse. */
static kfe_status number_text(const kfe_i_csv *csv, kfe_i_span span, kfe_i_text *scratch, kfe_i_intern *words,
                              double *out)
{
    const char *word = csv->block.bytes + span.begin;
    int quoted = kfe_i_csv_span_is_quoted(csv, span);
    int32_t number = 0;
    kfe_status status;

    *out = (double)NAN;
    if ((!quoted || span.length == 0) && kfe_i_is_missing_text(word, word + span.length))
        return KFE_OK;
    scratch->length = 0;
    if (quoted)
        kfe_i_csv_unquote(scratch, word, word + span.length);
    else
        kfe_i_text_add(scratch, word, span.length);
    if (scratch->status != KFE_OK)
        return scratch->status;
    kfe_i_force_utf8(scratch->bytes);
    status = kfe_i_intern_add(words, scratch->bytes, (int64_t)strlen(scratch->bytes), &number);
    *out = number;
    return status;
}

kfe_status kfe_i_csv_number_texts(kfe_i_csv *csv, int64_t rows)
{
    kfe_status status = KFE_OK;
    kfe_i_text scratch;

    kfe_i_text_init(&scratch, csv->ctx);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t e = 0; e < csv->text_count; e++)
            KFE_TRY(number_text(csv, csv->text_spans[i * csv->text_count + e], &scratch, &csv->texts[e].words,
                                &csv->values[(csv->rows + i) * csv->cols + csv->texts[e].column]));
cleanup:
    kfe_i_text_free(&scratch);
    return status;
}

kfe_status kfe_i_csv_encode(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_named_table source = {&out->table, &out->column_names, csv->block.source->name};

    if (kfe_i_csv_expected_encoding(csv))
        KFE_TRY(kfe_i_encoding_copy(csv->ctx, kfe_i_csv_expected_encoding(csv), &out->encoding));
    else
        KFE_TRY(kfe_i_encoding_learn(csv->ctx, csv->text_count, csv->texts, &source, &out->encoding));
    KFE_TRY(kfe_i_encoding_apply(csv->ctx, &out->encoding, csv->texts, &source));
    for (int64_t e = 0; e < csv->text_count; e++) { /* the next part numbers its own */
        kfe_i_intern_free(&csv->texts[e].words);
        kfe_i_intern_init(&csv->texts[e].words, csv->ctx);
    }
cleanup:
    return status;
}

/* ---- groups of rows ---- */

kfe_status kfe_i_csv_add_groups(kfe_i_csv *csv, int64_t rows)
{
    kfe_status status = KFE_OK;
    double number = 0;
    kfe_i_text scratch;

    kfe_i_text_init(&scratch, csv->ctx);
    KFE_GROW(csv->ctx, csv->groups, csv->group_capacity, csv->rows + rows);
    for (int64_t i = 0; i < rows; i++) {
        KFE_TRY(number_text(csv, csv->group_spans[i], &scratch, &csv->group_words, &number));
        csv->groups[csv->rows + i] = (int32_t)number;
    }
cleanup:
    kfe_i_text_free(&scratch);
    return status;
}

/* Equal numbers are one group, as they are one class. */
kfe_status kfe_i_csv_take_groups(kfe_i_csv *csv, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_target classes = {.ctx = csv->ctx, .rows = csv->rows};

    status = kfe_i_classes_from_words(&csv->group_words, csv->groups, &classes);
    csv->groups = NULL; /* they belong to `classes` */
    KFE_TRY(status);
    KFE_ALLOC(csv->ctx, out->groups, csv->rows);
    for (int64_t i = 0; i < csv->rows; i++)
        out->groups[i] = classes.codes[i];
cleanup:
    kfe_i_target_free(&classes);
    return status;
}
