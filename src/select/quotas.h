/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide T training rows of n over classes. Class g with n_g members gets its share T·n_g/n, rounded down; the rows that remain go to the
 * classes with the largest remainders, so that the total is T. If T allows it, every class of at least two members has one on each side:
 * the shares are first moved into 1 … n_g − 1.
 */
#ifndef KFE_SELECT_QUOTAS_H
#define KFE_SELECT_QUOTAS_H

#include "core/context.h"
#include "core/rng.h"

/* start (groups + 1): where the rows of each class begin; taken[g]: how many of class g are for training. */
kfe_status kfe_i_split_quotas(kfe_context *ctx, const int64_t *start, int64_t groups, int64_t train_count,
                              kfe_i_rng *rng, int64_t *taken);

static inline int64_t kfe_i_clamped(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
