/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orthonormalized kernel partial least squares: uncorrelated features that explain as much of the targets as
 * possible,
 *
 *     K Y Yᵀ K β = λ K K β,     βᵀKKβ = 1,
 *
 * with K centred (by default) and Y the centred targets. If K has full rank it cancels, and every direction
 * fits the targets exactly. So the norm of w = Φβ is penalised,
 *
 *     K Y Yᵀ K β = λ (K K + μK) β,     βᵀ(KK + μK)β = 1,
 *
 * and the paper's problem is the limit μ → 0. This is a problem of ridge.h with L = Y, which gives at most
 * rank(Y) features. With classes they span the space of kfd; kfd weighs the classes by their sizes, and so has
 * other axes in it. λ, recorded as "criterion", is the share of the targets' variance that a feature explains,
 * up to the ridge.
 *
 * Worsley, Poline, Friston & Evans (1997); Arenas-García, Petersen & Hansen (2007); Dhanjal, Gunn &
 * Shawe-Taylor (2009), eq. (2).
 * Time: one block solve of the operator; memory O(nm) beside the operator, for m targets.
 */
#include "method/ridge/ridge.h"

typedef struct kopls_settings {
    int64_t dim;
    double ridge;
    int center;
} kopls_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kopls_settings, dim, "number of features; auto: as many as there are independent targets"),
    KFE_CHOSEN_RIDGE_ROW(
        kopls_settings, ridge, "ridge",
        "penalty mu on the norm of a direction (mu |w|^2); auto: by leave-one-out, in closed form (on a "
        "sample if there are more than 200 examples); thousandth: a thousandth of the mean diagonal of the "
        "kernel matrix"),
    KFE_FLAG(kopls_settings, center, "center", "yes", "centre the kernel in feature space"),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const kopls_settings *s = settings;
    const kfe_i_ridge_problem problem = {
        .method = "kopls",
        .centred = s->center,
        .label_kernel = "linear",
        .scaled = 1,
        .ridge = s->ridge,
        .dim = s->dim,
        .exhausted = "the targets vary in no more directions",
        .none = KFE_NO_COVARIANCE,
    };

    return kfe_i_ridge_fit(ctx, source, &problem, out);
}

const kfe_i_method kfe_i_method_kopls = {
    .name = "kopls",
    .summary = "orthonormalized kernel PLS: uncorrelated features that explain most of the targets",
    .reference = "Arenas-García, Petersen & Hansen 2007; Dhanjal, Gunn & Shawe-Taylor 2009, eq. (2)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kopls_settings),
    .uses = kfe_i_prefer_sums,
    .fit = fit,
};
