/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel ridge regression under a linear map, and the map that its gradients make; used by rfm.c and gkdr.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "gram/device/expand.h"
#include "gram/device/gradient.h"
#include "gram/form/landmarks.h"
#include "method/metric/metric.h"
#include "method/ridge/ridge.h"

/* Directions of M whose eigenvalues are below this share of the largest add nothing to distances. */
#define KFE_METRIC_RANK 1e-12

/* ---- the regression ---- */

/* Whether the regression takes sums over kernel values, without keeping the landmarks' factor: making its rows would take as long. */
static int takes_sums(const kfe_i_problem *given, const kfe_i_table *z, const kfe_i_gram *exact)
{
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;

    return given->storage == KFE_GRAM_AUTO && kfe_i_ranks(exact->ctx) == 1 && !z->weights &&
           kfe_i_gram_tiles(exact, &kernel, &points) && !(kernel->def->flags & KFE_HAS_INDEFINITE) &&
           kfe_i_landmarks_are_sampled(z->rows, given->landmarks.count);
}

/* *streamed: what the landmarks leave is not known yet (form/landmarks.h). */
static kfe_status open_gram(kfe_context *ctx, const kfe_i_problem *given, const kfe_i_table *z, int *streamed,
                            kfe_i_gram **out)
{
    kfe_i_gram *exact = NULL;
    kfe_status status = KFE_OK;
    kfe_i_landmark_plan plan = given->landmarks;

    if (plan.count == 0)
        return kfe_i_gram_open(ctx, given->kernels, z, given->storage, out);
    KFE_TRY(kfe_i_gram_open(ctx, given->kernels, z, KFE_GRAM_AUTO, &exact));
    *streamed = plan.streamed = takes_sums(given, z, exact);
    KFE_TRY(kfe_i_gram_landmarks(ctx, exact, &plan, given->storage, out));
cleanup:
    return status;
}

/* The number of rows, or the sum of their weights. */
static double mass_of(const kfe_i_table *x)
{
    double sum = 0;

    if (!x->weights)
        return (double)x->rows;
    for (int64_t i = 0; i < x->rows; i++)
        sum += x->weights[i];
    return sum;
}

/* centred = y minus the mean of each column, which fit->mean keeps. */
static kfe_status centre(kfe_i_metric_fit *fit, const kfe_i_table *x, int64_t columns, const double *y,
                         double *centred)
{
    kfe_status status = KFE_OK;
    double mass = mass_of(x);

    KFE_ALLOC_ZERO(fit->ctx, fit->mean, columns);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t c = 0; c < columns; c++)
            fit->mean[c] += kfe_i_row_weight(x, i) * y[i * columns + c] / mass;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t c = 0; c < columns; c++)
            centred[i * columns + c] = y[i * columns + c] - fit->mean[c];
cleanup:
    return status;
}

/* The rows that have coefficients. */
static kfe_status take_support(const kfe_i_gram *gram, kfe_i_metric_fit *fit)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info;

    if (!kfe_i_gram_has_landmarks(gram, &info)) {
        fit->support = kfe_i_table_slice(&fit->z, 0, fit->z.rows);
        return KFE_OK;
    }
    fit->landmarks = info.count;
    fit->landmark_rank = info.rank;
    KFE_ALLOC(fit->ctx, fit->landmark_index, info.count);
    memcpy(fit->landmark_index, info.index, (size_t)info.count * sizeof *fit->landmark_index);
    KFE_TRY(kfe_i_table_gather(fit->ctx, &fit->z, info.index, info.count, &fit->support));
cleanup:
    return status;
}

/* The operator that is solved on: of the plain kernel, or of weighted rows (kfe_i_gram_weighted), with their targets. */
typedef struct linear_system {
    const kfe_i_gram *plain, *gram;
    kfe_i_gram *weighted;
    double *roots; /* of the weights; NULL: ones */
    int64_t rows, columns;
    double *right;
    int streamed;                         /* the landmarks' factor is not kept */
    double mean;                          /* of the diagonal */
    kfe_i_landmark_regression regression; /* with landmarks */
} linear_system;

