/* SPDX-License-Identifier: Apache-2.0 */
/* Sort positions by a value: the most important columns, views or examples first. */
#ifndef KFE_CORE_SORT_H
#define KFE_CORE_SORT_H

#include <stdint.h>

typedef struct kfe_i_sorted {
    double value; /* not NaN */
    int64_t index;
} kfe_i_sorted;

/* Sorts by falling value; equal values by rising index. */
void kfe_i_sort_falling(kfe_i_sorted *items, int64_t count);

#endif
