/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces that saving a model is made of. */
#ifndef KFE_MODEL_SAVING_H
#define KFE_MODEL_SAVING_H

#include <jansson.h>

#include "model/model.h"
#include "model/safetensors.h"

/* Adds PREFIX.PART. */
kfe_status kfe_i_add_part(kfe_i_safetensors *file, const char *prefix, const char *part, kfe_i_dtype dtype,
                          int64_t rows, int64_t cols, const void *data);
/* Adds a table as PREFIX.support…. */
kfe_status kfe_i_add_support(kfe_i_safetensors *file, const char *prefix, const kfe_i_table *table);
/* Sets key to the JSON text of value, and lets go of value. */
kfe_status kfe_i_set_json(kfe_i_safetensors *file, const char *key, json_t *value);

/* The localized projector, if the model has one. */
kfe_status kfe_i_save_local(kfe_i_safetensors *file, const kfe_model *model);

#endif
