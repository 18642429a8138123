/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel local Fisher discriminant analysis: local_fisher.h on the eigenvectors of the centred kernel matrix. Affinities use distances
 * in feature space, and the ridge is on ‖w‖². Sugiyama (2007), section 3. Time: the eigenvectors, and O(Σ n_c² rank + n rank²). */
#include "method/fisher/local_fisher.h"

static const kfe_i_param rows[] = {
    KFE_LOCAL_FISHER_ROWS,
    KFE_FACTOR_RANK_ROW(kfe_i_local_fisher_settings, rank),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_local_fisher_settings *s = settings;
    kfe_i_factor factor = {0};

    KFE_TRY(kfe_i_factor_kernel(ctx, "klfda", source, s->rank, &factor));
    KFE_TRY(kfe_i_local_fisher_fit("klfda", &factor, source->target, s, out));
cleanup:
    kfe_i_factor_free(&factor);
    return status;
}

const kfe_i_method kfe_i_method_klfda = {
    .name = "klfda",
    .summary = "kernel local Fisher discriminant: classes may consist of several clusters",
    .reference = "Sugiyama 2007, section 3",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "LD",
    .params = KFE_PARAM_TABLE(rows, kfe_i_local_fisher_settings),
    .fit = fit,
};
