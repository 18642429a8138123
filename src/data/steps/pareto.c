/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step pareto: each column less its mean over the training rows, divided by the root of its standard deviation there, between no scaling and
 * the step standard.
 *
 * van den Berg et al. (2006).
 */
#include "data/steps/columns_step.h"

static kfe_status learn(kfe_context *ctx, const kfe_i_table *rows, kfe_i_fitted_step *fit)
{
    return kfe_i_columns_step_learn(ctx, rows, 0.5, fit);
}

const kfe_i_row_step kfe_i_step_pareto = {
    .name = "pareto",
    .summary =
        "each column less its mean, divided by the root of its standard deviation on the training rows",
    .formula = "(x - mean of the column)/sqrt(standard deviation of the column); van den Berg et al. (2006)",
    .learns = 2,
    .learn = learn,
    .apply = kfe_i_columns_step_apply,
    .pull = kfe_i_columns_step_pull,
    .graph = kfe_i_columns_step_graph,
};
