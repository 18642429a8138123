/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_data_from_arrow_stream: an Arrow table as a data set, with the settings of reading files. Columns become features, categories, the label,
 * the name, the group or the weight of the row; values are gathered once, straight into the table.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/arrow/arrow.h"
#include "data/read/pick.h"
#include "data/table/columns.h"
#include "data/table/text_rows.h"

static const char shown[] = "the Arrow table";

typedef struct gather {
    kfe_context *ctx;
    const kfe_i_read_settings *settings;
    kfe_i_arrow arrow;
    char **names; /* borrowed from the schema, ended by NULL */
    kfe_i_picks picks;
    unsigned char *encoded; /* one per column: its texts become categories */
    kfe_i_text word;        /* scratch */
    int64_t row;            /* of the table, for messages */
    kfe_i_raw_table *out;
} gather;

/* ---- what each column becomes ---- */

static int holds_text(const gather *g, int64_t j)
{
    return g->arrow.columns[j].kind == KFE_ARROW_TEXT;
}

static kfe_status mark_encoded(gather *g)
{
    kfe_status status = KFE_OK;
    kfe_i_column_list columns = {"encode", shown, g->arrow.count, g->names, NULL};
    int automatic = strcmp(g->settings->encode, "auto") == 0;

    KFE_ALLOC_ZERO(g->ctx, g->encoded, g->arrow.count);
    if (g->settings->encode[0] && !automatic)
        KFE_TRY(kfe_i_columns_mark(g->ctx, &columns, g->settings->encode, g->encoded));
    for (int64_t j = 0; j < g->arrow.count; j++) {
        if (automatic)
            g->encoded[j] = (unsigned char)holds_text(g, j);
        if (g->picks.removed[j])
            g->encoded[j] = 0;
        else if (holds_text(g, j) && !g->encoded[j])
            KFE_FAIL(
                g->ctx, KFE_EINPUT,
                "column %lld ('%.100s') of %s holds text; use {encode=auto} to encode categories, or {drop}",
                (long long)j + 1, g->names[j], shown);
    }
cleanup:
    return status;
}

static kfe_status choose_columns(gather *g)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(g->ctx, g->names, g->arrow.count + 1);
    for (int64_t j = 0; j < g->arrow.count; j++)
        g->names[j] = (char *)(uintptr_t)g->arrow.columns[j].name; /* lists of names are not changed */
    KFE_TRY(kfe_i_picks_find(g->ctx, shown, g->settings, g->names, 1, g->arrow.count, &g->picks));
    if (g->settings->content != KFE_CONTENT_STRINGS)
        KFE_TRY(mark_encoded(g));
cleanup:
    return status;
}

/* ---- words ---- */

/* Makes a text of a value, in g->word: booleans as words, numbers in their shortest form. */
static kfe_status word_of(gather *g, int64_t j, const kfe_i_arrow_value *value)
{
    char number[KFE_NUMBER_TEXT];

    g->word.length = 0;
    kfe_i_text_puts(&g->word, "");
    if (g->arrow.columns[j].kind == KFE_ARROW_TEXT) {
        if (value->length > 0 && memchr(value->text, 0, (size_t)value->length))
            return kfe_i_fail(g->ctx, KFE_EINPUT, "column '%.100s' of %s has a NUL byte in row %lld",
                              g->names[j], shown, (long long)g->row + 1);
        kfe_i_text_add(&g->word, value->text, value->length);
    } else if (g->arrow.columns[j].kind == KFE_ARROW_BOOLEAN) {
        kfe_i_text_puts(&g->word, value->number != 0 ? "true" : "false");
    } else {
        kfe_i_format_number(value->number, number);
        kfe_i_text_puts(&g->word, number);
    }
    if (g->word.status == KFE_OK)
        kfe_i_force_utf8(g->word.bytes);
    return g->word.status;
}

static int64_t row_number(void *user, const char *place)
{
    (void)place;
    return ((const gather *)user)->row + 1;
}

/* Visits the values of one column in the order of the rows. */
typedef kfe_status (*visitor)(gather *g, int64_t column, const kfe_i_arrow_value *value, void *user);

static kfe_status visit_column(gather *g, int64_t j, visitor visit, void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_arrow_value value;

    g->row = 0;
    for (int64_t k = 0; k < g->arrow.chunk_count; k++)
        for (int64_t i = 0; i < g->arrow.chunks[k].length; i++, g->row++) {
            KFE_TRY(kfe_i_arrow_value_at(&g->arrow, k, j, i, &value));
            KFE_TRY(visit(g, j, &value, user));
        }
cleanup:
    return status;
}

/* ---- label, names, groups, weights ---- */

