/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KDA/QR: discriminant analysis inside the span of the feature-space centroids.
 *
 * z(x) = R⁻ᵀCᵀφ(x) are the features of koc, coordinates in an orthonormal basis. With V the leading generalized eigenvectors of
 * (S_b, S), the between-class scatter of the z and their within-class or total scatter (discriminant.h), features(x) = Vᵀz(x).
 * Columns of V have unit length, so that distances stay those of the feature space along the directions; with `whiten`, unit
 * scatter. The c-th direction is orthogonal to all differences of class means.
 *
 * Xiong, Ye & Cherkassky (2006), as cited by Wu & Farquhar (2007), section 1.
 * Time: the kernel matrix twice (centroid products; features of the examples), memory O(nd + nc).
 */
#include "core/memory.h"
#include "method/centroid/centroid.h"
#include "method/centroid/discriminant.h"
#include "method/shared/range.h"

static const kfe_i_param rows[] = {KFE_DISCRIMINANT_ROWS};

/* coefficients (n × rank) on the examples of the orthonormal basis of the centroids. */
static void spread_over_members(const kfe_i_groups *groups, const double *basis, int64_t rank,
                                double *coefficients)
{
    for (int64_t i = 0; i < groups->rows; i++)
        for (int64_t j = 0; j < rank; j++)
            coefficients[i * rank + j] =
                kfe_i_group_root(groups, i) * basis[groups->of[i] * rank + j] / groups->sizes[groups->of[i]];
}

static kfe_status koc_coefficients(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_groups *groups,
                                   double *coefficients, int64_t *rank)
{
    kfe_status status = KFE_OK;
    int64_t c = groups->count;
    double *inner = NULL;
    double *basis = NULL;
    int64_t *kept = NULL;

    KFE_ALLOC(ctx, inner, c * c);
    KFE_ALLOC(ctx, basis, c * c);
    KFE_ALLOC(ctx, kept, c);
    KFE_TRY(kfe_i_centroid_products(problem->gram, groups, inner));
    KFE_TRY(
        kfe_i_centroids_keep(ctx, "kda-qr", c, inner, kfe_i_gram_rank_tolerance(problem->gram), kept, rank));
    KFE_TRY(kfe_i_centroid_basis(ctx, c, inner, kept, *rank, basis));
    spread_over_members(groups, basis, *rank, coefficients);
cleanup:
    kfe_i_free(ctx, inner);
    kfe_i_free(ctx, basis);
    kfe_i_free(ctx, kept);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = problem->gram->size;
    int64_t c = problem->target->class_count;
    int64_t rank = 0;
    double largest = 0;
    kfe_i_groups groups = {0};
    double *koc = NULL;
    double *z = NULL;

    KFE_TRY(kfe_i_largest_kernel_value(ctx, "kda-qr", problem->gram, &largest));
    KFE_TRY(kfe_i_groups_from_classes(ctx, problem->target, &groups));
    KFE_ALLOC(ctx, koc, n * c);
    KFE_ALLOC(ctx, z, n * c);
    KFE_TRY(koc_coefficients(ctx, problem, &groups, koc, &rank));
    KFE_TRY(kfe_i_gram_times(problem->gram, koc, rank, z));
    kfe_i_discriminant_space space = {.method = "kda-qr",
                                      .groups = &groups,
                                      .q = rank,
                                      .z = z,
                                      .kind = KFE_SOLUTION_DUAL,
                                      .rows = n,
                                      .basis = koc};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
cleanup:
    kfe_i_groups_free(&groups);
    kfe_i_free(ctx, koc);
    kfe_i_free(ctx, z);
    return status;
}

/* ---- from sums ---- */

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = problem->sums;
    const kfe_i_groups classes = {.ctx = ctx, .count = sums->classes};
    kfe_i_centroid_space centroids = {0};
    kfe_i_sums z = {0};
    double *w = NULL;
    double *between = NULL;
    double *within = NULL;

    KFE_TRY(kfe_i_centroid_space_make(ctx, "kda-qr", sums, &centroids));
    int64_t q = centroids.rank;
    KFE_ALLOC(ctx, w, sums->cols * q);
    KFE_ALLOC(ctx, between, q * q);
    KFE_ALLOC(ctx, within, q * q);
    kfe_i_centroid_space_expand(&centroids, sums, q, w);
    KFE_TRY(kfe_i_sums_map(sums, w, q, NULL, &z));
    kfe_i_scatters_from_sums(&z, between, within);
    const kfe_i_discriminant_space space = {.method = "kda-qr",
                                            .groups = &classes,
                                            .q = q,
                                            .within = within,
                                            .between = between,
                                            .kind = KFE_SOLUTION_PRIMAL,
                                            .rows = sums->cols,
                                            .basis = w};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
cleanup:
    kfe_i_centroid_space_free(&centroids);
    kfe_i_sums_free(&z);
    kfe_i_free(ctx, w);
    kfe_i_free(ctx, between);
    kfe_i_free(ctx, within);
    return status;
}

const kfe_i_method kfe_i_method_kda_qr = {
    .name = "kda-qr",
    .summary = "discriminant analysis inside the span of the feature-space centroids",
    .reference = "Xiong, Ye & Cherkassky 2006; Wu & Farquhar 2007, section 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_discriminant_settings),
    .fit = fit,
    .fit_sums = fit_sums,
};
