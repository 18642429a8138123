/* SPDX-License-Identifier: Apache-2.0 */
/* Use these functions to take parts of a model out of its container. They refuse whatever is inconsistent. */
#ifndef KFE_MODEL_FILE_LOADING_H
#define KFE_MODEL_FILE_LOADING_H

#include "model/file/safetensors.h"
#include "model/json/json_read.h"
#include "model/model.h"

/* One loading: the container and the model made from it. */
typedef struct kfe_i_loading {
    kfe_context *ctx;
    const char *name; /* of the file, for messages; NULL: the container is about to be saved */
    kfe_i_safetensors file;
    kfe_model *model;
} kfe_i_loading;

/* Fails with KFE_EMODEL; `what` names the wrong part of the file. */
kfe_status kfe_i_damaged(const kfe_i_loading *job, const char *what);

/* Loads a container that is about to be saved and discards the model: KFE_EMODEL with the reason if a file
 * with this content could not be loaded. Needs memory for a copy of all but the dense support examples. */
kfe_status kfe_i_check_loads(const kfe_i_safetensors *file);

/* The JSON value of a metadata key, which must be of this type. Free the tree in any case. */
kfe_status kfe_i_take_json(const kfe_i_loading *job, const char *key, kfe_i_json_type type,
                           kfe_i_json_tree *out);

/* A copy of a tensor that must have this type and count; *out stays NULL if an optional one is not there. */
kfe_status kfe_i_take_tensor(const kfe_i_loading *job, const char *name, kfe_i_dtype dtype, int64_t count,
                             int optional, void **out);
/* A copy of any tensor of this type. */
kfe_status kfe_i_copy_tensor(const kfe_i_loading *job, const kfe_i_tensor *tensor, kfe_i_dtype dtype,
                             void **out);
/* The same for real numbers, all finite. */
kfe_status kfe_i_copy_reals(const kfe_i_loading *job, const kfe_i_tensor *tensor, double **out);

kfe_status kfe_i_take_reals(const kfe_i_loading *job, const char *name, int64_t count, int optional,
                            double **out);
/* The table saved as PREFIX.support…: strings, or dense, or sparse, of rows × cols. */
kfe_status kfe_i_take_support(const kfe_i_loading *job, const char *prefix, int strings, int64_t rows,
                              int64_t cols, kfe_i_table *out);
/* A kernel as it was given. */
kfe_status kfe_i_take_given_kernel(const kfe_i_loading *job, const char *text, kfe_i_kernel *out);
/* A kernel whose parameters are all numbers; `what` names the place it stands in. */
kfe_status kfe_i_take_kernel(const kfe_i_loading *job, const char *text, const char *what, kfe_i_kernel *out);

/* The categories of a view; `list` is NULL in files without any. */
kfe_status kfe_i_load_encoding(const kfe_i_loading *job, const kfe_i_json_value *list,
                               kfe_i_model_view *view);
/* The division of one table into the views, if the file has one. */
kfe_status kfe_i_load_division(kfe_i_loading *job);
/* The linear map saved as `name`, of `cols` columns: a matrix, or a vector that is its diagonal. *out stays as it is if there is none. */
kfe_status kfe_i_take_map(const kfe_i_loading *job, const char *name, int64_t cols, kfe_i_map *out);
/* The localized projector. */
kfe_status kfe_i_load_local(kfe_i_loading *job);
/* The projector that is a tree. */
kfe_status kfe_i_load_tree(kfe_i_loading *job);
/* The calibration of its outputs, if the file has one; after the predictor. */
kfe_status kfe_i_load_calibration(kfe_i_loading *job);
/* The moments of the training data, if the file has them. */
kfe_status kfe_i_load_moments(kfe_i_loading *job);
/* The classifier or regressor, if the file has one. */
kfe_status kfe_i_load_predictor(kfe_i_loading *job);

#endif
