/* SPDX-License-Identifier: Apache-2.0 */
/* Train SVMs for the learner svm: what its two solvers, LIBSVM (svm_libsvm.c) and our own (svm_blocks.c), share. */
#ifndef KFE_LEARN_SVM_JOB_H
#define KFE_LEARN_SVM_JOB_H

#include "core/param.h"
#include "gram/gram.h"
#include "learn/multiclass.h"

typedef struct kfe_i_svm_settings {
    double c, epsilon, stop, cache;
    char kernel[KFE_PARAM_TEXT_SIZE];
    char class_weights[KFE_PARAM_TEXT_SIZE];
    int multiclass, solver;
} kfe_i_svm_settings;

enum { KFE_SVM_OWN, KFE_SVM_LIBSVM };
#define KFE_SVM_SOLVER_WORDS "smo|libsvm"

typedef struct kfe_i_svm_job {
    const kfe_i_svm_settings *settings;
    const kfe_i_target *target;
    kfe_i_decision decision;
    int64_t n, outputs;
    double *class_weights;
    double *coefficients; /* n × outputs */
    double *offset;       /* outputs */
    /* n × outputs: Σ_j coefficient_j κ(x_j, x_i), for the examples of each problem. Our solver computes them. */
    double *values;
} kfe_i_svm_job;

/* Both fill the coefficients and the offset. */
kfe_status kfe_i_svm_train_blocks(kfe_context *ctx, kfe_i_svm_job *job, const kfe_i_gram *gram);
kfe_status kfe_i_svm_train_libsvm(kfe_context *ctx, kfe_i_svm_job *job, const kfe_i_gram *gram);
/* The same with a kernel that LIBSVM computes itself. *done is 0 if it has no such kernel. */
kfe_status kfe_i_svm_train_libsvm_features(kfe_context *ctx, kfe_i_svm_job *job, const kfe_i_table *features,
                                           const kfe_i_kernel *kernel, int *done);

#endif
