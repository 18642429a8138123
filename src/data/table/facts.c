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
#include "core/share.h"

/* Columns that a thread works on. With fewer, the pieces of rows are too short for the processor to fetch ahead, which takes up to eight
 * times as long. */
enum { GROUP = 64 };

/* Columns of a dense table, side by side, so that loops over them can use the processor's vectors. */
struct group {
    int64_t first, count;
    double low[GROUP], high[GROUP], mean[GROUP], reach[GROUP], spread[GROUP];
};

static const double *values_of(const kfe_i_table *table, int64_t row, const struct group *g, double *room)
{
    if (!table->singles)
        return table->values + row * table->stride + g->first;
    for (int64_t j = 0; j < g->count; j++)
        room[j] = kfe_i_table_value(table, row, g->first + j);
    return room;
}

/* Extremes and the mean, of which `share` is the weight of this row in all rows so far. */
static void add_to_means(const double *restrict x, double share, struct group *restrict g)
{
    for (int64_t j = 0; j < g->count; j++) {
        g->mean[j] += share * (x[j] - g->mean[j]);
        g->low[j] = x[j] < g->low[j] ? x[j] : g->low[j];
        g->high[j] = x[j] > g->high[j] ? x[j] : g->high[j];
    }
}

static void find_group_means(const kfe_i_table *table, const int64_t *rows, int64_t count, int64_t first,
                             kfe_i_column_facts *columns)
{
    struct group g = {.first = first, .count = kfe_i_least(GROUP, table->cols - first)};
    double room[GROUP];
    double stored = 0;

    for (int64_t j = 0; j < g.count; j++) {
        g.low[j] = (double)INFINITY;
        g.high[j] = -(double)INFINITY;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t row = rows ? rows[i] : i;
        double weight = kfe_i_row_weight(table, row);
        stored += weight;
        if (weight > 0)
            add_to_means(values_of(table, row, &g, room), weight / stored, &g);
    }
    for (int64_t j = 0; j < g.count; j++)
        columns[first + j] =
            (kfe_i_column_facts){.low = g.low[j], .high = g.high[j], .mean = g.mean[j], .stored = stored};
}

void kfe_i_column_ranges_find(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count,
                              kfe_i_column_facts *columns)
{
#pragma omp parallel for num_threads(kfe_i_threads_for(ctx, count * table->cols)) schedule(dynamic, 1)
    for (int64_t first = 0; first < table->cols; first += GROUP)
        find_group_means(table, rows, count, first, columns);
}

static void find_stored_means(const kfe_i_table *table, kfe_i_column_facts *columns)
{
    for (int64_t j = 0; j < table->cols; j++) {
        columns[j].low = (double)INFINITY;
        columns[j].high = -(double)INFINITY;
    }
    for (int64_t i = 0; i < table->rows; i++) {
        double weight = kfe_i_row_weight(table, i);
        for (int64_t e = table->row_start[i]; weight > 0 && e < table->row_start[i + 1]; e++) {
            kfe_i_column_facts *column = &columns[table->columns[e]];
            double x = table->values[e];
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

static void add_to_spreads(const double *restrict x, double weight, struct group *restrict g)
{
    for (int64_t j = 0; j < g->count; j++) {
        double away = (x[j] - g->mean[j]) / g->reach[j];
        g->spread[j] += weight * (away * away);
    }
}

static void find_group_spreads(const kfe_i_table *table, int centred, int64_t first,
                               kfe_i_column_facts *columns)
{
    struct group g = {.first = first, .count = kfe_i_least(GROUP, table->cols - first)};
    double room[GROUP];

    for (int64_t j = 0; j < g.count; j++) {
        g.mean[j] = centred ? columns[first + j].mean : 0;
        g.reach[j] = columns[first + j].reach;
    }
    for (int64_t i = 0; i < table->rows; i++)
        if (kfe_i_row_weight(table, i) > 0)
            add_to_spreads(values_of(table, i, &g, room), kfe_i_row_weight(table, i), &g);
    for (int64_t j = 0; j < g.count; j++)
        columns[first + j].spread = g.spread[j];
}

static void find_stored_spreads(const kfe_i_table *table, int centred, kfe_i_column_facts *columns)
{
    for (int64_t i = 0; i < table->rows; i++) {
        double weight = kfe_i_row_weight(table, i);
        for (int64_t e = table->row_start[i]; weight > 0 && e < table->row_start[i + 1]; e++) {
            kfe_i_column_facts *column = &columns[table->columns[e]];
            double away = (table->values[e] - (centred ? column->mean : 0)) / column->reach;
            column->spread += weight * (away * away);
        }
    }
}

static void find_spreads(kfe_context *ctx, const kfe_i_table *table, double total, int centred,
                         kfe_i_column_facts *columns)
{
    if (table->kind != KFE_TABLE_DENSE)
        find_stored_spreads(table, centred, columns);
    else
#pragma omp parallel for num_threads(kfe_i_threads_for(ctx, table->cols * table->rows)) schedule(dynamic, 1)
        for (int64_t first = 0; first < table->cols; first += GROUP)
            find_group_spreads(table, centred, first, columns);
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

    if (table->kind == KFE_TABLE_DENSE)
        kfe_i_column_ranges_find(ctx, table, NULL, table->rows, columns);
    else
        find_stored_means(table, columns);
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
    find_spreads(ctx, table, total, centred, columns);
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
