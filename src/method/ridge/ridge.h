/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kfd, kopls and rkopls share: directions w that maximise ‖Lᵀz‖² against ‖z‖² + μ‖w‖², where z = Gα are
 * the features that w = Φα gives the examples. All maximisers are combinations of the solutions B of one
 * system with the right side L, and the rest is an eigenproblem as small as L has columns: H = LᵀGB = VΛVᵀ, A
 * = BVΛ^(−1/2).
 */
#ifndef KFE_METHOD_RIDGE_RIDGE_H
#define KFE_METHOD_RIDGE_RIDGE_H

#include "method/method.h"

/* The `ridge` row: a positive number, or auto (−1). */
#define KFE_RIDGE_ROW(type, field, help)                                                                     \
    KFE_REAL_OR(type, field, "ridge", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=-1", help)

/* `asked` if positive, else a thousandth of the mean diagonal of a matrix of this order and trace. */
double kfe_i_chosen_ridge(double asked, double trace, int64_t order);
/* The chosen ridge for an operator. */
kfe_status kfe_i_gram_chosen_ridge(const kfe_i_gram *gram, double asked, double *out);

typedef struct kfe_i_candidates {
    const char *method;
    int64_t rows, count;
    const double *b;       /* B, rows × count */
    double *h;             /* H, count × count; overwritten */
    double rounding;       /* what rounding makes of an eigenvalue of H that is zero */
    int64_t most;          /* how many directions there can be */
    const char *exhausted; /* why there are no more, for the warning */
    const char *none;      /* the error if there is not one */
    const int64_t *place;  /* which example each row of B is of; NULL: they are the n examples in order */
} kfe_i_candidates;

/* What the candidates of kopls and rkopls have in common, for m targets; the rest is to be filled in. */
kfe_i_candidates kfe_i_target_candidates(const char *method, const kfe_i_target *target, int64_t m);

/* Coefficients BVΛ^(−1/2) on n examples; records the λ as "criterion". */
kfe_status kfe_i_best_directions(kfe_context *ctx, const kfe_i_candidates *candidates, int64_t n,
                                 int64_t asked, kfe_i_solution *out);

#endif
