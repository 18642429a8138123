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
 * left, where it is more accurate, and the matrix is made of its gradients. By default the results of several such walks
 * are compared by the leave-one-out error of a kernel regression on the projected data, as the paper does by cross-validation.
 *
 * Fukumizu & Leng (2014), "Gradient-based kernel dimension reduction for regression", JASA 109.
 * Time: one solve of the Gram operator and one product O(n²dc) per iteration, c targets.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "linalg/basis.h"
#include "method/distance/distance.h"
#include "method/ridge/label_kernel.h"
#include "method/ridge/ridge.h"

enum { REAL_DIRECTIONS = 2, FEWEST_CLASS_DIRECTIONS = 4 };

#define LINEAR "linear"
/* iterations=auto; docs/defaults-measured.md says how they were set. */
#define LARGEST_FALL 1.5
#define WIDER 1.75
/* A candidate replaces an earlier one if its error is smaller by this share, so that rounding decides nothing. */
#define CLEARLY_BETTER 1e-3
/* A second walk is for data on which it takes seconds. */
enum { MOST_COLUMNS_TO_WIDEN = 1000, MOST_ROWS_TO_WIDEN = 5000 };

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
    KFE_INT_OR(
        gkdr_settings, iterations, "iterations", "auto", 1, 1000, "auto", "auto=0",
        "number of steps in which the number of directions falls to dim; auto: each step drops up to a "
        "third of the directions; with ridge=auto, leave-one-out decides between these steps and a single "
        "one, and whether to widen a kernel whose width follows the data"),
    KFE_CHOSEN_RIDGE_ROW(gkdr_settings, ridge, "ridge",
                         "regularisation of the regressions; auto: by leave-one-out (on a sample if there "
                         "are more than 200 examples); thousandth: a thousandth of the mean diagonal of "
                         "the kernel matrix"),
    KFE_TEXT(
        gkdr_settings, label_kernel, "label-kernel", LINEAR,
        "kernel on the targets: linear finds directions that change the mean of the targets; others, such "
        "as rbf:gamma=median, also find directions that change their spread or distribution"),
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

/* ---- one way to the directions ---- */

/* Directions, and what is recorded of the regression that they come from. */
typedef struct candidate {
    kfe_i_map map;          /* columns × dim, orthonormal */
    double *eigenvalues;    /* dim */
    kfe_i_distance_fit fit; /* its numbers only */
    double steps, width;
    double error; /* leave-one-out, of a regression on the directions */
} candidate;

typedef struct search {
    kfe_context *ctx;
    kfe_i_arena memory;
    kfe_i_distance_problem regression;
    kfe_i_table x; /* with weights */
    int64_t dim, steps;
    int chooses; /* candidates are compared */
    double *y;
    double *g; /* columns × columns: the average gradient outer product */
    candidate best;
} search;

/* The leading directions of `map`, which come from `fit` and s->g. */
static kfe_status take_candidate(search *s, const kfe_i_map *map, const kfe_i_distance_fit *fit,
                                 candidate *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = s->dim < map->cols ? s->dim : map->cols;

    KFE_TRY(kfe_i_map_new(s->ctx, map->rows, dim, 0, &out->map));
    kfe_i_copy_block(map->rows, dim, map->values, map->cols, out->map.values, dim);
    KFE_TAKE(&s->memory, out->eigenvalues, dim);
    eigenvalues_along(map->rows, s->g, &out->map, out->eigenvalues);
    out->fit = (kfe_i_distance_fit){.ridge = fit->ridge,
                                    .residual = fit->residual,
                                    .choice = fit->choice,
                                    .landmarks = fit->landmarks,
                                    .landmark_rank = fit->landmark_rank,
                                    .trace_left = fit->trace_left};
cleanup:
    return status;
}

