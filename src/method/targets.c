/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as the methods of the framework want them: columns of mean zero. */
#include "core/memory.h"
#include "method/deflation.h"

static double value_at(const kfe_i_target *target, int64_t i, int64_t column)
{
    if (target->task == KFE_TASK_REAL)
        return target->values[i * target->cols + column];
    if (target->class_count == 2)
        return target->codes[i] == 1 ? 1 : -1;
    return target->codes[i] == column;
}

kfe_status kfe_i_centred_targets(kfe_context *ctx, const kfe_i_target *target, double **values,
                                 int64_t *columns)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;

    *columns = target->task == KFE_TASK_REAL ? target->cols
               : target->class_count == 2    ? 1
                                             : target->class_count;
    KFE_ALLOC(ctx, *values, n * *columns);
    for (int64_t c = 0; c < *columns; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += value_at(target, i, c);
        mean /= (double)n;
        for (int64_t i = 0; i < n; i++)
            (*values)[i * *columns + c] = value_at(target, i, c) - mean;
    }
cleanup:
    return status;
}
