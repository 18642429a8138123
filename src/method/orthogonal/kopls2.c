/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel-based orthogonal PLS (K-OPLS): orthogonal.h on the eigenvectors of the centred kernel matrix. Rantalainen et al. (2007); another
 * method than kopls of Dhanjal et al. (2009), hence its name. Time: the eigenvectors, and O(n·rank) per component. */
#include "method/orthogonal/orthogonal.h"
#include "method/shared/stand_in.h"

static const kfe_i_param rows[] = {
    KFE_ORTHOGONAL_ROWS,
    KFE_FACTOR_RANK_ROW(kfe_i_orthogonal_settings, rank),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_orthogonal_settings *s = settings;
    kfe_i_factor factor = {0};

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums,
            &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .supervised = 1, .centred = 1}, out);
    KFE_TRY(kfe_i_factor_kernel(ctx, "kopls2", source, s->rank, &factor));
    KFE_TRY(kfe_i_orthogonal_fit("kopls2", &factor, source->target, s, out));
cleanup:
    kfe_i_factor_free(&factor);
    return status;
}

const kfe_i_method kfe_i_method_kopls2 = {
    .name = "kopls2",
    .summary = "K-OPLS: kernel features that predict, separated from the variation that does not",
    .reference = "Rantalainen et al. 2007",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_orthogonal_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
