/* SPDX-License-Identifier: Apache-2.0 */
/* Train the SVMs of the learner svm (svm_blocks.c). */
#ifndef KFE_LEARN_SVM_JOB_H
#define KFE_LEARN_SVM_JOB_H

#include "core/param.h"
#include "gram/gram.h"
#include "learn/multiclass.h"

typedef struct kfe_i_svm_settings {
    double c, epsilon, stop;
    char kernel[KFE_PARAM_TEXT_SIZE];
    char class_weights[KFE_PARAM_TEXT_SIZE];
    int multiclass, solver;
} kfe_i_svm_settings;

typedef struct kfe_i_svm_job {
    const kfe_i_svm_settings *settings;
    const kfe_i_target *target;
    kfe_i_decision decision;
    int64_t n, outputs;
    double *class_weights;
    double *coefficients; /* n × outputs */
    double *offset;       /* outputs */
    /* n × outputs: Σ_j coefficient_j κ(x_j, x_i), for the examples of each problem */
    double *values;
} kfe_i_svm_job;

/* Fills the coefficients, the offset and the values. */
kfe_status kfe_i_svm_train_blocks(kfe_context *ctx, kfe_i_svm_job *job, const kfe_i_gram *gram);

#endif
