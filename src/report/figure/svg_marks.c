/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the series of a figure as SVG: points, lines with bands, bars and heat maps. Called by svg.c. */
#include <math.h>

#include "report/figure/markup.h"
#include "report/figure/palette.h"
#include "report/figure/svg.h"

enum { SHADES = 8, MOST_COUNTS = 20, MOST_LABEL = 16 };

static const char *const dashes[KFE_DASHES] = {"", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 3\"",
                                               " stroke-dasharray=\"8 3 2 3\""};
/* Outlines of the markers around the origin. */
static const char *const markers[KFE_MARKERS] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
                                                 "m-2.6-2.6h5.2v5.2h-5.2z",
                                                 "m0-3.4l3.2 5.6h-6.4z",
                                                 "m0-3.7l3.7 3.7l-3.7 3.7l-3.7-3.7z",
                                                 "m0 3.4l3.2-5.6h-6.4z",
                                                 "m-3.5-1h2.5v-2.5h2v2.5h2.5v2h-2.5v2.5h-2v-2.5h-2.5z",
                                                 "m-3-3l6 6m0-6l-6 6",
                                                 "m-1.8-3h3.6l1.8 3l-1.8 3h-3.6l-1.8-3z"};

/* Tones begin at a share of the shades that paper shows. */
void kfe_i_series_colour(const kfe_i_series *series, char out[KFE_COLOUR_TEXT])
{
    int rgb[3];

    kfe_i_shade(0.3 + 0.7 * series->tone, rgb);
    if (series->has_tone)
        kfe_i_snprintf(out, KFE_COLOUR_TEXT, "#%02x%02x%02x", (unsigned)rgb[0] & 255u,
                       (unsigned)rgb[1] & 255u, (unsigned)rgb[2] & 255u);
    else
        kfe_i_snprintf(out, KFE_COLOUR_TEXT, "%s",
                       kfe_i_colour(series->flags & KFE_SERIES_GREY ? -1 : series->style));
}

typedef struct ink {
    char text[KFE_COLOUR_TEXT];
} ink;

static ink colour_of(const kfe_i_series *series)
{
    ink made;

    kfe_i_series_colour(series, made.text);
    return made;
}

static const char *dash_of(const kfe_i_series *series)
{
    if (series->flags & KFE_SERIES_PLAIN)
        return "";
    if (series->flags & KFE_SERIES_DASHED)
        return dashes[1];
    return series->flags & KFE_SERIES_GREY ? "" : dashes[series->style % KFE_DASHES];
}

static double share_of(const kfe_i_scale *scale, double value)
{
    return (value - scale->low) / (scale->high - scale->low);
}

/* Returns 0 if the row has no place on the page. */
static int place(const kfe_i_svg_panel *p, const kfe_i_series *series, int64_t row, double *x, double *y)
{
    double value_x = kfe_i_cell(p->figure, series->x, row);
    double value_y = kfe_i_cell(p->figure, series->y, row);

    value_y += series->shift ? kfe_i_cell(p->figure, series->shift, row) : 0;
    if (p->figure->flags & KFE_FIGURE_SPACE) {
        double share[3] = {share_of(&p->x, value_x), share_of(&p->y, value_y),
                           share_of(&p->z, kfe_i_cell(p->figure, series->z, row))};
        kfe_i_svg_project(p, share, x, y);
    } else {
        *x = kfe_i_scale_at(&p->x, value_x);
        *y = kfe_i_scale_at(&p->y, value_y);
    }
    return isfinite(*x) && isfinite(*y);
}

/* ---- points ---- */

/* Filled circles, the most frequent marker, are dots of a round pen: a third of the bytes. */
static int is_dot(const kfe_i_series *series)
{
    return series->style % KFE_MARKERS == 0 && !(series->flags & (KFE_SERIES_HOLLOW | KFE_SERIES_CROSSES));
}

static void open_points(const kfe_i_series *series, const char *colour, kfe_i_text *out)
{
    if (series->flags & KFE_SERIES_CROSSES)
        kfe_i_text_printf(out, "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"%s d=\"",
                          series->flags & KFE_SERIES_HOLLOW ? ".9\" stroke-opacity=\".6\"" : "1.3\"");
    else if (is_dot(series))
        kfe_i_text_printf(out,
                          "<path fill=\"none\" stroke=\"%s\" stroke-width=\"6\" stroke-linecap=\"round\" "
                          "stroke-opacity=\".75\" d=\"",
                          colour);
    else if (series->flags & KFE_SERIES_HOLLOW || series->style % KFE_MARKERS == 6)
        kfe_i_text_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\" d=\"", colour);
    else
        kfe_i_text_printf(out, "<path fill=\"%s\" fill-opacity=\".75\" d=\"", colour);
}

