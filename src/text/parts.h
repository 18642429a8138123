/* SPDX-License-Identifier: Apache-2.0 */
/* Describe the parts of a localized model with these functions: how much each view is used. */
#ifndef KFE_TEXT_PARTS_H
#define KFE_TEXT_PARTS_H

#include "core/json/json.h"
#include "model/model.h"

/* Appends a table, one line per part; nothing for models that are not localized. */
kfe_status kfe_i_parts_as_text(kfe_context *ctx, const kfe_model *model, kfe_i_text *text);
/* Adds "parts" to the open object, if the model is localized. */
kfe_status kfe_i_parts_as_json(kfe_context *ctx, const kfe_model *model, kfe_i_json *json);

#endif
