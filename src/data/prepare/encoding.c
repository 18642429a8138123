/* SPDX-License-Identifier: Apache-2.0 */
/* One-hot encoding of text columns; used by the reader of delimited text and by kfe_data_encode. */
#include "data/prepare/encoding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/target/classes.h"

/* ---- memory ---- */

void kfe_i_categories_free(kfe_context *ctx, kfe_i_categories *column)
{
    kfe_i_free(ctx, column->name);
    kfe_i_strings_free(ctx, column->count, column->words);
}

void kfe_i_encoding_free(kfe_i_encoding *encoding)
{
    kfe_context *ctx = encoding->ctx;

    for (int64_t e = 0; encoding->columns && e < encoding->count; e++)
        kfe_i_categories_free(ctx, &encoding->columns[e]);
    if (ctx)
        kfe_i_free(ctx, encoding->columns);
    memset(encoding, 0, sizeof *encoding);
}

void kfe_i_text_columns_free(kfe_context *ctx, int64_t count, kfe_i_text_column *texts)
{
    for (int64_t e = 0; texts && e < count; e++)
        kfe_i_intern_free(&texts[e].words);
    kfe_i_free(ctx, texts);
}

static kfe_status begin_encoding(kfe_context *ctx, int64_t count, kfe_i_encoding *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_encoding){.ctx = ctx};
    KFE_ALLOC_ZERO(ctx, out->columns, count);
    out->count = count;
cleanup:
    return status;
}

kfe_status kfe_i_categories_copy(kfe_context *ctx, const kfe_i_categories *from, kfe_i_categories *out)
{
    kfe_status status = KFE_OK;

    out->column = from->column;
    if (from->name)
        KFE_STRDUP(ctx, out->name, from->name);
    KFE_TRY(kfe_i_strings_copy(ctx, from->count, (const char *const *)from->words, &out->words));
    out->count = from->count;
cleanup:
    return status;
}

kfe_status kfe_i_encoding_copy(kfe_context *ctx, const kfe_i_encoding *from, kfe_i_encoding *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (from->count == 0)
        return KFE_OK;
    KFE_TRY(begin_encoding(ctx, from->count, out));
    for (int64_t e = 0; e < from->count; e++)
        KFE_TRY(kfe_i_categories_copy(ctx, &from->columns[e], &out->columns[e]));
cleanup:
    if (status != KFE_OK)
        kfe_i_encoding_free(out);
    return status;
}

/* ---- columns before and after ---- */

int64_t kfe_i_encoding_source_cols(const kfe_i_encoding *encoding, int64_t cols)
{
    for (int64_t e = 0; e < encoding->count; e++)
        cols += 1 - encoding->columns[e].count;
    return cols;
}

const kfe_i_categories *kfe_i_encoding_find(const kfe_i_encoding *encoding, int64_t column)
{
    for (int64_t e = 0; e < encoding->count; e++)
        if (encoding->columns[e].column == column)
            return &encoding->columns[e];
    return NULL;
}

void kfe_i_encoding_source_names(const kfe_i_encoding *encoding, char *const *names, int64_t cols, char **out)
{
    int64_t source = kfe_i_encoding_source_cols(encoding, cols);
    int64_t e = 0;
    int64_t from = 0;

    for (int64_t j = 0; j < source; j++) {
        int encoded = e < encoding->count && encoding->columns[e].column == j;
        out[j] = encoded ? encoding->columns[e].name : names[from];
        from += encoded ? encoding->columns[e].count : 1;
        e += encoded;
    }
}

/* ---- learning ---- */

/* "column 3 ('color')" for messages. */
static void describe_column(const kfe_i_named_table *source, int64_t column, kfe_i_text *out)
{
    kfe_i_text_printf(out, "column %lld", (long long)column + 1);
    if (*source->names && (*source->names)[column])
        kfe_i_text_printf(out, " ('%.100s')", (*source->names)[column]);
}

static kfe_status refuse_column(kfe_context *ctx, const kfe_i_named_table *source, int64_t column,
                                int64_t words)
{
    kfe_status status = KFE_OK;
    kfe_i_text name;

    kfe_i_text_init(&name, ctx);
    describe_column(source, column, &name);
    KFE_TRY(name.status);
    if (words == 0)
        status = kfe_i_fail(ctx, KFE_EINPUT,
                            "%s: %s has no value in any row, so there is nothing to encode; leave it out",
                            source->shown, name.bytes);
    else
        status =
            kfe_i_fail(ctx, KFE_EINPUT,
                       "%s: %s has %lld different texts, but at most %d categories are encoded; leave it "
                       "out ({drop}), or keep it as the name of the row ({id})",
                       source->shown, name.bytes, (long long)words, KFE_MOST_CATEGORIES);
cleanup:
    kfe_i_text_free(&name);
    return status;
}

