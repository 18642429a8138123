/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares a table for one kernel: centres it, computes norms, counts substrings. */
#include "kernel/tile/points.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"

kfe_status kfe_i_points_check(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table)
{
    if (!(kernel->def->flags & KFE_HAS_NONNEGATIVE))
        return KFE_OK;
    for (int64_t i = 0; i < table->rows; i++) {
        int sparse = table->kind == KFE_TABLE_CSR;
        int64_t begin = sparse ? table->row_start[i] : i * table->stride;
        int64_t end = sparse ? table->row_start[i + 1] : begin + table->cols;
        for (int64_t p = begin; p < end; p++)
            if (table->values[p] < 0)
                return kfe_i_fail(
                    ctx, KFE_EINPUT,
                    "kernel %s is for values that are not negative, but row %lld, column %lld is %g; "
                    "try {scale=minmax} or another kernel",
                    kernel->def->name, (long long)i + 1,
                    (long long)(sparse ? table->columns[p] : p - begin) + 1, table->values[p]);
    }
    return KFE_OK;
}

/* ---- centring ---- */

static int useful_threads(const kfe_context *ctx, const kfe_i_table *table)
{
    return kfe_i_threads_for(ctx, table->rows * table->cols);
}

/* Columns whose means a thread makes, which lie in one or two cache lines. */
enum { MEANS = 8 };

void kfe_i_column_means(const kfe_context *ctx, const kfe_i_table *table, double *out)
{
    memset(out, 0, (size_t)table->cols * sizeof *out);
#pragma omp parallel for num_threads(useful_threads(ctx, table)) schedule(dynamic, 1)
    for (int64_t first = 0; first < table->cols; first += MEANS)
        for (int64_t i = 0; i < table->rows; i++)
            for (int64_t j = first; j < kfe_i_least(first + MEANS, table->cols); j++)
                out[j] += kfe_i_table_value(table, i, j) / (double)table->rows;
}

/* Writes the centred rows to points->table. */
static void subtract_centre(const kfe_i_table *table, kfe_i_points *points)
{
    const double *centre = points->centre;
    const kfe_i_table *out = &points->table;

#pragma omp parallel for num_threads(useful_threads(points->ctx, table)) schedule(static)
    for (int64_t i = 0; i < table->rows; i++) {
        double *row = out->values + i * out->stride;
        kfe_i_table_dense_row(table, i, row);
        for (int64_t j = 0; j < table->cols; j++)
            row[j] -= centre[j];
    }
}

static kfe_status centre_points(kfe_i_points *points, const kfe_i_table *table, const kfe_i_points *reference)
{
    kfe_status status = KFE_OK;

    if (!reference && table->kind == KFE_TABLE_DENSE) {
        KFE_ALLOC(points->ctx, points->centre, table->cols);
        kfe_i_column_means(points->ctx, table, points->centre);
    } else if (reference && reference->centre) {
        KFE_ALLOC(points->ctx, points->centre, table->cols);
        memcpy(points->centre, reference->centre, (size_t)table->cols * sizeof *points->centre);
    }
    if (points->centre && !table->singles) { /* a dense copy, whatever the source is */
        KFE_TRY(kfe_i_table_new_dense(points->ctx, table->rows, table->cols, &points->table));
        subtract_centre(table, points);
    }
cleanup:
    return status;
}

void kfe_i_points_panel(const kfe_i_points *points, int64_t first, int64_t count, int64_t first_col,
                        int64_t cols, double *out)
{
    const kfe_i_table *table = &points->table;
    const double *centre = table->singles ? points->centre : NULL; /* otherwise it is already subtracted */

    for (int64_t i = 0; i < count; i++) {
        double *row = out + i * cols;
        for (int64_t j = 0; j < cols; j++)
            row[j] = kfe_i_table_value(table, first + i, first_col + j);
        for (int64_t j = 0; centre && j < cols; j++)
            row[j] -= centre[first_col + j];
    }
}

static kfe_status measure_single_norms(kfe_i_points *points)
{
    kfe_status status = KFE_OK;
    int64_t cols = points->table.cols;
    double *row = NULL;

    KFE_ALLOC(points->ctx, row, cols);
    for (int64_t i = 0; i < points->table.rows; i++) {
        double sum = 0;
        kfe_i_points_panel(points, i, 1, 0, cols, row);
        for (int64_t j = 0; j < cols; j++)
            sum += row[j] * row[j];
        points->norms[i] = sum;
    }
cleanup:
    kfe_i_free(points->ctx, row);
    return status;
}

