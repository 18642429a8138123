/* SPDX-License-Identifier: Apache-2.0 */
/* Fit a model again from what it says about its own fit. */
#ifndef KFE_MODEL_REFIT_H
#define KFE_MODEL_REFIT_H

#include "model/model.h"
#include "model/spec.h"

/* Fails with KFE_EUNSUPPORTED and the reason if the fit cannot be repeated: an older program wrote the model, or its
 * method is a rule of the user. */
kfe_status kfe_i_refit_check(kfe_context *ctx, const kfe_model *model);
/* Where the model treats missing values and `train` has NaNs: a copy in which they are gaps, for fits to treat. NULL: `train` will do. */
kfe_status kfe_i_refit_mark_gaps(kfe_context *ctx, const kfe_model *model, const kfe_data *train,
                                 kfe_data **out);
/* Fits the spec of the model on `train`, whose views are in the model's order (model/arrange.h); `without`: a view to
 * leave out, -1: none. The new model has the other views, named as in `train`. */
kfe_status kfe_i_refit(kfe_context *ctx, const kfe_model *model, const kfe_data *train, int without,
                       kfe_model **out);

#endif
