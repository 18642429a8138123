/* SPDX-License-Identifier: Apache-2.0 */
/* Strings while they are read: examples, and the names of rows. */
#include "data/table/text_rows.h"

#include "core/memory.h"

void kfe_i_text_rows_init(kfe_i_text_rows *rows, kfe_context *ctx)
{
    *rows = (kfe_i_text_rows){.starts = NULL};
    kfe_i_text_init(&rows->bytes, ctx);
}

void kfe_i_text_rows_free(kfe_i_text_rows *rows)
{
    kfe_i_text_free(&rows->bytes);
    if (rows->bytes.ctx)
        kfe_i_free(rows->bytes.ctx, rows->starts);
    rows->starts = NULL;
}

kfe_status kfe_i_text_rows_end(kfe_i_text_rows *rows)
{
    kfe_status status = KFE_OK;

    KFE_TRY(rows->bytes.status);
    KFE_GROW(rows->bytes.ctx, rows->starts, rows->capacity, rows->count + 2);
    rows->starts[0] = 0;
    rows->starts[++rows->count] = rows->bytes.length;
cleanup:
    return status;
}

kfe_status kfe_i_text_rows_take(kfe_i_text_rows *rows, kfe_i_table *out)
{
    *out = (kfe_i_table){.ctx = rows->bytes.ctx,
                         .kind = KFE_TABLE_TEXT,
                         .owned = 1,
                         .rows = rows->count,
                         .cols = 1,
                         .row_start = rows->starts};
    rows->starts = NULL;
    rows->count = rows->capacity = 0;
    return kfe_i_text_take(&rows->bytes, &out->bytes);
}
