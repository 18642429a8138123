/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usvm-joint: uncorrelated features and SVMs on them, learned together: features T = GQ with Qᵀ(GG + ξG)Q = I,
 * the SVMs on TTᵀ, eqs. (20)–(22).
 *
 * Chen, Ji, Ceran, Li, Wu & Ye (2008), section 4.3. joint.h has the closed form and the alternation.
 * Cost: n³ operations and n² numbers for the kernel of the closed form, and c SVMs; n² more where G is stored. Where
 * memory does not allow that, one block solve per iteration (joint_kernel.c).
 */
#include "method/joint/joint.h"
#include "method/ridge/ridge.h"

typedef struct usvm_joint_settings {
    kfe_i_joint_settings joint;
    double xi;
} usvm_joint_settings;

static const kfe_i_param rows[] = {
    KFE_JOINT_ROWS(usvm_joint_settings, joint, "10"),
    KFE_CHOSEN_RIDGE_ROW(usvm_joint_settings, xi, "xi",
                         "regularisation xi of the uncorrelated features; auto: the ridge with the "
                         "smallest leave-one-out error in a regression on the classes (on a sample if "
                         "there are more than 200 examples); thousandth: a thousandth of the mean diagonal "
                         "of the centred kernel"),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const usvm_joint_settings *s = settings;
    kfe_i_joint_kernel kernel = {.method = "usvm-joint", .ridge = s->xi, .uncorrelated = 1};

    return kfe_i_joint_fit_kernel(ctx, source, &s->joint, &kernel, out);
}

const kfe_i_method kfe_i_method_usvm_joint = {
    .name = "usvm-joint",
    .summary = "uncorrelated features and SVMs on them, learned together",
    .reference = "Chen et al. 2008, section 4.3",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_PREDICTOR |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, usvm_joint_settings),
    .fit = fit,
};
