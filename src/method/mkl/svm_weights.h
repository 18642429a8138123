/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use kfe_i_svm_weights to find weights d for which SVMs on a kernel K(d) have the least optimum,
 *   J(d) = max over α of Σ_g eᵀα_g − ½ a_gᵀK(d)a_g,   a_g = α_g·y_g,  0 ≤ α ≤ C,  yᵀα = 0,
 * where −aᵀK(d)a is convex in d. mkl (K = Σ dᵢKᵢ) and svm-mkl (K = Ĝ(Ĝ + ξI)⁻¹) use it with simplex.h. With
 * A = [a_1 … a_k] and the images Rᵢ = (∂K/∂dᵢ)A the gradient of J is −q, qᵢ = ½ tr(AᵀRᵢ). Any feasible α gives a
 * lower bound of the optimum, and the primal cost P of the SVMs an upper one, so that
 *   P − bound
 * is a certificate also when the SVMs are not solved exactly; they are solved until their own part P − J(d) of
 * it is small.
 */
#ifndef KFE_METHOD_MKL_SVM_WEIGHTS_H
#define KFE_METHOD_MKL_SVM_WEIGHTS_H

#include "method/mkl/simplex.h"
#include "method/shared/onevsrest.h"

typedef struct kfe_i_svm_weights {
    kfe_context *ctx;
    kfe_i_onevsrest *svms;
    int64_t n, p, k;
    kfe_i_table kernel; /* n × n: K(d); the caller fills it before each solve */
    kfe_i_gram *gram;   /* reads `kernel` */
    double *images;     /* p × n × k: (∂K/∂dᵢ)A; the caller fills it before curvature */
    /* workspace of the curvature */
    double *factor;    /* n × n: the Cholesky factor of K_FF */
    double *right;     /* n × (p + 1): r_1 … r_p and ones, then Z times them */
    double *sums;      /* p + 1 */
    int64_t *free_set; /* n */
} kfe_i_svm_weights;

/* Borrows the SVMs. Free it also after a failure. */
kfe_status kfe_i_svm_weights_open(kfe_context *ctx, kfe_i_onevsrest *svms, int64_t p, kfe_i_svm_weights *out);
void kfe_i_svm_weights_free(kfe_i_svm_weights *weights);
/* A lower bound of J(d), and P − J(d), after `kernel` was filled; P − J(d) is at most about tolerance·J. */
kfe_status kfe_i_svm_weights_solve(kfe_i_svm_weights *weights, double tolerance, double *objective,
                                   double *excess);
/* q (p), after `images` was filled. */
void kfe_i_svm_weights_slopes(const kfe_i_svm_weights *weights, double *q);
/* hessian (p × p): the part of the second derivatives that comes from the SVMs following d. */
kfe_status kfe_i_svm_weights_curvature(kfe_i_svm_weights *weights, double *hessian);

#endif
