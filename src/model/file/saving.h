/* SPDX-License-Identifier: Apache-2.0 */
/* Use these functions to add parts of a model to its container; save.c, save_local.c and file_tree.c do. */
#ifndef KFE_MODEL_FILE_SAVING_H
#define KFE_MODEL_FILE_SAVING_H

#include "model/file/safetensors.h"
#include "model/json/json.h"
#include "model/model.h"

/* Adds PREFIX.PART. */
kfe_status kfe_i_add_part(kfe_i_safetensors *file, const char *prefix, const char *part, kfe_i_dtype dtype,
                          int64_t rows, int64_t cols, const void *data);
/* Adds a table as PREFIX.support…. */
kfe_status kfe_i_add_support(kfe_i_safetensors *file, const char *prefix, const kfe_i_table *table);
/* Finishes the writer and stores its text under `key` in the metadata. */
kfe_status kfe_i_set_json(kfe_i_safetensors *file, const char *key, kfe_i_json *json);

/* The calibration, if the model has one. */
kfe_status kfe_i_save_calibration(kfe_i_safetensors *file, const kfe_i_calibration *calibration);
/* The moments of the training data, if the model keeps them. */
kfe_status kfe_i_save_moments(kfe_i_safetensors *file, const kfe_i_moments *moments);
/* The localized projector, if the model has one. */
kfe_status kfe_i_save_local(kfe_i_safetensors *file, const kfe_model *model);
/* A projector that is a tree; NULL: nothing. */
kfe_status kfe_i_save_tree(kfe_i_safetensors *file, const kfe_i_tree *tree);

#endif
