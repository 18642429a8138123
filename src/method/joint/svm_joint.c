/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subspace and support vector machines on it, learned together: features T = GW with Wᵀ(G + λI)W = I, the
 * machines on the subspace kernel TTᵀ, in alternation, eqs. (9)–(12).
 *
 * Chen, Ji, Ceran, Li, Wu & Ye (2008), section 3.2. joint.h has the alternation, joint_plain.c the step.
 * Cost: one Cholesky factorisation (n³/3) and O(n²c) with c machines an iteration; memory n² to 2n².
 */
#include "method/joint/joint.h"

typedef struct svm_joint_settings {
    kfe_i_joint_settings joint;
    double lambda;
} svm_joint_settings;

static const kfe_i_param rows[] = {
    KFE_JOINT_ROWS(svm_joint_settings, joint),
    KFE_REAL_OR(svm_joint_settings, lambda, "lambda", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto",
                "auto=-1",
                "regularisation lambda of the subspace kernel; auto: a thousandth of the mean diagonal of "
                "the centred kernel"),
};

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    const svm_joint_settings *s = settings;
    return kfe_i_joint_plain(ctx, "svm-joint", problem, &s->joint, s->lambda, 0, out);
}

const kfe_i_method kfe_i_method_svm_joint = {
    .name = "svm-joint",
    .summary = "a subspace and support vector machines on it, learned together",
    .reference = "Chen et al. 2008, section 3.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_PREDICTOR,
    .params = KFE_PARAM_TABLE(rows, svm_joint_settings),
    .fit = fit,
};
