/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose the regularisation of SVMs on a kernel without solving any: by leave-one-out of a ridge regression of the class
 * indicators on the same kernel (method/ridge/leave_one_out.h), whose ridge of smallest error is ρ. Used by svm-joint,
 * usvm-joint, svm-mkl, mkl and slmc for their automatic settings.
 *
 * Both are penalised fits of f with the squared norm ‖f‖² of the kernel G,
 *
 *     regression   ‖y − f‖² + ρ‖f‖²
 *     SVM          2C Σ max(0, 1 − y_i f_i) + ‖f‖²,
 *
 * and at f = 0 their losses fall equally fast for C = 1/ρ. svm-joint takes C = 4/ρ, which did best on development sets
 * (docs/defaults.md).
 *
 * usvm-joint and svm-mkl have the kernel G(G + ξI)⁻¹, whose squared norm is fᵀf + ξ‖f‖². The term fᵀf − 2yᵀf is the
 * squared error of the regression, so that the SVM with C = 1 is the regression with ridge ξ for as long as no example is
 * beyond its margin. So ξ = ρ. C = 1 cannot separate classes of unequal size, and 10 did best on development sets.
 */
#ifndef KFE_METHOD_JOINT_SVM_CHOICE_H
#define KFE_METHOD_JOINT_SVM_CHOICE_H

#include "method/method.h"
#include "method/ridge/leave_one_out.h"
#include "method/shared/onevsrest.h"

/* C for the kernel G(G + ξI)⁻¹. */
#define KFE_SHRUNK_SVM_C 10.0

/* ρ for the classes of the target, counted by their weights; `gram` may carry the roots of these or not. `method` is for the log. As kfe_i_loo_choose, `rows` is 0 if nothing can be chosen. */
kfe_status kfe_i_class_ridge(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                             const kfe_i_target *target, kfe_i_loo_choice *out);
/* 4/ρ; 1 if there is no ρ. */
double kfe_i_svm_c(const kfe_i_loo_choice *choice);
/* Replaces KFE_SVM_C_AUTO in *c by the rule, for SVMs on `gram` itself; leaves another C as it is. */
kfe_status kfe_i_svm_c_choose(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                              const kfe_i_target *target, double *c, kfe_i_loo_choice *out);
/* Records "svm-c", and what leave-one-out found if C was chosen. */
kfe_status kfe_i_svm_c_record(kfe_i_solution *solution, double c, const kfe_i_loo_choice *choice);

#endif
