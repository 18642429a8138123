/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of sldr and lmkl: one step down in the projections, one in the gate's projection, one in the gate's weights,
 * each followed by the SVMs, until an iteration lowers J by less than the share `settled`.
 *
 * A step in matrices with orthonormal columns goes along the tangent part G of the gradient, and back to orthonormal
 * columns by the polar factor:
 *     W ← (W − tG)((W − tG)ᵀ(W − tG))^(−½).
 * The line search (line_search.h) asks for a decrease of 10⁻⁴·t·‖G‖². Each trial solves the SVMs from their last α; if
 * they stop early, their duality gap is added to the value, so that a trial is only taken if J itself is lower. A step
 * that would raise J is never taken: with steps of one size the search ends where such a step is too long.
 *
 * J is not convex, and has kinks where the α of the SVMs are not unique; the search may end at one. Other starts end
 * elsewhere: with `restarts` R there are R starts, and the best end is kept. With restarts=auto a dozen starts are tried for a few
 * iterations, and the lowest go on to their ends. At each of these ends the gate is softened: V and v₀ are multiplied by a factor
 * below 1, and the search goes on from there. Shares near 0 and 1 hardly have a gradient; softer ones do, and the search mostly
 * ends lower. This is repeated while it does. Starts from clusters of the gate's projection, or from the best gate that is the same
 * everywhere (as in multiple kernel learning), were measured and end no lower (bench/RESULTS.md).
 *
 * Gönen & Alpaydın (2010), algorithm 1.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "learn/svm_dual.h"
#include "method/local/local_copy.h"
#include "method/local/local_problem.h"
#include "method/shared/line_search.h"

enum { MOST_TRIALS = 16 };
/* The first step turns projections by this angle (radians), and changes logits by this much. */
#define KFE_FIRST_CHANGE 0.3
#define KFE_STEP_GROWTH 2.0
/* No step is longer than this in columns that stay orthonormal: the polar factor of W − tG turns W by less than a right angle
 * however large t is, and for huge t its columns are no longer independent in floating point. With one view the gate does not matter, its
 * gradient is rounding error, and steps along it would grow forever. */
#define KFE_LONGEST_CHANGE 100.0
/* SVMs at a start that are further than this from their optimum, relative to it, are solved again, a few times. */
#define KFE_START_GAP 0.01
enum { START_SOLVES = 5 };
/* restarts=auto: so many starts are tried, each for so many iterations, so many of them go on, and the gate at the end of each is
 * softened at most so often, and by so much. Chosen by the objectives and times of bench/RESULTS.md. */
enum { TRIED_STARTS = 12, TRIED_ITERATIONS = 8, CONTINUED_STARTS = 3, MOST_SOFTENINGS = 3 };
#define KFE_SOFTENED 0.2

/* The descents in their order. */
typedef struct plan {
    int64_t tried;     /* starts that stop after TRIED_ITERATIONS; 0 or TRIED_STARTS */
    int64_t starts;    /* those that begin anew, with the tried ones */
    int64_t continued; /* those that go on from the lowest of the tried ones */
    int64_t
        softened; /* those after each of them, at most, that begin with the gate of its lowest end softened */
} plan;

/* Where a tried start stopped; its parameters are in search.tried_at. */
typedef struct tried_start {
    double value, step[KFE_LOCAL_BLOCKS], objectives[TRIED_ITERATIONS + 1];
    int64_t iterations, converged, continued;
} tried_start;

/* The lowest end of one start, from which softer gates begin. */
typedef struct chain {
    kfe_i_local_path path;
    kfe_i_svms_copy svms;
    double value;
    int64_t softened; /* how often */
    int64_t lower;    /* whether the last descent ended lower than those before */
} chain;

typedef struct search {
    kfe_i_local_problem *p;
    const kfe_i_local_settings *settings;
    plan plan;
    tried_start *tried;
    double *tried_at;
    chain chain;
    int64_t continued; /* how many starts have gone on */
    kfe_i_local_retraction retraction;
    double *now, *trial, *gradient;
    double value;                  /* J at `now`, the SVMs' duality gap included */
    kfe_i_local_block block;       /* of the step under way */
    double last_trial;             /* the step tried last */
    double step[KFE_LOCAL_BLOCKS]; /* the next step to try; 0: not known */
    kfe_i_svms_copy current, best; /* at `now`, and at the best end */
    double *objectives;
    int64_t iterations;
    int converged;
} search;

