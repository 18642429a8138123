/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the value behind a feature or output that is not finite. New data may hold larger values than training data,
 * which is checked when it is fitted. Used by predict.c and serve.c. */
#include "model/overflow.h"

#include <math.h>

int64_t kfe_i_find_overflow(const double *computed, int64_t rows, int64_t cols)
{
    for (int64_t p = 0; p < rows * cols; p++)
        if (!isfinite(computed[p]))
            return p / cols;
    return -1;
}

void kfe_i_largest_add(kfe_i_largest *largest, const char *view, const kfe_i_table *table,
                       const kfe_i_scaler *scaler, int64_t row)
{
    if (table->kind == KFE_TABLE_TEXT)
        return;
    int sparse = table->kind == KFE_TABLE_CSR;
    int64_t begin = sparse ? table->row_start[row] : row * table->stride;
    int64_t end = sparse ? table->row_start[row + 1] : begin + table->cols;
    for (int64_t p = begin; p < end; p++) {
        int64_t col = sparse ? table->columns[p] : p - begin;
        double given = sparse ? table->values[p] : kfe_i_table_value(table, row, col);
        double value = given - (scaler && scaler->shift ? scaler->shift[col] : 0);
        double magnitude = fabs(value * (scaler && scaler->factor ? scaler->factor[col] : 1));
        if (magnitude > largest->magnitude)
            *largest = (kfe_i_largest){view, col, magnitude};
    }
}

kfe_status kfe_i_refuse_overflow(kfe_context *ctx, const kfe_i_largest *largest, const char *view,
                                 int64_t row)
{
    if (!largest->view)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: row %lld has values too large to compute with; correct or remove it", view,
                          (long long)row + 1);
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "%s: row %lld, column %lld is too large to compute with; correct or remove it",
                      largest->view, (long long)row + 1, (long long)largest->col + 1);
}
