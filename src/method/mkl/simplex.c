/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton steps on the simplex, for every method that weighs kernels. Each iteration minimises a model of f over
 * the simplex and goes towards that minimum until f has fallen enough (line_search.h). The model is
 *   quadratic, from the second derivatives: minimised by exact steps that move weight between two places;
 *   or the caller's own (`propose`), such as the reduced model of ridge_weights_reduced.c.
 * It ends when f is near enough to the largest lower bound, or when f falls no more however accurate it is. A
 * gap of g shows in f as a multiple of g²; where that is below the rounding of f, the slopes decide whether a
 * step was good.
 *
 * Cost of an iteration: the first and second derivatives, one value for each trial, and O(p) for each move.
 */
#include "method/mkl/simplex.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/shared/line_search.h"

/* At most MODEL_SWEEPS·p moves of weight in one quadratic model; at most MAX_TRIALS steps along one line. */
enum { MODEL_SWEEPS = 2000, MAX_TRIALS = 30 };
/* Changes of f below this share of it may be rounding. */
#define UNSEEN 1e-8
/* Weights below this share are set to zero: they change f by less, relatively. */
#define NO_WEIGHT 1e-9

struct kfe_i_simplex_work {
    kfe_context *ctx;
    const kfe_i_simplex_problem *problem; /* of the call in progress */
    kfe_i_simplex_result *result;
    double *hessian;      /* p × p */
    double *slope;        /* of the quadratic model, at `next` */
    double *next, *trial; /* p */
    double *q, *trial_q;  /* p: −gradient at d, and at `trial` */
    double trial_value, trial_excess;
};

void kfe_i_simplex_work_free(kfe_i_simplex_work *work)
{
    if (!work)
        return;
    kfe_i_free(work->ctx, work->hessian);
    kfe_i_free(work->ctx, work->slope);
    kfe_i_free(work->ctx, work->next);
    kfe_i_free(work->ctx, work->trial);
    kfe_i_free(work->ctx, work->q);
    kfe_i_free(work->ctx, work->trial_q);
    kfe_i_free(work->ctx, work);
}

kfe_status kfe_i_simplex_work_new(kfe_context *ctx, int64_t p, kfe_i_simplex_work **out)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex_work *work = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, work, 1);
    work->ctx = ctx;
    KFE_ALLOC(ctx, work->hessian, p * p);
    KFE_ALLOC(ctx, work->slope, p);
    KFE_ALLOC(ctx, work->next, p);
    KFE_ALLOC(ctx, work->trial, p);
    KFE_ALLOC(ctx, work->q, p);
    KFE_ALLOC(ctx, work->trial_q, p);
    *out = work;
    work = NULL;
cleanup:
    kfe_i_simplex_work_free(work);
    return status;
}

/* ---- the gap ---- */

/* max qᵢ − Σ dᵢqᵢ over the usable weights */
static double slope_gap(const kfe_i_simplex_problem *problem, const double *d, const double *q)
{
    double largest = -HUGE_VAL;
    double mean = 0;

    for (int64_t i = 0; i < problem->p; i++) {
        if (problem->usable[i] > 0)
            largest = fmax(largest, q[i]);
        mean += d[i] * q[i];
    }
    return fmax(0, largest - mean);
}

double kfe_i_simplex_gap(const kfe_i_simplex_result *r)
{
    double upper = r->objective + r->excess;

    return fmax(0, upper - r->bound) / fmax(fabs(upper), DBL_MIN);
}

static int is_solved(const kfe_i_simplex_work *w)
{
    return kfe_i_simplex_gap(w->result) <= w->problem->tolerance;
}

/* q at d, and the lower bound that it gives. */
static kfe_status measure_slopes(kfe_i_simplex_work *w)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex_result *r = w->result;

    KFE_TRY(w->problem->slopes(w->problem->user, w->q));
    r->bound = fmax(r->bound, r->objective - slope_gap(w->problem, r->d, w->q));
cleanup:
    return status;
}

/* ---- the quadratic model ---- */

