/* SPDX-License-Identifier: Apache-2.0 */
/* Call kfe_i_neighbours_outputs to predict with a predictor of kind `neighbours`: its nearest rows vote. Call
 * kfe_i_neighbours_leave_one_out to choose how many. */
#ifndef KFE_LEARN_NEIGHBOURS_H
#define KFE_LEARN_NEIGHBOURS_H

#include "learn/predictor.h"

/* out (rows × outputs): the share of votes per class, or the mean of the neighbours' values. */
kfe_status kfe_i_neighbours_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                    const kfe_i_table *features, double *out);
/* errors[m] = the mean loss (wrong classes, or squared error) over `count` support rows, listed in `index`, when the
 * 2m + 1 nearest other rows vote, for m below `numbers`. Needs at least 2·numbers support rows. */
kfe_status kfe_i_neighbours_leave_one_out(kfe_context *ctx, const kfe_i_predictor *predictor,
                                          const int64_t *index, int64_t count, int64_t numbers,
                                          double *errors);

#endif
