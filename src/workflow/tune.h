/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search methods, kernels and settings for a data set: the parts of kfe_tune.
 *
 *   tune_candidates.c   what is tried: one table, one row per candidate
 *   tune_chains.c       the steps that prepare the rows before it
 *   tune_rows.c         which rows are measured and fitted on
 *   tune_search.c       successive halving over the inner folds
 *   tune_result.c       the ranked table
 *   tune.c              options, the honest error, the public call
 *
 * A searcher is a set of rows for which the best setting is looked for: all rows, or the training part of an outer
 * split. Each searcher compares settings on inner folds of its own rows only, so that the outer test parts measure the
 * whole procedure.
 */
#ifndef KFE_WORKFLOW_TUNE_H
#define KFE_WORKFLOW_TUNE_H

#include "data/data.h"
#include "data/rows/distinct.h"
#include "result/result.h"
#include "select/assess.h"
#include "select/sweep.h"

enum { KFE_TUNE_FOLDS = 5, KFE_TUNE_RUNGS = 3, KFE_TUNE_AXES = 3 };

/* What a candidate is for. */
enum {
    KFE_TUNE_CLASSES = 1u << 0,
    KFE_TUNE_REAL = 1u << 1,
    KFE_TUNE_DENSE = 1u << 2,
    KFE_TUNE_SPARSE = 1u << 3,
    KFE_TUNE_VIEWS = 1u << 4,    /* also several views */
    KFE_TUNE_BASELINE = 1u << 5, /* a method without features: its best setting is measured on all folds */
    KFE_TUNE_STRINGS = 1u << 6,
    KFE_TUNE_GIVEN = 1u << 7,      /* a given kernel matrix */
    KFE_TUNE_SEVERAL = 1u << 8,    /* also several real targets */
    KFE_TUNE_ONLY_VIEWS = 1u << 9, /* not for one view */
    KFE_TUNE_WIDE = 1u << 10,      /* only for more columns than rows, which scale=auto leaves as they are */
    /* Only for data with weights: replaces a candidate whose learner takes none */
    KFE_TUNE_WEIGHTED = 1u << 11
};

/* One row of the table of candidates. In a grid, numbers after '@' are multiples of a typical kernel width, and
 * numbers after '$' multiples of the spread of real targets. */
typedef struct kfe_i_candidate {
    const char *name;
    const char *method, *kernel, *learner; /* NULL: none */
    unsigned flags;
    const char *grids[KFE_TUNE_AXES];
} kfe_i_candidate;

/* A candidate on this data, or a wider grid of one. */
typedef struct kfe_i_entry {
    const kfe_i_candidate *candidate;
    char *grids[KFE_TUNE_AXES];
    int grid_count;
    const char *chain; /* of steps */
    int widened;
    kfe_i_grid grid;
    double *values;       /* settings × searchers × folds of the first metric; NaN: not measured */
    double *variances;    /* the same of what one row contributes, see kfe_i_metric_measure */
    double *residuals;    /* inner folds × settings × targets × 2, as in cells.h; NULL: classes */
    unsigned char *alive; /* settings × searchers: still in the race */
    double seconds;
    int64_t fits;
    char *reason; /* why the whole candidate failed or was not tried; NULL: it was tried */
} kfe_i_entry;

/* The winner of a searcher. */
typedef struct kfe_i_winner {
    int64_t entry, setting; /* entry -1: none */
    int64_t folds;          /* on how many it was measured */
    double mean;
} kfe_i_winner;

typedef struct kfe_i_tune {
    kfe_context *ctx;
    const kfe_data *data;
    const kfe_i_metric *metrics[KFE_MOST_METRICS];
    int64_t metric_count, positive;
    int64_t different; /* different rows with a weight */
    kfe_i_splits outer;
    kfe_i_extent extent; /* of the outer splits */
    int given_kernel;    /* the data is a kernel matrix */
    char **chains;       /* the chains of steps to try */
    int64_t chain_count, chain_capacity;
    int held_out; /* the outer part is one that is held out; else folds */
    int64_t searchers;
    kfe_i_row_key **keys; /* of each searcher: of its rows, made from them alone */
    /* searchers + 1: where the inner folds of each searcher begin among all inner folds; each has at most KFE_TUNE_FOLDS. */
    int64_t *fold_begin;
    int64_t *owner_of;    /* inner folds: their searchers */
    kfe_i_held_out truth; /* of the inner folds */
    kfe_i_entry *entries;
    int64_t entry_count, entry_capacity;
    kfe_i_winner *winners;         /* one per searcher; the first is that of the model */
    kfe_i_cells honest;            /* the winners on the outer splits: one setting */
    kfe_i_held_out held_out_truth; /* of the outer splits */
    int64_t trials;                /* settings at most; 0: no limit */
    double began, seconds;         /* of the budget; 0: no limit */
    int out_of_time;
    int64_t fits;
} kfe_i_tune;

/* Sets the chains from {prepare} and {grid}. */
kfe_status kfe_i_tune_chains(kfe_i_tune *tune, const char *prepare, const char *grids);
/* Fails unless all of them suit the data. */
kfe_status kfe_i_tune_chains_suit(const kfe_i_tune *tune);
/* Makes the entries of all candidates that can take the data. */
kfe_status kfe_i_tune_candidates(kfe_i_tune *tune);
/* Makes an entry of the same candidate and chain, which is borrowed, with other grids, which are copied. */
kfe_status kfe_i_tune_add(kfe_i_tune *tune, const kfe_i_candidate *candidate, const char *chain,
                          int grid_count, const char *const *grids);
void kfe_i_entry_free(kfe_context *ctx, kfe_i_entry *entry);

/* The race of all entries: fills the winners. */
kfe_status kfe_i_tune_search(kfe_i_tune *tune);
/* Mean over the folds that were measured, of rmse and r2 the value over all their rows, and how many folds these were. */
double kfe_i_entry_mean(const kfe_i_tune *tune, const kfe_i_entry *entry, int64_t setting, int64_t searcher,
                        int64_t *folds);
/* Errors over the test rows of these folds. NaN: classes, or none was measured. */
kfe_i_pooled kfe_i_entry_pooled(const kfe_i_tune *tune, const kfe_i_entry *entry, int64_t setting,
                                int64_t searcher, const kfe_i_extent *extent);
/* Where a value lies among all that were tried for the candidate: -1 lowest, 1 highest, 0 inside. */
int kfe_i_tune_edge(const kfe_i_tune *tune, int64_t entry, int64_t setting, int64_t axis);
/* How many inner folds a searcher has. */
static inline int64_t kfe_i_tune_folds(const kfe_i_tune *tune, int64_t searcher)
{
    return tune->fold_begin[searcher + 1] - tune->fold_begin[searcher];
}
/* Makes the outer splits, folds or the first of them if one part is held out, and the searchers. */
kfe_status kfe_i_tune_outer(kfe_i_tune *tune, int64_t folds);
/* The rows of a searcher; NULL subset: all rows. */
kfe_i_split_rows kfe_i_tune_rows(const kfe_i_tune *tune, int64_t searcher);
/* Inner folds of all searchers, fold f of searcher o at fold_begin[o] + f, with the training rows of a rung. A searcher
 * with few rows or groups has as many folds as these. */
kfe_status kfe_i_tune_inner(kfe_i_tune *tune, int rung, kfe_i_splits *out);

kfe_status kfe_i_tuning_result(const kfe_i_tune *tune, kfe_result **out);

#endif
