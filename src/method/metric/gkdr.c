/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient-based kernel dimension reduction: linear directions V (d × dim) such that the target depends on Vᵀx only. With a
 * kernel H = LLᵀ on the targets, the matrix of the paper,
 *
 *     (1/n) Σ_j ∇k(x_j)ᵀ (K + ρI)⁻¹ H (K + ρI)⁻¹ ∇k(x_j),
 *
 * is the average gradient outer product of kernel ridge regression on the columns of L, and V are its leading eigenvectors. A
 * linear kernel takes the targets themselves; L of any other is a pivoted Cholesky factor (method/ridge/label_kernel.h). With more iterations (the
 * paper's gKDR-i) the number of directions falls step by step from d to dim: the regression is fitted again on the directions
 * left, where it is more accurate, and the matrix is made of its gradients.
 *
 * Fukumizu & Leng (2014), "Gradient-based kernel dimension reduction for regression", JASA 109.
 * Time: one solve of the Gram operator and one product O(n²dc) per iteration, c targets.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "method/metric/metric.h"
#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

enum { REAL_DIRECTIONS = 2, FEWEST_CLASS_DIRECTIONS = 4 };

#define LINEAR "linear"

typedef struct gkdr_settings {
    int64_t dim, iterations;
    double ridge;
    char label_kernel[KFE_PARAM_TEXT_SIZE];
} gkdr_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(
        gkdr_settings, dim,
        "number of directions; auto: one fewer than classes but at least 4, 2 for real targets; at most as "
        "many as columns"),
    KFE_INT(gkdr_settings, iterations, "iterations", "1", 1, 1000,
            "in how many steps the number of directions falls to dim"),
    KFE_CHOSEN_RIDGE_ROW(gkdr_settings, ridge, "ridge",
                         "regularisation of the regressions; auto: by leave-one-out (of more than 85 "
                         "examples, on a sample); thousandth: of the mean diagonal of the kernel matrix"),
    KFE_TEXT(gkdr_settings, label_kernel, "label-kernel", LINEAR,
             "kernel on the targets: linear sees what changes their mean; another, such as rbf:gamma=median, "
             "also what changes their spread or their distribution otherwise"),
};

/* The number of directions after step t of `steps`: it falls by the same factor in each. */
static int64_t directions_after(int64_t d, int64_t dim, int64_t t, int64_t steps)
{
    double share = (double)(steps - t) / (double)steps;
    int64_t count = (int64_t)ceil((double)dim * pow((double)d / (double)dim, share) - 1e-9);

    return count < dim ? dim : count > d ? d : count;
}

/* The eigenvalues of G along the columns of V, which are its eigenvectors. */
static void eigenvalues_along(int64_t d, const double *g, const kfe_i_map *v, double *out)
{
    for (int64_t j = 0; j < v->cols; j++) {
        out[j] = 0;
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b < d; b++)
                out[j] += v->values[a * v->cols + j] * g[a * d + b] * v->values[b * v->cols + j];
    }
}

static kfe_status make_solution(kfe_context *ctx, const kfe_i_map *v, const double *g, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *eigenvalues = NULL;

    KFE_ALLOC(ctx, eigenvalues, v->cols);
    eigenvalues_along(v->rows, g, v, eigenvalues);
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_PRIMAL, v->rows, v->cols, out));
    memcpy(out->coefficients, v->values, (size_t)kfe_i_map_size(v) * sizeof *v->values);
    kfe_i_solution_fix_signs(out);
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", eigenvalues, v->cols));
cleanup:
    kfe_i_free(ctx, eigenvalues);
    return status;
}

/* One step: the regression on the directions of `map`, and the leading `count` eigenvectors of its gradients, orthonormal. */
static kfe_status step(kfe_context *ctx, const kfe_i_metric_problem *problem, const double *y, int64_t count,
                       kfe_i_map *map, double *g, kfe_i_metric_fit *fit)
{
    kfe_status status = KFE_OK;
    const kfe_i_table x = kfe_i_weighted_rows(&problem->given->views[0], problem->given->target);
    kfe_i_map next = {0};

    KFE_TRY(kfe_i_metric_fit_make(ctx, problem, map, &x, y, fit));
    KFE_TRY(kfe_i_metric_gradients(ctx, problem, fit, map, 0, x.cols, g));
    KFE_TRY(kfe_i_metric_root(ctx, x.cols, 0, 0, count, g, &next));
    if (!next.values)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "gkdr: the regression is constant, so that it has no directions; use a smaller {ridge} or "
                 "another kernel");
    kfe_i_map_free(map);
    *map = next;
    memset(&next, 0, sizeof next);
