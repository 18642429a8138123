/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dual of the soft-margin support vector machine on a Gram operator,
 *   minimise ½αᵀQα − eᵀα   subject to yᵀα = 0, 0 ≤ αᵢ ≤ upperᵢ,   Q_ij = yᵢyⱼG_ij,
 * by sequential minimal optimisation with second-order choice of the pair, shrinking, and a warm start.
 * For methods that solve hundreds of nearly equal machines; LIBSVM cannot start from a given α.
 */
#ifndef KFE_LEARN_SMO_H
#define KFE_LEARN_SMO_H

#include "gram/gram.h"

/* Memory that calls can share, so that hundreds of them allocate as little as one. Zeros at first. */
typedef struct kfe_i_smo_work {
    double *whole, *part, *jump;
    int64_t whole_count, part_count, jump_count;
} kfe_i_smo_work;

void kfe_i_smo_work_free(kfe_context *ctx, kfe_i_smo_work *work);

typedef struct kfe_i_smo_problem {
    const kfe_i_gram *gram;
    const double *sign;   /* n: +1 or −1 */
    const double *upper;  /* n: the C of each example, above 0 */
    kfe_i_smo_work *work; /* NULL: memory for this call only */
} kfe_i_smo_problem;

typedef struct kfe_i_smo_options {
    double tolerance; /* of the largest violation of the optimality conditions; LIBSVM's default is 1e-3 */
    int64_t max_iterations; /* 0: LIBSVM's rule, max(10⁷, 100n) */
    int shrinking;
    int jumps; /* Newton steps in between (smo_jump.c), for kernels of few dimensions */
} kfe_i_smo_options;

typedef struct kfe_i_smo_result {
    double objective;    /* of the dual, as above */
    double offset;       /* decision(x) = Σ αᵢyᵢκ(xᵢ, x) − offset */
    double gap;          /* largest violation, over all examples, with the gradient at the end */
    int64_t iterations;  /* pairs moved */
    int64_t row_touches; /* rows of G read, wholly or in part, those for gradients from scratch included */
    int converged;
} kfe_i_smo_result;

/* `alpha` (n) is the start, zeros for a cold one, and the answer. A start from a neighbouring problem is
 * clipped to the box and, where yᵀα ≠ 0, repaired by the smallest change; when C has changed, multiply the
 * start by the same factor, so that what was at a bound still is. Warns, with the gap, when the iterations
 * ran out or rounding allowed no more. On failure *out is zero, and alpha is no answer. */
kfe_status kfe_i_smo_solve(kfe_context *ctx, const kfe_i_smo_problem *problem,
                           const kfe_i_smo_options *options, double *alpha, kfe_i_smo_result *out);

#endif
