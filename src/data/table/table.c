/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of examples: allocating, copying, selecting rows and checking them. */
#include "data/table/table.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"

static void begin_table(kfe_context *ctx, kfe_i_table_kind kind, int64_t rows, int64_t cols, kfe_i_table *out)
{
    assert(rows >= 0 && cols >= 0);
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->kind = kind;
    out->owned = 1;
    out->rows = rows;
    out->cols = cols;
}

/* Frees a table whose allocation failed halfway. */
static kfe_status finish_table(kfe_i_table *table, kfe_status status)
{
    if (status != KFE_OK)
        kfe_i_table_free(table);
    return status;
}

kfe_status kfe_i_table_new_dense(kfe_context *ctx, int64_t rows, int64_t cols, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;

    begin_table(ctx, KFE_TABLE_DENSE, rows, cols, out);
    out->stride = cols;
    if (__builtin_mul_overflow(rows, cols, &count))
        KFE_FAIL(ctx, KFE_ENOMEM, "a table of %lld × %lld values is too large", (long long)rows,
                 (long long)cols);
    KFE_ALLOC(ctx, out->values, count);
cleanup:
    return finish_table(out, status);
}

kfe_status kfe_i_table_new_csr(kfe_context *ctx, int64_t rows, int64_t cols, int64_t entries,
                               kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    assert(entries >= 0);
    begin_table(ctx, KFE_TABLE_CSR, rows, cols, out);
    KFE_ALLOC_ZERO(ctx, out->row_start, rows + 1);
    KFE_ALLOC(ctx, out->columns, entries);
    KFE_ALLOC(ctx, out->values, entries);
cleanup:
    return finish_table(out, status);
}

kfe_status kfe_i_table_new_text(kfe_context *ctx, int64_t rows, int64_t bytes, kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    assert(bytes >= 0);
    begin_table(ctx, KFE_TABLE_TEXT, rows, 1, out);
    KFE_ALLOC_ZERO(ctx, out->row_start, rows + 1);
    KFE_ALLOC(ctx, out->bytes, bytes);
cleanup:
    return finish_table(out, status);
}

void kfe_i_table_free(kfe_i_table *table)
{
    if (table->owned && table->ctx) {
        kfe_i_free(table->ctx, table->values);
        kfe_i_free(table->ctx, table->singles);
        kfe_i_free(table->ctx, table->row_start);
        kfe_i_free(table->ctx, table->columns);
        kfe_i_free(table->ctx, table->bytes);
    }
    memset(table, 0, sizeof *table);
}

kfe_i_table kfe_i_table_slice(const kfe_i_table *table, int64_t first, int64_t count)
{
    kfe_i_table slice = *table;

    assert(kfe_i_range_within(first, count, table->rows));
    slice.owned = 0;
    slice.weights = NULL;
    slice.keys = NULL;
    slice.rows = count;
    if (table->singles)
        slice.singles = table->singles + first * table->stride;
    else if (table->kind == KFE_TABLE_DENSE)
        slice.values = table->values + first * table->stride;
    else
        slice.row_start = table->row_start + first;
    return slice;
}

static kfe_status gather_dense(kfe_context *ctx, const kfe_i_table *table, const int64_t *index,
                               int64_t count, kfe_i_table *out)
{
    kfe_status status = kfe_i_table_new_dense(ctx, count, table->cols, out);

    if (status != KFE_OK)
        return status;
        /* new memory is cleared by the system when it is touched first, which takes longer than the copy */
#pragma omp parallel for num_threads(kfe_i_threads_for(ctx, count * table->cols)) schedule(static)
    for (int64_t i = 0; i < count; i++)
        kfe_i_table_dense_row(table, index ? index[i] : i, out->values + i * out->stride);
    return KFE_OK;
}

static int64_t gathered_length(const kfe_i_table *table, const int64_t *index, int64_t count)
{
    int64_t length = 0;

    if (!index)
        return table->row_start[count] - table->row_start[0];
    for (int64_t i = 0; i < count; i++)
        length += table->row_start[index[i] + 1] - table->row_start[index[i]];
    return length;
}

/* Copies rows of variable length (CSR or text): first their positions, then their contents. */
static kfe_status gather_variable(kfe_context *ctx, const kfe_i_table *table, const int64_t *index,
                                  int64_t count, kfe_i_table *out)
{
    int64_t total = gathered_length(table, index, count);
    kfe_status status = table->kind == KFE_TABLE_CSR
                            ? kfe_i_table_new_csr(ctx, count, table->cols, total, out)
                            : kfe_i_table_new_text(ctx, count, total, out);

    for (int64_t i = 0; status == KFE_OK && i < count; i++) {
        int64_t row = index ? index[i] : i;
        int64_t from = table->row_start[row];
        size_t length = (size_t)(table->row_start[row + 1] - from);
        int64_t to = out->row_start[i];
        out->row_start[i + 1] = to + (int64_t)length;
        if (table->kind == KFE_TABLE_TEXT) {
            memcpy(out->bytes + to, table->bytes + from, length);
        } else {
            memcpy(out->columns + to, table->columns + from, length * sizeof *out->columns);
            memcpy(out->values + to, table->values + from, length * sizeof *out->values);
        }
    }
    return status;
}

