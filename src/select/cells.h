/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep the results of a search: one cell for each setting on each split, with its metrics or the reason why it could
 * not be fitted. A failed cell does not end a search.
 */
#ifndef KFE_SELECT_CELLS_H
#define KFE_SELECT_CELLS_H

#include "core/context.h"

/* One reason, shared by all cells that failed for it. */
typedef struct kfe_i_failure {
    kfe_status status;
    char *reason;
    int64_t count; /* cells */
} kfe_i_failure;

typedef struct kfe_i_cells {
    kfe_context *ctx;
    int64_t splits, settings, metrics;
    int64_t targets; /* columns of real targets; 0: classes */
    double *values;  /* splits × settings × metrics; NaN: not defined, not wanted or failed */
    /* splits × settings × metrics: the variance of what one row contributes (metric.h); NaN: not known. */
    double *variances;
    /* splits × settings × targets × 2: sums over the test rows of the residual and of its square (pool.h). */
    double *residuals;
    /* splits × settings × kept: predictions of the test rows, by row and then target; classes as numbers. NULL: not kept. */
    double *predictions;
    int64_t kept;            /* of the largest test part; 0: none */
    double *support_vectors; /* splits × settings: examples that the learner rests on; NaN: not applicable */
    double *seconds;         /* splits × settings: fitting and measuring; NaN: not wanted */
    int32_t *failure_of;     /* splits × settings: index of the failure; -1: none */
    kfe_i_failure *failures; /* in order of appearance */
    int64_t failure_count, failure_capacity;
    int64_t failed; /* cells */
} kfe_i_cells;

/* Makes a table with the splits, settings, metrics, targets and kept predictions of `shape`, with nothing known. Free it also after a failure. */
kfe_status kfe_i_cells_make(kfe_context *ctx, const kfe_i_cells *shape, kfe_i_cells *out);
void kfe_i_cells_free(kfe_i_cells *cells);

/* Whether a search goes on after a fit that ended with this status: it ends when memory runs out, and when the user
 * cancels it. */
int kfe_i_is_failed_cell(kfe_status status);
/* Marks a cell as failed; the reason is copied. Not for worker threads. */
kfe_status kfe_i_cells_fail(kfe_i_cells *cells, int64_t split, int64_t setting, kfe_status status,
                            const char *reason);
/* Forgets the residuals and predictions of a cell. */
void kfe_i_cells_clear_residuals(kfe_i_cells *cells, int64_t split, int64_t setting);
/* Copies the numbers of a cell into one of another table of the same metrics and targets, which keeps no other predictions; cells are counted by split and setting. */
void kfe_i_cells_copy(const kfe_i_cells *from, int64_t source, kfe_i_cells *to, int64_t target);
/* Why a cell failed; NULL: it did not. */
const char *kfe_i_cells_reason(const kfe_i_cells *cells, int64_t split, int64_t setting);

#endif
