/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find directions that explain targets, with a ridge on their norm: the engine of kfd, kopls, hsic and uhsic,
 * and the last step of rkopls and hsic-mkl. The methods differ in L, the factor of a kernel on the labels.
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
    const char *method;       /* name, for messages */
    int centred;              /* use PKP in place of K */
    const char *label_kernel; /* whose factor is L (label_kernel.h) */
    int scaled;               /* L has norm one */
    int on_images;            /* the right-hand side is GL (hsic), else L */
    double ridge;             /* KFE_RIDGE_AUTO: by leave-one-out; else negative: kfe_i_chosen_ridge */
    int64_t dim;              /* features asked for; 0: all */
    const char *exhausted;    /* why there are no more directions, for the warning */
    const char *none;         /* the error if there is no direction */
} kfe_i_ridge_problem;

/*
 * Solves the problem, on the positive part of the kernel if the kernel is not positive definite (a warning says so). Records "criterion",
 * "ridge" and "residual", the relative residual of the block solve; for a ridge chosen by leave-one-out also
 * "loo-unexplained-variance", the share of the targets' variance that is not predicted, and "loo-rows", the number of examples that
 * this was measured on.
 *
 * A source of sums over the rows of F, whose products FFᵀ are the kernel, is fitted on its stand-in (method/shared/stand_in.h).
 * ridge=auto looks at the sample of the source; without one it is a thousandth of the mean diagonal.
 */
kfe_status kfe_i_ridge_fit(kfe_context *ctx, const kfe_i_fit_source *source,
                           const kfe_i_ridge_problem *problem, kfe_i_solution *out);

#define KFE_NO_COVARIANCE "the data does not depend on the target: their covariance is zero up to rounding"

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

#endif
