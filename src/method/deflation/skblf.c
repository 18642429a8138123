/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse kernel boosted latent features: kblf with directions on ⌈νn⌉ examples (sparse_direction.c), which take the values of the
 * negative gradient there; features have length one. With ν = 1 it is kblf.
 *
 * Momma (2005); Dhanjal, Gunn & Shawe-Taylor (2009), section 2.2. Time: O(νn²) kernel evaluations per feature, with several
 * targets one product with the kernel matrix more, and the refits of latent.c.
 */
#include "method/deflation/latent.h"
#include "method/deflation/sparse_direction.h"

typedef struct skblf_settings {
    int64_t dim;
    int center;
    int loss; /* kfe_i_loss_kind */
    kfe_i_sparse_settings sparse;
} skblf_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(skblf_settings, "no"), KFE_LOSS_ROW(skblf_settings),
                                   KFE_SPARSE_ROWS(skblf_settings)};

typedef struct skblf_state {
    kfe_i_latent latent;
    kfe_i_sparse_direction sparse;
} skblf_state;

static kfe_status choose(kfe_i_deflation *deflation, void *state, double *direction, double *product,
                         int *has_product)
{
    skblf_state *s = state;

    *has_product = 1;
    return kfe_i_sparse_direction_choose(deflation, &s->sparse, s->latent.gradient, direction, product);
}

static kfe_status after(kfe_i_deflation *deflation, void *state)
{
    return kfe_i_latent_refit(deflation, &((skblf_state *)state)->latent);
}

static const kfe_i_rule rule = {.choose = choose, .after = after, .unit_features = 1};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const skblf_settings *s = settings;
    kfe_i_deflation_setup setup = {
        .method = "skblf", .side = KFE_SIDE_COLUMNS, .center = s->center, .dim = s->dim};
    kfe_i_deflation deflation = {0};
    skblf_state state = {0};

    KFE_TRY(kfe_i_deflation_begin(ctx, source, &setup, &deflation));
    KFE_TRY(kfe_i_sparse_direction_begin(&deflation, source->target->keys, &s->sparse, &state.sparse));
    KFE_TRY(kfe_i_latent_begin(&deflation, source->target, (kfe_i_loss_kind)s->loss, &state.latent));
    KFE_TRY(kfe_i_deflation_run(&deflation, &rule, &state));
    KFE_TRY(kfe_i_deflation_solution(&deflation, out));
    KFE_TRY(kfe_i_latent_record(&state.latent, &deflation, out));
cleanup:
    kfe_i_latent_free(&state.latent);
    kfe_i_sparse_direction_free(&state.sparse);
    kfe_i_deflation_free(&deflation);
    return status;
}

const kfe_i_method kfe_i_method_skblf = {
    .name = "skblf",
    .summary = "sparse kernel boosted latent features: a share of the examples per direction",
    .reference = "Momma 2005; Dhanjal et al. 2009, section 2.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, skblf_settings),
    .fit = fit,
};
