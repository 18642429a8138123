/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alternation of sldr and lmkl: a step down in the projections, one in the gate's projection, one in its
 * weights, each followed by the machines, until an iteration lowers J by less than its share `settled`.
 *
 * A step in matrices with orthonormal columns goes along the part G of the gradient that is tangent to them,
 * and back by the polar factor: W ← (W − tG)((W − tG)ᵀ(W − tG))^(−½). Steps by Armijo's rule: t is taken when
 * J falls by at least 10⁻⁴·t·‖G‖²; else a shorter one is tried, by the parabola through what is known. Each
 * trial solves the machines from their last α. A step that would raise J is never taken, so that with steps
 * of one size the search ends where such a step is too long.
 *
 * Gönen & Alpaydın (2010), algorithm 1. Not convex: what is found depends on the start.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "method/local/local_problem.h"

enum { MOST_TRIALS = 16 };
#define ARMIJO 1e-4
/* The first step turns projections by so much (radians), and changes logits by so much. */
#define KFE_FIRST_CHANGE 0.3
#define KFE_STEP_GROWTH 2.0

typedef struct svms_copy {
    double *alpha, *weights, *offset;
    double alpha_sum, objective;
} svms_copy;

typedef struct search {
    kfe_i_local_problem *p;
    const kfe_i_local_settings *settings;
    kfe_i_local_retraction retraction;
    double *now, *trial, *gradient;
    double value;
    double step[KFE_LOCAL_BLOCKS]; /* to try next; 0: none is known */
    svms_copy current, best;       /* at `now`, and at the best end */
    double *objectives;
    int64_t iterations;
} search;

/* ---- machines kept aside ---- */

static kfe_status copy_open(kfe_context *ctx, const kfe_i_onevsrest *svms, svms_copy *copy)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, copy->alpha, svms->n * svms->count);
    KFE_ALLOC(ctx, copy->weights, svms->n * svms->count);
    KFE_ALLOC(ctx, copy->offset, svms->count);
cleanup:
    return status;
}

static void copy_free(kfe_context *ctx, svms_copy *copy)
{
    kfe_i_free(ctx, copy->alpha);
    kfe_i_free(ctx, copy->weights);
    kfe_i_free(ctx, copy->offset);
}

static void keep_svms(const kfe_i_onevsrest *from, svms_copy *to)
{
    size_t bytes = (size_t)(from->n * from->count) * sizeof *from->alpha;

    memcpy(to->alpha, from->alpha, bytes);
    memcpy(to->weights, from->weights, bytes);
    memcpy(to->offset, from->offset, (size_t)from->count * sizeof *from->offset);
    to->alpha_sum = from->alpha_sum;
    to->objective = from->objective;
}

static void restore_svms(const svms_copy *from, kfe_i_onevsrest *to)
{
    size_t bytes = (size_t)(to->n * to->count) * sizeof *to->alpha;

    memcpy(to->alpha, from->alpha, bytes);
    memcpy(to->weights, from->weights, bytes);
    memcpy(to->offset, from->offset, (size_t)to->count * sizeof *to->offset);
    to->alpha_sum = from->alpha_sum;
    to->objective = from->objective;
}

/* ---- one step ---- */

/* The gradient of the block, along what keeps orthonormal columns orthonormal. */
static kfe_status find_gradient(search *s, kfe_i_local_block block)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;

    KFE_TRY(kfe_i_local_gradient(p, block, s->now, s->gradient));
    for (int64_t m = 0; block == KFE_LOCAL_PROJECTIONS && m < p->count; m++) {
        int64_t at = p->parts[m].projection_at;
        kfe_i_local_tangent(&s->retraction, p->parts[m].columns.cols, p->parts[m].dim, s->now + at,
                            s->gradient + at);
    }
    if (block == KFE_LOCAL_GATE_MAP)
        kfe_i_local_tangent(&s->retraction, p->gate_cols, p->gate_dim, s->now + p->gate_at,
                            s->gradient + p->gate_at);
cleanup:
    return status;
}

