/* SPDX-License-Identifier: Apache-2.0 */
/* Missing values: where they are and what is filled in; used by the readers, by fits (model/prepare.c) and by models. */
#include "data/prepare/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* ---- gaps ---- */

static int64_t count_nans(const kfe_i_table *table)
{
    int64_t count = 0;

    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < table->cols; j++)
            count += isnan(table->values[i * table->stride + j]) != 0;
    return count;
}

/* Where the blocks of encoded columns are. */
static kfe_status find_blocks(kfe_context *ctx, const kfe_i_encoding *encoding, kfe_i_gaps *out)
{
    kfe_status status = KFE_OK;
    int64_t added = 0; /* columns that earlier blocks have added */

    if (encoding->count == 0)
        return KFE_OK;
    KFE_ALLOC(ctx, out->blocks, 2 * encoding->count);
    for (int64_t e = 0; e < encoding->count; e++) {
        out->blocks[2 * e] = encoding->columns[e].column + added;
        out->blocks[2 * e + 1] = encoding->columns[e].count;
        added += encoding->columns[e].count - 1;
    }
    out->block_count = encoding->count;
cleanup:
    return status;
}

kfe_status kfe_i_gaps_find(kfe_context *ctx, const kfe_i_table *table, kfe_i_fill fill,
                           const kfe_i_encoding *encoding, kfe_i_gaps *out)
{
    kfe_status status = KFE_OK;
    int64_t found = 0;

    *out = (kfe_i_gaps){.ctx = ctx, .fill = fill};
    KFE_TRY(find_blocks(ctx, encoding, out));
    KFE_ALLOC(ctx, out->row_start, table->rows + 1);
    KFE_ALLOC(ctx, out->columns, count_nans(table));
    for (int64_t i = 0; i < table->rows; i++) {
        out->row_start[i] = found;
        for (int64_t j = 0; j < table->cols; j++)
            if (isnan(table->values[i * table->stride + j]))
                out->columns[found++] = (int32_t)j;
    }
    out->row_start[table->rows] = found;
cleanup:
    if (status != KFE_OK)
        kfe_i_gaps_free(out);
    return status;
}

kfe_status kfe_i_gaps_gather(kfe_context *ctx, const kfe_i_gaps *gaps, const int64_t *index, int64_t count,
                             kfe_i_gaps *out)
{
    kfe_status status = KFE_OK;
    int64_t total = 0;
    int64_t placed = 0;

    *out = (kfe_i_gaps){.ctx = ctx, .fill = gaps->fill};
    if (gaps->fill == KFE_FILL_NONE)
        return KFE_OK;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = index ? index[i] : i;
        total += gaps->row_start[row + 1] - gaps->row_start[row];
    }
    KFE_ALLOC(ctx, out->blocks, 2 * gaps->block_count);
    if (gaps->block_count > 0)
        memcpy(out->blocks, gaps->blocks, 2 * (size_t)gaps->block_count * sizeof *out->blocks);
    out->block_count = gaps->block_count;
    KFE_ALLOC(ctx, out->row_start, count + 1);
    KFE_ALLOC(ctx, out->columns, total);
    for (int64_t i = 0; i < count; i++) {
        int64_t row = index ? index[i] : i;
        out->row_start[i] = placed;
        for (int64_t p = gaps->row_start[row]; p < gaps->row_start[row + 1]; p++)
            out->columns[placed++] = gaps->columns[p];
    }
    out->row_start[count] = placed;
cleanup:
    if (status != KFE_OK)
        kfe_i_gaps_free(out);
    return status;
}

void kfe_i_gaps_free(kfe_i_gaps *gaps)
{
    if (gaps->ctx) {
        kfe_i_free(gaps->ctx, gaps->row_start);
        kfe_i_free(gaps->ctx, gaps->columns);
        kfe_i_free(gaps->ctx, gaps->blocks);
    }
    memset(gaps, 0, sizeof *gaps);
}

/* ---- what to fill in ---- */

/* A value and how many rows it counts for. */
struct counted {
    double value, weight;
};

