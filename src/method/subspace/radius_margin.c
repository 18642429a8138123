/* SPDX-License-Identifier: Apache-2.0 */
/* The radius-margin bound and its gradient: one warm-started SVM per class and the smallest enclosing ball. Used
 * through criterion.c. */
#include "method/subspace/radius_margin.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/smo/smo.h"
#include "linalg/basis.h"
#include "method/subspace/ball.h"

/* Accuracy of the SVMs and of R², which limits that of the gradients. */
#define KFE_SVM_TOLERANCE 1e-7
#define KFE_BALL_TOLERANCE 1e-9
/* Squared slacks leave α unbounded. */
#define KFE_NO_BOUND 1e30

static void fill_signs(const kfe_i_target *target, kfe_i_radius_margin *bound)
{
    for (int64_t m = 0; m < bound->svms; m++)
        for (int64_t i = 0; i < bound->rows; i++)
            bound->sign[m * bound->rows + i] = target->codes[i] == m ? 1 : -1;
    for (int64_t i = 0; i < bound->rows; i++) {
        bound->upper[i] = KFE_NO_BOUND;
        bound->index[i] = i;
    }
}

kfe_status kfe_i_radius_margin_begin(kfe_context *ctx, const kfe_i_target *target, int64_t most, double c,
                                     kfe_i_radius_margin *out)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = n;
    out->svms = target->class_count == 2 ? 1 : target->class_count;
    out->inverse_c = 1 / c;
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)n * (double)n, "the radius-margin criterion",
                               "raise {memory} or use {criterion=kta}"));
    KFE_ALLOC_ZERO(ctx, out->matrix, n * n);
    KFE_ALLOC(ctx, out->index, n);
    KFE_ALLOC(ctx, out->sign, out->svms * n);
    KFE_ALLOC(ctx, out->upper, n);
    KFE_ALLOC_ZERO(ctx, out->alpha, out->svms * n);
    KFE_ALLOC(ctx, out->weights, n);
    KFE_ALLOC_ZERO(ctx, out->beta, n);
    KFE_ALLOC(ctx, out->work, n);
    KFE_ALLOC(ctx, out->along, most);
    out->example_weights = target->weights;
    if (target->weights) {
        KFE_ALLOC(ctx, out->plain, n * most);
        KFE_ALLOC(ctx, out->lengths, n);
    }
    fill_signs(target, out);
    KFE_TRY(kfe_i_gram_subset(ctx, n, out->matrix, out->index, n, &out->gram));
cleanup:
    return status;
}

void kfe_i_radius_margin_free(kfe_i_radius_margin *bound)
{
    if (bound->ctx) {
        kfe_i_gram_free(bound->gram);
        kfe_i_free(bound->ctx, bound->matrix);
        kfe_i_free(bound->ctx, bound->index);
        kfe_i_free(bound->ctx, bound->sign);
        kfe_i_free(bound->ctx, bound->upper);
        kfe_i_free(bound->ctx, bound->alpha);
        kfe_i_free(bound->ctx, bound->weights);
        kfe_i_free(bound->ctx, bound->beta);
        kfe_i_free(bound->ctx, bound->work);
        kfe_i_free(bound->ctx, bound->along);
        kfe_i_free(bound->ctx, bound->plain);
        kfe_i_free(bound->ctx, bound->lengths);
    }
    memset(bound, 0, sizeof *bound);
}

static void fill_matrix(kfe_i_radius_margin *bound, const double *x, int64_t dim)
{
    int64_t n = bound->rows;

    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)n, (blasint)dim, 1, x, (blasint)dim, 0,
                bound->matrix, (blasint)n);
    for (int64_t i = 0; i < n; i++) {
        if (bound->example_weights)
            bound->lengths[i] = bound->matrix[i * n + i] + bound->inverse_c;
        bound->matrix[i * n + i] +=
            bound->inverse_c / (bound->example_weights ? bound->example_weights[i] : 1);
        for (int64_t j = 0; j < i; j++)
            bound->matrix[j * n + i] = bound->matrix[i * n + j];
    }
}