/* ---- one step ---- */

/* J along the step, for the line search. The SVMs' duality gap counts as part of it. */
static kfe_status value_at(void *state, double step, double *value, double *slope)
{
    kfe_status status = KFE_OK;
    search *s = state;
    int64_t first = 0;
    int64_t count = 0;

    (void)slope;
    s->last_trial = step;
    kfe_i_local_block_place(s->p, s->block, &first, &count);
    memcpy(s->trial, s->now, (size_t)s->p->at.size * sizeof *s->now);
    cblas_daxpy((blasint)count, -step, s->gradient + first, 1, s->trial + first, 1);
    KFE_TRY(kfe_i_local_polar_block(&s->retraction, s->p, s->block, s->trial));
    KFE_TRY(kfe_i_local_update(s->p, s->block, s->trial));
    KFE_TRY(kfe_i_local_value(s->p, s->trial, value));
    *value += s->p->svms.gap;
cleanup:
    return status;
}

/* A step of constant size need not lower J sufficiently. */
static kfe_status accept_constant(void *state, double step, double value, int *accepted)
{
    const search *s = state;

    (void)step;
    *accepted = value <= s->value;
    return KFE_OK;
}

static double first_step(const search *s, double length)
{
    if (s->settings->step_size > 0 && (s->step[s->block] == 0 || s->settings->step == KFE_LOCAL_CONSTANT))
        return s->settings->step_size;
    return s->step[s->block] > 0 ? s->step[s->block] : KFE_FIRST_CHANGE / length;
}

/* Turns the gradient of the block into the direction of the step and returns its length. Weights of the gate are
 * measured in units of 1/s, s² being the mean square of what they multiply, so that the search does not depend on the
 * unit of the data: g/s is the gradient in these units, g/s² the direction in the units of the parameters. */
static double make_direction(search *s, int64_t first, int64_t count)
{
    const kfe_i_local_problem *p = s->p;
    double *gradient = s->gradient + first;
    int64_t scaled = s->block == KFE_LOCAL_GATE_WEIGHTS && p->gate_scale > 0 ? p->at.offset - first : 0;
    double square = 0;

    for (int64_t i = 0; i < count; i++) {
        double scale = i < scaled ? sqrt(p->gate_scale) : 1;
        square += gradient[i] / scale * (gradient[i] / scale);
        gradient[i] /= scale * scale;
    }
    return sqrt(square);
}

static void take_trial(search *s, double value)
{
    memcpy(s->now, s->trial, (size_t)s->p->at.size * sizeof *s->now);
    s->value = value;
    kfe_i_svms_keep(&s->p->svms, &s->current);
}

/* No step was taken: the problem is put back to where it was. */
static kfe_status go_back(search *s)
{
    kfe_i_svms_restore(&s->current, &s->p->svms);
    return kfe_i_local_update(s->p, s->block, s->now);
}

static kfe_status step_down(search *s, kfe_i_local_block block)
{
    kfe_status status = KFE_OK;
    int constant = s->settings->step == KFE_LOCAL_CONSTANT;
    int64_t first = 0;
    int64_t count = 0;
    kfe_i_step found = {0};

    s->block = block;
    kfe_i_local_block_place(s->p, block, &first, &count);
    if (count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_local_gradient(s->p, block, s->now, s->gradient));
    kfe_i_local_tangent_block(&s->retraction, s->p, block, s->now, s->gradient);
    double length = make_direction(s, first, count);
    if (!(length > DBL_EPSILON * s->value))
        return KFE_OK;
    kfe_i_line line = {.value = s->value,
                       .slope = -length * length,
                       .first = first_step(s, length),
                       .longest = block == KFE_LOCAL_GATE_WEIGHTS ? INFINITY : KFE_LONGEST_CHANGE / length,
                       .max_trials = constant ? 1 : MOST_TRIALS,
                       .at = value_at,
                       .accept = constant ? accept_constant : NULL,
                       .state = s};
    KFE_TRY(kfe_i_line_search(&line, &found));
    s->step[block] =
        found.trials == 1 && found.step > 0 && !constant ? KFE_STEP_GROWTH * found.step : s->last_trial;
    if (found.step > 0)
        take_trial(s, found.value);
    else
        KFE_TRY(go_back(s));
cleanup:
    return status;
}

