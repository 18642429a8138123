/* SPDX-License-Identifier: Apache-2.0 */
/* Sort positions by a value, the most important columns, views or examples first, and lists of rows. */
#ifndef KFE_CORE_SORT_H
#define KFE_CORE_SORT_H

#include <stdint.h>

typedef struct kfe_i_sorted {
    double value; /* not NaN */
    int64_t index;
} kfe_i_sorted;

/* Sorts by falling value; equal values by rising index. */
void kfe_i_sort_falling(kfe_i_sorted *items, int64_t count);

/* Sorts row numbers by rising value. */
void kfe_i_sort_rows(int64_t *rows, int64_t count);
/* The place of a row in such a list; -1: it is not there. */
int64_t kfe_i_find_row(const int64_t *rows, int64_t count, int64_t row);

#endif
