/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uncorrelated features of several kernels, the weights of the kernels, and support vector machines, learned
 * together, eqs. (39) and (40): usvm-joint on Ĝ = ΣθᵢGᵢ, whose step for given machines A also finds the θ
 * that minimise tr((I + Ĝ/ξ)⁻¹AAᵀ), as hsic-mkl does for labels. With M = I + Ĝ/ξ and U = M⁻¹A: B = U/ξ and
 * ĜB = A − U.
 *
 * Chen, Ji, Ceran, Li, Wu & Ye (2008), section 5.5. joint.h has the alternation, mkl.h the weights.
 * Cost: some Cholesky factorisations of n × n and c machines an iteration; memory n² beside the kernels.
 */
#include <string.h>

#include "core/memory.h"
#include "gram/linalg.h"
#include "method/joint/joint.h"
#include "method/mkl/ridge_weights.h"

typedef struct svm_mkl_settings {
    kfe_i_joint_settings joint;
    kfe_i_ridge_weights_settings mkl;
} svm_mkl_settings;

static const kfe_i_param rows[] = {
    KFE_JOINT_ROWS(svm_mkl_settings, joint),
    KFE_RIDGE_WEIGHTS_ROWS(svm_mkl_settings, mkl),
};

typedef struct weighing {
    kfe_i_ridge_weights mkl;
    int solver;
    /* of the features of the moment, and of the best */
    double *now, *best; /* p */
    double now_gap, best_gap;
} weighing;

static kfe_status find(void *user, const double *a, int64_t m, double *b, double *image, double *h)
{
    kfe_status status = KFE_OK;
    weighing *s = user;
    kfe_i_ridge_weights *mkl = &s->mkl;
    int64_t block = mkl->n * m;

    mkl->k = m;
    memcpy(mkl->labels, a, (size_t)block * sizeof *a);
    KFE_TRY(kfe_i_ridge_weights_solve(mkl, s->solver));
    memcpy(s->now, mkl->d, (size_t)mkl->p * sizeof *s->now);
    s->now_gap = mkl->gap / mkl->objective;
    kfe_i_ridge_weights_directions(mkl, b, h);
    for (int64_t i = 0; i < block; i++)
        image[i] = mkl->labels[i] - mkl->u[i];
cleanup:
    return status;
}

static kfe_status apply(void *user, const double *a, int64_t m, double *image)
{
    kfe_i_ridge_weights *mkl = &((weighing *)user)->mkl;
    int64_t block = mkl->n * m;

    memcpy(mkl->scratch, a, (size_t)block * sizeof *a);
    kfe_i_solve_cholesky(mkl->n, mkl->factor, m, mkl->scratch);
    for (int64_t i = 0; i < block; i++)
        image[i] = a[i] - mkl->scratch[i];
    return KFE_OK;
}

static void keep(void *user)
{
    weighing *s = user;

    memcpy(s->best, s->now, (size_t)s->mkl.p * sizeof *s->best);
    s->best_gap = s->now_gap;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const svm_mkl_settings *s = settings;
    kfe_i_bank bank = {0};
    weighing w = {.solver = s->mkl.solver};
    kfe_i_subspace_step step = {.find = find, .apply = apply, .keep = keep, .user = &w};

    KFE_TRY(kfe_i_bank_open(ctx, "svm-mkl", problem, &bank));
    KFE_TRY(kfe_i_ridge_weights_open(ctx, &bank, problem->target->class_count, &w.mkl));
    kfe_i_ridge_weights_configure(&w.mkl, "svm-mkl", &s->mkl);
    KFE_ALLOC(ctx, w.now, bank.count);
    KFE_ALLOC(ctx, w.best, bank.count);
    step.rounding = bank.rounding / w.mkl.xi;
    KFE_TRY(kfe_i_joint_fit(ctx, "svm-mkl", problem->target, &s->joint, &step, out));
    KFE_TRY(kfe_i_bank_finish(&bank, w.best, out));
    KFE_TRY(kfe_i_solution_record(out, "xi", &w.mkl.xi, 1));
    KFE_TRY(kfe_i_solution_record(out, "gap", &w.best_gap, 1));
cleanup:
    kfe_i_free(ctx, w.now);
    kfe_i_free(ctx, w.best);
    kfe_i_ridge_weights_free(&w.mkl);
    kfe_i_bank_free(&bank);
    return status;
}

const kfe_i_method kfe_i_method_svm_mkl = {
    .name = "svm-mkl",
    .summary = "uncorrelated features, weights of the kernels, and support vector machines, learned together",
    .reference = "Chen et al. 2008, section 5.5",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR,
    .params = KFE_PARAM_TABLE(rows, svm_mkl_settings),
    .fit = fit,
};
