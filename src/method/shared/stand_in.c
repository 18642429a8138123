/* SPDX-License-Identifier: Apache-2.0 */
/* The table that represents summed rows, and fits on it; used by most methods that are offered sums. */
#include "method/shared/stand_in.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

void kfe_i_stand_in_free(kfe_i_stand_in *s)
{
    if (!s->ctx)
        return;
    kfe_i_table_free(&s->table);
    kfe_i_free(s->ctx, s->values);
    kfe_i_free(s->ctx, s->covariance);
    memset(s, 0, sizeof *s);
}

/* ---- products with targets ---- */

/* Indicators of classes 1, or 2·indicator − 1 of the second of two classes: column k of class g, less a constant that centring
 * removes. */
typedef struct indicator {
    int64_t columns;
    double scale;  /* of an indicator */
    int64_t first; /* class of the first column */
} indicator;

static indicator indicator_of(const kfe_i_sums *sums)
{
    if (sums->classes == 2)
        return (indicator){1, 2, 1};
    return (indicator){sums->classes < 2 ? 0 : sums->classes, 1, 0};
}

int64_t kfe_i_stand_in_target_columns(const kfe_i_sums *sums, kfe_i_stand_in_target target)
{
    if (target == KFE_STAND_IN_UNSUPERVISED || sums->task == KFE_TASK_NONE)
        return 0;
    return sums->task == KFE_TASK_REAL ? sums->targets : indicator_of(sums).columns;
}

/* cross (cols × t) and covariance (t × t) of centred indicators: Σ(x − μ)·1_g = n_g(μ_g − μ), Σ 1_g1_h = n_g·[g = h]. */
static void class_products(const kfe_i_sums *sums, const indicator *which, double *cross, double *covariance)
{
    int64_t t = which->columns;

    for (int64_t k = 0; k < t; k++) {
        int64_t g = which->first + k;
        double rows = sums->class_rows[g];
        for (int64_t j = 0; j < sums->cols; j++)
            cross[j * t + k] = which->scale * rows * (sums->class_means[g * sums->cols + j] - sums->mean[j]);
        for (int64_t l = 0; l < t; l++) {
            double other = sums->class_rows[which->first + l];
            covariance[k * t + l] =
                which->scale * which->scale * ((k == l ? rows : 0) - rows * (other / sums->rows));
        }
    }
}

void kfe_i_stand_in_products(const kfe_i_sums *sums, double *cross, double *covariance)
{
    indicator which = indicator_of(sums);

    if (sums->task == KFE_TASK_CLASSES) {
        class_products(sums, &which, cross, covariance);
        return;
    }
    memcpy(cross, sums->cross, (size_t)(sums->cols * sums->targets) * sizeof *cross);
    memcpy(covariance, sums->target_scatter, (size_t)(sums->targets * sums->targets) * sizeof *covariance);
}

/* ---- the factor ---- */

/* joint (D × D, lower triangle by columns): products of columns and targets, each divided by the norms of its two columns. */
static void fill_joint(const kfe_i_sums *sums, int centred, int64_t t, const double *cross,
                       const double *covariance, double *joint, double *norms)
{
    int64_t d = sums->cols;
    int64_t all = d + t;
    double n = centred ? 0 : sums->rows;

    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i; j < d; j++)
            joint[i * all + j] = sums->scatter[i * d + j] + n * sums->mean[i] * sums->mean[j];
    for (int64_t i = 0; i < d; i++)
        for (int64_t k = 0; k < t; k++)
            joint[i * all + d + k] = cross[i * t + k];
    for (int64_t k = 0; k < t; k++)
        for (int64_t l = k; l < t; l++)
            joint[(d + k) * all + d + l] = covariance[k * t + l];
    for (int64_t i = 0; i < all; i++)
        norms[i] = joint[i * (all + 1)] > 0 ? sqrt(joint[i * (all + 1)]) : 0;
    for (int64_t i = 0; i < all; i++)
        for (int64_t j = i; j < all; j++)
            joint[i * all + j] *= norms[i] > 0 && norms[j] > 0 ? 1 / norms[i] / norms[j] : 0;
}

/* Rows of the factor in the original order of columns: out (rank × D), each column times its norm. */
static void unpivot(int64_t all, int64_t rank, const double *joint, const lapack_int *pivots,
                    const double *norms, double *out, int64_t stride)
{
    for (int64_t r = 0; r < rank; r++)
        for (int64_t j = r; j < all; j++) {
            int64_t column = pivots[j] - 1;
            out[r * stride + column] = joint[r * all + j] * norms[column];
        }
}

