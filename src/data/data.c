/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets: making them from memory, and asking what they contain. Readers and generators fill them. */
#include "data/data.h"

#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_data_new(kfe_context *ctx, int views, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, data, 1);
    data->ctx = ctx;
    KFE_ALLOC_ZERO(ctx, data->views, views);
    data->view_count = views;
    *out = data;
    data = NULL;
cleanup:
    kfe_data_free(data);
    return status;
}

static void free_view(kfe_context *ctx, kfe_i_view *view)
{
    kfe_i_strings_free(ctx, view->table.cols, view->column_names);
    kfe_i_free(ctx, view->name);
    kfe_i_free(ctx, view->path);
    if (view->encoding.columns)
        kfe_i_encoding_free(&view->encoding);
    if (view->gaps.ctx)
        kfe_i_gaps_free(&view->gaps);
    kfe_i_table_free(&view->table);
}

kfe_i_table kfe_i_weighted_rows(const kfe_i_table *table, const kfe_i_target *target)
{
    kfe_i_table rows = kfe_i_table_slice(table, 0, table->rows);

    rows.weights = target->weights;
    rows.keys = target->keys;
    return rows;
}

const char *kfe_i_view_shown(const kfe_i_view *view)
{
    return view->path ? view->path : view->name;
}

kfe_status kfe_i_view_copy_name(kfe_context *ctx, const kfe_i_view *from, kfe_i_view *to)
{
    kfe_status status = KFE_OK;

    KFE_STRDUP(ctx, to->name, from->name);
    if (from->path)
        KFE_STRDUP(ctx, to->path, from->path);
    to->named = from->named;
cleanup:
    return status;
}

char *const *kfe_i_view_names(const kfe_i_view *view)
{
    return view->column_names ? view->column_names : view->lent_names;
}

kfe_status kfe_i_view_copy_columns(kfe_context *ctx, const kfe_i_view *from, kfe_i_view *to)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_encoding_copy(ctx, &from->encoding, &to->encoding));
    KFE_TRY(kfe_i_strings_copy(ctx, from->table.cols, (const char *const *)from->column_names,
                               &to->column_names));
cleanup:
    return status;
}

static void free_protocol(kfe_data *data)
{
    for (int64_t i = 0; i < data->split_count; i++) {
        kfe_i_free(data->ctx, data->splits[i].train);
        kfe_i_free(data->ctx, data->splits[i].test);
    }
    kfe_i_free(data->ctx, data->splits);
    kfe_i_free(data->ctx, data->groups);
}

void kfe_data_free(kfe_data *data)
{
    if (!data)
        return;
    for (int v = 0; v < data->view_count; v++)
        free_view(data->ctx, &data->views[v]);
    kfe_i_target_free(&data->target);
    kfe_i_free(data->ctx, data->target_name);
    kfe_i_free(data->ctx, data->id_name);
    kfe_i_table_free(&data->ids);
    kfe_i_free(data->ctx, data->row_numbers);
    free_protocol(data);
    if (data->division.ctx)
        kfe_i_division_free(&data->division);
    kfe_i_free(data->ctx, data->views);
    kfe_i_free(data->ctx, data);
}

void kfe_i_data_swap_views(kfe_data *a, kfe_data *b)
{
    kfe_i_view *views = a->views;
    kfe_i_division division = a->division;
    int count = a->view_count;

    a->views = b->views;
    a->division = b->division;
    a->view_count = b->view_count;
    b->views = views;
    b->division = division;
    b->view_count = count;
}

void kfe_matrix_free(kfe_matrix *matrix)
{
    if (!matrix)
        return;
    if (matrix->owner)
        kfe_i_free(matrix->owner, matrix->values);
    memset(matrix, 0, sizeof *matrix);
}

/* A data set of one view with this table, which usually refers to memory of the caller. The casts drop const from memory that is
 * never written: tables that are not owned are read only. */
static kfe_status wrap_table(kfe_context *ctx, const kfe_i_table *table, kfe_data **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    KFE_TRY(kfe_i_table_check(ctx, table));
    KFE_TRY(kfe_i_data_new(ctx, 1, out));
    KFE_STRDUP(ctx, (*out)->views[0].name, "data");
    (*out)->views[0].table = *table; /* last: after a failure the caller still owns what it owned */
cleanup:
    if (status != KFE_OK) {
        kfe_data_free(*out);
        *out = NULL;
    }
    return status;
}

