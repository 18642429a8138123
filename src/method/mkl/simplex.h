/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimising a convex function f of p weights d on the simplex (d ≥ 0, Σd = 1), as methods that weigh kernels
 * do. With −q the slopes of f at d, f(d') ≥ f(d) − Σ(d'ᵢ − dᵢ)qᵢ for all d', and so the optimum is no less
 * than f(d) − gap,
 *   gap = max qᵢ − Σ dᵢqᵢ.
 * Where f is itself the result of an iteration, `value` is from below and the truth is at most `excess`
 * above; the gap then includes the excess.
 */
#ifndef KFE_METHOD_MKL_SIMPLEX_H
#define KFE_METHOD_MKL_SIMPLEX_H

#include "core/context.h"

typedef struct kfe_i_simplex {
    kfe_context *ctx;
    int64_t p;
    const double *usable; /* p: where it is 0, so is the weight */
    double tolerance;     /* of the gap, relative to f */
    int64_t max_rounds;

    kfe_status (*value)(void *user, const double *d, double *value, double *excess);
    /* q (p), and the second derivatives (p × p), at the point that `value` was asked for last. */
    kfe_status (*slopes)(void *user, double *q);
    kfe_status (*curvature)(void *user, double *hessian);
    /* Makes f more accurate, after which no step seemed to lower it; 0: there is no more. May be NULL. */
    int (*refine)(void *user);
    void *user;

    double *d; /* p: the start, and the answer */
    double *q; /* p */
    double objective, gap;
    int64_t rounds;
} kfe_i_simplex;

/* f(d), q and the gap, at s->d. */
kfe_status kfe_i_simplex_measure(kfe_i_simplex *s);
/* max qᵢ − Σ dᵢqᵢ, of s->d and s->q. */
double kfe_i_simplex_gap(const kfe_i_simplex *s);
/* Whether the gap is within the tolerance. */
int kfe_i_simplex_is_solved(const kfe_i_simplex *s);
/* By Newton steps (simplex.c) or by linear programs (simplex_silp.c), from s->d on. */
kfe_status kfe_i_simplex_newton(kfe_i_simplex *s);
kfe_status kfe_i_simplex_silp(kfe_i_simplex *s);

#endif
