/* SPDX-License-Identifier: Apache-2.0 */
/* Match the views of new data with those of a model. */
#ifndef KFE_MODEL_ARRANGE_H
#define KFE_MODEL_ARRANGE_H

#include "model/model.h"

/*
 * *out is `data` with its views in the model's order. It borrows everything from `data` but the list of views.
 * Views are matched by name, except
 *   - data of one table is first divided as the training table was, if the views of the model are columns of one table;
 *   - for a model of one view, whose name does not matter;
 *   - if the user named no view and no name is the model's: then the order of the data stays.
 * Free it also after a failure.
 */
kfe_status kfe_i_arrange(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_data *out);
/* The same without one view (-1: with all) of data that is in the model's order already. */
kfe_status kfe_i_arrange_without(kfe_context *ctx, const kfe_data *arranged, int view, kfe_data *out);
void kfe_i_arrange_free(kfe_data *arranged);
/* The index of the model's view of this name, or -1. */
int kfe_i_model_find_view(const kfe_model *model, const char *name);

#endif
