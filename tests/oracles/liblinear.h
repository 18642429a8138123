/* SPDX-License-Identifier: Apache-2.0 */
/* Solve a linear SVM with squared loss by LIBLINEAR. */
#ifndef KFE_TESTS_ORACLES_LIBLINEAR_H
#define KFE_TESTS_ORACLES_LIBLINEAR_H

#include <stdint.h>

/* minimise ½‖w‖² + Σ cost·loss², loss = max(0, 1 − y·wᵀx), or max(0, |y − wᵀx| − epsilon) */
typedef struct oracle_linear_svm {
    int64_t rows, cols;
    const double *x;      /* rows × cols */
    const double *y;      /* ±1, or real values */
    double cost, epsilon; /* epsilon below 0: classes */
    double negative;      /* the cost of rows with y = −1, relative to that of the others */
    double stop;
    int dual; /* by coordinate descent on the dual, not by Newton's method */
} oracle_linear_svm;

void oracle_liblinear(const oracle_linear_svm *problem, double *w);

#endif