/* Replaces a (rows × cols), whose first row is zero, by Ha, H = I − 2vvᵀ/vᵀv with He₁ = e/√rows: the columns then sum to
 * zero. With v = e₁ − e/√rows, vᵀv = 2 − 2/√rows. */
static void reflect(int64_t rows, int64_t cols, double *a)
{
    double each = 1 / sqrt((double)rows);
    double norm = 2 - 2 * each;

    if (rows < 2)
        return;
    for (int64_t j = 0; j < cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < rows; i++)
            sum -= each * a[i * cols + j];
        double share = 2 * sum / norm;
        a[j] -= share * (1 - each);
        for (int64_t i = 1; i < rows; i++)
            a[i * cols + j] += share * each;
    }
}

/* The factor of the joint products as rows 1 … of `factor` (allocated, *rows × all); row 0 is zero. */
static kfe_status factor_joint(kfe_context *ctx, int64_t all, double *joint, const double *norms,
                               int64_t least_rows, double **factor, int64_t *rows)
{
    kfe_status status = KFE_OK;
    lapack_int *pivots = NULL;
    double *work = NULL;
    lapack_int rank = 0;

    KFE_ALLOC(ctx, pivots, all);
    KFE_ALLOC(ctx, work, 2 * all);
    /* the upper triangle by rows is the lower one by columns */
    if (all > 0)
        LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)all, joint, (lapack_int)all, pivots, &rank,
                            (double)all * DBL_EPSILON, work);
    *rows = (rank + 1 > least_rows ? rank + 1 : least_rows);
    KFE_ALLOC_ZERO(ctx, *factor, *rows * all);
    unpivot(all, rank, joint, pivots, norms, *factor + all, all);
    reflect(*rows, all, *factor);
cleanup:
    kfe_i_free(ctx, pivots);
    kfe_i_free(ctx, work);
    return status;
}

static kfe_status divide_factor(kfe_i_stand_in *s, int64_t rows, int64_t d, const double *factor)
{
    kfe_status status = KFE_OK;
    int64_t t = s->targets;

    KFE_TRY(kfe_i_table_new_dense(s->ctx, rows, d, &s->table));
    KFE_ALLOC(s->ctx, s->values, rows * t);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(s->table.values + i * s->table.stride, factor + i * (d + t), (size_t)d * sizeof *factor);
        if (t > 0)
            memcpy(s->values + i * t, factor + i * (d + t) + d, (size_t)t * sizeof *factor);
    }
cleanup:
    return status;
}

kfe_status kfe_i_stand_in_make(kfe_context *ctx, const kfe_i_sums *sums, kfe_i_stand_in_target target,
                               int centred, kfe_i_stand_in *out)
{
    kfe_status status = KFE_OK;
    int64_t d = sums->cols;
    int64_t t = kfe_i_stand_in_target_columns(sums, target);
    int64_t rows = 0;
    double *cross = NULL;
    double *joint = NULL;
    double *norms = NULL;
    double *factor = NULL;

    *out = (kfe_i_stand_in){.ctx = ctx, .targets = t};
    KFE_TRY(kfe_i_check_memory(ctx, 32.0 * (double)(d + t) * (double)(d + t), "the products of all columns",
                               "raise {memory}, or use fewer columns or {landmarks}"));
    KFE_ALLOC(ctx, cross, d * t);
    KFE_ALLOC(ctx, norms, d + t);
    KFE_ALLOC(ctx, out->covariance, t * t);
    KFE_ALLOC_ZERO(ctx, joint, (d + t) * (d + t));
    if (t > 0)
        kfe_i_stand_in_products(sums, cross, out->covariance);
    fill_joint(sums, centred, t, cross, out->covariance, joint, norms);
    /* at least as many rows as columns, so that methods take the way of many examples */
    KFE_TRY(factor_joint(ctx, d + t, joint, norms, d + 1, &factor, &rows));
    KFE_TRY(divide_factor(out, rows, d, factor));
cleanup:
    kfe_i_free(ctx, cross);
    kfe_i_free(ctx, joint);
    kfe_i_free(ctx, norms);
    kfe_i_free(ctx, factor);
    return status;
}

