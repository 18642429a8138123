/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_block_solve_exactly to finish a problem on which pairs in single precision make no headway: kernels of few
 * dimensions with a large C, and columns of very different units. Kernel values are in double precision, and Newton steps balance
 * the free variables of a working set.
 */
#ifndef KFE_LEARN_BLOCKS_EXACT_H
#define KFE_LEARN_BLOCKS_EXACT_H

#include "learn/blocks/problem.h"

typedef struct kfe_i_exact_options {
    double stop;   /* accepted violation */
    int64_t most;  /* variables in a working set; no more than `p` was opened for */
    int64_t limit; /* of iterations */
} kfe_i_exact_options;

/* The values of `p` must be exact; they are updated. It ends at the accepted violation, or where rounding or the limit ends the
 * search. */
kfe_status kfe_i_block_solve_exactly(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_block_problem *p,
                                     const kfe_i_exact_options *options);

#endif
