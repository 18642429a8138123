/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svm-mkl: uncorrelated features of several kernels, the weights of the kernels, and SVMs, learned together,
 * eqs. (39) and (40): usvm-joint on Ĝ = Σ dᵢGᵢ.
 *
 * By the closed form of joint.h the features drop out: for given weights the optimum is that of SVMs on
 *   K(d) = Ĝ(Ĝ + ξI)⁻¹ = I − M⁻¹,   M = I + Ĝ/ξ.
 * −aᵀK(d)a is convex in d, and so is the optimum J(d), its maximum over α. With U = M⁻¹A and Vᵢ = GᵢU/ξ
 *   ∂J/∂dᵢ = −½ tr(UᵀVᵢ),   (∂K/∂dᵢ)A = M⁻¹Vᵢ,   ∂²(−½aᵀKa)/∂dᵢ∂dⱼ = tr(VᵢᵀM⁻¹Vⱼ),
 * and simplex.h minimises J with a certificate (step exact). Step plain is the paper's alternation: for given
 * SVMs it finds the weights that minimise tr(M⁻¹AAᵀ), as hsic-mkl does for labels.
 *
 * Chen, Ji, Ceran, Li, Wu & Ye (2008), section 5.5. Cost of a value: a Cholesky factorisation, 2n³ for K, and c
 * SVMs started from the last α; some ten values. Memory 3n² beside the kernels.
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"
#include "method/joint/joint.h"
#include "method/joint/svm_choice.h"
#include "method/mkl/ridge_weights.h"
#include "method/mkl/svm_weights.h"

/* The share of the tolerance that the inexactness of the SVMs may use up. */
#define SVM_SHARE 0.2

typedef struct svm_mkl_settings {
    kfe_i_joint_settings joint;
    kfe_i_ridge_weights_settings weights;
} svm_mkl_settings;

static const kfe_i_param rows[] = {
    KFE_JOINT_ROWS(svm_mkl_settings, joint, "10"),
    KFE_RIDGE_WEIGHTS_ROWS(svm_mkl_settings, weights, "solver-iter",
                           "the ridge with the smallest leave-one-out error in a regression on the "
                           "classes, with equal weights (on a sample if there are more than 200 examples)"),
};

typedef struct svm_mkl {
    kfe_i_ridge_weights ridge; /* M and its factor; in the alternation, the weights for given SVMs */
    int weights_are_given;     /* features are for the weights ridge.result.d of the closed form */
    double *now, *best;        /* p: weights of the current features, and of the best */
    kfe_i_svm_weights svms;    /* of the closed form */
    double tolerance;
} svm_mkl;

/* ---- the closed form ---- */

/* K(d) = M⁻¹Ĝ/ξ */
static kfe_status fill_kernel(svm_mkl *s, const double *d)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *ridge = &s->ridge;
    double *k = s->svms.kernel.values;
    int64_t n = ridge->n;

    KFE_TRY(kfe_i_ridge_weights_factorise(ridge, d));
    KFE_TRY(kfe_i_bank_combine(ridge->bank, ridge->factor.scaled, ridge->factor.panel, k));
    kfe_i_mirror(n, k);
    kfe_i_solve_cholesky(n, ridge->factor.lower, n, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            k[i * n + j] = k[j * n + i] = (k[i * n + j] + k[j * n + i]) / 2;
cleanup:
    return status;
}

static kfe_status value(void *user, const double *d, double *objective, double *excess)
{
    kfe_status status = KFE_OK;
    svm_mkl *s = user;

    KFE_TRY(fill_kernel(s, d));
    KFE_TRY(kfe_i_svm_weights_solve(&s->svms, SVM_SHARE * s->tolerance, objective, excess));
cleanup:
    return status;
}

