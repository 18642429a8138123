/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling of columns and rows, which every fit may ask for. Two passes over the rows. The first finds the extremes
 * and the mean of each column; a running mean does not overflow where a sum would. The second finds the spread
 * sqrt(Σ (x − centre)²) from deviations divided by the largest one, so that columns of any magnitude keep their
 * precision. The standard deviation is the population's, spread/√n. Zeros that sparse data does not store count.
 *
 * Rows count by their weights; without any, by one.
 *
 * Cost: two passes over the stored values; 6 numbers per column.
 */
#include "data/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/least.h"
#include "core/memory.h"

/* The stored values of one row; columns is NULL when all of them are stored. */
struct row {
    const double *values; /* NULL: of a table in single precision */
    const int32_t *columns;
    int64_t count;
};

static struct row row_at(const kfe_i_table *table, int64_t i)
{
    struct row row = {0};

    if (table->kind == KFE_TABLE_DENSE) {
        row.values = table->singles ? NULL : table->values + i * table->stride;
        row.count = table->cols;
    } else {
        row.values = table->values + table->row_start[i];
        row.columns = table->columns + table->row_start[i];
        row.count = table->row_start[i + 1] - table->row_start[i];
    }
    return row;
}

static void find_means(const kfe_i_table *table, kfe_i_column_facts *columns)
{
    for (int64_t j = 0; j < table->cols; j++) {
        columns[j].low = (double)INFINITY;
        columns[j].high = -(double)INFINITY;
    }
    for (int64_t i = 0; i < table->rows; i++) {
        struct row row = row_at(table, i);
        double weight = kfe_i_row_weight(table, i);
        for (int64_t e = 0; e < row.count; e++) {
            kfe_i_column_facts *column = &columns[row.columns ? row.columns[e] : e];
            double x = row.values ? row.values[e] : kfe_i_table_value(table, i, e);
            column->stored += weight;
            column->mean += weight * (x - column->mean) / column->stored;
            column->low = fmin(column->low, x);
            column->high = fmax(column->high, x);
        }
    }
}

static void count_absent_zeros(double total, kfe_i_column_facts *column)
{
    if (column->stored == total)
        return;
    column->mean *= column->stored / total;
    column->low = fmin(column->low, 0);
    column->high = fmax(column->high, 0);
}

/* The mean of a constant column must be its value exactly; a mean off by rounding would turn the column into noise. */
static void settle_constant(kfe_i_column_facts *column)
{
    if (column->low == column->high)
        column->mean = column->low;
}

static void find_spreads(const kfe_i_table *table, double total, int centred, kfe_i_column_facts *columns)
{
    for (int64_t i = 0; i < table->rows; i++) {
        struct row row = row_at(table, i);
        double weight = kfe_i_row_weight(table, i);
        for (int64_t e = 0; e < row.count; e++) {
            kfe_i_column_facts *column = &columns[row.columns ? row.columns[e] : e];
            double value = row.values ? row.values[e] : kfe_i_table_value(table, i, e);
            double x = (value - (centred ? column->mean : 0)) / column->reach;
            column->spread += weight * (x * x);
        }
    }
    for (int64_t j = 0; j < table->cols; j++) {
        kfe_i_column_facts *column = &columns[j];
        double zero = centred ? column->mean / column->reach : 0;
        column->spread = sqrt(column->spread + (total - column->stored) * zero * zero);
    }
}

static kfe_status measure_columns(kfe_context *ctx, const kfe_i_table *table, int centred,
                                  kfe_i_column_facts *columns)
{
    double total = kfe_i_table_weight(table);

    find_means(table, columns);
    for (int64_t j = 0; j < table->cols; j++) {
        kfe_i_column_facts *column = &columns[j];
        count_absent_zeros(total, column);
        settle_constant(column);
        double centre = centred ? column->mean : 0;
        column->reach = fmax(column->high - centre, centre - column->low);
        if (!isfinite(column->high - column->low) || !isfinite(column->reach))
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "column %lld spans more than a number can hold, so it cannot be scaled; "
                              "divide it by a large constant first",
                              (long long)j + 1);
        if (column->reach == 0)
            column->reach = 1;
    }
    find_spreads(table, total, centred, columns);
    return KFE_OK;
}

