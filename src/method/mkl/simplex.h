/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use kfe_i_simplex_newton to minimise a convex function f of p weights d on the simplex
 * (d ≥ 0, Σd = 1), as methods that weigh kernels do. With −q the gradient of f at d, for all d'
 *   f(d') ≥ f(d) − Σ(d'ᵢ − dᵢ)qᵢ   and so the optimum is at least   f(d) − (max qᵢ − Σ dᵢqᵢ).
 * The largest of these bounds is the certificate of the result. Where f is itself the result of an iteration,
 * `value` is a lower bound of f(d) and `value + excess` an upper one.
 */
#ifndef KFE_METHOD_MKL_SIMPLEX_H
#define KFE_METHOD_MKL_SIMPLEX_H

#include "core/context.h"

typedef struct kfe_i_simplex_problem {
    kfe_context *ctx;
    int64_t p;
    const double *usable; /* p: where it is 0, so is the weight */
    double tolerance;     /* of the gap, relative to f */
    int64_t max_iterations;
    kfe_status (*value)(void *user, const double *d, double *value, double *excess);
    /* q (p), and the second derivatives (p × p), at the point that `value` was asked for last. */
    kfe_status (*slopes)(void *user, double *q);
    kfe_status (*curvature)(void *user, double *hessian);
    /* In place of the quadratic model: the point `next` (p) to go towards, and a lower bound of the optimum,
     * from what is known at d. NULL: the quadratic model. */
    kfe_status (*propose)(void *user, const double *d, double *next, double *bound);
    /* Makes f more accurate, because no step seemed to lower it; 0: it cannot be. NULL: never. */
    int (*refine)(void *user);
    void *user;
} kfe_i_simplex_problem;

typedef struct kfe_i_simplex_result {
    double *d;        /* p: the start, then the solution; the caller's */
    double objective; /* f(d), or its lower bound */
    double excess;    /* f(d) is at most objective + excess */
    double bound;     /* no weights give a smaller f; at first the bound of the caller, such as 0 */
    int64_t iterations;
} kfe_i_simplex_result;

/* Memory of the Newton steps, so that many calls allocate as little as one. */
typedef struct kfe_i_simplex_work kfe_i_simplex_work;
kfe_status kfe_i_simplex_work_new(kfe_context *ctx, int64_t p, kfe_i_simplex_work **out);
void kfe_i_simplex_work_free(kfe_i_simplex_work *work);

/* Equal weights for all that are usable. */
void kfe_i_simplex_start(const kfe_i_simplex_problem *problem, double *d);
/* By Newton steps (simplex.c), from result->d on. Afterwards `value` was asked last at result->d, unless the
 * last step failed. */
kfe_status kfe_i_simplex_newton(const kfe_i_simplex_problem *problem, kfe_i_simplex_work *work,
                                kfe_i_simplex_result *result);
/* Sets weights that are negligible to zero, then measures f and the bound again if that changed anything. */
kfe_status kfe_i_simplex_finish(const kfe_i_simplex_problem *problem, kfe_i_simplex_work *work,
                                kfe_i_simplex_result *result);
/* (f(d) − bound)/f(d), of the upper bound of f(d) */
double kfe_i_simplex_gap(const kfe_i_simplex_result *result);

#endif
