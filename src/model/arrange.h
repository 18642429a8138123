/* SPDX-License-Identifier: Apache-2.0 */
/* New data in the order of a model's views. */
#ifndef KFE_MODEL_ARRANGE_H
#define KFE_MODEL_ARRANGE_H

#include "model/model.h"

/*
 * *out is `data` with its views in the model's order, which their names decide; it borrows everything of
 * `data` but the list of views. Names do not matter to a model of one view, and if the user gave none and
 * none of them is the model's, the order stays. Free it also after a failure.
 */
kfe_status kfe_i_arrange(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_data *out);
void kfe_i_arrange_free(kfe_data *arranged);

#endif
