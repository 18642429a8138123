/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint of a data set, which models keep so that `kfe evaluate` can warn of training data. It is no protection: anybody
 * can make data with a given fingerprint. */
#include "data/fingerprint.h"

#include <math.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

/* A missing value counts as such, whatever is filled in. */
static uint64_t mix_number(uint64_t hash, double value, int missing)
{
    uint64_t bits;

    if (missing || isnan(value))
        return mix(hash, UINT64_MAX);
    value += 0.0; /* -0 equals 0 */
    memcpy(&bits, &value, sizeof bits);
    return mix(hash, bits);
}

static uint64_t mix_text(uint64_t hash, const char *text, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        hash = mix(hash, (unsigned char)text[i]);
    return mix(hash, (uint64_t)length);
}

static uint64_t mix_dense_row(uint64_t hash, const kfe_i_view *view, int64_t i)
{
    const kfe_i_table *table = &view->table;
    const kfe_i_gaps *gaps = &view->gaps;
    int64_t gap = gaps->row_start ? gaps->row_start[i] : 0;
    int64_t end = gaps->row_start ? gaps->row_start[i + 1] : 0;

    for (int64_t j = 0; j < table->cols; j++) {
        int missing = gap < end && gaps->columns[gap] == j;
        gap += missing;
        hash = mix_number(hash, kfe_i_table_value(table, i, j), missing);
    }
    return hash;
}

static uint64_t mix_row(uint64_t hash, const kfe_i_view *view, int64_t i)
{
    const kfe_i_table *table = &view->table;

    if (table->kind == KFE_TABLE_TEXT)
        return mix_text(hash, table->bytes + table->row_start[i],
                        table->row_start[i + 1] - table->row_start[i]);
    if (table->kind == KFE_TABLE_DENSE)
        return mix_dense_row(hash, view, i);
    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
        hash = mix_number(mix(hash, (uint64_t)table->columns[p]), table->values[p], 0);
    return hash;
}

static uint64_t mix_target(uint64_t hash, const kfe_i_target *target, int64_t i)
{
    if (target->task == KFE_TASK_CLASSES)
        return mix(hash, (uint64_t)target->codes[i]);
    for (int64_t k = 0; target->task == KFE_TASK_REAL && k < target->cols; k++)
        hash = mix_number(hash, target->values[i * target->cols + k], 0);
    return hash;
}

uint64_t kfe_i_data_fingerprint(const kfe_data *data)
{
    uint64_t hash = (uint64_t)kfe_data_rows(data);

    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        for (int v = 0; v < data->view_count; v++)
            hash = mix_row(hash, &data->views[v], i);
        hash = mix_target(hash, &data->target, i);
    }
    return hash ? hash : 1;
}
