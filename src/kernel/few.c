/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel values of a few rows with support examples, times coefficients, in one pass over the support. */
#include "kernel/few.h"

#include <omp.h>
#include <string.h>

#include "core/invariant.h"
#include "kernel/tile/points.h"
#include "kernel/tile/rows.h"
#include "kernel/tile/tile.h"

/* Support examples that one tile compares with: few enough for the stack, and for the cache between its two uses. */
enum { STEP = 128 };
/* Numbers of the support worth a thread of its own: about a millisecond of reading. */
enum { SHARE = 1 << 21 };
/* Sums of one thread, on its stack. */
enum { SUMS = 4096 };

/* One kernel. */
typedef struct few_job {
    const kfe_i_kernel *kernel;
    const kfe_i_table *rows, *support;
    const double *v;
    int64_t k;
} few_job;

static int is_plain(const kfe_i_table *table)
{
    return table->kind == KFE_TABLE_DENSE && !table->singles;
}

int kfe_i_few_suits(const kfe_i_kernel_list *kernels, const kfe_i_table *views, const kfe_i_table *supports)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        int view = kernels->items[m].view;
        if (!kfe_i_kernel_has_formula(&kernels->items[m]))
            return 0;
        if (views[view].rows > KFE_FEW_ROWS || !is_plain(&views[view]) || !is_plain(&supports[view]))
            return 0;
    }
    return 1;
}

/* ---- one tile ---- */

static const double *row_of(const kfe_i_table *table, int64_t i)
{
    return table->values + i * table->stride;
}

/* The base values of all rows with one support example y, into a column of the tile. */
static void compare(const few_job *job, const double *y, double *column, double *norm)
{
    const kfe_i_kernel_def *def = job->kernel->def;
    int64_t d = job->rows->cols;

    for (int64_t i = 0; i < job->rows->rows; i++) {
        const double *x = row_of(job->rows, i);
        double *value = column + i * STEP;
        if (def->base == KFE_BASE_DISTANCE)
            *value = kfe_i_row_distance(x, y, d);
        else if (def->base == KFE_BASE_DOT)
            *value = kfe_i_row_dot(x, y, d, norm);
        else
            *value = def->pair_sum(x, y, d);
    }
}

static void row_norms(const few_job *job, double *norms)
{
    for (int64_t i = 0; i < job->rows->rows; i++)
        kfe_i_row_dot(row_of(job->rows, i), row_of(job->rows, i), job->rows->cols, &norms[i]);
}

/* Kernel values out of base values, times the weight of the kernel. */
static void finish(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    kfe_i_kernel_map(kernel, tile);
    for (int64_t i = 0; kernel->common.weight != 1 && i < tile->rows; i++)
        for (int64_t c = 0; c < tile->cols; c++)
            tile->values[i * tile->stride + c] *= kernel->common.weight;
}

/* sums += weight · κ(rows, support first … last − 1) · v */
static void add_products(const few_job *job, int64_t first, int64_t last, double *sums)
{
    double values[KFE_FEW_ROWS * STEP];
    double norms[KFE_FEW_ROWS];
    double support_norms[STEP] = {0};
    kfe_i_tile tile = {.values = values, .rows = job->rows->rows, .stride = STEP};

    row_norms(job, norms);
    tile.row_norms = norms;
    tile.col_norms = support_norms;
    for (int64_t j = first; j < last; j += STEP) {
        tile.cols = last - j < STEP ? last - j : STEP;
        for (int64_t c = 0; c < tile.cols; c++)
            compare(job, row_of(job->support, j + c), values + c, &support_norms[c]);
        finish(job->kernel, &tile);
        for (int64_t i = 0; i < tile.rows; i++)
            kfe_i_add_rows(values + i * STEP, tile.cols, job->v + j * job->k, job->k, sums + i * job->k);
    }
}

/* ---- threads ---- */

static void add(const double *sums, int64_t count, double *out)
{
    for (int64_t p = 0; p < count; p++)
        out[p] += sums[p];
}

/* Number of threads such that each has enough to read. */
static int useful_threads(const kfe_context *ctx, const few_job *job)
{
    double numbers = (double)job->support->rows * (double)job->support->cols;
    int threads = kfe_context_threads(ctx);

    if (job->rows->rows * job->k > SUMS || omp_in_parallel())
        return 1;
    return numbers / SHARE < threads ? 1 + (int)(numbers / SHARE) : threads;
}

/* Each thread sums over its own part of the support; the parts are added in order, so that the bits do not depend on
 * which thread is first. */
static void expand_one(const kfe_context *ctx, const few_job *job, double *out)
{
    int64_t count = job->rows->rows * job->k;
    int64_t n = job->support->rows;
    int threads = useful_threads(ctx, job);

    if (threads == 1) {
        add_products(job, 0, n, out);
        return;
    }
#pragma omp parallel for num_threads(threads) ordered schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        double sums[SUMS];
        memset(sums, 0, (size_t)count * sizeof *sums);
        add_products(job, n * t / threads, n * (t + 1) / threads, sums);
#pragma omp ordered
        add(sums, count, out);
    }
}

kfe_status kfe_i_expand_few(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                            const kfe_i_table *supports, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    assert(kfe_i_few_suits(kernels, views, supports));
    memset(out, 0, (size_t)(views[0].rows * k) * sizeof *out);
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_kernel *kernel = &kernels->items[m];
        few_job job = {kernel, &views[kernel->view], &supports[kernel->view], v, k};
        assert(job.rows->cols == job.support->cols);
        KFE_TRY(kfe_i_points_check(ctx, kernel, job.rows));
        expand_one(ctx, &job, out);
    }
cleanup:
    return status;
}
