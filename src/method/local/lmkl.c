/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method lmkl, localized multiple kernel learning. SVMs are learned on several views or kernels together with a gate
 * that weighs the views differently at every x:
 *     κ_η(x, y) = Σ_m η_m(x) κ_m(x^m, y^m) η_m(y),   η(x) = softmax(Vᵀx^G + v₀),
 * where x^G are the columns of all views or of one. The optimum of the SVMs is minimised over V and v₀, with one SVM solve
 * per trial step (local_problem.h, local_search.c). The kernels never change and are evaluated once, where memory allows.
 *
 * Gönen & Alpaydın (2008); Gönen & Alpaydın (2010), eq. (1). Time: n²·P and the SVMs per trial step. Memory: (P + 1)·n²,
 * or n².
 */
#include "method/local/local_problem.h"

static const kfe_i_param rows[] = {KFE_LOCAL_ROWS(kfe_i_local_settings)};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_local_fit(ctx, "lmkl", source, settings, 0, out);
}

const kfe_i_method kfe_i_method_lmkl = {
    .name = "lmkl",
    .summary = "localized multiple kernel learning: SVMs, and a gate that weighs the views at every point",
    .reference = "Gönen & Alpaydın 2008; Gönen & Alpaydın 2010, eq. (1)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR | KFE_HAS_SAMPLE_WEIGHTS,
    .kernel = "linear",
    .params = KFE_PARAM_TABLE(rows, kfe_i_local_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
