/* SPDX-License-Identifier: Apache-2.0 */
/* The engine shared by the centroid methods: groups of examples, an orthonormal basis of their centroids in
 * feature space, and discriminant analysis inside a few dimensions. */
#ifndef KFE_METHOD_CENTROID_CENTROID_H
#define KFE_METHOD_CENTROID_CENTROID_H

#include "method/groups.h"
#include "method/method.h"

/* inner (count × count) = ⟨centroid g, centroid h⟩, by one pass over the operator in O(n) memory. */
kfe_status kfe_i_centroid_products(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_groups *groups,
                                   double *inner);

/* Which centroids are linearly independent up to a relative `tolerance`; warns, under the method's name,
 * about those that are not. */
kfe_status kfe_i_centroids_keep(kfe_context *ctx, const char *method, int64_t count, const double *inner,
                                double tolerance, int64_t *kept, int64_t *rank);

/* basis (count × rank): the coefficients on centroids of the orthonormal vectors that the Cholesky factor of
 * the kept part of `inner` gives: RᵀR = CᵀC, Q = CR⁻¹. Zero rows for centroids left out. */
kfe_status kfe_i_centroid_basis(kfe_context *ctx, int64_t count, const double *inner, const int64_t *kept,
                                int64_t rank, double *basis);

/*
 * Discriminant analysis of z (n × q), the features that `basis` (rows × q coefficients) gives the examples:
 * the directions of largest ratio of between- to within-class scatter, with unit within-class scatter, become
 * a solution of this kind. At most count − 1 are of use; `asked` 0 means all of them.
 */
kfe_status kfe_i_discriminants(kfe_context *ctx, const char *method, const kfe_i_groups *groups,
                               const double *z, int64_t q, kfe_i_solution_kind kind, int64_t rows,
                               const double *basis, int64_t asked, kfe_i_solution *out);

#endif
