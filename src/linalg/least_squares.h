/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_least_squares for a dense least-squares problem that may be ill-conditioned or rank-deficient:
 *     minimise ‖XW − Y‖² + l2·‖W‖²,   of all minimisers the one of smallest norm.
 * Orthogonal factorisations keep the accuracy of the data; XᵀX, which would lose half of the digits, is never formed.
 */
#ifndef KFE_LINALG_LEAST_SQUARES_H
#define KFE_LINALG_LEAST_SQUARES_H

#include "core/context.h"

typedef struct kfe_i_least_squares_problem {
    int64_t rows, cols, targets;
    double *x; /* rows × cols, without gaps between rows; overwritten */
    double *y; /* rows × targets; overwritten */
    double l2;
    double noise; /* singular values up to this count as zero, as do those at the level of rounding */
} kfe_i_least_squares_problem;

typedef struct kfe_i_least_squares_result {
    int64_t rank;          /* singular values that count */
    double largest, least; /* of those; 0 when the rank is 0 */
} kfe_i_least_squares_result;

/* w: cols × targets. */
kfe_status kfe_i_least_squares(kfe_context *ctx, const kfe_i_least_squares_problem *problem, double *w,
                               kfe_i_least_squares_result *out);

#endif
