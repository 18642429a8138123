/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replace a Gram operator by its approximation from m landmarks, so that any method runs in time O(nm²) and memory
 * O(nm):
 *
 *     G̃ = C W⁺ Cᵀ = FFᵀ,   C = G[:, landmarks] (n × m),   W = G[landmarks, landmarks] (m × m),
 *     F = CT,   TTᵀ = W⁺.
 *
 * With W = LLᵀ, T = L⁻ᵀ. Landmarks that depend on others up to rounding are left out, so that L is well defined. If the
 * kernel is not positive definite, T = V₊Λ₊^(−1/2) from the positive eigenvalues of W.
 *
 * A direction with coefficients A on the examples is, at a new point x,
 *
 *     Aᵀκ̃(X, x) = (TFᵀA)ᵀ κ(landmarks, x),
 *
 * so that the landmarks are the support of the projector. With all examples as landmarks, G̃ = G.
 */
#ifndef KFE_GRAM_FORM_LANDMARKS_H
#define KFE_GRAM_FORM_LANDMARKS_H

#include "gram/landmark/landmark.h"

/* The landmark operator of `source`, which it owns from now on, also after a failure. `storage` says how F is kept:
 * in double or single precision, evaluated again at every pass (tiled), or as memory allows (auto). Fewer landmarks
 * than asked for are used if there are no more examples. */
kfe_status kfe_i_gram_landmarks(kfe_context *ctx, kfe_i_gram *source, const kfe_i_landmark_plan *plan,
                                kfe_i_gram_storage storage, kfe_i_gram **out);

/* The operator of kernels as kfe_i_gram_open gives it, or by landmarks if the plan has any. */
kfe_status kfe_i_gram_open_plan(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                const kfe_i_landmark_plan *plan, kfe_i_gram_storage storage,
                                kfe_i_gram **out);
/* Whether a plan for these kernels may be `streamed`: there is one positive definite kernel, evaluated tile by tile on the CPU. */
int kfe_i_landmarks_can_stream(const kfe_context *ctx, const kfe_i_kernel_list *kernels,
                               const kfe_i_table *views);

/* out (count × k) = TFᵀA, the coefficients on the landmarks of A (rows × k) on the examples `index` (NULL: all).
 * Not for a centred operator. */
kfe_status kfe_i_landmark_coefficients(const kfe_i_gram *gram, const int64_t *index, int64_t rows,
                                       const double *a, int64_t k, double *out);
/* out (count × k) = Tz, the coefficients on the landmarks of combinations z (rank × k) of the columns of F; NULL: of the columns. */
kfe_status kfe_i_landmark_map(const kfe_i_gram *gram, const double *z, int64_t k, double *out);
/* Rows of F: out (rows × rank). Not for a centred operator. */
kfe_status kfe_i_landmark_rows(const kfe_i_gram *gram, int64_t first, int64_t rows, double *out);

/* Gets all rows of F or C (panel, rows × rank) from `first` on, some at a time. */
typedef kfe_status kfe_i_landmark_visit(void *state, int64_t first, int64_t rows, double *panel);
/* One pass over F, which is not kept: for an operator whose plan is `streamed`. *definite is 0 if the kernel turns out not to be positive
 * definite; the operator must not be used then. */
kfe_status kfe_i_landmark_stream(const kfe_i_gram *gram, kfe_i_landmark_visit *visit, void *state,
                                 int *definite);
/* *out: whether sums over the rows of C = FLᵀ are accurate enough to give those of F, because L is well-conditioned. */
kfe_status kfe_i_landmark_takes_kernel_sums(const kfe_i_gram *gram, int *out);
/* One pass over C, without the solves that make F of it. Afterwards kfe_i_landmark_note_kept tells what Σ‖F[i, :]‖² is. */
kfe_status kfe_i_landmark_stream_kernel(const kfe_i_gram *gram, kfe_i_landmark_visit *visit, void *state);
kfe_status kfe_i_landmark_note_kept(const kfe_i_gram *gram, double kept);

typedef struct kfe_i_landmark_factor kfe_i_landmark_factor;

/* Ridge regressions of Y (n × k) on F: their sums over the rows, for any number of ridges. */
typedef struct kfe_i_landmark_regression {
    kfe_context *ctx;
    kfe_i_landmark_factor *factor;
    const double *roots; /* n, with which the rows of F are multiplied: the roots of weights; NULL: ones */
    const double *right; /* Y, multiplied by the roots already */
    int64_t k;
    double *products;  /* M = FᵀF, rank × rank */
    double *projected; /* FᵀY, rank × k */
    double *squares;   /* ‖Y‖² of each column */
    double trace;      /* of M */
    int exact;         /* M is from the rows of F, not of C */
} kfe_i_landmark_regression;

/* One pass over the rows. Free the result also after a failure; `gram`, which is not centred, `roots` and `right` must outlive it. */
kfe_status kfe_i_landmark_regression_begin(const kfe_i_gram *gram, const double *roots, const double *right,
                                           int64_t k, kfe_i_landmark_regression *out);
/* out (count × k) = T(M + ridge·I)⁻¹FᵀY, the coefficients on the landmarks, in two passes or a few more. *error is that of the
 * fitted values, relative to Y, as a pass over the rows measures it. KFE_ENUMERIC if the tolerance is not reached. */
kfe_status kfe_i_landmark_regression_solve(kfe_i_landmark_regression *r, double ridge, double tolerance,
                                           double *out, double *error);
void kfe_i_landmark_regression_free(kfe_i_landmark_regression *r);

#endif
