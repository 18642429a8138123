/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a deflation as something to multiply with, and its memory; used by deflation.c and the rules.
 *
 * On the primal side centring is implicit, so that sparse data stays sparse:
 *   (X − 1mᵀ)u = Xu − 1(mᵀu)   and   (X − 1mᵀ)ᵀw = Xᵀw − m(1ᵀw).
 * A product reads the data once: threads share the rows, and sums over rows are added in thread order.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "method/deflation/deflation.h"
#include "method/shared/range.h"

enum { PANEL_ROWS = 256 };

/* ---- products ---- */

/* A block of rows of a dense table. */
typedef struct row_block {
    int64_t rows, cols, stride;
    const double *values;
} row_block;

static row_block block_at(const kfe_i_table *table, int64_t row, int64_t end)
{
    return (row_block){end - row < PANEL_ROWS ? end - row : PANEL_ROWS, table->cols, table->stride,
                       table->values + row * table->stride};
}

/* out (rows × k) = block·b, on one thread. */
static void block_times(const row_block *a, const double *b, int64_t k, double *out)
{
    if (k == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)a->rows, (blasint)a->cols, 1, a->values,
                    (blasint)a->stride, b, 1, 0, out, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)a->rows, (blasint)k, (blasint)a->cols,
                    1, a->values, (blasint)a->stride, b, (blasint)k, 0, out, (blasint)k);
}

/* out (cols × k) += blockᵀ·b, on one thread. */
static void add_block_transpose_times(const row_block *a, const double *b, int64_t k, double *out)
{
    if (k == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)a->rows, (blasint)a->cols, 1, a->values,
                    (blasint)a->stride, b, 1, 1, out, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)a->cols, (blasint)k, (blasint)a->rows,
                    1, a->values, (blasint)a->stride, b, (blasint)k, 1, out, (blasint)k);
}

static void times_dense(const kfe_i_deflation *d, const double *v, int64_t k, double *out)
{
    const kfe_i_table *table = d->data.table;

#pragma omp parallel for num_threads(kfe_context_threads(d->ctx)) schedule(static)
    for (int64_t row = 0; row < table->rows; row += PANEL_ROWS) {
        row_block block = block_at(table, row, table->rows);
        block_times(&block, v, k, out + row * k);
    }
}

static void pull_dense(const kfe_i_deflation *d, const double *w, int64_t k, double *out)
{
    const kfe_i_table *table = d->data.table;
    int64_t size = table->cols * k;
    int team = 1;

#pragma omp parallel num_threads(kfe_context_threads(d->ctx))
    {
        int me = omp_get_thread_num();
        int64_t end = table->rows * (me + 1) / omp_get_num_threads();
        double *mine = d->data.panels + me * size;
#pragma omp single nowait
        team = omp_get_num_threads();
        memset(mine, 0, (size_t)size * sizeof *mine);
        for (int64_t row = table->rows * me / omp_get_num_threads(); row < end; row += PANEL_ROWS) {
            row_block block = block_at(table, row, end);
            add_block_transpose_times(&block, w + row * k, k, mine);
        }
    }
    memcpy(out, d->data.panels, (size_t)size * sizeof *out);
    for (int t = 1; t < team; t++)
        cblas_daxpy((blasint)size, 1, d->data.panels + t * size, 1, out, 1);
}

/* Subtracts sum·x (x NULL: ones) from one column of a (count × k). */
static void shift_column(int64_t k, int64_t count, const double *x, double sum, double *a)
{
    for (int64_t i = 0; i < count; i++)
        a[i * k] -= x ? x[i] * sum : sum;
}

static kfe_status times_primal(const kfe_i_deflation *d, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (d->data.table->kind == KFE_TABLE_DENSE)
        times_dense(d, v, k, out);
    else
        KFE_TRY(kfe_i_table_times(d->ctx, d->data.table, v, k, out));
    for (int64_t j = 0; d->data.means && j < k; j++)
        shift_column(k, d->examples, d->roots,
                     cblas_ddot((blasint)d->rows, v + j, (blasint)k, d->data.means, 1), out + j);
cleanup:
    return status;
}

