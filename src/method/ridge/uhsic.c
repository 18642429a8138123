/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uhsic: uncorrelated features of largest dependence on the target. The kernel GQQᵀG has the largest trace with
 * the label kernel H(y) = LLᵀ, subject to
 *
 *     Qᵀ(GG + ξG)Q = I,
 *
 * when Q holds the leading eigenvectors of (GG + ξG)⁺GH(y)G. For ξ → 0 the features GQ are orthonormal. ridge.h
 * says how Q is found: one block solve for (G + ξI)⁻¹L, and an eigenproblem with as many unknowns as L has
 * columns. With the label kernel h2 this is kfd with its ridge on the norm.
 *
 * Chen, Ji, Ceran, Li, Wu & Ye, "Learning subspace kernels for classification" (2008), eqs. (15)-(19),
 * theorem 4.1. Time: one block solve and one product of the operator; memory O(nm) beside the operator.
 */
#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

typedef struct uhsic_settings {
    int64_t dim;
    double xi;
    char label_kernel[KFE_PARAM_TEXT_SIZE];
} uhsic_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(uhsic_settings, dim, "number of features; auto: as many as the target depends on"),
    KFE_CHOSEN_RIDGE_ROW(
        uhsic_settings, xi, "xi",
        "regularisation xi (xi |w|^2); auto: by leave-one-out, in closed form (on a sample if there are "
        "more than 200 examples); thousandth: a thousandth of the mean diagonal of the centred kernel"),
    KFE_LABEL_KERNEL_ROW(uhsic_settings, label_kernel),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const uhsic_settings *s = settings;
    const kfe_i_ridge_problem problem = {
        .method = "uhsic",
        .centred = 1,
        .label_kernel = s->label_kernel,
        .ridge = s->xi,
        .dim = s->dim,
        .exhausted = "the target depends on the data in no more directions",
        .none = KFE_NO_COVARIANCE,
    };

    return kfe_i_ridge_fit(ctx, source, &problem, out);
}

const kfe_i_method kfe_i_method_uhsic = {
    .name = "uhsic",
    .summary = "uncorrelated features with the largest dependence on the target (uHSIC), in closed form",
    .reference = "Chen, Ji, Ceran, Li, Wu & Ye 2008, theorem 4.1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, uhsic_settings),
    .uses = kfe_i_prefer_sums,
    .fit = fit,
};
