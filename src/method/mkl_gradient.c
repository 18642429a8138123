/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of kernels by Newton steps on the simplex. After the factorisation that f(d) takes, its derivatives
 * cost products only: with U = M⁻¹L and Vᵢ = GᵢU/ξ,
 *   ∂f/∂dᵢ = −tr(UᵀVᵢ),   ∂²f/∂dᵢ∂dⱼ = 2·tr(VᵢᵀM⁻¹Vⱼ).
 * Each round minimises that quadratic model over the simplex, by exact steps that move weight between two
 * kernels, and goes towards the minimum until f has fallen enough (Armijo). It ends when the duality gap
 * (mkl.h) is small, or when f falls no more.
 *
 * Cost of a round: one Cholesky factorisation (n³/3) for each trial, O(p·n²·k) for the derivatives.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/linalg.h"
#include "method/mkl.h"

/* Moves of weight in one model of p kernels, p times over. */
enum { MODEL_SWEEPS = 2000, HALVINGS = 30 };
#define ARMIJO 1e-4

typedef struct newton {
    kfe_i_mkl *mkl;
    double *hessian; /* p × p */
    double *slope;   /* of the model, at `next` */
    double *next, *trial;
} newton;

static kfe_status second_derivatives(newton *s)
{
    kfe_i_mkl *mkl = s->mkl;
    int64_t block = mkl->n * mkl->k;
    int64_t p = mkl->p;
    double trace = 0;

    for (int64_t j = 0; j < p; j++) {
        memcpy(mkl->scratch, mkl->images + j * block, (size_t)block * sizeof *mkl->scratch);
        kfe_i_solve_cholesky(mkl->n, mkl->factor, mkl->k, mkl->scratch);
        for (int64_t i = 0; i < p; i++)
            s->hessian[i * p + j] =
                2 * cblas_ddot((blasint)block, mkl->images + i * block, 1, mkl->scratch, 1);
        trace += s->hessian[j * p + j];
    }
    /* equal kernels leave the model flat */
    for (int64_t i = 0; i < p; i++)
        s->hessian[i * p + i] += 1e-12 * trace + DBL_MIN;
    return kfe_i_checkpoint(mkl->ctx, "weights", mkl->rounds, 0);
}

/* The kernel that gains and the one that loses by the steepest pair; 0 if no pair promises anything. */
static int steepest_pair(const newton *s, int64_t *gains, int64_t *loses)
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

static void minimise_model(newton *s)
{
    int64_t p = s->mkl->p;
    int64_t i = 0;
    int64_t j = 0;

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

/* Goes from d towards `next`; 0 in *moved if f cannot fall. */
static kfe_status line_search(newton *s, int *moved)
{
    kfe_status status = KFE_OK;
    kfe_i_mkl *mkl = s->mkl;
    double promised = 0;
    double step = 1;

    *moved = 0;
    for (int64_t i = 0; i < mkl->p; i++)
        promised -= mkl->q[i] * (s->next[i] - mkl->d[i]);
    for (int halving = 0; halving < HALVINGS && promised < 0; halving++, step /= 2) {
        double value = 0;
        for (int64_t i = 0; i < mkl->p; i++)
            s->trial[i] = step == 1 ? s->next[i] : mkl->d[i] + step * (s->next[i] - mkl->d[i]);
        KFE_TRY(kfe_i_mkl_value(mkl, s->trial, &value));
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

static kfe_status iterate(newton *s)
{
    kfe_status status = KFE_OK;
    kfe_i_mkl *mkl = s->mkl;
    int moved = 1;

    KFE_TRY(kfe_i_mkl_value(mkl, mkl->d, &mkl->objective));
    while (moved && mkl->rounds < mkl->max_rounds) {
        mkl->rounds++;
        KFE_TRY(kfe_i_mkl_slopes(mkl));
        if (kfe_i_mkl_gap(mkl, mkl->d) <= mkl->tolerance * mkl->objective)
            break;
        KFE_TRY(second_derivatives(s));
        minimise_model(s);
        KFE_TRY(line_search(s, &moved));
    }
cleanup:
    return status;
}

kfe_status kfe_i_mkl_gradient(kfe_i_mkl *mkl)
{
    kfe_status status = KFE_OK;
    newton s = {.mkl = mkl};

    KFE_ALLOC(mkl->ctx, s.hessian, mkl->p * mkl->p);
    KFE_ALLOC(mkl->ctx, s.slope, mkl->p);
    KFE_ALLOC(mkl->ctx, s.next, mkl->p);
    KFE_ALLOC(mkl->ctx, s.trial, mkl->p);
    KFE_TRY(iterate(&s));
cleanup:
    kfe_i_free(mkl->ctx, s.hessian);
    kfe_i_free(mkl->ctx, s.slope);
    kfe_i_free(mkl->ctx, s.next);
    kfe_i_free(mkl->ctx, s.trial);
    return status;
}
