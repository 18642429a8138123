/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse Kernel Feature Analysis: each direction is a multiple of one residual example, the one that
 * maximises the variance of the feature: ‖kᵢ‖²/κ(xᵢ, xᵢ) over residual columns kᵢ; no labels are needed.
 * The projection of a new point costs one kernel evaluation per feature. pursuit.h has the algorithm and its
 * cost.
 *
 * Smola, Mangasarian & Schölkopf 1999; Dhanjal et al. 2009, section 2.1.
 */
#include "method/pursuit/pursuit.h"

static const kfe_i_param rows[] = {KFE_PURSUIT_ROWS("10, or as many as possible")};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_pursuit_fit(ctx, "skfa", KFE_AIM_VARIANCE, source, settings, out);
}

const kfe_i_method kfe_i_method_skfa = {
    .name = "skfa",
    .summary =
        "Sparse Kernel Feature Analysis: one example per direction, the kernel column with the largest variance",
    .reference = "Smola, Mangasarian & Schölkopf 1999; Dhanjal et al. 2009, section 2.1",
    .flags = KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_pursuit_settings),
    .columns = kfe_i_pursuit_column_count,
    .uses = kfe_i_pursuit_uses,
    .fit = fit,
};
