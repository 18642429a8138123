/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go on with a kernel matrix that is not positive definite: use its positive part. This is the one rule of all
 * methods that need positive lengths (kfd, kopls, rkopls, kb, hsic, uhsic, skfe), and a warning says so.
 *
 *     G = VΛVᵀ,    G₊ = V₊Λ₊V₊ᵀ,   V₊ the eigenvectors of positive eigenvalues
 *
 * G₊ is the kernel matrix of the examples in the part of the feature space where lengths are positive. A
 * direction with coefficients A on G₊ has the coefficients V₊V₊ᵀA on the kernel itself.
 *
 * Time O(n³), memory 24n² bytes.
 */
#ifndef KFE_GRAM_SOLVE_POSITIVE_H
#define KFE_GRAM_SOLVE_POSITIVE_H

#include "gram/gram.h"

typedef struct kfe_i_positive {
    kfe_context *ctx;
    int64_t size, rank;
    double *vectors; /* V₊, size × rank */
    double *matrix;
    kfe_i_gram *gram; /* G₊ */
} kfe_i_positive;

/* Logs the warning, which begins with `method`, if an eigenvalue is negative beyond rounding. KFE_ENUMERIC if no eigenvalue is positive. Free it also after
 * a failure. */
kfe_status kfe_i_positive_part(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                               kfe_i_positive *out);
/* a (size × k) ← V₊V₊ᵀa */
kfe_status kfe_i_positive_project(const kfe_i_positive *positive, double *a, int64_t k);
void kfe_i_positive_free(kfe_i_positive *positive);

/* For methods that find the eigenvalues themselves and leave out the negative ones: logs the same warning if
 * the smallest eigenvalue is negative beyond rounding. */
kfe_status kfe_i_warn_if_indefinite(const kfe_i_gram *gram, const char *method, double largest,
                                    double smallest);

#endif
