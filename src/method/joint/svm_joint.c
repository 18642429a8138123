/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svm-joint: a subspace and SVMs on it, learned together: features T = GW with Wᵀ(G + λI)W = I, the SVMs on the
 * subspace kernel TTᵀ, eqs. (9)–(12).
 *
 * Chen, Ji, Ceran, Li, Wu & Ye (2008), section 3.2. joint.h has the closed form and the alternation.
 * Cost: n³ operations and n² numbers for the kernel of the closed form, and c SVMs; n² more where G is stored. Where
 * memory does not allow that, one block solve per iteration (joint_kernel.c).
 */
#include "method/joint/joint.h"

typedef struct svm_joint_settings {
    kfe_i_joint_settings joint;
    double lambda;
} svm_joint_settings;

static const kfe_i_param rows[] = {
    KFE_JOINT_ROWS(
        svm_joint_settings, joint,
        "4 divided by the ridge with the smallest leave-one-out error in a regression on the classes"),
    KFE_REAL_OR(svm_joint_settings, lambda, "lambda", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto",
                "auto=-1",
                "regularisation lambda of the subspace kernel; auto: a thousandth of the mean diagonal of "
                "the centred kernel"),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const svm_joint_settings *s = settings;
    kfe_i_joint_kernel kernel = {.method = "svm-joint", .ridge = s->lambda, .uncorrelated = 0};

    return kfe_i_joint_fit_kernel(ctx, source, &s->joint, &kernel, out);
}

const kfe_i_method kfe_i_method_svm_joint = {
    .name = "svm-joint",
    .summary = "a subspace and SVMs on it, learned together",
    .reference = "Chen et al. 2008, section 3.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_PREDICTOR |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, svm_joint_settings),
    .fit = fit,
};