/* A text that is different in every row says nothing about new rows. */
static kfe_status warn_of_names(kfe_context *ctx, const kfe_i_named_table *source, int64_t column,
                                int64_t words)
{
    enum { FEWEST_ROWS = 8 };
    kfe_status status = KFE_OK;
    kfe_i_text name;

    if (words < source->table->rows || words < FEWEST_ROWS)
        return KFE_OK;
    kfe_i_text_init(&name, ctx);
    describe_column(source, column, &name);
    KFE_TRY(name.status);
    kfe_i_log(ctx, KFE_LOG_WARNING,
              "%s: %s has a different text in every row, which says nothing about new rows; leave it out "
              "({drop}), or keep it as the name of the row ({id})",
              source->shown, name.bytes);
cleanup:
    kfe_i_text_free(&name);
    return status;
}

/* The sorted categories of one column. */
static kfe_status learn_column(kfe_context *ctx, const kfe_i_text_column *text,
                               const kfe_i_named_table *source, kfe_i_categories *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = source->table;
    kfe_i_target classes = {.ctx = ctx};
    int32_t *codes = NULL;

    KFE_ALLOC(ctx, codes, table->rows);
    for (int64_t i = 0; i < table->rows; i++) {
        double code = table->values[i * table->stride + text->column];
        if (!isnan(code))
            codes[classes.rows++] = (int32_t)code;
    }
    status = kfe_i_classes_from_words(&text->words, codes, &classes);
    codes = NULL; /* it belongs to `classes` */
    KFE_TRY(status);
    if (classes.class_count == 0 || classes.class_count > KFE_MOST_CATEGORIES)
        KFE_TRY(refuse_column(ctx, source, text->column, classes.class_count));
    KFE_TRY(warn_of_names(ctx, source, text->column, classes.class_count));
    out->column = text->column;
    if (*source->names)
        KFE_STRDUP(ctx, out->name, (*source->names)[text->column] ? (*source->names)[text->column] : "");
    KFE_ALLOC_ZERO(ctx, out->words, classes.class_count);
    out->count = classes.class_count;
    for (int64_t k = 0; k < out->count; k++) {
        out->words[k] = classes.names[k];
        classes.names[k] = NULL;
    }
cleanup:
    kfe_i_free(ctx, codes);
    kfe_i_target_free(&classes);
    return status;
}

kfe_status kfe_i_encoding_learn(kfe_context *ctx, int64_t count, const kfe_i_text_column *texts,
                                const kfe_i_named_table *source, kfe_i_encoding *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (count == 0)
        return KFE_OK;
    KFE_TRY(begin_encoding(ctx, count, out));
    for (int64_t e = 0; e < count; e++)
        KFE_TRY(learn_column(ctx, &texts[e], source, &out->columns[e]));
    out->learned = 1;
cleanup:
    if (status != KFE_OK)
        kfe_i_encoding_free(out);
    return status;
}

/* ---- applying ---- */

/* A category of each word, in one array for all columns; -1: none. */
typedef struct word_map {
    int32_t *category; /* of the words of all columns, one after the other */
    int64_t *first;    /* where the words of each column begin */
} word_map;

static int compare_key(const void *key, const void *item)
{
    return kfe_i_compare_classes(key, *(char *const *)item);
}

static kfe_status map_words(kfe_context *ctx, const kfe_i_encoding *encoding, const kfe_i_text_column *texts,
                            word_map *map)
{
    kfe_status status = KFE_OK;
    int64_t total = 0;

    KFE_ALLOC(ctx, map->first, encoding->count);
    for (int64_t e = 0; e < encoding->count; e++) {
        map->first[e] = total;
        total += texts[e].words.count;
    }
    KFE_ALLOC(ctx, map->category, total);
    for (int64_t e = 0; e < encoding->count; e++)
        for (int64_t w = 0; w < texts[e].words.count; w++) {
            const kfe_i_categories *known = &encoding->columns[e];
            char *const *found = bsearch(kfe_i_intern_word(&texts[e].words, w), known->words,
                                         (size_t)known->count, sizeof *known->words, compare_key);
            map->category[map->first[e] + w] = found ? (int32_t)(found - known->words) : -1;
        }
cleanup:
    return status;
}

/* Cells that hold no known category. */
typedef struct unseen {
    int64_t cells;
    int64_t encoded, word; /* of the first of them */
} unseen;

