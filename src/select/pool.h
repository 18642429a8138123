/* SPDX-License-Identifier: Apache-2.0 */
/* Pool the held-out predictions of real targets over splits: errors over all of them at once, as RMSECV and Q² are defined. */
#ifndef KFE_SELECT_POOL_H
#define KFE_SELECT_POOL_H

#include "data/target/target.h"
#include "select/cells.h"
#include "select/estimate.h"

/* Sums over the test rows of each split: weights, and per target column y and y², where y is less its mean over all rows. */
typedef struct kfe_i_held_out {
    kfe_context *ctx;
    int64_t splits, cols; /* cols 0: classes, of which nothing is pooled */
    double *mass;         /* splits */
    double *sums;         /* splits × cols × 2 */
} kfe_i_held_out;

kfe_status kfe_i_held_out_make(kfe_context *ctx, const kfe_i_target *target, const kfe_i_splits *splits,
                               kfe_i_held_out *out);
void kfe_i_held_out_free(kfe_i_held_out *held_out);

/* Which cells to pool: one setting, or that which each split chose; of all splits, or those of one owner. */
typedef struct kfe_i_pick {
    const int64_t *chosen; /* NULL: `setting` everywhere */
    int64_t setting;
    const int64_t *owner_of; /* NULL: all splits */
    int64_t owner;
} kfe_i_pick;

/* Residuals are predictions less targets. NaN: not available. */
typedef struct kfe_i_pooled {
    double predictions; /* by weight; a row that several splits test counts for each */
    double rmse, r2;    /* r2: the mean over target columns, about the mean of the held-out targets */
    double bias;        /* mean residual */
    double sep;         /* standard deviation of the residuals about the bias */
    double rmse_error, r2_error; /* standard errors, as kfe_i_estimate has them */
} kfe_i_pooled;

/* `column` -1: over all target columns. Everything is NaN without a split that has predictions. */
kfe_i_pooled kfe_i_pool(const kfe_i_held_out *held_out, const kfe_i_cells *cells, kfe_i_pick pick,
                        const kfe_i_extent *extent, int64_t column);
/* Replaces the mean over splits of rmse or r2 by the pooled value; other metrics stay as they are. */
void kfe_i_estimate_pool(const kfe_i_metric *metric, const kfe_i_pooled *pooled, kfe_i_estimate *estimate);

#endif
