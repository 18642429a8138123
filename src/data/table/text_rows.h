/* SPDX-License-Identifier: Apache-2.0 */
/* Collect strings, row by row, in a table that grows. */
#ifndef KFE_DATA_TABLE_TEXT_ROWS_H
#define KFE_DATA_TABLE_TEXT_ROWS_H

#include "core/text.h"
#include "data/table/table.h"

typedef struct kfe_i_text_rows {
    kfe_i_text bytes; /* of all rows; add those of the next row here */
    int64_t *starts;  /* count + 1, once there is a row */
    int64_t count, capacity;
} kfe_i_text_rows;

void kfe_i_text_rows_init(kfe_i_text_rows *rows, kfe_context *ctx);
void kfe_i_text_rows_free(kfe_i_text_rows *rows);
/* Ends a row: it has the bytes that were added since the last one. */
kfe_status kfe_i_text_rows_end(kfe_i_text_rows *rows);
/* Gives the rows, at least one, to a table. More may follow, for another table. Free `out` also after a failure. */
kfe_status kfe_i_text_rows_take(kfe_i_text_rows *rows, kfe_i_table *out);

#endif
