/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute certificates of an SVM's solution, apart from the solver that found it. The learner svm does.
 */
#ifndef KFE_LEARN_SVM_DUAL_H
#define KFE_LEARN_SVM_DUAL_H

#include "learn/multiclass.h"

/* The solution of one problem. The arrays are columns: element i, the row of the data, is at i·stride. */
typedef struct kfe_i_svm_column {
    const double *coefficients; /* α·y for classes, α − α* for real targets */
    const double *values;       /* Σ_j coefficient_j κ(x_j, x_i) */
    int64_t stride;
    double offset;         /* decision = value − offset */
    const double *weights; /* of the examples, by which their C is multiplied; NULL: ones */
} kfe_i_svm_column;

/* Real targets, a column of their own table. */
typedef struct kfe_i_svm_targets {
    const double *values;
    int64_t count, stride;
    double epsilon;
} kfe_i_svm_targets;

typedef struct kfe_i_svm_certificate {
    /* By how much the optimality conditions are violated: m(α) − M(α) of Fan, Chen & Lin (2005); 0 or less: not at all. */
    double violation;
    double objective; /* primal cost */
    double gap;       /* primal cost minus dual value */
} kfe_i_svm_certificate;

kfe_i_svm_certificate kfe_i_svm_certify_classes(const kfe_i_binary *binary, double c,
                                                const kfe_i_svm_column *column);
kfe_i_svm_certificate kfe_i_svm_certify_real(const kfe_i_svm_targets *targets, double c,
                                             const kfe_i_svm_column *column);

/* Warns that the SVMs of `who` ended before their optimum; `where` says at what measure, such as "a violation of 3.8". The words are
 * the same for all methods and learners. */
void kfe_i_svm_warn(kfe_context *ctx, const char *who, const char *where);
/* Fails because kernel values exceed single precision. */
kfe_status kfe_i_svm_overflow(kfe_context *ctx);

#endif