/* U, Vᵢ and the images M⁻¹Vᵢ, at the weights whose factor there is. */
static kfe_status slopes(void *user, double *q)
{
    kfe_status status = KFE_OK;
    svm_mkl *s = user;
    kfe_i_ridge_weights *ridge = &s->ridge;
    int64_t block = ridge->n * s->svms.k;
    double unused = 0;

    ridge->k = s->svms.k;
    memcpy(ridge->labels, s->svms.svms->weights, (size_t)block * sizeof *ridge->labels);
    KFE_TRY(kfe_i_ridge_weights_value(ridge, ridge->factor.weights, &unused));
    KFE_TRY(kfe_i_ridge_weights_slopes(ridge, q));
    for (int64_t m = 0; m < ridge->p; m++) {
        double *image = s->svms.images + m * block;
        memcpy(image, ridge->at.images + m * block, (size_t)block * sizeof *image);
        kfe_i_solve_cholesky(ridge->n, ridge->factor.lower, s->svms.k, image);
    }
    kfe_i_svm_weights_slopes(&s->svms, q);
cleanup:
    return status;
}

static kfe_status curvature(void *user, double *hessian)
{
    kfe_status status = KFE_OK;
    svm_mkl *s = user;
    int64_t p = s->ridge.p;
    int64_t block = s->ridge.n * s->svms.k;

    KFE_TRY(kfe_i_svm_weights_curvature(&s->svms, hessian));
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++)
            hessian[i * p + j] +=
                cblas_ddot((blasint)block, s->ridge.at.images + i * block, 1, s->svms.images + j * block, 1);
cleanup:
    return status;
}

static int refine(void *user)
{
    return kfe_i_onevsrest_refine(((svm_mkl *)user)->svms.svms);
}

static kfe_status minimise(svm_mkl *s, kfe_i_joint_certificate *out)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *ridge = &s->ridge;
    kfe_i_simplex_result result = {.d = ridge->result.d};
    kfe_i_simplex_problem problem = {.ctx = ridge->ctx,
                                     .p = ridge->p,
                                     .usable = ridge->bank->traces,
                                     .tolerance = s->tolerance,
                                     .max_iterations = ridge->problem.max_iterations,
                                     .value = value,
                                     .slopes = slopes,
                                     .curvature = curvature,
                                     .refine = refine,
                                     .user = s};

    kfe_i_simplex_start(&problem, result.d);
    KFE_TRY(kfe_i_simplex_newton(&problem, ridge->work, &result));
    KFE_TRY(kfe_i_simplex_finish(&problem, ridge->work, &result));
    *out = (kfe_i_joint_certificate){.bound = result.bound, .iterations = result.iterations};
    s->weights_are_given = 1;
cleanup:
    return status;
}

static kfe_status solve(void *user, kfe_i_onevsrest *svms, double tolerance, kfe_i_joint_certificate *out)
{
    kfe_status status = KFE_OK;
    svm_mkl *s = user;

    s->tolerance = tolerance;
    KFE_TRY(kfe_i_svm_weights_open(s->ridge.ctx, svms, s->ridge.p, &s->svms));
    status = minimise(s, out);
    if (status == KFE_ENUMERIC && s->ridge.factor.indefinite) {
        KFE_TRY(kfe_i_ridge_weights_raise_xi(&s->ridge));
        KFE_TRY(minimise(s, out));
    }
cleanup:
    kfe_i_svm_weights_free(&s->svms);
    return status;
}

/* ---- features for given SVMs ---- */

static kfe_status find(void *user, const double *a, int64_t m, double *b, double *image, double *h)
{
    kfe_status status = KFE_OK;
    svm_mkl *s = user;
    kfe_i_ridge_weights *ridge = &s->ridge;
    int64_t block = ridge->n * m;
    double unused = 0;

    ridge->k = m;
    memcpy(ridge->labels, a, (size_t)block * sizeof *a);
    if (s->weights_are_given)
        KFE_TRY(kfe_i_ridge_weights_value(ridge, ridge->result.d, &unused));
    else
        KFE_TRY(kfe_i_ridge_weights_solve(ridge));
    memcpy(s->now, ridge->result.d, (size_t)ridge->p * sizeof *s->now);
    kfe_i_ridge_weights_directions(ridge, b, h);
    for (int64_t i = 0; i < block; i++)
        image[i] = ridge->labels[i] - ridge->at.u[i];
cleanup:
    return status;
}

