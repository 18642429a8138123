/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel ridge regression under a linear map, and the map that its gradients make; used by rfm.c and gkdr.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/form/landmarks.h"
#include "gram/place.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/distance/distance.h"
#include "method/ridge/ridge.h"

/* Directions of M whose eigenvalues are below this share of the largest add nothing to distances. */
#define KFE_DISTANCE_RANK 1e-12

/* ---- the regression ---- */

/* Whether the regression takes sums over kernel values, without keeping the landmarks' factor: making its rows would take as long. */
static int takes_sums(const kfe_context *ctx, const kfe_i_fit_source *given, const kfe_i_table *z)
{
    return given->landmarks.count > 0 && given->storage == KFE_GRAM_AUTO && kfe_i_processes(ctx) == 1 &&
           !z->weights && kfe_i_landmarks_can_stream(ctx, given->kernels, z) &&
           kfe_i_landmarks_are_sampled(z->rows, given->landmarks.count);
}

/* *streamed: what the landmarks leave is not known yet (form/landmarks.h). */
static kfe_status open_gram(kfe_context *ctx, const kfe_i_fit_source *given, const kfe_i_table *z,
                            int *streamed, kfe_i_gram **out)
{
    kfe_i_landmark_plan plan = given->landmarks;

    plan.keys = z->keys; /* z may be some of the rows only */
    plan.weights = z->weights;
    *streamed = plan.streamed = takes_sums(ctx, given, z);
    return kfe_i_gram_open_plan(ctx, given->kernels, z, &plan, given->storage, out);
}

/* centred = y minus the mean of each column, which fit->mean keeps. */
static kfe_status centre(kfe_i_distance_fit *fit, const kfe_i_table *x, int64_t columns, const double *y,
                         double *centred)
{
    kfe_status status = KFE_OK;
    double mass = kfe_i_table_weight(x);

    KFE_TAKE_ZERO(&fit->memory, fit->mean, columns);
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
static kfe_status take_support(const kfe_i_gram *gram, kfe_i_distance_fit *fit)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    const int64_t *index = kfe_i_gram_support(gram, &count);

    if (!index) {
        fit->support = kfe_i_table_slice(&fit->z, 0, fit->z.rows);
        return KFE_OK;
    }
    fit->landmarks = count;
    fit->landmark_rank = kfe_i_gram_rank_bound(gram);
    KFE_TAKE(&fit->memory, fit->landmark_index, count);
    memcpy(fit->landmark_index, index, (size_t)count * sizeof *index);
    KFE_TRY(kfe_i_table_gather(fit->ctx, &fit->z, index, count, &fit->support));
cleanup:
    return status;
}

/* The operator that is solved on: of the plain kernel, or of weighted rows (kfe_i_gram_weighted), with their targets. */
typedef struct linear_system {
    kfe_i_arena memory;
    const kfe_i_gram *plain, *gram;
    kfe_i_gram *weighted;
    double *roots; /* of the weights; NULL: ones */
    int64_t rows, columns;
    double *right;
    int streamed;                         /* the landmarks' factor is not kept */
    double mean;                          /* of the diagonal */
    kfe_i_landmark_regression regression; /* with landmarks */
} linear_system;

static kfe_status weigh_system(kfe_context *ctx, const kfe_i_table *x, linear_system *s)
{
    kfe_status status = KFE_OK;

    KFE_TAKE(&s->memory, s->roots, s->rows);
    for (int64_t i = 0; i < s->rows; i++)
        s->roots[i] = sqrt(x->weights[i]);
    kfe_i_scale_rows(s->rows, s->columns, s->roots, s->right);
    KFE_TRY(kfe_i_gram_weighted(ctx, s->plain, s->roots, &s->weighted));
    s->gram = s->weighted;
cleanup:
    return status;
}