static void scale_rows(const linear_system *s, double *values)
{
    for (int64_t i = 0; s->roots && i < s->rows; i++)
        cblas_dscal((blasint)s->columns, s->roots[i], values + i * s->columns, 1);
}

static kfe_status weigh_system(kfe_context *ctx, const kfe_i_table *x, linear_system *s)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, s->roots, s->rows);
    for (int64_t i = 0; i < s->rows; i++)
        s->roots[i] = sqrt(x->weights[i]);
    scale_rows(s, s->right);
    KFE_TRY(kfe_i_gram_weighted(ctx, s->plain, s->roots, &s->weighted));
    s->gram = s->weighted;
cleanup:
    return status;
}

static kfe_status open_system(kfe_context *ctx, const kfe_i_table *x, linear_system *s, kfe_i_metric_fit *fit)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info;

    s->gram = s->plain;
    if (x->weights)
        KFE_TRY(weigh_system(ctx, x, s));
    if (fit->landmarks == 0)
        return kfe_i_gram_mean_diagonal(s->gram, &s->mean);
    KFE_TRY(kfe_i_landmark_regression_begin(s->plain, s->roots, s->right, s->columns, &s->regression));
    s->mean = s->regression.trace / mass_of(x);
    if (s->streamed)
        KFE_TRY(kfe_i_landmark_note_kept(s->plain, s->regression.trace));
    kfe_i_gram_has_landmarks(s->plain, &info);
    fit->trace_left = info.left;
cleanup:
    return status;
}

static kfe_status choose_ridge(const kfe_i_metric_problem *problem, const linear_system *s,
                               kfe_i_metric_fit *fit)
{
    kfe_status status = KFE_OK;
    const kfe_i_loo_problem loo = {
        .gram = s->gram, .targets = s->right, .columns = s->columns, .rule = KFE_LOO_SMALLEST_ERROR};

    if (problem->ridge == KFE_RIDGE_AUTO)
        KFE_TRY(kfe_i_loo_choose(fit->ctx, &loo, &fit->choice));
    fit->ridge = fit->choice.rows > 0 ? fit->choice.ridge : kfe_i_chosen_ridge(problem->ridge, s->mean, 1);
cleanup:
    return status;
}

/* *out = the coefficients on the support of a regression with this ridge. */
static kfe_status solve(linear_system *s, double ridge, kfe_i_metric_fit *fit, double **out, double *residual)
{
    kfe_status status = KFE_OK;
    double *alpha = NULL;

    if (fit->landmarks > 0) {
        KFE_ALLOC(fit->ctx, *out, fit->landmarks * s->columns);
        status = kfe_i_landmark_regression_solve(&s->regression, ridge, KFE_TOLERANCE, *out, residual);
        if (status != KFE_ENUMERIC)
            return status;
    }
    KFE_ALLOC(fit->ctx, alpha, s->rows * s->columns);
    KFE_TRY(kfe_i_gram_solve(s->gram, ridge, s->right, s->columns, KFE_TOLERANCE, alpha, residual));
    scale_rows(s, alpha);
    if (fit->landmarks > 0) {
        KFE_TRY(kfe_i_landmark_coefficients(s->plain, NULL, s->rows, alpha, s->columns, *out));
    } else {
        *out = alpha;
        alpha = NULL;
    }
cleanup:
    kfe_i_free(fit->ctx, alpha);
    return status;
}

/* The regression that predicts and, if its ridge is too large for gradients, one for these. */
static kfe_status solve_both(const kfe_i_metric_problem *problem, linear_system *s, kfe_i_metric_fit *fit)
{
    kfe_status status = KFE_OK;
    double unused = 0;

    KFE_TRY(choose_ridge(problem, s, fit));
    KFE_TRY(solve(s, fit->ridge, fit, &fit->coefficients, &fit->residual));
    if (problem->gradient_ridge == 0 || fit->choice.rows == 0)
        return KFE_OK;
    if (problem->gradient_ridge * s->mean < fit->ridge)
        KFE_TRY(solve(s, problem->gradient_ridge * s->mean, fit, &fit->steep, &unused));
cleanup:
    return status;
}