kfe_status kfe_i_table_gather(kfe_context *ctx, const kfe_i_table *table, const int64_t *index, int64_t count,
                              kfe_i_table *out)
{
    assert(!index || kfe_i_all_below(index, count, table->rows));
    if (table->kind == KFE_TABLE_DENSE)
        return gather_dense(ctx, table, index, count, out);
    return gather_variable(ctx, table, index, count, out);
}

static kfe_status dense_columns(kfe_context *ctx, const kfe_i_table *table, const int64_t *columns,
                                int64_t count, kfe_i_table *out)
{
    kfe_status status = kfe_i_table_new_dense(ctx, table->rows, count, out);

    for (int64_t i = 0; status == KFE_OK && i < table->rows; i++)
        for (int64_t j = 0; j < count; j++)
            out->values[i * out->stride + j] = kfe_i_table_value(table, i, columns[j]);
    return status;
}

/* The new number of each column, -1: it is left out. */
static kfe_status number_columns(kfe_context *ctx, const kfe_i_table *table, const int64_t *columns,
                                 int64_t count, int32_t **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, table->cols);
    memset(*out, 0xff, (size_t)table->cols * sizeof **out);
    for (int64_t j = 0; j < count; j++)
        (*out)[columns[j]] = (int32_t)j;
cleanup:
    return status;
}

static kfe_status csr_columns(kfe_context *ctx, const kfe_i_table *table, const int64_t *columns,
                              int64_t count, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int32_t *number = NULL;
    int64_t entries = 0;

    KFE_TRY(number_columns(ctx, table, columns, count, &number));
    for (int64_t p = 0; p < table->row_start[table->rows]; p++)
        entries += number[table->columns[p]] >= 0;
    KFE_TRY(kfe_i_table_new_csr(ctx, table->rows, count, entries, out));
    entries = 0;
    for (int64_t i = 0; i < table->rows; i++) {
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++) {
            if (number[table->columns[p]] < 0)
                continue;
            out->columns[entries] = number[table->columns[p]];
            out->values[entries++] = table->values[p];
        }
        out->row_start[i + 1] = entries;
    }
cleanup:
    kfe_i_free(ctx, number);
    return status;
}

kfe_status kfe_i_table_columns(kfe_context *ctx, const kfe_i_table *table, const int64_t *columns,
                               int64_t count, kfe_i_table *out)
{
    assert(table->kind != KFE_TABLE_TEXT && kfe_i_all_below(columns, count, table->cols));
    return table->kind == KFE_TABLE_DENSE ? dense_columns(ctx, table, columns, count, out)
                                          : csr_columns(ctx, table, columns, count, out);
}

kfe_status kfe_i_table_copy(kfe_context *ctx, const kfe_i_table *table, kfe_i_table *out)
{
    return kfe_i_table_gather(ctx, table, NULL, table->rows, out);
}

double kfe_i_table_weight(const kfe_i_table *table)
{
    double sum = 0;

    if (!table->weights)
        return (double)table->rows;
    for (int64_t i = 0; i < table->rows; i++)
        sum += table->weights[i];
    return sum;
}

kfe_status kfe_i_table_widen(kfe_context *ctx, kfe_i_table *table)
{
    return table->singles ? kfe_i_table_make_dense(ctx, table) : KFE_OK;
}

kfe_status kfe_i_table_make_dense(kfe_context *ctx, kfe_i_table *table)
{
    kfe_i_table wide = {0};
    kfe_status status = gather_dense(ctx, table, NULL, table->rows, &wide);

    if (status != KFE_OK)
        return status;
    kfe_i_table_free(table);
    *table = wide;
    return KFE_OK;
}

static void widen_row(const kfe_i_table *table, int64_t i, double *row)
{
    const float *from = table->singles + i * table->stride;

    for (int64_t j = 0; j < table->cols; j++)
        row[j] = (double)from[j];
    for (int64_t j = 0; table->shift && j < table->cols; j++)
        row[j] -= table->shift[j];
    for (int64_t j = 0; table->factor && j < table->cols; j++)
        row[j] *= table->factor[j];
}

void kfe_i_table_dense_row(const kfe_i_table *table, int64_t i, double *row)
{
    assert(table->kind != KFE_TABLE_TEXT && i >= 0 && i < table->rows);
    if (table->singles) {
        widen_row(table, i, row);
        return;
    }
    if (table->kind == KFE_TABLE_DENSE) {
        memcpy(row, table->values + i * table->stride, (size_t)table->cols * sizeof *row);
        return;
    }
    memset(row, 0, (size_t)table->cols * sizeof *row);
    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
        row[table->columns[p]] = table->values[p];
}

