/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use kfe_i_ridge_weights to find the weights of kernels that fit given targets best. With Gᵢ the centred
 * matrix of kernel i divided by its trace and weights d on the simplex, Ĝ = Σ dᵢGᵢ has trace one. With targets
 * L (n × k),
 *   f(d) = tr(LᵀM⁻¹L),   M = I + Ĝ/ξ,
 * is convex in d (Chen et al. 2008, eq. 27, where dᵢ = θᵢ·tr(Gᵢ)). With U = M⁻¹L and qᵢ = tr(UᵀGᵢU)/ξ the
 * gradient is −q, and simplex.h minimises f and certifies the result.
 *
 * hsic-mkl uses it with the labels as targets, svm-mkl with the SVMs.
 */
#ifndef KFE_METHOD_MKL_RIDGE_WEIGHTS_H
#define KFE_METHOD_MKL_RIDGE_WEIGHTS_H

#include "method/mkl/bank.h"
#include "method/mkl/simplex.h"

typedef struct kfe_i_ridge_weights_settings {
    double xi, tolerance;
    int64_t max_iterations;
    int solver;
} kfe_i_ridge_weights_settings;

/* `iterations` names the limit of the solver: svm-mkl has its own max-iter. `automatic` says what xi=auto is. */
#define KFE_RIDGE_WEIGHTS_ROWS(type, field, iterations, automatic)                                           \
    KFE_REAL_OR(type, field.xi, "xi", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=-1",            \
                "regularisation xi, relative to a sum of kernels with trace one; auto: " automatic),         \
        KFE_CHOICE_NOW(type, field.solver, "solver", "gradient", "gradient", "silp|sdp",                     \
                       "how the weights are found: gradient, by Newton steps on the simplex"),               \
        KFE_REAL(type, field.tolerance, "tolerance", "1e-08", 1e-12, 1,                                      \
                 "accepted duality gap, relative to the objective"),                                         \
        KFE_INT(type, field.max_iterations, iterations, "1000", 1, 1e9,                                      \
                "maximum number of iterations of the solver for the weights", KFE_ALIAS("max-rounds"))

/* The Cholesky factor of M, and the weights that it belongs to. */
typedef struct kfe_i_ridge_factor {
    double *lower;            /* n × n */
    double *weights, *scaled; /* p: d, and d/ξ */
    double xi;                /* 0: there is no factor yet */
    int indefinite;           /* M was not positive definite when it was factored last */
    double *panel;            /* KFE_PANEL_ROWS × n */
} kfe_i_ridge_factor;

/* At the weights asked last: U, and the images GᵢU/ξ. */
typedef struct kfe_i_ridge_point {
    double *u;      /* n × k */
    double *images; /* p × n × k */
} kfe_i_ridge_point;

typedef struct kfe_i_ridge_newton kfe_i_ridge_newton;

typedef struct kfe_i_ridge_weights {
    kfe_context *ctx;
    const kfe_i_bank *bank;
    const char *method; /* for messages */
    int64_t n, p, k;
    int64_t most;   /* of k */
    double xi;      /* as asked for, or as raised */
    double *labels; /* L, n × k */
    kfe_i_simplex_problem problem;
    kfe_i_simplex_result result;
    kfe_i_simplex_work *work;
    kfe_i_ridge_factor factor;
    kfe_i_ridge_point at;
    kfe_i_ridge_newton *newton; /* what the solver keeps between calls */
} kfe_i_ridge_weights;

/* Room for `most` targets, which is also the initial number; d starts uniform over the kernels that are not
 * constant. Free it also after a failure. */
kfe_status kfe_i_ridge_weights_open(kfe_context *ctx, const kfe_i_bank *bank, int64_t most,
                                    kfe_i_ridge_weights *out);
void kfe_i_ridge_weights_free(kfe_i_ridge_weights *weights);
void kfe_i_ridge_weights_configure(kfe_i_ridge_weights *weights, const char *method,
                                   const kfe_i_ridge_weights_settings *settings);

/* The Cholesky factor of M at d, unless it is there already. KFE_ENUMERIC if M is not positive definite. */
kfe_status kfe_i_ridge_weights_factorise(kfe_i_ridge_weights *weights, const double *d);
/* f(d) and U: one factorisation, or none if the last one was of the same d. */
kfe_status kfe_i_ridge_weights_value(kfe_i_ridge_weights *weights, const double *d, double *objective);
/* After a value: the images and q (p). */
kfe_status kfe_i_ridge_weights_slopes(kfe_i_ridge_weights *weights, double *q);
/* Doubles ξ until M is positive definite for all weights, with a warning. */
kfe_status kfe_i_ridge_weights_raise_xi(kfe_i_ridge_weights *weights);

/* The best weights, from result.d on. Where a kernel is not positive definite, ξ is raised. Warns
 * if the gap is above the tolerance. Afterwards factor and U are those of the solution. */
kfe_status kfe_i_ridge_weights_solve(kfe_i_ridge_weights *weights);
kfe_status kfe_i_ridge_weights_newton(kfe_i_ridge_weights *weights);
void kfe_i_ridge_newton_free(kfe_i_ridge_newton *newton);

/* B = M⁻¹L/ξ = (Ĝ + ξI)⁻¹L (n × k) and H = LᵀĜB (k × k), for kfe_i_best_directions; of the last solution. */
void kfe_i_ridge_weights_directions(const kfe_i_ridge_weights *weights, double *b, double *h);
/* Records xi, objective, bound, gap (relative) and iterations. */
kfe_status kfe_i_ridge_weights_record(const kfe_i_ridge_weights *weights, kfe_i_solution *solution);

/* ---- the reduced model (ridge_weights_reduced.c) ---- */

/* The same problem inside a subspace. */
typedef struct kfe_i_ridge_reduced {
    const kfe_i_ridge_weights *full;
    int64_t r, used;           /* rows of the small problem; those that are not zeros */
    kfe_i_bank bank;           /* of the SᵀGᵢS */
    kfe_i_ridge_weights small; /* the problem on that bank */
    double *span;              /* r × n: Sᵀ */
    double *fresh, *images;    /* n × width: the newest columns of S, and a Gᵢ times them */
    double *products;          /* r × width */
} kfe_i_ridge_reduced;

/* Columns that S gains per iteration. */
int64_t kfe_i_ridge_reduced_width(const kfe_i_ridge_weights *full);
/* Free it also after a failure. */
kfe_status kfe_i_ridge_reduced_open(const kfe_i_ridge_weights *full, kfe_i_ridge_reduced *out);
void kfe_i_ridge_reduced_free(kfe_i_ridge_reduced *reduced);
/* Empties S. */
void kfe_i_ridge_reduced_clear(kfe_i_ridge_reduced *reduced);
/* Adds U and the answers M⁻¹GᵢU/ξ (n × p·k, side by side) to S, and makes reduced->small the problem in it, at
 * the weights d. */
kfe_status kfe_i_ridge_reduce(kfe_i_ridge_reduced *reduced, const double *answers, const double *d);

#endif
