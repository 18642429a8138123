/* SPDX-License-Identifier: Apache-2.0 */
/* Ask the gate of a localized model (method/shared/local.h) what it sees and how it weighs the parts. */
#ifndef KFE_EXPLAIN_GATE_H
#define KFE_EXPLAIN_GATE_H

#include "model/model.h"

/* out (rows × parts) = the shares of the parts at the examples, which fit the model's views. */
kfe_status kfe_i_gate_shares(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out);
/* out (rows × gate_dim) = the features of the gate, z^G. */
kfe_status kfe_i_gate_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double *out);

/* Logits of the shares are linear in the features of the gate, and so in the columns of the data. Of a plane p:
 * logits(p) = slopes (parts × 2) · p + offsets (parts). The plane is that of two features of the gate, which must be all of
 * them, or (`raw`) of the two columns of the one view. */
kfe_status kfe_i_gate_plane(kfe_context *ctx, const kfe_model *model, int raw, double *slopes,
                            double *offsets);

#endif
