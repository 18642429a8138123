/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hsic: the subspace of largest dependence on the target, by the Hilbert-Schmidt independence criterion. The
 * regularised subspace kernel
 *
 *     GW(Wᵀ(G + λI)W)⁻¹WᵀG
 *
 * has the largest trace with the label kernel H(y) = LLᵀ when W holds the leading eigenvectors of
 * (G + λI)⁻¹GH(y)G, scaled to Wᵀ(G + λI)W = I. ridge.h says how they are found: one block solve for
 * (G + λI)⁻¹GL, and an eigenproblem with as many unknowns as L has columns.
 *
 * Chen, Ji, Ceran, Li, Wu & Ye, "Learning subspace kernels for classification" (2008), eqs. (6)-(8), theorem
 * 3.1. Time: one block solve and one product of the operator; memory O(nm) beside the operator.
 */
#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

typedef struct hsic_settings {
    int64_t dim;
    double lambda;
    char label_kernel[KFE_PARAM_TEXT_SIZE];
} hsic_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(hsic_settings, dim, "number of features; auto: as many as the target depends on"),
    KFE_CHOSEN_RIDGE_ROW(hsic_settings, lambda, "lambda",
                         "regularisation lambda (lambda |W|^2); auto: by leave-one-out, in closed form (on "
                         "a sample if there are more than 200 examples); thousandth: a thousandth of the "
                         "mean diagonal of the centred kernel"),
    KFE_LABEL_KERNEL_ROW(hsic_settings, label_kernel),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const hsic_settings *s = settings;
    const kfe_i_ridge_problem problem = {
        .method = "hsic",
        .centred = 1,
        .label_kernel = s->label_kernel,
        .on_images = 1,
        .ridge = s->lambda,
        .dim = s->dim,
        .exhausted = "the target depends on the data in no more directions",
        .none = KFE_NO_COVARIANCE,
    };

    return kfe_i_ridge_fit(ctx, source, &problem, out);
}

const kfe_i_method kfe_i_method_hsic = {
    .name = "hsic",
    .summary = "subspace with the largest dependence on the target (HSIC), in closed form",
    .reference = "Chen, Ji, Ceran, Li, Wu & Ye 2008, theorem 3.1",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, hsic_settings),
    .uses = kfe_i_prefer_sums,
    .fit = fit,
};
