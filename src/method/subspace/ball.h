/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the smallest ball that encloses points given by their kernel matrix K:
 *
 *     R² = max Σ βᵢd_i − βᵀKβ   over βᵢ ≥ 0, Σβᵢ = 1,   d_i = K_ii.
 */
#ifndef KFE_METHOD_SUBSPACE_BALL_H
#define KFE_METHOD_SUBSPACE_BALL_H

#include "core/context.h"

typedef struct kfe_i_ball {
    /* The objective at beta. If converged, it is below R² by at most the share `tolerance`. */
    double squared_radius;
    int converged;
} kfe_i_ball;

/* beta (n) holds the start (zeros: uniform weights) and receives the solution. work: n. `lengths`: other d_i than the diagonal of k
 * (NULL: that), for examples that stand for several. */
kfe_status kfe_i_smallest_ball(kfe_context *ctx, int64_t n, const double *k, const double *lengths,
                               double tolerance, double *beta, double *work, kfe_i_ball *out);

#endif
