/* SPDX-License-Identifier: Apache-2.0 */
/* Call kfe_i_neighbours_outputs to predict with a predictor of kind `neighbours`: its nearest rows vote. Call
 * kfe_i_neighbours_leave_one_out to choose how many. */
#ifndef KFE_LEARN_NEIGHBOURS_H
#define KFE_LEARN_NEIGHBOURS_H

#include "learn/predictor.h"

/* Support rows of equal content: group g consists of the rows from starts[g] up to starts[g + 1]; rows with equal answers lie side by side. */
typedef struct kfe_i_neighbour_groups {
    int64_t count;
    int64_t *starts; /* count + 1 */
} kfe_i_neighbour_groups;

/* out (rows × outputs): the share of votes per class, or the mean of the neighbours' values. */
kfe_status kfe_i_neighbours_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                    const kfe_i_table *features, double *out);
/* How often the table was given: the greatest number that divides how often each row occurs with each answer. */
int64_t kfe_i_neighbours_repeats(const kfe_i_predictor *predictor, const kfe_i_neighbour_groups *groups);
/* errors[m] = the mean loss (wrong classes, or squared error) over the rows of the first `queries` groups, if the (2m + 1)·unit nearest
 * other rows vote, for m below `numbers`. With a row, up to `unit` rows of equal content and answer are left out, itself included. Needs
 * two groups for each number. */
kfe_status kfe_i_neighbours_leave_one_out(kfe_context *ctx, const kfe_i_predictor *predictor,
                                          const kfe_i_neighbour_groups *groups, int64_t queries, int64_t unit,
                                          int64_t numbers, double *errors);

#endif
