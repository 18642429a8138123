/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of centroids in feature space and an orthonormal basis of their span, for koc, kda-qr and akda-qr. */
#include "method/centroid/centroid.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/linalg.h"

kfe_status kfe_i_centroid_products(const kfe_i_gram *gram, const kfe_i_groups *groups, double *inner)
{
    kfe_status status = kfe_i_gram_group_sums(gram, groups->of, groups->count, inner);
    int64_t c = groups->count;

    for (int64_t g = 0; status == KFE_OK && g < c; g++)
        for (int64_t h = 0; h <= g; h++) {
            /* both triangles from one number: symmetric to the last bit */
            double mean = (inner[g * c + h] + inner[h * c + g]) / (2 * groups->sizes[g] * groups->sizes[h]);
            inner[g * c + h] = inner[h * c + g] = mean;
        }
    return status;
}

kfe_status kfe_i_centroids_keep(kfe_context *ctx, const char *method, int64_t count, const double *inner,
                                double tolerance, int64_t *kept, int64_t *rank)
{
    kfe_status status = kfe_i_independent(ctx, count, inner, tolerance, kept, rank);

    if (status == KFE_OK && *rank == 0)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: all class centroids are zero in the kernel's feature space",
                          method);
    if (status == KFE_OK && *rank < count)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: %lld of %lld centroids are linearly dependent on the others and were dropped", method,
                  (long long)(count - *rank), (long long)count);
    return status;
}

kfe_status kfe_i_centroid_basis(kfe_context *ctx, int64_t count, const double *inner, const int64_t *kept,
                                int64_t rank, double *basis)
{
    kfe_status status = KFE_OK;
    double *lower = NULL;

    KFE_ALLOC(ctx, lower, rank * rank);
    for (int64_t g = 0; g < rank; g++)
        for (int64_t h = 0; h < rank; h++)
            lower[g * rank + h] = inner[kept[g] * count + kept[h]];
    KFE_TRY(kfe_i_cholesky(ctx, rank, lower, "the matrix of centroid products"));
    memset(basis, 0, (size_t)(count * rank) * sizeof *basis);
    for (int64_t g = 0; g < rank; g++)
        basis[kept[g] * rank + g] = 1;
    kfe_i_solve_lower_transposed(count, rank, lower, basis);
cleanup:
    kfe_i_free(ctx, lower);
    return status;
}

/* ---- from sums ---- */

void kfe_i_centroid_space_free(kfe_i_centroid_space *space)
{
    if (!space->ctx)
        return;
    kfe_i_free(space->ctx, space->inner);
    kfe_i_free(space->ctx, space->basis);
    kfe_i_free(space->ctx, space->kept);
    memset(space, 0, sizeof *space);
}

kfe_status kfe_i_centroid_space_make(kfe_context *ctx, const char *method, const kfe_i_sums *sums,
                                     kfe_i_centroid_space *out)
{
    kfe_status status = KFE_OK;
    int64_t c = sums->classes;
    blasint d = (blasint)sums->cols;

    *out = (kfe_i_centroid_space){.ctx = ctx};
    KFE_ALLOC(ctx, out->inner, c * c);
    KFE_ALLOC(ctx, out->basis, c * c);
    KFE_ALLOC(ctx, out->kept, c);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)c, d, 1, sums->class_means, d, 0,
                out->inner, (blasint)c);
    kfe_i_mirror(c, out->inner);
    KFE_TRY(kfe_i_centroids_keep(ctx, method, c, out->inner, KFE_RANK_TOLERANCE, out->kept, &out->rank));
    KFE_TRY(kfe_i_centroid_basis(ctx, c, out->inner, out->kept, out->rank, out->basis));
cleanup:
    return status;
}

void kfe_i_centroid_space_expand(const kfe_i_centroid_space *space, const kfe_i_sums *sums, int64_t dim,
                                 double *out)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)sums->cols, (blasint)dim,
                (blasint)sums->classes, 1, sums->class_means, (blasint)sums->cols, space->basis,
                (blasint)space->rank, 0, out, (blasint)dim);
}
