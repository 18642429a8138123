/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rounds work on: targets minus their means, and the data as something to multiply with. On the
 * primal side centring is implicit, (X − 1mᵀ)u = Xu − 1(mᵀu) and (X − 1mᵀ)ᵀw = Xᵀw − m(1ᵀw), so that sparse
 * data stays sparse. A product reads the data once: threads share the rows, and sums over rows are added in
 * thread order.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "method/deflation/deflation.h"

/* In single precision √ε would end the rounds too soon; here τ still has two digits. */
#define KFE_SINGLE_DEPENDENT 1e-5

enum { AUTO_DIM = 10, PANEL_ROWS = 256 };

/* ---- products ---- */

/* out (rows × k) = a·b for a (rows × cols), or aᵀ·b added to out, on one thread. */
static void small_times(int transposed, int64_t rows, int64_t cols, const double *a, int64_t stride,
                        const double *b, int64_t k, double *out)
{
    CBLAS_TRANSPOSE turn = transposed ? CblasTrans : CblasNoTrans;
    double add = transposed ? 1 : 0;

    if (k == 1)
        cblas_dgemv(CblasRowMajor, turn, (blasint)rows, (blasint)cols, 1, a, (blasint)stride, b, 1, add, out,
                    1);
    else
        cblas_dgemm(CblasRowMajor, turn, CblasNoTrans, (blasint)(transposed ? cols : rows), (blasint)k,
                    (blasint)(transposed ? rows : cols), 1, a, (blasint)stride, b, (blasint)k, add, out,
                    (blasint)k);
}

static void times_dense(const kfe_i_deflation *d, const double *v, int64_t k, double *out)
{
    const kfe_i_table *table = d->table;

#pragma omp parallel for num_threads(kfe_context_threads(d->ctx)) schedule(static)
    for (int64_t row = 0; row < table->rows; row += PANEL_ROWS) {
        int64_t count = table->rows - row < PANEL_ROWS ? table->rows - row : PANEL_ROWS;
        small_times(0, count, table->cols, table->values + row * table->stride, table->stride, v, k,
                    out + row * k);
    }
}

static void pull_dense(const kfe_i_deflation *d, const double *w, int64_t k, double *out)
{
    const kfe_i_table *table = d->table;
    int64_t size = table->cols * k;
    int team = 1;

#pragma omp parallel num_threads(kfe_context_threads(d->ctx))
    {
        int me = omp_get_thread_num();
        int64_t end = table->rows * (me + 1) / omp_get_num_threads();
        double *mine = d->panels + me * size;
#pragma omp single nowait
        team = omp_get_num_threads();
        memset(mine, 0, (size_t)size * sizeof *mine);
        for (int64_t row = table->rows * me / omp_get_num_threads(); row < end; row += PANEL_ROWS) {
            int64_t count = end - row < PANEL_ROWS ? end - row : PANEL_ROWS;
            small_times(1, count, table->cols, table->values + row * table->stride, table->stride,
                        w + row * k, k, mine);
        }
    }
    memcpy(out, d->panels, (size_t)size * sizeof *out);
    for (int t = 1; t < team; t++)
        cblas_daxpy((blasint)size, 1, d->panels + t * size, 1, out, 1);
}

/* a (count × k) ← a − x·(column sums of b, weighted)ᵀ with x NULL standing for ones, for one column. */
static void shift_column(int64_t k, int64_t count, const double *x, double sum, double *a)
{
    for (int64_t i = 0; i < count; i++)
        a[i * k] -= x ? x[i] * sum : sum;
}

static kfe_status times_primal(const kfe_i_deflation *d, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (d->table->kind == KFE_TABLE_DENSE)
        times_dense(d, v, k, out);
    else
        KFE_TRY(kfe_i_table_times(d->ctx, d->table, v, k, out));
    for (int64_t j = 0; d->means && j < k; j++)
        shift_column(k, d->examples, NULL, cblas_ddot((blasint)d->rows, v + j, (blasint)k, d->means, 1),
                     out + j);
cleanup:
    return status;
}

static kfe_status pull_primal(const kfe_i_deflation *d, const double *w, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (d->table->kind == KFE_TABLE_DENSE)
        pull_dense(d, w, k, out);
    else
        KFE_TRY(kfe_i_table_times(d->ctx, d->transposed, w, k, out));
    for (int64_t j = 0; d->means && j < k; j++) {
        double sum = 0;
        for (int64_t i = 0; i < d->examples; i++)
            sum += w[i * k + j];
        shift_column(k, d->rows, d->means, sum, out + j);
    }
cleanup:
    return status;
}

kfe_status kfe_i_deflation_times(const kfe_i_deflation *d, const double *v, int64_t k, double *out)
{
    if (d->side == KFE_SIDE_PRIMAL)
        return times_primal(d, v, k, out);
    return kfe_i_gram_times(d->gram, v, k, out);
}

kfe_status kfe_i_deflation_pull(const kfe_i_deflation *d, const double *w, int64_t k, double *out)
{
    if (d->side == KFE_SIDE_PRIMAL)
        return pull_primal(d, w, k, out);
    memcpy(out, w, (size_t)(d->examples * k) * sizeof *out);
    return KFE_OK;
}