static kfe_status second_derivatives(kfe_i_simplex_work *w)
{
    kfe_status status = KFE_OK;
    int64_t p = w->problem->p;
    double trace = 0;

    KFE_TRY(w->problem->curvature(w->problem->user, w->hessian));
    for (int64_t i = 0; i < p; i++)
        trace += w->hessian[i * p + i];
    /* equal kernels leave the model flat */
    for (int64_t i = 0; i < p; i++)
        w->hessian[i * p + i] += 1e-12 * trace + DBL_MIN;
cleanup:
    return status;
}

/* The weight that gains and the one that loses in the steepest pair; 0 if no pair promises anything. */
static int steepest_pair(const kfe_i_simplex_work *w, int64_t *gains, int64_t *loses)
{
    *gains = *loses = -1;
    for (int64_t i = 0; i < w->problem->p; i++) {
        if (w->problem->usable[i] == 0)
            continue;
        if (*gains < 0 || w->slope[i] < w->slope[*gains])
            *gains = i;
        if (w->next[i] > 0 && (*loses < 0 || w->slope[i] > w->slope[*loses]))
            *loses = i;
    }
    return *loses >= 0 &&
           w->slope[*loses] - w->slope[*gains] > 1e-3 * w->problem->tolerance * fabs(w->result->objective);
}

static kfe_status minimise_quadratic(kfe_i_simplex_work *w)
{
    kfe_status status = KFE_OK;
    int64_t p = w->problem->p;
    int64_t i = 0;
    int64_t j = 0;

    KFE_TRY(second_derivatives(w));
    memcpy(w->next, w->result->d, (size_t)p * sizeof *w->next);
    for (int64_t m = 0; m < p; m++)
        w->slope[m] = -w->q[m];
    for (int64_t move = 0; move < MODEL_SWEEPS * p && steepest_pair(w, &i, &j); move++) {
        const double *hi = w->hessian + i * p;
        const double *hj = w->hessian + j * p;
        double step = (w->slope[j] - w->slope[i]) / fmax(hi[i] + hj[j] - 2 * hi[j], DBL_MIN);
        int empties = step >= w->next[j];
        step = empties ? w->next[j] : step;
        w->next[i] += step;
        w->next[j] = empties ? 0 : w->next[j] - step;
        for (int64_t m = 0; m < p; m++)
            w->slope[m] += step * (hi[m] - hj[m]);
    }
cleanup:
    return status;
}

static kfe_status minimise_model(kfe_i_simplex_work *w)
{
    kfe_status status = KFE_OK;
    double bound = -HUGE_VAL;

    if (!w->problem->propose)
        return minimise_quadratic(w);
    KFE_TRY(w->problem->propose(w->problem->user, w->result->d, w->next, &bound));
    w->result->bound = fmax(w->result->bound, bound);
cleanup:
    return status;
}

/* ---- one step ---- */

static kfe_status value_at(void *state, double step, double *value, double *slope)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex_work *w = state;
    const double *d = w->result->d;

    (void)slope;
    for (int64_t i = 0; i < w->problem->p; i++)
        w->trial[i] = step == 1 ? w->next[i] : d[i] + step * (w->next[i] - d[i]);
    KFE_TRY(w->problem->value(w->problem->user, w->trial, &w->trial_value, &w->trial_excess));
    *value = w->trial_value + w->trial_excess;
cleanup:
    return status;
}

/* Where rounding may hide the decrease, a step is good if it halves the gap of the slopes. */
static kfe_status accept_by_slopes(void *state, double step, double value, int *accepted)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex_work *w = state;
    const kfe_i_simplex_result *r = w->result;
    double promised = 0;

    for (int64_t i = 0; i < w->problem->p; i++)
        promised += step * w->q[i] * (w->next[i] - r->d[i]);
    if (promised > 100 * UNSEEN * r->objective || value - r->objective - r->excess > UNSEEN * r->objective)
        return KFE_OK;
    KFE_TRY(w->problem->slopes(w->problem->user, w->trial_q));
    *accepted = slope_gap(w->problem, w->trial, w->trial_q) < 0.5 * slope_gap(w->problem, r->d, w->q);
