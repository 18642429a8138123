/* SPDX-License-Identifier: Apache-2.0 */
/* Permute columns of some examples and see how much worse a model predicts: what permutation.c and screen.c share. */
#ifndef KFE_EXPLAIN_PERMUTING_H
#define KFE_EXPLAIN_PERMUTING_H

#include "core/rng.h"
#include "core/sort.h"
#include "explain/judge.h"

typedef struct kfe_i_permuting {
    kfe_i_explaining *job;
    kfe_data *data;   /* a copy of some rows, whose columns are exchanged in place */
    kfe_data *intact; /* another copy */
    kfe_i_judging judging;
    double baseline;
    kfe_i_rng rng;
    int64_t *order; /* rows */
} kfe_i_permuting;

/* order[i]: the row whose values row i gets. A random permutation; rows with weights are drawn by them, so that a row of weight 2 gives its
 * values as often as two equal rows do. */
kfe_status kfe_i_exchange_rows(kfe_i_rng *rng, const kfe_i_target *target, int64_t rows, int64_t *order);

/* *out: what is lost when the columns from `first` to `last` of all views are permuted, by one order of the rows. The data is then as
 * before. */
kfe_status kfe_i_permuted_loss(kfe_i_permuting *p, int64_t first, int64_t last, double *out);

/* Sorts all columns by what is lost without them, largest first, in about `budget` predictions: groups of neighbouring columns are
 * permuted together, and the groups that lose most are halved again and again. */
kfe_status kfe_i_screen_columns(kfe_i_permuting *p, int64_t budget, int64_t cols, kfe_i_sorted *out);

#endif
