/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of rows that splits keep together, and splits that the user gives. Used by cross-validation; set by hosts and by
 * `--groups`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"
#include "data/data.h"

kfe_status kfe_data_set_groups(kfe_context *ctx, kfe_data *data, const int64_t *groups)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    int64_t *copy = NULL;

    if (groups) {
        KFE_ALLOC(ctx, copy, rows);
        memcpy(copy, groups, (size_t)rows * sizeof *copy);
    }
    kfe_i_free(data->ctx, data->groups);
    data->groups = copy;
cleanup:
    return status;
}

/* ---- a column of the first view ---- */

kfe_status kfe_i_data_find_column(kfe_context *ctx, const kfe_data *data, const char *parameter,
                                  const char *column, int64_t *out)
{
    const kfe_i_view *view = &data->views[0];
    kfe_i_column_list columns = {parameter, kfe_i_view_shown(view), view->table.cols, view->column_names,
                                 NULL};
    char shown[KFE_WORDING_TEXT];

    kfe_i_word_name(ctx, parameter, shown);
    if (view->table.kind != KFE_TABLE_DENSE || view->table.cols < 2)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s takes a column of a dense table with at least two columns",
                          shown);
    return kfe_i_columns_find(ctx, &columns, column, 0, out);
}

typedef struct numbered {
    double value;
    int64_t row;
} numbered;

