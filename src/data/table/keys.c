/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of rows by their content (keys.h); samples and numbers of distinct rows are made of them. */
#include "data/table/keys.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* Steps per standard deviation: coarse enough that rounding hardly ever changes one, fine enough to tell rows apart. */
#define STEPS 0x1p20
/* In place of steps: a column whose numbers are all equal tells nothing. */
#define CONSTANT (-1.0)
/* A third of a step that no data has a reason to prefer, so that values on a grid do not lie on the limits of steps. */
#define STEP_OFFSET 0.3819660112501051

uint64_t kfe_i_scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The largest integer not above x; faster than floor() where the processor's own instruction may not be used. */
static uint64_t step_of(double x)
{
    if (!(fabs(x) < 0x1p62))
        return UINT64_MAX;
    int64_t step = (int64_t)x;
    return (uint64_t)(step - (x < (double)step));
}

static uint64_t bits_of(const kfe_i_keyed *k, int64_t column, double value)
{
    double number = value == 0 ? 0 : value; /* no negative zero */
    uint64_t bits = 0;

    if (isnan(value))
        return UINT64_MAX;
    if (k->steps && k->steps[column] == CONSTANT)
        return 0;
    if (k->steps && k->steps[column] > 0)
        return step_of((value - k->mean[column]) * k->steps[column] + STEP_OFFSET);
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static uint64_t order_of(const kfe_i_keyed *k, int64_t column, double value)
{
    return kfe_i_scramble(bits_of(k, column, value));
}

/* The factor of the column is odd, so that no bit of what it multiplies is lost. */
static uint64_t content_of(int64_t column, double value)
{
    uint64_t factor = (((uint64_t)column + 1) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
    uint64_t bits = UINT64_MAX;

    if (value == 0)
        return 0;
    if (!isnan(value))
        memcpy(&bits, &value, sizeof bits);
    return kfe_i_scramble(kfe_i_scramble(bits) * factor);
}

static uint64_t hash_of_text(const kfe_i_table *table, int64_t row)
{
    uint64_t hash = 1;

    for (int64_t p = table->row_start[row]; p < table->row_start[row + 1]; p++)
        hash = kfe_i_scramble(hash + (unsigned char)table->bytes[p]);
    return hash;
}

uint64_t kfe_i_row_content(const kfe_i_table *table, int64_t row)
{
    uint64_t content = 0;

    if (table->kind == KFE_TABLE_TEXT)
        return hash_of_text(table, row);
    if (table->kind == KFE_TABLE_DENSE)
        for (int64_t j = 0; j < table->cols; j++)
            content += content_of(j, kfe_i_table_value(table, row, j));
    else
        for (int64_t p = table->row_start[row]; p < table->row_start[row + 1]; p++)
            content += content_of(table->columns[p], table->values[p]);
    return content;
}

static kfe_i_row_key keyed_row(const kfe_i_keyed *keyed, int64_t row)
{
    const kfe_i_table *table = keyed->table;
    kfe_i_row_key key = {.same = kfe_i_row_content(table, row)};

    if (table->kind == KFE_TABLE_TEXT) {
        key.order = key.same;
    } else if (table->kind == KFE_TABLE_DENSE) {
        for (int64_t j = 0; j < table->cols; j++)
            key.order += order_of(keyed, j, kfe_i_table_value(table, row, j));
    } else {
        key.order = keyed->zeros;
        for (int64_t p = table->row_start[row]; p < table->row_start[row + 1]; p++)
            key.order +=
                order_of(keyed, table->columns[p], table->values[p]) - order_of(keyed, table->columns[p], 0);
    }
    return key;
}

kfe_i_row_key kfe_i_keyed_of_view(const kfe_i_keyed *keyed, int64_t row, uint64_t place)
{
    kfe_i_row_key own = keyed_row(keyed, row);

    return (kfe_i_row_key){kfe_i_scramble(own.order + place), kfe_i_scramble(own.same + place)};
}

void kfe_i_keyed_free(kfe_context *ctx, kfe_i_keyed *keyed)
{
    kfe_i_free(ctx, keyed->mean);
    kfe_i_free(ctx, keyed->steps);
}

/* A column without a finite spread, as one with missing values, counts as it is. */
kfe_status kfe_i_keyed_from_facts(kfe_context *ctx, int64_t cols, const kfe_i_column_facts *facts,
                                  double mass, kfe_i_keyed *out)
{
    kfe_status status = KFE_OK;
    double root = sqrt(mass);

    KFE_ALLOC(ctx, out->mean, cols);
    KFE_ALLOC(ctx, out->steps, cols);
    for (int64_t j = 0; j < cols; j++) {
        double steps = STEPS * root / (facts[j].spread * facts[j].reach);
        out->mean[j] = facts[j].mean;
        out->steps[j] = isfinite(steps) && isfinite(facts[j].mean) ? steps : 0;
        if (facts[j].low == facts[j].high)
            out->steps[j] = CONSTANT;
        out->zeros += order_of(out, j, 0);
    }
cleanup:
    return status;
}

kfe_status kfe_i_keyed_begin(kfe_context *ctx, const kfe_i_table *table, kfe_i_keyed *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *facts = NULL;

    *out = (kfe_i_keyed){.table = table};
    if (table->kind == KFE_TABLE_TEXT || table->rows == 0)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, facts, table->cols);
    KFE_TRY(kfe_i_column_facts_find(ctx, table, 1, facts));
    KFE_TRY(kfe_i_keyed_from_facts(ctx, table->cols, facts, kfe_i_table_weight(table), out));
cleanup:
    kfe_i_free(ctx, facts);
    return status;
}

kfe_status kfe_i_table_row_keys(kfe_context *ctx, const kfe_i_table *table, kfe_i_row_key **out)
{
    kfe_status status = KFE_OK;
    kfe_i_keyed keyed;

    KFE_TRY(kfe_i_keyed_begin(ctx, table, &keyed));
    KFE_ALLOC(ctx, *out, table->rows);
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) schedule(static)
    for (int64_t i = 0; i < table->rows; i++)
        (*out)[i] = keyed_row(&keyed, i);
cleanup:
    kfe_i_keyed_free(ctx, &keyed);
    return status;
}
