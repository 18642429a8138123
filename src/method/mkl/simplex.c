/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton steps on the simplex. Each round minimises the quadratic model of f over the simplex, by exact steps
 * that move weight between two places, and goes towards that minimum until f has fallen enough (Armijo). It
 * ends when the gap (simplex.h) is small, or when f falls no more however accurate it is. A gap of g shows in
 * f as a multiple of g²; where that is below the rounding of f, slopes decide whether a step was good.
 *
 * Cost of a round: the first and second derivatives, one value for each trial, and O(p) for each move.
 */
#include "method/mkl/simplex.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

/* Moves of weight in one model of p weights, p times over. */
enum { MODEL_SWEEPS = 2000, HALVINGS = 30 };
#define ARMIJO 1e-4
/* Changes of f below this share of it are rounding, or may be. */
#define UNSEEN 1e-8

typedef struct newton {
    kfe_i_simplex *s;
    double excess;   /* of f at d */
    double *hessian; /* p × p */
    double *slope;   /* of the model, at `next` */
    double *next, *trial;
    double *trial_q;
} newton;

static double gap_at(const kfe_i_simplex *s, const double *d, const double *q)
{
    double largest = -HUGE_VAL;
    double mean = 0;

    for (int64_t i = 0; i < s->p; i++) {
        if (s->usable[i] > 0)
            largest = fmax(largest, q[i]);
        mean += d[i] * q[i];
    }
    return fmax(0, largest - mean);
}

double kfe_i_simplex_gap(const kfe_i_simplex *s)
{
    return gap_at(s, s->d, s->q);
}

kfe_status kfe_i_simplex_measure(kfe_i_simplex *s)
{
    kfe_status status = KFE_OK;
    double excess = 0;

    KFE_TRY(s->value(s->user, s->d, &s->objective, &excess));
    KFE_TRY(s->slopes(s->user, s->q));
    s->gap = gap_at(s, s->d, s->q) + excess;
cleanup:
    return status;
}

int kfe_i_simplex_is_solved(const kfe_i_simplex *s)
{
    return s->gap <= s->tolerance * s->objective;
}

static kfe_status second_derivatives(newton *t)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex *s = t->s;
    double trace = 0;

    KFE_TRY(s->curvature(s->user, t->hessian));
    for (int64_t i = 0; i < s->p; i++)
        trace += t->hessian[i * s->p + i];
    /* weights that can take each other's place leave the model flat */
    for (int64_t i = 0; i < s->p; i++)
        t->hessian[i * s->p + i] += 1e-12 * trace + DBL_MIN;
    KFE_TRY(kfe_i_checkpoint(s->ctx, "weights", s->rounds, 0));
cleanup:
    return status;
}

/* What gains and what loses by the steepest pair; 0 if no pair promises anything. */
static int steepest_pair(const newton *t, int64_t *gains, int64_t *loses)
{
    const kfe_i_simplex *s = t->s;

    *gains = *loses = -1;
    for (int64_t i = 0; i < s->p; i++) {
        if (s->usable[i] == 0)
            continue;
        if (*gains < 0 || t->slope[i] < t->slope[*gains])
            *gains = i;
        if (t->next[i] > 0 && (*loses < 0 || t->slope[i] > t->slope[*loses]))
            *loses = i;
    }
    return *loses >= 0 && t->slope[*loses] - t->slope[*gains] > 1e-3 * s->tolerance * s->objective;
}

