/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_blocks_solve to solve the duals of several SVMs on one Gram operator at once,
 *     minimise ½βᵀGβ − zᵀβ + tube·Σ|β|   subject to Σβ = 0 and |βᵢ| ≤ upper,
 * by working sets of hundreds of examples. Classes: z = ±1, βᵢ has the sign of zᵢ, and there is no tube. Real targets: β
 * has any sign. The decision value is Σ βᵢκ(xᵢ, x) − offset.
 *
 * It is for the learner svm, whose problems are large; methods that solve hundreds of small SVMs use smo/smo.h.
 */
#ifndef KFE_LEARN_BLOCKS_BLOCKS_H
#define KFE_LEARN_BLOCKS_BLOCKS_H

#include "gram/gram.h"

typedef struct kfe_i_svm_dual {
    int64_t count;       /* examples in this problem */
    const int64_t *rows; /* their rows in the operator */
    const double *target;
    int real;              /* real targets, not signs */
    double tube;           /* 0 for classes */
    double upper[2];       /* the largest |β| of β ≥ 0 and of β ≤ 0 */
    const double *weights; /* count: factors of `upper`; NULL: ones */
    /* the answer */
    /* count; also the start: zeros for a cold one. A start that violates the constraints is moved inside. */
    double *beta;
    double *values; /* count: Gβ, recomputed in double precision at the end */
    double offset;
    double violation; /* largest violation of the optimality conditions, from these values */
    int64_t iterations;
} kfe_i_svm_dual;

typedef struct kfe_i_blocks_options {
    double stop; /* accepted violation; LIBSVM's default is 1e-3 */
    /* n: where the entry of each row of the operator is kept (kernel_rows.h). Problems are fast if their examples are
     * kept side by side. NULL: in order */
    const int64_t *position;
    int64_t working_set; /* examples in a working set; 0: by default */
} kfe_i_blocks_options;

/* A solution that is not reached, because of rounding or of the limit of iterations, shows in `violation` only. */
kfe_status kfe_i_blocks_solve(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_svm_dual *problems,
                              int64_t count, const kfe_i_blocks_options *options);

#endif
