/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number the distinct rows of a data set in a random order that depends on their content only, so that samples and folds made by these
 * numbers are the same for every order of the rows, and equal rows stay together: a row given twice counts as one row of weight 2.
 * For every choice that looks at some of the rows or leaves some out: ridges by leave-one-out, numbers of features, held-out rows.
 */
#ifndef KFE_DATA_ROWS_DISTINCT_H
#define KFE_DATA_ROWS_DISTINCT_H

#include "data/data.h"
#include "data/table/keys.h"

/*
 * Gives the rows of the data their keys (target.h): what their columns contain, whatever their target. Missing numbers are
 * filled in as a fit on these rows does it, and numbers are standardised and rounded (data/table/keys.h).
 */
kfe_status kfe_i_data_set_keys(kfe_context *ctx, kfe_data *data);
/* The same into an array that the caller frees. */
kfe_status kfe_i_data_row_keys(kfe_context *ctx, const kfe_data *data, kfe_i_row_key **out);
/* The same from these rows alone, so that others have no influence; zeros for the others. rows NULL: all. */
kfe_status kfe_i_data_some_row_keys(kfe_context *ctx, const kfe_data *data, const int64_t *rows,
                                    int64_t count, kfe_i_row_key **out);
/* Keys of the numbers as they are, which do not depend on the other rows. */
kfe_status kfe_i_data_plain_keys(kfe_context *ctx, const kfe_data *data, kfe_i_row_key **out);

/* A normal number that the content of a row and the salt decide. */
double kfe_i_key_normal(const kfe_i_row_key *key, uint64_t salt);

typedef struct kfe_i_distinct {
    kfe_context *ctx;
    int64_t rows, count; /* count: distinct rows */
    int64_t *of;         /* rows: the number of each row's content, 0 … count−1 in random order */
    int64_t *first;      /* count: the first row with each content */
} kfe_i_distinct;

/* `stream`: of core/rng.h. keys NULL: all rows are distinct, and the order depends on their places. Free the result also after a
 * failure. */
kfe_status kfe_i_distinct_make(kfe_context *ctx, int64_t rows, const kfe_i_row_key *keys, uint64_t stream,
                               kfe_i_distinct *out);
void kfe_i_distinct_free(kfe_i_distinct *distinct);

/* index[rows] = all rows, in the order of their content's number; equal rows side by side. */
kfe_status kfe_i_distinct_order(const kfe_i_distinct *distinct, int64_t *index);

/* How many of so many distinct rows are drawn: all of up to 200; of n, 60 + 3n/10 but at most 400, or an eighth if that is more, but at
 * most 1,000. The choice then takes about half as long as the rest of a fit (bench/ridge.c). */
int64_t kfe_i_sample_size(int64_t distinct);
/* The rows of the sample, ascending: all rows with the content of those that are drawn. *index is freed by the caller. */
kfe_status kfe_i_sample_draw(kfe_context *ctx, int64_t rows, const kfe_i_row_key *keys, int64_t **index,
                             int64_t *count);

#endif
