/* SPDX-License-Identifier: Apache-2.0 */
#include "method/centroid/centroid.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/linalg.h"

/* Added to the within-class scatter, relative to the trace of the total scatter, when the former is singular:
 * far below any scatter that data shows, far above rounding. */
#define KFE_SCATTER_RIDGE 1e-10

kfe_status kfe_i_centroid_products(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_groups *groups,
                                   double *inner)
{
    kfe_status status = kfe_i_gram_group_sums(gram, groups->of, groups->count, inner);
    int64_t c = groups->count;

    (void)ctx;
    for (int64_t g = 0; status == KFE_OK && g < c; g++)
        for (int64_t h = 0; h <= g; h++) {
            /* both triangles from one number, so that the result is symmetric to the last bit */
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
                  "%s: %lld of %lld centroids are linearly dependent on the others and were left out", method,
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

/* ---- discriminant analysis in few dimensions ---- */

static void group_means(const kfe_i_groups *groups, const double *z, int64_t q, double *means,
                        double *overall)
{
    memset(means, 0, (size_t)(groups->count * q) * sizeof *means);
    memset(overall, 0, (size_t)q * sizeof *overall);
    for (int64_t i = 0; i < groups->rows; i++)
        for (int64_t j = 0; j < q; j++) {
            means[groups->of[i] * q + j] += z[i * q + j] / groups->sizes[groups->of[i]];
            overall[j] += z[i * q + j] / (double)groups->rows;
        }
}

/* out += weight · x xᵀ */
static void add_outer(int64_t q, double weight, const double *x, double *out)
{
    for (int64_t i = 0; i < q; i++)
        for (int64_t j = 0; j < q; j++)
            out[i * q + j] += weight * x[i] * x[j];
}

/* Scatter around the group means (within) and of the group means (between). */
static kfe_status scatters(kfe_context *ctx, const kfe_i_groups *groups, const double *z, int64_t q,
                           double *between, double *within)
{
    kfe_status status = KFE_OK;
    double *means = NULL;
    double *overall = NULL;
    double *difference = NULL;

    KFE_ALLOC(ctx, means, groups->count * q);
    KFE_ALLOC(ctx, overall, q);
    KFE_ALLOC(ctx, difference, q);
    group_means(groups, z, q, means, overall);
    for (int64_t i = 0; i < groups->rows; i++) {
        for (int64_t j = 0; j < q; j++)
            difference[j] = z[i * q + j] - means[groups->of[i] * q + j];
        add_outer(q, 1, difference, within);
    }
    for (int64_t g = 0; g < groups->count; g++) {
        for (int64_t j = 0; j < q; j++)
            difference[j] = means[g * q + j] - overall[j];
        add_outer(q, groups->sizes[g], difference, between);
    }
cleanup:
    kfe_i_free(ctx, means);
    kfe_i_free(ctx, overall);
    kfe_i_free(ctx, difference);
    return status;
}

static double trace(int64_t q, const double *a)
{
    double sum = 0;

    for (int64_t i = 0; i < q; i++)
        sum += a[i * q + i];
    return sum;
}

/* All q directions (q × q), by falling ratio. */
static kfe_status discriminate(kfe_context *ctx, const kfe_i_groups *groups, const double *z, int64_t q,
                               double *directions, double *ratios)
{
    kfe_status status = KFE_OK;
    double *between = NULL;
    double *within = NULL;
    int64_t *kept = NULL;
    int64_t rank = 0;

    KFE_ALLOC_ZERO(ctx, between, q * q);
    KFE_ALLOC_ZERO(ctx, within, q * q);
    KFE_ALLOC(ctx, kept, q);
    KFE_TRY(scatters(ctx, groups, z, q, between, within));
    KFE_TRY(kfe_i_independent(ctx, q, within, KFE_RANK_TOLERANCE, kept, &rank));
    if (rank < q) {
        double ridge = KFE_SCATTER_RIDGE * (trace(q, between) + trace(q, within));
        for (int64_t i = 0; i < q; i++)
            within[i * q + i] += ridge > 0 ? ridge : 1;
    }
    KFE_TRY(kfe_i_generalized_eigen(ctx, q, between, within, ratios, directions));
cleanup:
    kfe_i_free(ctx, between);
    kfe_i_free(ctx, within);
    kfe_i_free(ctx, kept);
    return status;
}

/* How many of q falling ratios are above rounding, and at most count − 1. */
static kfe_status discriminant_rank(kfe_context *ctx, const char *method, const kfe_i_groups *groups,
                                    const double *ratios, int64_t q, int64_t *rank)
{
    int64_t most = q < groups->count - 1 ? q : groups->count - 1;
    /* the second term: what rounding of the between-class scatter is worth where the ridge is all there is */
    double smallest = fmax(KFE_RANK_TOLERANCE, 100 * DBL_EPSILON * ratios[0]);

    *rank = 0;
    while (*rank < most && ratios[*rank] > smallest)
        (*rank)++;
    if (*rank == 0)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: the classes have the same centroid; there is nothing to discriminate", method);
    return KFE_OK;
}

kfe_status kfe_i_discriminants(kfe_context *ctx, const char *method, const kfe_i_groups *groups,
                               const double *z, int64_t q, kfe_i_solution_kind kind, int64_t rows,
                               const double *basis, int64_t asked, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *directions = NULL;
    double *ratios = NULL;
    int64_t useful = 0;

    KFE_ALLOC(ctx, directions, q * q);
    KFE_ALLOC(ctx, ratios, q);
    KFE_TRY(discriminate(ctx, groups, z, q, directions, ratios));
    KFE_TRY(discriminant_rank(ctx, method, groups, ratios, q, &useful));
    int64_t dim =
        kfe_i_clamp_dim(ctx, method, asked, useful, "there are no more directions between the classes");
    KFE_TRY(kfe_i_solution_begin(ctx, kind, rows, dim, out));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)dim, (blasint)q, 1, basis,
                (blasint)q, directions, (blasint)q, 0, out->coefficients, (blasint)dim);
    KFE_TRY(kfe_i_solution_record(out, "scatter_ratios", ratios, dim));
    kfe_i_solution_fix_signs(out);
cleanup:
    kfe_i_free(ctx, directions);
    kfe_i_free(ctx, ratios);
    return status;
}
