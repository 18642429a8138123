/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of kernels for given targets (ridge_weights.h): the function, its gradient, and the choice of solver;
 * hsic-mkl and svm-mkl use it. */
#include "method/mkl/ridge_weights.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* Below this relative gap there is no warning: rounding may allow no better. */
#define KFE_QUIET_GAP 1e-6

static kfe_status value_at(void *user, const double *d, double *value, double *excess)
{
    *excess = 0;
    return kfe_i_ridge_weights_value(user, d, value);
}

static kfe_status slopes_at(void *user, double *q)
{
    return kfe_i_ridge_weights_slopes(user, q);
}

static kfe_status allocate(kfe_i_ridge_weights *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->ctx;

    KFE_ALLOC(ctx, s->labels, s->n * s->most);
    KFE_ALLOC(ctx, s->result.d, s->p);
    KFE_ALLOC(ctx, s->factor.lower, s->n * s->n);
    KFE_ALLOC(ctx, s->factor.weights, s->p);
    KFE_ALLOC(ctx, s->factor.scaled, s->p);
    KFE_ALLOC(ctx, s->factor.panel, KFE_PANEL_ROWS * s->n);
    KFE_ALLOC(ctx, s->at.u, s->n * s->most);
    KFE_ALLOC(ctx, s->at.images, s->p * s->n * s->most);
    KFE_TRY(kfe_i_simplex_work_new(ctx, s->p, &s->work));
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_open(kfe_context *ctx, const kfe_i_bank *bank, int64_t most,
                                    kfe_i_ridge_weights *out)
{
    kfe_status status = KFE_OK;
    int64_t n = bank->size;

    *out = (kfe_i_ridge_weights){.ctx = ctx, .bank = bank, .n = n, .p = bank->count, .k = most, .most = most};
    out->problem = (kfe_i_simplex_problem){.ctx = ctx,
                                           .p = bank->count,
                                           .usable = bank->traces,
                                           .value = value_at,
                                           .slopes = slopes_at,
                                           .user = out};
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)n * (double)n, "finding weights of kernels",
                               "raise {memory} or use fewer rows"));
    KFE_TRY(allocate(out));
    kfe_i_simplex_start(&out->problem, out->result.d);
cleanup:
    return status;
}

void kfe_i_ridge_weights_free(kfe_i_ridge_weights *s)
{
    if (!s->ctx)
        return;
    kfe_i_free(s->ctx, s->labels);
    kfe_i_free(s->ctx, s->result.d);
    kfe_i_free(s->ctx, s->factor.lower);
    kfe_i_free(s->ctx, s->factor.weights);
    kfe_i_free(s->ctx, s->factor.scaled);
    kfe_i_free(s->ctx, s->factor.panel);
    kfe_i_free(s->ctx, s->at.u);
    kfe_i_free(s->ctx, s->at.images);
    kfe_i_simplex_work_free(s->work);
    kfe_i_ridge_newton_free(s->newton);
    memset(s, 0, sizeof *s);
}

void kfe_i_ridge_weights_configure(kfe_i_ridge_weights *s, const char *method,
                                   const kfe_i_ridge_weights_settings *settings)
{
    s->method = method;
    s->xi = settings->xi > 0 ? settings->xi : 1 / kfe_i_gram_mass(s->bank->raw[0]);
    s->problem.tolerance = settings->tolerance;
    s->problem.max_iterations = settings->max_iterations;
}

/* ---- one point ---- */