static kfe_status retract(search *s, kfe_i_local_block block)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;

    for (int64_t m = 0; block == KFE_LOCAL_PROJECTIONS && m < p->count; m++)
        KFE_TRY(kfe_i_local_polar(&s->retraction, p->parts[m].columns.cols, p->parts[m].dim,
                                  s->trial + p->parts[m].projection_at));
    if (block == KFE_LOCAL_GATE_MAP)
        KFE_TRY(kfe_i_local_polar(&s->retraction, p->gate_cols, p->gate_dim, s->trial + p->gate_at));
cleanup:
    return status;
}

static kfe_status try_step(search *s, kfe_i_local_block block, double step, double *value)
{
    kfe_status status = KFE_OK;
    int64_t first = 0;
    int64_t count = 0;

    kfe_i_local_block_place(s->p, block, &first, &count);
    memcpy(s->trial, s->now, (size_t)s->p->size * sizeof *s->now);
    cblas_daxpy((blasint)count, -step, s->gradient + first, 1, s->trial + first, 1);
    KFE_TRY(retract(s, block));
    KFE_TRY(kfe_i_local_settle(s->p, block, s->trial));
    KFE_TRY(kfe_i_local_value(s->p, s->trial, value));
cleanup:
    return status;
}

static double first_step(const search *s, kfe_i_local_block block, double length)
{
    double unit = block == KFE_LOCAL_GATE_WEIGHTS && s->p->gate_scale > 0 ? sqrt(s->p->gate_scale) : 1;

    if (s->settings->step_size > 0 && (s->step[block] == 0 || s->settings->step == KFE_LOCAL_CONSTANT))
        return s->settings->step_size;
    return s->step[block] > 0 ? s->step[block] : KFE_FIRST_CHANGE / (length * unit);
}

/* The minimum of the parabola through J and its slope at 0 and the value at `step`, kept off both ends. */
static double shorter_step(double step, double before, double squared, double value)
{
    double curvature = value - before + squared * step;
    double best = curvature > 0 ? squared * step * step / (2 * curvature) : step / 2;

    return fmin(fmax(best, 0.1 * step), 0.5 * step);
}

static void accept(search *s, double value)
{
    double *swapped = s->now;

    s->now = s->trial;
    s->trial = swapped;
    s->value = value;
    keep_svms(&s->p->svms, &s->current);
}

/* No step was good: everything is again as it was. */
static kfe_status go_back(search *s, kfe_i_local_block block)
{
    restore_svms(&s->current, &s->p->svms);
    return kfe_i_local_settle(s->p, block, s->now);
}

static kfe_status step_down(search *s, kfe_i_local_block block)
{
    kfe_status status = KFE_OK;
    int constant = s->settings->step == KFE_LOCAL_CONSTANT;
    int64_t first = 0;
    int64_t count = 0;

    kfe_i_local_block_place(s->p, block, &first, &count);
    if (count == 0)
        return KFE_OK;
    KFE_TRY(find_gradient(s, block));
    double length = cblas_dnrm2((blasint)count, s->gradient + first, 1);
    if (!(length > DBL_EPSILON * s->value))
        return KFE_OK;
    double step = first_step(s, block, length);
    for (int trial = 0; trial < (constant ? 1 : MOST_TRIALS); trial++) {
        double value = 0;
        double enough = constant ? 0 : ARMIJO * step * length * length;
        KFE_TRY(try_step(s, block, step, &value));
        if (value <= s->value - enough) {
            s->step[block] = trial == 0 && !constant ? KFE_STEP_GROWTH * step : step;
            accept(s, value);
            return KFE_OK;
        }
        step = constant ? step : shorter_step(step, s->value, length * length, value);
    }
    s->step[block] = step;
    KFE_TRY(go_back(s, block));
cleanup:
    return status;
}

/* ---- one descent ---- */

