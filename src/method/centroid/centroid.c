/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of centroids in feature space, an orthonormal basis of their span, and the coordinates in it. */
#include "method/centroid/centroid.h"

#include <cblas.h>
#include <string.h>

#include "linalg/linalg.h"
#include "method/shared/range.h"

kfe_status kfe_i_centroids_orthonormalise(kfe_i_centroids *c, const char *method, double tolerance)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = c->memory.ctx;
    int64_t n = c->count;
    double *lower;

    KFE_TAKE(&c->memory, c->kept, n);
    KFE_TRY(kfe_i_independent(ctx, n, c->inner, tolerance, c->kept, &c->rank));
    if (c->rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: all class centroids are zero in the kernel's feature space", method);
    if (c->rank < n)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: %lld of %lld centroids are linearly dependent on the others and were dropped", method,
                  (long long)(n - c->rank), (long long)n);
    KFE_TAKE(&c->memory, lower, c->rank * c->rank);
    KFE_TAKE_ZERO(&c->memory, c->basis, n * c->rank);
    for (int64_t g = 0; g < c->rank; g++) {
        c->basis[c->kept[g] * c->rank + g] = 1;
        for (int64_t h = 0; h < c->rank; h++)
            lower[g * c->rank + h] = c->inner[c->kept[g] * n + c->kept[h]];
    }
    KFE_TRY(kfe_i_cholesky(ctx, c->rank, lower, "the matrix of centroid products"));
    kfe_i_solve_lower_transposed(n, c->rank, lower, c->basis);
cleanup:
    return status;
}

/* One pass over the operator, O(n) memory. */
static kfe_status open_groups(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                              int64_t clusters, kfe_i_centroids *c)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    KFE_TRY(kfe_i_ask_gram(ctx, source, &c->gram));
    KFE_TRY(kfe_i_largest_kernel_value(ctx, method, c->gram, &largest));
    if (clusters == 1)
        KFE_TRY(kfe_i_groups_from_classes(ctx, source->target, &c->groups));
    else
        KFE_TRY(kfe_i_groups_by_kmeans(ctx, c->gram, source->target, clusters, &c->groups));
    int64_t n = c->count = c->groups.count;
    c->sizes = c->groups.sizes;
    KFE_TAKE(&c->memory, c->inner, n * n);
    KFE_TRY(kfe_i_gram_group_sums(c->gram, c->groups.of, n, c->inner));
    for (int64_t g = 0; g < n; g++)
        for (int64_t h = 0; h <= g; h++) {
            /* both triangles from one number: symmetric to the last bit */
            double mean = (c->inner[g * n + h] + c->inner[h * n + g]) / (2 * c->sizes[g] * c->sizes[h]);
            c->inner[g * n + h] = c->inner[h * n + g] = mean;
        }
cleanup:
    return status;
}

/* Centroids are rows of class_means. */
static kfe_status open_sums(const kfe_i_sums *sums, kfe_i_centroids *c)
{
    kfe_status status = KFE_OK;
    blasint d = (blasint)sums->cols;

    c->sums = sums;
    c->count = sums->classes;
    c->sizes = sums->class_rows;
    KFE_TAKE(&c->memory, c->inner, c->count * c->count);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)c->count, d, 1, sums->class_means, d, 0,
                c->inner, (blasint)c->count);
    kfe_i_mirror(c->count, c->inner);
cleanup:
    return status;
}

kfe_status kfe_i_centroids_open(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                                int64_t clusters, kfe_i_centroids *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_centroids){.memory = {.ctx = ctx}};
    KFE_TRY(source->sums ? open_sums(source->sums, out) : open_groups(ctx, method, source, clusters, out));
    KFE_TRY(kfe_i_centroids_orthonormalise(
        out, method, source->sums ? KFE_RANK_TOLERANCE : kfe_i_gram_rank_tolerance(out->gram)));
cleanup:
    return status;
}

void kfe_i_centroids_free(kfe_i_centroids *c)
{
    kfe_i_groups_free(&c->groups);
    kfe_i_arena_free(&c->memory);
}

kfe_status kfe_i_centroids_solution(const kfe_i_centroids *c, int64_t dim, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = c->sums;
    const kfe_i_groups *groups = &c->groups;

    KFE_TRY(kfe_i_solution_begin(c->memory.ctx, sums ? KFE_SOLUTION_PRIMAL : KFE_SOLUTION_DUAL,
                                 sums ? sums->cols : groups->rows, dim, out));
    if (sums) /* Cᵀ·basis */
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)sums->cols, (blasint)dim,
                    (blasint)c->count, 1, sums->class_means, (blasint)sums->cols, c->basis, (blasint)c->rank,
                    0, out->coefficients, (blasint)dim);
    for (int64_t i = 0; !sums && i < groups->rows; i++)
        for (int64_t j = 0; j < dim; j++)
            out->coefficients[i * dim + j] =
                kfe_i_group_root(groups, i) * c->basis[groups->of[i] * c->rank + j] / c->sizes[groups->of[i]];
cleanup:
    return status;
}
