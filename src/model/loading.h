/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces that loading a model is made of. Whatever does not fit is refused as damaged. */
#ifndef KFE_MODEL_LOADING_H
#define KFE_MODEL_LOADING_H

#include "model/model.h"
#include "model/safetensors.h"

/* One loading: the container, the model it becomes, and the name for messages. */
typedef struct kfe_i_loading {
    kfe_context *ctx;
    const char *name;
    kfe_i_safetensors file;
    kfe_model *model;
} kfe_i_loading;

/* Returns KFE_EMODEL. */
kfe_status kfe_i_damaged(const kfe_i_loading *job, const char *what);

/* A copy of a tensor that must have this type and count; *out stays NULL if an optional one is not there. */
kfe_status kfe_i_take_tensor(const kfe_i_loading *job, const char *name, kfe_i_dtype dtype, int64_t count,
                             int optional, void **out);
/* The same for real numbers, all finite. */
kfe_status kfe_i_take_reals(const kfe_i_loading *job, const char *name, int64_t count, int optional,
                            double **out);
/* The table saved as PREFIX.support…: strings, or dense, or sparse, of rows × cols. */
kfe_status kfe_i_take_support(const kfe_i_loading *job, const char *prefix, int strings, int64_t rows,
                              int64_t cols, kfe_i_table *out);
/* A kernel whose parameters are all numbers; `what` names the place it stands in. */
kfe_status kfe_i_take_kernel(const kfe_i_loading *job, const char *text, const char *what, kfe_i_kernel *out);

/* The localized projector. */
kfe_status kfe_i_load_local(kfe_i_loading *job);
/* The machine, if the file has one. */
kfe_status kfe_i_load_predictor(kfe_i_loading *job);

#endif
