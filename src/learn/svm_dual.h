/* SPDX-License-Identifier: Apache-2.0 */
/* What the support vector machine needs of its dual, apart from LIBSVM. */
#ifndef KFE_LEARN_SVM_DUAL_H
#define KFE_LEARN_SVM_DUAL_H

#include "gram/gram.h"
#include "learn/multiclass.h"

/*
 * How far a solution is from optimal: the largest violation of the optimality conditions, m(α) − M(α) of
 * Fan, Chen & Lin (2005); 0 or less for an exact one. Coefficients are those of the examples in the machine
 * (αy, or α − α*), and values its outputs for them, with any offset. Both are columns: element i is at
 * i·stride, i being the row of the data.
 */
double kfe_i_svm_gap_classes(const kfe_i_binary *binary, double c, const double *coefficients,
                             const double *values, int64_t stride);
/* The targets are a column of their own table. */
double kfe_i_svm_gap_real(int64_t n, double c, double epsilon, const double *targets, int64_t target_stride,
                          const double *coefficients, const double *values, int64_t stride);

/* One problem of two classes by our SMO, on the operator of all examples: coefficients[count] of the rows in
 * it, and decision(x) = Σ coefficient·κ − offset. */
kfe_status kfe_i_svm_solve_smo(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_binary *binary, double c,
                               double stop, double *coefficients, double *offset);

#endif
