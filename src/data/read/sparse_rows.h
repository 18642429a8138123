/* SPDX-License-Identifier: Apache-2.0 */
/* Collect sparse rows, entry by entry, in a table that grows. */
#ifndef KFE_DATA_READ_SPARSE_ROWS_H
#define KFE_DATA_READ_SPARSE_ROWS_H

#include "data/table/table.h"

typedef struct kfe_i_sparse_rows {
    kfe_context *ctx;
    int64_t rows, entries;
    int64_t *row_start;
    int32_t *columns;
    double *values;
    int64_t row_capacity, column_capacity, value_capacity;
} kfe_i_sparse_rows;

/* Frees what it held, and makes room for the first rows. Free it also after a failure; zeros are an empty one. */
kfe_status kfe_i_sparse_rows_begin(kfe_context *ctx, kfe_i_sparse_rows *rows);
/* Adds an entry to the row at hand. Columns count from 0. */
kfe_status kfe_i_sparse_rows_add(kfe_i_sparse_rows *rows, int64_t column, double value);
kfe_status kfe_i_sparse_rows_end_row(kfe_i_sparse_rows *rows);
/* Gives the rows to a table of `cols` columns. */
void kfe_i_sparse_rows_take(kfe_i_sparse_rows *rows, int64_t cols, kfe_i_table *out);
void kfe_i_sparse_rows_free(kfe_i_sparse_rows *rows);

#endif
