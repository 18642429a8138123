/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orthogonal Centroid: features are the coordinates of x in the space spanned by the class centroids.
 *
 * With C = [c_1 … c_r] the d×r matrix of centroids and C = QR, features(x) = Qᵀx. Distances and cosines between any x and the
 * centroids are kept, and Q maximises the trace of the between-class scatter over all orthonormal bases.
 *
 * Park & Park, "Nonlinear Feature Extraction based on Centroids and Kernel Functions" (2002), algorithm 1.
 * Time O(nd + dr²), memory O(dr).
 */

#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "method/centroid/centroid.h"

typedef struct oc_settings {
    int64_t dim;
} oc_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(oc_settings, dim, "number of features; auto: one for each class"),
};

/* centroids (d × c) = Xᵀ M with M_ig = 1/n_g for examples of class g. */
static kfe_status class_centroids(kfe_context *ctx, const kfe_i_table *table, const kfe_i_groups *groups,
                                  double *centroids)
{
    kfe_status status = KFE_OK;
    double *means = NULL;

    KFE_ALLOC_ZERO(ctx, means, groups->rows * groups->count);
    for (int64_t i = 0; i < groups->rows; i++)
        means[i * groups->count + groups->of[i]] = kfe_i_group_root(groups, i) / groups->sizes[groups->of[i]];
    KFE_TRY(kfe_i_table_transpose_times(ctx, table, means, groups->count, centroids));
cleanup:
    kfe_i_free(ctx, means);
    return status;
}

/* The features of centroids (d × c). */
static kfe_status fit_centroids(kfe_context *ctx, int64_t d, int64_t c, const double *centroids,
                                const oc_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t rank = 0;
    double *basis = NULL;
    int64_t *kept = NULL;

    KFE_ALLOC(ctx, basis, d * c);
    KFE_ALLOC(ctx, kept, c);
    /* koc compares squared lengths: the root of its tolerance, so that both find the same rank */
    KFE_TRY(kfe_i_orthonormal_columns(ctx, d, c, centroids, basis, kept, &rank));
    if (rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "oc: all class centroids are zero");
    if (rank < c)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "oc: %lld of %lld centroids are linearly dependent on the others and were dropped",
                  (long long)(c - rank), (long long)c);
    int64_t dim = kfe_i_clamp_dim(ctx, "oc", s->dim, rank, "there are no more independent centroids");
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_PRIMAL, d, dim, out));
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < dim; j++)
            out->coefficients[i * dim + j] = basis[i * rank + j];
cleanup:
    kfe_i_free(ctx, basis);
    kfe_i_free(ctx, kept);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = kfe_i_gram_factor(problem->gram);
    kfe_i_groups groups = {0};
    double *centroids = NULL;

    KFE_TRY(kfe_i_groups_from_classes(ctx, problem->target, &groups));
    KFE_ALLOC(ctx, centroids, table->cols * groups.count);
    KFE_TRY(class_centroids(ctx, table, &groups, centroids));
    KFE_TRY(fit_centroids(ctx, table->cols, groups.count, centroids, settings, out));
cleanup:
    kfe_i_groups_free(&groups);
    kfe_i_free(ctx, centroids);
    return status;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = problem->sums;
    double *centroids = NULL;

    KFE_ALLOC(ctx, centroids, sums->cols * sums->classes);
    for (int64_t g = 0; g < sums->classes; g++)
        for (int64_t j = 0; j < sums->cols; j++)
            centroids[j * sums->classes + g] = sums->class_means[g * sums->cols + j];
    KFE_TRY(fit_centroids(ctx, sums->cols, sums->classes, centroids, settings, out));
cleanup:
    kfe_i_free(ctx, centroids);
    return status;
}

const kfe_i_method kfe_i_method_oc = {
    .name = "oc",
    .summary = "Orthogonal Centroid: coordinates in the span of the class centroids",
    .reference = "Park & Park 2002, algorithm 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "koc",
    .params = KFE_PARAM_TABLE(rows, oc_settings),
    .fit = fit,
    .fit_sums = fit_sums,
};
