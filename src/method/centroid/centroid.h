/* SPDX-License-Identifier: Apache-2.0 */
/* Build an orthonormal basis of the span of centroids in feature space. */
#ifndef KFE_METHOD_CENTROID_CENTROID_H
#define KFE_METHOD_CENTROID_CENTROID_H

#include "method/method.h"
#include "method/shared/groups.h"

/* inner (count × count) = ⟨centroid g, centroid h⟩: one pass over the operator, O(n) memory. */
kfe_status kfe_i_centroid_products(const kfe_i_gram *gram, const kfe_i_groups *groups, double *inner);

/* kept[rank]: the centroids that are linearly independent up to a relative `tolerance`. Warns about the others; KFE_EINPUT
 * if all centroids are zero. Messages begin with `method`. */
kfe_status kfe_i_centroids_keep(kfe_context *ctx, const char *method, int64_t count, const double *inner,
                                double tolerance, int64_t *kept, int64_t *rank);

/* basis (count × rank): coefficients on the centroids C of the orthonormal vectors Q = CR⁻¹, where RᵀR = CᵀC is the Cholesky
 * factorisation of the kept part of `inner`. Rows of centroids that are not kept are zero. */
kfe_status kfe_i_centroid_basis(kfe_context *ctx, int64_t count, const double *inner, const int64_t *kept,
                                int64_t rank, double *basis);

#endif
