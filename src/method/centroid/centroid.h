/* SPDX-License-Identifier: Apache-2.0 */
/* Build an orthonormal basis of the span of centroids in feature space, from their dot products, for koc, kda-qr and akda-qr. */
#ifndef KFE_METHOD_CENTROID_CENTROID_H
#define KFE_METHOD_CENTROID_CENTROID_H

#include "core/memory.h"
#include "method/method.h"
#include "method/shared/groups.h"

typedef struct kfe_i_centroids {
    kfe_i_arena memory;
    int64_t count, rank;
    double *inner; /* count × count: ⟨centroid g, centroid h⟩ */
    int64_t *kept; /* rank: the centroids that are linearly independent */
    /* count × rank: coefficients on the centroids C of the orthonormal vectors Q = CR⁻¹, where RᵀR = CᵀC is the Cholesky factorisation of
     * the kept part of `inner`. Rows of centroids that are not kept are zero. */
    double *basis;
    /* The source of the centroids: groups of examples of an operator, or the classes of sums over rows. */
    const kfe_i_gram *gram;
    kfe_i_groups groups;
    const kfe_i_sums *sums;
    const double *sizes; /* count: examples, or the sum of their weights */
} kfe_i_centroids;

/* The centroids of the classes, or of this number of clusters in each class, which a source of sums does not have. Messages begin with `method`.
 * Free them also after a failure. */
kfe_status kfe_i_centroids_open(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                                int64_t clusters, kfe_i_centroids *out);
void kfe_i_centroids_free(kfe_i_centroids *centroids);
/* From `inner`: the centroids that are linearly independent up to a relative `tolerance`, with a warning about the others, and the basis.
 * KFE_EINPUT if all centroids are zero. */
kfe_status kfe_i_centroids_orthonormalise(kfe_i_centroids *centroids, const char *method, double tolerance);
/* The coordinates along the first `dim` vectors of the basis: a dual solution on the examples or a primal one on the summed columns. */
kfe_status kfe_i_centroids_solution(const kfe_i_centroids *centroids, int64_t dim, kfe_i_solution *out);

#endif
