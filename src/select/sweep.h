/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits many settings on many splits and measures each on the rows left out. Scaling, kernel widths taken from
 * the data and features are learned on the training rows only. Work is shared: one matrix of dot products or
 * distances for a whole grid of kernels, one kernel matrix for all splits, one fit for all numbers of
 * features of a method whose features are nested, one set of features for all settings of a learner.
 */
#ifndef KFE_SELECT_SWEEP_H
#define KFE_SELECT_SWEEP_H

#include "data/data.h"
#include "select/cells.h"
#include "select/grid.h"
#include "select/metric.h"
#include "select/splits.h"

typedef struct kfe_i_sweep {
    const kfe_data *data;
    const kfe_i_grid *grid;
    const kfe_i_splits *splits;
    const kfe_i_metric *const *metrics;
    int64_t metric_count;
    int64_t positive; /* class looked for; see kfe_i_outcome */
    /* splits × settings: which to fit; NULL: all */
    const unsigned char *wanted;
    int keeps_predictions; /* of the test rows */
} kfe_i_sweep;

/* Fails if the data does not do for any setting; mistakes are reported with the row numbers of the whole data. */
kfe_status kfe_i_sweep_check(kfe_context *ctx, const kfe_i_sweep *sweep);
/* Makes and fills the table of cells. A setting that cannot be fitted on a split is a failed cell. If all cells that
 * were wanted failed, the call fails as the first of them did. */
kfe_status kfe_i_sweep_run(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *out);

#endif
