/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples of linear SVMs in three layouts, and passes over them.
 *
 * Text uses a fraction of its columns: 1,000 documents use 10,000 of 47,000 terms. A sparse copy numbers the columns in the order in which
 * rows use them, so that vectors are short and frequent columns are side by side; passes take half the time.
 */
#include "learn/linear/rows.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "gram/gram.h"

/* Rows worked on while they are in cache. */
enum { BLOCK = 1024 };
/* A pass over fewer numbers is made on one thread. */
#define SMALL_PASS 1e5

/* ---- opening ---- */

static double count_entries(const kfe_i_table *table)
{
    double dense = (double)table->rows * (double)table->cols;

    return table->kind == KFE_TABLE_DENSE ? dense
                                          : (double)(table->row_start[table->rows] - table->row_start[0]);
}

/* Numbers the columns that rows use from 1 on; returns how many. `number` has one zero for each column of the table. */
static int64_t number_columns(const kfe_i_table *table, int32_t *number)
{
    int32_t used = 0;

    for (int64_t p = table->row_start[0]; p < table->row_start[table->rows]; p++)
        number[table->columns[p]] |= table->values[p] != 0;
    for (int64_t j = 0; j < table->cols; j++)
        number[j] = number[j] ? ++used : 0;
    return used;
}

static void copy_entries(kfe_i_linear_rows *rows, const int32_t *number)
{
    const kfe_i_table *table = rows->table;
    int64_t at = 0;

    for (int64_t i = 0; i < table->rows; i++) {
        rows->start[i] = at;
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++) {
            if (table->values[p] == 0)
                continue;
            rows->columns[at] = number[table->columns[p]] - 1;
            rows->values[at++] = table->values[p];
        }
        if (rows->bias) {
            rows->columns[at] = (int32_t)rows->cols - 1;
            rows->values[at++] = 1;
        }
    }
    rows->start[table->rows] = at;
}

static kfe_status open_sparse(kfe_i_linear_rows *rows)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = rows->table;
    int64_t entries = table->row_start[table->rows] - table->row_start[0] + (rows->bias ? table->rows : 0);
    int32_t *number = NULL;

    rows->layout = KFE_LINEAR_SPARSE;
    KFE_ALLOC_ZERO(rows->ctx, number, table->cols);
    int64_t used = number_columns(table, number);
    rows->cols = used + rows->bias;
    KFE_TAKE(&rows->arena, rows->used, used);
    for (int64_t j = 0; j < table->cols; j++)
        if (number[j] > 0)
            rows->used[number[j] - 1] = j;
    KFE_TRY(kfe_i_check_memory(rows->ctx, (double)entries * (double)(sizeof(double) + sizeof(int32_t)),
                               "a copy of the features for the linear SVM",
                               "extract fewer features, or raise {memory}"));
    KFE_TAKE(&rows->arena, rows->start, table->rows + 1);
    KFE_TAKE(&rows->arena, rows->columns, entries);
    KFE_TAKE(&rows->arena, rows->values, entries);
    copy_entries(rows, number);
cleanup:
    kfe_i_free(rows->ctx, number);
    return status;
}

static kfe_status open_columns(kfe_i_linear_rows *rows)
{
    kfe_status status = KFE_OK;
    int64_t n = rows->count;

    rows->layout = KFE_LINEAR_COLUMNS;
    KFE_TAKE(&rows->arena, rows->values, n * rows->cols);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rows->table->cols; j++)
            rows->values[j * n + i] = kfe_i_table_value(rows->table, i, j);
    for (int64_t i = 0; rows->bias && i < n; i++)
        rows->values[(rows->cols - 1) * n + i] = 1;
cleanup:
    return status;
}

static kfe_status open_kernel(kfe_i_linear_rows *rows)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;

    KFE_TRY(kfe_i_gram_factored(rows->ctx, rows->table, &gram));
    KFE_TRY(kfe_i_gram_materialise(gram, &rows->kernel));
    kfe_i_arena_add(&rows->arena, rows->kernel);
    for (int64_t e = 0; rows->bias && e < rows->count * rows->count; e++)
        rows->kernel[e] += 1;
cleanup:
    kfe_i_gram_free(gram);
    return status;
}

/* ---- which way is fastest, in the time of reading so many numbers ---- */

/* Passes of conjugate gradients and steps of Newton's method for one problem, as seen on benchmark data. */
#define USUAL_PASSES 60.0
#define USUAL_STEPS 6.0
/* Multiplications of a factorisation or a dense product in the time of reading a number. */
#define DENSE_RATE 8.0
/* Squares of this order take this share of the memory that is left at most. */
#define SQUARES_SHARE 0.25