/* Twice, so that what is left is orthogonal to working precision. */
void kfe_i_deflation_project_out(const kfe_i_deflation *d, double *w, int64_t k)
{
    for (int pass = 0; pass < 2 && d->count > 0; pass++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)d->count, (blasint)k,
                    (blasint)d->examples, 1, d->basis, (blasint)d->examples, w, (blasint)k, 0, d->sums,
                    (blasint)k);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)d->examples, (blasint)k,
                    (blasint)d->count, -1, d->basis, (blasint)d->examples, d->sums, (blasint)k, 1, w,
                    (blasint)k);
    }
}

/* ---- beginning and end ---- */

static kfe_status measure_means(kfe_i_deflation *d)
{
    kfe_status status = KFE_OK;
    double *uniform = d->product;
    double *means = NULL;

    KFE_ALLOC(d->ctx, means, d->rows);
    for (int64_t i = 0; i < d->examples; i++)
        uniform[i] = 1 / (double)d->examples;
    KFE_TRY(kfe_i_deflation_pull(d, uniform, 1, means));
    d->means = means;
    means = NULL;
cleanup:
    kfe_i_free(d->ctx, means);
    return status;
}

static kfe_status begin_primal(kfe_i_deflation *d, const kfe_i_problem *problem, int center)
{
    kfe_status status = KFE_OK;
    double *norms = d->product;

    KFE_ALLOC(d->ctx, d->panels, kfe_context_threads(d->ctx) * d->rows * (d->targets > 1 ? d->targets : 1));
    KFE_TRY(kfe_i_gram_diagonal(problem->gram, norms));
    d->dependent = sqrt(DBL_EPSILON);
    for (int64_t i = 0; i < d->examples; i++) /* a sum of n products is off by √n·ε, as a rule */
        d->rounding += 16 * (double)d->examples * DBL_EPSILON * DBL_EPSILON * norms[i];
    if (center)
        KFE_TRY(measure_means(d));
cleanup:
    return status;
}

static kfe_status begin_dual(kfe_i_deflation *d, const kfe_i_problem *problem, int center, double bytes)
{
    kfe_status status = KFE_OK;

    if (center)
        KFE_TRY(kfe_i_gram_centred(d->ctx, problem->gram, &d->centred));
    d->gram = center ? d->centred : problem->gram;
    if (d->side == KFE_SIDE_DUAL || d->targets > 1) {
        KFE_TRY(kfe_i_gram_keep(d->gram, bytes, &d->kept));
        d->gram = d->kept.gram;
    }
    d->dependent = kfe_i_gram_is_single(d->gram) ? KFE_SINGLE_DEPENDENT : sqrt(DBL_EPSILON);
    KFE_TRY(kfe_i_gram_rounding(d->kept.stored ? d->kept.stored : problem->gram, &d->rounding));
cleanup:
    return status;
}

static kfe_status make_room(kfe_i_deflation *d)
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
    KFE_ALLOC(ctx, d->product, d->examples);
    KFE_ALLOC(ctx, d->overlap, d->most);
    KFE_ALLOC(ctx, d->image, (d->rows > d->examples ? d->rows : d->examples) * t);
    KFE_ALLOC(ctx, d->inner, t * t);
    KFE_ALLOC(ctx, d->leading, t);
    KFE_ALLOC(ctx, d->sums, d->most * t);
    KFE_TRY(kfe_i_eigen_work_new(ctx, t, &d->eigen));
cleanup:
    return status;
}

kfe_status kfe_i_deflation_begin(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                                 kfe_i_side side, int center, int64_t asked, kfe_i_deflation *out)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation *d = out;
    int64_t n = problem->gram->size;

    *d = (kfe_i_deflation){
        .ctx = ctx, .method = method, .side = side, .examples = n, .asked = asked, .rows = n};
    if (side == KFE_SIDE_PRIMAL) {
        d->table = kfe_i_gram_factor(problem->gram);
        d->transposed = kfe_i_gram_factor_transposed(problem->gram);
        d->rows = d->table->cols;
    }
    d->most = asked > 0 ? asked : AUTO_DIM;
    d->most = d->most < n ? d->most : n;
    d->most = d->most < d->rows ? d->most : d->rows;
    KFE_TRY(kfe_i_centred_targets(ctx, problem->target, &d->target, &d->targets));
    double bytes = 8.0 * (double)(n + d->rows) * (double)(2 * d->most + 2 * d->targets + 2);
    KFE_TRY(kfe_i_check_memory(ctx, bytes, "the features and their directions",
                               "ask for fewer features, or raise --memory"));
    KFE_TRY(make_room(d));
    if (side == KFE_SIDE_PRIMAL)
        KFE_TRY(begin_primal(d, problem, center));
    else
        KFE_TRY(begin_dual(d, problem, center, bytes));
cleanup:
    return status;
}

void kfe_i_deflation_free(kfe_i_deflation *d)
{
    double *const blocks[] = {d->means,      d->target,   d->residual, d->basis,   d->lengths,
                              d->directions, d->triangle, d->signs,    d->product, d->overlap,
                              d->image,      d->inner,    d->leading,  d->sums,    d->panels};

    if (!d->ctx)
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(d->ctx, blocks[i]);
    kfe_i_eigen_work_free(d->eigen);
    kfe_i_gram_keep_free(&d->kept);
    kfe_i_gram_free(d->centred);
    memset(d, 0, sizeof *d);
}