/* How well the target can be predicted from the directions. */
static kfe_status judge(const search *s, candidate *c)
{
    kfe_status status = KFE_OK;
    kfe_i_distance_problem problem = s->regression;
    kfe_i_distance_fit fit = {0};
    kfe_i_map map = {0};

    problem.chooses_only = 1;
    KFE_TRY(kfe_i_map_copy(s->ctx, &c->map, &map));
    KFE_TRY(kfe_i_distance_normalise(s->ctx, &s->x, &map));
    KFE_TRY(kfe_i_distance_fit_make(s->ctx, &problem, &map, &s->x, s->y, &fit));
    c->error = fit.choice.rows > 0 ? fit.choice.error : INFINITY;
cleanup:
    kfe_i_map_free(&map);
    kfe_i_distance_fit_free(&fit);
    return status;
}

/* Keeps the candidate if it is the first, or clearly better than the best so far. */
static kfe_status offer(search *s, candidate *c)
{
    kfe_status status = KFE_OK;

    if (s->chooses)
        KFE_TRY(judge(s, c));
    if (!s->best.map.values || c->error < (1 - CLEARLY_BETTER) * s->best.error) {
        kfe_i_map_free(&s->best.map);
        s->best = *c;
        memset(&c->map, 0, sizeof c->map);
    }
cleanup:
    kfe_i_map_free(&c->map);
    return status;
}

/* One step: the regression on the directions of `map`, and the leading `count` eigenvectors of its gradients, orthonormal. */
static kfe_status step(search *s, int64_t count, kfe_i_map *map, kfe_i_distance_fit *fit)
{
    kfe_status status = KFE_OK;
    kfe_i_map next = {0};

    KFE_TRY(kfe_i_distance_fit_make(s->ctx, &s->regression, map, &s->x, s->y, fit));
    KFE_TRY(kfe_i_distance_gradients(s->ctx, &s->regression, fit, map, 0, s->x.cols, s->g));
    KFE_TRY(kfe_i_distance_root(s->ctx, s->x.cols, 0, 0, count, s->g, &next));
    if (!next.values)
        KFE_FAIL(s->ctx, KFE_EINPUT,
                 "gkdr: the regression is constant, so it has no directions; use a smaller {ridge} or "
                 "another kernel");
    kfe_i_map_free(map);
    *map = next;
    memset(&next, 0, sizeof next);
cleanup:
    kfe_i_map_free(&next);
    return status;
}

/* A map that multiplies distances, so that the kernel is `width` times as wide. */
static kfe_status widen(search *s, double width, kfe_i_map *map)
{
    kfe_status status = KFE_OK;

    if (width == 1 && !map->values)
        return KFE_OK;
    if (map->values) {
        KFE_TRY(kfe_i_distance_normalise(s->ctx, &s->x, map));
    } else {
        KFE_TRY(kfe_i_map_new(s->ctx, s->x.cols, s->x.cols, 0, map));
        for (int64_t i = 0; i < s->x.cols * s->x.cols; i++)
            map->values[i] = i % (s->x.cols + 1) == 0;
    }
    kfe_i_map_scale(map, 1 / width);
cleanup:
    return status;
}

/* Walks down to dim directions. The end is a candidate; if candidates are compared, so are the leading directions of the first step. */
static kfe_status walk(search *s, double width)
{
    kfe_status status = KFE_OK;
    kfe_i_distance_fit fit = {0};
    kfe_i_map map = {0};
    candidate found = {0};

    for (int64_t t = 1; t <= s->steps; t++) {
        KFE_TRY(kfe_i_progress(s->ctx, "reducing directions", t - 1, s->steps));
        kfe_i_distance_fit_free(&fit);
        KFE_TRY(widen(s, width, &map));
        KFE_TRY(step(s, directions_after(s->x.cols, s->dim, t, s->steps), &map, &fit));
        if (t < s->steps && !(s->chooses && t == 1))
            continue;
        found.steps = (double)t;
        found.width = width;
        KFE_TRY(take_candidate(s, &map, &fit, &found));
        KFE_TRY(offer(s, &found));
    }
cleanup:
    kfe_i_map_free(&found.map);
    kfe_i_distance_fit_free(&fit);
    kfe_i_map_free(&map);
    return status;
}