static kfe_status begin(search *s, kfe_i_rng *rng)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem *p = s->p;

    KFE_TRY(kfe_i_local_start(p, s->settings->start, rng, &s->retraction, s->now));
    KFE_TRY(kfe_i_local_settle(p, KFE_LOCAL_PROJECTIONS, s->now));
    KFE_TRY(kfe_i_local_settle(p, KFE_LOCAL_GATE_MAP, s->now));
    memset(p->svms.alpha, 0, (size_t)(p->n * p->svms.count) * sizeof *p->svms.alpha);
    KFE_TRY(kfe_i_local_value(p, s->now, &s->value));
    if (p->ridge == 0 && s->settings->ridge > 0) {
        p->ridge = s->settings->ridge * s->value * p->gate_scale;
        s->value += p->count > 1 ? 0.5 * p->ridge * kfe_i_local_gate_length(p, s->now) : 0;
    }
    keep_svms(&p->svms, &s->current);
    memset(s->step, 0, sizeof s->step);
    s->iterations = 0;
    s->objectives[0] = s->value;
cleanup:
    return status;
}

static kfe_status descend(search *s, kfe_i_rng *rng)
{
    kfe_status status = KFE_OK;
    int64_t most = s->settings->max_iterations;

    KFE_TRY(begin(s, rng));
    while (s->iterations < most) {
        double before = s->value;
        KFE_TRY(kfe_i_checkpoint(s->p->ctx, "localizing", s->iterations, most));
        for (int block = 0; block < KFE_LOCAL_BLOCKS; block++)
            KFE_TRY(step_down(s, (kfe_i_local_block)block));
        s->objectives[++s->iterations] = s->value;
        kfe_i_log(s->p->ctx, KFE_LOG_DEBUG, "%s: iteration %lld: %.10g", s->p->method,
                  (long long)s->iterations, s->value);
        if (!(s->value < (1 - s->settings->settled) * before))
            return KFE_OK;
    }
    if (most > 0)
        kfe_i_log(s->p->ctx, KFE_LOG_WARNING,
                  "%s: the objective still falls after %lld iterations; raise --max-iter, or --settled",
                  s->p->method, (long long)most);
cleanup:
    return status;
}

/* ---- restarts ---- */

static kfe_status search_open(search *s, kfe_i_local_path *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->p->ctx;

    KFE_TRY(kfe_i_local_retraction_open(s->p, &s->retraction));
    KFE_ALLOC(ctx, s->now, s->p->size);
    KFE_ALLOC(ctx, s->trial, s->p->size);
    KFE_ALLOC(ctx, s->gradient, s->p->size);
    KFE_ALLOC(ctx, s->objectives, s->settings->max_iterations + 1);
    KFE_TRY(copy_open(ctx, &s->p->svms, &s->current));
    KFE_TRY(copy_open(ctx, &s->p->svms, &s->best));
    KFE_ALLOC(ctx, out->parameters, s->p->size);
    KFE_ALLOC(ctx, out->objectives, s->settings->max_iterations + 1);
    KFE_ALLOC(ctx, out->ends, s->settings->restarts);
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
    copy_free(ctx, &s->current);
    copy_free(ctx, &s->best);
}

static void keep_best(search *s, kfe_i_local_path *out)
{
    keep_svms(&s->p->svms, &s->best);
    memcpy(out->parameters, s->now, (size_t)s->p->size * sizeof *s->now);
    memcpy(out->objectives, s->objectives, (size_t)(s->iterations + 1) * sizeof *s->objectives);
    out->iterations = s->iterations;
}

kfe_status kfe_i_local_search(kfe_i_local_problem *p, const kfe_i_local_settings *settings,
                              kfe_i_local_path *out)
{
    kfe_status status = KFE_OK;
    search s = {.p = p, .settings = settings};
    double best = INFINITY;
    int saved_threads = omp_get_max_threads();
    kfe_i_rng rng;

    omp_set_num_threads(p->threads);
    kfe_i_rng_init(&rng, kfe_context_seed(p->ctx), KFE_STREAM_LOCAL);
    KFE_TRY(search_open(&s, out));
    for (int64_t r = 0; r < settings->restarts; r++) {
        KFE_TRY(descend(&s, &rng));
        out->ends[r] = s.value;
        if (s.value < best) {
            best = s.value;
            keep_best(&s, out);
        }
    }
    restore_svms(&s.best, &p->svms);
    KFE_TRY(kfe_i_local_settle(p, KFE_LOCAL_PROJECTIONS, out->parameters));
    KFE_TRY(kfe_i_local_settle(p, KFE_LOCAL_GATE_MAP, out->parameters));
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
