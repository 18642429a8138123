/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of kernels by models of f on the simplex. After the factorisation that f(d) takes, its derivatives
 * cost products only: with U = M⁻¹L and Vᵢ = GᵢU/ξ,
 *   ∂f/∂dᵢ = −tr(UᵀVᵢ),   ∂²f/∂dᵢ∂dⱼ = 2·tr(VᵢᵀM⁻¹Vⱼ).
 * Each round minimises a model of f over the simplex and goes towards its minimum until f has fallen enough
 * (Armijo). It ends when f is near enough to a lower bound of the optimum, from the slopes (mkl.h) or the
 * reduced model, or when f falls no more. There are two models: quadratic   by those derivatives, minimised
 * by exact steps that move weight between two kernels; reduced     the problem itself inside the span of U
 * and the M⁻¹Vᵢ (mkl_reduced.c), minimised by rounds with the quadratic one. It is right to the third order
 * and nowhere above f, so that its minimum bounds the optimum. It halves the number of factorisations (some
 * three in place of six), and is taken where its products cost less than those.
 *
 * Cost of a round: one Cholesky factorisation (n³/3) for each trial, O(p·n²·k) for the derivatives, 2n²·k·p(p
 * + 1) for the reduced model.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "gram/linalg.h"
#include "method/mkl/ridge_weights.h"

/* Moves of weight in one model of p kernels, p times over. */
enum { MODEL_SWEEPS = 2000, HALVINGS = 30 };
#define ARMIJO 1e-4
/* Of the gap that is accepted, what a model may be short of its minimum. */
#define MODEL_SHARE 1e-2

struct kfe_i_ridge_newton {
    kfe_i_ridge_weights *mkl;
    double *answers; /* n × p·k: M⁻¹Vᵢ side by side */
    double *hessian; /* p × p */
    double *traced;  /* k × p·k */
    double *slope;   /* of the quadratic model, at `next` */
    double *next, *trial;
    kfe_i_ridge_reduced reduced; /* not open: the model is quadratic */
};

/* ---- what is kept between calls ---- */

static kfe_status newton_open(kfe_i_ridge_weights *mkl)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = mkl->ctx;
    int64_t p = mkl->p;

    KFE_ALLOC_ZERO(ctx, mkl->newton, 1);
    mkl->newton->mkl = mkl;
    KFE_ALLOC(ctx, mkl->newton->answers, mkl->n * p * mkl->most);
    KFE_ALLOC(ctx, mkl->newton->hessian, p * p);
    KFE_ALLOC(ctx, mkl->newton->traced, mkl->most * p * mkl->most);
    KFE_ALLOC(ctx, mkl->newton->slope, p);
    KFE_ALLOC(ctx, mkl->newton->next, p);
    KFE_ALLOC(ctx, mkl->newton->trial, p);
cleanup:
    return status;
}

/* Whether the products of a reduced model take less time than the two or three factorisations that it saves.
 */
static int reducing_is_worth_it(const kfe_i_ridge_weights *mkl)
{
    double products = 2 * (double)mkl->p * (double)kfe_i_ridge_reduced_width(mkl);
    double factorisation = (double)mkl->n / 3;

    return mkl->p > 1 && products < 2 * factorisation;
}

static kfe_status open_both(kfe_i_ridge_weights *mkl)
{
    kfe_status status = KFE_OK;

    KFE_TRY(newton_open(mkl));
    if (reducing_is_worth_it(mkl)) {
        KFE_TRY(kfe_i_ridge_reduced_open(mkl, &mkl->newton->reduced));
        KFE_TRY(newton_open(&mkl->newton->reduced.mkl));
    }
cleanup:
    if (status != KFE_OK) {
        kfe_i_ridge_newton_free(mkl->newton);
        mkl->newton = NULL;
    }
    return status;
}

void kfe_i_ridge_newton_free(kfe_i_ridge_newton *s)
{
    if (!s)
        return;
    kfe_context *ctx = s->mkl->ctx;
    kfe_i_ridge_reduced_free(&s->reduced);
    kfe_i_free(ctx, s->answers);
    kfe_i_free(ctx, s->hessian);
    kfe_i_free(ctx, s->traced);
    kfe_i_free(ctx, s->slope);
    kfe_i_free(ctx, s->next);
    kfe_i_free(ctx, s->trial);
    kfe_i_free(ctx, s);
}

/* ---- the quadratic model ---- */

static void solve_for_images(kfe_i_ridge_newton *s)
{
    const kfe_i_ridge_weights *mkl = s->mkl;
    int64_t k = mkl->k;
    int64_t width = mkl->p * k;

    for (int64_t i = 0; i < mkl->p; i++)
        kfe_i_copy_block(mkl->n, k, mkl->images + i * mkl->n * k, k, s->answers + i * k, width);
    kfe_i_solve_cholesky(mkl->n, mkl->factor, width, s->answers);
}

static void second_derivatives(kfe_i_ridge_newton *s)
{
    const kfe_i_ridge_weights *mkl = s->mkl;
    int64_t p = mkl->p;
    int64_t k = mkl->k;
    double trace = 0;

    for (int64_t i = 0; i < p; i++) {
        kfe_i_inner_products(mkl->n, k, mkl->images + i * mkl->n * k, k, p * k, s->answers, p * k, s->traced);
        for (int64_t j = 0; j < p; j++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += s->traced[c * p * k + j * k + c];
            s->hessian[i * p + j] = 2 * sum;
        }
        trace += s->hessian[i * p + i];
    }
    /* equal kernels leave the model flat */
    for (int64_t i = 0; i < p; i++)
        s->hessian[i * p + i] += 1e-12 * trace + DBL_MIN;
}

