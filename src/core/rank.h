/* SPDX-License-Identifier: Apache-2.0 */
/* Sort positions by a value: the most important columns, views or examples first. */
#ifndef KFE_CORE_RANK_H
#define KFE_CORE_RANK_H

#include <stdint.h>

typedef struct kfe_i_ranked {
    double value; /* not NaN */
    int64_t index;
} kfe_i_ranked;

/* Sorts by falling value; equal values by rising index. */
void kfe_i_rank_falling(kfe_i_ranked *items, int64_t count);

#endif