static int compare_values(const void *a, const void *b)
{
    double x = ((const struct counted *)a)->value;
    double y = ((const struct counted *)b)->value;
    return (x > y) - (x < y);
}

/* Columns that a thread works on at once. */
enum { GROUP = 64 };

/* Means of the columns from `first` to `last`; totals: of their weights. A running mean does not overflow where a sum would. */
static void find_running_means(const kfe_i_table *table, int64_t first, int64_t last, double *means,
                               double *totals)
{
    for (int64_t j = first; j < last; j++)
        means[j] = totals[j] = 0;
    for (int64_t i = 0; i < table->rows; i++) {
        const double *row = table->values + i * table->stride;
        double weight = kfe_i_row_weight(table, i);
        for (int64_t j = first; weight > 0 && j < last; j++) {
            double counts = isnan(row[j]) ? 0 : weight;
            double left = isnan(row[j]) ? 0 : row[j] - means[j];
            totals[j] += counts;
            means[j] += counts * left / (totals[j] > 0 ? totals[j] : 1);
        }
    }
}

/* The same by sums of what values are beyond the first one of their column, which takes a third of the time. */
static void find_means(const kfe_i_table *table, int64_t first, int64_t last, double *means, double *totals)
{
    double base[GROUP];
    double sums[GROUP] = {0};
    double check = 0;

    for (int64_t j = first; j < last; j++) {
        int64_t i = 0;
        while (i + 1 < table->rows && isnan(table->values[i * table->stride + j]))
            i++;
        base[j - first] = table->rows > 0 ? table->values[i * table->stride + j] : 0;
        totals[j] = 0;
    }
    for (int64_t i = 0; i < table->rows; i++) {
        const double *row = table->values + i * table->stride;
        double weight = kfe_i_row_weight(table, i);
        for (int64_t j = first; j < last; j++) {
            double left = row[j] - base[j - first];
            sums[j - first] += left == left ? weight * left : 0;
            totals[j] += left == left ? weight : 0;
        }
    }
    for (int64_t j = first; j < last; j++) {
        means[j] = totals[j] > 0 ? base[j - first] + sums[j - first] / totals[j] : 0;
        check += means[j] - means[j];
    }
    if (isnan(check)) /* sums were beyond the range of numbers */
        find_running_means(table, first, last, means, totals);
}

/* The mean of the two values in the middle, which may be the same. */
static double median_of(const struct counted *sorted, int64_t count)
{
    double half = 0;
    double before = 0;
    int64_t lower = 0;
    int64_t upper = 0;

    for (int64_t i = 0; i < count; i++)
        half += sorted[i].weight / 2;
    for (; lower + 1 < count && before + sorted[lower].weight < half; lower++)
        before += sorted[lower].weight;
    upper = lower;
    if (upper + 1 < count && before + sorted[lower].weight == half)
        upper++;
    return sorted[lower].value / 2 + sorted[upper].value / 2;
}

static double most_frequent_of(const struct counted *sorted, int64_t count)
{
    double best = sorted[0].value;
    double most = 0;
    double run = 0;

    for (int64_t i = 0; i < count; i++) {
        run = i > 0 && sorted[i].value == sorted[i - 1].value ? run + sorted[i].weight : sorted[i].weight;
        if (run > most) {
            most = run;
            best = sorted[i].value;
        }
    }
    return best;
}

static double fill_of(kfe_i_fill kind, struct counted *values, int64_t count)
{
    if (count == 0)
        return 0;
    qsort(values, (size_t)count, sizeof *values, compare_values);
    return kind == KFE_FILL_MEDIAN ? median_of(values, count) : most_frequent_of(values, count);
}

/* Fills 1 into the column of the most frequent category of a block and 0 into its others. Equally frequent: the first. */
static void fill_category(const kfe_i_table *table, int64_t first, int64_t count, double *fill)
{
    int64_t best = first;
    double most = -1;

    for (int64_t j = first; j < first + count; j++) {
        double sum = 0;
        for (int64_t i = 0; i < table->rows; i++) {
            double value = table->values[i * table->stride + j];
            sum += isnan(value) ? 0 : kfe_i_row_weight(table, i) * value;
        }
        if (sum > most) {
            most = sum;
            best = j;
        }
    }
    for (int64_t j = first; j < first + count; j++)
        fill[j] = j == best;
}

