/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line search of all methods that descend or ascend (an ascent passes −f).
 *
 * Strong Wolfe: bracketing and interpolation. The interval between the best point and one beyond the minimum
 * shrinks: the secant of the slopes where their signs differ, else the middle, kept off both ends. Where
 * rounding hides the decrease, the first condition is replaced by what it says of slopes for a parabola,
 *     f'(t) ≤ (1 − 2c₁) |f'(0)|,
 * and f(t) may exceed f(0) by rounding only (Hager & Zhang, 2005).
 *
 * Sufficient decrease only: backtracking (Armijo). A step that is too long is replaced by the minimum of the
 * parabola through f(0), f'(0) and f(t), at least a tenth and at most half of it.
 *
 * Nocedal & Wright, "Numerical optimization", sections 3.1 and 3.5.
 */
#include "method/shared/line_search.h"

#include <float.h>
#include <math.h>

enum { MAX_TRIALS = 40 };
#define KFE_DECREASE 1e-4 /* c₁ */
#define KFE_GROWTH 3.0    /* of the step, until the minimum is bracketed */
#define KFE_OFF_THE_ENDS 0.1

static double rounding_of(const kfe_i_line *line)
{
    return 8 * DBL_EPSILON * fmax(fabs(line->value), DBL_MIN);
}

static kfe_status try_step(const kfe_i_line *line, double step, kfe_i_step *at)
{
    at->step = step;
    at->trials++;
    return line->at(line->state, step, &at->value, line->curvature > 0 ? &at->slope : NULL);
}

static int max_trials(const kfe_i_line *line)
{
    return line->max_trials > 0 ? line->max_trials : MAX_TRIALS;
}

static int is_sufficient(const kfe_i_line *line, const kfe_i_step *at)
{
    return at->value <= line->value + KFE_DECREASE * at->step * line->slope;
}

/* ---- strong Wolfe ---- */

typedef struct bracket {
    kfe_i_step low;  /* the best point so far; the minimum lies on the side to which f falls */
    kfe_i_step high; /* the other end */
    int closed;      /* the other end is known */
    int repeats;     /* trials in a row that only moved the other end */
} bracket;

static int is_decrease(const kfe_i_line *line, const kfe_i_step *at)
{
    return is_sufficient(line, at) || (at->value <= line->value + rounding_of(line) &&
                                       at->slope <= -(1 - 2 * KFE_DECREASE) * line->slope &&
                                       fabs(at->value - line->value) <= 1e3 * rounding_of(line));
}

static int satisfies_wolfe(const kfe_i_line *line, const kfe_i_step *at)
{
    return is_decrease(line, at) && (fabs(at->slope) <= -line->curvature * line->slope ||
                                     (at->step >= line->longest && at->slope < 0));
}

/* The zero of the secant of the slopes; the middle if that is not inside. Values are not used: near a minimum
 * rounding hides their differences long before those of the slopes. */
static double interpolate(const kfe_i_step *low, const kfe_i_step *high)
{
    double width = high->step - low->step;

    if (low->slope * high->slope < 0)
        return low->step + width * low->slope / (low->slope - high->slope);
    return low->step + width / 2;
}

static double next_trial(const kfe_i_line *line, const bracket *b)
{
    if (!b->closed)
        return fmin(line->longest, KFE_GROWTH * b->low.step);
    double width = b->high.step - b->low.step;
    double share = (interpolate(&b->low, &b->high) - b->low.step) / width;
    if (b->repeats >= 2) /* the secant creeps: halve the interval */
        share = 0.5;
    if (!(share >= KFE_OFF_THE_ENDS))
        share = share >= 0 ? KFE_OFF_THE_ENDS : 0.5;
    if (share > 1 - KFE_OFF_THE_ENDS)
        share = share <= 1 ? 1 - KFE_OFF_THE_ENDS : 0.5;
    return b->low.step + share * width;
}

/* The minimum is between the new low end and one of the old ends. */
static void shrink(const kfe_i_line *line, bracket *b, const kfe_i_step *at)
{
    if (!is_decrease(line, at) || at->value > b->low.value + rounding_of(line)) {
        b->high = *at;
        b->repeats += b->closed;
        b->closed = 1;
        return;
    }
    double toward_high = b->closed ? b->high.step - b->low.step : 1;
    if (at->slope * toward_high > 0) {
        b->high = b->low;
        b->closed = 1;
    }
    b->low = *at;
    b->repeats = 0;
}

static int is_spent(const bracket *b)
{
    return b->closed && fabs(b->high.step - b->low.step) <= 4 * DBL_EPSILON * fmax(b->high.step, b->low.step);
}

static kfe_status bracket_and_interpolate(const kfe_i_line *line, kfe_i_step *out)
{
    kfe_status status = KFE_OK;
    bracket b = {.low = {.value = line->value, .slope = line->slope}};
    double step = fmin(line->first, line->longest);

    while (out->trials < max_trials(line) && !is_spent(&b)) {
        KFE_TRY(try_step(line, step, out));
        if (satisfies_wolfe(line, out))
            return KFE_OK;
        shrink(line, &b, out);
        step = next_trial(line, &b);
    }
    out->step = b.low.step;
    if (b.low.step > 0)
        KFE_TRY(try_step(line, b.low.step, out));
cleanup:
    return status;
}

/* ---- sufficient decrease ---- */

static double shorter_step(const kfe_i_line *line, const kfe_i_step *at)
{
    double bend = at->value - line->value - line->slope * at->step;
    double best = bend > 0 ? -line->slope * at->step * at->step / (2 * bend) : at->step / 2;

    return fmin(fmax(best, 0.1 * at->step), 0.5 * at->step);
}

static kfe_status backtrack(const kfe_i_line *line, kfe_i_step *out)
{
    kfe_status status = KFE_OK;
    double step = fmin(line->first, line->longest);
    int accepted = 0;

    while (!accepted && out->trials < max_trials(line)) {
        KFE_TRY(try_step(line, step, out));
        accepted = is_sufficient(line, out);
        if (!accepted && line->accept)
            KFE_TRY(line->accept(line->state, step, out->value, &accepted));
        step = shorter_step(line, out);
    }
    out->step = accepted ? out->step : 0;
cleanup:
    return status;
}

kfe_status kfe_i_line_search(const kfe_i_line *line, kfe_i_step *out)
{
    *out = (kfe_i_step){0};
    return line->curvature > 0 ? bracket_and_interpolate(line, out) : backtrack(line, out);
}
