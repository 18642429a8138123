/* SPDX-License-Identifier: Apache-2.0 */
/* Choose among the settings of a grid by what they reached on held-out rows: the best one, or one with fewer features that does as well. */
#ifndef KFE_SELECT_CHOOSE_H
#define KFE_SELECT_CHOOSE_H

#include "data/data.h"
#include "model/dim_rule.h"
#include "select/cells.h"
#include "select/grid.h"
#include "select/metric.h"
#include "select/pool.h"

/* Settings that were compared on splits, and how to choose among them. */
typedef struct kfe_i_contest {
    const kfe_i_grid *grid;
    const kfe_i_metric *metric;
    const kfe_i_cells *cells;
    const kfe_i_held_out *held_out;
    const kfe_i_splits *splits;
    const kfe_data *data;
    int rule; /* kfe_i_choose_rule; permutation needs cells that keep predictions */
} kfe_i_contest;

/* The setting chosen on the splits of `owner`, which follow each other, or on all of them (-1). */
kfe_status kfe_i_choose(kfe_context *ctx, const kfe_i_contest *on, const int64_t *owner_of, int64_t owner,
                        int64_t *out);

/* Whether a mean is better than another, by more than rounding; a number is better than NaN. */
int kfe_i_is_better(const kfe_i_metric *metric, double value, double than);

#endif
