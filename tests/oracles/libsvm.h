/* SPDX-License-Identifier: Apache-2.0 */
/* Solve SVMs on an explicit kernel matrix by LIBSVM. */
#ifndef KFE_TESTS_ORACLES_LIBSVM_H
#define KFE_TESTS_ORACLES_LIBSVM_H

#include "support/smo.h"

/* minimise ½‖w‖² + Σ cost·loss, loss = max(0, 1 − y(f − offset)), or max(0, |y − f + offset| − epsilon) */
typedef struct oracle_svm {
    int64_t n;
    const double *kernel;      /* n × n */
    const double *y;           /* ±1, or real values */
    double positive, negative; /* costs of the rows with y = 1 and y = −1; real values: the first */
    double epsilon;            /* below 0: classes */
    double stop;               /* accepted violation of the optimality conditions */
} oracle_svm;

/* Writes the coefficients b[n] of f = Σ b_i κ(x_i, ·), and the offset. LIBSVM keeps the kernel in single precision. */
void oracle_libsvm(const oracle_svm *svm, double *b, double *offset);

/* Compares the objective and the decision values of our solution in p->alpha with LIBSVM's. */
void oracle_compare_smo(const smo_problem *p, const kfe_i_smo_result *result, double positive,
                        double negative, double stop);

/* The optimum of Σ eᵀα − ½aᵀKa over the SVMs that separate each class from the rest (two classes: one SVM). Writes a (n × SVMs)
 * unless it is NULL. */
double oracle_svms_optimum(int64_t n, const double *kernel, const int *class_of, int classes, double c,
                           double *a);

#endif