static void measure_norms(kfe_i_points *points)
{
    const kfe_i_table *table = &points->table;

#pragma omp parallel for num_threads(useful_threads(points->ctx, table)) schedule(static)
    for (int64_t i = 0; i < table->rows; i++) {
        int sparse = table->kind == KFE_TABLE_CSR;
        int64_t begin = sparse ? table->row_start[i] : i * table->stride;
        int64_t end = sparse ? table->row_start[i + 1] : begin + table->cols;
        double sum = 0;
        for (int64_t p = begin; p < end; p++)
            sum += table->values[p] * table->values[p];
        points->norms[i] = sum;
    }
}

/* ---- strings ---- */

static int compare_codes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The substrings of one string as sorted numbers, equal ones merged with their count. */
static int64_t count_substrings(const char *text, int64_t size, int64_t length, uint64_t *codes,
                                double *counts)
{
    int64_t found = size >= length ? size - length + 1 : 0;
    int64_t distinct = 0;

    for (int64_t i = 0; i < found; i++) {
        codes[i] = 0;
        for (int64_t k = 0; k < length; k++)
            codes[i] = codes[i] << 8 | (unsigned char)text[i + k];
    }
    qsort(codes, (size_t)found, sizeof *codes, compare_codes);
    for (int64_t i = 0; i < found; i++) {
        if (distinct > 0 && codes[distinct - 1] == codes[i]) {
            counts[distinct - 1] += 1;
        } else {
            codes[distinct] = codes[i];
            counts[distinct++] = 1;
        }
    }
    return distinct;
}

static kfe_status count_strings(kfe_i_points *points, int64_t length)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &points->table;
    const int64_t *start = table->row_start;
    int64_t bytes = start[table->rows] - start[0];

    KFE_ALLOC_ZERO(points->ctx, points->code_start, table->rows + 1);
    KFE_ALLOC(points->ctx, points->codes, bytes);
    KFE_ALLOC(points->ctx, points->counts, bytes);
    KFE_ALLOC(points->ctx, points->norms, table->rows);
    for (int64_t i = 0; i < table->rows; i++) {
        int64_t from = points->code_start[i];
        int64_t distinct = count_substrings(table->bytes + start[i], start[i + 1] - start[i], length,
                                            points->codes + from, points->counts + from);
        points->code_start[i + 1] = from + distinct;
        points->norms[i] = 0;
        for (int64_t p = from; p < from + distinct; p++)
            points->norms[i] += points->counts[p] * points->counts[p];
    }
cleanup:
    return status;
}

/* ---- all together ---- */

/* Tiles of dot products and distances take single precision. */
static int takes_singles(const kfe_i_kernel *kernel)
{
    return (kernel->def->base == KFE_BASE_DOT || kernel->def->base == KFE_BASE_DISTANCE) &&
           !(kernel->def->flags & KFE_HAS_NONNEGATIVE);
}

static kfe_status prepare(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *given,
                          const kfe_i_points *reference, int wide, kfe_i_points *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel_def *def = kernel->def;
    const kfe_i_table *table = &out->source;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->source = kfe_i_table_slice(given, 0, given->rows);
    if (wide || !takes_singles(kernel))
        KFE_TRY(kfe_i_table_widen(ctx, &out->source));
    out->table = kfe_i_table_slice(&out->source, 0, given->rows);
    if (table->cols > INT_MAX)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "tables have at most %d columns", INT_MAX);
    if (table->kind == KFE_TABLE_CSR) /* every thread lays out two rows */
        KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)table->cols * kfe_context_threads(ctx),
                                   "laying out rows of so many columns",
                                   "number the columns without gaps, or raise {memory}"));
    KFE_TRY(kfe_i_points_check(ctx, kernel, table));
    if (def->base == KFE_BASE_DISTANCE)
        KFE_TRY(centre_points(out, table, reference));
    if (def->base == KFE_BASE_DISTANCE || def->base == KFE_BASE_DOT) {
        KFE_ALLOC(ctx, out->norms, table->rows);
        if (table->singles)
            KFE_TRY(measure_single_norms(out));
        else
            measure_norms(out);
    }
    if (def->base == KFE_BASE_STRING)
        KFE_TRY(count_strings(out, def->substring(kernel->settings)));
cleanup:
    if (status != KFE_OK)
        kfe_i_points_free(out);
    return status;
}