kfe_status kfe_i_metric_fit_make(kfe_context *ctx, const kfe_i_metric_problem *problem, const kfe_i_map *map,
                                 const kfe_i_table *x, const double *y, kfe_i_metric_fit *out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    linear_system s = {.rows = x->rows, .columns = problem->columns};

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_TRY(kfe_i_map_apply(ctx, map, x, &out->z));
    out->z.weights = x->weights;
    KFE_TRY(open_gram(ctx, problem->given, &out->z, &s.streamed, &gram));
    KFE_TRY(take_support(gram, out));
    KFE_ALLOC(ctx, s.right, s.rows * s.columns);
    KFE_TRY(centre(out, x, problem->columns, y, s.right));
    s.plain = gram;
    KFE_TRY(open_system(ctx, x, &s, out));
    KFE_TRY(solve_both(problem, &s, out));
cleanup:
    kfe_i_landmark_regression_free(&s.regression);
    kfe_i_gram_free(s.weighted);
    kfe_i_gram_free(gram);
    kfe_i_free(ctx, s.roots);
    kfe_i_free(ctx, s.right);
    return status;
}

void kfe_i_metric_fit_free(kfe_i_metric_fit *fit)
{
    if (fit->ctx) {
        kfe_i_table_free(&fit->support);
        kfe_i_table_free(&fit->z);
        kfe_i_free(fit->ctx, fit->coefficients);
        kfe_i_free(fit->ctx, fit->steep);
        kfe_i_free(fit->ctx, fit->landmark_index);
        kfe_i_free(fit->ctx, fit->mean);
    }
    memset(fit, 0, sizeof *fit);
}

kfe_status kfe_i_metric_fit_record(const kfe_i_metric_fit *fit, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_solution_record(out, "ridge", &fit->ridge, 1));
    KFE_TRY(kfe_i_solution_record(out, "residual", &fit->residual, 1));
    KFE_TRY(kfe_i_loo_record(out, &fit->choice));
    if (fit->landmarks > 0)
        KFE_TRY(kfe_i_solution_record_landmarks(out, fit->landmarks, fit->landmark_rank, fit->trace_left));
cleanup:
    return status;
}

kfe_status kfe_i_metric_predict(kfe_context *ctx, const kfe_i_metric_problem *problem,
                                const kfe_i_metric_fit *fit, const kfe_i_map *map, const kfe_i_table *x,
                                double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table z = {0};

    KFE_TRY(kfe_i_map_apply(ctx, map, x, &z));
    KFE_TRY(kfe_i_expand_anywhere(ctx, problem->given->kernels, &z, &fit->support, fit->coefficients,
                                  problem->columns, out));
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t c = 0; c < problem->columns; c++)
            out[i * problem->columns + c] += fit->mean[c];
cleanup:
    kfe_i_table_free(&z);
    return status;
}

/* ---- gradients ---- */

/* out (d × d) = T·inner·Tᵀ */
static kfe_status carry_back(kfe_context *ctx, const kfe_i_map *map, const double *inner, double *out)
{
    kfe_status status = KFE_OK;
    blasint d = (blasint)map->rows;
    blasint r = (blasint)map->cols;
    double *half = NULL;

    KFE_ALLOC(ctx, half, map->rows * map->cols);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, r, r, 1, map->values, r, inner, r, 0, half, r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, d, d, r, 1, half, r, map->values, r, 0, out, d);
cleanup:
    kfe_i_free(ctx, half);
    return status;
}

kfe_status kfe_i_metric_gradients(kfe_context *ctx, const kfe_i_metric_problem *problem,
                                  const kfe_i_metric_fit *fit, const kfe_i_map *map, int diagonal, int64_t d,
                                  double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_expansion_sum f = {problem->given->kernels, &fit->support,
                             fit->steep ? fit->steep : fit->coefficients, problem->columns};
    double *inner = NULL;

    if (diagonal || !map->values) {
        KFE_TRY(kfe_i_agop_anywhere(ctx, &f, &fit->z, diagonal, out));
        for (int64_t j = 0; map->values && j < d; j++)
            out[j] *= map->values[j] * map->values[j];
        return KFE_OK;
    }
    KFE_ALLOC(ctx, inner, map->cols * map->cols);
    KFE_TRY(kfe_i_agop_anywhere(ctx, &f, &fit->z, 0, inner));
    KFE_TRY(carry_back(ctx, map, inner, out));
cleanup:
    kfe_i_free(ctx, inner);
    return status;
}

