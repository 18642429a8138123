/* SPDX-License-Identifier: Apache-2.0 */
/* Call kfe_i_neighbours_outputs to predict with a predictor of kind `neighbours`: its nearest rows vote. */
#ifndef KFE_LEARN_NEIGHBOURS_H
#define KFE_LEARN_NEIGHBOURS_H

#include "learn/predictor.h"

/* out (rows × outputs): the share of votes per class, or the mean of the neighbours' values. */
kfe_status kfe_i_neighbours_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                    const kfe_i_table *features, double *out);

#endif
