/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode columns of text as numbers: a column of c categories becomes c columns of zeros and ones ("one-hot"), in its place.
 *
 * The categories are learned on the training data and kept in the model. They never depend on the target, so cross-validation
 * learns them once, on the whole table. A text that was not there becomes zeros; a missing one becomes NaN in all columns of
 * its block, for data/prepare/fill.h.
 */
#ifndef KFE_DATA_PREPARE_ENCODING_H
#define KFE_DATA_PREPARE_ENCODING_H

#include "core/intern.h"
#include "data/table/table.h"

/* More categories in one column are refused: it is then a name or a text rather than a category. */
enum { KFE_MOST_CATEGORIES = 1000 };

/* One encoded column. */
typedef struct kfe_i_categories {
    int64_t column; /* of the table before it was encoded, from 0 */
    char *name;     /* of that column, or NULL */
    int64_t count;
    char **words; /* sorted as classes are: numbers by value, then text by its characters */
} kfe_i_categories;

typedef struct kfe_i_encoding {
    kfe_context *ctx;
    int64_t count;             /* 0: nothing is encoded */
    int learned;               /* from this data; 0: it is that of a model, or of other rows too */
    kfe_i_categories *columns; /* in the order of the table */
} kfe_i_encoding;

/* The texts of one column as they are read. The table holds the number of each text, or NaN where it is missing. */
typedef struct kfe_i_text_column {
    int64_t column; /* of the table, from 0 */
    kfe_i_intern words;
} kfe_i_text_column;

void kfe_i_text_columns_free(kfe_context *ctx, int64_t count, kfe_i_text_column *texts);

/* A dense table and the names of its columns (NULL: none), both owned. */
typedef struct kfe_i_named_table {
    kfe_i_table *table;
    char ***names;
    const char *shown; /* the file or view, for messages */
} kfe_i_named_table;

/* The categories of the text columns, which are in the order of the table. */
kfe_status kfe_i_encoding_learn(kfe_context *ctx, int64_t count, const kfe_i_text_column *texts,
                                const kfe_i_named_table *source, kfe_i_encoding *out);
/* Replaces the text columns, which are those of the encoding, by columns of zeros and ones called "NAME=CATEGORY". Texts that are
 * not a category give zeros, with one warning that counts them. */
kfe_status kfe_i_encoding_apply(kfe_context *ctx, const kfe_i_encoding *encoding,
                                const kfe_i_text_column *texts, const kfe_i_named_table *source);
kfe_status kfe_i_encoding_copy(kfe_context *ctx, const kfe_i_encoding *from, kfe_i_encoding *out);
void kfe_i_encoding_free(kfe_i_encoding *encoding);
kfe_status kfe_i_categories_copy(kfe_context *ctx, const kfe_i_categories *from, kfe_i_categories *out);
void kfe_i_categories_free(kfe_context *ctx, kfe_i_categories *column);

/* The number of columns before encoding, of a table that has `cols` columns after it. */
int64_t kfe_i_encoding_source_cols(const kfe_i_encoding *encoding, int64_t cols);
/* The encoded column with this number before encoding, or NULL. */
const kfe_i_categories *kfe_i_encoding_find(const kfe_i_encoding *encoding, int64_t column);
/* The names of the columns before encoding, which borrow from both; `out` has room for all of them. */
void kfe_i_encoding_source_names(const kfe_i_encoding *encoding, char *const *names, int64_t cols,
                                 char **out);

#endif
