/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method sldr, supervised and localized dimensionality reduction. Each view is projected to a few dimensions,
 * z^m = W_mᵀx^m, a gate on a projection of all views weighs them differently at every x, and SVMs use the gated
 * projections; all are learned together:
 *     κ_η(x, y) = Σ_m η_m(x) κ_m(z^m(x), z^m(y)) η_m(y),   η(x) = softmax(VᵀTᵀx^G + v₀).
 * W_m and T have orthonormal columns. The optimum of the SVMs is minimised by steps in the W_m, in T, and in V and v₀, with
 * one SVM solve per trial step (local_problem.h, local_search.c).
 *
 * Gönen & Alpaydın (2010), eqs. (2)-(5), algorithm 1. Time per trial step: n²·ΣR_m, n·ΣD_m·R_m and the SVMs. Memory:
 * O(n² + nΣD_m).
 */
#include "method/local/local_problem.h"

static const kfe_i_param rows[] = {
    KFE_INT_OR(
        kfe_i_local_settings, local_dim, "local-dim", "auto", 1, KFE_INT_MAX, "auto", "auto=0",
        "number of dimensions of each view's projection; auto: one fewer than classes, but at least 2"),
    KFE_INT(kfe_i_local_settings, gate_dim, "gate-dim", "2", 1, KFE_INT_MAX,
            "number of dimensions of the gate's projection"),
    KFE_CHOICE(kfe_i_local_settings, start, "init", "supervised", "supervised|random",
               "start of the projections: directions between the class means, or random"),
    KFE_LOCAL_ROWS(kfe_i_local_settings),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_local_fit(ctx, "sldr", source, settings, 1, out);
}

const kfe_i_method kfe_i_method_sldr = {
    .name = "sldr",
    .summary = "supervised and localized dimensionality reduction: projected views, SVMs, and a gate that "
               "weighs the views at every point",
    .reference = "Gönen & Alpaydın 2010, eqs. (2)-(5), algorithm 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR | KFE_HAS_SAMPLE_WEIGHTS,
    .kernel = "linear",
    .params = KFE_PARAM_TABLE(rows, kfe_i_local_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
