/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slmc: the sparse large margin classifier, SVMs in the subspace of feature space that a few points z_1 … z_m
 * span. The points are learned so that the optimum J(Z) of the SVMs is least. The subspace kernel is
 *   K_Z(x, x') = ψ(x)ᵀκ(Z,Z)⁻¹ψ(x'),   ψ(x) = κ(Z, x),
 * and with κ(Z,Z) = RᵀR the features are R⁻ᵀψ(x): m kernel values for each new example.
 *
 * J is minimised by L-BFGS (lbfgs.h) with steps of sufficient decrease (line_search.h); every trial solves the
 * SVMs from their last α, to a small violation: J and its gradient are as exact as α, and errors of 1e-4 in α, which the order of the
 * rows and classes decides, grow to different predictions. J is not convex: the search ends at a stationary point. Points move for the kernels
 * rbf, poly and linear, whose derivative is known (slmc_gradient.c); with others they stay where they start.
 *
 * What is certified. Projecting on a subspace shortens vectors, K_Z ≼ K, so that no points bring J below the optimum
 * of the SVMs on the kernel K itself, and so not below the value on K of any feasible α, such as a share t of the α
 * found (0 ≤ t ≤ 1), for each SVM
 *   bound = max over t of t·eᵀα − ½t²·aᵀKa.
 * The records bound and gap compare J with it; relative-slope is the length of the gradient at the end relative to
 * that at the start. No bound is known on the best J that m points can reach, since J is not convex in Z.
 *
 * K_Z is the subspace kernel of eqs. (4) and (14), but the engine of subspace.h is not used: its subspaces are
 * spanned by combinations of the examples, and here by points that need not be combinations of examples. The one
 * step in common, features R⁻ᵀψ (eq. 9), is a triangular solve.
 *
 * Wu & Farquhar (2007), section 3.2, eq. (16); Wu, Schölkopf & Bakır (2005). Time O(n·m·(d + m)) and the SVMs
 * for each trial; memory O(n·(m + d)).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/share.h"
#include "data/data.h"
#include "data/prepare/scale.h"
#include "data/rows/distinct.h"
#include "linalg/linalg.h"
#include "method/joint/lbfgs.h"
#include "method/joint/slmc.h"
#include "method/joint/svm_choice.h"
#include "method/shared/groups.h"
#include "method/shared/line_search.h"

enum { START_KMEANS, START_RANDOM };
enum { MAX_TRIALS = 20, POINTS_BY_DEFAULT = 10 };
/* The first step moves the points by this share of the distance of examples from their mean. */
#define FIRST_SHARE 0.1

typedef struct slmc_settings {
    int64_t dim, max_iterations;
    double c, stop, settled;
    int start;
} slmc_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(slmc_settings, dim, "number of points, and of features; auto: 10"),
    KFE_AUTO_ONEVSREST_ROWS(
        slmc_settings, c, stop, "1e-08",
        "4 divided by the ridge with the smallest leave-one-out error in a regression on the classes"),
    KFE_CHOICE(slmc_settings, start, "init", "kmeans", "kmeans|random",
               "where the points start: means of clusters inside the classes, or randomly drawn examples"),
    KFE_REAL(slmc_settings, settled, "settled", "0.0001", 0, 1,
             "relative decrease of the objective at which the search ends"),
    KFE_INT(slmc_settings, max_iterations, "max-iter", "50", 0, 1e6,
            "maximum number of iterations; 0: the points stay where they start"),
};

/* ---- where the points start ---- */

/* Different rows, drawn by their content. */
static kfe_status start_random(kfe_context *ctx, const kfe_i_table *table, const kfe_i_row_key *keys,
                               int64_t m, kfe_i_table *points)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct different = {0};

    KFE_TRY(kfe_i_distinct_make(ctx, table->rows, keys, KFE_STREAM_SLMC, &different));
    m = kfe_i_least(m, different.count);
    KFE_TRY(kfe_i_table_new_dense(ctx, m, table->cols, points));
    for (int64_t l = 0; l < m; l++)
        kfe_i_table_dense_row(table, different.first[l], points->values + l * points->stride);
cleanup:
    kfe_i_distinct_free(&different);
    return status;
}

