/* SPDX-License-Identifier: Apache-2.0 */
/* Orthogonal PLS on the columns: orthogonal.h on the centred data. Trygg & Wold (2002); with several targets as Trygg (2002), "O2-PLS for
 * qualitative and quantitative analysis". Time O(nd) per component, memory O(nd). */
#include "method/orthogonal/orthogonal.h"
#include "method/shared/observed.h"
#include "method/shared/stand_in.h"

static const kfe_i_param rows[] = {KFE_ORTHOGONAL_ROWS};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_factor factor = {0};

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums,
            &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .supervised = 1, .centred = 1}, out);
    if (kfe_i_has_missing(source))
        return kfe_i_opls_missing(ctx, source, settings, out);
    KFE_TRY(kfe_i_factor_columns(ctx, source, &factor));
    KFE_TRY(kfe_i_orthogonal_fit("opls", &factor, source->target, settings, out));
cleanup:
    kfe_i_factor_free(&factor);
    return status;
}

const kfe_i_method kfe_i_method_opls = {
    .name = "opls",
    .summary = "orthogonal PLS: features that predict, separated from the variation that does not",
    .reference = "Trygg & Wold 2002",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SAMPLE_WEIGHTS | KFE_HAS_MISSING,
    .instead = "kopls2",
    .params = KFE_PARAM_TABLE(rows, kfe_i_orthogonal_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