/* ---- solutions ---- */

/* W = X'ᵀA of coefficients A on the rows of the table. */
static kfe_status dual_to_primal(const kfe_i_table *table, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double *w = NULL;

    KFE_ALLOC_ZERO(solution->ctx, w, table->cols * solution->dim);
    for (int64_t i = 0; i < solution->rows; i++) {
        int64_t row = solution->index ? solution->index[i] : i;
        cblas_dger(CblasRowMajor, (blasint)table->cols, (blasint)solution->dim, 1,
                   table->values + row * table->stride, 1, solution->coefficients + i * solution->dim, 1, w,
                   (blasint)solution->dim);
    }
    kfe_i_free(solution->ctx, solution->coefficients);
    kfe_i_free(solution->ctx, solution->index);
    solution->coefficients = w;
    solution->index = NULL;
    solution->rows = table->cols;
    solution->kind = KFE_SOLUTION_PRIMAL;
cleanup:
    return status;
}

static void drop_record(kfe_i_solution *solution, int64_t index)
{
    kfe_i_free(solution->ctx, solution->records[index].name);
    kfe_i_free(solution->ctx, solution->records[index].values);
    memmove(solution->records + index, solution->records + index + 1,
            (size_t)(solution->record_count - index - 1) * sizeof *solution->records);
    solution->record_count--;
}

/* `ratio`: rows of the table over rows of the sums. */
static void correct_records(kfe_i_solution *solution, double ratio, const double *signs)
{
    for (int64_t i = solution->record_count - 1; i >= 0; i--) {
        kfe_i_record *record = &solution->records[i];
        for (int64_t j = 0; record->kind == KFE_RECORD_SQUARED_MEANS && j < record->count; j++)
            record->values[j] *= ratio * ratio;
        for (int64_t j = 0; record->kind == KFE_RECORD_SIGNED && j < record->count; j++)
            record->values[j] *= signs[j % solution->dim];
        if (record->kind == KFE_RECORD_OF_ROWS)
            drop_record(solution, i);
    }
}

kfe_status kfe_i_stand_in_solution(const kfe_i_stand_in *s, const kfe_i_sums *sums, int centred,
                                   kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double *signs = NULL;

    KFE_ALLOC(solution->ctx, signs, solution->dim);
    if (solution->kind == KFE_SOLUTION_DUAL)
        KFE_TRY(dual_to_primal(&s->table, solution));
    KFE_TRY(kfe_i_solution_take_signs(solution, signs));
    correct_records(solution, (double)s->table.rows / sums->rows, signs);
    kfe_i_free(solution->ctx, solution->offset);
    solution->offset = NULL;
    if (!centred)
        goto cleanup;
    KFE_ALLOC_ZERO(solution->ctx, solution->offset, solution->dim);
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)sums->cols, (blasint)solution->dim, 1,
                solution->coefficients, (blasint)solution->dim, sums->mean, 1, 0, solution->offset, 1);
cleanup:
    kfe_i_free(solution->ctx, signs);
    return status;
}

kfe_status kfe_i_stand_in_fit(kfe_context *ctx, const kfe_i_sums *sums, const kfe_i_stand_in_job *job,
                              kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_stand_in_target target_kind = job->supervised ? KFE_STAND_IN_CENTRED : KFE_STAND_IN_UNSUPERVISED;
    kfe_i_stand_in stand_in = {0};
    kfe_i_gram *gram = NULL;
    const char *name = "sums";

    KFE_TRY(kfe_i_stand_in_make(ctx, sums, target_kind, job->centred, &stand_in));
    KFE_TRY(kfe_i_gram_factored(ctx, &stand_in.table, &gram));
    const kfe_i_target target = {.ctx = ctx,
                                 .task = stand_in.targets > 0 ? KFE_TASK_REAL : KFE_TASK_NONE,
                                 .rows = stand_in.table.rows,
                                 .cols = stand_in.targets,
                                 .values = stand_in.values};
    const kfe_i_fit_source source = {.op = &(kfe_i_operator){.gram = gram},
                                     .target = &target,
                                     .views = &stand_in.table,
                                     .view_names = &name,
                                     .view_count = 1};
    KFE_TRY(job->fit(ctx, &source, job->settings, out));
    KFE_TRY(kfe_i_stand_in_solution(&stand_in, sums, job->centred, out));
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_stand_in_free(&stand_in);
    return status;
}
