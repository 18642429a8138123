/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of kfe_transfer (transfer.c) share. */
#ifndef KFE_MODEL_TRANSFER_H
#define KFE_MODEL_TRANSFER_H

#include "model/model.h"

/* The same samples on two instruments: dense rows, which count by their weights (NULL: one each). */
typedef struct kfe_i_pairs {
    int64_t rows, cols;
    const double *master, *slave; /* rows × cols */
    const double *weights;
} kfe_i_pairs;

/* Learn a step, whose settings and columns are set, into fit->learned (kfe_i_step_learns(fit) × cols). */
kfe_status kfe_i_pds_learn(kfe_context *ctx, const kfe_i_pairs *pairs, kfe_i_fitted_step *fit);
kfe_status kfe_i_epo_learn(kfe_context *ctx, const kfe_i_pairs *pairs, kfe_i_fitted_step *fit);

/* The records of a model whose predictions were corrected: corrected = bias + slope · prediction, one of each per target. */
#define KFE_RECORD_TRANSFER_SLOPE "transfer-slope"
#define KFE_RECORD_TRANSFER_BIAS "transfer-bias"

typedef struct kfe_i_slope_bias_settings {
    int slope;
} kfe_i_slope_bias_settings;
extern const kfe_i_param_table kfe_i_slope_bias_params;

/* Corrects the predictions of `out`, a copy of `model`, so that they agree with the real targets of `slave`. */
kfe_status kfe_i_slope_bias(kfe_context *ctx, const kfe_model *model,
                            const kfe_i_slope_bias_settings *settings, const kfe_data *slave, kfe_model *out);

/* Whether kfe_transfer has changed the model. */
int kfe_i_model_is_transferred(const kfe_model *model);

#endif