static int compare_numbered(const void *a, const void *b)
{
    const numbered *x = a;
    const numbered *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

kfe_status kfe_i_number_groups(kfe_context *ctx, const double *values, int64_t stride, int64_t rows,
                               int64_t **out)
{
    kfe_status status = KFE_OK;
    numbered *sorted = NULL;

    KFE_ALLOC(ctx, *out, rows);
    KFE_ALLOC(ctx, sorted, rows);
    for (int64_t i = 0; i < rows; i++) {
        sorted[i] = (numbered){values[i * stride], i};
        if (isnan(sorted[i].value))
            KFE_FAIL(ctx, KFE_EINPUT, "{groups}: the column has missing values, the first in row %lld",
                     (long long)i + 1);
    }
    qsort(sorted, (size_t)rows, sizeof *sorted, compare_numbered);
    for (int64_t p = 0; p < rows; p++)
        (*out)[sorted[p].row] =
            p > 0 && sorted[p].value == sorted[p - 1].value ? (*out)[sorted[p - 1].row] : sorted[p].row;
cleanup:
    kfe_i_free(ctx, sorted);
    return status;
}

/* Renumbers the gaps behind a column that is removed; 0 if the column has gaps itself. */
static int shift_gaps(const kfe_i_view *view, int64_t column)
{
    int64_t count = view->gaps.row_start ? view->gaps.row_start[view->table.rows] : 0;

    for (int64_t i = 0; i < count; i++)
        if (view->gaps.columns[i] == column)
            return 0;
    for (int64_t i = 0; i < count; i++)
        view->gaps.columns[i] -= view->gaps.columns[i] > column;
    for (int64_t b = 0; b < view->gaps.block_count; b++)
        view->gaps.blocks[2 * b] -= view->gaps.blocks[2 * b] > column;
    return 1;
}

/* Renumbers the encoded columns behind a column that is removed; 0 if the column is itself part of an encoded one. */
static int shift_encoding(const kfe_i_view *view, int64_t column)
{
    const kfe_i_encoding *encoding = &view->encoding;
    int64_t first = 0; /* of the encoded column at hand, after encoding */
    int64_t added = 0;

    for (int64_t e = 0; e < encoding->count; e++) {
        first = encoding->columns[e].column + added;
        if (column >= first && column < first + encoding->columns[e].count)
            return 0;
        added += encoding->columns[e].count - 1;
        encoding->columns[e].column -= first > column;
    }
    return 1;
}

kfe_status kfe_i_data_remove_column(kfe_context *ctx, kfe_data *data, const char *parameter, int64_t column)
{
    kfe_status status = KFE_OK;
    kfe_i_view *view = &data->views[0];
    kfe_i_table rest = {0};
    int64_t cols = view->table.cols - 1;
    char shown[KFE_WORDING_TEXT];

    kfe_i_word_name(ctx, parameter, shown);
    KFE_TRY(kfe_i_data_widen(ctx, data));
    KFE_TRY(kfe_i_table_new_dense(ctx, view->table.rows, cols, &rest));
    if (!shift_encoding(view, column)) {
        kfe_i_table_free(&rest);
        KFE_FAIL(ctx, KFE_EINVAL, "%s: the column is encoded as categories; leave it out of {encode}", shown);
    }
    if (!shift_gaps(view, column)) {
        kfe_i_table_free(&rest);
        KFE_FAIL(ctx, KFE_EINPUT, "%s: the column has missing values", shown);
    }
    for (int64_t i = 0; i < rest.rows; i++)
        for (int64_t j = 0; j < cols; j++)
            rest.values[i * cols + j] = view->table.values[i * view->table.stride + j + (j >= column)];
    kfe_i_table_free(&view->table);
    view->table = rest;
    if (view->column_names) {
        kfe_i_free(ctx, view->column_names[column]);
        for (int64_t j = column; j < cols; j++)
            view->column_names[j] = view->column_names[j + 1];
        view->column_names[cols] = NULL;
    }
    if (data->label_place.before > column)
        data->label_place.before--;
cleanup:
    return status;
}

kfe_status kfe_data_take_groups(kfe_context *ctx, kfe_data *data, const char *column)
{
    kfe_status status = KFE_OK;
    kfe_i_view *view = &data->views[0];
    int64_t *groups = NULL;
    int64_t at = 0;

    KFE_TRY(kfe_i_data_find_column(ctx, data, "groups", column, &at));
    KFE_TRY(kfe_i_data_widen(ctx, data));
    KFE_TRY(kfe_i_number_groups(ctx, view->table.values + at, view->table.stride, view->table.rows, &groups));
    KFE_TRY(kfe_data_set_groups(ctx, data, groups));
    KFE_TRY(kfe_i_data_remove_column(ctx, data, "groups", at));
cleanup:
    kfe_i_free(ctx, groups);
    return status;
}

/* ---- given splits ---- */

static kfe_status check_rows(kfe_context *ctx, const kfe_data *data, int64_t count, const int64_t *rows,
                             const char *part)
{
    if (count < 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "the %s part of a split has no rows", part);
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= kfe_data_rows(data))
            return kfe_i_fail(ctx, KFE_EINVAL,
                              "the %s part of a split names row %lld, but the data has rows 0 to %lld", part,
                              (long long)rows[i], (long long)kfe_data_rows(data) - 1);
    return KFE_OK;
}

kfe_status kfe_data_add_split(kfe_context *ctx, kfe_data *data, int64_t train_count, const int64_t *train,
                              int64_t test_count, const int64_t *test)
{
    kfe_status status = KFE_OK;
    kfe_i_given_split split = {.train_count = train_count, .test_count = test_count};

    KFE_TRY(check_rows(ctx, data, train_count, train, "training"));
    KFE_TRY(check_rows(ctx, data, test_count, test, "test"));
    KFE_ALLOC(ctx, split.train, train_count);
    KFE_ALLOC(ctx, split.test, test_count);
    memcpy(split.train, train, (size_t)train_count * sizeof *train);
    memcpy(split.test, test, (size_t)test_count * sizeof *test);
    KFE_GROW(ctx, data->splits, data->split_capacity, data->split_count + 1);
    data->splits[data->split_count++] = split;
    memset(&split, 0, sizeof split);
cleanup:
    kfe_i_free(ctx, split.train);
    kfe_i_free(ctx, split.test);
    return status;
}