static kfe_status pull_primal(const kfe_i_deflation *d, const double *w, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (d->data.table->kind == KFE_TABLE_DENSE)
        pull_dense(d, w, k, out);
    else
        KFE_TRY(kfe_i_table_times(d->ctx, d->data.transposed, w, k, out));
    for (int64_t j = 0; d->data.means && j < k; j++) {
        double sum = 0;
        for (int64_t i = 0; i < d->examples; i++)
            sum += d->roots ? d->roots[i] * w[i * k + j] : w[i * k + j];
        shift_column(k, d->rows, d->data.means, sum, out + j);
    }
cleanup:
    return status;
}

kfe_status kfe_i_deflation_times(const kfe_i_deflation *d, const double *v, int64_t k, double *out)
{
    if (d->setup.side == KFE_SIDE_PRIMAL)
        return times_primal(d, v, k, out);
    return kfe_i_gram_times(d->data.gram, v, k, out);
}

kfe_status kfe_i_deflation_pull(const kfe_i_deflation *d, const double *w, int64_t k, double *out)
{
    if (d->setup.side == KFE_SIDE_PRIMAL)
        return pull_primal(d, w, k, out);
    memcpy(out, w, (size_t)(d->examples * k) * sizeof *out);
    return KFE_OK;
}

/* Done twice, so that the result is orthogonal to working precision. */
void kfe_i_deflation_project_out(const kfe_i_deflation *d, double *w, int64_t k)
{
    for (int pass = 0; pass < 2 && d->count > 0; pass++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)d->count, (blasint)k,
                    (blasint)d->examples, 1, d->basis, (blasint)d->examples, w, (blasint)k, 0, d->work.sums,
                    (blasint)k);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)d->examples, (blasint)k,
                    (blasint)d->count, -1, d->basis, (blasint)d->examples, d->work.sums, (blasint)k, 1, w,
                    (blasint)k);
    }
}

/* ---- beginning and end ---- */

static kfe_status measure_means(kfe_i_deflation *d)
{
    kfe_status status = KFE_OK;
    double *uniform = d->work.product;
    double *means = NULL;

    KFE_ALLOC(d->ctx, means, d->rows);
    for (int64_t i = 0; i < d->examples; i++)
        uniform[i] = (d->roots ? d->roots[i] : 1) / d->mass;
    KFE_TRY(kfe_i_deflation_pull(d, uniform, 1, means));
    d->data.means = means;
    means = NULL;
cleanup:
    kfe_i_free(d->ctx, means);
    return status;
}

static kfe_status begin_primal(kfe_i_deflation *d, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    double *norms = d->work.product;

    KFE_ALLOC(d->ctx, d->data.panels,
              kfe_context_threads(d->ctx) * d->rows * (d->targets > 1 ? d->targets : 1));
    KFE_TRY(kfe_i_gram_diagonal(gram, norms));
    d->limits.dependent = kfe_i_double.dependent;
    for (int64_t i = 0; i < d->examples; i++) /* a sum of n products is usually off by √n·ε */
        d->limits.rounding += 16 * (double)d->examples * DBL_EPSILON * DBL_EPSILON * norms[i];
    if (d->setup.center)
        KFE_TRY(measure_means(d));
cleanup:
    return status;
}

static kfe_status begin_dual(kfe_i_deflation *d, const kfe_i_gram *gram, double bytes)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation_data *data = &d->data;

    if (d->setup.center)
        KFE_TRY(kfe_i_gram_centred(d->ctx, gram, &data->centred));
    data->gram = d->setup.center ? data->centred : gram;
    if (d->setup.side == KFE_SIDE_DUAL || d->targets > 1) {
        KFE_TRY(kfe_i_gram_keep(data->gram, KFE_KEEP_ANY, bytes, &data->kept));
        data->gram = data->kept.gram;
    }
    d->limits.dependent = data->gram->precision->dependent;
    KFE_TRY(kfe_i_gram_rounding(data->gram, &d->limits.rounding));
