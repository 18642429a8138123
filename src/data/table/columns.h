/* SPDX-License-Identifier: Apache-2.0 */
/* Find the columns that a user lists, as in "height,fac_*,3,5-7". */
#ifndef KFE_DATA_TABLE_COLUMNS_H
#define KFE_DATA_TABLE_COLUMNS_H

#include "core/context.h"

/* The columns that a list may name. */
typedef struct kfe_i_column_list {
    const char *parameter; /* that holds the list, for messages: "drop" */
    const char *file;      /* for messages */
    int64_t count;
    char *const *names; /* one per column; NULL: none */
    const char *label;  /* name of the label column, which a list cannot name; NULL: unknown */
} kfe_i_column_list;

/* Sets the marks, one per column, of all columns that the list names: names, prefixes such as fac_*, numbers from 1 and
 * ranges such as 2-4, separated by commas; a comma inside a name takes a backslash. Fails for an item that names no column, and
 * for a name that two columns have. */
kfe_status kfe_i_columns_mark(kfe_context *ctx, const kfe_i_column_list *columns, const char *list,
                              unsigned char *marks);
/* The one column that the item names. If `may_lack`, -1 for a name that no column has. */
kfe_status kfe_i_columns_find(kfe_context *ctx, const kfe_i_column_list *columns, const char *item,
                              int may_lack, int64_t *out);
int kfe_i_columns_is_number(const char *item);

#endif