cleanup:
    kfe_i_map_free(&next);
    return status;
}

/* Chosen on development sets (docs/defaults.md). */
static int64_t usual_directions(const kfe_i_target *target, int64_t columns)
{
    int64_t usual = REAL_DIRECTIONS;

    if (target->task == KFE_TASK_CLASSES)
        usual = target->class_count - 1 > FEWEST_CLASS_DIRECTIONS ? target->class_count - 1
                                                                  : FEWEST_CLASS_DIRECTIONS;
    return usual < columns ? usual : columns;
}

/* The columns to regress: targets of comparable size, or the factor of the label kernel. The fit centres and weighs them itself. */
static kfe_status take_targets(kfe_context *ctx, const gkdr_settings *s, const kfe_i_target *given,
                               kfe_i_metric_target *out)
{
    kfe_status status = KFE_OK;
    kfe_i_target unweighted = *given;
    kfe_i_label_factor factor = {0};

    if (strcmp(s->label_kernel, LINEAR) == 0)
        return kfe_i_metric_target_make(ctx, "gkdr", given, out);
    unweighted.weights = NULL;
    KFE_TRY(kfe_i_label_factor_make(ctx, "gkdr", &unweighted, s->label_kernel, &factor));
    *out = (kfe_i_metric_target){.ctx = ctx, .rows = given->rows, .columns = factor.rank};
    out->values = factor.values;
    factor.values = NULL;
cleanup:
    kfe_i_label_factor_free(&factor);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const gkdr_settings *s = settings;
    const kfe_i_table *x = &problem->views[0];
    const kfe_i_table weighted = kfe_i_weighted_rows(x, problem->target);
    int64_t usual = usual_directions(problem->target, x->cols);
    int64_t dim =
        kfe_i_clamp_dim(ctx, "gkdr", s->dim > 0 ? s->dim : usual, x->cols, "there are no more columns");
    kfe_i_metric_target target = {0};
    kfe_i_metric_problem regression = {.method = "gkdr", .given = problem, .ridge = s->ridge};
    kfe_i_metric_fit last = {0};
    kfe_i_map map = {0};
    double *g = NULL;

    if (problem->metric == KFE_METRIC_DIAGONAL)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "gkdr finds directions, not weights of columns; leave out {metric=diagonal}");
    KFE_TRY(take_targets(ctx, s, problem->target, &target));
    regression.columns = target.columns;
    KFE_ALLOC(ctx, g, x->cols * x->cols);
    for (int64_t t = 1; t <= s->iterations; t++) {
        KFE_TRY(kfe_i_checkpoint(ctx, "reducing directions", t - 1, s->iterations));
        kfe_i_metric_fit_free(&last);
        if (map.values)
            KFE_TRY(kfe_i_metric_normalise(ctx, &weighted, &map));
        KFE_TRY(step(ctx, &regression, target.values, directions_after(x->cols, dim, t, s->iterations), &map,
                     g, &last));
    }
    KFE_TRY(make_solution(ctx, &map, g, out));
    KFE_TRY(kfe_i_metric_fit_record(&last, out));
cleanup:
    kfe_i_metric_target_free(&target);
    kfe_i_metric_fit_free(&last);
    kfe_i_map_free(&map);
    kfe_i_free(ctx, g);
    return status;
}

const kfe_i_method kfe_i_method_gkdr = {
    .name = "gkdr",
    .summary = "linear directions that the target depends on, from gradients of a kernel regression",
    .reference = "Fukumizu & Leng 2014",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_SYNTHETIC |
             KFE_HAS_DERIVATIVE | KFE_HAS_SAMPLE_WEIGHTS,
    .weighs_examples = 1,
    .kernel = "rbf:gamma=median",
    .params = KFE_PARAM_TABLE(rows, gkdr_settings),
    .fit = fit,
};
