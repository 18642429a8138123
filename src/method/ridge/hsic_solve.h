/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fit features of largest dependence on the target, by the Hilbert-Schmidt independence criterion: the common
 * part of hsic and uhsic. G = PKP is the centred kernel matrix, H(y) = LLᵀ a kernel on the labels.
 *
 *     hsic    max tr(WᵀGHGW)  with  Wᵀ(G + λI)W = I      eigenvectors of (G + λI)⁻¹GHG    (theorem 3.1)
 *     uhsic   max tr(QᵀGHGQ)  with  Qᵀ(GG + ξG)Q = I     eigenvectors of (GG + ξG)⁺GHG    (theorem 4.1)
 *
 * On the range of G, (GG + ξG)⁺G = (G + ξI)⁻¹, so that both are problems of ridge.h.
 *
 * Chen, Ji, Ceran, Li, Wu & Ye, "Learning subspace kernels for classification" (2008).
 */
#ifndef KFE_METHOD_RIDGE_HSIC_SOLVE_H
#define KFE_METHOD_RIDGE_HSIC_SOLVE_H

#include "method/method.h"

typedef struct kfe_i_hsic_options {
    const char *method; /* name, for messages */
    int uncorrelated;   /* uhsic */
    int64_t dim;        /* features asked for; 0: all */
    double ridge;       /* λ or ξ, as in kfe_i_ridge_problem */
    const char *label_kernel;
} kfe_i_hsic_options;

kfe_status kfe_i_hsic_fit(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_hsic_options *options,
                          kfe_i_solution *out);

/* The same from sums: label kernels h1, h2 and linear. */
kfe_status kfe_i_hsic_fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem,
                               const kfe_i_hsic_options *options, kfe_i_solution *out);

#endif
