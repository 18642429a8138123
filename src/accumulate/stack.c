/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a stream, one below the other, as one data set; used by reservoir.c and stream.c. */
#include "accumulate/stack.h"

#include <string.h>

#include "core/memory.h"

static int64_t total_rows(kfe_data *const *parts, int64_t count)
{
    int64_t rows = 0;

    for (int64_t p = 0; p < count; p++)
        rows += kfe_data_rows(parts[p]);
    return rows;
}

static kfe_status stack_dense(kfe_context *ctx, kfe_data *const *parts, int64_t count, int64_t rows,
                              kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t at = 0;

    KFE_TRY(kfe_i_table_new_dense(ctx, rows, parts[0]->views[0].table.cols, out));
    for (int64_t p = 0; p < count; p++)
        for (int64_t i = 0; i < parts[p]->views[0].table.rows; i++)
            kfe_i_table_dense_row(&parts[p]->views[0].table, i, out->values + at++ * out->stride);
cleanup:
    return status;
}

static kfe_status stack_csr(kfe_context *ctx, kfe_data *const *parts, int64_t count, int64_t rows,
                            kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t entries = 0;
    int64_t cols = 0;
    int64_t at = 0;

    for (int64_t p = 0; p < count; p++) {
        const kfe_i_table *table = &parts[p]->views[0].table;
        entries += table->row_start[table->rows] - table->row_start[0];
        cols = table->cols > cols ? table->cols : cols;
    }
    KFE_TRY(kfe_i_table_new_csr(ctx, rows, cols, entries, out));
    entries = 0;
    for (int64_t p = 0; p < count; p++) {
        const kfe_i_table *table = &parts[p]->views[0].table;
        for (int64_t i = 0; i < table->rows; i++) {
            int64_t first = table->row_start[i];
            int64_t length = table->row_start[i + 1] - first;
            memcpy(out->values + entries, table->values + first, (size_t)length * sizeof *out->values);
            memcpy(out->columns + entries, table->columns + first, (size_t)length * sizeof *out->columns);
            entries += length;
            out->row_start[++at] = entries;
        }
    }
cleanup:
    return status;
}

static kfe_status stack_labels(kfe_context *ctx, kfe_data *const *parts, int64_t count, int64_t rows,
                               kfe_data *out)
{
    kfe_status status = KFE_OK;
    const char **labels = NULL;
    int64_t at = 0;

    KFE_ALLOC(ctx, labels, rows);
    for (int64_t p = 0; p < count; p++)
        for (int64_t i = 0; i < parts[p]->target.rows; i++)
            labels[at++] = parts[p]->target.names[parts[p]->target.codes[i]];
    KFE_TRY(kfe_data_set_labels(ctx, out, labels));
cleanup:
    kfe_i_free(ctx, labels);
    return status;
}

static kfe_status stack_values(kfe_context *ctx, kfe_data *const *parts, int64_t count, int64_t rows,
                               kfe_data *out)
{
    kfe_status status = KFE_OK;
    int64_t cols = parts[0]->target.cols;
    double *values = NULL;
    int64_t at = 0;

    KFE_ALLOC(ctx, values, rows * cols);
    for (int64_t p = 0; p < count; p++) {
        int64_t size = parts[p]->target.rows * cols;
        memcpy(values + at, parts[p]->target.values, (size_t)size * sizeof *values);
        at += size;
    }
    KFE_TRY(kfe_data_set_targets(ctx, out, cols, values));
cleanup:
    kfe_i_free(ctx, values);
    return status;
}

/* Parts without weights have ones. */
static kfe_status stack_weights(kfe_context *ctx, kfe_data *const *parts, int64_t count, int64_t rows,
                                kfe_data *out)
{
    kfe_status status = KFE_OK;
    double *weights = NULL;
    int weighted = 0;
    int64_t at = 0;

    for (int64_t p = 0; p < count; p++)
        weighted |= parts[p]->target.weights != NULL;
    if (!weighted)
        return KFE_OK;
    KFE_ALLOC(ctx, weights, rows);
    for (int64_t p = 0; p < count; p++)
        for (int64_t i = 0; i < kfe_data_rows(parts[p]); i++)
            weights[at++] = kfe_i_weight_of(&parts[p]->target, i);
    KFE_TRY(kfe_data_set_weights(ctx, out, weights));
cleanup:
    kfe_i_free(ctx, weights);
    return status;
}

static kfe_status stack_target(kfe_context *ctx, kfe_data *const *parts, int64_t count, int64_t rows,
                               kfe_data *out)
{
    kfe_status status = KFE_OK;

    if (parts[0]->target.task == KFE_TASK_CLASSES)
        KFE_TRY(stack_labels(ctx, parts, count, rows, out));
    if (parts[0]->target.task == KFE_TASK_REAL)
        KFE_TRY(stack_values(ctx, parts, count, rows, out));
    KFE_TRY(stack_weights(ctx, parts, count, rows, out));
    KFE_TRY(kfe_i_data_copy_label_place(ctx, parts[0], out));
cleanup:
    return status;
}

kfe_status kfe_i_stack(kfe_context *ctx, kfe_data *const *parts, int64_t count, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_data *made = NULL;
    int64_t rows = total_rows(parts, count);
    const kfe_i_view *view = &parts[0]->views[0];

    *out = NULL;
    KFE_TRY(kfe_i_data_new(ctx, 1, &made));
    KFE_TRY(view->table.kind == KFE_TABLE_CSR ? stack_csr(ctx, parts, count, rows, &made->views[0].table)
                                              : stack_dense(ctx, parts, count, rows, &made->views[0].table));
    KFE_TRY(kfe_i_view_copy_name(ctx, view, &made->views[0]));
    if (made->views[0].table.cols == view->table.cols)
        KFE_TRY(kfe_i_view_copy_columns(ctx, view, &made->views[0]));
    KFE_TRY(stack_target(ctx, parts, count, rows, made));
    *out = made;
    made = NULL;
cleanup:
    kfe_data_free(made);
    return status;
}

kfe_status kfe_i_pick_rows(kfe_context *ctx, const kfe_data *data, const int64_t *index, int64_t count,
                           kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_data *picked = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_data_gather(ctx, data, index, count, &picked));
    for (int v = 0; v < data->view_count; v++)
        KFE_TRY(kfe_i_view_copy_columns(ctx, &data->views[v], &picked->views[v]));
    KFE_TRY(kfe_i_data_copy_label_place(ctx, data, picked));
    *out = picked;
    picked = NULL;
cleanup:
    kfe_data_free(picked);
    return status;
}
