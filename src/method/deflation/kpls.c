/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel partial least squares: β_j is the first eigenvector of Y_jY_jᵀK, scaled to βᵀKβ = 1, where Y_j is the residual target, and
 * τ_j = (I − QQᵀ)Kβ_j. With a linear kernel it is pls.
 *
 * Rosipal & Trejo (2001); Dhanjal, Gunn & Shawe-Taylor (2009), section 3.2.2. Time: the kernel matrix and, per feature, one product
 * of it with as many vectors as there are targets.
 */
#include "method/deflation/deflation.h"
#include "method/shared/stand_in.h"

typedef struct kpls_settings {
    int64_t dim;
    int center;
} kpls_settings;

static const kfe_i_param rows[] = {KFE_DEFLATION_ROWS(kpls_settings, "yes")};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const kpls_settings *s = settings;
    kfe_i_deflation_setup setup = {
        .method = "kpls", .side = KFE_SIDE_DUAL, .center = s->center, .dim = s->dim};

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums,
            &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .supervised = 1, .centred = s->center},
            out);
    return kfe_i_deflation_fit(ctx, source, &setup, &kfe_i_covariance_rule, NULL, out);
}

const kfe_i_method kfe_i_method_kpls = {
    .name = "kpls",
    .summary = "kernel partial least squares",
    .reference = "Rosipal & Trejo 2001; Dhanjal et al. 2009, section 3.2.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, kpls_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
