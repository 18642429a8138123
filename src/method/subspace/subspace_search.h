/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search for the subspace whose kernel is best by a criterion, by conjugate gradients (Polak & Ribière, never
 * negative) with steps that satisfy the strong Wolfe conditions.
 *
 * On the manifold: the unknown is the subspace itself, in the metric of feature space, ⟨A, B⟩ = tr(AᵀKB). The
 * gradient is H (subspace.h), and steps go along geodesics: for a direction D with DᵀKD = QΣ²Qᵀ,
 *     W(t) = W Q cos(Σt) Qᵀ + D QΣ⁻¹ sin(Σt) Qᵀ,    D(t) = −W QΣ sin(Σt) Qᵀ + D Q cos(Σt) Qᵀ,
 * W(t) orthonormal and D(t) the direction carried along (Edelman, Arias & Smith, 1998). Images KW and KD move
 * the same way, so that KH is the only product with the kernel matrix in a round, however many steps are
 * tried; nothing is factored, and a kernel that is a constant times another gives the same rounds.
 *
 * Plain: the paper's, over the entries of W in the metric tr(AᵀB), along straight lines; the gradient KHT, T
 * = (WᵀKW)^(−1/2), takes a second product for its image.
 *
 * Time: per round one (two) products with n × f blocks, and O(nf²) per step tried.
 */
#ifndef KFE_METHOD_SUBSPACE_SUBSPACE_SEARCH_H
#define KFE_METHOD_SUBSPACE_SUBSPACE_SEARCH_H

#include "method/subspace/subspace.h"

/* What is to become large: a function of the features x (rows × dim) that does not change when they are
 * rotated; its gradient with respect to them. */
typedef struct kfe_i_criterion {
    kfe_status (*evaluate)(void *state, const double *x, int64_t dim, double *value, double *gradient);
    void *state;
} kfe_i_criterion;

typedef struct kfe_i_search_options {
    int plain;
    int64_t max_rounds;
    double tolerance; /* of the gradient's length in feature space, to the largest that was met */
} kfe_i_search_options;

typedef struct kfe_i_search_result {
    double value;
    double gradient; /* its length at the end */
    int64_t rounds;
    int converged; /* to the tolerance, or as far as rounding allows */
} kfe_i_search_result;

/* Moves `subspace`, features included. trace (max_rounds + 1) receives the value at the start and after each
 * round: it does not fall, but for rounding. KFE_ENUMERIC if the kernel is not positive definite. */
kfe_status kfe_i_subspace_search(kfe_i_subspace *subspace, const kfe_i_criterion *criterion,
                                 const kfe_i_search_options *options, double *trace,
                                 kfe_i_search_result *out);

#endif
