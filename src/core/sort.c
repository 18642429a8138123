/* SPDX-License-Identifier: Apache-2.0 */
/* Positions sorted by a value; explanations and figures show the largest ones first. */
#include "core/sort.h"

#include <stdlib.h>

static int compare_falling(const void *a, const void *b)
{
    const kfe_i_sorted *x = a;
    const kfe_i_sorted *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void kfe_i_sort_falling(kfe_i_sorted *items, int64_t count)
{
    qsort(items, (size_t)count, sizeof *items, compare_falling);
}
