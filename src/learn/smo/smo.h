/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_smo_solve to solve the dual of the soft-margin SVM on a Gram operator,
 *     minimise ½αᵀQα − eᵀα   subject to yᵀα = 0, 0 ≤ αᵢ ≤ upperᵢ,   Q_ij = yᵢyⱼG_ij,
 * by sequential minimal optimisation with second-order choice of the pair, shrinking, and a warm start. It is for
 * methods that solve hundreds of nearly equal SVMs; LIBSVM cannot start from a given α.
 */
#ifndef KFE_LEARN_SMO_SMO_H
#define KFE_LEARN_SMO_SMO_H

#include "gram/gram.h"

/* Memory that calls can share, so that hundreds of them allocate as little as one. Begin with zeros. */
typedef struct kfe_i_smo_work {
    double *whole, *part, *newton;
    int64_t whole_count, part_count, newton_count;
} kfe_i_smo_work;

void kfe_i_smo_work_free(kfe_context *ctx, kfe_i_smo_work *work);

typedef struct kfe_i_smo_problem {
    const kfe_i_gram *gram;
    const double *sign;   /* n: +1 or −1 */
    const double *upper;  /* n: the C of each example, above 0 */
    kfe_i_smo_work *work; /* NULL: memory for this call only */
} kfe_i_smo_problem;

typedef struct kfe_i_smo_options {
    double tolerance;       /* accepted violation of the optimality conditions; LIBSVM's default is 1e-3 */
    int64_t max_iterations; /* 0: LIBSVM's rule, max(10⁷, 100n) */
    int shrinking;
    int newton; /* Newton steps from the start (smo_newton.c), for kernels of few dimensions; others get them if pairs take long */
    /* Whose SVM it is, for a warning if the solver does not converge; NULL: the caller warns. */
    const char *who;
} kfe_i_smo_options;

typedef struct kfe_i_smo_result {
    double objective; /* of the dual, as above */
    double offset;    /* decision(x) = Σ αᵢyᵢκ(xᵢ, x) − offset */
    double violation; /* largest violation of the optimality conditions, from residuals computed at the end */
    double gap; /* duality gap: primal cost at this offset, minus the (maximised) dual value; 0 or more */
    int64_t iterations;  /* pairs and Newton steps */
    int64_t row_touches; /* rows of G that were read, wholly or in part */
    int converged;       /* the violation is within the tolerance */
} kfe_i_smo_result;

/* `alpha` (n) is the start (zeros for a cold one) and the answer. A start from a neighbouring problem is clipped to the
 * box and, where yᵀα ≠ 0, repaired by the smallest change. When C has changed, multiply the start by the same factor,
 * so that coefficients at a bound stay there. With
 * options->who it warns when it runs out of iterations or of precision. On failure *out is zero and alpha is not an answer. */
kfe_status kfe_i_smo_solve(kfe_context *ctx, const kfe_i_smo_problem *problem,
                           const kfe_i_smo_options *options, double *alpha, kfe_i_smo_result *out);

/* A working set of a larger problem, in which the other coefficients stay as they are. */
typedef struct kfe_i_smo_block {
    int64_t count;
    const double *kernel;     /* count × count */
    const double *sign;       /* +1 or −1 */
    const double *upper;      /* 0: this coefficient stays 0 */
    double *alpha, *residual; /* within the box, and target − f: the start, and the answer */
} kfe_i_smo_block;

/* Iterates with Newton steps until the violation is within the tolerance or within rounding, or after max_iterations (which
 * must be given). *iterations 0: nothing can move. */
kfe_status kfe_i_smo_solve_block(kfe_context *ctx, const kfe_i_smo_block *block,
                                 const kfe_i_smo_options *options, kfe_i_smo_work *work, int64_t *iterations);

#endif
