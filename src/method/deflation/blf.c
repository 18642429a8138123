/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boosted latent features, primal: u_j ∝ Xᵀw_j, where w_j is the negative gradient of the loss, orthogonal to the features so far;
 * features have length one. With the loss ls they are those of pls, scaled.
 *
 * Momma & Bennett (2005); Dhanjal, Gunn & Shawe-Taylor (2009), section 3.1.3. Time: two passes over the data per feature and the
 * refits of latent.c.
 */
#include "method/deflation/latent.h"

typedef struct blf_settings {
    int64_t dim;
    int center;
    int loss; /* kfe_i_loss_kind */
} blf_settings;

static const kfe_i_param rows[] = {
    KFE_CHOSEN_DIM_ROW(blf_settings, dim, "one more than classes; real targets: 10"),
    KFE_CENTRE_ROW(blf_settings, "yes"),
    KFE_LOSS_ROW(blf_settings),
};

static kfe_status fit_gram(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    const blf_settings *s = settings;
    int64_t classes = source->target->task == KFE_TASK_CLASSES ? source->target->class_count : 0;
    /* all features have the same length, and those after the first few are mostly noise (docs/defaults.md) */
    kfe_i_deflation_setup setup = {.method = "blf",
                                   .side = KFE_SIDE_PRIMAL,
                                   .center = s->center,
                                   .dim = s->dim,
                                   .auto_dim = classes > 0 ? classes + 1 : 0};

    return kfe_i_latent_fit(ctx, source, &setup, (kfe_i_loss_kind)s->loss, out);
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                           kfe_i_solution *out)
{
    blf_settings s = *(const blf_settings *)settings;

    if (s.dim == 0 && source->sums->classes > 0)
        s.dim = source->sums->classes + 1;
    const kfe_i_stand_in_job job = {.fit = fit_gram, .settings = &s, .supervised = 1, .centred = s.center};
    return kfe_i_latent_fit_sums(ctx, source, "blf", &job, s.loss, out);
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return source->sums ? fit_sums(ctx, source, settings, out) : fit_gram(ctx, source, settings, out);
}

const kfe_i_method kfe_i_method_blf = {
    .name = "blf",
    .summary = "boosted latent features: partial least squares under any of four losses",
    .reference = "Momma & Bennett 2005; Dhanjal et al. 2009, section 3.1.3",
    .flags =
        KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kblf",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, blf_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
