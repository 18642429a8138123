/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Span a subspace of the kernel's feature space and keep its basis orthonormal.
 *
 * A subspace is spanned by ΦW with coefficients W (n × f) on the examples. Projecting on it turns the kernel
 * matrix K into
 *
 *     K^w = (KW)(WᵀKW)⁻¹(KW)ᵀ                                        (lemma 1, eq. 4)
 *
 * and points x, x' have the kernel ψ(x)ᵀW(WᵀKW)⁻¹Wᵀψ(x') with ψ(x) = κ(x, examples) (eq. 14). We keep W
 * orthonormal in feature space, WᵀKW = I, so that
 *
 *     X   = KW     are the features of the examples (eq. 9), and
 *     K^w = XXᵀ.
 *
 * A criterion on K^w is a function of X alone. If its gradient with respect to X is E, then
 *
 *     H = E − W(XᵀE)                                                 (eqs. 23-27)
 *
 * are the coefficients of its gradient on the set of subspaces (the Grassmann manifold): moving inside the
 * subspace changes nothing. The gradient with respect to the entries of W, which the paper uses, is KH.
 *
 * Wu & Farquhar, "A subspace kernel for nonlinear feature extraction" (2007).
 */
#ifndef KFE_METHOD_SUBSPACE_SUBSPACE_H
#define KFE_METHOD_SUBSPACE_SUBSPACE_H

#include "gram/gram.h"
#include "linalg/linalg.h"

/* The operator's rounding times the squared norm of the coefficients bounds the error of a squared length in
 * feature space. A unit vector with a larger error than this is not used as a direction. */
#define KFE_UNSURE 0.1

typedef struct kfe_i_subspace {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    int64_t rows, dim;
    double *basis;    /* W, rows × dim: WᵀKW = I */
    double *features; /* X = KW, rows × dim */
} kfe_i_subspace;

/* Orthonormal vectors of feature space, collected one by one; each is contiguous. */
typedef struct kfe_i_span {
    kfe_context *ctx;
    int64_t rows, count, most;
    double *coefficients, *images; /* most × rows: w and Kw */
    double rounding;               /* of kfe_i_gram_rounding; 0: images are exact */
} kfe_i_span;

kfe_status kfe_i_span_begin(kfe_context *ctx, int64_t rows, int64_t most, kfe_i_span *out);
/* Adds the columns of w (rows × k), whose images are Kw, by Gram-Schmidt until the span has `most` vectors.
 * Skips a column that depends on earlier ones (relative `tolerance` on squared lengths) or whose length
 * rounding makes unsure. KFE_ENUMERIC if a squared length is negative. */
kfe_status kfe_i_span_add(kfe_i_span *span, int64_t k, const double *w, const double *image,
                          double tolerance);
void kfe_i_span_free(kfe_i_span *span);

/* The subspace that the vectors span. The operator must outlive it. */
kfe_status kfe_i_subspace_from_span(const kfe_i_span *span, const kfe_i_gram *gram, kfe_i_subspace *out);
void kfe_i_subspace_free(kfe_i_subspace *subspace);
/* Recomputes the features from the operator and makes the basis orthonormal again, after many steps have
 * accumulated rounding errors. KFE_ENUMERIC if the kernel is not positive definite on the subspace. */
kfe_status kfe_i_subspace_refresh(kfe_i_subspace *subspace);
/* Rotates the basis to principal axes: features are orthogonal, in order of falling length. */
kfe_status kfe_i_subspace_principal(kfe_i_subspace *subspace);

/* horizontal (rows × dim) = E − W(XᵀE); small: dim². */
void kfe_i_subspace_gradient(int64_t rows, int64_t dim, const double *w, const double *x, const double *e,
                             double *horizontal, double *small);

/* KFE_ENUMERIC with the message that the kernel is not positive definite. */
kfe_status kfe_i_negative_length(kfe_context *ctx);

#endif