static kfe_status make_solution(kfe_context *ctx, const candidate *c, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_map *v = &c->map;

    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_PRIMAL, v->rows, v->cols, out));
    memcpy(out->coefficients, v->values, (size_t)kfe_i_map_size(v) * sizeof *v->values);
    KFE_TRY(kfe_i_solution_fix_signs(out));
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", c->eigenvalues, v->cols));
    KFE_TRY(kfe_i_solution_record(out, "steps", &c->steps, 1));
    KFE_TRY(kfe_i_solution_record(out, "width", &c->width, 1));
    KFE_TRY(kfe_i_distance_fit_record(&c->fit, out));
cleanup:
    return status;
}

/* Chosen on development sets (docs/defaults-measured.md). */
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
                               kfe_i_distance_target *out)
{
    kfe_status status = KFE_OK;
    kfe_i_label_factor factor = {0};

    if (strcmp(s->label_kernel, LINEAR) == 0)
        return kfe_i_distance_target_make(ctx, "gkdr", given, out);
    KFE_TRY(kfe_i_label_factor_make(ctx, "gkdr", given, s->label_kernel, 0, &factor));
    *out = (kfe_i_distance_target){.ctx = ctx, .rows = given->rows, .columns = factor.rank};
    out->values = factor.values;
    factor.values = NULL;
cleanup:
    kfe_i_label_factor_free(&factor);
    return status;
}

/* As many as needed, so that no step leaves out more than a third of the directions, except by rounding. */
static int64_t usual_steps(int64_t columns, int64_t dim)
{
    return (int64_t)fmax(1, ceil(log((double)columns / (double)dim) / log(LARGEST_FALL) - 1e-9));
}

/* Whether the width of the kernel follows the data, and columns are few enough for a map that changes it. */
static int width_is_free(const kfe_i_fit_source *source)
{
    return source->kernels->count == 1 && source->kernels->items[0].adapted &&
           source->views[0].cols <= MOST_COLUMNS_TO_WIDEN && source->views[0].rows <= MOST_ROWS_TO_WIDEN;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const gkdr_settings *given = settings;
    const kfe_i_table *x = &source->views[0];
    int64_t usual = usual_directions(source->target, x->cols);
    kfe_i_distance_target target = {0};
    search s = {.ctx = ctx, .memory = {.ctx = ctx}, .x = kfe_i_weighted_rows(x, source->target)};

    if (source->distance == KFE_DISTANCE_DIAGONAL)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "gkdr finds directions, not weights of columns; leave out {distance=diagonal}");
    s.dim = kfe_i_clamp_dim(ctx, "gkdr", given->dim > 0 ? given->dim : usual, x->cols,
                            "there are no more columns");
    s.steps = given->iterations > 0 ? given->iterations : usual_steps(x->cols, s.dim);
    s.chooses = given->iterations == 0 && given->ridge == KFE_RIDGE_AUTO;
    KFE_TRY(take_targets(ctx, given, source->target, &target));
    s.regression = (kfe_i_distance_problem){
        .method = "gkdr", .given = source, .ridge = given->ridge, .columns = target.columns};
    s.y = target.values;
    KFE_TAKE(&s.memory, s.g, x->cols * x->cols);
    KFE_TRY(walk(&s, 1));
    if (s.chooses && width_is_free(source))
        KFE_TRY(walk(&s, WIDER));
    KFE_TRY(make_solution(ctx, &s.best, out));
cleanup:
    kfe_i_distance_target_free(&target);
    kfe_i_map_free(&s.best.map);
    kfe_i_arena_free(&s.memory);
    return status;
}

const kfe_i_method kfe_i_method_gkdr = {
    .name = "gkdr",
    .summary = "linear directions that the target depends on, from gradients of a kernel regression",
    .reference = "Fukumizu & Leng 2014",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_SYNTHETIC |
             KFE_HAS_DERIVATIVE | KFE_HAS_SAMPLE_WEIGHTS,
    .kernel = "rbf:gamma=median",
    .params = KFE_PARAM_TABLE(rows, gkdr_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