static double factor_cost(double order)
{
    return USUAL_STEPS * order * order * order / 6 / DENSE_RATE;
}

static double columns_cost(const kfe_i_linear_rows *rows)
{
    double d = (double)rows->cols;
    double squares = rows->layout == KFE_LINEAR_SPARSE ? rows->entries * rows->entries / (double)rows->count
                                                       : rows->entries * d / 2 / DENSE_RATE;

    return squares + factor_cost(d);
}

/* Problems share the products of rows. */
static double kernel_cost(const kfe_i_linear_rows *rows, int64_t problems)
{
    double n = (double)rows->count;
    double products = rows->entries * n / 2 / (rows->layout == KFE_LINEAR_SPARSE ? 1 : DENSE_RATE);

    return products / (double)problems + factor_cost(n);
}

static int squares_fit(const kfe_i_linear_rows *rows, int64_t order)
{
    double bytes = 2.0 * (double)sizeof(double) * (double)order * (double)order;

    return bytes <= SQUARES_SHARE * (double)kfe_i_memory_left(rows->ctx);
}

static kfe_i_linear_way choose_way(const kfe_i_linear_rows *rows, int64_t problems)
{
    double columns = squares_fit(rows, rows->cols) ? columns_cost(rows) : INFINITY;
    double kernel = squares_fit(rows, rows->count) ? kernel_cost(rows, problems) : INFINITY;

    if (fmin(columns, kernel) > USUAL_PASSES * rows->entries)
        return KFE_LINEAR_BY_GRADIENTS;
    return columns <= kernel ? KFE_LINEAR_BY_COLUMNS : KFE_LINEAR_BY_KERNEL;
}

kfe_status kfe_i_linear_rows_open(kfe_context *ctx, const kfe_i_table *table, int bias, int64_t problems,
                                  kfe_i_linear_rows *out)
{
    kfe_status status = KFE_OK;
    kfe_i_linear_rows *rows = out;

    *rows = (kfe_i_linear_rows){.ctx = ctx,
                                .arena = {.ctx = ctx},
                                .table = table,
                                .count = table->rows,
                                .cols = table->cols + (bias ? 1 : 0),
                                .bias = bias != 0,
                                .entries = count_entries(table)};
    if (table->kind == KFE_TABLE_CSR)
        KFE_TRY(open_sparse(rows));
    rows->way = choose_way(rows, problems);
    if (table->kind == KFE_TABLE_DENSE && rows->way == KFE_LINEAR_BY_COLUMNS)
        KFE_TRY(open_columns(rows));
    if (rows->way == KFE_LINEAR_BY_KERNEL)
        KFE_TRY(open_kernel(rows));
    rows->threads = rows->entries < SMALL_PASS ? 1 : kfe_context_threads(ctx);
    KFE_TAKE(&rows->arena, rows->sums, rows->cols * rows->threads);
cleanup:
    return status;
}

void kfe_i_linear_rows_free(kfe_i_linear_rows *rows)
{
    kfe_i_arena_free(&rows->arena);
    *rows = (kfe_i_linear_rows){0};
}

/* ---- one row ---- */

static double product(const kfe_i_linear_rows *rows, int64_t i, const double *v)
{
    double even = 0;
    double odd = 0;

    if (rows->layout == KFE_LINEAR_ROWS) {
        const kfe_i_table *table = rows->table;
        double bias = rows->bias ? v[table->cols] : 0;
        return bias + cblas_ddot((blasint)table->cols, table->values + i * table->stride, 1, v, 1);
    }
    int64_t p = rows->start[i];
    int64_t end = rows->start[i + 1];
    for (; p + 1 < end; p += 2) {
        even += rows->values[p] * v[rows->columns[p]];
        odd += rows->values[p + 1] * v[rows->columns[p + 1]];
    }
    return p < end ? even + odd + rows->values[p] * v[rows->columns[p]] : even + odd;
}

static void add_row(const kfe_i_linear_rows *rows, int64_t i, double factor, double *sum)
{
    const kfe_i_table *table = rows->table;

    if (rows->layout == KFE_LINEAR_ROWS) {
        cblas_daxpy((blasint)table->cols, factor, table->values + i * table->stride, 1, sum, 1);
        if (rows->bias)
            sum[table->cols] += factor;
        return;
    }
    for (int64_t p = rows->start[i]; p < rows->start[i + 1]; p++)
        sum[rows->columns[p]] += factor * rows->values[p];
}