static void put_point(const kfe_i_series *series, double x, double y, kfe_i_text *out)
{
    kfe_i_text_printf(out, "M%.1f %.1f", x, y);
    if (series->flags & KFE_SERIES_CROSSES)
        kfe_i_text_puts(out, series->flags & KFE_SERIES_HOLLOW ? "m-4 0h8m-4-4v8" : "m-3.5-3.5l7 7m0-7l-7 7");
    else
        kfe_i_text_puts(out, is_dot(series) ? "h0" : markers[series->style % KFE_MARKERS]);
}

static void put_error_bar(double x, double low, double high, kfe_i_text *out)
{
    if (isfinite(low) && isfinite(high))
        kfe_i_text_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fm-3 0h6m-6 %.1fh6\"/>", x, low, high,
                          low - high);
}

static void put_error_bars(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    for (int64_t i = series->first; i < series->first + series->count; i++) {
        double half = kfe_i_cell(p->figure, series->spread, i);
        double y = kfe_i_cell(p->figure, series->y, i);
        double x = kfe_i_scale_at(&p->x, kfe_i_cell(p->figure, series->x, i));
        if (isfinite(x))
            put_error_bar(x, kfe_i_scale_at(&p->y, y - half), kfe_i_scale_at(&p->y, y + half), out);
    }
}

static void put_plain_points(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    double x = 0;
    double y = 0;

    if (series->spread && series->mark == KFE_MARK_POINTS)
        put_error_bars(p, series, out);
    open_points(series, colour_of(series).text, out);
    for (int64_t i = series->first; i < series->first + series->count; i++)
        if (place(p, series, i, &x, &y))
            put_point(series, x, y, out);
    kfe_i_text_puts(out, "\"/>");
}

static void widen_range(const kfe_i_figure *figure, const kfe_i_series *series, int column, double *low,
                        double *high)
{
    for (int64_t i = series->first; i < series->first + series->count; i++) {
        double value = kfe_i_cell(figure, column, i);
        *low = isfinite(value) ? fmin(*low, value) : *low;
        *high = isfinite(value) ? fmax(*high, value) : *high;
    }
}

/* The values that points are shaded by: one shade means the same in all series of a figure. */
static void range_of_shades(const kfe_i_figure *figure, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].shade)
            widen_range(figure, &figure->series[s], figure->series[s].shade, low, high);
}

static int level_of(double value, double low, double high)
{
    int level = high > low ? (int)(SHADES * (value - low) / (high - low)) : SHADES / 2;

    return level >= SHADES ? SHADES - 1 : level;
}

/* One path per shade. The lightest shades would vanish on paper. */
static void put_shaded_points(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    double low = 0;
    double high = 0;
    double x = 0;
    double y = 0;

    range_of_shades(p->figure, &low, &high);
    for (int level = 0; level < SHADES; level++) {
        int rgb[3];
        char colour[8];
        kfe_i_shade(0.36 + 0.64 * level / (SHADES - 1), rgb);
        kfe_i_snprintf(colour, sizeof colour, "#%02x%02x%02x", (unsigned)rgb[0] & 255u,
                       (unsigned)rgb[1] & 255u, (unsigned)rgb[2] & 255u);
        open_points(series, colour, out);
        for (int64_t i = series->first; i < series->first + series->count; i++)
            if (level_of(kfe_i_cell(p->figure, series->shade, i), low, high) == level &&
                place(p, series, i, &x, &y))
                put_point(series, x, y, out);
        kfe_i_text_puts(out, "\"/>");
    }
}

/* ---- lines ---- */

static void put_band_side(const kfe_i_svg_panel *p, const kfe_i_series *series, int upper, kfe_i_text *out)
{
    for (int64_t k = 0; k < series->count; k++) {
        int64_t i = upper ? series->first + k : series->first + series->count - 1 - k;
        double half = kfe_i_cell(p->figure, series->spread, i);
        double y = kfe_i_cell(p->figure, series->y, i) + (upper ? half : -half);
        double at_x = kfe_i_scale_at(&p->x, kfe_i_cell(p->figure, series->x, i));
        double at_y = kfe_i_scale_at(&p->y, y);
        if (isfinite(at_x) && isfinite(at_y))
            kfe_i_text_printf(out, "%s%.1f %.1f", upper && k == 0 ? "M" : "L", at_x, at_y);
    }
}