/* ---- one descent ---- */

/* The cost of w = 0 bounds the optimum of SVMs that are solved at all. */
static double largest_objective(const kfe_i_onevsrest *svms)
{
    double sum = 0;

    for (int64_t i = 0; i < svms->n; i++)
        sum += svms->upper[i];
    return sum * (double)svms->count;
}

/* J where a descent begins, from the last α of the SVMs. */
static kfe_status first_value(search *s)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;

    KFE_TRY(kfe_i_local_update(p, KFE_LOCAL_PROJECTIONS, s->now));
    KFE_TRY(kfe_i_local_update(p, KFE_LOCAL_GATE_MAP, s->now));
    for (int solve = 0; solve < START_SOLVES; solve++) {
        KFE_TRY(kfe_i_local_value(p, s->now, &s->value));
        if (p->svms.gap <= KFE_START_GAP * s->value)
            break;
    }
    s->value += p->svms.gap;
    if (!(p->svms.gap <= p->svms.objective && p->svms.objective <= 1.01 * largest_objective(&p->svms)))
        KFE_FAIL(p->ctx, KFE_ENUMERIC,
                 "%s: the SVMs cannot be solved: their duality gap is %.3g at an objective of %.3g; the "
                 "kernel values "
                 "are too large for this C: use {scale=standard}, or a smaller C",
                 p->method, p->svms.gap, p->svms.objective);
cleanup:
    return status;
}

static kfe_status begin(search *s, int start, kfe_i_rng *rng)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;

    KFE_TRY(kfe_i_local_start(p, start, rng, &s->retraction, s->now));
    memset(p->svms.alpha, 0, (size_t)(p->n * p->svms.count) * sizeof *p->svms.alpha);
    KFE_TRY(first_value(s));
    if (p->ridge == 0 && s->settings->ridge > 0) {
        p->ridge = s->settings->ridge * p->svms.objective * p->gate_scale;
        s->value += p->count > 1 ? 0.5 * p->ridge * kfe_i_local_gate_length(p, s->now) : 0;
    }
    kfe_i_svms_keep(&p->svms, &s->current);
    memset(s->step, 0, sizeof s->step);
    s->iterations = 0;
    s->converged = 0;
    s->objectives[0] = s->value;
cleanup:
    return status;
}

/* Takes up the lowest end of the start, with a softer gate. */
static kfe_status soften(search *s)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;
    const kfe_i_local_path *path = &s->chain.path;
    int64_t first = 0;
    int64_t count = 0;

    s->chain.softened++;
    memcpy(s->now, path->parameters, (size_t)p->at.size * sizeof *s->now);
    memcpy(s->objectives, path->objectives, (size_t)(path->iterations + 1) * sizeof *s->objectives);
    s->iterations = path->iterations;
    s->converged = 0;
    kfe_i_local_block_place(p, KFE_LOCAL_GATE_WEIGHTS, &first, &count);
    cblas_dscal((blasint)count, KFE_SOFTENED, s->now + first, 1);
    memset(s->step, 0, sizeof s->step);
    kfe_i_svms_restore(&s->chain.svms, &p->svms);
    KFE_TRY(first_value(s));
    kfe_i_svms_keep(&p->svms, &s->current);
cleanup:
    return status;
}

static void stop_trying(search *s, int64_t start)
{
    tried_start *t = &s->tried[start];

    *t = (tried_start){.value = s->value, .iterations = s->iterations, .converged = s->converged};
    memcpy(t->step, s->step, sizeof t->step);
    memcpy(t->objectives, s->objectives, (size_t)(s->iterations + 1) * sizeof *t->objectives);
    memcpy(s->tried_at + start * s->p->at.size, s->now, (size_t)s->p->at.size * sizeof *s->now);
}

static int64_t lowest_tried(const search *s)
{
    int64_t lowest = -1;

    for (int64_t start = 0; start < s->plan.tried; start++)
        if (!s->tried[start].continued && (lowest < 0 || s->tried[start].value < s->tried[lowest].value))
            lowest = start;
    return lowest;
}

