/* SPDX-License-Identifier: Apache-2.0 */
/* Permute columns of some examples and see how much worse a model predicts: what permutation.c and screen.c share. */
#ifndef KFE_EXPLAIN_PERMUTING_H
#define KFE_EXPLAIN_PERMUTING_H

#include "core/rng.h"
#include "core/sort.h"
#include "explain/judge.h"

typedef struct kfe_i_permuting {
    kfe_i_explaining *job;
    kfe_data *data; /* a copy of some rows, which are permuted in place */
    kfe_i_judging judging;
    double baseline;
    kfe_i_rng rng;
    int64_t *order; /* rows */
    double *held;   /* rows: room for a column */
} kfe_i_permuting;

/* *out: what is lost when the columns from `first` to `last` of all views are permuted, by one order of the rows. The data is then as
 * before. */
kfe_status kfe_i_permuted_loss(kfe_i_permuting *p, int64_t first, int64_t last, double *out);

/* Sorts all columns by what is lost without them, largest first, in about `budget` predictions: groups of neighbouring columns are
 * permuted together, and those that lose most are halved again and again. */
kfe_status kfe_i_screen_columns(kfe_i_permuting *p, int64_t budget, int64_t cols, kfe_i_sorted *out);

#endif
