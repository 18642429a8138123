/* SPDX-License-Identifier: Apache-2.0 */
/* Learn the calibration of a classifier as part of its fit. */
#ifndef KFE_MODEL_CALIBRATE_H
#define KFE_MODEL_CALIBRATE_H

#include "model/model.h"
#include "model/spec.h"

/* Fails with KFE_EINVAL if the spec asks to calibrate something that is not a classifier. */
kfe_status kfe_i_calibration_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train);
/* Cross-validates the spec on its training data and learns model->calibration from the outputs of rows that the fits did
 * not see. Folds keep groups together, or else have all classes in equal shares. */
kfe_status kfe_i_calibrate(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model *model);
/* probabilities (rows × classes) of rows of outputs (rows × predictor.outputs) of a calibrated model. */
kfe_status kfe_i_model_probabilities(kfe_context *ctx, const kfe_model *model, int64_t rows,
                                     const double *outputs, double *probabilities);

#endif
