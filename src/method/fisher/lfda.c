/* SPDX-License-Identifier: Apache-2.0 */
/* Local Fisher discriminant analysis on the columns: local_fisher.h on the centred data. Sugiyama (2007). Time O(Σ n_c² d + nd² + d³),
 * memory O(nd + d²). */
#include "method/fisher/local_fisher.h"

static const kfe_i_param rows[] = {KFE_LOCAL_FISHER_ROWS};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_factor factor = {0};

    KFE_TRY(kfe_i_factor_columns(ctx, source, &factor));
    KFE_TRY(kfe_i_local_fisher_fit("lfda", &factor, source->target, settings, out));
cleanup:
    kfe_i_factor_free(&factor);
    return status;
}

const kfe_i_method kfe_i_method_lfda = {
    .name = "lfda",
    .summary = "local Fisher discriminant: classes may consist of several clusters",
    .reference = "Sugiyama 2007",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "klfda",
    .feature = "LD",
    .params = KFE_PARAM_TABLE(rows, kfe_i_local_fisher_settings),
    .fit = fit,
};
