/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orthonormalized kernel partial least squares: uncorrelated features that explain as much of the targets as
 * possible,
 *
 *     K Y Yᵀ K β = λ K K β,     βᵀKKβ = 1,
 *
 * with K centred (by default) and Y the centred targets. If K has full rank it cancels, and every direction
 * fits the targets exactly. So the norm of w = Φβ is penalised,
 *
 *     K Y Yᵀ K β = λ (K K + μK) β,     βᵀ(KK + μK)β = 1,
 *
 * and the paper's problem is the limit μ → 0. This is a problem of ridge.h with L = Y, which gives at most
 * rank(Y) features. With classes they span the space of kfd; kfd weighs the classes by their sizes, and so has
 * other axes in it. λ, recorded as "criterion", is the share of the targets' variance that a feature explains,
 * up to the ridge.
 *
 * Worsley, Poline, Friston & Evans (1997); Arenas-García, Petersen & Hansen (2007); Dhanjal, Gunn &
 * Shawe-Taylor (2009), eq. (2).
 * Time: one block solve of the operator; memory O(nm) beside the operator, for m targets.
 */
#include <math.h>

#include "core/memory.h"
#include "method/ridge/ridge.h"
#include "method/shared/targets.h"

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kfe_i_kopls_settings, dim,
                "number of features; auto: as many as there are independent targets"),
    KFE_CHOSEN_RIDGE_ROW(kfe_i_kopls_settings, ridge, "ridge",
                         "penalty mu on the norm of a direction (mu |w|^2); auto: by leave-one-out, in "
                         "closed form (of more than 85 "
                         "examples, on a sample); thousandth: of the mean diagonal of the kernel matrix"),
    KFE_FLAG(kfe_i_kopls_settings, center, "center", "yes", "centre the kernel in feature space"),
};

/* All but the operator and the targets. */
static kfe_i_ridge_problem make_problem(const char *method, const kfe_i_kopls_settings *s, int classes,
                                        int64_t class_count, int64_t columns)
{
    return (kfe_i_ridge_problem){
        .method = method,
        .centred = s->center,
        .squared_norm = 1,
        .ridge = s->ridge,
        .classes = classes,
        .dim = s->dim,
        .most = classes && class_count - 1 < columns ? class_count - 1 : columns,
        .exhausted = "the targets vary in no more directions",
        .none = "the data does not depend on the targets: their covariance is zero up to rounding",
    };
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kopls_settings *s = settings;
    double *targets = NULL;
    int64_t columns = 0;

    KFE_TRY(kfe_i_unit_targets(ctx, "kopls", problem->target, &targets, &columns));
    kfe_i_ridge_problem ridge = make_problem("kopls", s, problem->target->task == KFE_TASK_CLASSES,
                                             problem->target->class_count, columns);
    ridge.gram = problem->gram;
    ridge.targets = targets;
    ridge.columns = columns;
    KFE_TRY(kfe_i_ridge_fit(ctx, &ridge, out));
cleanup:
    kfe_i_free(ctx, targets);
    return status;
}

/* M = I/‖Y‖. */
static kfe_status inverse_norm(kfe_context *ctx, const kfe_i_sums *sums, int64_t columns, double **out)
{
    kfe_status status = KFE_OK;
    double square = 0;

    KFE_ALLOC_ZERO(ctx, *out, columns * columns);
    for (int64_t g = 0; g < sums->classes && columns > 1; g++)
        square += sums->class_rows[g] * (1 - sums->class_rows[g] / sums->rows);
    if (sums->classes == 2)
        square = 4 * sums->class_rows[0] * (sums->class_rows[1] / sums->rows);
    for (int64_t k = 0; k < sums->targets; k++)
        square += sums->target_scatter[k * (sums->targets + 1)];
    for (int64_t k = 0; k < columns; k++)
        (*out)[k * (columns + 1)] = square > 0 ? 1 / sqrt(square) : 0;
cleanup:
    return status;
}

kfe_status kfe_i_kopls_fit_sums(kfe_context *ctx, const char *method, const kfe_i_sum_problem *problem,
                                const kfe_i_kopls_settings *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = problem->sums;
    int classes = sums->task == KFE_TASK_CLASSES;
    int64_t columns = !classes ? sums->targets : sums->classes == 2 ? 1 : sums->classes;
    double *map = NULL;
    kfe_i_ridge_problem ridge = make_problem(method, s, classes, classes ? sums->classes : 0, columns);

    KFE_TRY(inverse_norm(ctx, sums, columns, &map));
    const kfe_i_ridge_sums targets = {.pairs = 1, .map = map, .columns = columns};
    KFE_TRY(kfe_i_ridge_fit_sums(ctx, problem, &ridge, &targets, out));
cleanup:
    kfe_i_free(ctx, map);
    return status;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    return kfe_i_kopls_fit_sums(ctx, "kopls", problem, settings, out);
}

const kfe_i_method kfe_i_method_kopls = {
    .name = "kopls",
    .summary = "orthonormalized kernel PLS: uncorrelated features that explain most of the targets",
    .reference = "Arenas-García, Petersen & Hansen 2007; Dhanjal, Gunn & Shawe-Taylor 2009, eq. (2)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_kopls_settings),
    .sums_of_landmarks = 1,
    .fit = fit,
    .fit_sums = fit_sums,
};