static kfe_status visit_label(gather *g, int64_t j, const kfe_i_arrow_value *value, void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_labels *labels = user;

    g->out->has_missing |= value->missing;
    if (labels->numbers) {
        labels->numbers[labels->rows++] = value->number;
        return KFE_OK;
    }
    if (value->missing)
        return kfe_i_labels_add_missing(labels);
    KFE_TRY(word_of(g, j, value));
    KFE_TRY(kfe_i_labels_add(labels, g->word.bytes, (int64_t)strlen(g->word.bytes), row_number, g, NULL));
cleanup:
    return status;
}

static kfe_status take_label(gather *g)
{
    kfe_status status = KFE_OK;
    kfe_i_labels *labels = &g->out->labels;
    int64_t j = g->picks.label;

    if (j < 0)
        return KFE_OK;
    const kfe_i_arrow_column *column = &g->arrow.columns[j];
    if (column->kind == KFE_ARROW_WHOLE || column->kind == KFE_ARROW_REAL) {
        KFE_ALLOC(g->ctx, labels->numbers, g->arrow.rows);
        labels->floating = column->kind == KFE_ARROW_REAL;
    }
    labels->nominal = column->index != NULL;
    labels->present = 1;
    labels->column = j + 1;
    labels->place = kfe_i_picks_label_place(&g->picks);
    KFE_STRDUP(g->ctx, labels->name, column->name);
    KFE_TRY(visit_column(g, j, visit_label, labels));
cleanup:
    return status;
}

static kfe_status visit_string(gather *g, int64_t j, const kfe_i_arrow_value *value, void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_text_rows *rows = user;

    if (!value->missing) {
        KFE_TRY(word_of(g, j, value));
        kfe_i_text_puts(&rows->bytes, g->word.bytes);
    }
    KFE_TRY(kfe_i_text_rows_end(rows));
cleanup:
    return status;
}

/* A column as strings. */
static kfe_status take_strings(gather *g, int64_t j, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text_rows rows;

    kfe_i_text_rows_init(&rows, g->ctx);
    KFE_TRY(visit_column(g, j, visit_string, &rows));
    KFE_TRY(kfe_i_text_rows_take(&rows, out));
cleanup:
    kfe_i_text_rows_free(&rows);
    return status;
}

typedef struct group_words {
    kfe_i_intern words;
    int64_t *groups;
} group_words;

static kfe_status visit_group(gather *g, int64_t j, const kfe_i_arrow_value *value, void *user)
{
    kfe_status status = KFE_OK;
    group_words *out = user;
    int32_t number = 0;

    if (value->missing)
        return kfe_i_fail(g->ctx, KFE_EINPUT,
                          "{groups}: the column has missing values, the first in row %lld",
                          (long long)g->row + 1);
    KFE_TRY(word_of(g, j, value));
    KFE_TRY(kfe_i_intern_add(&out->words, g->word.bytes, (int64_t)strlen(g->word.bytes), &number));
    out->groups[g->row] = number;
cleanup:
    return status;
}

static kfe_status visit_weight(gather *g, int64_t j, const kfe_i_arrow_value *value, void *user)
{
    double *weights = user;

    (void)j;
    weights[g->row] = value->number; /* text and what is missing are NaN, which is refused later */
    return KFE_OK;
}

static kfe_status take_ids_groups_and_weights(gather *g)
{
    kfe_status status = KFE_OK;
    group_words found = {.groups = NULL};

    kfe_i_intern_init(&found.words, g->ctx);
    if (g->picks.id >= 0) {
        KFE_STRDUP(g->ctx, g->out->id_name, g->names[g->picks.id]);
        KFE_TRY(take_strings(g, g->picks.id, &g->out->ids));
    }
    if (g->picks.group >= 0) {
        KFE_ALLOC(g->ctx, g->out->groups, g->arrow.rows);
        found.groups = g->out->groups;
        KFE_TRY(visit_column(g, g->picks.group, visit_group, &found));
    }
    if (g->picks.weight >= 0) {
        KFE_ALLOC(g->ctx, g->out->weights, g->arrow.rows);
        KFE_TRY(visit_column(g, g->picks.weight, visit_weight, g->out->weights));
    }
cleanup:
    kfe_i_intern_free(&found.words);
    return status;
}

/* ---- features ---- */

typedef struct cell_column {
    double *values; /* of the first row */
    int64_t stride;
    kfe_i_intern *words; /* of categories; NULL: numbers */
} cell_column;

