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

static const kfe_i_param rows[] = {KFE_DISCRIMINANT_ROWS};

/* Scatters (q × q) of the coordinates that `koc` gives. */
static kfe_status find_scatters(kfe_context *ctx, const kfe_i_centroids *c, const kfe_i_solution *koc,
                                double *between, double *within)
{
    kfe_status status = KFE_OK;
    kfe_i_sums mapped = {0};
    double *z = NULL;

    if (c->sums) {
        KFE_TRY(kfe_i_sums_map(c->sums, koc->coefficients, koc->dim, NULL, &mapped));
        kfe_i_scatters_from_sums(&mapped, between, within);
    } else {
        KFE_ALLOC(ctx, z, koc->rows * koc->dim);
        KFE_TRY(kfe_i_gram_times(c->gram, koc->coefficients, koc->dim, z));
        KFE_TRY(kfe_i_scatters(ctx, &c->groups, z, koc->dim, between, within));
    }
cleanup:
    kfe_i_sums_free(&mapped);
    kfe_i_free(ctx, z);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_centroids c = {0};
    kfe_i_solution koc = {0};
    double *between, *within;

    KFE_TRY(kfe_i_centroids_open(ctx, "kda-qr", source, 1, &c));
    KFE_TRY(kfe_i_centroids_solution(&c, c.rank, &koc));
    KFE_TAKE(&c.memory, between, c.rank * c.rank);
    KFE_TAKE(&c.memory, within, c.rank * c.rank);
    KFE_TRY(find_scatters(ctx, &c, &koc, between, within));
    const kfe_i_discriminant_space space = {.method = "kda-qr",
                                            .classes = c.count,
                                            .q = c.rank,
                                            .between = between,
                                            .within = within,
                                            .kind = koc.kind,
                                            .rows = koc.rows,
                                            .basis = koc.coefficients};
    KFE_TRY(kfe_i_discriminants(ctx, &space, settings, out));
cleanup:
    kfe_i_solution_free(&koc);
    kfe_i_centroids_free(&c);
    return status;
}

const kfe_i_method kfe_i_method_kda_qr = {
    .name = "kda-qr",
    .summary = "discriminant analysis inside the span of the feature-space centroids",
    .reference = "Xiong, Ye & Cherkassky 2006; Wu & Farquhar 2007, section 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LD",
    .params = KFE_PARAM_TABLE(rows, kfe_i_discriminant_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
