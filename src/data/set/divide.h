/* SPDX-License-Identifier: Apache-2.0 */
/* Divide the columns of one table into views. The model keeps the division, so that new data is again one table. */
#ifndef KFE_DATA_SET_DIVIDE_H
#define KFE_DATA_SET_DIVIDE_H

#include "data/prepare/encoding.h"
#include "data/table/columns.h"

/* Which view each column belongs to. Columns are numbered as they are before encoding (data/prepare/encoding.h). */
typedef struct kfe_i_division {
    kfe_context *ctx;
    int64_t cols;     /* of the table; 0: nothing is divided */
    int32_t *view_of; /* one per column, -1: none */
    char **names;     /* of the columns, or NULL */
} kfe_i_division;

/* Views as users give them: names, and lists of columns as kfe_i_columns_mark takes them. */
typedef struct kfe_i_view_lists {
    int count;
    const char *const *names;
    const char *const *lists;
} kfe_i_view_lists;

/* Where the columns of a table stood in its file, which has others besides: the label, names of rows, columns left out. */
typedef struct kfe_i_fields {
    int64_t count;       /* columns of the file */
    const int64_t *from; /* the column of the file, from 0, of each column of the table; NULL: the same */
} kfe_i_fields;

/* Finds the columns of each view. `source` is the table before encoding; numbers are those of `fields`. Refuses an unknown column,
 * a column in two views and a view without columns. */
kfe_status kfe_i_division_find(kfe_context *ctx, const kfe_i_column_list *source, const kfe_i_fields *fields,
                               const kfe_i_view_lists *views, kfe_i_division *out);
kfe_status kfe_i_division_copy(kfe_context *ctx, const kfe_i_division *from, kfe_i_division *out);
void kfe_i_division_free(kfe_i_division *division);

/* How many columns a view has, and which of these a column of the table is. */
int64_t kfe_i_division_count(const kfe_i_division *division, int view);
int64_t kfe_i_division_place(const kfe_i_division *division, int64_t column);

/* Replaces the one view of the data by views of these names, as the division says. */
struct kfe_data;
kfe_status kfe_i_data_divide(kfe_context *ctx, struct kfe_data *data, const kfe_i_division *division,
                             int count, const char *const *names);

#endif