/* The means of the groups. */
static kfe_status mean_points(kfe_context *ctx, const kfe_i_table *table, const kfe_i_groups *groups,
                              kfe_i_table *points)
{
    kfe_status status = KFE_OK;
    double *row = NULL;

    KFE_ALLOC(ctx, row, table->cols);
    KFE_TRY(kfe_i_table_new_dense(ctx, groups->count, table->cols, points));
    memset(points->values, 0, (size_t)(groups->count * points->stride) * sizeof *points->values);
    for (int64_t i = 0; i < table->rows; i++) {
        int64_t group = groups->of[i];
        kfe_i_table_dense_row(table, i, row);
        cblas_daxpy((blasint)table->cols, kfe_i_group_weight(groups, i) / groups->sizes[group], row, 1,
                    points->values + group * points->stride, 1);
    }
cleanup:
    kfe_i_free(ctx, row);
    return status;
}

static kfe_status start_points(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                               const slmc_settings *s, kfe_i_table *points)
{
    kfe_status status = KFE_OK;
    int64_t n = source->target->rows;
    int64_t asked = s->dim > 0 ? s->dim : (POINTS_BY_DEFAULT < n ? POINTS_BY_DEFAULT : n);
    int64_t m = kfe_i_clamp_dim(ctx, "slmc", asked, n, "there are no more examples");
    kfe_i_groups groups = {0};

    if (s->start == START_RANDOM)
        return start_random(ctx, &source->views[0], source->target->keys, m, points);
    KFE_TRY(kfe_i_groups_by_kmeans_in_all(ctx, gram, source->target, m, &groups));
    KFE_TRY(mean_points(ctx, &source->views[0], &groups, points));
cleanup:
    kfe_i_groups_free(&groups);
    return status;
}

/* ---- the search ---- */

typedef struct search {
    kfe_i_slmc *slmc;
    kfe_i_table *points, trial;
    int64_t size; /* m·cols */
    double value;
    double *gradient, *next_gradient, *direction;
    kfe_i_lbfgs lbfgs;
    double *values; /* by iteration, from the start on */
    int64_t iterations;
    double reach;       /* of as many points as there are, from the mean of the examples */
    double first_slope; /* length of the gradient at the start; 0: not taken */
} search;

static void search_free(kfe_context *ctx, search *s)
{
    kfe_i_table_free(&s->trial);
    kfe_i_lbfgs_free(&s->lbfgs);
    kfe_i_free(ctx, s->gradient);
    kfe_i_free(ctx, s->next_gradient);
    kfe_i_free(ctx, s->direction);
    kfe_i_free(ctx, s->values);
}

static kfe_status search_open(kfe_context *ctx, const kfe_i_table *table, int64_t most, search *s)
{
    kfe_status status = KFE_OK;
    double variance = 0;

    s->size = s->points->rows * s->points->cols;
    KFE_TRY(kfe_i_total_variance(ctx, table, &variance));
    s->reach = sqrt((double)s->points->rows * variance);
    KFE_TRY(kfe_i_table_new_dense(ctx, s->points->rows, s->points->cols, &s->trial));
    KFE_TRY(kfe_i_lbfgs_open(ctx, s->size, &s->lbfgs));
    KFE_ALLOC(ctx, s->gradient, s->size);
    KFE_ALLOC(ctx, s->next_gradient, s->size);
    KFE_ALLOC(ctx, s->direction, s->size);
    KFE_ALLOC(ctx, s->values, most + 1);
cleanup:
    return status;
}

/* J at a step along the direction; the trial points keep it. */
static kfe_status value_at(void *state, double step, double *value, double *slope)
{
    search *s = state;

    (void)slope;
    memcpy(s->trial.values, s->points->values, (size_t)s->size * sizeof *s->trial.values);
    cblas_daxpy((blasint)s->size, step, s->direction, 1, s->trial.values, 1);
    return kfe_i_slmc_value(s->slmc, &s->trial, value);
}

/* Goes along the direction until J has fallen enough; 0 in *moved if it does not. */
static kfe_status take_step(search *s, int *moved)
{
    kfe_status status = KFE_OK;
    blasint size = (blasint)s->size;
    double length = cblas_dnrm2(size, s->direction, 1);
    kfe_i_step step = {0};
    kfe_i_line line = {.value = s->value,
                       .slope = cblas_ddot(size, s->gradient, 1, s->direction, 1),
                       .first =
                           s->lbfgs.kept > 0 || length == 0 ? 1 : FIRST_SHARE * fmax(s->reach, 1e-3) / length,
                       .longest = HUGE_VAL,
                       .max_trials = MAX_TRIALS,
                       .at = value_at,
                       .state = s};

    if (line.slope < 0)
        KFE_TRY(kfe_i_line_search(&line, &step));
    *moved = step.step > 0;
    if (*moved)
        s->value = step.value;
cleanup:
    return status;
}

