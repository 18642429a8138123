/* SPDX-License-Identifier: Apache-2.0 */
/* Positions sorted by a value: explanations and figures show the largest ones first. Lists of rows are kept in rising order. */
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

static int compare_rows(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void kfe_i_sort_rows(int64_t *rows, int64_t count)
{
    if (count > 1)
        qsort(rows, (size_t)count, sizeof *rows, compare_rows);
}

int64_t kfe_i_find_row(const int64_t *rows, int64_t count, int64_t row)
{
    const int64_t *found = count > 0 ? bsearch(&row, rows, (size_t)count, sizeof *rows, compare_rows) : NULL;

    return found ? found - rows : -1;
}
