/* SPDX-License-Identifier: Apache-2.0 */
/* What steps that choose columns by the target share. They learn two numbers for each column: whether it is chosen, and the share of their runs
 * that kept it. Used by cars and stability. */
#ifndef KFE_DATA_STEPS_CHOSEN_COLUMNS_H
#define KFE_DATA_STEPS_CHOSEN_COLUMNS_H

#include "data/steps/kept_columns.h"

enum { KFE_CHOSEN_LEARNS = 2 };

/* Before anything is learned, all columns stay. */
kfe_status kfe_i_chosen_plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit);

static inline int kfe_i_is_chosen(const kfe_i_fitted_step *fit, int64_t column)
{
    return !fit->learned || fit->learned[column] > 0.5;
}
static inline double kfe_i_share_of_runs(const kfe_i_fitted_step *fit, int64_t column)
{
    return fit->learned[fit->cols + column];
}

/* The columns among which run `run` of cars draws, from 1 to `runs`: p·r_i. */
int64_t kfe_i_cars_columns(double p, int64_t run, int64_t runs);

#endif