/* The trial points become the points. */
static kfe_status accept(search *s)
{
    kfe_status status = KFE_OK;
    size_t bytes = (size_t)s->size * sizeof *s->gradient;

    KFE_TRY(kfe_i_slmc_gradient(s->slmc, s->next_gradient));
    kfe_i_lbfgs_add(&s->lbfgs, s->points->values, s->trial.values, s->gradient, s->next_gradient);
    memcpy(s->points->values, s->trial.values, bytes);
    memcpy(s->gradient, s->next_gradient, bytes);
cleanup:
    return status;
}

static void warn_of_the_limit(const search *s, const slmc_settings *settings)
{
    double before = s->values[s->iterations - 1];

    if (before - s->value > settings->settled * fabs(s->value))
        kfe_i_log(s->slmc->ctx, KFE_LOG_WARNING,
                  "slmc: the objective still falls after %lld iterations, in the last one by a share of "
                  "%.2g; raise {max-iter}, or {settled}",
                  (long long)s->iterations, (before - s->value) / fabs(s->value));
}

static void list_state(search *s, int64_t most, kfe_i_loop *loop)
{
    kfe_i_loop_begin(s->slmc->ctx, "points", 0, loop);
    KFE_LOOP_ARRAY(loop, s->points->values, s->size);
    KFE_LOOP_ARRAY(loop, s->gradient, s->size);
    KFE_LOOP_ARRAY(loop, s->lbfgs.steps, KFE_LBFGS_PAIRS * s->size);
    KFE_LOOP_ARRAY(loop, s->lbfgs.changes, KFE_LBFGS_PAIRS * s->size);
    KFE_LOOP_VALUE(loop, s->lbfgs.inverse);
    KFE_LOOP_VALUE(loop, s->lbfgs.kept);
    KFE_LOOP_VALUE(loop, s->lbfgs.newest);
    KFE_LOOP_ARRAY(loop, s->values, most + 1);
    KFE_LOOP_VALUE(loop, s->value);
    KFE_LOOP_VALUE(loop, s->iterations);
    kfe_i_onevsrest_list_state(&s->slmc->svms, loop);
}

static kfe_status move_points(search *s, const slmc_settings *settings)
{
    kfe_status status = KFE_OK;
    int moved = 1;
    int restored = 0;
    kfe_i_loop loop;

    KFE_TRY(kfe_i_slmc_gradient(s->slmc, s->gradient));
    s->first_slope = cblas_dnrm2((blasint)s->size, s->gradient, 1);
    list_state(s, settings->max_iterations, &loop);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    while (s->iterations < settings->max_iterations) {
        KFE_TRY(kfe_i_progress(s->slmc->ctx, "points", s->iterations, settings->max_iterations));
        kfe_i_lbfgs_direction(&s->lbfgs, s->gradient, s->direction);
        KFE_TRY(take_step(s, &moved));
        if (!moved && s->lbfgs.kept > 0) { /* start again from the gradient itself */
            kfe_i_lbfgs_clear(&s->lbfgs);
            continue;
        }
        if (!moved)
            break;
        KFE_TRY(accept(s));
        s->values[++s->iterations] = s->value;
        if (s->values[s->iterations - 1] - s->value <= settings->settled * fabs(s->value))
            break;
        KFE_TRY(kfe_i_loop_save(&loop));
    }
    if (s->iterations > 0 && s->iterations == settings->max_iterations)
        warn_of_the_limit(s, settings);
    /* the workspace may hold the last trial instead */
    KFE_TRY(kfe_i_slmc_value(s->slmc, s->points, &s->value));
cleanup:
    return status;
}

static kfe_status search_points(kfe_context *ctx, const kfe_i_table *table, const slmc_settings *settings,
                                search *s)
{
    kfe_status status = KFE_OK;
    int movable = kfe_i_slmc_has_gradient(s->slmc->at.kernels);

    KFE_TRY(search_open(ctx, table, settings->max_iterations, s));
    KFE_TRY(kfe_i_slmc_value(s->slmc, s->points, &s->value));
    s->values[0] = s->value;
    if (settings->max_iterations > 0 && movable)
        KFE_TRY(move_points(s, settings));
    else if (!movable)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "slmc: points can move only with a single kernel rbf, poly or linear; they stay where they "
                  "start");
