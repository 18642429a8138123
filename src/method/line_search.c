/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line search for a maximum by bracketing and interpolation. A step t is taken when
 *     f(t) ≥ f(0) + c₁ t f'(0)    and    |f'(t)| ≤ c₂ f'(0).
 * Where rounding hides the increase, the first condition is replaced by what it says of slopes for a
 * parabola, f'(t) ≥ −(1 − 2c₁) f'(0), and f(t) may be below f(0) by rounding only (Hager & Zhang, 2005).
 * Otherwise the interval between the best point and one beyond the maximum shrinks: secant on slopes where
 * they differ in sign, else the middle, kept off the ends.
 *
 * Nocedal & Wright, "Numerical optimization", section 3.5.
 */
#include "method/line_search.h"

#include <float.h>
#include <math.h>

enum { MOST_TRIALS = 40 };
#define KFE_INCREASE 1e-4  /* c₁ */
#define KFE_CURVATURE 0.01 /* c₂: steps near the best are hardly changed by rounding */
#define KFE_GROWTH 3.0     /* while no end of the interval is known */
#define KFE_OFF_THE_ENDS 0.1

typedef struct bracket {
    kfe_i_step low;  /* the best so far; the maximum lies on the side of its slope */
    kfe_i_step high; /* the other end */
    int closed;
} bracket;

static double rounding_of(const kfe_i_line *line)
{
    return 8 * DBL_EPSILON * fmax(fabs(line->value), DBL_MIN);
}

static int is_increase(const kfe_i_line *line, const kfe_i_step *at)
{
    if (at->value >= line->value + KFE_INCREASE * at->step * line->slope)
        return 1;
    return at->value >= line->value - rounding_of(line) &&
           at->slope >= -(1 - 2 * KFE_INCREASE) * line->slope &&
           fabs(at->value - line->value) <= 1e3 * rounding_of(line);
}

static int is_good(const kfe_i_line *line, const kfe_i_step *at)
{
    if (!is_increase(line, at))
        return 0;
    return fabs(at->slope) <= KFE_CURVATURE * line->slope || (at->step >= line->longest && at->slope > 0);
}

/* Where the secant of the slopes is zero; the middle if that is not inside. Values play no part: their
 * differences drown in rounding near a maximum, long before slopes do, and would pass that on to the step. */
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
    if (!(share >= KFE_OFF_THE_ENDS))
        share = share >= 0 ? KFE_OFF_THE_ENDS : 0.5;
    if (share > 1 - KFE_OFF_THE_ENDS)
        share = share <= 1 ? 1 - KFE_OFF_THE_ENDS : 0.5;
    return b->low.step + share * width;
}

/* The maximum is between the new low end and one of the others. */
static void shrink(const kfe_i_line *line, bracket *b, const kfe_i_step *at)
{
    if (!is_increase(line, at) || at->value < b->low.value - rounding_of(line)) {
        b->high = *at;
        b->closed = 1;
        return;
    }
    double toward_high = b->closed ? b->high.step - b->low.step : 1;
    if (at->slope * toward_high < 0) {
        b->high = b->low;
        b->closed = 1;
    }
    b->low = *at;
}

static kfe_status try_step(const kfe_i_line *line, double step, kfe_i_step *at)
{
    at->step = step;
    return line->at(line->state, step, &at->value, &at->slope);
}

kfe_status kfe_i_line_search(const kfe_i_line *line, kfe_i_step *out)
{
    kfe_status status = KFE_OK;
    bracket b = {.low = {.value = line->value, .slope = line->slope}};
    kfe_i_step at = {0};
    double step = fmin(line->first, line->longest);

    for (int trial = 1; trial <= MOST_TRIALS; trial++) {
        KFE_TRY(try_step(line, step, &at));
        out->trials = trial;
        if (is_good(line, &at)) {
            int trials = out->trials;
            *out = at;
            out->trials = trials;
            return KFE_OK;
        }
        shrink(line, &b, &at);
        step = next_trial(line, &b);
        if (b.closed && fabs(b.high.step - b.low.step) <= 4 * DBL_EPSILON * fmax(b.high.step, b.low.step))
            break;
    }
    int trials = out->trials;
    *out = b.low;
    out->trials = trials;
    if (b.low.step > 0)
        KFE_TRY(try_step(line, b.low.step, out));
cleanup:
    return status;
}
