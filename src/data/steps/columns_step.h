/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that shift and scale columns: out = (x − shift)·factor. What they learn is both, one after the other. Used by standard and pareto. */
#ifndef KFE_DATA_STEPS_COLUMNS_STEP_H
#define KFE_DATA_STEPS_COLUMNS_STEP_H

#include "data/steps/step.h"

/* Learns the means, and 1/deviation^power as factors; columns that do not vary get 1. Deviations divide by the number of rows, by weight. */
kfe_status kfe_i_columns_step_learn(kfe_context *ctx, const kfe_i_table *rows, double power,
                                    kfe_i_fitted_step *fit);
int64_t kfe_i_columns_step_apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work);
void kfe_i_columns_step_pull(const kfe_i_fitted_step *fit, const double *out, double *in);
int64_t kfe_i_columns_step_graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x);

#endif
