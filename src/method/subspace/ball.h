/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest ball around points that are given by their products K:
 *     R² = max Σ βᵢK_ii − βᵀKβ   over βᵢ ≥ 0, Σβᵢ = 1.
 */
#ifndef KFE_METHOD_SUBSPACE_BALL_H
#define KFE_METHOD_SUBSPACE_BALL_H

#include "core/context.h"

/* beta (n) is the start (any point of the simplex; zeros: the uniform one) and the answer; *squared_radius
 * the objective there, below R² by at most `tolerance` times itself unless *converged is 0. work: n. */
kfe_status kfe_i_smallest_ball(kfe_context *ctx, int64_t n, const double *k, double tolerance, double *beta,
                               double *work, double *squared_radius, int *converged);

#endif