/* ---- the next map ---- */

static kfe_status diagonal_root(kfe_context *ctx, int64_t d, double power, const double *g, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    for (int64_t j = 0; j < d; j++)
        largest = fmax(largest, g[j]);
    if (!(largest > 0))
        return KFE_OK;
    KFE_TRY(kfe_i_map_new(ctx, d, d, 1, out));
    for (int64_t j = 0; j < d; j++)
        out->values[j] = pow(g[j] / largest, power / 2);
cleanup:
    return status;
}

kfe_status kfe_i_metric_root(kfe_context *ctx, int64_t d, int diagonal, double power, int64_t most,
                             const double *g, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    int64_t rank = 0;
    int64_t asked = most > 0 && most < d ? most : d;
    double *a = NULL;
    double *values = NULL;
    double *vectors = NULL;

    memset(out, 0, sizeof *out);
    if (diagonal)
        return diagonal_root(ctx, d, power, g, out);
    KFE_ALLOC(ctx, a, d * d);
    KFE_ALLOC(ctx, values, asked);
    KFE_ALLOC(ctx, vectors, d * asked);
    memcpy(a, g, (size_t)(d * d) * sizeof *a);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, a, asked, values, vectors));
    while (rank < asked && values[rank] > KFE_METRIC_RANK * values[0] && values[rank] > 0)
        rank++;
    if (rank == 0)
        goto cleanup;
    KFE_TRY(kfe_i_map_new(ctx, d, rank, 0, out));
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < rank; j++)
            out->values[i * rank + j] = vectors[i * asked + j] * pow(values[j] / values[0], power / 2);
cleanup:
    kfe_i_free(ctx, a);
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}

/* The sum over columns of the variance, zeros of sparse rows included. Inner loops are over columns, each with its own sum, so that
 * they are vectorised. */
static kfe_status total_variance(kfe_context *ctx, const kfe_i_table *table, double *out)
{
    kfe_status status = KFE_OK;
    double *row = NULL;
    double *mean = NULL;
    double *squares = NULL;
    int64_t d = table->cols;
    double n = mass_of(table);

    *out = 0;
    KFE_ALLOC(ctx, row, d);
    KFE_ALLOC_ZERO(ctx, mean, d);
    KFE_ALLOC_ZERO(ctx, squares, d);
    for (int64_t i = 0; i < table->rows; i++) {
        kfe_i_table_dense_row(table, i, row);
        cblas_daxpy((blasint)d, kfe_i_row_weight(table, i), row, 1, mean, 1);
    }
    for (int64_t j = 0; j < d; j++)
        mean[j] /= n;
    for (int64_t i = 0; i < table->rows; i++) {
        double weight = kfe_i_row_weight(table, i);
        kfe_i_table_dense_row(table, i, row);
        for (int64_t j = 0; j < d; j++)
            squares[j] += weight * (row[j] - mean[j]) * (row[j] - mean[j]);
    }
    for (int64_t j = 0; j < d; j++)
        *out += squares[j] / n;
cleanup:
    kfe_i_free(ctx, row);
    kfe_i_free(ctx, mean);
    kfe_i_free(ctx, squares);
    return status;
}

kfe_status kfe_i_metric_normalise(kfe_context *ctx, const kfe_i_table *x, kfe_i_map *map)
{
    kfe_status status = KFE_OK;
    kfe_i_table z = {0};
    double before = 0;
    double after = 0;

    KFE_TRY(kfe_i_map_apply(ctx, map, x, &z));
    z.weights = x->weights;
    KFE_TRY(total_variance(ctx, x, &before));
    KFE_TRY(total_variance(ctx, &z, &after));
    if (before > 0 && after > 0)
        kfe_i_map_scale(map, sqrt(before / after));
cleanup:
    kfe_i_table_free(&z);
    return status;
}
