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

/* Landmarks of akda-qr: the means of each class in input space. `landmarks`, one table for each view, are zeroed before and freed by the caller also after
 * a failure. basis (classes × classes, of which classes × *rank is used): orthonormal combinations of the landmarks' images. */
kfe_status kfe_i_input_centroids(kfe_context *ctx, const kfe_i_table *views, int view_count,
                                 const kfe_i_groups *groups, kfe_i_table *landmarks);
kfe_status kfe_i_input_centroid_basis(kfe_context *ctx, const kfe_i_kernel_list *kernels,
                                      const kfe_i_table *landmarks, int64_t classes, double *basis,
                                      int64_t *rank);

/* The same for centroids that sums over rows give. */
typedef struct kfe_i_centroid_space {
    kfe_context *ctx;
    int64_t rank;
    double *inner; /* count × count */
    double *basis; /* count × rank */
    int64_t *kept; /* rank */
} kfe_i_centroid_space;

/* Free it also after a failure. */
kfe_status kfe_i_centroid_space_make(kfe_context *ctx, const char *method, const kfe_i_sums *sums,
                                     kfe_i_centroid_space *out);
void kfe_i_centroid_space_free(kfe_i_centroid_space *space);
/* out (cols × dim) = the first `dim` vectors of the orthonormal basis of the centroids, on the summed columns. */
void kfe_i_centroid_space_expand(const kfe_i_centroid_space *space, const kfe_i_sums *sums, int64_t dim,
                                 double *out);

#endif