kfe_status kfe_i_points_prepare(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                                const kfe_i_points *reference, kfe_i_points *out)
{
    return prepare(ctx, kernel, table, reference, 0, out);
}

kfe_status kfe_i_points_prepare_wide(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                                     kfe_i_points *out)
{
    return prepare(ctx, kernel, table, NULL, 1, out);
}

/* Gathers the centred rows of points in single precision, in double precision. */
static kfe_status gather_centred(const kfe_i_points *points, const int64_t *index, int64_t count,
                                 kfe_i_points *out)
{
    kfe_status status = kfe_i_table_new_dense(out->ctx, count, points->table.cols, &out->table);

    for (int64_t i = 0; status == KFE_OK && i < count; i++)
        kfe_i_points_panel(points, index[i], 1, 0, points->table.cols,
                           out->table.values + i * out->table.stride);
    return status;
}

static kfe_status gather_counts(const kfe_i_points *points, const int64_t *index, int64_t count,
                                kfe_i_points *out)
{
    kfe_status status = KFE_OK;
    int64_t total = 0;

    for (int64_t i = 0; i < count; i++)
        total += points->code_start[index[i] + 1] - points->code_start[index[i]];
    KFE_ALLOC_ZERO(out->ctx, out->code_start, count + 1);
    KFE_ALLOC(out->ctx, out->codes, total);
    KFE_ALLOC(out->ctx, out->counts, total);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = points->code_start[index[i]];
        int64_t length = points->code_start[index[i] + 1] - from;
        int64_t to = out->code_start[i];
        memcpy(out->codes + to, points->codes + from, (size_t)length * sizeof *out->codes);
        memcpy(out->counts + to, points->counts + from, (size_t)length * sizeof *out->counts);
        out->code_start[i + 1] = to + length;
    }
cleanup:
    return status;
}

kfe_status kfe_i_points_gather(kfe_context *ctx, const kfe_i_points *points, const int64_t *index,
                               int64_t count, kfe_i_points *out)
{
    kfe_status status = KFE_OK;

    assert(kfe_i_all_below(index, count, points->table.rows));
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_TRY(kfe_i_table_gather(ctx, &points->source, index, count, &out->source));
    out->table = kfe_i_table_slice(&out->source, 0, count);
    if (points->table.singles && points->centre)
        KFE_TRY(gather_centred(points, index, count, out));
    else if (points->table.values != points->source.values)
        KFE_TRY(kfe_i_table_gather(ctx, &points->table, index, count, &out->table));
    if (points->norms) {
        KFE_ALLOC(ctx, out->norms, count);
        for (int64_t i = 0; i < count; i++)
            out->norms[i] = points->norms[index[i]];
    }
    if (points->codes)
        KFE_TRY(gather_counts(points, index, count, out));
cleanup:
    if (status != KFE_OK)
        kfe_i_points_free(out);
    return status;
}

void kfe_i_points_refresh(kfe_i_points *points)
{
    if (points->centre)
        subtract_centre(&points->source, points);
    if (points->norms)
        measure_norms(points);
}

void kfe_i_points_renew(kfe_i_points *points, int64_t rows)
{
    points->source.rows = points->table.rows = rows;
    if (points->centre)
        kfe_i_column_means(points->ctx, &points->source, points->centre);
    kfe_i_points_refresh(points);
}

kfe_status kfe_i_points_narrow(const kfe_i_kernel *kernel, kfe_i_points *points)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &points->table;
    int by_gemm = kernel->def->base == KFE_BASE_DOT || kernel->def->base == KFE_BASE_DISTANCE;

    if (!by_gemm || table->kind != KFE_TABLE_DENSE)
        return KFE_OK;
    KFE_ALLOC(points->ctx, points->narrow, table->rows * table->cols);
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < table->cols; j++)
            points->narrow[i * table->cols + j] =
                (float)(kfe_i_table_value(table, i, j) -
                        (table->singles && points->centre ? points->centre[j] : 0));
cleanup:
    return status;
}

void kfe_i_points_free(kfe_i_points *points)
{
    if (points->ctx) {
        kfe_i_free(points->ctx, points->narrow);
        kfe_i_table_free(&points->table);
        kfe_i_table_free(&points->source);
        kfe_i_free(points->ctx, points->centre);
        kfe_i_free(points->ctx, points->norms);
        kfe_i_free(points->ctx, points->code_start);
        kfe_i_free(points->ctx, points->codes);
        kfe_i_free(points->ctx, points->counts);
    }
    memset(points, 0, sizeof *points);
}
