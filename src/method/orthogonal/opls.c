/* SPDX-License-Identifier: Apache-2.0 */
/* Orthogonal PLS on the columns: orthogonal.h on the centred data. Trygg & Wold (2002); with several targets as Trygg (2002), "O2-PLS for
 * qualitative and quantitative analysis". Time O(nd) per component, memory O(nd). */
#include "method/orthogonal/orthogonal.h"
#include "method/shared/stand_in.h"

static const kfe_i_param rows[] = {KFE_ORTHOGONAL_ROWS};

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_factor factor = {0};

    KFE_TRY(kfe_i_factor_columns(ctx, "opls", problem, &factor));
    KFE_TRY(kfe_i_orthogonal_fit("opls", &factor, problem->target, settings, out));
cleanup:
    kfe_i_factor_free(&factor);
    return status;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    const kfe_i_stand_in_job job = {.fit = fit, .settings = settings, .supervised = 1, .centred = 1};

    return kfe_i_stand_in_fit(ctx, problem->sums, &job, out);
}

const kfe_i_method kfe_i_method_opls = {
    .name = "opls",
    .summary = "orthogonal PLS: features that predict, and apart from them the variation that does not",
    .reference = "Trygg & Wold 2002",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kopls2",
    .params = KFE_PARAM_TABLE(rows, kfe_i_orthogonal_settings),
    .fit = fit,
    .fit_sums = fit_sums,
};
