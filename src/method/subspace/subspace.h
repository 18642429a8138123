/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subspace kernels. A subspace S of the kernel's feature space is spanned by Z = ΦW, coefficients W (n × f)
 * on the examples. Projecting on it makes of the kernel matrix K
 *
 *     K^w = (KW)(WᵀKW)⁻¹(KW)ᵀ                                          (lemma 1, eq. 4)
 *
 * and of points x, x' the kernel ψ(x)ᵀW(WᵀKW)⁻¹Wᵀψ(x'), ψ(x) = κ(x, examples) (eq. 14). Here W is kept
 * orthonormal in feature space, WᵀKW = I, so that the features of the examples are X = KW (eq. 9) and
 * K^w = XXᵀ. The parameters of the kernel are those of the subspace, and a criterion on the kernel is a
 * function of X alone. Where its gradient with respect to X is E, the gradient in feature space is ΦE, and
 * along the subspace a change is none:
 *
 *     H = E − W(XᵀE),                                                   (eqs. 23-27)
 *
 * coefficients of the gradient on the set of subspaces (Grassmann manifold); its part with respect to the
 * entries of W, which the paper uses, is KH.
 *
 * Wu & Farquhar, "A subspace kernel for nonlinear feature extraction" (2007).
 */
#ifndef KFE_METHOD_SUBSPACE_SUBSPACE_H
#define KFE_METHOD_SUBSPACE_SUBSPACE_H

#include "data/target.h"
#include "gram/gram.h"
#include "gram/linalg.h"

/* Squared lengths in feature space may be off by the operator's rounding times the squared length of the
 * coefficients. Unit vectors whose own length is less sure than this are no directions to go. */
#define KFE_UNSURE 0.1

typedef struct kfe_i_subspace {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    int64_t rows, dim;
    double *basis;    /* W, rows × dim: WᵀKW = I */
    double *features; /* X = KW, rows × dim */
} kfe_i_subspace;

/* Vectors of feature space to span a subspace with, one after the other (not the columns of a block). */
typedef struct kfe_i_span {
    kfe_context *ctx;
    int64_t rows, count, most;
    double *coefficients, *images; /* most × rows: w and Kw */
    double rounding;               /* kfe_i_gram_rounding; 0 until set: the images are taken for exact */
} kfe_i_span;

kfe_status kfe_i_span_begin(kfe_context *ctx, int64_t rows, int64_t most, kfe_i_span *out);
/* Gram-Schmidt with the columns of w (rows × k), image Kw, in their order, until there are `most`; those that
 * depend on the ones before, up to a relative `tolerance` of squared lengths, or whose length is unsure, are
 * left out. KFE_ENUMERIC if a length is negative. */
kfe_status kfe_i_span_add(kfe_i_span *span, int64_t k, const double *w, const double *image,
                          double tolerance);
void kfe_i_span_free(kfe_i_span *span);

/* The subspace that the vectors span; the operator must outlive it. */
kfe_status kfe_i_subspace_from_span(const kfe_i_span *span, const kfe_i_gram *gram, kfe_i_subspace *out);
void kfe_i_subspace_free(kfe_i_subspace *subspace);
/* Features anew from the operator, and the basis orthonormal to rounding: what many steps have added up is
 * forgotten. KFE_ENUMERIC if the kernel is not positive definite on the subspace. */
kfe_status kfe_i_subspace_refresh(kfe_i_subspace *subspace);
/* Turns the basis inside the subspace so that the features are orthogonal, their lengths falling. */
kfe_status kfe_i_subspace_principal(kfe_i_subspace *subspace);

/* horizontal (rows × dim) = E − W(XᵀE); small: dim². */
void kfe_i_subspace_gradient(int64_t rows, int64_t dim, const double *w, const double *x, const double *e,
                             double *horizontal, double *small);

/*
 * Kernel-target alignment of K^w = XXᵀ with K^y = YYᵀ, Y the class indicator (eqs. 17-24):
 *     A = ‖YᵀX‖² / (‖XᵀX‖ ‖YᵀY‖),    ∂A/∂X = 2(YYᵀX − ‖YᵀX‖²/‖XᵀX‖² · X(XᵀX)) / (‖XᵀX‖ ‖YᵀY‖).
 * Between 0 and 1, the latter where the examples of a class coincide and classes are orthogonal and as long.
 */
typedef struct kfe_i_alignment {
    kfe_context *ctx;
    int64_t rows, classes;
    const int32_t *class_of;
    double label_norm;      /* ‖YᵀY‖ */
    double *sums, *scatter; /* classes × most, most × most */
} kfe_i_alignment;

/* For features of up to `most` dimensions. The target must outlive it. */
kfe_status kfe_i_alignment_begin(kfe_context *ctx, const kfe_i_target *target, int64_t most,
                                 kfe_i_alignment *out);
void kfe_i_alignment_free(kfe_i_alignment *alignment);
/* The alignment of x (rows × dim), and ∂A/∂X into gradient unless that is NULL. Zero for x = 0. */
double kfe_i_alignment_of(kfe_i_alignment *alignment, const double *x, int64_t dim, double *gradient);

#endif
