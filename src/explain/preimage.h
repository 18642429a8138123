/* SPDX-License-Identifier: Apache-2.0 */
/* Find rows whose images in a feature space are nearest to given features. */
#ifndef KFE_EXPLAIN_PREIMAGE_H
#define KFE_EXPLAIN_PREIMAGE_H

#include "model/model.h"

/* KFE_EUNSUPPORTED with the reason if the model has no pre-images. */
kfe_status kfe_i_preimage_check(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features);
/* out (rows × columns, scaled) = pre-images of features (rows × dim). */
kfe_status kfe_i_preimages(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features, double *out);

#endif