kfe_status kfe_data_wrap_dense(kfe_context *ctx, int64_t rows, int64_t cols, int64_t stride,
                               const double *values, kfe_data **out)
{
    kfe_i_table table = {.ctx = ctx, .kind = KFE_TABLE_DENSE, .rows = rows, .cols = cols, .stride = stride};

    table.values = (double *)(uintptr_t)values;
    return wrap_table(ctx, &table, out);
}

kfe_status kfe_data_wrap_dense_f32(kfe_context *ctx, int64_t rows, int64_t cols, int64_t stride,
                                   const float *values, kfe_data **out)
{
    kfe_i_table table = {.ctx = ctx, .kind = KFE_TABLE_DENSE, .rows = rows, .cols = cols, .stride = stride};

    table.singles = (float *)(uintptr_t)values;
    return wrap_table(ctx, &table, out);
}

kfe_status kfe_i_data_widen(kfe_context *ctx, kfe_data *data)
{
    kfe_status status = KFE_OK;

    for (int v = 0; status == KFE_OK && v < data->view_count; v++)
        status = kfe_i_table_widen(ctx, &data->views[v].table);
    return status;
}

kfe_status kfe_data_wrap_csr(kfe_context *ctx, int64_t rows, int64_t cols, const int64_t *row_start,
                             const int32_t *columns, const double *values, kfe_data **out)
{
    kfe_i_table table = {.ctx = ctx, .kind = KFE_TABLE_CSR, .rows = rows, .cols = cols};

    table.values = (double *)(uintptr_t)values;
    table.row_start = (int64_t *)(uintptr_t)row_start;
    table.columns = (int32_t *)(uintptr_t)columns;
    return wrap_table(ctx, &table, out);
}

static kfe_status copy_strings(kfe_context *ctx, int64_t rows, const char *const *strings, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t total = 0;

    for (int64_t i = 0; i < rows; i++)
        total += (int64_t)strlen(strings[i]);
    KFE_TRY(kfe_i_table_new_text(ctx, rows, total, out));
    for (int64_t i = 0; i < rows; i++) {
        size_t length = strlen(strings[i]);
        memcpy(out->bytes + out->row_start[i], strings[i], length);
        out->row_start[i + 1] = out->row_start[i] + (int64_t)length;
    }
cleanup:
    return status;
}

kfe_status kfe_data_from_text(kfe_context *ctx, int64_t rows, const char *const *strings, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_table table = {0};

    *out = NULL;
    KFE_TRY(copy_strings(ctx, rows, strings, &table));
    status = wrap_table(ctx, &table, out);
    if (status != KFE_OK)
        kfe_i_table_free(&table);
cleanup:
    return status;
}

/* Labels and weights are set in any order: a new target keeps the weights of the rows. */
static void replace_target(kfe_data *data, kfe_i_target target)
{
    if (!target.weights) {
        target.weights = data->target.weights;
        data->target.weights = NULL;
    }
    kfe_i_target_free(&data->target);
    data->target = target;
}

kfe_status kfe_data_set_labels(kfe_context *ctx, kfe_data *data, const char *const *labels)
{
    kfe_i_target target = {0};
    kfe_status status = kfe_i_target_from_labels(ctx, kfe_data_rows(data), labels, &target);

    if (status == KFE_OK)
        replace_target(data, target);
    return status;
}

kfe_status kfe_data_set_targets(kfe_context *ctx, kfe_data *data, int64_t cols, const double *targets)
{
    kfe_i_target target = {0};
    kfe_status status = kfe_i_target_from_values(ctx, kfe_data_rows(data), cols, targets, &target);

    if (status == KFE_OK)
        replace_target(data, target);
    return status;
}

kfe_status kfe_data_copy_target(kfe_context *ctx, const kfe_data *from, kfe_data *to)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(from);
    char *name = NULL;
    kfe_i_target target = {0};

    if (rows != kfe_data_rows(to))
        KFE_FAIL(ctx, KFE_EINVAL, "the labels of %lld rows do not fit %lld rows", (long long)rows,
                 (long long)kfe_data_rows(to));
    if (from->target_name)
        KFE_STRDUP(ctx, name, from->target_name);
    KFE_TRY(kfe_i_target_gather(ctx, &from->target, NULL, rows, &target));
    replace_target(to, target);
    kfe_i_free(to->ctx, to->target_name);
    to->target_name = name;
    name = NULL;
cleanup:
    kfe_i_free(ctx, name);
    return status;
}

