/* SPDX-License-Identifier: Apache-2.0 */
/* What a localized model tells of its views. */
#ifndef KFE_REPORT_PARTS_H
#define KFE_REPORT_PARTS_H

#include "model/model.h"
#include "report/json.h"

/* Appends a table, one line per part; nothing for models that are not localized. */
kfe_status kfe_i_parts_as_text(kfe_context *ctx, const kfe_model *model, kfe_i_text *text);
/* Sets "parts" of object, if the model is localized. */
kfe_status kfe_i_parts_as_json(kfe_context *ctx, const kfe_model *model, json_t *object);

#endif
