/* SPDX-License-Identifier: Apache-2.0 */
/* Describe pieces of a model with these functions: the parts of a localized one, and how its columns are scaled. */
#ifndef KFE_TEXT_PARTS_H
#define KFE_TEXT_PARTS_H

#include "core/json/json.h"
#include "model/model.h"

/* Appends a table, one line per part; nothing for models that are not localized. */
kfe_status kfe_i_parts_as_text(kfe_context *ctx, const kfe_model *model, kfe_i_text *text);
/* Appends the scaling of a view and, of scale=auto, what it saw and why it decided so (describe.c). */
void kfe_i_put_scaling(const kfe_model *model, int view, kfe_i_text *text);
/* Adds "parts" to the open object, if the model is localized. */
kfe_status kfe_i_parts_as_json(kfe_context *ctx, const kfe_model *model, kfe_i_json *json);

#endif