/* Takes up the lowest of the tried starts that have not gone on yet. Its SVMs are solved again. */
static kfe_status go_on(search *s)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;
    int64_t start = lowest_tried(s);
    tried_start *t = &s->tried[start];

    t->continued = 1;
    s->continued++;
    s->chain.value = INFINITY;
    s->chain.softened = 0;
    memcpy(s->now, s->tried_at + start * p->at.size, (size_t)p->at.size * sizeof *s->now);
    memcpy(s->objectives, t->objectives, (size_t)(t->iterations + 1) * sizeof *s->objectives);
    memcpy(s->step, t->step, sizeof s->step);
    s->iterations = t->iterations;
    s->converged = (int)t->converged;
    memset(p->svms.alpha, 0, (size_t)(p->n * p->svms.count) * sizeof *p->svms.alpha);
    KFE_TRY(first_value(s));
    kfe_i_svms_keep(&p->svms, &s->current);
cleanup:
    return status;
}

/* Whether the start under way goes on from a softer gate. */
static int softens(const search *s)
{
    return s->continued > 0 && s->chain.lower && s->chain.softened < s->plan.softened &&
           s->chain.path.converged && s->chain.path.iterations < s->settings->max_iterations;
}

static kfe_status enter(search *s, int64_t descent, kfe_i_rng *rng)
{
    if (descent >= s->plan.starts)
        return softens(s) ? soften(s) : go_on(s);
    /* of several starts every second one is random, so that they differ in all dimensions */
    return begin(s, descent % 2 == 1 ? KFE_LOCAL_RANDOM : s->settings->start, rng);
}

/* The objectives on record are the lowest so far, because softening raises them at first. */
static kfe_status iterate(search *s)
{
    kfe_status status = KFE_OK;
    double before = s->value;

    KFE_TRY(kfe_i_progress(s->p->ctx, "localizing", s->iterations, s->settings->max_iterations));
    for (int block = 0; block < KFE_LOCAL_BLOCKS; block++)
        KFE_TRY(step_down(s, (kfe_i_local_block)block));
    s->iterations++;
    s->objectives[s->iterations] = fmin(s->value, s->objectives[s->iterations - 1]);
    kfe_i_log(s->p->ctx, KFE_LOG_DEBUG, "%s: iteration %lld: %.10g", s->p->method, (long long)s->iterations,
              s->value);
    s->converged = !(s->value < (1 - s->settings->settled) * before);
cleanup:
    return status;
}

static int64_t most_iterations(const search *s, int64_t descent)
{
    int64_t most = s->settings->max_iterations;

    return descent < s->plan.tried && most > TRIED_ITERATIONS ? TRIED_ITERATIONS : most;
}

/* The descent goes on from the state of an earlier run if there is one. */
static kfe_status descend(search *s, int64_t descent, kfe_i_rng *rng, int restored, kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;

    if (restored) {
        KFE_TRY(kfe_i_local_update(s->p, KFE_LOCAL_PROJECTIONS, s->now));
        KFE_TRY(kfe_i_local_update(s->p, KFE_LOCAL_GATE_MAP, s->now));
    } else {
        KFE_TRY(enter(s, descent, rng));
    }
    while (s->iterations < most_iterations(s, descent) && !s->converged) {
        KFE_TRY(iterate(s));
        KFE_TRY(kfe_i_loop_save(loop));
    }
cleanup:
    return status;
}

/* ---- restarts ---- */

static kfe_status path_open(const search *s, kfe_i_local_path *path)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->p->ctx;

    KFE_ALLOC(ctx, path->parameters, s->p->at.size);
    KFE_ALLOC(ctx, path->objectives, s->settings->max_iterations + 1);
cleanup:
    return status;
}

