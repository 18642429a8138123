/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse Maximal Covariance: each direction is a multiple of one residual example, the one that
 * maximises the covariance of the feature with the target: ‖Yᵀkᵢ‖²/κ(xᵢ, xᵢ) over residual columns kᵢ.
 * The projection of a new point costs one kernel evaluation per feature. pursuit.h has the algorithm and its
 * cost.
 *
 * Dhanjal, Gunn & Shawe-Taylor 2009, eqs. (6), (7), (8).
 */
#include "method/pursuit/pursuit.h"

static const kfe_i_param rows[] = {KFE_PURSUIT_ROWS("10, or two for each class if that is more"),
                                   KFE_SPARSITY_ROW, KFE_BOUND_ROWS};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    return kfe_i_pursuit_fit(ctx, "smc", KFE_AIM_COVARIANCE, source, settings, out);
}

const kfe_i_method kfe_i_method_smc = {
    .name = "smc",
    .summary = "Sparse Maximal Covariance: one example per direction, the kernel column most covariant with "
               "the target",
    .reference = "Dhanjal, Gunn & Shawe-Taylor 2009, eqs. (6), (7), (8)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_pursuit_settings),
    .columns = kfe_i_pursuit_column_count,
    .uses = kfe_i_pursuit_uses,
    .fit = fit,
};
