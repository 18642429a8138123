/* SPDX-License-Identifier: Apache-2.0 */
/* Views that a user lists as columns of one file, "NAME=COLUMNS;NAME=COLUMNS", for read.c. */
#include <string.h>

#include "core/memory.h"
#include "data/read/reader.h"

/* The list cut into names and columns, in one block of memory. */
typedef struct cut_list {
    char *bytes;
    const char **names, **lists;
    int count;
} cut_list;

/* Cuts at every semicolon that has no backslash before it. */
static int count_items(const char *list)
{
    int count = 1;

    for (const char *c = list; *c; c++) {
        if (*c == '\\' && c[1])
            c++;
        else
            count += *c == ';';
    }
    return count;
}

static char *item_end(char *c)
{
    for (; *c && *c != ';'; c++)
        c += *c == '\\' && c[1];
    return c;
}

static kfe_status cut(kfe_context *ctx, const char *list, cut_list *out)
{
    kfe_status status = KFE_OK;
    int count = count_items(list);

    KFE_STRDUP(ctx, out->bytes, list);
    KFE_ALLOC(ctx, out->names, count);
    KFE_ALLOC(ctx, out->lists, count);
    for (char *c = out->bytes; out->count < count; out->count++) {
        char *end = item_end(c);
        char *equals = memchr(c, '=', (size_t)(end - c));
        int last = *end == '\0';
        *end = '\0';
        if (!equals || equals == c)
            KFE_FAIL(ctx, KFE_EINVAL,
                     "{view} takes NAME=COLUMNS, such as left=1-3 or left=left_*, not '%.100s'", c);
        *equals = '\0';
        out->names[out->count] = c;
        out->lists[out->count] = equals + 1;
        c = last ? end : end + 1;
    }
cleanup:
    return status;
}

kfe_status kfe_i_divide_as_listed(kfe_context *ctx, const char *list, const kfe_i_raw_table *raw,
                                  kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_i_view *view = &data->views[0];
    int64_t cols = kfe_i_encoding_source_cols(&view->encoding, view->table.cols);
    kfe_i_column_list source = {"view", kfe_i_view_shown(view), cols, NULL, data->target_name};
    kfe_i_fields fields = {raw->fields ? raw->field_count : cols, raw->fields};
    kfe_i_division division = {0};
    cut_list views = {0};
    char **names = NULL;

    if (data->view_count != 1 || view->table.kind == KFE_TABLE_TEXT)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{view} divides the columns of one table, not %s; give one table of numbers",
                 data->view_count > 1 ? "of several" : "strings");
    KFE_TRY(cut(ctx, list, &views));
    if (view->column_names) {
        KFE_ALLOC(ctx, names, cols);
        kfe_i_encoding_source_names(&view->encoding, view->column_names, view->table.cols, names);
        source.names = names;
    }
    KFE_TRY(kfe_i_division_find(ctx, &source, &fields,
                                &(kfe_i_view_lists){views.count, views.names, views.lists}, &division));
    KFE_TRY(kfe_i_data_divide(ctx, data, &division, views.count, views.names));
cleanup:
    kfe_i_division_free(&division);
    kfe_i_free(ctx, names);
    kfe_i_free(ctx, views.bytes);
    kfe_i_free(ctx, views.names);
    kfe_i_free(ctx, views.lists);
    return status;
}
