/* SPDX-License-Identifier: Apache-2.0 */
/* Learn with these functions, as part of a fit, what intervals and sets of classes need. */
#ifndef KFE_MODEL_CONFORMAL_H
#define KFE_MODEL_CONFORMAL_H

#include "model/model.h"
#include "model/spec.h"

/* Fails with the reason if the spec does not predict, or depends on a precomputed kernel matrix. */
kfe_status kfe_i_conformal_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train);
/* Fits the spec without each of some folds, and sets model->conformal and model->fold_models. `weights`: how often each row counts in
 * the coverage, NULL: once. */
kfe_status kfe_i_conformal_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train,
                               const double *weights, kfe_model *model);

#endif