static kfe_status open_system(kfe_context *ctx, const kfe_i_table *x, linear_system *s,
                              kfe_i_distance_fit *fit)
{
    kfe_status status = KFE_OK;

    s->gram = s->plain;
    if (x->weights)
        KFE_TRY(weigh_system(ctx, x, s));
    if (fit->landmarks == 0)
        return kfe_i_gram_mean_diagonal(s->gram, &s->mean);
    KFE_TRY(kfe_i_landmark_regression_begin(s->plain, s->roots, s->right, s->columns, &s->regression));
    s->mean = s->regression.trace / kfe_i_table_weight(x);
    if (s->streamed)
        KFE_TRY(kfe_i_landmark_note_kept(s->plain, s->regression.trace));
    fit->trace_left = kfe_i_gram_trace_left(s->plain);
cleanup:
    return status;
}

static kfe_status choose_ridge(const kfe_i_distance_problem *problem, const linear_system *s,
                               kfe_i_distance_fit *fit)
{
    kfe_status status = KFE_OK;
    const kfe_i_loo_problem loo = {.gram = s->gram,
                                   .targets = s->right,
                                   .columns = s->columns,
                                   .keys = fit->z.keys,
                                   .rule = KFE_LOO_SMALLEST_ERROR};

    if (problem->ridge == KFE_RIDGE_AUTO)
        KFE_TRY(kfe_i_loo_choose(fit->ctx, &loo, &fit->choice));
    fit->ridge = fit->choice.rows > 0 ? fit->choice.ridge : kfe_i_chosen_ridge(problem->ridge, s->mean, 1);
cleanup:
    return status;
}

/* *out = the coefficients on the support of a regression with this ridge. */
static kfe_status solve(linear_system *s, double ridge, kfe_i_distance_fit *fit, double **out,
                        double *residual)
{
    kfe_status status = KFE_OK;
    double *alpha;

    if (fit->landmarks > 0) {
        KFE_TAKE(&fit->memory, *out, fit->landmarks * s->columns);
        status = kfe_i_landmark_regression_solve(&s->regression, ridge, KFE_TOLERANCE, *out, residual);
        if (status != KFE_ENUMERIC)
            return status;
    }
    KFE_TAKE(fit->landmarks > 0 ? &s->memory : &fit->memory, alpha, s->rows * s->columns);
    KFE_TRY(kfe_i_gram_solve(s->gram, ridge, s->right, s->columns, KFE_TOLERANCE, alpha, residual));
    kfe_i_scale_rows(s->rows, s->columns, s->roots, alpha);
    if (fit->landmarks > 0)
        KFE_TRY(kfe_i_landmark_coefficients(s->plain, NULL, s->rows, alpha, s->columns, *out));
    else
        *out = alpha;
cleanup:
    return status;
}

/* The regression that predicts and, if its ridge is too large for gradients, one for these. */
static kfe_status solve_both(const kfe_i_distance_problem *problem, linear_system *s, kfe_i_distance_fit *fit)
{
    kfe_status status = KFE_OK;
    double unused = 0;

    KFE_TRY(choose_ridge(problem, s, fit));
    if (problem->chooses_only)
        return KFE_OK;
    KFE_TRY(solve(s, fit->ridge, fit, &fit->coefficients, &fit->residual));
    if (problem->gradient_ridge == 0 || fit->choice.rows == 0)
        return KFE_OK;
    double most = problem->gradient_ridge * fit->choice.mean;
    if (most < fit->ridge)
        KFE_TRY(solve(s, most, fit, &fit->steep, &unused));
cleanup:
    return status;
}

kfe_status kfe_i_distance_fit_make(kfe_context *ctx, const kfe_i_distance_problem *problem,
                                   const kfe_i_map *map, const kfe_i_table *x, const double *y,
                                   kfe_i_distance_fit *out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    linear_system s = {.memory = {.ctx = ctx}, .rows = x->rows, .columns = problem->columns};

    *out = (kfe_i_distance_fit){.ctx = ctx, .memory = {.ctx = ctx}};
    KFE_TRY(kfe_i_map_apply(ctx, map, x, &out->z));
    out->z.weights = x->weights;
    out->z.keys = x->keys;
    KFE_TRY(open_gram(ctx, problem->given, &out->z, &s.streamed, &gram));
    KFE_TRY(take_support(gram, out));
    KFE_TAKE(&s.memory, s.right, s.rows * s.columns);
    KFE_TRY(centre(out, x, problem->columns, y, s.right));
    s.plain = gram;
    KFE_TRY(open_system(ctx, x, &s, out));
    KFE_TRY(solve_both(problem, &s, out));
cleanup:
    kfe_i_landmark_regression_free(&s.regression);
    kfe_i_gram_free(s.weighted);
    kfe_i_gram_free(gram);
    kfe_i_arena_free(&s.memory);
    return status;
}

