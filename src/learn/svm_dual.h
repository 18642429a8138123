/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of an SVM's solution, computed apart from the solver that found it, and our own solver for one problem of
 * two classes. The learner svm uses both.
 */
#ifndef KFE_LEARN_SVM_DUAL_H
#define KFE_LEARN_SVM_DUAL_H

#include "gram/gram.h"
#include "learn/multiclass.h"

/* The solution of one problem. The arrays are columns: element i, the row of the data, is at i·stride. */
typedef struct kfe_i_svm_column {
    const double *coefficients; /* α·y for classes, α − α* for real targets */
    const double *values;       /* Σ_j coefficient_j κ(x_j, x_i) */
    int64_t stride;
    double offset; /* decision = value − offset */
} kfe_i_svm_column;

/* Real targets, a column of their own table. */
typedef struct kfe_i_svm_targets {
    const double *values;
    int64_t count, stride;
    double epsilon;
} kfe_i_svm_targets;

typedef struct kfe_i_svm_certificate {
    double
        violation; /* of the optimality conditions: m(α) − M(α) of Fan, Chen & Lin (2005); 0 or less: none */
    double objective; /* primal cost */
    double gap;       /* primal cost minus dual value */
} kfe_i_svm_certificate;

kfe_i_svm_certificate kfe_i_svm_certify_classes(const kfe_i_binary *binary, double c,
                                                const kfe_i_svm_column *column);
kfe_i_svm_certificate kfe_i_svm_certify_real(const kfe_i_svm_targets *targets, double c,
                                             const kfe_i_svm_column *column);

/* Solves one problem of two classes by our SMO, on the operator of all examples. coefficients[count] are those of the
 * examples in the problem, and decision(x) = Σ coefficient·κ − offset. */
kfe_status kfe_i_svm_solve_smo(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_binary *binary, double c,
                               double stop, double *coefficients, double *offset);

#endif