static void put_band(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    kfe_i_text_printf(out, "<path fill=\"%s\" fill-opacity=\".18\" d=\"", colour_of(series).text);
    put_band_side(p, series, 1, out);
    put_band_side(p, series, 0, out);
    kfe_i_text_puts(out, "z\"/>");
}

static int64_t lines_of_panel(const kfe_i_svg_panel *p)
{
    int64_t count = 0;

    for (int64_t s = 0; s < p->figure->series_count; s++)
        count += p->figure->series[s].panel == p->panel && p->figure->series[s].mark == KFE_MARK_LINE;
    return count;
}

static void put_line(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    int is_broken = 1;
    double x = 0;
    double y = 0;

    if (series->spread && lines_of_panel(p) <= KFE_FIGURE_BANDS)
        put_band(p, series, out);
    kfe_i_text_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"",
                      colour_of(series).text, series->flags & KFE_SERIES_PLAIN ? "1" : "1.8",
                      dash_of(series));
    for (int64_t i = series->first; i < series->first + series->count; i++) {
        int has_place = place(p, series, i, &x, &y);
        if (has_place)
            kfe_i_text_printf(out, "%s%.1f %.1f", is_broken ? "M" : "L", x, y);
        is_broken = !has_place;
    }
    kfe_i_text_puts(out, "\"/>");
    if (series->flags & KFE_SERIES_DOTTED)
        put_plain_points(p, series, out);
}

/* ---- bars ---- */

/* Which of how many series with bars this one is in its panel. */
static void count_bars(const kfe_i_svg_panel *p, const kfe_i_series *series, int *index, int *count)
{
    *index = *count = 0;
    for (int64_t s = 0; s < p->figure->series_count; s++) {
        const kfe_i_series *other = &p->figure->series[s];
        if (other->panel != p->panel || other->mark != KFE_MARK_BARS)
            continue;
        *index += other < series;
        ++*count;
    }
}

/* Every other series of bars is an outline with a light filling, so that neighbours differ in grey as well. */
static void put_bar(const kfe_i_series *series, double x, double y, double width, double height,
                    kfe_i_text *out)
{
    kfe_i_text_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"", x, y,
                      width, height, colour_of(series).text);
    if (series->style % 2 == 1)
        kfe_i_text_printf(out, " fill-opacity=\"0.35\" stroke=\"%s\"", colour_of(series).text);
    kfe_i_text_puts(out, "/>");
}

static void put_bars(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    int index = 0;
    int count = 0;
    double zero = kfe_i_scale_at(&p->y, p->y.log ? pow(10, p->y.low) : 0);
    double slot = fabs(p->x.end - p->x.begin) / (p->x.high - p->x.low);

    count_bars(p, series, &index, &count);
    double width = 0.8 * slot / count;
    for (int64_t i = series->first; i < series->first + series->count; i++) {
        double value = kfe_i_cell(p->figure, series->y, i);
        double x = kfe_i_scale_at(&p->x, kfe_i_cell(p->figure, series->x, i)) + (index - 0.5 * count) * width;
        double y = kfe_i_scale_at(&p->y, value);
        if (!isfinite(x) || !isfinite(y))
            continue;
        put_bar(series, x, fmin(y, zero), fmax(width - 1, 0.5), fabs(y - zero), out);
        if (series->spread) {
            double half = kfe_i_cell(p->figure, series->spread, i);
            put_error_bar(x + width / 2, kfe_i_scale_at(&p->y, value - half),
                          kfe_i_scale_at(&p->y, value + half), out);
        }
    }
}

/* ---- labels ---- */

/* Above the place, on the side that has room. */
static void put_labels(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    const kfe_i_column *label = &p->figure->columns[series->label - 1];
    double x = 0;
    double y = 0;

    for (int64_t i = series->first; i < series->first + series->count; i++) {
        if (label->codes[i] < 0 || !place(p, series, i, &x, &y))
            continue;
        int is_right = x > p->left + 0.85 * p->width;
        kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" style=\"font-size:10px\"%s>",
                          x + (is_right ? -5 : 5), y - 4, is_right ? " text-anchor=\"end\"" : "");
        kfe_i_put_markup_cut(out, label->words[label->codes[i]], MOST_LABEL);
        kfe_i_text_puts(out, "</text>");
    }
}

/* ---- ellipse ---- */