kfe_status kfe_i_total_variance(kfe_context *ctx, const kfe_i_table *table, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *columns = NULL;
    double total = kfe_i_table_weight(table);

    *out = 0;
    KFE_ALLOC_ZERO(ctx, columns, table->cols);
    KFE_TRY(measure_columns(ctx, table, 1, columns));
    for (int64_t j = 0; j < table->cols; j++) {
        double length = columns[j].spread * columns[j].reach;
        *out += length * length / total;
    }
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}

/* 1 / width; 1 for constant columns and for widths without a finite reciprocal. */
static double factor_for(double width)
{
    double factor = 1 / width;
    return width > 0 && isfinite(factor) ? factor : 1;
}

static double column_width(kfe_i_scale_kind kind, int sparse, double total, const kfe_i_column_facts *column)
{
    if (column->low == column->high)
        return 0;
    switch (kind) {
    case KFE_SCALE_STANDARD:
        return column->reach * (column->spread / sqrt(total));
    case KFE_SCALE_MINMAX:
        return sparse ? fmax(fabs(column->low), fabs(column->high)) : column->high - column->low;
    case KFE_SCALE_UNIT_NORM:
        return column->reach * column->spread;
    case KFE_SCALE_NONE:
    case KFE_SCALE_L2_ROWS:
    case KFE_SCALE_AUTO:
        break;
    }
    return 1;
}

int kfe_i_scale_centres(kfe_i_scale_kind kind, int sparse)
{
    return !sparse || kind == KFE_SCALE_STANDARD;
}

kfe_status kfe_i_scaler_from_facts(kfe_context *ctx, const kfe_i_column_facts *columns, double total,
                                   int sparse, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;

    if (sparse)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "sparse data is scaled without centring, so that its zeros stay zeros");
    KFE_ALLOC(ctx, out->factor, out->cols);
    for (int64_t j = 0; j < out->cols; j++)
        out->factor[j] = factor_for(column_width(out->kind, sparse, total, &columns[j]));
    if (sparse)
        return KFE_OK;
    KFE_ALLOC(ctx, out->shift, out->cols);
    for (int64_t j = 0; j < out->cols; j++)
        out->shift[j] = out->kind == KFE_SCALE_MINMAX ? columns[j].low : columns[j].mean;
cleanup:
    return status;
}

static kfe_status learn_columns(kfe_context *ctx, const kfe_i_table *table, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *columns = NULL;
    int sparse = table->kind == KFE_TABLE_CSR;

    KFE_ALLOC_ZERO(ctx, columns, table->cols);
    KFE_TRY(measure_columns(ctx, table, kfe_i_scale_centres(out->kind, sparse), columns));
    KFE_TRY(kfe_i_scaler_from_facts(ctx, columns, kfe_i_table_weight(table), sparse, out));
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}

/* ---- what `auto` stands for ---- */

/* Columns that a thread works on. With fewer, the pieces of rows are too short for the processor to fetch ahead, which takes up to eight
 * times as long. Tables of fewer numbers than SMALL are left to one thread. */
enum { GROUP = 64, SMALL = 1 << 18 };

/* Ranges, running means, and sums of squared deviations from those means (Welford 1962) of the columns from `first` to `last`. */
static void update_some(const kfe_i_table *table, const int64_t *rows, int64_t count, int64_t first,
                        int64_t last, kfe_i_column_facts *columns)
{
    double total = 0;

    for (int64_t j = first; j < last; j++) {
        columns[j].low = INFINITY;
        columns[j].high = -INFINITY;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t at = rows ? rows[i] : i;
        double weight = kfe_i_row_weight(table, at);
        total += weight;
        double share = total > 0 ? weight / total : 0;
        for (int64_t j = first; j < last; j++) {
            kfe_i_column_facts *column = &columns[j];
            double x = kfe_i_table_value(table, at, j);
            double before = x - column->mean;
            column->low = x < column->low ? x : column->low;
            column->high = x > column->high ? x : column->high;
            column->mean += before * share;
            column->spread += weight * before * (x - column->mean);
        }
    }
}

