/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hsic-mkl: uncorrelated features of largest dependence on the labels, from several kernels whose weights are
 * learned with them. With Gᵢ centred, Ĝ = ΣθᵢGᵢ, θ ≥ 0, Σθᵢtr(Gᵢ) = 1, and H = LLᵀ the label kernel:
 *   maximise tr(QᵀĜHĜQ) over θ and Q,   Qᵀ(ĜĜ + ξĜ)Q = I.
 * For given θ the maximum over Q is tr((I − (I + Ĝ/ξ)⁻¹)H), so that θ minimises the convex function
 * tr((I + Ĝ/ξ)⁻¹H) (ridge_weights.h, with a choice of solvers). Then Q = BVΛ^(−1/2) with
 * B = (Ĝ + ξI)⁻¹L and LᵀĜB = VΛVᵀ, c × c: no eigenproblem of size n.
 *
 * Chen, Ji, Ceran, Li, Wu & Ye (2008), "Learning subspace kernels for classification", section 5, eqs.
 * (23)–(38). Cost: three to seven Cholesky factorisations of n × n; memory n² beside the kernels.
 */
#include <math.h>

#include "core/memory.h"
#include "method/mkl/ridge_weights.h"
#include "method/ridge/ridge.h"

enum { LABEL_H1, LABEL_H2 };

typedef struct hsic_mkl_settings {
    int64_t dim;
    kfe_i_ridge_weights_settings weights;
    int label_kernel;
} hsic_mkl_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(hsic_mkl_settings, dim, "number of features; auto: one fewer than classes"),
    KFE_CHOICE(hsic_mkl_settings, label_kernel, "label-kernel", "h2", "h1|h2",
               "kernel on the labels: 1 for examples of the same class, or 1 / (size of the class)"),
    KFE_RIDGE_WEIGHTS_ROWS(hsic_mkl_settings, weights, "max-iter", "1/examples"),
};

/* L: Y, or Y(YᵀY)^(−1/2). */
static kfe_status label_factor(kfe_context *ctx, const kfe_i_target *target, int label_kernel, double *l)
{
    kfe_status status = KFE_OK;
    int64_t c = target->class_count;
    double *sizes = NULL;

    KFE_ALLOC(ctx, sizes, c);
    kfe_i_target_class_masses(target, sizes);
    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t g = 0; g < c; g++) {
            double height = label_kernel == LABEL_H1 ? 1 : 1 / sqrt(sizes[g]);
            l[i * c + g] = target->codes[i] == g ? sqrt(kfe_i_weight_of(target, i)) * height : 0;
        }
cleanup:
    kfe_i_free(ctx, sizes);
    return status;
}

static kfe_status find_directions(kfe_context *ctx, const kfe_i_ridge_weights *weights, int64_t asked,
                                  kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *b = NULL;
    double *h = NULL;

    KFE_ALLOC(ctx, b, weights->n * weights->k);
    KFE_ALLOC(ctx, h, weights->k * weights->k);
    kfe_i_ridge_weights_directions(weights, b, h);
    kfe_i_candidates candidates = {
        .method = "hsic-mkl",
        .rows = weights->n,
        .count = weights->k,
        .b = b,
        .h = h,
        .rounding = weights->bank->rounding / weights->xi,
        .most = weights->k - 1,
        .exhausted = "classes differ in no more directions",
        .none = "the kernels say nothing about the classes: their dependence is zero up to rounding",
    };
    KFE_TRY(kfe_i_best_directions(ctx, &candidates, weights->n, asked, out));
cleanup:
    kfe_i_free(ctx, b);
    kfe_i_free(ctx, h);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const hsic_mkl_settings *s = settings;
    const double *roots = NULL;
    kfe_i_bank bank = {0};
    kfe_i_ridge_weights weights = {0};

    KFE_TRY(kfe_i_ask_roots(ctx, source, &roots));
    KFE_TRY(kfe_i_bank_open(ctx, "hsic-mkl", source, roots, 1, &bank));
    KFE_TRY(kfe_i_ridge_weights_open(ctx, &bank, source->target->class_count, &weights));
    kfe_i_ridge_weights_configure(&weights, "hsic-mkl", &s->weights);
    KFE_TRY(label_factor(ctx, source->target, s->label_kernel, weights.labels));
    KFE_TRY(kfe_i_ridge_weights_solve(&weights));
    KFE_TRY(find_directions(ctx, &weights, s->dim, out));
    KFE_TRY(kfe_i_solution_fix_signs(out));
    KFE_TRY(kfe_i_bank_finish(&bank, weights.result.d, out));
    KFE_TRY(kfe_i_ridge_weights_record(&weights, out));
cleanup:
    kfe_i_ridge_weights_free(&weights);
    kfe_i_bank_free(&bank);
    return status;
}

const kfe_i_method kfe_i_method_hsic_mkl = {
    .name = "hsic-mkl",
    .summary =
        "uncorrelated features with the largest dependence on the labels; learns the weights of the kernels",
    .reference = "Chen et al. 2008, section 5",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, hsic_mkl_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
