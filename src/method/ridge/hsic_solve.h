/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subspaces of largest dependence on the target (Hilbert-Schmidt independence criterion), in closed form:
 * what hsic and uhsic share. G = PKP is centred, H(y) = LLᵀ a kernel on the labels with L n × m.
 *
 *   hsic   max tr(WᵀGHGW),  Wᵀ(G + λI)W = I    eigenvectors of (G + λI)⁻¹GHG     Chen et al., theorem 3.1
 *   uhsic  max tr(QᵀGHGQ),  Qᵀ(GG + ξG)Q = I   eigenvectors of (GG + ξG)⁺GHG     Chen et al., theorem 4.1
 *
 * Every eigenvector of a nonzero eigenvalue lies in the span of the n × m matrix
 *   B = (G + λI)⁻¹GL     or, since (GG + ξG)⁺G = (G + ξI)⁻¹ on the range of G,    B = (G + ξI)⁻¹L,
 * so that the problem is the m × m one: M = (GL)ᵀB = VΛVᵀ, W = BVΛ^(−1/2), with the same Λ. No
 * eigenproblem of size n; one block solve, and for hsic the product GL (for uhsic GB = L − ξB). Features are
 * WᵀP(κ(x) − row means).
 */
#ifndef KFE_METHOD_RIDGE_HSIC_SOLVE_H
#define KFE_METHOD_RIDGE_HSIC_SOLVE_H

#include "method/method.h"

typedef struct kfe_i_dependence {
    const char *method; /* name, for messages */
    int uncorrelated;   /* uhsic */
    int64_t dim;        /* features asked for; 0: all there are */
    double ridge;       /* λ or ξ; negative: a thousandth of the mean diagonal of G */
    const char *label_kernel;
} kfe_i_dependence;

/* Records the eigenvalues as "criterion" and the λ or ξ that was used as "ridge". */
kfe_status kfe_i_dependence_fit(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_dependence *what,
                                kfe_i_solution *out);

#endif