cleanup:
    return status;
}

/* Goes from d towards `next`; 0 in *moved if f cannot fall. */
static kfe_status take_step(kfe_i_simplex_work *w, int *moved)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex_result *r = w->result;
    kfe_i_step step = {0};
    kfe_i_line line = {.value = r->objective + r->excess,
                       .first = 1,
                       .longest = 1,
                       .max_trials = MAX_TRIALS,
                       .at = value_at,
                       .accept = accept_by_slopes,
                       .state = w};

    for (int64_t i = 0; i < w->problem->p; i++)
        line.slope -= w->q[i] * (w->next[i] - r->d[i]);
    if (line.slope < 0)
        KFE_TRY(kfe_i_line_search(&line, &step));
    *moved = step.step > 0;
    if (!*moved)
        return KFE_OK;
    memcpy(r->d, w->trial, (size_t)w->problem->p * sizeof *r->d);
    r->objective = w->trial_value;
    r->excess = w->trial_excess;
cleanup:
    return status;
}

/* ---- iterations ---- */

static kfe_status measure_value(kfe_i_simplex_work *w)
{
    kfe_i_simplex_result *r = w->result;
    return w->problem->value(w->problem->user, r->d, &r->objective, &r->excess);
}

static kfe_status iterate(kfe_i_simplex_work *w)
{
    kfe_status status = KFE_OK;
    const kfe_i_simplex_problem *problem = w->problem;
    kfe_i_simplex_result *r = w->result;
    int moved = 1;

    KFE_TRY(measure_value(w));
    while (r->iterations < problem->max_iterations) {
        r->iterations++;
        if (is_solved(w))
            break;
        KFE_TRY(measure_slopes(w));
        if (is_solved(w))
            break;
        KFE_TRY(kfe_i_progress(problem->ctx, "weights", r->iterations, 0));
        KFE_TRY(minimise_model(w));
        KFE_TRY(take_step(w, &moved));
        if (moved)
            continue;
        if (!problem->refine || !problem->refine(problem->user))
            break;
        KFE_TRY(measure_value(w));
    }
cleanup:
    return status;
}

static void begin_call(const kfe_i_simplex_problem *problem, kfe_i_simplex_work *work,
                       kfe_i_simplex_result *result)
{
    work->problem = problem;
    work->result = result;
}

kfe_status kfe_i_simplex_newton(const kfe_i_simplex_problem *problem, kfe_i_simplex_work *work,
                                kfe_i_simplex_result *result)
{
    begin_call(problem, work, result);
    return iterate(work);
}

void kfe_i_simplex_start(const kfe_i_simplex_problem *problem, double *d)
{
    int64_t usable = 0;

    for (int64_t i = 0; i < problem->p; i++)
        usable += problem->usable[i] > 0;
    for (int64_t i = 0; i < problem->p; i++)
        d[i] = problem->usable[i] > 0 ? 1 / (double)usable : 0;
}

/* Weights that need no change keep their bits: the caller may have factored a matrix for them. */
static void drop_small_weights(const kfe_i_simplex_problem *problem, double *d)
{
    double sum = 0;
    int changed = 0;

    for (int64_t i = 0; i < problem->p; i++) {
        int kept = d[i] > NO_WEIGHT && problem->usable[i] > 0;
        changed |= !kept && d[i] != 0;
        d[i] = kept ? d[i] : 0;
        sum += d[i];
    }
    changed |= fabs(sum - 1) > (double)problem->p * DBL_EPSILON;
    for (int64_t i = 0; changed && i < problem->p; i++)
        d[i] /= sum;
}

kfe_status kfe_i_simplex_finish(const kfe_i_simplex_problem *problem, kfe_i_simplex_work *work,
                                kfe_i_simplex_result *result)
{
    kfe_status status = KFE_OK;

    begin_call(problem, work, result);
    drop_small_weights(problem, result->d);
    KFE_TRY(measure_value(work));
    if (!is_solved(work))
        KFE_TRY(measure_slopes(work));
cleanup:
    return status;
}
