/* SPDX-License-Identifier: Apache-2.0 */
/* Approximate a Gram matrix from a few of its columns, FFᵀ ≈ G: for landmarks (landmark.h) and for the solver's low-rank
 * preconditioner. */
#ifndef KFE_GRAM_LANDMARK_RPCHOLESKY_H
#define KFE_GRAM_LANDMARK_RPCHOLESKY_H

#include "core/rng.h"
#include "gram/landmark/candidates.h"

/* What randomly pivoted Cholesky makes; pivot j is the j-th landmark. */
typedef struct kfe_i_rpcholesky {
    kfe_context *ctx;
    int64_t rows, rank, capacity;
    double *factor;   /* rows × capacity, `rank` columns in use */
    double *diagonal; /* of G − FFᵀ; not negative */
    int64_t *pivots;
    double trace;    /* of G */
    double left;     /* trace of G − FFᵀ */
    double largest;  /* diagonal entry of G, without its sign */
    double negative; /* the most negative diagonal entry of G − FFᵀ seen */
    kfe_i_rng rng;   /* that draws the pivots */
} kfe_i_rpcholesky;

/*
 * Randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber, 2023) in blocks with rejection (Epperly, Tropp & Webber, 2024): pivots
 * follow exactly the distribution of one-by-one sampling of candidates in proportion to their mass times the diagonal of the residual.
 * Runs on the rows of the first `sample` candidates; 0: on all rows of G. Stops at `most` pivots, or when no diagonal entry of the residual
 * exceeds rounding.
 * Time O(rows·most²) and rows·most kernel values, memory rows·most doubles. Free it also after a failure.
 */
kfe_status kfe_i_rpcholesky_run(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from, int64_t sample,
                                int64_t most, kfe_i_rpcholesky *out);
/* The same on all rows, for a factor that may grow: begins if `made` is {0}, and continues, with the same operator, if it is not. Stops
 * at `most` pivots in all, or when the trace of the residual is at most `enough`. */
kfe_status kfe_i_rpcholesky_grow(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_rpcholesky *made);
void kfe_i_rpcholesky_free(kfe_i_rpcholesky *made);

#endif
