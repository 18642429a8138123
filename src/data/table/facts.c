/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extremes, means and spreads of columns, for scalings and samples. Two passes over the rows. The first finds the extremes and the
 * mean of each column; a running mean does not overflow where a sum would. The second finds the spread sqrt(Σ (x − centre)²)
 * from deviations divided by the largest one, so that columns of any magnitude keep their precision. The standard deviation
 * is the population's, spread/√n. Zeros that sparse data does not store count.
 *
 * Rows count by their weights; without any, by one.
 *
 * Cost: two passes over the stored values; 6 numbers per column.
 */
#include "data/table/facts.h"

#include <math.h>

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
        for (int64_t e = 0; weight > 0 && e < row.count; e++) {
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

kfe_status kfe_i_column_facts_find(kfe_context *ctx, const kfe_i_table *table, int centred,
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
    KFE_TRY(kfe_i_column_facts_find(ctx, table, 1, columns));
    for (int64_t j = 0; j < table->cols; j++) {
        double length = columns[j].spread * columns[j].reach;
        *out += length * length / total;
    }
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}
