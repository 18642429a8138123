/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that take fewer features than the best number, by errors on rows left out: for dim=auto (choose_dim.c) and grids over dim
 * (select/choose.c, which states the rules). */
#ifndef KFE_MODEL_DIM_RULE_H
#define KFE_MODEL_DIM_RULE_H

#include <stdint.h>

#define KFE_CHOOSE_WORDS "min|one-se|permutation|q2"
typedef enum kfe_i_choose_rule {
    KFE_CHOOSE_MIN,
    KFE_CHOOSE_ONE_SE,
    KFE_CHOOSE_PERMUTATION,
    KFE_CHOOSE_Q2
} kfe_i_choose_rule;

/* Differences of losses with a larger probability are chance; a feature lowers RMSECV at least to this share. */
#define KFE_FLIP_LEVEL 0.01
#define KFE_Q2_GAIN 0.95

/* The probability that random signs make the sum of the differences as large (van der Voet 1994). */
double kfe_i_flip_probability(uint64_t seed, int64_t count, const double *differences);

#endif