cleanup:
    return status;
}

/* ---- the certificate ---- */

/* A lower bound of J for any number of points, from the SVMs' α and one product with the kernel matrix. */
static kfe_status find_bound(kfe_context *ctx, const kfe_i_onevsrest *svms, const kfe_i_gram *gram,
                             double *out)
{
    kfe_status status = KFE_OK;
    int64_t c = svms->count;
    double *image = NULL;

    *out = 0;
    KFE_ALLOC(ctx, image, svms->n * c);
    KFE_TRY(kfe_i_gram_times(gram, svms->weights, c, image));
    for (int64_t g = 0; g < c; g++) {
        double sum = 0;
        for (int64_t i = 0; i < svms->n; i++)
            sum += svms->alpha[g * svms->n + i];
        double square = cblas_ddot((blasint)svms->n, svms->weights + g, (blasint)c, image + g, (blasint)c);
        double share = square > sum ? sum / square : 1;
        *out += share * sum - 0.5 * share * share * square;
    }
cleanup:
    kfe_i_free(ctx, image);
    return status;
}

static kfe_status add_records(kfe_context *ctx, const search *s, const kfe_i_gram *gram, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double bound = 0;

    KFE_TRY(kfe_i_solution_record(out, "objective", s->values, s->iterations + 1));
    KFE_TRY(find_bound(ctx, &s->slmc->svms, gram, &bound));
    double gap = s->value > 0 ? fmax(0, s->value - bound) / s->value : 0;
    KFE_TRY(kfe_i_solution_record(out, "bound", &bound, 1));
    KFE_TRY(kfe_i_solution_record(out, "gap", &gap, 1));
    if (s->first_slope > 0) {
        double slope = cblas_dnrm2((blasint)s->size, s->gradient, 1) / s->first_slope;
        KFE_TRY(kfe_i_solution_record(out, "relative-slope", &slope, 1));
    }
cleanup:
    return status;
}

/* ---- the method ---- */

/* Features ψ(x)·R⁻¹ and the SVMs on them. */
static kfe_status make_solution(kfe_context *ctx, const search *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_slmc *slmc = s->slmc;
    int64_t m = slmc->m;

    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_POINTS, m, m, out));
    for (int64_t l = 0; l < m; l++)
        out->coefficients[l * m + l] = 1;
    kfe_i_solve_lower_transposed(m, m, slmc->factor, out->coefficients);
    KFE_TRY(kfe_i_onevsrest_predictor(&slmc->svms, m, slmc->features, &out->predictor));
    KFE_ALLOC_ZERO(ctx, out->points, 1);
    out->point_views = 1;
    KFE_TRY(kfe_i_table_copy(ctx, s->points, &out->points[0]));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const slmc_settings *s = settings;
    double c = s->c;
    kfe_i_loo_choice choice = {0};
    kfe_i_slmc slmc = {0};
    kfe_i_table points = {0};
    search look = {.slmc = &slmc, .points = &points};
    const kfe_i_gram *gram = NULL;
    kfe_i_table table;

    KFE_TRY(kfe_i_ask_plain_gram(ctx, source, &gram));
    KFE_TRY(start_points(ctx, source, gram, s, &points));
    KFE_TRY(kfe_i_svm_c_choose(ctx, "slmc", gram, source->target, &c, &choice));
    KFE_TRY(kfe_i_slmc_open(ctx, source, points.rows, c, s->stop, &slmc));
    table = kfe_i_weighted_rows(&source->views[0], source->target);
    KFE_TRY(search_points(ctx, &table, s, &look));
    KFE_TRY(make_solution(ctx, &look, out));
    KFE_TRY(add_records(ctx, &look, gram, out));
    KFE_TRY(kfe_i_svm_c_record(out, c, &choice));
cleanup:
    search_free(ctx, &look);
    kfe_i_slmc_free(&slmc);
    kfe_i_table_free(&points);
    return status;
}

const kfe_i_method kfe_i_method_slmc = {
    .name = "slmc",
    .summary = "sparse large margin classifier: a subspace spanned by a few learned points",
    .reference = "Wu & Farquhar 2007, section 3.2; Wu, Schölkopf & Bakır 2005",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_SPARSE | KFE_HAS_SYNTHETIC | KFE_HAS_PREDICTOR |
             KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, slmc_settings),
    .fit = fit,
};
