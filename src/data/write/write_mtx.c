/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of MatrixMarket files: coordinates for sparse rows, an array for dense ones, with a numeric target as its last column. */
#include <stdio.h>

#include "core/memory.h"
#include "data/write/writer.h"

static void put_line(kfe_i_sink *sink, const int64_t *whole, int count, const double *value)
{
    char number[32];

    for (int k = 0; k < count; k++) {
        snprintf(number, sizeof number, k + 1 < count || value ? "%lld " : "%lld", (long long)whole[k]);
        kfe_i_sink_puts(sink, number);
    }
    if (value)
        kfe_i_sink_put_number(sink, *value);
    kfe_i_sink_put(sink, "\n", 1);
}

static kfe_status write_coordinate(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &what->table;
    int64_t entries = table->row_start[table->rows] - table->row_start[0];

    if (what->target)
        return kfe_i_fail(
            what->ctx, KFE_EINVAL,
            "%s: a sparse MatrixMarket file has no place for labels; write .svm, .arff or .npz, or "
            "use {label=none}",
            what->path);
    kfe_i_sink_puts(sink, "%%MatrixMarket matrix coordinate real general\n");
    put_line(sink, (const int64_t[]){table->rows, table->cols, entries}, 3, NULL);
    for (int64_t i = 0; i < table->rows; i++) {
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
            put_line(sink, (const int64_t[]){i + 1, table->columns[p] + 1}, 2, &table->values[p]);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status put_column(const kfe_i_written *what, kfe_i_sink *sink, int64_t j)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < what->table.rows; i++) {
        kfe_i_sink_put_number(sink, kfe_i_table_value(&what->table, i, j));
        kfe_i_sink_put(sink, "\n", 1);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status put_target_columns(const kfe_i_written *what, kfe_i_sink *sink, const double *class_numbers)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = what->target;
    int64_t targets = !target ? 0 : class_numbers ? 1 : target->cols;

    for (int64_t k = 0; k < targets; k++)
        for (int64_t i = 0; i < target->rows; i++) {
            if (class_numbers)
                kfe_i_sink_put_number(sink, class_numbers[target->codes[i]]);
            else
                kfe_i_put_target_value(what, sink, target->values[i * target->cols + k]);
            kfe_i_sink_put(sink, "\n", 1);
            KFE_TRY(kfe_i_written_row(what, sink, i));
        }
cleanup:
    return status;
}

static kfe_status write_array(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = what->target;
    double *numbers = NULL;

    if (target && target->task == KFE_TASK_CLASSES) {
        KFE_TRY(kfe_i_class_numbers(what->ctx, target, &numbers));
        if (!numbers)
            KFE_FAIL(
                what->ctx, KFE_EINVAL,
                "%s: labels that are text do not fit into a MatrixMarket file; write .arff, .npz or .csv",
                what->path);
    }
    kfe_i_sink_puts(sink, "%%MatrixMarket matrix array real general\n");
    int64_t targets = !target ? 0 : numbers ? 1 : target->cols;
    put_line(sink, (const int64_t[]){what->table.rows, what->table.cols + targets}, 2, NULL);
    for (int64_t j = 0; j < what->table.cols; j++)
        KFE_TRY(put_column(what, sink, j));
    KFE_TRY(put_target_columns(what, sink, numbers));
cleanup:
    kfe_i_free(what->ctx, numbers);
    return status;
}

static kfe_status write_mtx(const kfe_i_written *what, kfe_i_sink *sink)
{
    return what->table.kind == KFE_TABLE_CSR ? write_coordinate(what, sink) : write_array(what, sink);
}

const kfe_i_writer kfe_i_mtx_writer = {"mtx", write_mtx, .packable = 1, .holds_sparse = 1};