void kfe_i_distance_fit_free(kfe_i_distance_fit *fit)
{
    if (fit->ctx) {
        kfe_i_table_free(&fit->support);
        kfe_i_table_free(&fit->z);
        kfe_i_arena_free(&fit->memory);
    }
    memset(fit, 0, sizeof *fit);
}

kfe_status kfe_i_distance_fit_record(const kfe_i_distance_fit *fit, kfe_i_solution *out)
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

kfe_status kfe_i_distance_predict(kfe_context *ctx, const kfe_i_distance_problem *problem,
                                  const kfe_i_distance_fit *fit, const kfe_i_map *map, const kfe_i_table *x,
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

kfe_status kfe_i_distance_gradients(kfe_context *ctx, const kfe_i_distance_problem *problem,
                                    const kfe_i_distance_fit *fit, const kfe_i_map *map, int diagonal,
                                    int64_t d, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_expansion_sum f = {problem->given->kernels, &fit->support,
                             fit->steep ? fit->steep : fit->coefficients, problem->columns};
    kfe_i_arena memory = {.ctx = ctx};
    double *inner, *half;

    if (diagonal || !map->values) {
        KFE_TRY(kfe_i_agop_anywhere(ctx, &f, &fit->z, diagonal, out));
        for (int64_t j = 0; map->values && j < d; j++)
            out[j] *= map->values[j] * map->values[j];
        return KFE_OK;
    }
    KFE_TAKE(&memory, inner, map->cols * map->cols);
    KFE_TAKE(&memory, half, d * map->cols);
    KFE_TRY(kfe_i_agop_anywhere(ctx, &f, &fit->z, 0, inner));
    kfe_i_times(d, map->cols, map->cols, map->values, inner, half);
    kfe_i_times_transpose(d, map->cols, d, half, map->values, out);
cleanup:
    kfe_i_arena_free(&memory);
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

kfe_status kfe_i_distance_root(kfe_context *ctx, int64_t d, int diagonal, double power, int64_t most,
                               const double *g, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    int64_t asked = most > 0 && most < d ? most : d;
    kfe_i_arena memory = {.ctx = ctx};
    double *a, *values, *vectors;

    memset(out, 0, sizeof *out);
    if (diagonal)
        return diagonal_root(ctx, d, power, g, out);
    KFE_TAKE(&memory, a, d * d);
    KFE_TAKE(&memory, values, asked);
    KFE_TAKE(&memory, vectors, d * asked);
    memcpy(a, g, (size_t)(d * d) * sizeof *a);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, a, asked, values, vectors));
    int64_t rank = kfe_i_count_above(asked, values, fmax(0, KFE_DISTANCE_RANK * values[0]));
    if (rank == 0)
        goto cleanup;
    KFE_TRY(kfe_i_map_new(ctx, d, rank, 0, out));
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < rank; j++)
            out->values[i * rank + j] = vectors[i * asked + j] * pow(values[j] / values[0], power / 2);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* The sum over columns of the variance, zeros of sparse rows included. Inner loops are over columns, each with its own sum, so that
 * they are vectorised. */
static kfe_status total_variance(kfe_context *ctx, const kfe_i_table *table, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    double *row, *mean, *squares;
    int64_t d = table->cols;
    double n = kfe_i_table_weight(table);

    *out = 0;
    KFE_TAKE(&memory, row, d);
    KFE_TAKE_ZERO(&memory, mean, d);
    KFE_TAKE_ZERO(&memory, squares, d);
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
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_distance_normalise(kfe_context *ctx, const kfe_i_table *x, kfe_i_map *map)
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