static kfe_status search_open(search *s, kfe_i_local_path *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->p->ctx;

    KFE_TRY(kfe_i_local_retraction_open(s->p, &s->retraction));
    KFE_ALLOC(ctx, s->now, s->p->at.size);
    KFE_ALLOC(ctx, s->trial, s->p->at.size);
    KFE_ALLOC(ctx, s->gradient, s->p->at.size);
    KFE_ALLOC(ctx, s->objectives, s->settings->max_iterations + 1);
    KFE_ALLOC_ZERO(ctx, s->tried, s->plan.tried);
    KFE_ALLOC_ZERO(ctx, s->tried_at, s->plan.tried * s->p->at.size);
    KFE_TRY(kfe_i_svms_copy_open(ctx, &s->p->svms, &s->current));
    KFE_TRY(kfe_i_svms_copy_open(ctx, &s->p->svms, &s->best));
    KFE_TRY(kfe_i_svms_copy_open(ctx, &s->p->svms, &s->chain.svms));
    KFE_TRY(path_open(s, &s->chain.path));
    KFE_TRY(path_open(s, out));
    KFE_ALLOC(ctx, out->ends, out->restarts);
cleanup:
    return status;
}

static void search_free(search *s)
{
    kfe_context *ctx = s->p->ctx;

    kfe_i_local_retraction_free(&s->retraction);
    kfe_i_free(ctx, s->now);
    kfe_i_free(ctx, s->trial);
    kfe_i_free(ctx, s->gradient);
    kfe_i_free(ctx, s->objectives);
    kfe_i_free(ctx, s->tried);
    kfe_i_free(ctx, s->tried_at);
    kfe_i_svms_copy_free(ctx, &s->current);
    kfe_i_svms_copy_free(ctx, &s->best);
    kfe_i_svms_copy_free(ctx, &s->chain.svms);
    kfe_i_local_path_free(ctx, &s->chain.path);
}

static void keep_end(search *s, kfe_i_svms_copy *svms, kfe_i_local_path *out)
{
    kfe_i_svms_keep(&s->p->svms, svms);
    memcpy(out->parameters, s->now, (size_t)s->p->at.size * sizeof *s->now);
    memcpy(out->objectives, s->objectives, (size_t)(s->iterations + 1) * sizeof *s->objectives);
    out->iterations = s->iterations;
    out->converged = s->converged || s->settings->max_iterations == 0;
}

static void list_chain(search *s, kfe_i_loop *loop)
{
    chain *c = &s->chain;

    KFE_LOOP_ARRAY(loop, c->path.parameters, s->p->at.size);
    KFE_LOOP_ARRAY(loop, c->path.objectives, s->settings->max_iterations + 1);
    KFE_LOOP_VALUE(loop, c->path.iterations);
    KFE_LOOP_VALUE(loop, c->path.converged);
    kfe_i_svms_copy_list(&s->p->svms, &c->svms, loop);
    KFE_LOOP_VALUE(loop, c->value);
    KFE_LOOP_VALUE(loop, c->softened);
    KFE_LOOP_VALUE(loop, c->lower);
    KFE_LOOP_VALUE(loop, s->continued);
}

/* What the descent under way and those after it need; `descent` counts them, `best` is the value of the best end. */
static void list_state(search *s, kfe_i_local_path *out, int64_t *descent, double *best, kfe_i_rng *rng,
                       kfe_i_loop *loop)
{
    int64_t most = s->settings->max_iterations + 1;

    kfe_i_loop_begin(s->p->ctx, "localizing", 0, loop);
    KFE_LOOP_VALUE(loop, *descent);
    KFE_LOOP_VALUE(loop, *best);
    KFE_LOOP_VALUE(loop, *rng);
    KFE_LOOP_VALUE(loop, s->value);
    KFE_LOOP_VALUE(loop, s->step);
    KFE_LOOP_VALUE(loop, s->iterations);
    KFE_LOOP_VALUE(loop, s->converged);
    KFE_LOOP_VALUE(loop, s->p->ridge);
    KFE_LOOP_ARRAY(loop, s->now, s->p->at.size);
    KFE_LOOP_ARRAY(loop, s->objectives, most);
    KFE_LOOP_ARRAY(loop, s->tried, s->plan.tried);
    KFE_LOOP_ARRAY(loop, s->tried_at, s->plan.tried * s->p->at.size);
    kfe_i_svms_copy_list(&s->p->svms, &s->current, loop);
    kfe_i_svms_copy_list(&s->p->svms, &s->best, loop);
    kfe_i_onevsrest_list_state(&s->p->svms, loop);
    KFE_LOOP_ARRAY(loop, out->parameters, s->p->at.size);
    KFE_LOOP_ARRAY(loop, out->objectives, most);
    KFE_LOOP_ARRAY(loop, out->ends, out->restarts);
    KFE_LOOP_VALUE(loop, out->iterations);
    KFE_LOOP_VALUE(loop, out->converged);
    list_chain(s, loop);
}