static void keep(void *user)
{
    svm_mkl *s = user;

    memcpy(s->best, s->now, (size_t)s->ridge.p * sizeof *s->best);
}

/* ---- automatic settings ---- */

/* From the lower triangle of a matrix that carries the roots of weights to all of the matrix without them. */
static void complete_plain(int64_t n, const double *roots, double *values)
{
    for (int64_t i = 0; roots && i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            values[i * n + j] /= roots[i] * roots[j];
    kfe_i_mirror(n, values);
}

/* ξ by leave-one-out on the kernels with equal weights, at which the search starts. */
static kfe_status choose_xi(svm_mkl *s, const kfe_i_target *target, kfe_i_loo_choice *choice)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *ridge = &s->ridge;
    int64_t n = ridge->n;
    kfe_i_table table = {0};
    kfe_i_gram *gram = NULL;

    KFE_TRY(kfe_i_table_new_dense(ridge->ctx, n, n, &table));
    KFE_TRY(kfe_i_bank_combine(ridge->bank, ridge->result.d, ridge->factor.panel, table.values));
    complete_plain(n, ridge->bank->raw[0]->roots, table.values);
    KFE_TRY(kfe_i_gram_precomputed(ridge->ctx, &table, &gram));
    KFE_TRY(kfe_i_class_ridge(ridge->ctx, "svm-mkl", gram, target, choice));
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_table_free(&table);
    return status;
}

/* The settings as given, or as leave-one-out chooses them. */
static kfe_status choose_settings(svm_mkl *s, const kfe_i_target *target, svm_mkl_settings *settings,
                                  kfe_i_loo_choice *choice)
{
    kfe_status status = KFE_OK;

    if (settings->weights.xi < 0)
        KFE_TRY(choose_xi(s, target, choice));
    if (choice->rows > 0)
        settings->weights.xi = choice->ridge;
    if (settings->joint.c == KFE_SVM_C_AUTO)
        settings->joint.c = KFE_SHRUNK_SVM_C;
    kfe_i_ridge_weights_configure(&s->ridge, "svm-mkl", &settings->weights);
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    svm_mkl_settings chosen = *(const svm_mkl_settings *)settings;
    kfe_i_loo_choice choice = {0};
    kfe_i_bank bank = {0};
    svm_mkl s = {0};
    kfe_i_joint_method method = {.name = "svm-mkl", .find = find, .solve = solve, .keep = keep, .user = &s};

    KFE_TRY(kfe_i_ask_roots(ctx, source, &method.roots));
    KFE_TRY(kfe_i_bank_open(ctx, "svm-mkl", source, method.roots, 3, &bank));
    KFE_TRY(kfe_i_ridge_weights_open(ctx, &bank, source->target->class_count, &s.ridge));
    KFE_TRY(choose_settings(&s, source->target, &chosen, &choice));
    KFE_ALLOC(ctx, s.now, bank.count);
    KFE_ALLOC(ctx, s.best, bank.count);
    method.rounding = bank.rounding / s.ridge.xi;
    KFE_TRY(kfe_i_joint_fit(ctx, &method, source->target, &chosen.joint, out));
    KFE_TRY(kfe_i_bank_finish(&bank, s.best, out));
    KFE_TRY(kfe_i_solution_record(out, "xi", &s.ridge.xi, 1));
    KFE_TRY(kfe_i_loo_record(out, &choice));
cleanup:
    kfe_i_free(ctx, s.now);
    kfe_i_free(ctx, s.best);
    kfe_i_ridge_weights_free(&s.ridge);
    kfe_i_bank_free(&bank);
    return status;
}

const kfe_i_method kfe_i_method_svm_mkl = {
    .name = "svm-mkl",
    .summary = "uncorrelated features, weights of the kernels, and SVMs, learned together",
    .reference = "Chen et al. 2008, section 5.5",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, svm_mkl_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
