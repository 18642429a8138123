/* SPDX-License-Identifier: Apache-2.0 */
/* Write a model that is linear in its columns as one matrix, on scaled columns or in the user's own units. */
#ifndef KFE_MODEL_LINEAR_H
#define KFE_MODEL_LINEAR_H

#include "model/model.h"

/* values(x) = Wᵀx − offset, where x has the columns of all views after their steps, one after the other. */
typedef struct kfe_i_linear_map {
    kfe_context *ctx;
    int64_t cols, dim;
    double *weights; /* cols × dim */
    double *offset;  /* dim */
} kfe_i_linear_map;

void kfe_i_linear_map_free(kfe_i_linear_map *map);
/* The columns of all views. */
int64_t kfe_i_model_all_cols(const kfe_model *model);
/* Why the features are not linear in the scaled columns; NULL: they are. */
const char *kfe_i_features_not_linear(const kfe_model *model);
/* The same for the outputs, given that the features are linear. */
const char *kfe_i_outputs_not_linear(const kfe_model *model);
/* Why the scaled columns are not linear in the raw ones; NULL: they are. */
const char *kfe_i_scaling_not_linear(const kfe_model *model);

/* The features, and the outputs of the learner, on scaled columns. The model must be linear. */
kfe_status kfe_i_linear_features(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *out);
kfe_status kfe_i_linear_outputs(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *out);
/* Rewrites a map on scaled columns as one on unscaled columns, those that the steps of the model make. */
void kfe_i_linear_map_undo_scaling(const kfe_model *model, kfe_i_linear_map *map);
/* Rewrites that as a map on the columns of the data; all steps are affine (kfe_i_model_prepares_linearly). */
kfe_status kfe_i_linear_map_undo_steps(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *map);

#endif
