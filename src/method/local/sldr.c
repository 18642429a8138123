/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervised and localized dimensionality reduction: each of several views is projected to a few dimensions,
 * z^m = W_mᵀx^m, a gate on a projection of all of them tells at every x how far each is to be trusted, and
 * support vector machines learn from the gated projections, all together:
 *   κ_η(x, y) = Σ_m η_m(x) κ_m(z^m(x), z^m(y)) η_m(y),   η(x) = softmax(VᵀTᵀx^G + v₀).
 * W_m and T have orthonormal columns. The machines' optimum is minimised by alternating between them and a
 * step down in the W_m, in T, and in V (local_problem.h, local_search.c).
 *
 * Gönen & Alpaydın (2010), eqs. (2)-(5), algorithm 1. Per trial step n²·ΣR_m, n·ΣD_m·R_m and the machines;
 * memory O(n² + nΣD_m).
 */
#include "method/local/local_problem.h"

static const kfe_i_param rows[] = {
    KFE_INT(kfe_i_local_settings, local_dim, "local-dim", "2", 1, KFE_INT_MAX,
            "dimensions that each view is projected to"),
    KFE_INT(kfe_i_local_settings, gate_dim, "gate-dim", "2", 1, KFE_INT_MAX,
            "dimensions that what the gate sees is projected to"),
    KFE_CHOICE(kfe_i_local_settings, start, "init", "supervised", "supervised|random",
               "where projections start: directions between the classes' means first, or at random"),
    KFE_LOCAL_ROWS(kfe_i_local_settings),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_local_fit(ctx, "sldr", problem, settings, 1, out);
}

const kfe_i_method kfe_i_method_sldr = {
    .name = "sldr",
    .summary = "supervised and localized dimensionality reduction: projected views, a gate, and support "
               "vector machines",
    .reference = "Gönen & Alpaydın 2010, eqs. (2)-(5), algorithm 1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR,
    .kernel = "linear",
    .params = KFE_PARAM_TABLE(rows, kfe_i_local_settings),
    .fit = fit,
};