static void minimise_model(newton *t)
{
    int64_t p = t->s->p;
    int64_t i = 0;
    int64_t j = 0;

    memcpy(t->next, t->s->d, (size_t)p * sizeof *t->next);
    for (int64_t m = 0; m < p; m++)
        t->slope[m] = -t->s->q[m];
    for (int64_t move = 0; move < MODEL_SWEEPS * p && steepest_pair(t, &i, &j); move++) {
        const double *hi = t->hessian + i * p;
        const double *hj = t->hessian + j * p;
        double step = (t->slope[j] - t->slope[i]) / fmax(hi[i] + hj[j] - 2 * hi[j], DBL_MIN);
        int empties = step >= t->next[j];
        step = empties ? t->next[j] : step;
        t->next[i] += step;
        t->next[j] = empties ? 0 : t->next[j] - step;
        for (int64_t m = 0; m < p; m++)
            t->slope[m] += step * (hi[m] - hj[m]);
    }
}

/* Whether `trial`, of this value, is where to go, `promised` being the change of f by its slopes. */
static kfe_status judge(newton *t, double promised, double value, double excess, int *accepted)
{
    kfe_status status = KFE_OK;
    const kfe_i_simplex *s = t->s;
    double change = value + excess - s->objective - t->excess;

    *accepted = change <= ARMIJO * promised;
    if (*accepted || fabs(promised) > 100 * UNSEEN * s->objective || change > UNSEEN * s->objective)
        return KFE_OK;
    KFE_TRY(s->slopes(s->user, t->trial_q));
    *accepted = gap_at(s, t->trial, t->trial_q) < 0.5 * gap_at(s, s->d, s->q);
cleanup:
    return status;
}

/* Goes from d towards `next`; 0 in *moved if f cannot fall. */
static kfe_status line_search(newton *t, int *moved)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex *s = t->s;
    double promised = 0;
    double step = 1;

    *moved = 0;
    for (int64_t i = 0; i < s->p; i++)
        promised -= s->q[i] * (t->next[i] - s->d[i]);
    for (int halving = 0; halving < HALVINGS && promised < 0; halving++, step /= 2) {
        double value = 0;
        double excess = 0;
        for (int64_t i = 0; i < s->p; i++)
            t->trial[i] = step == 1 ? t->next[i] : s->d[i] + step * (t->next[i] - s->d[i]);
        KFE_TRY(s->value(s->user, t->trial, &value, &excess));
        KFE_TRY(judge(t, step * promised, value, excess, moved));
        if (!*moved)
            continue;
        memcpy(s->d, t->trial, (size_t)s->p * sizeof *s->d);
        s->objective = value;
        t->excess = excess;
        break;
    }
cleanup:
    return status;
}

static kfe_status iterate(newton *t)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex *s = t->s;
    int moved = 1;

    KFE_TRY(s->value(s->user, s->d, &s->objective, &t->excess));
    while (s->rounds < s->max_rounds) {
        s->rounds++;
        KFE_TRY(s->slopes(s->user, s->q));
        s->gap = gap_at(s, s->d, s->q) + t->excess;
        if (kfe_i_simplex_is_solved(s))
            break;
        KFE_TRY(second_derivatives(t));
        minimise_model(t);
        KFE_TRY(line_search(t, &moved));
        if (moved)
            continue;
        if (!s->refine || !s->refine(s->user))
            break;
        KFE_TRY(s->value(s->user, s->d, &s->objective, &t->excess));
    }
cleanup:
    return status;
}

kfe_status kfe_i_simplex_newton(kfe_i_simplex *s)
{
    kfe_status status = KFE_OK;
    newton t = {.s = s};

    KFE_ALLOC(s->ctx, t.hessian, s->p * s->p);
    KFE_ALLOC(s->ctx, t.slope, s->p);
    KFE_ALLOC(s->ctx, t.next, s->p);
    KFE_ALLOC(s->ctx, t.trial, s->p);
    KFE_ALLOC(s->ctx, t.trial_q, s->p);
    KFE_TRY(iterate(&t));
cleanup:
    kfe_i_free(s->ctx, t.hessian);
    kfe_i_free(s->ctx, t.slope);
    kfe_i_free(s->ctx, t.next);
    kfe_i_free(s->ctx, t.trial);
    kfe_i_free(s->ctx, t.trial_q);
    return status;
}
