/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orthonormalized kernel partial least squares: directions whose features are uncorrelated and explain as
 * much of the targets as they can,
 *
 *     K Y Yᵀ K β = λ K K β,     βᵀKKβ = 1,
 *
 * with K centred (by default) and Y the centred targets. With a kernel matrix of full rank K cancels, and
 * every direction fits the targets exactly. So the norm of w = Φβ has a price,
 *
 *     K Y Yᵀ K β = λ (K K + μK) β,     βᵀ(KK + μK)β = 1,
 *
 * of which the paper's problem is the limit μ → 0. All solutions are β = Bv, B = (K + μI)⁻¹Y, with Hv = λv
 * and H = YᵀKB: one block solve and an eigenproblem of the size of Y, which gives at most rank(Y) features.
 * With classes, the span of B is kfd's space; kfd weighs the classes by their sizes, and so turns the axes in
 * it. λ, recorded as "criterion", is the share of the targets' variation that a feature explains, up to the
 * ridge.
 *
 * Worsley, Poline, Friston & Evans (1997); Arenas-García, Petersen & Hansen (2007); Dhanjal, Gunn &
 * Shawe-Taylor (2009), eq. (2).
 * Time: one block solve of the operator; memory O(nm) beside it, for m targets.
 */
#include "core/memory.h"
#include "gram/basis.h"
#include "method/ridge/ridge.h"
#include "method/targets.h"

typedef struct kopls_settings {
    int64_t dim;
    double ridge;
    int center;
} kopls_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kopls_settings, dim, "number of features; auto: as many as there are independent targets"),
    KFE_RIDGE_ROW(kopls_settings, ridge,
                  "price mu of a direction's norm (mu |w|^2); auto: a thousandth of the mean diagonal of the "
                  "kernel matrix"),
    KFE_FLAG(kopls_settings, center, "center", "yes", "centre the kernel in feature space"),
};

typedef struct buffers {
    kfe_i_gram *centred;
    double *targets, *solved, *image, *small;
    int64_t columns;
} buffers;

static void free_buffers(kfe_context *ctx, buffers *work)
{
    kfe_i_gram_free(work->centred);
    kfe_i_free(ctx, work->targets);
    kfe_i_free(ctx, work->solved);
    kfe_i_free(ctx, work->image);
    kfe_i_free(ctx, work->small);
}

static kfe_status make_buffers(kfe_context *ctx, const kfe_i_problem *problem, int center, buffers *work)
{
    kfe_status status = KFE_OK;
    int64_t n = problem->gram->size;

    KFE_TRY(kfe_i_unit_targets(ctx, "kopls", problem->target, &work->targets, &work->columns));
    if (center)
        KFE_TRY(kfe_i_gram_centred(ctx, problem->gram, &work->centred));
    KFE_ALLOC(ctx, work->solved, n * work->columns);
    KFE_ALLOC(ctx, work->image, n * work->columns);
    KFE_ALLOC(ctx, work->small, work->columns * work->columns);
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kopls_settings *s = settings;
    buffers work = {0};
    int64_t n = problem->gram->size;
    double ridge = 0;
    double rounding = 0;

    KFE_TRY(make_buffers(ctx, problem, s->center, &work));
    const kfe_i_gram *gram = work.centred ? work.centred : problem->gram;
    int64_t m = work.columns;
    KFE_TRY(kfe_i_gram_chosen_ridge(gram, s->ridge, &ridge));
    KFE_TRY(kfe_i_gram_solve(gram, ridge, work.targets, m, KFE_TOLERANCE, work.solved, NULL));
    KFE_TRY(kfe_i_gram_times(gram, work.solved, m, work.image));
    kfe_i_inner_products(n, m, work.targets, m, m, work.image, m, work.small);
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &rounding));
    kfe_i_candidates candidates = kfe_i_target_candidates("kopls", problem->target, m);
    candidates.rows = n;
    candidates.b = work.solved;
    candidates.h = work.small;
    candidates.rounding = rounding / ridge;
    KFE_TRY(kfe_i_best_directions(ctx, &candidates, n, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &ridge, 1));
    if (work.centred)
        KFE_TRY(kfe_i_solution_centre(out, work.centred));
    kfe_i_solution_fix_signs(out);
cleanup:
    free_buffers(ctx, &work);
    return status;
}

const kfe_i_method kfe_i_method_kopls = {
    .name = "kopls",
    .summary = "orthonormalized kernel PLS: uncorrelated features that explain most of the targets",
    .reference = "Arenas-García, Petersen & Hansen 2007; Dhanjal, Gunn & Shawe-Taylor 2009, eq. (2)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING,
    .params = KFE_PARAM_TABLE(rows, kopls_settings),
    .fit = fit,
};
