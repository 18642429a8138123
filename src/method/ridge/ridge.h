/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find directions that explain targets, with a ridge on their norm: the engine of kfd, kopls, hsic and uhsic,
 * and the last step of rkopls and hsic-mkl.
 *
 * A direction w = Φα gives the examples the features z = Gα, G the (centred) kernel matrix. With targets L
 * (n × m) and a ridge ρ, the methods maximise
 *
 *     kfd, kopls, uhsic   ‖Lᵀz‖²  against  ‖z‖² + ρ‖w‖²        αᵀGLLᵀGα / αᵀ(GG + ρG)α
 *     hsic                ‖Lᵀz‖²  against  ‖w‖² + ρ‖α‖²        αᵀGLLᵀGα / αᵀ(G + ρI)α
 *
 * Every maximiser lies in the span of the n × m matrix
 *
 *     B = (G + ρI)⁻¹L      (kfd, kopls, uhsic)
 *     B = (G + ρI)⁻¹GL     (hsic)
 *
 * so that one block solve and an eigenproblem of order m are enough:
 *
 *     H = LᵀGB = VΛVᵀ,     A = BVΛ^(−1/2).
 *
 * Λ is recorded as "criterion": the value of the ratio for each feature.
 */
#ifndef KFE_METHOD_RIDGE_RIDGE_H
#define KFE_METHOD_RIDGE_RIDGE_H

#include "method/method.h"

/* A ridge that leave-one-out may choose: a positive number, auto (leave-one-out) or thousandth (of the mean diagonal of
 * the kernel matrix). */
#define KFE_RIDGE_AUTO (-1)
#define KFE_RIDGE_THOUSANDTH (-2)
#define KFE_CHOSEN_RIDGE_ROW(type, field, name, help)                                                        \
    KFE_REAL_OR(type, field, name, "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto|thousandth",               \
                "auto=-1|thousandth=-2", help)

/* `asked` if positive, else a thousandth of the mean diagonal of a matrix of this order and trace. */
double kfe_i_chosen_ridge(double asked, double trace, int64_t order);
/* The same for an operator. */
kfe_status kfe_i_gram_chosen_ridge(const kfe_i_gram *gram, double asked, double *out);

typedef struct kfe_i_ridge_problem {
    const char *method;     /* name, for messages */
    const kfe_i_gram *gram; /* of the kernel itself */
    int centred;            /* use PKP in place of K */
    const double *targets;  /* L, n × columns */
    int64_t columns;
    int on_images;         /* the right-hand side is GL (hsic), else L */
    double squared_norm;   /* the largest criterion possible with L: to tell small criteria from rounding */
    double ridge;          /* KFE_RIDGE_AUTO: by leave-one-out; else negative: kfe_i_chosen_ridge */
    int classes;           /* the targets stand for classes */
    int64_t dim;           /* features asked for; 0: all */
    int64_t most;          /* upper bound on the number of directions */
    const char *exhausted; /* why there are no more directions, for the warning */
    const char *none;      /* the error if there is no direction */
} kfe_i_ridge_problem;

/* Solves the problem, on the positive part of the kernel if the kernel is not positive definite (a warning
 * says so). Records "criterion", "ridge" and "residual", the relative residual of the block solve; for a ridge chosen
 * by leave-one-out also "loo-error", the share of the targets' variance that is not predicted, and "loo-rows", the
 * number of examples that this was measured on. */
kfe_status kfe_i_ridge_fit(kfe_context *ctx, const kfe_i_ridge_problem *problem, kfe_i_solution *out);

/*
 * The same from sums over the rows of F, whose products FFᵀ are the kernel, and with a ridge on the stand-in of these sums
 * (method/shared/stand_in.h). L = PYM: Y are the class indicators or real targets, M a matrix of the method. ridge=auto looks at the sample of
 * the problem; without one it is a thousandth of the mean diagonal.
 */
typedef struct kfe_i_ridge_sums {
    int pairs; /* Y as method/shared/targets.h has it: one column for two classes; else a column for each class */
    const double *map; /* M, columns of Y × columns; NULL: the identity */
    int64_t columns;   /* of M */
} kfe_i_ridge_sums;

/* `ridge` has no operator and no targets yet. */
kfe_status kfe_i_ridge_fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem,
                                const kfe_i_ridge_problem *ridge, const kfe_i_ridge_sums *targets,
                                kfe_i_solution *out);
/* M = diag(1/√n_g), as kfd and the label kernel h2 have it; freed by the caller. */
kfe_status kfe_i_inverse_class_roots(kfe_context *ctx, const kfe_i_sums *sums, double **out);

/* At most as many directions as `columns`; for class indicators one fewer, since these add up to a constant. */
int64_t kfe_i_most_directions(const kfe_i_target *target, int64_t columns);

/* B and H of the comment above. */
typedef struct kfe_i_candidates {
    const char *method;
    int64_t rows, count;
    const double *b; /* B, rows × count */
    double *h;       /* H / scale, count × count; overwritten */
    double scale;    /* 0: 1 */
    double rounding; /* what rounding may make of a zero eigenvalue of H / scale */
    int64_t most;    /* as in kfe_i_ridge_problem, and so below */
    const char *exhausted;
    const char *none;
    const int64_t *place; /* the example of each row of B; NULL: row i is example i */
} kfe_i_candidates;

/* Coefficients BVΛ^(−1/2) on n examples; records Λ as "criterion". */
kfe_status kfe_i_best_directions(kfe_context *ctx, const kfe_i_candidates *candidates, int64_t n,
                                 int64_t asked, kfe_i_solution *out);

/* kopls (kopls.c) from sums, for rkopls too: its support examples are the landmarks then. Messages begin with `method`. */
typedef struct kfe_i_kopls_settings {
    int64_t dim;
    double ridge;
    int center;
} kfe_i_kopls_settings;
kfe_status kfe_i_kopls_fit_sums(kfe_context *ctx, const char *method, const kfe_i_sum_problem *problem,
                                const kfe_i_kopls_settings *settings, kfe_i_solution *out);

#endif
