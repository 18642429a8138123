/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint of a data set, which models keep so that `kfe evaluate` can warn of training data. It is no protection: anybody
 * can make data with a given fingerprint. */
#include "data/fingerprint.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t mix_number(uint64_t hash, double value)
{
    uint64_t bits;

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

static uint64_t mix_row(uint64_t hash, const kfe_i_table *table, int64_t i)
{
    if (table->kind == KFE_TABLE_TEXT)
        return mix_text(hash, table->bytes + table->row_start[i],
                        table->row_start[i + 1] - table->row_start[i]);
    if (table->kind == KFE_TABLE_DENSE) {
        for (int64_t j = 0; j < table->cols; j++)
            hash = mix_number(hash, table->values[i * table->stride + j]);
        return hash;
    }
    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
        hash = mix_number(mix(hash, (uint64_t)table->columns[p]), table->values[p]);
    return hash;
}

static uint64_t mix_target(uint64_t hash, const kfe_i_target *target, int64_t i)
{
    if (target->task == KFE_TASK_CLASSES)
        return mix(hash, (uint64_t)target->codes[i]);
    for (int64_t k = 0; target->task == KFE_TASK_REAL && k < target->cols; k++)
        hash = mix_number(hash, target->values[i * target->cols + k]);
    return hash;
}

uint64_t kfe_i_data_fingerprint(const kfe_data *data)
{
    uint64_t hash = (uint64_t)kfe_data_rows(data);

    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        for (int v = 0; v < data->view_count; v++)
            hash = mix_row(hash, &data->views[v].table, i);
        hash = mix_target(hash, &data->target, i);
    }
    return hash ? hash : 1;
}
