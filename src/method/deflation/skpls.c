/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse kernel partial least squares: kpls with directions on ⌈νn⌉ examples (sparse_direction.c), scaled to βᵀKβ = 1. With ν = 1
 * it is kpls.
 *
 * Momma & Bennett (2003); Momma (2005); Dhanjal, Gunn & Shawe-Taylor (2009), section 2.2. Time: O(νn²) kernel evaluations per
 * feature; with several targets one product with the kernel matrix more.
 */
#include "method/deflation/sparse_direction.h"

typedef struct skpls_settings {
    int64_t dim;
    int center;
    kfe_i_sparse_settings sparse;
} skpls_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(skpls_settings, "no"), KFE_SPARSE_ROWS(skpls_settings)};

static kfe_status choose(kfe_i_deflation *deflation, void *state, double *direction, double *product,
                         int *has_product)
{
    *has_product = 1;
    return kfe_i_sparse_direction_choose(deflation, state, deflation->residual, direction, product);
}

static const kfe_i_rule rule = {.choose = choose};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const skpls_settings *s = settings;
    kfe_i_deflation_setup setup = {
        .method = "skpls", .side = KFE_SIDE_COLUMNS, .center = s->center, .dim = s->dim};
    kfe_i_deflation deflation = {0};
    kfe_i_sparse_direction sparse = {0};

    KFE_TRY(kfe_i_deflation_begin(ctx, source, &setup, &deflation));
    KFE_TRY(kfe_i_sparse_direction_begin(&deflation, source->target->keys, &s->sparse, &sparse));
    KFE_TRY(kfe_i_deflation_run(&deflation, &rule, &sparse));
    KFE_TRY(kfe_i_deflation_solution(&deflation, out));
cleanup:
    kfe_i_sparse_direction_free(&sparse);
    kfe_i_deflation_free(&deflation);
    return status;
}

const kfe_i_method kfe_i_method_skpls = {
    .name = "skpls",
    .summary = "sparse kernel partial least squares: a share of the examples per direction",
    .reference = "Momma & Bennett 2003; Momma 2005; Dhanjal et al. 2009, section 2.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, skpls_settings),
    .fit = fit,
};