static void add_squares(const kfe_i_linear_rows *rows, int64_t i, double factor, double *sum)
{
    const kfe_i_table *table = rows->table;

    if (rows->layout == KFE_LINEAR_ROWS) {
        const double *x = table->values + i * table->stride;
        for (int64_t j = 0; j < table->cols; j++)
            sum[j] += factor * x[j] * x[j];
        if (rows->bias)
            sum[table->cols] += factor;
        return;
    }
    for (int64_t p = rows->start[i]; p < rows->start[i + 1]; p++)
        sum[rows->columns[p]] += factor * rows->values[p] * rows->values[p];
}

/* ---- passes ---- */

static int64_t block_width(const kfe_i_linear_rows *rows, int64_t first)
{
    return rows->count - first < BLOCK ? rows->count - first : BLOCK;
}

void kfe_i_linear_rows_outputs(const kfe_i_linear_rows *rows, const double *w, double *out)
{
    if (rows->layout != KFE_LINEAR_COLUMNS) {
#pragma omp parallel for num_threads(rows->threads) schedule(static)
        for (int64_t i = 0; i < rows->count; i++)
            out[i] = product(rows, i, w);
        return;
    }
    memset(out, 0, (size_t)rows->count * sizeof *out);
    for (int64_t first = 0; first < rows->count; first += BLOCK)
        for (int64_t j = 0; j < rows->cols; j++)
            cblas_daxpy((blasint)block_width(rows, first), w[j], rows->values + j * rows->count + first, 1,
                        out + first, 1);
}

typedef struct sum_job {
    const int32_t *list;
    int64_t count;
    const double *factor, *v;
    int squares;
} sum_job;

static void add_some(const kfe_i_linear_rows *rows, const sum_job *job, int64_t from, int64_t to, double *sum)
{
    for (int64_t k = from; k < to; k++) {
        int64_t i = job->list ? job->list[k] : k;
        if (job->squares)
            add_squares(rows, i, job->factor[i], sum);
        else
            add_row(rows, i, job->v ? job->factor[i] * product(rows, i, job->v) : job->factor[i], sum);
    }
}

/* Every thread adds up a part of the rows, and then a part of the columns. */
static void add_rows(const kfe_i_linear_rows *rows, const sum_job *job, double *sum)
{
    int64_t d = rows->cols;
    int threads = rows->threads;

    if (threads == 1) {
        add_some(rows, job, 0, job->count, sum);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            memset(rows->sums + t * d, 0, (size_t)d * sizeof *rows->sums);
            add_some(rows, job, job->count * t / threads, job->count * (t + 1) / threads, rows->sums + t * d);
        }
#pragma omp for schedule(static)
        for (int64_t j = 0; j < d; j++)
            for (int t = 0; t < threads; t++)
                sum[j] += rows->sums[t * d + j];
    }
}

void kfe_i_linear_rows_add(const kfe_i_linear_rows *rows, const int32_t *list, int64_t count,
                           const double *factor, double *sum)
{
    if (rows->layout != KFE_LINEAR_COLUMNS) {
        add_rows(rows, &(sum_job){list, count, factor, NULL, 0}, sum);
        return;
    }
    for (int64_t first = 0; first < rows->count; first += BLOCK)
        for (int64_t j = 0; j < rows->cols; j++)
            sum[j] += cblas_ddot((blasint)block_width(rows, first), factor + first, 1,
                                 rows->values + j * rows->count + first, 1);
}

void kfe_i_linear_rows_add_products(const kfe_i_linear_rows *rows, const int32_t *list, int64_t count,
                                    const double *factor, const double *v, double *sum)
{
    add_rows(rows, &(sum_job){list, count, factor, v, 0}, sum);
}

void kfe_i_linear_rows_add_squares(const kfe_i_linear_rows *rows, const int32_t *list, int64_t count,
                                   const double *factor, double *sum)
{
    add_rows(rows, &(sum_job){list, count, factor, NULL, 1}, sum);
}

void kfe_i_linear_rows_expand(const kfe_i_linear_rows *rows, const double *w, double *out)
{
    int64_t wide = rows->table->cols;

    memset(out, 0, (size_t)(wide + rows->bias) * sizeof *out);
    for (int64_t j = 0; j < rows->cols - rows->bias; j++)
        out[rows->used ? rows->used[j] : j] = w[j];
    if (rows->bias)
        out[wide] = w[rows->cols - 1];
}
