/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill in missing values of dense tables. Like a scaling, the fill values are learned on the training rows alone and kept in
 * the model: the mean, the median or the most frequent value of each column (the smallest of equally frequent ones).
 *
 * A reader fills gaps with the values of its whole file, so that data never holds NaN, and remembers where they were.
 * Every fit fills them again with the values of its own training rows; so cross-validation does not leak.
 */
#ifndef KFE_DATA_PREPARE_FILL_H
#define KFE_DATA_PREPARE_FILL_H

#include "data/prepare/encoding.h"
#include "data/table/table.h"

typedef enum kfe_i_fill {
    KFE_FILL_NONE,
    KFE_FILL_MEAN,
    KFE_FILL_MEDIAN,
    KFE_FILL_MOST_FREQUENT,
    KFE_FILL_NIPALS /* scaled tables keep their NaNs, for methods flagged KFE_HAS_MISSING; elsewhere, the mean stands for a value */
} kfe_i_fill;
#define KFE_FILL_WORDS "none|mean|median|most-frequent|nipals"

/* Where values of a dense table were missing. */
typedef struct kfe_i_gaps {
    kfe_context *ctx;
    kfe_i_fill fill;    /* KFE_FILL_NONE: nothing is filled in, and the arrays are NULL */
    int current;        /* the gaps hold what the rows of the table suggest, each counted once */
    int64_t *row_start; /* rows + 1 positions in `columns` */
    int32_t *columns;
    int64_t block_count;
    /* Of encoded columns (data/prepare/encoding.h): first column and number of columns of each block */
    int64_t *blocks;
} kfe_i_gaps;

/* Finds the NaNs of a table, which was encoded so. */
kfe_status kfe_i_gaps_find(kfe_context *ctx, const kfe_i_table *table, kfe_i_fill fill,
                           const kfe_i_encoding *encoding, kfe_i_gaps *out);
/* Those of the rows listed; index NULL: of the first `count`. */
kfe_status kfe_i_gaps_gather(kfe_context *ctx, const kfe_i_gaps *gaps, const int64_t *index, int64_t count,
                             kfe_i_gaps *out);
void kfe_i_gaps_free(kfe_i_gaps *gaps);

/* What to fill into each column, fill[cols], learned from the values that are not NaN. 0 for a column without any; the first of them
 * is *empty, which is -1 if there is none. In a block of categories, the mean is the share of each; median and most frequent
 * value stand for the most frequent category. `gaps` says what to fill in and where the blocks are. */
kfe_status kfe_i_fill_learn(kfe_context *ctx, const kfe_i_gaps *gaps, const kfe_i_table *table, double *fill,
                            int64_t *empty);
/* Replaces the NaNs of a dense table. Returns how many. */
int64_t kfe_i_fill_nans(const double *fill, kfe_i_table *table);

/* Puts NaN into the gaps of a table of doubles. */
void kfe_i_gaps_reopen(const kfe_i_gaps *gaps, kfe_i_table *table);
/* A copy of the table with NaN in its gaps. */
kfe_status kfe_i_gaps_open(kfe_context *ctx, const kfe_i_table *table, const kfe_i_gaps *gaps,
                           kfe_i_table *out);
/* A copy of the table whose gaps hold what its own rows suggest: fill[cols]. The caller frees it, also after a failure. */
kfe_status kfe_i_gaps_refill(kfe_context *ctx, const kfe_i_table *table, const kfe_i_gaps *gaps, double *fill,
                             kfe_i_table *out);

#endif