static kfe_status learn_means(kfe_context *ctx, const kfe_i_table *table, double *fill, int64_t *empty)
{
    kfe_status status = KFE_OK;
    double *totals = NULL;

    KFE_ALLOC(ctx, totals, table->cols);
#pragma omp parallel for num_threads(kfe_i_threads_for(ctx, table->rows * table->cols)) schedule(static)
    for (int64_t first = 0; first < table->cols; first += GROUP)
        find_means(table, first, first + GROUP < table->cols ? first + GROUP : table->cols, fill, totals);
    for (int64_t j = table->cols - 1; j >= 0; j--)
        *empty = totals[j] > 0 ? *empty : j;
cleanup:
    kfe_i_free(ctx, totals);
    return status;
}

static kfe_status learn_by_column(kfe_context *ctx, kfe_i_fill kind, const kfe_i_table *table, double *fill,
                                  int64_t *empty)
{
    kfe_status status = KFE_OK;
    struct counted *values = NULL;

    KFE_ALLOC(ctx, values, table->rows);
    for (int64_t j = 0; j < table->cols; j++) {
        int64_t count = 0;
        for (int64_t i = 0; i < table->rows; i++)
            if (!isnan(table->values[i * table->stride + j]))
                values[count++] =
                    (struct counted){table->values[i * table->stride + j], kfe_i_row_weight(table, i)};
        fill[j] = fill_of(kind, values, count);
        if (count == 0 && *empty < 0)
            *empty = j;
    }
cleanup:
    kfe_i_free(ctx, values);
    return status;
}

kfe_status kfe_i_fill_learn(kfe_context *ctx, const kfe_i_gaps *gaps, const kfe_i_table *table, double *fill,
                            int64_t *empty)
{
    kfe_status status = KFE_OK;

    *empty = -1;
    if (gaps->fill == KFE_FILL_MEAN || gaps->fill == KFE_FILL_NIPALS)
        return learn_means(ctx, table, fill, empty);
    KFE_TRY(learn_by_column(ctx, gaps->fill, table, fill, empty));
    for (int64_t b = 0; b < gaps->block_count; b++)
        fill_category(table, gaps->blocks[2 * b], gaps->blocks[2 * b + 1], fill);
cleanup:
    return status;
}

int64_t kfe_i_fill_nans(const double *fill, kfe_i_table *table)
{
    int64_t filled = 0;

    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < table->cols; j++) {
            double *value = &table->values[i * table->stride + j];
            if (isnan(*value)) {
                *value = fill[j];
                filled++;
            }
        }
    return filled;
}

/* ---- again ---- */

void kfe_i_gaps_reopen(const kfe_i_gaps *gaps, kfe_i_table *table)
{
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t p = gaps->row_start[i]; p < gaps->row_start[i + 1]; p++)
            table->values[i * table->stride + gaps->columns[p]] = (double)NAN;
}

kfe_status kfe_i_gaps_open(kfe_context *ctx, const kfe_i_table *table, const kfe_i_gaps *gaps,
                           kfe_i_table *out)
{
    kfe_status status = kfe_i_table_copy(ctx, table, out);

    if (status == KFE_OK && gaps && gaps->fill != KFE_FILL_NONE)
        kfe_i_gaps_reopen(gaps, out);
    return status;
}

kfe_status kfe_i_gaps_refill(kfe_context *ctx, const kfe_i_table *table, const kfe_i_gaps *gaps, double *fill,
                             kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t empty = -1;

    KFE_TRY(kfe_i_gaps_open(ctx, table, gaps, out));
    out->weights = table->weights;
    KFE_TRY(kfe_i_fill_learn(ctx, gaps, out, fill, &empty));
    kfe_i_fill_nans(fill, out);
cleanup:
    return status;
}