kfe_status kfe_data_set_column_names(kfe_context *ctx, kfe_data *data, int view, const char *const *names)
{
    kfe_status status = KFE_OK;
    kfe_i_view *named = view >= 0 && view < data->view_count ? &data->views[view] : NULL;
    char **copies = NULL;

    if (!named)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no view %d", view);
    KFE_TRY(kfe_i_strings_copy(ctx, named->table.cols, names, &copies));
    kfe_i_strings_free(data->ctx, named->table.cols, named->column_names);
    named->column_names = copies;
cleanup:
    return status;
}

/* ---- asking ---- */

int64_t kfe_data_rows(const kfe_data *data)
{
    return data->views[0].table.rows;
}

int kfe_data_views(const kfe_data *data)
{
    return data->view_count;
}

static const kfe_i_view *view_at(const kfe_data *data, int view)
{
    return view >= 0 && view < data->view_count ? &data->views[view] : NULL;
}

const char *kfe_data_view_name(const kfe_data *data, int view)
{
    const kfe_i_view *found = view_at(data, view);
    return found ? found->name : NULL;
}

int64_t kfe_data_cols(const kfe_data *data, int view)
{
    const kfe_i_view *found = view_at(data, view);
    return found ? found->table.cols : 0;
}

int kfe_data_is_sparse(const kfe_data *data, int view)
{
    const kfe_i_view *found = view_at(data, view);
    return found && found->table.kind == KFE_TABLE_CSR;
}

const int64_t *kfe_data_csr_row_start(const kfe_data *data, int view)
{
    return kfe_data_is_sparse(data, view) ? view_at(data, view)->table.row_start : NULL;
}

const int32_t *kfe_data_csr_columns(const kfe_data *data, int view)
{
    return kfe_data_is_sparse(data, view) ? view_at(data, view)->table.columns : NULL;
}

const double *kfe_data_csr_values(const kfe_data *data, int view)
{
    return kfe_data_is_sparse(data, view) ? view_at(data, view)->table.values : NULL;
}

kfe_task kfe_data_task(const kfe_data *data)
{
    return data->target.task;
}

int64_t kfe_data_classes(const kfe_data *data)
{
    return data->target.task == KFE_TASK_CLASSES ? data->target.class_count : 0;
}

const char *kfe_data_class_name(const kfe_data *data, int64_t index)
{
    return index >= 0 && index < kfe_data_classes(data) ? data->target.names[index] : NULL;
}

int64_t kfe_data_class_of(const kfe_data *data, int64_t row)
{
    if (data->target.task != KFE_TASK_CLASSES || row < 0 || row >= data->target.rows)
        return -1;
    return data->target.codes[row];
}

const char *kfe_data_column_name(const kfe_data *data, int view, int64_t col)
{
    const kfe_i_view *found = view_at(data, view);
    return found && found->column_names && col >= 0 && col < found->table.cols ? found->column_names[col]
                                                                               : NULL;
}

const double *kfe_data_targets(const kfe_data *data, int64_t *cols)
{
    int real = data->target.task == KFE_TASK_REAL;

    *cols = real ? data->target.cols : 0;
    return real ? data->target.values : NULL;
}

kfe_status kfe_data_row(kfe_context *ctx, const kfe_data *data, int view, int64_t index, double *row)
{
    const kfe_i_view *found = view_at(data, view);

    if (!found || index < 0 || index >= found->table.rows)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no row %lld in view %d", (long long)index, view);
    if (found->table.kind == KFE_TABLE_TEXT)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "rows of strings are not numbers");
    kfe_i_table_dense_row(&found->table, index, row);
    return KFE_OK;
}

kfe_status kfe_i_data_copy_label_place(kfe_context *ctx, const kfe_data *from, kfe_data *to)
{
    kfe_status status = KFE_OK;

    to->label_place = from->label_place;
    if (from->target_name)
        KFE_STRDUP(ctx, to->target_name, from->target_name);
cleanup:
    return status;
}

kfe_status kfe_i_data_gather(kfe_context *ctx, const kfe_data *data, const int64_t *index, int64_t count,
                             kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_data *part = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_data_new(ctx, data->view_count, &part));
    for (int v = 0; v < data->view_count; v++) {
        KFE_TRY(kfe_i_view_copy_name(ctx, &data->views[v], &part->views[v]));
        KFE_TRY(kfe_i_table_gather(ctx, &data->views[v].table, index, count, &part->views[v].table));
        KFE_TRY(kfe_i_gaps_gather(ctx, &data->views[v].gaps, index, count, &part->views[v].gaps));
        part->views[v].lent_names = kfe_i_view_names(&data->views[v]);
    }
    KFE_TRY(kfe_i_target_gather(ctx, &data->target, index, count, &part->target));
    *out = part;
    part = NULL;
cleanup:
    kfe_data_free(part);
    return status;
}
