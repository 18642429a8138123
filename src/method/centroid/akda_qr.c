/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AKDA/QR: KDA/QR with the images φ(m_g) of the input-space centroids m_g in place of the feature-space centroids.
 *
 * The support is c synthetic points, the centroids m: training takes nc kernel evaluations and a projection c. κ(m, m) = RᵀR,
 * z(x) = R⁻ᵀκ(m, x), and the rest is that of kda-qr. With a linear kernel the two coincide.
 *
 * Xiong, Ye & Cherkassky (2006), as cited by Wu & Farquhar (2007), section 1, who take c features. Memory O(nc + cd).
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/expansion.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
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

/* The means of the classes in input space, and orthonormal combinations of their images. */
static kfe_status make_points(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_groups *groups,
                              kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t c = groups->count;
    kfe_i_centroids images = {.memory = {.ctx = ctx}, .count = c};
    double *identity;

    out->ctx = ctx;
    KFE_ALLOC_ZERO(ctx, out->points, source->view_count);
    out->point_views = source->view_count;
    for (int v = 0; v < source->view_count; v++)
        KFE_TRY(mean_rows(ctx, &source->views[v], groups, &out->points[v]));
    KFE_TAKE_ZERO(&images.memory, identity, c * c);
    KFE_TAKE(&images.memory, images.inner, c * c);
    kfe_i_add_to_diagonal(c, 1, identity);
    KFE_TRY(kfe_i_expand(ctx, source->kernels, out->points, out->points, identity, c, images.inner));
    KFE_TRY(kfe_i_centroids_orthonormalise(&images, "akda-qr", KFE_RANK_TOLERANCE));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_POINTS, c, images.rank, out));
    memcpy(out->coefficients, images.basis, (size_t)(c * images.rank) * sizeof *out->coefficients);
cleanup:
    kfe_i_centroids_free(&images);
    return status;
}

static kfe_status fit_rows(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_groups *groups,
                           const void *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    kfe_i_solution found = {0};
    double *z, *between, *within;

    KFE_TRY(make_points(ctx, source, groups, &found));
    int64_t q = found.dim;
    KFE_TAKE(&memory, z, groups->rows * q);
    KFE_TAKE(&memory, between, q * q);
    KFE_TAKE(&memory, within, q * q);
    KFE_TRY(kfe_i_expand(ctx, source->kernels, source->views, found.points, found.coefficients, q, z));
    for (int64_t i = 0; i < groups->rows * q; i++)
        z[i] *= kfe_i_group_root(groups, i / q);
    KFE_TRY(kfe_i_scatters(ctx, groups, z, q, between, within));
    const kfe_i_discriminant_space space = {.method = "akda-qr",
                                            .classes = groups->count,
                                            .q = q,
                                            .between = between,
                                            .within = within,
                                            .kind = KFE_SOLUTION_POINTS,
                                            .rows = found.rows,
                                            .basis = found.coefficients};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
    out->points = found.points;
    out->point_views = found.point_views;
    found.point_views = 0;
    found.points = NULL;
cleanup:
    kfe_i_solution_free(&found);
    kfe_i_arena_free(&memory);
    return status;
}

/* The summed columns are coordinates in an orthonormal basis of the images of the centroids. */
static kfe_status fit_sums(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    int64_t q = source->sums->cols;
    double *identity, *between, *within;

    KFE_TAKE_ZERO(&memory, identity, q * q);
    KFE_TAKE(&memory, between, q * q);
    KFE_TAKE(&memory, within, q * q);
    kfe_i_add_to_diagonal(q, 1, identity);
    kfe_i_scatters_from_sums(source->sums, between, within);
    const kfe_i_discriminant_space space = {.method = "akda-qr",
                                            .classes = source->sums->classes,
                                            .q = q,
                                            .between = between,
                                            .within = within,
                                            .kind = KFE_SOLUTION_PRIMAL,
                                            .rows = q,
                                            .basis = identity};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_groups groups = {0};

    if (source->sums)
        return fit_sums(ctx, source, settings, out);
    KFE_TRY(kfe_i_groups_from_classes(ctx, source->target, &groups));
    status = source->points_only ? make_points(ctx, source, &groups, out)
                                 : fit_rows(ctx, source, &groups, settings, out);
cleanup:
    kfe_i_groups_free(&groups);
    return status;
}

static kfe_i_use uses(const void *settings, kfe_i_offer offer, const char **why)
{
    return offer == KFE_OFFER_POINTS ? KFE_USE_POSSIBLE : kfe_i_use_sums(settings, offer, why);
}

const kfe_i_method kfe_i_method_akda_qr = {
    .name = "akda-qr",
    .summary = "kda-qr on the images of input-space centroids: c kernel evaluations per projection",
    .reference = "Xiong, Ye & Cherkassky 2006; Wu & Farquhar 2007, section 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_SYNTHETIC |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kda-qr",
    .feature = "LD",
    .params = KFE_PARAM_TABLE(rows, kfe_i_discriminant_settings),
    .uses = uses,
    .fit = fit,
};
