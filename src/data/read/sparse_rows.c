/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse rows while they are read; for the formats that have them. */
#include "data/read/sparse_rows.h"

#include "core/memory.h"

kfe_status kfe_i_sparse_rows_begin(kfe_context *ctx, kfe_i_sparse_rows *rows)
{
    enum { FIRST = 16 };
    kfe_status status = KFE_OK;

    kfe_i_sparse_rows_free(rows);
    rows->ctx = ctx;
    rows->row_capacity = rows->column_capacity = rows->value_capacity = FIRST;
    KFE_ALLOC_ZERO(ctx, rows->row_start, FIRST);
    KFE_ALLOC(ctx, rows->columns, FIRST);
    KFE_ALLOC(ctx, rows->values, FIRST);
cleanup:
    return status;
}

kfe_status kfe_i_sparse_rows_add(kfe_i_sparse_rows *rows, int64_t column, double value)
{
    kfe_status status = KFE_OK;

    KFE_GROW(rows->ctx, rows->columns, rows->column_capacity, rows->entries + 1);
    KFE_GROW(rows->ctx, rows->values, rows->value_capacity, rows->entries + 1);
    rows->columns[rows->entries] = (int32_t)column;
    rows->values[rows->entries++] = value;
cleanup:
    return status;
}

kfe_status kfe_i_sparse_rows_end_row(kfe_i_sparse_rows *rows)
{
    kfe_status status = KFE_OK;

    KFE_GROW(rows->ctx, rows->row_start, rows->row_capacity, rows->rows + 2);
    rows->row_start[++rows->rows] = rows->entries;
cleanup:
    return status;
}

void kfe_i_sparse_rows_take(kfe_i_sparse_rows *rows, int64_t cols, kfe_i_table *out)
{
    *out = (kfe_i_table){.ctx = rows->ctx,
                         .kind = KFE_TABLE_CSR,
                         .owned = 1,
                         .rows = rows->rows,
                         .cols = cols,
                         .row_start = rows->row_start,
                         .columns = rows->columns,
                         .values = rows->values};
    *rows = (kfe_i_sparse_rows){.ctx = rows->ctx};
}

void kfe_i_sparse_rows_free(kfe_i_sparse_rows *rows)
{
    if (rows->ctx) {
        kfe_i_free(rows->ctx, rows->row_start);
        kfe_i_free(rows->ctx, rows->columns);
        kfe_i_free(rows->ctx, rows->values);
    }
    *rows = (kfe_i_sparse_rows){.ctx = rows->ctx};
}
