/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, ticks and positions on axes; used by the SVG writer. */
#include "report/figure/scale.h"

#include <math.h>

double kfe_i_cell(const kfe_i_figure *figure, int column, int64_t row)
{
    const kfe_i_column *c = &figure->columns[column - 1];

    if (c->numbers)
        return c->numbers[row];
    return c->codes[row] < 0 ? (double)NAN : (double)c->codes[row];
}

int kfe_i_series_column(const kfe_i_series *series, char axis)
{
    return axis == 'x' ? series->x : axis == 'y' ? series->y : series->z;
}

static void widen(kfe_i_scale *scale, double value)
{
    if (scale->log)
        value = value > 0 ? log10(value) : NAN;
    if (!isfinite(value))
        return;
    scale->low = fmin(scale->low, value);
    scale->high = fmax(scale->high, value);
}

void kfe_i_ellipse_point(const kfe_i_panel *panel, int k, double at[2])
{
    double angle = 2 * 3.14159265358979323846 * k / KFE_ELLIPSE_POINTS;

    at[0] = panel->middle[0] + panel->ellipse[0] * cos(angle);
    at[1] = panel->middle[1] + panel->ellipse[1] * cos(angle) + panel->ellipse[2] * sin(angle);
}

static void widen_by_ellipse(kfe_i_scale *scale, const kfe_i_panel *panel, char axis)
{
    for (int k = 0; panel->has_ellipse && axis != 'z' && k < KFE_ELLIPSE_POINTS; k++) {
        double at[2];
        kfe_i_ellipse_point(panel, k, at);
        widen(scale, at[axis == 'y']);
    }
}

static void widen_by_series(kfe_i_scale *scale, const kfe_i_figure *figure, const kfe_i_series *series,
                            char axis)
{
    int column = kfe_i_series_column(series, axis);
    int spread = axis == 'y' ? series->spread : 0;

    if (column == 0)
        return;
    if (!figure->columns[column - 1].numbers) {
        scale->words = &figure->columns[column - 1];
        return;
    }
    for (int64_t i = series->first; i < series->first + series->count; i++) {
        double half = spread ? kfe_i_cell(figure, spread, i) : 0;
        double value = kfe_i_cell(figure, column, i);
        half = isfinite(half) ? half : 0;
        widen(scale, value - half);
        widen(scale, value + half);
    }
    if (series->mark == KFE_MARK_BARS && axis == 'y')
        widen(scale, 0);
}

/* Leaves room around the data; a single value gets room of its own. */
static void add_margin(kfe_i_scale *scale, double share)
{
    double length = scale->high - scale->low;

    if (!(scale->low <= scale->high)) { /* no data */
        scale->low = 0;
        scale->high = 1;
        return;
    }
    if (!(length > 1e-12 * fmax(fabs(scale->low), fabs(scale->high))))
        length = scale->low == 0 ? 1 : fabs(scale->low);
    scale->low -= share * length;
    scale->high += share * length;
}

kfe_i_scale kfe_i_scale_of(const kfe_i_figure *figure, int panel, char axis)
{
    const kfe_i_panel *p = &figure->panels[panel];
    const kfe_i_axis *a = axis == 'x' ? &p->x : axis == 'y' ? &p->y : &p->z;
    kfe_i_scale scale = {.low = INFINITY, .high = -INFINITY, .log = a->log};
    int bars = 0;

    for (int64_t s = 0; s < figure->series_count; s++) {
        if (figure->series[s].panel != panel)
            continue;
        bars |= figure->series[s].mark == KFE_MARK_BARS;
        widen_by_series(&scale, figure, &figure->series[s], axis);
    }
    widen_by_ellipse(&scale, p, axis);
    if (scale.words) {
        scale.low = -0.5;
        scale.high = (double)scale.words->word_count - 0.5;
    } else if (a->has_range) {
        scale.low = a->log ? log10(a->low) : a->low;
        scale.high = a->log ? log10(a->high) : a->high;
    } else if (bars && axis == 'x' && scale.low <= scale.high) { /* bars over numbers stand one apart */
        scale.low -= 0.5;
        scale.high += 0.5;
        scale.is_whole = 1;
    } else if (bars && axis == 'y' && scale.low == 0) {
        scale.high = scale.high > 0 ? 1.05 * scale.high : 1;
    } else {
        add_margin(&scale, 0.04);
    }
    return scale;
}

/* 1, 2 or 5 times a power of ten. */
static double nice_step(double length, int count)
{
    double step = length / count;
    double power = pow(10, floor(log10(step)));
    double digit = step / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void place_ticks(kfe_i_scale *scale, int count)
{
    double length = scale->high - scale->low;
    double step = scale->words || scale->log ? fmax(1, ceil(length / (scale->words ? 1.5 * count : count)))
                                             : nice_step(length, count);

    if (scale->log && length < 1) /* less than a decade */
        step = nice_step(length, count);
    if (scale->is_whole)
        step = fmax(step, 1);
    double first = ceil(scale->low / step - 1e-9);
    scale->tick_count = 0;
    for (int k = 0; k < KFE_MOST_TICKS; k++) {
        double tick = (first + k) * step;
        if (tick > scale->high + 1e-9 * length)
            break;
        scale->ticks[scale->tick_count++] = fabs(tick) < 1e-9 * step ? 0 : tick;
    }
}

void kfe_i_scale_place(kfe_i_scale *scale, double begin, double end, int ticks)
{
    scale->begin = begin;
    scale->end = end;
    place_ticks(scale, ticks);
}

double kfe_i_scale_at(const kfe_i_scale *scale, double value)
{
    double v = scale->log ? (value > 0 ? log10(value) : NAN) : value;

    return scale->begin + (scale->end - scale->begin) * (v - scale->low) / (scale->high - scale->low);
}
