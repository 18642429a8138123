/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search for the subspace whose kernel maximises a criterion: conjugate gradients (Polak & Ribière, β ≥ 0)
 * with steps that satisfy the strong Wolfe conditions.
 *
 * Manifold: the unknown is the subspace, in the inner product of feature space, ⟨A, B⟩ = tr(AᵀKB). The gradient is H
 * (subspace.h). Steps follow geodesics (Edelman, Arias & Smith, 1998): for a direction D with DᵀKD = QΣ²Qᵀ,
 *
 *     W(t) = W Q cos(Σt) Qᵀ + D QΣ⁻¹ sin(Σt) Qᵀ       stays orthonormal,
 *     D(t) = −W QΣ sin(Σt) Qᵀ + D Q cos(Σt) Qᵀ        is the direction carried along.
 *
 * The images KW and KD move in the same way, so that KH is the only product with the kernel matrix in an
 * iteration, however many steps the line search tries. Multiplying the kernel by a constant changes nothing.
 *
 * Plain: the paper's search over the entries of W, in the inner product tr(AᵀB), along straight lines. The gradient is
 * KHT with T = (WᵀKW)^(−1/2); its image costs a second product.
 *
 * Time: one product (plain: two) with n × f blocks per iteration, and O(nf²) per step tried.
 */
#ifndef KFE_METHOD_SUBSPACE_SUBSPACE_SEARCH_H
#define KFE_METHOD_SUBSPACE_SUBSPACE_SEARCH_H

#include "method/subspace/criterion.h"
#include "method/subspace/subspace.h"

typedef struct kfe_i_search_options {
    int plain;
    int64_t max_iterations;
    double tolerance; /* stop when the gradient is this share of the largest one met */
    /* Called at the start (iteration 0) and after each iteration with the orthonormal basis (rows × dim). NULL:
     * not called. An error ends the search. */
    kfe_status (*observe)(void *observer, int64_t iteration, const double *basis);
    void *observer;
} kfe_i_search_options;

typedef struct kfe_i_search_result {
    double value;
    double slope, steepest; /* length of the gradient at the end, and the largest one met */
    int64_t iterations;
    int converged; /* to the tolerance, or as far as rounding allows */
} kfe_i_search_result;

/* Moves `subspace`, features included. trace (max_iterations + 1) receives the value at the start and after each
 * iteration; it never falls by more than rounding. KFE_ENUMERIC if the kernel is not positive definite. */
kfe_status kfe_i_subspace_search(kfe_i_subspace *subspace, const kfe_i_criterion *criterion,
                                 const kfe_i_search_options *options, double *trace,
                                 kfe_i_search_result *out);

#endif
