/* SPDX-License-Identifier: Apache-2.0 */
/* Train a linear SVM with squared loss by Newton's method: for the learner linear-svm. */
#ifndef KFE_LEARN_LINEAR_NEWTON_H
#define KFE_LEARN_LINEAR_NEWTON_H

#include "learn/linear/loss.h"
#include "learn/linear/rows.h"

/* minimise ½‖w‖² + the losses of the outputs wᵀx_i */
typedef struct kfe_i_newton_problem {
    const kfe_i_linear_rows *rows;
    kfe_i_losses losses;
    double stop; /* accepted norm of the gradient, relative to that at w = 0 */
} kfe_i_newton_problem;

typedef struct kfe_i_newton_result {
    double objective;
    double gradient; /* its norm at w */
    double start;    /* and at w = 0 */
    int solved;      /* 0: rounding or the number of steps ended the search early */
} kfe_i_newton_result;

/* When the search ends: device plug-ins that solve the same problems are told these. */
enum { KFE_NEWTON_STEPS_MOST = 100, KFE_NEWTON_HALVINGS_MOST = 40 };
/* Armijo's condition. */
#define KFE_NEWTON_DECREASE 1e-4
/* A gradient below this share of that at w = 0 is rounding error. */
#define KFE_NEWTON_ROUNDING 1e-13

/* w[rows->cols] receives the minimum. */
kfe_status kfe_i_newton_solve(kfe_context *ctx, const kfe_i_newton_problem *problem, double *w,
                              kfe_i_newton_result *out);

#endif