/* A single part has the share 1 whatever the gate: there is nothing to soften, and starts differ little. */
static plan make_plan(const kfe_i_local_problem *p, const kfe_i_local_settings *settings)
{
    if (settings->restarts > 0 || p->count == 1)
        return (plan){.starts = settings->restarts > 0 ? settings->restarts : 1};
    return (plan){.tried = TRIED_STARTS,
                  .starts = TRIED_STARTS,
                  .continued = CONTINUED_STARTS,
                  .softened = MOST_SOFTENINGS};
}

/* Keeps the end of descent number `descent` if it is the lowest of its start, or of all. */
static void take_end(search *s, int64_t descent, double *best, kfe_i_local_path *out)
{
    if (descent < s->plan.tried) {
        stop_trying(s, descent);
        return;
    }
    out->ends[descent - s->plan.tried] = s->value;
    s->chain.lower = s->continued > 0 && s->value < s->chain.value;
    if (s->chain.lower) {
        s->chain.value = s->value;
        keep_end(s, &s->chain.svms, &s->chain.path);
    }
    if (s->value < *best) {
        *best = s->value;
        keep_end(s, &s->best, out);
    }
}

static void warn_of_the_end(const kfe_i_local_problem *p, const kfe_i_local_settings *settings,
                            const kfe_i_local_path *path)
{
    char where[64];

    if (!path->converged)
        kfe_i_log(p->ctx, KFE_LOG_WARNING,
                  "%s: the objective still falls after %lld iterations; raise {max-iter}, or {settled}",
                  p->method, (long long)settings->max_iterations);
    if (p->svms.gap > settings->settled * p->svms.objective &&
        p->svms.gap > settings->stop * p->svms.objective) {
        snprintf(where, sizeof where, "a duality gap of %.2g of the objective",
                 p->svms.gap / p->svms.objective);
        kfe_i_svm_warn(p->ctx, p->method, where);
    }
}

kfe_status kfe_i_local_search(kfe_i_local_problem *p, const kfe_i_local_settings *settings,
                              kfe_i_local_path *out)
{
    kfe_status status = KFE_OK;
    search s = {.p = p, .settings = settings};
    double best = INFINITY;
    int saved_threads = omp_get_max_threads();
    int64_t descent = 0;
    int restored = 0;
    kfe_i_rng rng;
    kfe_i_loop loop;

    omp_set_num_threads(p->threads);
    kfe_i_rng_init(&rng, kfe_context_seed(p->ctx), KFE_STREAM_LOCAL);
    s.plan = make_plan(p, settings);
    out->restarts = s.plan.starts - s.plan.tried + s.plan.continued * (1 + s.plan.softened);
    KFE_TRY(search_open(&s, out));
    list_state(&s, out, &descent, &best, &rng, &loop);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    do {
        KFE_TRY(descend(&s, descent, &rng, restored, &loop));
        restored = 0;
        take_end(&s, descent, &best, out);
        descent++;
    } while (descent < s.plan.starts || s.continued < s.plan.continued || softens(&s));
    out->restarts = descent - s.plan.tried;
    kfe_i_svms_restore(&s.best, &p->svms);
    KFE_TRY(kfe_i_local_update(p, KFE_LOCAL_PROJECTIONS, out->parameters));
    KFE_TRY(kfe_i_local_update(p, KFE_LOCAL_GATE_MAP, out->parameters));
    warn_of_the_end(p, settings, out);
cleanup:
    omp_set_num_threads(saved_threads);
    search_free(&s);
    return status;
}

void kfe_i_local_path_free(kfe_context *ctx, kfe_i_local_path *path)
{
    kfe_i_free(ctx, path->parameters);
    kfe_i_free(ctx, path->objectives);
    kfe_i_free(ctx, path->ends);
    memset(path, 0, sizeof *path);
}
