/* SPDX-License-Identifier: Apache-2.0 */
/* Approximate the operator by a low-rank factor, F Fᵀ ≈ G, made from a few of its columns. */
#ifndef KFE_GRAM_SOLVE_PIVOT_H
#define KFE_GRAM_SOLVE_PIVOT_H

#include "core/rng.h"
#include "gram/gram.h"

typedef struct kfe_i_low_rank {
    kfe_context *ctx;
    int64_t rows, rank, capacity;
    double *factor;   /* rows × capacity, `rank` columns in use */
    double *diagonal; /* of the residual G − FFᵀ */
    double trace;     /* of the residual */
    double whole;     /* trace of G */
    kfe_i_rng rng;    /* that draws the pivots */
} kfe_i_low_rank;

/*
 * Randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber, 2023): pivots are drawn with probability proportional to the
 * diagonal of the residual. Blocks of proposals are thinned by rejection (Epperly, Tropp & Webber, 2024), so that the
 * pivots have the same distribution as if they were drawn one by one, and only columns of accepted pivots are evaluated.
 * Stops at `most` columns, or when the trace of the residual is below `enough`. Time O(n·most²) beyond the columns, memory
 * O(n·most).
 */
kfe_status kfe_i_pivoted_cholesky(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_low_rank *out);
/* Continues with the same operator up to `most` columns; free the factor also after a failure. */
kfe_status kfe_i_low_rank_grow(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_low_rank *low_rank);
void kfe_i_low_rank_free(kfe_i_low_rank *low_rank);

#endif
