/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The positive part of a kernel matrix that is not positive definite: G = VΛVᵀ, G₊ = V₊Λ₊V₊ᵀ. It is the
 * kernel matrix of the examples in the part of the feature space where lengths are positive. A direction with
 * coefficients A on G₊ has the coefficients V₊V₊ᵀA on the kernel itself. For methods that met a negative
 * length and cannot go on with G. Time O(n³), memory 24n² bytes.
 */
#ifndef KFE_GRAM_POSITIVE_H
#define KFE_GRAM_POSITIVE_H

#include "gram/gram.h"

typedef struct kfe_i_positive {
    kfe_context *ctx;
    int64_t size, rank;
    double *vectors; /* V₊, size × rank */
    double *matrix;
    int64_t *index;
    kfe_i_gram *gram; /* G₊ */
} kfe_i_positive;

/* Warns, in the name of `method`; KFE_ENUMERIC if nothing is positive. Free it also after a failure. */
kfe_status kfe_i_positive_part(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                               kfe_i_positive *out);
/* a (size × k) ← V₊V₊ᵀa */
kfe_status kfe_i_positive_project(const kfe_i_positive *positive, double *a, int64_t k);
void kfe_i_positive_free(kfe_i_positive *positive);

#endif