/* Writes one row of the encoded table. */
static void encode_row(const kfe_i_encoding *encoding, const word_map *map, const double *from, double *to,
                       int64_t source_cols, unseen *unknown)
{
    int64_t e = 0;

    for (int64_t j = 0; j < source_cols; j++) {
        if (e == encoding->count || encoding->columns[e].column != j) {
            *to++ = from[j];
            continue;
        }
        int64_t count = encoding->columns[e].count;
        int32_t category = isnan(from[j]) ? -1 : map->category[map->first[e] + (int64_t)from[j]];
        for (int64_t k = 0; k < count; k++)
            to[k] = isnan(from[j]) ? (double)NAN : k == category;
        if (!isnan(from[j]) && category < 0 && unknown->cells++ == 0) {
            unknown->encoded = e;
            unknown->word = (int64_t)from[j];
        }
        to += count;
        e++;
    }
}

static kfe_status warn_of_unseen(kfe_context *ctx, const kfe_i_text_column *texts,
                                 const kfe_i_named_table *source, const unseen *unknown)
{
    kfe_status status = KFE_OK;
    kfe_i_text name;

    if (unknown->cells == 0)
        return KFE_OK;
    kfe_i_text_init(&name, ctx);
    describe_column(source, texts[unknown->encoded].column, &name);
    KFE_TRY(name.status);
    kfe_i_log(ctx, KFE_LOG_WARNING,
              "%s: %lld cell%s a category that the training data did not have, the first '%.100s' in %s; "
              "encoded as zeros",
              source->shown, (long long)unknown->cells, unknown->cells == 1 ? " holds" : "s hold",
              kfe_i_intern_word(&texts[unknown->encoded].words, unknown->word), name.bytes);
cleanup:
    kfe_i_text_free(&name);
    return status;
}

/* The name of one column of zeros and ones. */
static kfe_status category_name(kfe_context *ctx, const kfe_i_categories *column, int64_t k, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "%s=%s", column->name ? column->name : "", column->words[k]);
    return kfe_i_text_take(&text, out);
}

static kfe_status encode_names(kfe_context *ctx, const kfe_i_encoding *encoding, char *const *names,
                               int64_t source_cols, char **out)
{
    kfe_status status = KFE_OK;
    int64_t e = 0;

    for (int64_t j = 0; j < source_cols; j++) {
        if (e == encoding->count || encoding->columns[e].column != j) {
            KFE_STRDUP(ctx, *out, names[j] ? names[j] : "");
            out++;
            continue;
        }
        for (int64_t k = 0; k < encoding->columns[e].count; k++, out++)
            KFE_TRY(category_name(ctx, &encoding->columns[e], k, out));
        e++;
    }
cleanup:
    return status;
}

static int64_t encoded_cols(const kfe_i_encoding *encoding, int64_t source_cols)
{
    for (int64_t e = 0; e < encoding->count; e++)
        source_cols += encoding->columns[e].count - 1;
    return source_cols;
}

kfe_status kfe_i_encoding_apply(kfe_context *ctx, const kfe_i_encoding *encoding,
                                const kfe_i_text_column *texts, const kfe_i_named_table *source)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = source->table;
    int64_t cols = encoded_cols(encoding, table->cols);
    word_map map = {0};
    unseen unknown = {0};
    char **names = NULL;
    kfe_i_table encoded = {0};

    if (encoding->count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_check_memory(ctx, (double)table->rows * (double)cols * sizeof(double),
                               "encoding categories", "raise {memory}, or encode fewer columns"));
    KFE_TRY(map_words(ctx, encoding, texts, &map));
    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, cols, &encoded));
    for (int64_t i = 0; i < table->rows; i++)
        encode_row(encoding, &map, table->values + i * table->stride, encoded.values + i * cols, table->cols,
                   &unknown);
    if (*source->names) {
        KFE_ALLOC_ZERO(ctx, names, cols);
        KFE_TRY(encode_names(ctx, encoding, *source->names, table->cols, names));
    }
    KFE_TRY(warn_of_unseen(ctx, texts, source, &unknown));
    kfe_i_strings_free(ctx, table->cols, *source->names);
    *source->names = names;
    names = NULL;
    kfe_i_table_free(table);
    *table = encoded;
    encoded = (kfe_i_table){0};
cleanup:
    kfe_i_strings_free(ctx, cols, names);
    kfe_i_table_free(&encoded);
    kfe_i_free(ctx, map.category);
    kfe_i_free(ctx, map.first);
    return status;
}