static void put_ellipse(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    const kfe_i_panel *panel = &p->figure->panels[p->panel];

    kfe_i_text_puts(out, "<path class=\"axis\" stroke-dasharray=\"5 4\" d=\"");
    for (int k = 0; k < KFE_ELLIPSE_POINTS; k++) {
        double at[2];
        kfe_i_ellipse_point(panel, k, at);
        kfe_i_text_printf(out, "%s%.1f %.1f", k ? "L" : "M", kfe_i_scale_at(&p->x, at[0]),
                          kfe_i_scale_at(&p->y, at[1]));
    }
    kfe_i_text_puts(out, "z\"/>");
}

/* ---- heat maps ---- */

/* The smallest distance between two positions of a column, so that cells touch. */
static double cell_size(const kfe_i_svg_panel *p, const kfe_i_series *series, char axis)
{
    const kfe_i_scale *scale = axis == 'x' ? &p->x : &p->y;
    int column = kfe_i_series_column(series, axis);
    double least = fabs(scale->end - scale->begin);

    if (scale->words)
        return least / (scale->high - scale->low);
    for (int64_t i = series->first + 1; i < series->first + series->count; i++) {
        double gap = fabs(kfe_i_scale_at(scale, kfe_i_cell(p->figure, column, i)) -
                          kfe_i_scale_at(scale, kfe_i_cell(p->figure, column, i - 1)));
        least = gap > 0.01 ? fmin(least, gap) : least;
    }
    return least;
}

static void put_count(double x, double y, double value, double share, kfe_i_text *out)
{
    kfe_i_text_printf(
        out,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"fill:%s;font-size:11px\">%.4g</text>", x,
        y + 4, share > 0.55 ? "#fff" : "#222", value);
}

static void put_heat(const kfe_i_svg_panel *p, const kfe_i_series *series, kfe_i_text *out)
{
    double wide = cell_size(p, series, 'x');
    double high_cell = cell_size(p, series, 'y');
    double low = INFINITY;
    double high = -INFINITY;
    int has_counts = p->figure->flags & KFE_FIGURE_COUNTS && p->x.words &&
                     p->x.words->word_count <= MOST_COUNTS && p->y.words &&
                     p->y.words->word_count <= MOST_COUNTS;

    widen_range(p->figure, series, series->z, &low, &high);
    low = p->figure->flags & KFE_FIGURE_COUNTS ? fmin(low, 0) : low;
    for (int64_t i = series->first; i < series->first + series->count; i++) {
        double value = kfe_i_cell(p->figure, series->z, i);
        double share = high > low ? (value - low) / (high - low) : 1;
        double x = 0;
        double y = 0;
        int rgb[3];
        if (!isfinite(value) || !place(p, series, i, &x, &y))
            continue;
        kfe_i_shade(share, rgb);
        kfe_i_text_printf(
            out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%02x%02x%02x\"/>",
            x - wide / 2, y - high_cell / 2, wide, high_cell, (unsigned)rgb[0], (unsigned)rgb[1],
            (unsigned)rgb[2]);
        if (has_counts)
            put_count(x, y, value, share, out);
    }
}

void kfe_i_svg_marks(const kfe_i_svg_panel *panel, kfe_i_text *out)
{
    if (panel->figure->panels[panel->panel].has_ellipse)
        put_ellipse(panel, out);
    for (int64_t s = 0; s < panel->figure->series_count; s++) {
        const kfe_i_series *series = &panel->figure->series[s];
        if (series->panel != panel->panel || series->flags & KFE_SERIES_KEY)
            continue;
        if (series->mark == KFE_MARK_POINTS && series->shade)
            put_shaded_points(panel, series, out);
        else if (series->mark == KFE_MARK_POINTS)
            put_plain_points(panel, series, out);
        else if (series->mark == KFE_MARK_LINE)
            put_line(panel, series, out);
        else if (series->mark == KFE_MARK_BARS)
            put_bars(panel, series, out);
        else if (series->mark == KFE_MARK_LABELS)
            put_labels(panel, series, out);
        else
            put_heat(panel, series, out);
    }
}

void kfe_i_svg_sample(const kfe_i_series *series, double x, double y, kfe_i_text *out)
{
    if (series->mark == KFE_MARK_LINE)
        kfe_i_text_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s d=\"M%.1f %.1fh24\"/>",
                          colour_of(series).text, dash_of(series), x, y);
    if (series->mark == KFE_MARK_BARS)
        put_bar(series, x + 6, y - 5, 12, 10, out);
    if (series->mark == KFE_MARK_POINTS || series->flags & KFE_SERIES_DOTTED) {
        open_points(series, colour_of(series).text, out);
        put_point(series, x + 12, y, out);
        kfe_i_text_puts(out, "\"/>");
    }
}
