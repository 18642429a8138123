/* SPDX-License-Identifier: Apache-2.0 */
/* Train a linear SVM with squared loss on many rows with few columns: Newton's method on the primal, for linear_svm.c. */
#ifndef KFE_LEARN_FINITE_NEWTON_H
#define KFE_LEARN_FINITE_NEWTON_H

#include "gram/gram.h"

/* minimise ½‖w‖² + Σ cost_i·loss_i², loss_i = max(0, 1 − y_i·wᵀx_i), or max(0, |y_i − wᵀx_i| − epsilon) */
typedef struct kfe_i_newton_problem {
    int64_t rows, cols;
    const double *columns; /* cols × rows: one column of X after the other */
    const double *y;       /* rows: ±1, or real values */
    double cost[2];        /* of rows with y ≥ 0 and with y < 0 */
    double epsilon;        /* below 0: classes */
} kfe_i_newton_problem;

typedef struct kfe_i_newton_result {
    double objective;
    double gradient; /* its norm at w */
    double start;    /* and at w = 0 */
    int solved;      /* 0: rounding or the number of iterations ended the search early */
} kfe_i_newton_result;

/* With more columns their squares take too long. */
enum { KFE_NEWTON_COLS_MOST = 64 };
/* When the search ends: device plug-ins that solve the same problems are told these. */
enum { KFE_NEWTON_STEPS_MOST = 100, KFE_NEWTON_HALVINGS_MOST = 40 };
/* Armijo's condition. */
#define KFE_NEWTON_DECREASE 1e-4
/* A gradient below this share of that at w = 0 is rounding error. */
#define KFE_NEWTON_ROUNDING 1e-13

/* Whether this solver is the right one for so many rows and columns. */
int kfe_i_newton_suits(int64_t rows, int64_t cols);

/* w[cols] receives the minimum. */
kfe_status kfe_i_newton_solve(kfe_context *ctx, const kfe_i_newton_problem *problem, double *w,
                              kfe_i_newton_result *out);

#endif