static kfe_status visit_feature(gather *g, int64_t j, const kfe_i_arrow_value *value, void *user)
{
    kfe_status status = KFE_OK;
    cell_column *column = user;
    double *cell = column->values + g->row * column->stride;
    int32_t number = 0;

    g->out->has_missing |= value->missing;
    *cell = value->missing ? (double)NAN : value->number;
    if (!column->words || value->missing) {
        if (isinf(*cell))
            return kfe_i_fail(g->ctx, KFE_EINPUT, "column '%.100s' of %s is infinite in row %lld",
                              g->names[j], shown, (long long)g->row + 1);
        return KFE_OK;
    }
    KFE_TRY(word_of(g, j, value));
    KFE_TRY(kfe_i_intern_add(column->words, g->word.bytes, (int64_t)strlen(g->word.bytes), &number));
    *cell = number;
cleanup:
    return status;
}

static kfe_status encode(gather *g, int64_t count, const kfe_i_text_column *texts)
{
    kfe_status status = KFE_OK;
    kfe_i_raw_table *out = g->out;
    kfe_i_named_table source = {&out->table, &out->column_names, shown};

    if (count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_encoding_learn(g->ctx, count, texts, &source, &out->encoding));
    KFE_TRY(kfe_i_encoding_apply(g->ctx, &out->encoding, texts, &source));
cleanup:
    return status;
}

static kfe_status take_features(gather *g)
{
    kfe_status status = KFE_OK;
    kfe_i_raw_table *out = g->out;
    kfe_i_text_column *texts = NULL;
    int64_t text_count = 0;
    int64_t kept = 0;

    for (int64_t j = 0; j < g->arrow.count; j++)
        kept += !g->picks.removed[j];
    KFE_ALLOC_ZERO(g->ctx, texts, kept);
    KFE_TRY(kfe_i_table_new_dense(g->ctx, g->arrow.rows, kept, &out->table));
    KFE_ALLOC_ZERO(g->ctx, out->column_names, kept);
    KFE_ALLOC(g->ctx, out->fields, kept);
    out->field_count = g->arrow.count;
    for (int64_t j = 0, place = 0; j < g->arrow.count; j++) {
        cell_column column = {out->table.values + place, kept, NULL};
        if (g->picks.removed[j])
            continue;
        if (g->encoded[j]) {
            kfe_i_intern_init(&texts[text_count].words, g->ctx);
            texts[text_count].column = place;
            column.words = &texts[text_count++].words;
        }
        KFE_STRDUP(g->ctx, out->column_names[place], g->names[j]);
        out->fields[place++] = j;
        KFE_TRY(visit_column(g, j, visit_feature, &column));
    }
    KFE_TRY(encode(g, text_count, texts));
cleanup:
    kfe_i_text_columns_free(g->ctx, text_count, texts);
    return status;
}

/* Examples that are strings: the one column that is left. */
static kfe_status take_examples(gather *g)
{
    int64_t string = -1;

    for (int64_t j = 0; j < g->arrow.count; j++)
        if (!g->picks.removed[j]) {
            if (string >= 0 || !holds_text(g, j))
                return kfe_i_fail(g->ctx, KFE_EINPUT,
                                  "strings need one column of text besides the label; check {label}");
            string = j;
        }
    return take_strings(g, string, &g->out->table);
}

static kfe_status fill_raw_table(gather *g)
{
    kfe_status status = KFE_OK;

    if (g->arrow.rows == 0)
        return kfe_i_fail(g->ctx, KFE_EINPUT, "%s has no rows; it needs at least one", shown);
    KFE_TRY(choose_columns(g));
    KFE_TRY(take_label(g));
    KFE_TRY(take_ids_groups_and_weights(g));
    KFE_TRY(g->settings->content == KFE_CONTENT_STRINGS ? take_examples(g) : take_features(g));
cleanup:
    return status;
}

static void close_gather(gather *g)
{
    kfe_i_picks_free(g->ctx, &g->picks);
    kfe_i_free(g->ctx, g->names);
    kfe_i_free(g->ctx, g->encoded);
    kfe_i_text_free(&g->word);
    kfe_i_arrow_close(&g->arrow);
}

kfe_status kfe_data_from_arrow_stream(kfe_context *ctx, struct ArrowArrayStream *stream, const char *options,
                                      kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_read_settings settings;
    kfe_i_raw_table raw;
    gather g = {.ctx = ctx, .settings = &settings, .out = &raw};

    *out = NULL;
    kfe_i_text_init(&g.word, ctx);
    kfe_i_raw_table_init(&raw, ctx);
    if (!stream->release)
        KFE_FAIL(ctx, KFE_EINVAL, "the Arrow stream was taken by another call");
    KFE_TRY(kfe_i_read_settings_parse(ctx, options, NULL, &settings));
    KFE_TRY(kfe_i_arrow_open(ctx, stream, &g.arrow));
    KFE_TRY(fill_raw_table(&g));
    KFE_TRY(kfe_i_data_from_raw(ctx, &raw, shown, NULL, &settings, out));
cleanup:
    close_gather(&g);
    kfe_i_raw_table_free(&raw);
    if (stream->release)
        stream->release(stream);
    return status;
}
