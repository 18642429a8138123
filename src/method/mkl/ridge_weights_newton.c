/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--solver gradient` of hsic-mkl and svm-mkl: the Newton steps of simplex.c on f (ridge_weights.h). After the
 * factorisation that f(d) takes, its derivatives cost only products: with U = M⁻¹L and Vᵢ = GᵢU/ξ,
 *   ∂f/∂dᵢ = −tr(UᵀVᵢ),   ∂²f/∂dᵢ∂dⱼ = 2·tr(VᵢᵀM⁻¹Vⱼ).
 * There are two models of f:
 *   quadratic   from these derivatives (simplex.c);
 *   reduced     the problem itself inside the span of U and the M⁻¹Vᵢ (ridge_weights_reduced.c), minimised by
 *               the quadratic one. It is right to the third order and nowhere above f, so that its minimum
 *               bounds the optimum. It halves the number of factorisations (some three in place of six) and is
 *               taken where its products cost less than those.
 *
 * Cost of an iteration: one Cholesky factorisation (n³/3) for each trial, O(p·n²·k) for the derivatives,
 * 2n²·k·p(p + 1) for the reduced model.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/mkl/ridge_weights.h"

/* The share of the accepted gap by which a reduced model may miss its minimum. */
#define MODEL_SHARE 1e-2

struct kfe_i_ridge_newton {
    kfe_i_ridge_weights *weights;
    double *answers;             /* n × p·k: M⁻¹Vᵢ side by side */
    double *traced;              /* k × p·k */
    kfe_i_ridge_reduced reduced; /* not open: the model is quadratic */
};

/* ---- what is kept between calls ---- */

static kfe_status newton_open(kfe_i_ridge_weights *weights)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = weights->ctx;
    int64_t most = weights->most;

    KFE_ALLOC_ZERO(ctx, weights->newton, 1);
    weights->newton->weights = weights;
    KFE_ALLOC(ctx, weights->newton->answers, weights->n * weights->p * most);
    KFE_ALLOC(ctx, weights->newton->traced, most * weights->p * most);
cleanup:
    return status;
}

/* Whether the products of a reduced model take less time than the two or three factorisations that it saves. */
static int reducing_is_worth_it(const kfe_i_ridge_weights *weights)
{
    double products = 2 * (double)weights->p * (double)kfe_i_ridge_reduced_width(weights);
    double factorisation = (double)weights->n / 3;

    return weights->p > 1 && products < 2 * factorisation;
}

static kfe_status open_both(kfe_i_ridge_weights *weights)
{
    kfe_status status = KFE_OK;

    KFE_TRY(newton_open(weights));
    if (reducing_is_worth_it(weights)) {
        KFE_TRY(kfe_i_ridge_reduced_open(weights, &weights->newton->reduced));
        KFE_TRY(newton_open(&weights->newton->reduced.small));
    }
cleanup:
    if (status != KFE_OK) {
        kfe_i_ridge_newton_free(weights->newton);
        weights->newton = NULL;
    }
    return status;
}

void kfe_i_ridge_newton_free(kfe_i_ridge_newton *s)
{
    if (!s)
        return;
    kfe_context *ctx = s->weights->ctx;
    kfe_i_ridge_reduced_free(&s->reduced);
    kfe_i_free(ctx, s->answers);
    kfe_i_free(ctx, s->traced);
    kfe_i_free(ctx, s);
}

/* ---- the models ---- */

static void solve_for_images(kfe_i_ridge_newton *s)
{
    const kfe_i_ridge_weights *w = s->weights;
    int64_t k = w->k;
    int64_t width = w->p * k;

    for (int64_t i = 0; i < w->p; i++)
        kfe_i_copy_block(w->n, k, w->at.images + i * w->n * k, k, s->answers + i * k, width);
    kfe_i_solve_cholesky(w->n, w->factor.lower, width, s->answers);
}

static kfe_status curvature(void *user, double *hessian)
{
    const kfe_i_ridge_weights *w = user;
    kfe_i_ridge_newton *s = w->newton;
    int64_t p = w->p;
    int64_t k = w->k;

    solve_for_images(s);
    for (int64_t i = 0; i < p; i++) {
        kfe_i_inner_products(w->n, kfe_i_packed(w->at.images + i * w->n * k, k),
                             kfe_i_packed(s->answers, p * k), s->traced);
        for (int64_t j = 0; j < p; j++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += s->traced[c * p * k + j * k + c];
            hessian[i * p + j] = 2 * sum;
        }
    }
    return KFE_OK;
}

/* Where the reduced M is not positive definite, nor is M. */
static kfe_status propose(void *user, const double *d, double *next, double *bound)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *w = user;
    kfe_i_ridge_reduced *reduced = &w->newton->reduced;
    kfe_i_ridge_weights *small = &reduced->small;

    solve_for_images(w->newton);
    KFE_TRY(kfe_i_ridge_reduce(reduced, w->newton->answers, d));
    small->problem.tolerance = fmax(MODEL_SHARE * w->problem.tolerance, DBL_EPSILON);
    small->problem.curvature = curvature;
    status = kfe_i_simplex_newton(&small->problem, small->work, &small->result);
    w->factor.indefinite = status == KFE_ENUMERIC && small->factor.indefinite;
    KFE_TRY(status);
    *bound = small->result.bound;
    memcpy(next, small->result.d, (size_t)small->p * sizeof *next);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_newton(kfe_i_ridge_weights *weights)
{
    kfe_status status = KFE_OK;

    if (!weights->newton)
        KFE_TRY(open_both(weights));
    weights->problem.curvature = curvature;
    weights->problem.propose = weights->newton->reduced.full ? propose : NULL;
    if (weights->newton->reduced.full)
        kfe_i_ridge_reduced_clear(&weights->newton->reduced);
    KFE_TRY(kfe_i_simplex_newton(&weights->problem, weights->work, &weights->result));
cleanup:
    return status;
}
