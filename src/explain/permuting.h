/* SPDX-License-Identifier: Apache-2.0 */
/* Permute columns of some examples and see how much worse a model predicts: what permutation.c and screen.c share. */
#ifndef KFE_EXPLAIN_PERMUTING_H
#define KFE_EXPLAIN_PERMUTING_H

#include "core/rng.h"
#include "core/sort.h"
#include "explain/judge.h"

typedef struct kfe_i_permuting {
    kfe_i_explaining *job;
    kfe_data *data;        /* a copy of some rows, whose columns or views are exchanged in place */
    kfe_data *intact;      /* another copy; NULL: columns are not exchanged */
    kfe_i_judging judging; /* the caller sets the metric */
    double baseline;
    kfe_i_rng rng;
    int64_t *order; /* rows */
} kfe_i_permuting;

/* Copies a sample and judges it as it is. `by_column`: for single columns, else for whole views. Free it also after a failure. */
kfe_status kfe_i_permuting_begin(kfe_i_permuting *p, int by_column);
void kfe_i_permuting_free(kfe_i_permuting *p);
/* order[i]: the row whose values row i gets from now on. A random permutation; rows with weights are drawn by them, so that a row of
 * weight 2 gives its values as often as two equal rows do. */
kfe_status kfe_i_permute_order(kfe_i_permuting *p);

/* *out: what is lost when a column or view is permuted, by one order of the rows. The data is then as before. */
typedef kfe_status (*kfe_i_permuted_fn)(kfe_i_permuting *p, int64_t which, double *out);
kfe_status kfe_i_permuted_column(kfe_i_permuting *p, int64_t column, double *out);
/* The same when the columns from `first` to `last` of all views are permuted together. */
kfe_status kfe_i_permuted_loss(kfe_i_permuting *p, int64_t first, int64_t last, double *out);
/* out: the mean and the standard deviation of the losses over all repeats; NaN: not available from one. All columns or views are permuted by
 * the same orders of the rows, so that neither the others nor their places matter. */
kfe_status kfe_i_permuted_losses(kfe_i_permuting *p, kfe_i_permuted_fn permuted, int64_t which,
                                 double out[2]);

/* Sorts all columns by what is lost without them, largest first, in about `budget` predictions: groups of neighbouring columns are
 * permuted together, and the groups that lose most are halved again and again. */
kfe_status kfe_i_screen_columns(kfe_i_permuting *p, int64_t budget, int64_t cols, kfe_i_sorted *out);

/* Whether no loss of a table of permuted columns or views is larger than twice its standard deviation over the permutations. */
int kfe_i_nothing_matters(const kfe_table *table);

#endif