kfe_status kfe_i_ridge_weights_factorise(kfe_i_ridge_weights *s, const double *d)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_factor *f = &s->factor;
    int64_t n = s->n;
    size_t bytes = (size_t)s->p * sizeof *d;

    if (f->xi == s->xi && memcmp(d, f->weights, bytes) == 0)
        return KFE_OK;
    f->xi = 0;
    for (int64_t i = 0; i < s->p; i++)
        f->scaled[i] = d[i] / s->xi;
    KFE_TRY(kfe_i_bank_combine(s->bank, f->scaled, f->panel, f->lower));
    for (int64_t i = 0; i < n; i++)
        f->lower[i * n + i] += 1;
    status = kfe_i_cholesky(s->ctx, n, f->lower, "the weighted kernels plus the ridge");
    f->indefinite = status == KFE_ENUMERIC;
    KFE_TRY(status);
    memcpy(f->weights, d, bytes);
    f->xi = s->xi;
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_value(kfe_i_ridge_weights *s, const double *d, double *objective)
{
    kfe_status status = KFE_OK;
    size_t block = (size_t)(s->n * s->k);

    KFE_TRY(kfe_i_ridge_weights_factorise(s, d));
    memcpy(s->at.u, s->labels, block * sizeof *s->at.u);
    kfe_i_solve_cholesky(s->n, s->factor.lower, s->k, s->at.u);
    *objective = cblas_ddot((blasint)block, s->at.u, 1, s->labels, 1);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_slopes(kfe_i_ridge_weights *s, double *q)
{
    kfe_status status = KFE_OK;
    int64_t block = s->n * s->k;

    for (int64_t i = 0; i < s->p; i++) {
        double *image = s->at.images + i * block;
        KFE_TRY(kfe_i_bank_times(s->bank, i, s->at.u, s->k, image));
        cblas_dscal((blasint)block, 1 / s->xi, image, 1);
        q[i] = cblas_ddot((blasint)block, s->at.u, 1, image, 1);
    }
cleanup:
    return status;
}

/* ---- solving ---- */

static kfe_status solve_once(kfe_i_ridge_weights *s)
{
    kfe_status status = KFE_OK;

    s->result.iterations = 0;
    s->result.bound = 0;
    KFE_TRY(kfe_i_ridge_weights_newton(s));
    KFE_TRY(kfe_i_simplex_finish(&s->problem, s->work, &s->result));
cleanup:
    return status;
}

/* M of any weights is positive definite if that of each kernel alone is. */
kfe_status kfe_i_ridge_weights_raise_xi(kfe_i_ridge_weights *s)
{
    kfe_status status = KFE_OK;
    double before = s->xi;
    double *alone = NULL;

    KFE_ALLOC(s->ctx, alone, s->p);
    for (int64_t i = 0; i < s->p; i++) {
        for (int64_t j = 0; j < s->p; j++)
            alone[j] = i == j && s->bank->traces[i] > 0;
        while ((status = kfe_i_ridge_weights_factorise(s, alone)) == KFE_ENUMERIC && s->xi < 1e6)
            s->xi *= 2;
        KFE_TRY(status);
    }
    kfe_i_log(s->ctx, KFE_LOG_WARNING,
              "%s: a kernel is not positive definite, so xi was raised from %g to %g; prefer kernels such as "
              "rbf or poly",
              s->method, before, s->xi);
cleanup:
    kfe_i_free(s->ctx, alone);
    return status;
}

kfe_status kfe_i_ridge_weights_solve(kfe_i_ridge_weights *s)
{
    kfe_status status = kfe_i_progress(s->ctx, "weights", 0, 0);
    double gap = 0;

    if (status == KFE_OK)
        status = solve_once(s);
    if (status == KFE_ENUMERIC && s->factor.indefinite) {
        KFE_TRY(kfe_i_ridge_weights_raise_xi(s));
        KFE_TRY(solve_once(s));
    }
    gap = kfe_i_simplex_gap(&s->result);
    if (status == KFE_OK && gap > fmax(10 * s->problem.tolerance, KFE_QUIET_GAP))
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "%s: after %lld iterations the weights of the kernels are within %.2g of the optimum, "
                  "relative to the objective; allow more iterations",
                  s->method, (long long)s->result.iterations, gap);
cleanup:
    return status;
}

void kfe_i_ridge_weights_directions(const kfe_i_ridge_weights *s, double *b, double *h)
{
    int64_t block = s->n * s->k;

    /* ĜU/ξ = (M − I)U = L − U, so that H = LᵀĜU/ξ = Lᵀ(L − U) */
    for (int64_t i = 0; i < block; i++)
        b[i] = s->labels[i] - s->at.u[i];
    kfe_i_inner_products(s->n, kfe_i_packed(s->labels, s->k), kfe_i_packed(b, s->k), h);
    for (int64_t i = 0; i < block; i++)
        b[i] = s->at.u[i] / s->xi;
}

kfe_status kfe_i_ridge_weights_record(const kfe_i_ridge_weights *s, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double iterations = (double)s->result.iterations;
    double gap = kfe_i_simplex_gap(&s->result);

    KFE_TRY(kfe_i_solution_record(solution, "xi", &s->xi, 1));
    KFE_TRY(kfe_i_solution_record(solution, "objective", &s->result.objective, 1));
    KFE_TRY(kfe_i_solution_record(solution, "bound", &s->result.bound, 1));
    KFE_TRY(kfe_i_solution_record(solution, "gap", &gap, 1));
    KFE_TRY(kfe_i_solution_record(solution, "iterations", &iterations, 1));
cleanup:
    return status;
}