static kfe_status check_csr_row(kfe_context *ctx, const kfe_i_table *table, int64_t i)
{
    int64_t last = -1;

    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++) {
        int32_t column = table->columns[p];
        if (column < 0 || column >= table->cols)
            return kfe_i_fail(ctx, KFE_EINVAL, "row %lld: column %d is not within 0 … %lld", (long long)i + 1,
                              column, (long long)table->cols - 1);
        if (column <= last)
            return kfe_i_fail(ctx, KFE_EINVAL, "row %lld: columns do not increase at column %d",
                              (long long)i + 1, column);
        last = column;
    }
    return KFE_OK;
}

kfe_status kfe_i_table_check(kfe_context *ctx, const kfe_i_table *table)
{
    if (table->rows < 0 || table->cols < 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "a table cannot have a negative size");
    if (table->kind == KFE_TABLE_DENSE)
        return table->stride >= table->cols ? KFE_OK
                                            : kfe_i_fail(ctx, KFE_EINVAL, "stride smaller than columns");
    if (table->cols > INT32_MAX)
        return kfe_i_fail(ctx, KFE_EINVAL, "sparse tables have at most %d columns", INT32_MAX);
    /* check all positions before any entry: only then is the last position a bound for the others */
    for (int64_t i = 0; i < table->rows; i++)
        if (table->row_start[i] < 0 || table->row_start[i + 1] < table->row_start[i])
            return kfe_i_fail(ctx, KFE_EINVAL, "row %lld: row positions must not fall", (long long)i + 1);
    for (int64_t i = 0; table->kind == KFE_TABLE_CSR && i < table->rows; i++) {
        kfe_status status = check_csr_row(ctx, table, i);
        if (status != KFE_OK)
            return status;
    }
    return KFE_OK;
}

int kfe_i_table_find_nonfinite(const kfe_context *ctx, const kfe_i_table *table, int64_t *row, int64_t *col)
{
    return kfe_i_table_find_beyond(ctx, table, DBL_MAX, row, col);
}

kfe_status kfe_i_table_check_finite(kfe_context *ctx, const kfe_i_table *table, const char *name)
{
    return kfe_i_table_check_finite_from(ctx, table, name, 0);
}

kfe_status kfe_i_table_check_finite_from(kfe_context *ctx, const kfe_i_table *table, const char *name,
                                         int64_t first)
{
    int64_t row = 0;
    int64_t col = 0;

    if (!kfe_i_table_find_nonfinite(ctx, table, &row, &col))
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EINPUT, "%s: row %lld, column %lld is not a finite number; replace it", name,
                      (long long)(first + row) + 1, (long long)col + 1);
}

static int find_single_beyond(const kfe_i_table *table, double largest, int64_t *row, int64_t *col)
{
    for (*row = 0; *row < table->rows; (*row)++)
        for (*col = 0; *col < table->cols; (*col)++)
            if (!(fabs(kfe_i_table_value(table, *row, *col)) <= largest))
                return 1;
    return 0;
}

/* The values of one row: from *begin to *end − 1 of the array. */
static void row_range(const kfe_i_table *table, int64_t i, int64_t *begin, int64_t *end)
{
    int sparse = table->kind == KFE_TABLE_CSR;

    *begin = sparse ? table->row_start[i] : i * table->stride;
    *end = sparse ? table->row_start[i + 1] : *begin + table->cols;
}

static int row_is_within(const kfe_i_table *table, int64_t i, double largest)
{
    int64_t begin;
    int64_t end;
    double beyond = 0; /* a double, so that the loop works on vectors of one width */

    row_range(table, i, &begin, &end);
    const double *values = table->values;
#pragma omp simd reduction(+ : beyond)
    for (int64_t p = begin; p < end; p++)
        beyond += fabs(values[p]) <= largest ? 0.0 : 1.0;
    return beyond == 0;
}

/* The first row that is not within; `rows` if all are. */
static int64_t first_row_beyond(const kfe_context *ctx, const kfe_i_table *table, double largest)
{
    int64_t found = table->rows;

#pragma omp parallel for num_threads(kfe_i_threads_for(ctx, table->rows * table->cols)) schedule(static)     \
    reduction(min                                                                                            \
              : found)
    for (int64_t i = 0; i < table->rows; i++)
        if (i < found && !row_is_within(table, i, largest))
            found = i;
    return found;
}

int kfe_i_table_find_beyond(const kfe_context *ctx, const kfe_i_table *table, double largest, int64_t *row,
                            int64_t *col)
{
    int64_t begin;
    int64_t end;

    if (table->kind == KFE_TABLE_TEXT)
        return 0;
    if (table->singles)
        return find_single_beyond(table, largest, row, col);
    int64_t first = first_row_beyond(ctx, table, largest);
    if (first == table->rows)
        return 0;
    row_range(table, first, &begin, &end);
    for (int64_t p = begin; p < end; p++)
        if (!(fabs(table->values[p]) <= largest)) {
            *row = first;
            *col = table->kind == KFE_TABLE_CSR ? table->columns[p] : p - begin;
            return 1;
        }
    return 0;
}
