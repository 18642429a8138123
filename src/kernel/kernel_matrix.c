/* SPDX-License-Identifier: Apache-2.0 */
/* The public call that computes a kernel matrix between two data sets. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "kernel/tile/cross.h"

static kfe_status check_view(kfe_context *ctx, const kfe_data *data, const kfe_data *other)
{

    if (data->view_count != 1)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "a kernel matrix is made from one table, but the data has %d views",
                          data->view_count);
    const kfe_i_table *table = &data->views[0].table;
    if ((table->kind == KFE_TABLE_TEXT) != (other->views[0].table.kind == KFE_TABLE_TEXT))
        return kfe_i_fail(ctx, KFE_EINPUT, "one table holds strings and the other numbers");
    if (table->cols != other->views[0].table.cols)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s has %lld columns, but the other table has %lld",
                          kfe_i_view_shown(&data->views[0]), (long long)table->cols,
                          (long long)other->views[0].table.cols);
    return kfe_i_table_check_finite(ctx, table, kfe_i_view_shown(&data->views[0]));
}

static kfe_status evaluate(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *rows,
                           const kfe_i_table *columns, kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    kfe_i_points row_points = {0};
    kfe_i_points column_points = {0};

    KFE_TRY(kfe_i_points_prepare(ctx, kernel, columns, NULL, &column_points));
    if (rows == columns) {
        KFE_TRY(kfe_i_self_matrix(ctx, kernel, &column_points, out->values));
    } else {
        KFE_TRY(kfe_i_points_prepare(ctx, kernel, rows, &column_points, &row_points));
        KFE_TRY(kfe_i_cross_block(ctx, kernel, (kfe_i_range){&row_points, 0, out->rows},
                                  (kfe_i_range){&column_points, 0, out->cols}, out->values, out->stride));
    }
    for (int64_t i = 0; kernel->common.weight != 1 && i < out->rows * out->cols; i++)
        out->values[i] *= kernel->common.weight;
cleanup:
    kfe_i_points_free(&row_points);
    kfe_i_points_free(&column_points);
    return status;
}

static kfe_status refuse_overflow(kfe_context *ctx, const kfe_data *rows, const kfe_matrix *matrix)
{
    for (int64_t p = 0; p < matrix->rows * matrix->cols; p++)
        if (!isfinite(matrix->values[p]))
            return kfe_i_fail(
                ctx, KFE_EINPUT,
                "%s: the kernel of row %lld and example %lld of the columns is not finite: their values "
                "are too large or too small to compute with; correct or remove them",
                kfe_i_view_shown(&rows->views[0]), (long long)(p / matrix->cols) + 1,
                (long long)(p % matrix->cols) + 1);
    return KFE_OK;
}

kfe_status kfe_kernel_matrix(kfe_context *ctx, const char *kernel, const kfe_data *rows,
                             const kfe_data *columns, kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel parsed = {0};
    const kfe_data *reference = columns ? columns : rows;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_kernel_parse(ctx, kernel, &parsed));
    if (parsed.def->base == KFE_BASE_GIVEN || parsed.def->base == KFE_BASE_USER)
        KFE_FAIL(ctx, KFE_EINVAL, "kernel %s has no values of its own to compute", parsed.def->name);
    KFE_TRY(check_view(ctx, reference, reference));
    KFE_TRY(check_view(ctx, rows, reference));
    KFE_TRY(kfe_i_kernel_prepare(ctx, &parsed, &reference->views[0].table));
    out->rows = kfe_data_rows(rows);
    out->cols = out->stride = kfe_data_rows(reference);
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)out->rows * (double)out->cols, "the kernel matrix",
                               "raise {memory}"));
    KFE_ALLOC(ctx, out->values, out->rows * out->cols);
    out->owner = ctx;
    KFE_TRY(evaluate(ctx, &parsed, &rows->views[0].table, &reference->views[0].table, out));
    KFE_TRY(refuse_overflow(ctx, rows, out));
cleanup:
    kfe_i_kernel_free(&parsed);
    if (status != KFE_OK)
        kfe_matrix_free(out);
    kfe_i_threads_leave(saved_threads);
    return status;
}