static int useful_threads(const kfe_context *ctx, int64_t numbers)
{
    return numbers < SMALL ? 1 : kfe_context_threads(ctx);
}

/* The same for all columns. A column belongs to one thread, so that their number does not matter. */
static void update_columns(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count,
                           kfe_i_column_facts *columns)
{
#pragma omp parallel for num_threads(useful_threads(ctx, count * table->cols)) schedule(dynamic, 1)
    for (int64_t first = 0; first < table->cols; first += GROUP)
        update_some(table, rows, count, first, kfe_i_least(first + GROUP, table->cols), columns);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double kfe_i_ratio_of_spreads(double *spreads, int64_t count)
{
    qsort(spreads, (size_t)count, sizeof *spreads, compare_numbers);
    return count > 0 ? spreads[count - 1] / spreads[(count - 1) / 4] : 1;
}

kfe_i_scale_kind kfe_i_scale_by_ratio(double ratio)
{
    return ratio > KFE_SCALE_RATIO ? KFE_SCALE_STANDARD : KFE_SCALE_NONE;
}

kfe_status kfe_i_spread_ratio(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count,
                              double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *columns = NULL;
    double *spreads = NULL;
    int64_t varying = 0;
    double total = 0;

    for (int64_t i = 0; i < count; i++)
        total += kfe_i_row_weight(table, rows ? rows[i] : i);
    *out = 1;
    if ((double)table->cols > total)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, columns, table->cols);
    KFE_ALLOC(ctx, spreads, table->cols);
    update_columns(ctx, table, rows, count, columns);
    for (int64_t j = 0; j < table->cols; j++)
        if (columns[j].low < columns[j].high && columns[j].spread > 0)
            spreads[varying++] = sqrt(columns[j].spread);
    *out = kfe_i_ratio_of_spreads(spreads, varying);
cleanup:
    kfe_i_free(ctx, columns);
    kfe_i_free(ctx, spreads);
    return status;
}

/* Replaces `auto` by what it stands for on this table. */
static kfe_status resolve_auto(kfe_context *ctx, const kfe_i_table *table, kfe_i_scale_kind *kind)
{
    kfe_status status = KFE_OK;
    double ratio = 1;

    if (*kind != KFE_SCALE_AUTO)
        return KFE_OK;
    if (table->kind == KFE_TABLE_DENSE)
        KFE_TRY(kfe_i_spread_ratio(ctx, table, NULL, table->rows, &ratio));
    *kind = kfe_i_scale_by_ratio(ratio);
cleanup:
    return status;
}

static kfe_status refuse_text(kfe_context *ctx, const kfe_i_table *table)
{
    if (table->kind != KFE_TABLE_TEXT)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "strings cannot be scaled; use scale=none");
}

kfe_status kfe_i_scaler_learn(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_table *table,
                              kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    KFE_TRY(resolve_auto(ctx, table, &kind));
    out->ctx = ctx;
    out->kind = kind;
    out->cols = table->cols;
    if (kind == KFE_SCALE_NONE)
        return KFE_OK;
    KFE_TRY(refuse_text(ctx, table));
    if (kind == KFE_SCALE_L2_ROWS)
        return KFE_OK;
    if (table->rows == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "there are no rows to learn a scaling from");
    KFE_TRY(learn_columns(ctx, table, out));
cleanup:
    if (status != KFE_OK)
        kfe_i_scaler_free(out);
    return status;
}

void kfe_i_scaler_free(kfe_i_scaler *scaler)
{
    if (scaler->ctx) {
        kfe_i_free(scaler->ctx, scaler->shift);
        kfe_i_free(scaler->ctx, scaler->factor);
        kfe_i_free(scaler->ctx, scaler->fill);
        kfe_i_map_free(&scaler->map);
    }
    memset(scaler, 0, sizeof *scaler);
}

/* ---- applying ---- */