cleanup:
    return status;
}

static kfe_status allocate(kfe_i_deflation *d)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = d->ctx;
    int64_t t = d->targets > 1 ? d->targets : 1;

    KFE_ALLOC(ctx, d->residual, d->examples * t);
    memcpy(d->residual, d->target, (size_t)(d->examples * d->targets) * sizeof *d->residual);
    KFE_ALLOC(ctx, d->basis, d->most * d->examples);
    KFE_ALLOC(ctx, d->lengths, d->most);
    KFE_ALLOC(ctx, d->directions, d->most * d->rows);
    KFE_ALLOC_ZERO(ctx, d->triangle, d->most * d->most);
    KFE_ALLOC(ctx, d->signs, d->most);
    KFE_ALLOC(ctx, d->work.product, d->examples);
    KFE_ALLOC(ctx, d->work.overlap, d->most);
    KFE_ALLOC(ctx, d->work.image, (d->rows > d->examples ? d->rows : d->examples) * t);
    KFE_ALLOC(ctx, d->work.inner, t * t);
    KFE_ALLOC(ctx, d->work.leading, t);
    KFE_ALLOC(ctx, d->work.sums, d->most * t);
    KFE_TRY(kfe_i_eigen_work_new(ctx, t, &d->work.eigen));
cleanup:
    return status;
}

kfe_status kfe_i_deflation_begin(kfe_context *ctx, const kfe_i_fit_source *source,
                                 const kfe_i_deflation_setup *setup, kfe_i_deflation *out)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation *d = out;
    const kfe_i_gram *gram = NULL;
    double largest = 0;

    *d = (kfe_i_deflation){.ctx = ctx};
    const kfe_i_table *transposed = NULL;
    const kfe_i_table *table = NULL;
    KFE_TRY(kfe_i_ask_factor(ctx, source, &gram, &table, &transposed));
    int64_t n = gram->size;
    *d = (kfe_i_deflation){.ctx = ctx, .setup = *setup, .examples = n, .rows = n, .unit = 1};
    d->roots = gram->roots;
    d->mass = kfe_i_gram_mass(gram);
    if (setup->side == KFE_SIDE_PRIMAL) {
        d->data.table = table;
        d->data.transposed = transposed;
        d->rows = table->cols;
    }
    int64_t automatic = setup->auto_dim > 0 ? setup->auto_dim : KFE_DEFLATION_AUTO_DIM;
    d->most = setup->dim > 0 ? setup->dim : automatic;
    d->most = d->most < n ? d->most : n;
    d->most = d->most < d->rows ? d->most : d->rows;
    KFE_TRY(kfe_i_largest_kernel_value(ctx, setup->method, gram, &largest));
    KFE_TRY(kfe_i_centred_targets(ctx, source->target, &d->target, &d->targets, &d->unit));
    double bytes = 8.0 * (double)(n + d->rows) * (double)(2 * d->most + 2 * d->targets + 2);
    KFE_TRY(kfe_i_check_memory(ctx, bytes, "the features and their directions",
                               "lower {dim}, or raise {memory}"));
    KFE_TRY(allocate(d));
    KFE_TRY(setup->side == KFE_SIDE_PRIMAL ? begin_primal(d, gram) : begin_dual(d, gram, bytes));
cleanup:
    return status;
}

void kfe_i_deflation_free(kfe_i_deflation *d)
{
    double *const blocks[] = {d->data.means, d->data.panels,  d->target,       d->residual,
                              d->basis,      d->lengths,      d->directions,   d->triangle,
                              d->signs,      d->work.product, d->work.overlap, d->work.image,
                              d->work.inner, d->work.leading, d->work.sums};

    if (!d->ctx)
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(d->ctx, blocks[i]);
    kfe_i_eigen_work_free(d->work.eigen);
    kfe_i_gram_keep_free(&d->data.kept);
    kfe_i_gram_free(d->data.centred);
    memset(d, 0, sizeof *d);
}
