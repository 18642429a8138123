/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint of a data set, which models keep so that `kfe evaluate` can warn of training data. It does not protect: anybody
 * can make data with a given fingerprint. */
#include "data/rows/fingerprint.h"

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

enum { LANES = 4 };

/* Columns are dealt out to four chains, because each step of one chain waits for the step before. */
static void mix_full_row(const kfe_i_table *table, int64_t i, uint64_t lanes[LANES])
{
    const double *row = table->values ? table->values + i * table->stride : NULL;
    int64_t j = 0;

    for (; row && j + LANES <= table->cols; j += LANES)
        for (int l = 0; l < LANES; l++)
            lanes[l] = mix_number(lanes[l], row[j + l], 0);
    for (; j < table->cols; j++)
        lanes[j % LANES] = mix_number(lanes[j % LANES], kfe_i_table_value(table, i, j), 0);
}

/* The same for a row with gaps, which end at `end`. */
static void mix_row_with_gaps(const kfe_i_view *view, int64_t i, int64_t gap, int64_t end,
                              uint64_t lanes[LANES])
{
    for (int64_t j = 0; j < view->table.cols; j++) {
        int missing = gap < end && view->gaps.columns[gap] == j;
        gap += missing;
        lanes[j % LANES] = mix_number(lanes[j % LANES], kfe_i_table_value(&view->table, i, j), missing);
    }
}

static uint64_t mix_dense_row(uint64_t hash, const kfe_i_view *view, int64_t i)
{
    const int64_t *start = view->gaps.row_start;
    uint64_t lanes[LANES] = {hash, 1, 2, 3};

    if (start && start[i] < start[i + 1])
        mix_row_with_gaps(view, i, start[i], start[i + 1], lanes);
    else
        mix_full_row(&view->table, i, lanes);
    for (int l = 1; l < LANES; l++)
        lanes[0] = mix(lanes[0], lanes[l]);
    return lanes[0];
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

static uint64_t row_hash(const kfe_data *data, int64_t i)
{
    uint64_t hash = (uint64_t)i;

    for (int v = 0; v < data->view_count; v++)
        hash = mix_row(hash, &data->views[v], i);
    return mix_target(hash, &data->target, i);
}

/* ---- rows of plain numbers ---- */

/* One dense table of doubles without gaps. */
static int is_plain(const kfe_data *data)
{
    const kfe_i_view *view = &data->views[0];

    return data->view_count == 1 && view->table.kind == KFE_TABLE_DENSE && view->table.values &&
           !view->gaps.row_start;
}

/* Whether all numbers are at most `largest`; NaN is not. */
static int are_within(const double *x, int64_t count, double largest)
{
    int64_t beyond = 0;

#pragma omp simd reduction(| : beyond)
    for (int64_t j = 0; j < count; j++)
        beyond |= fabs(x[j]) <= largest ? 0 : 1;
    return beyond == 0;
}

/* ---- all rows ---- */

enum { BLOCK = 2048, FEW_NUMBERS = 1 << 17 };

/* A single block of few numbers is not worth waking other threads. */
static int threads_for(const kfe_context *ctx, const kfe_data *data, int64_t count)
{
    int64_t numbers = is_plain(data) ? count * data->views[0].table.cols : count;

    return kfe_data_rows(data) > BLOCK || numbers > FEW_NUMBERS ? kfe_context_threads(ctx) : 1;
}

/* The hashes of a block of rows; returns whether all are known to be within. */
static int hash_block(const kfe_context *ctx, const kfe_data *data, int64_t first, int64_t count,
                      double largest, uint64_t *hashes)
{
    int plain = is_plain(data);
    int within = plain;

#pragma omp parallel for num_threads(threads_for(ctx, data, count)) schedule(static) reduction(&& : within)
    for (int64_t i = 0; i < count; i++) {
        const kfe_i_table *table = &data->views[0].table;
        hashes[i] = row_hash(data, first + i);
        within =
            within && plain && are_within(table->values + (first + i) * table->stride, table->cols, largest);
    }
    return within;
}

/* Rows are hashed independently, a block at a time on all threads, and their hashes mixed in order. */
uint64_t kfe_i_data_inspect(const kfe_context *ctx, const kfe_data *data, double largest, int *within)
{
    int64_t rows = kfe_data_rows(data);
    uint64_t hash = (uint64_t)rows;
    uint64_t hashes[BLOCK];

    *within = 1;
    for (int64_t first = 0; first < rows; first += BLOCK) {
        int64_t count = rows - first < BLOCK ? rows - first : BLOCK;
        *within = hash_block(ctx, data, first, count, largest, hashes) && *within;
        for (int64_t i = 0; i < count; i++)
            hash = mix(hash, hashes[i]);
    }
    return hash ? hash : 1;
}

uint64_t kfe_i_data_fingerprint(const kfe_context *ctx, const kfe_data *data)
{
    int within;

    return kfe_i_data_inspect(ctx, data, INFINITY, &within);
}

uint64_t kfe_i_numbers_fingerprint(const double *values, int64_t count)
{
    uint64_t hash = (uint64_t)count;

    for (int64_t i = 0; values && i < count; i++)
        hash = mix_number(hash, values[i], 0);
    return values ? hash : 0;
}
