/* SPDX-License-Identifier: Apache-2.0 */
/* Use kfe_i_lbfgs for the search directions of L-BFGS: minus the gradient times an approximation of the inverse
 * Hessian that is made from the last steps. */
#ifndef KFE_METHOD_JOINT_LBFGS_H
#define KFE_METHOD_JOINT_LBFGS_H

#include "core/context.h"

enum { KFE_LBFGS_PAIRS = 6 };

typedef struct kfe_i_lbfgs {
    kfe_context *ctx;
    int64_t size;
    double *steps, *changes; /* KFE_LBFGS_PAIRS × size: of the point and of the gradient */
    double inverse[KFE_LBFGS_PAIRS], share[KFE_LBFGS_PAIRS];
    int64_t kept, newest; /* pairs, and the place of the newest */
} kfe_i_lbfgs;

/* Free it also after a failure. */
kfe_status kfe_i_lbfgs_open(kfe_context *ctx, int64_t size, kfe_i_lbfgs *out);
void kfe_i_lbfgs_free(kfe_i_lbfgs *s);
/* direction (size); without pairs, minus the gradient. */
void kfe_i_lbfgs_direction(kfe_i_lbfgs *s, const double *gradient, double *direction);
/* Adds the pair of differences between two points, `from` and `to`, unless the curvature along it is not
 * positive. */
void kfe_i_lbfgs_add(kfe_i_lbfgs *s, const double *from, const double *to, const double *gradient_from,
                     const double *gradient_to);
/* Drops all pairs: the next direction is minus the gradient. */
void kfe_i_lbfgs_clear(kfe_i_lbfgs *s);

#endif