static void scale_to_unit_length(double *values, int64_t count)
{
    double reach = 0;
    double sum = 0;

    for (int64_t e = 0; e < count; e++)
        reach = fmax(reach, fabs(values[e]));
    if (reach == 0)
        return;
    for (int64_t e = 0; e < count; e++)
        sum += (values[e] / reach) * (values[e] / reach);
    for (int64_t e = 0; e < count; e++)
        values[e] = values[e] / reach / sqrt(sum);
}

static void scale_values(const kfe_i_scaler *scaler, double *values, const int32_t *columns, int64_t count)
{
    if (scaler->kind == KFE_SCALE_L2_ROWS) {
        scale_to_unit_length(values, count);
        return;
    }
    for (int64_t e = 0; e < count; e++) {
        int64_t j = columns ? columns[e] : e;
        values[e] = (values[e] - (scaler->shift ? scaler->shift[j] : 0)) * scaler->factor[j];
    }
}

void kfe_i_scaler_apply_in_place(const kfe_i_scaler *scaler, kfe_i_table *table)
{
    for (int64_t i = 0; scaler->kind != KFE_SCALE_NONE && i < table->rows; i++)
        scale_values(scaler, table->values + i * table->stride, NULL, table->cols);
}

static kfe_status apply_dense(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    if (table->kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_check_memory(ctx, (double)table->rows * (double)table->cols * sizeof(double),
                                   "sparse data, centred and therefore dense,",
                                   "fit on sparse data or with scale=none"));
    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, table->cols, out));
    for (int64_t i = 0; i < table->rows; i++) {
        double *row = out->values + i * out->stride;
        kfe_i_table_dense_row(table, i, row);
        scale_values(scaler, row, NULL, table->cols);
    }
cleanup:
    return status;
}

static kfe_status apply_sparse(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                               kfe_i_table *out)
{
    kfe_status status = kfe_i_table_copy(ctx, table, out);

    for (int64_t i = 0; status == KFE_OK && i < out->rows; i++) {
        int64_t begin = out->row_start[i];
        scale_values(scaler, out->values + begin, out->columns + begin, out->row_start[i + 1] - begin);
    }
    return status;
}

/* Scaling only, without the linear map. */
static kfe_status scale_table(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (scaler->kind == KFE_SCALE_NONE) {
        *out = kfe_i_table_slice(table, 0, table->rows);
        return kfe_i_table_widen(ctx, out);
    }
    KFE_TRY(refuse_text(ctx, table));
    if (table->cols != scaler->cols)
        KFE_FAIL(ctx, KFE_EINPUT, "the data has %lld columns, but the scaling was learned on %lld",
                 (long long)table->cols, (long long)scaler->cols);
    if (table->kind == KFE_TABLE_CSR && !scaler->shift)
        status = apply_sparse(ctx, scaler, table, out);
    else
        status = apply_dense(ctx, scaler, table, out);
cleanup:
    return status;
}

int kfe_i_scaler_keeps_single(const kfe_i_scaler *scaler, const kfe_i_table *table)
{
    return table->singles && !table->shift && !table->factor && !scaler->fill && !scaler->map.values &&
           scaler->kind != KFE_SCALE_L2_ROWS && table->cols == scaler->cols;
}

void kfe_i_scaler_apply_lazily(const kfe_i_scaler *scaler, const kfe_i_table *table, kfe_i_table *out)
{
    *out = kfe_i_table_slice(table, 0, table->rows);
    if (scaler->kind == KFE_SCALE_NONE)
        return;
    out->shift = scaler->shift;
    out->factor = scaler->factor;
}

kfe_status kfe_i_scaler_apply(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table scaled = {0};

    if (!scaler->map.values)
        return scale_table(ctx, scaler, table, out);
    memset(out, 0, sizeof *out);
    KFE_TRY(scale_table(ctx, scaler, table, &scaled));
    KFE_TRY(kfe_i_map_apply(ctx, &scaler->map, &scaled, out));
cleanup:
    kfe_i_table_free(&scaled);
    return status;
}
