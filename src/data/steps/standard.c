/* SPDX-License-Identifier: Apache-2.0 */
/* The step standard: each column less its mean over the training rows, divided by its standard deviation there. */
#include "data/steps/columns_step.h"

static kfe_status learn(kfe_context *ctx, const kfe_i_table *rows, kfe_i_fitted_step *fit)
{
    return kfe_i_columns_step_learn(ctx, rows, 1, fit);
}

const kfe_i_row_step kfe_i_step_standard = {
    .name = "standard",
    .summary = "each column to mean 0 and standard deviation 1 on the training rows",
    .formula = "(x - mean of the column)/standard deviation of the column",
    .learns = 2,
    .learn = learn,
    .apply = kfe_i_columns_step_apply,
    .pull = kfe_i_columns_step_pull,
    .graph = kfe_i_columns_step_graph,
};