/* gradient += factor · a(aᵀX) */
static void add_outer(kfe_i_radius_margin *bound, double factor, const double *a, const double *x,
                      int64_t dim, double *gradient)
{
    kfe_i_inner_products(bound->rows, kfe_i_packed(a, 1), kfe_i_packed(x, dim), bound->along);
    cblas_dger(CblasRowMajor, (blasint)bound->rows, (blasint)dim, factor, a, 1, bound->along, 1, gradient,
               (blasint)dim);
}

/* *margin = Σ‖w‖², and gradient = ∂/∂X of it. */
static kfe_status add_svms(kfe_i_radius_margin *bound, const double *x, int64_t dim, double *margin,
                           double *gradient)
{
    kfe_status status = KFE_OK;
    const kfe_i_smo_options options = {.tolerance = KFE_SVM_TOLERANCE, .shrinking = 1};

    *margin = 0;
    for (int64_t m = 0; m < bound->svms; m++) {
        const double *sign = bound->sign + m * bound->rows;
        double *alpha = bound->alpha + m * bound->rows;
        kfe_i_smo_problem problem = {.gram = bound->gram, .sign = sign, .upper = bound->upper};
        kfe_i_smo_result result = {0};
        KFE_TRY(kfe_i_smo_solve(bound->ctx, &problem, &options, alpha, &result));
        *margin -= 2 * result.objective;
        for (int64_t i = 0; i < bound->rows; i++)
            bound->weights[i] = sign[i] * alpha[i];
        add_outer(bound, -2, bound->weights, x, dim, gradient);
    }
cleanup:
    return status;
}

/* gradient ← −(gradient / margin + ∂R²/R²) */
static void finish_gradient(kfe_i_radius_margin *bound, const double *x, int64_t dim, double margin,
                            double radius, double *gradient)
{
    cblas_dscal((blasint)(bound->rows * dim), -1 / margin, gradient, 1);
    for (int64_t i = 0; i < bound->rows; i++)
        cblas_daxpy((blasint)dim, -2 * bound->beta[i] / radius, x + i * dim, 1, gradient + i * dim, 1);
    add_outer(bound, 2 / radius, bound->beta, x, dim, gradient);
}

/* Once per fit: every iteration solves another ball. */
static void warn_of_inexact_ball(kfe_i_radius_margin *bound, const kfe_i_ball *ball)
{
    if (!ball->converged && !bound->warned)
        kfe_i_log(bound->ctx, KFE_LOG_WARNING,
                  "the radius of the radius-margin bound did not reach its tolerance of %g; the criterion is "
                  "approximate. {scale=standard} may help",
                  KFE_BALL_TOLERANCE);
    bound->warned |= !ball->converged;
}

/* out = rows of x (rows × dim) over the roots of the weights. */
static void divide_by_roots(const kfe_i_radius_margin *bound, const double *x, int64_t dim, double *out)
{
    for (int64_t i = 0; i < bound->rows; i++)
        for (int64_t j = 0; j < dim; j++)
            out[i * dim + j] = x[i * dim + j] / sqrt(bound->example_weights[i]);
}

kfe_status kfe_i_radius_margin_of(void *state, const double *x, int64_t dim, double *value, double *gradient)
{
    kfe_status status = KFE_OK;
    kfe_i_radius_margin *bound = state;
    double margin = 0;
    kfe_i_ball ball = {0};

    if (bound->example_weights) {
        divide_by_roots(bound, x, dim, bound->plain);
        x = bound->plain;
    }
    fill_matrix(bound, x, dim);
    memset(gradient, 0, (size_t)(bound->rows * dim) * sizeof *gradient);
    KFE_TRY(add_svms(bound, x, dim, &margin, gradient));
    KFE_TRY(kfe_i_smallest_ball(bound->ctx, bound->rows, bound->matrix, bound->lengths, KFE_BALL_TOLERANCE,
                                bound->beta, bound->work, &ball));
    warn_of_inexact_ball(bound, &ball);
    if (!(margin > 0) || !(ball.squared_radius > 0))
        KFE_FAIL(bound->ctx, KFE_ENUMERIC,
                 "the radius-margin bound is lost in rounding; try a smaller {margin-C} or {scale=standard}");
    finish_gradient(bound, x, dim, margin, ball.squared_radius, gradient);
    if (bound->example_weights) /* by √wᵢ·xᵢ */
        divide_by_roots(bound, gradient, dim, gradient);
    *value = -log(ball.squared_radius) - log(margin);
cleanup:
    return status;
}
