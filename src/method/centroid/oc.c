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
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/method.h"
#include "method/shared/groups.h"

typedef struct oc_settings {
    int64_t dim;
} oc_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(oc_settings, dim, "number of features; auto: one for each class"),
};

/* *out (d × c) = Xᵀ M with M_ig = 1/n_g for examples of class g. */
static kfe_status find_centroids(kfe_i_arena *memory, const kfe_i_fit_source *source, double **out,
                                 int64_t *d, int64_t *c)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *gram = NULL;
    const kfe_i_table *table = NULL;
    kfe_i_groups groups = {0};
    double *members;

    KFE_TRY(kfe_i_ask_factor(memory->ctx, source, &gram, &table, NULL));
    KFE_TRY(kfe_i_groups_from_classes(memory->ctx, source->target, &groups));
    *d = table->cols;
    *c = groups.count;
    KFE_TAKE_ZERO(memory, members, groups.rows * groups.count);
    KFE_TAKE(memory, *out, *d * *c);
    for (int64_t i = 0; i < groups.rows; i++)
        members[i * *c + groups.of[i]] = kfe_i_group_root(&groups, i) / groups.sizes[groups.of[i]];
    KFE_TRY(kfe_i_table_transpose_times(memory->ctx, table, members, *c, *out));
cleanup:
    kfe_i_groups_free(&groups);
    return status;
}

static kfe_status summed_centroids(kfe_i_arena *memory, const kfe_i_sums *sums, double **out, int64_t *d,
                                   int64_t *c)
{
    kfe_status status = KFE_OK;

    *d = sums->cols;
    *c = sums->classes;
    KFE_TAKE(memory, *out, *d * *c);
    for (int64_t g = 0; g < *c; g++)
        for (int64_t j = 0; j < *d; j++)
            (*out)[j * *c + g] = sums->class_means[g * *d + j];
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const oc_settings *s = settings;
    kfe_i_arena memory = {.ctx = ctx};
    double *centroids, *basis;
    int64_t d, c, *kept;
    int64_t rank = 0;

    KFE_TRY(source->sums ? summed_centroids(&memory, source->sums, &centroids, &d, &c)
                         : find_centroids(&memory, source, &centroids, &d, &c));
    KFE_TAKE(&memory, basis, d * c);
    KFE_TAKE(&memory, kept, c);
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
    kfe_i_copy_block(d, dim, basis, rank, out->coefficients, dim);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

const kfe_i_method kfe_i_method_oc = {
    .name = "oc",
    .summary = "Orthogonal Centroid: coordinates in the span of the class centroids",
    .reference = "Park & Park 2002, algorithm 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "koc",
    .params = KFE_PARAM_TABLE(rows, oc_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
