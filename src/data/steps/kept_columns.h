/* SPDX-License-Identifier: Apache-2.0 */
/* What steps that keep some of the columns share: kfe_i_fitted_step.kept says which. Used by cut, cars and stability. */
#ifndef KFE_DATA_STEPS_KEPT_COLUMNS_H
#define KFE_DATA_STEPS_KEPT_COLUMNS_H

#include "data/steps/step.h"

int64_t kfe_i_kept_apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work);
void kfe_i_kept_pull(const kfe_i_fitted_step *fit, const double *out, double *in);
void kfe_i_kept_name(const kfe_i_fitted_step *fit, char *const *names, int64_t j, kfe_i_text *out);
int64_t kfe_i_kept_graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x);

#endif
