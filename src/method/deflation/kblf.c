/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel boosted latent features: β_j ∝ (I − QQᵀ)w_j, where w_j is the negative gradient of the loss; features have length one.
 * With the loss ls they are those of kpls, scaled.
 *
 * Momma & Bennett (2005); Dhanjal, Gunn & Shawe-Taylor (2009), section 3.2.3. Time: the kernel matrix, one product of it with a
 * block of vectors per feature, and the refits of latent.c.
 */
#include "method/deflation/latent.h"

typedef struct kblf_settings {
    int64_t dim;
    int center;
    int loss; /* kfe_i_loss_kind */
} kblf_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(kblf_settings, "yes"), KFE_LOSS_ROW(kblf_settings)};

static kfe_status fit_gram(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    const kblf_settings *s = settings;
    kfe_i_deflation_setup setup = {
        .method = "kblf", .side = KFE_SIDE_DUAL, .center = s->center, .dim = s->dim};

    return kfe_i_latent_fit(ctx, source, &setup, (kfe_i_loss_kind)s->loss, out);
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    const kblf_settings *s = settings;
    const kfe_i_stand_in_job job = {
        .fit = fit_gram, .settings = settings, .supervised = 1, .centred = s->center};

    return kfe_i_latent_fit_sums(ctx, source, "kblf", &job, s->loss, out);
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return source->sums ? fit_sums(ctx, source, settings, out) : fit_gram(ctx, source, settings, out);
}

const kfe_i_method kfe_i_method_kblf = {
    .name = "kblf",
    .summary = "kernel boosted latent features: kernel partial least squares under any of four losses",
    .reference = "Momma & Bennett 2005; Dhanjal et al. 2009, section 3.2.3",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, kblf_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
