/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel generalized canonical correlation analysis, MAXVAR: shared features z that the kernel ridge regressions of all views explain best, and
 * what each view says about them (canonical.h).
 *
 * Kettenring 1971 (MAXVAR); Tenenhaus, Philippe & Frouin 2015. Time: eigenvectors of the
 * kernel matrix of each view, and O(n·rank² + rank³); with {landmarks} O(nm²) and memory O(nm).
 */
#include "method/canonical/canonical.h"

static const kfe_i_param rows[] = {KFE_CANONICAL_ROWS};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_canonical_fit(ctx, "kgcca", KFE_CANONICAL_SHARED, source, settings, out);
}

const kfe_i_method kfe_i_method_kgcca = {
    .name = "kgcca",
    .summary =
        "kernel generalized canonical correlation: features that every view explains as well as possible",
    .reference = "Kettenring 1971 (MAXVAR); Tenenhaus, Philippe & Frouin 2015",
    .flags =
        KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_canonical_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
