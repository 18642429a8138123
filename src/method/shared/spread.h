/* SPDX-License-Identifier: Apache-2.0 */
/* Measure distances from the centre of the training data with these functions, given the moments that a model keeps. */
#ifndef KFE_METHOD_SHARED_SPREAD_H
#define KFE_METHOD_SHARED_SPREAD_H

#include "method/shared/moments.h"

/* Scores u = Gᵀ(t − t̄) of features t, which have Σuuᵀ = I over the training rows. Features that follow from others add no score. */
typedef struct kfe_i_whitening {
    kfe_context *ctx;
    int64_t rank;
    double *map;   /* G, features × rank */
    double *basis; /* B, columns × rank: x ≈ x̄ + Bu; NULL: the features are not linear in the columns */
} kfe_i_whitening;

kfe_status kfe_i_whiten(kfe_context *ctx, const kfe_i_moments *moments, kfe_i_whitening *out);
void kfe_i_whitening_free(kfe_i_whitening *whitening);

/* Sets moments->spread to what normally distributed rows are expected to have; `columns`: the sums of the columns that moments->cols
 * counts, in the first form (data/sums/sums.h). */
kfe_status kfe_i_spread_expect(kfe_context *ctx, const kfe_i_sums *columns, double mass,
                               kfe_i_moments *moments);

#endif
