/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No extraction: the features are the columns themselves, after scaling. A classifier or regressor then works on the data, which
 * may be sparse, or, if a kernel is given, on the kernel. It is the baseline for all other methods and costs nothing.
 */
#include "method/method.h"

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    (void)settings;
    out->ctx = ctx;
    out->kind = KFE_SOLUTION_IDENTITY;
    out->rows = out->dim = source->sums ? source->sums->cols : source->views[0].cols;
    return KFE_OK;
}

const kfe_i_method kfe_i_method_none = {
    .name = "none",
    .summary = "no extraction: a classifier or regressor works on the data itself, or directly on a kernel",
    .reference = "the baseline of all papers",
    .flags = KFE_HAS_SPARSE | KFE_HAS_REGRESSION | KFE_HAS_SAMPLE_WEIGHTS,
    .params = {NULL, 0, 0},
    .uses = kfe_i_use_sums,
    .fit = fit,
};