/* The kernel that gains and the one that loses by the steepest pair; 0 if no pair promises anything. */
static int steepest_pair(const kfe_i_ridge_newton *s, int64_t *gains, int64_t *loses)
{
    *gains = *loses = -1;
    for (int64_t i = 0; i < s->mkl->p; i++) {
        if (s->mkl->bank->traces[i] == 0)
            continue;
        if (*gains < 0 || s->slope[i] < s->slope[*gains])
            *gains = i;
        if (s->next[i] > 0 && (*loses < 0 || s->slope[i] > s->slope[*loses]))
            *loses = i;
    }
    return *loses >= 0 && s->slope[*loses] - s->slope[*gains] > 1e-3 * s->mkl->tolerance * s->mkl->objective;
}

static void minimise_quadratic(kfe_i_ridge_newton *s)
{
    int64_t p = s->mkl->p;
    int64_t i = 0;
    int64_t j = 0;

    second_derivatives(s);
    memcpy(s->next, s->mkl->d, (size_t)p * sizeof *s->next);
    for (int64_t m = 0; m < p; m++)
        s->slope[m] = -s->mkl->q[m];
    for (int64_t move = 0; move < MODEL_SWEEPS * p && steepest_pair(s, &i, &j); move++) {
        const double *hi = s->hessian + i * p;
        const double *hj = s->hessian + j * p;
        double step = (s->slope[j] - s->slope[i]) / fmax(hi[i] + hj[j] - 2 * hi[j], DBL_MIN);
        int empties = step >= s->next[j];
        step = empties ? s->next[j] : step;
        s->next[i] += step;
        s->next[j] = empties ? 0 : s->next[j] - step;
        for (int64_t m = 0; m < p; m++)
            s->slope[m] += step * (hi[m] - hj[m]);
    }
}

/* ---- rounds ---- */

/* Goes from d towards `next`; 0 in *moved if f cannot fall. */
static kfe_status line_search(kfe_i_ridge_newton *s, int *moved)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *mkl = s->mkl;
    double promised = 0;
    double step = 1;

    *moved = 0;
    for (int64_t i = 0; i < mkl->p; i++)
        promised -= mkl->q[i] * (s->next[i] - mkl->d[i]);
    for (int halving = 0; halving < HALVINGS && promised < 0; halving++, step /= 2) {
        double value = 0;
        for (int64_t i = 0; i < mkl->p; i++)
            s->trial[i] = step == 1 ? s->next[i] : mkl->d[i] + step * (s->next[i] - mkl->d[i]);
        KFE_TRY(kfe_i_ridge_weights_value(mkl, s->trial, &value));
        if (value > mkl->objective + ARMIJO * step * promised)
            continue;
        memcpy(mkl->d, s->trial, (size_t)mkl->p * sizeof *mkl->d);
        mkl->objective = value;
        *moved = 1;
        break;
    }
cleanup:
    return status;
}

static int is_optimal(const kfe_i_ridge_weights *mkl)
{
    return mkl->objective - mkl->bound <= mkl->tolerance * mkl->objective;
}

static kfe_status minimise_reduced(kfe_i_ridge_newton *s);

static kfe_status iterate(kfe_i_ridge_newton *s)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *mkl = s->mkl;
    int moved = 1;

    KFE_TRY(kfe_i_ridge_weights_value(mkl, mkl->d, &mkl->objective));
    while (moved && mkl->rounds < mkl->max_rounds) {
        mkl->rounds++;
        if (is_optimal(mkl))
            break;
        KFE_TRY(kfe_i_ridge_weights_slopes(mkl));
        mkl->bound = fmax(mkl->bound, mkl->objective - kfe_i_ridge_weights_gap(mkl, mkl->d));
        if (is_optimal(mkl))
            break;
        KFE_TRY(kfe_i_checkpoint(mkl->ctx, "weights", mkl->rounds, 0));
        solve_for_images(s);
        if (s->reduced.full)
            KFE_TRY(minimise_reduced(s));
        else
            minimise_quadratic(s);
        KFE_TRY(line_search(s, &moved));
    }
cleanup:
    return status;
}

/* Where the reduced M is not positive definite, nor is M. */
static kfe_status minimise_reduced(kfe_i_ridge_newton *s)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *small = &s->reduced.mkl;

    KFE_TRY(kfe_i_ridge_reduce(&s->reduced, s->answers));
    small->tolerance = fmax(MODEL_SHARE * s->mkl->tolerance, DBL_EPSILON);
    status = iterate(small->newton);
    s->mkl->indefinite = status == KFE_ENUMERIC && small->indefinite;
    KFE_TRY(status);
    s->mkl->bound = fmax(s->mkl->bound, small->bound);
    memcpy(s->next, small->d, (size_t)small->p * sizeof *s->next);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_weights_newton(kfe_i_ridge_weights *mkl)
{
    kfe_status status = KFE_OK;

    if (!mkl->newton)
        KFE_TRY(open_both(mkl));
    if (mkl->newton->reduced.full)
        kfe_i_ridge_reduced_forget(&mkl->newton->reduced);
    KFE_TRY(iterate(mkl->newton));
cleanup:
    return status;
}
