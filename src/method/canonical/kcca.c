/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel canonical correlation analysis: the features of each view that correlate most with those of the other views (canonical.h). For two
 * views the correlations are singular values; for more, the generalisation of Bach & Jordan, the largest sum over all pairs.
 *
 * Lai & Fyfe 2000; Bach & Jordan 2002, section 3; Hardoon, Szedmak & Shawe-Taylor 2004. Time: eigenvectors of the
 * kernel matrix of each view, and O(n·rank² + rank³); with {landmarks} O(nm²) and memory O(nm).
 */
#include "method/canonical/canonical.h"

static const kfe_i_param rows[] = {KFE_CANONICAL_ROWS};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_canonical_fit(ctx, "kcca", KFE_CANONICAL_PAIRS, source, settings, out);
}

const kfe_i_method kfe_i_method_kcca = {
    .name = "kcca",
    .summary = "kernel canonical correlation: features of two or more views that correlate with each other",
    .reference = "Lai & Fyfe 2000; Bach & Jordan 2002, section 3; Hardoon, Szedmak & Shawe-Taylor 2004",
    .flags =
        KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_canonical_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
