/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AKDA/QR: KDA/QR with the images φ(m_g) of the input-space centroids m_g in place of the feature-space centroids.
 *
 * The support set is the c centroids m: training takes nc kernel evaluations and a projection c. κ(m, m) = RᵀR,
 * z(x) = R⁻ᵀκ(m, x), and the rest is that of kda-qr. With a linear kernel the two coincide.
 *
 * Xiong, Ye & Cherkassky (2006), as cited by Wu & Farquhar (2007), section 1, who take c features. Memory O(nc + cd).
 */
#include <cblas.h>

#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "kernel/expansion.h"
#include "method/centroid/centroid.h"
#include "method/centroid/discriminant.h"

static const kfe_i_param rows[] = {KFE_DISCRIMINANT_ROWS};

/* The mean row of each group, a dense table. */
static kfe_status mean_rows(kfe_context *ctx, const kfe_i_table *table, const kfe_i_groups *groups,
                            kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    double *row = NULL;

    KFE_TRY(kfe_i_table_new_dense(ctx, groups->count, table->cols, out));
    for (int64_t i = 0; i < groups->count * table->cols; i++)
        out->values[i] = 0;
    KFE_ALLOC(ctx, row, table->cols);
    for (int64_t i = 0; i < table->rows; i++) {
        kfe_i_table_dense_row(table, i, row);
        cblas_daxpy((blasint)table->cols, kfe_i_group_weight(groups, i) / groups->sizes[groups->of[i]], row,
                    1, out->values + groups->of[i] * out->stride, 1);
    }
cleanup:
    kfe_i_free(ctx, row);
    return status;
}

kfe_status kfe_i_input_centroids(kfe_context *ctx, const kfe_i_table *views, int view_count,
                                 const kfe_i_groups *groups, kfe_i_table *landmarks)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < view_count; v++)
        KFE_TRY(mean_rows(ctx, &views[v], groups, &landmarks[v]));
cleanup:
    return status;
}

kfe_status kfe_i_input_centroid_basis(kfe_context *ctx, const kfe_i_kernel_list *kernels,
                                      const kfe_i_table *landmarks, int64_t c, double *basis, int64_t *rank)
{
    kfe_status status = KFE_OK;
    double *identity = NULL;
    double *inner = NULL;
    int64_t *kept = NULL;

    KFE_ALLOC_ZERO(ctx, identity, c * c);
    KFE_ALLOC(ctx, inner, c * c);
    KFE_ALLOC(ctx, kept, c);
    for (int64_t g = 0; g < c; g++)
        identity[g * c + g] = 1;
    KFE_TRY(kfe_i_expand(ctx, kernels, landmarks, landmarks, identity, c, inner));
    KFE_TRY(kfe_i_centroids_keep(ctx, "akda-qr", c, inner, KFE_RANK_TOLERANCE, kept, rank));
    KFE_TRY(kfe_i_centroid_basis(ctx, c, inner, kept, *rank, basis));
cleanup:
    kfe_i_free(ctx, identity);
    kfe_i_free(ctx, inner);
    kfe_i_free(ctx, kept);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t c = problem->target->class_count;
    int64_t rank = 0;
    kfe_i_groups groups = {0};
    double *basis = NULL;
    double *z = NULL;

    KFE_TRY(kfe_i_groups_from_classes(ctx, problem->target, &groups));
    KFE_ALLOC(ctx, basis, c * c);
    KFE_ALLOC(ctx, z, groups.rows * c);
    out->ctx = ctx;
    KFE_ALLOC_ZERO(ctx, out->landmarks, problem->view_count);
    out->landmark_views = problem->view_count;
    KFE_TRY(kfe_i_input_centroids(ctx, problem->views, problem->view_count, &groups, out->landmarks));
    KFE_TRY(kfe_i_input_centroid_basis(ctx, problem->kernels, out->landmarks, c, basis, &rank));
    KFE_TRY(kfe_i_expand(ctx, problem->kernels, problem->views, out->landmarks, basis, rank, z));
    for (int64_t i = 0; i < groups.rows * rank; i++)
        z[i] *= kfe_i_group_root(&groups, i / rank);
    kfe_i_discriminant_space space = {.method = "akda-qr",
                                      .groups = &groups,
                                      .q = rank,
                                      .z = z,
                                      .kind = KFE_SOLUTION_LANDMARKS,
                                      .rows = c,
                                      .basis = basis};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
cleanup:
    kfe_i_groups_free(&groups);
    kfe_i_free(ctx, basis);
    kfe_i_free(ctx, z);
    return status;
}

/* The summed columns are coordinates in an orthonormal basis of the images of the centroids. */
static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t q = problem->sums->cols;
    const kfe_i_groups classes = {.ctx = ctx, .count = problem->sums->classes};
    double *identity = NULL;
    double *between = NULL;
    double *within = NULL;

    KFE_ALLOC_ZERO(ctx, identity, q * q);
    KFE_ALLOC(ctx, between, q * q);
    KFE_ALLOC(ctx, within, q * q);
    for (int64_t j = 0; j < q; j++)
        identity[j * (q + 1)] = 1;
    kfe_i_scatters_from_sums(problem->sums, between, within);
    const kfe_i_discriminant_space space = {.method = "akda-qr",
                                            .groups = &classes,
                                            .q = q,
                                            .within = within,
                                            .between = between,
                                            .kind = KFE_SOLUTION_PRIMAL,
                                            .rows = q,
                                            .basis = identity};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
cleanup:
    kfe_i_free(ctx, identity);
    kfe_i_free(ctx, between);
    kfe_i_free(ctx, within);
    return status;
}

const kfe_i_method kfe_i_method_akda_qr = {
    .name = "akda-qr",
    .summary = "kda-qr on the images of input-space centroids: c kernel evaluations per projection",
    .reference = "Xiong, Ye & Cherkassky 2006; Wu & Farquhar 2007, section 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_SYNTHETIC |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kda-qr",
    .params = KFE_PARAM_TABLE(rows, kfe_i_discriminant_settings),
    .fit = fit,
    .fit_sums = fit_sums,
    .marks_centroids = 1,
};
