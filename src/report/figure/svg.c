/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a figure as SVG: panels, axes, ticks, titles and legend. svg_marks.c writes the series. */
#include "report/figure/svg.h"

#include <math.h>
#include <string.h>

#include "report/figure/markup.h"
#include "report/figure/palette.h"

enum {
    WIDTH = 760,
    ONE_HEIGHT = 440,
    PANEL_HEIGHT = 230,
    LEGEND_WIDTH = 186,
    LINE_HEIGHT = 18,
    MOST_LEGEND = 24,
    NAME_SHOWN = 18,
    LEAST_ROOM = 38
};
#define LETTER_WIDTH 7.2 /* of a wide letter of the text */

typedef struct layout {
    double head, legend, height, cell_width, cell_height;
    int down;
} layout;

static int64_t named_series(const kfe_i_figure *figure)
{
    int64_t count = 0;

    for (int64_t s = 0; s < figure->series_count; s++)
        count += figure->series[s].name != NULL;
    return count;
}

static layout plan(const kfe_i_figure *figure, int whole)
{
    layout l = {.head = whole ? 30 : 6, .legend = named_series(figure) > 0 ? LEGEND_WIDTH : 10};

    l.down = (int)((figure->panel_count + figure->across - 1) / figure->across);
    l.cell_width = (WIDTH - l.legend) / figure->across;
    l.cell_height = figure->panel_count == 1 ? ONE_HEIGHT : PANEL_HEIGHT;
    if (figure->across >= 3 && figure->flags & KFE_FIGURE_SQUARE)
        l.cell_height = l.cell_width;
    l.height = l.head + l.down * l.cell_height + 6;
    return l;
}

/* The longest name of a categorical axis decides how much room it has, up to a limit. */
static double label_room(const kfe_i_scale *scale)
{
    size_t longest = 4;

    for (int64_t w = 0; scale->words && w < scale->words->word_count; w++) {
        size_t length = strlen(scale->words->words[w]);
        longest = length > longest ? length : longest;
    }
    return LETTER_WIDTH * (double)(longest > NAME_SHOWN ? NAME_SHOWN + 1 : longest);
}

/* Whether the names under a categorical axis would overlap, so that they are turned. */
static int is_turned(const kfe_i_scale *x, double width)
{
    return x->words && label_room(x) > width / (x->high - x->low) && x->words->word_count > 1;
}

static int tick_text(const kfe_i_scale *scale, double tick, char *out, size_t size)
{
    return kfe_i_snprintf(out, size, "%.4g", scale->log ? pow(10, tick) : tick);
}

/* The room that the numbers of the y-axis take. */
static double number_room(const kfe_i_scale *scale, double height)
{
    kfe_i_scale placed = *scale;
    int longest = 0;
    char text[32];

    kfe_i_scale_place(&placed, height, 0, (int)(height / 45) + 1);
    for (int k = 0; k < placed.tick_count; k++) {
        int length = tick_text(&placed, placed.ticks[k], text, sizeof text);
        longest = length > longest ? length : longest;
    }
    return fmax(LEAST_ROOM, 6.5 * longest + 6);
}

static double room_beside(const kfe_i_scale *y, double height)
{
    return y->words ? label_room(y) : number_room(y, height);
}

static kfe_i_svg_panel place_panel(const kfe_i_figure *figure, const layout *l, int panel)
{
    kfe_i_svg_panel p = {.figure = figure, .panel = panel};
    double left = l->cell_width * (panel % figure->across);
    int line = panel / figure->across;
    double top = l->head + l->cell_height * line;

    p.x = kfe_i_scale_of(figure, panel, 'x');
    p.y = kfe_i_scale_of(figure, panel, 'y');
    if (figure->flags & KFE_FIGURE_SPACE)
        p.z = kfe_i_scale_of(figure, panel, 'z');
    double side = room_beside(&p.y, l->cell_height) + (*figure->panels[panel].y.title ? 24 : 6);
    double above = figure->panels[panel].title ? 24 : 8;
    p.left = left + side;
    p.top = top + above;
    p.width = l->cell_width - side - 12;
    double height = l->cell_height - above - (*figure->panels[panel].x.title ? 20 : 4);
    double width = figure->flags & KFE_FIGURE_SQUARE ? fmin(p.width, height - 24) : p.width;
    p.height = height - (is_turned(&p.x, width) ? 30 + 0.75 * label_room(&p.x) : 24);
    if (figure->flags & KFE_FIGURE_SQUARE && p.width > p.height)
        p.width = p.height;
    int is_reversed = figure->panels[panel].x.is_reversed;
    kfe_i_scale_place(&p.x, p.left + (is_reversed ? p.width : 0), p.left + (is_reversed ? 0 : p.width),
                      (int)(p.width / 70) + 1);
    if (figure->flags & KFE_FIGURE_REVERSED)
        kfe_i_scale_place(&p.y, p.top, p.top + p.height, (int)(p.height / 28) + 1);
    else
        kfe_i_scale_place(&p.y, p.top + p.height, p.top, (int)(p.height / 45) + 1);
    return p;
}

/* ---- axes ---- */

static void put_tick_text(kfe_i_text *out, const kfe_i_scale *scale, double tick)
{
    if (scale->words)
        kfe_i_put_markup_cut(out, scale->words->words[(int64_t)tick], NAME_SHOWN);
    else {
        char text[32];
        tick_text(scale, tick, text, sizeof text);
        kfe_i_text_puts(out, text);
    }
}

static double tick_at(const kfe_i_scale *scale, double tick)
{
    return scale->begin + (scale->end - scale->begin) * (tick - scale->low) / (scale->high - scale->low);
}

static void put_x_axis(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    double bottom = p->top + p->height;
    int turned = is_turned(&p->x, p->width);

    for (int k = 0; k < p->x.tick_count; k++) {
        double at = tick_at(&p->x, p->x.ticks[k]);
        if (!p->x.words)
            kfe_i_text_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", at, p->top, bottom);
        if (turned)
            kfe_i_text_printf(out, "<text text-anchor=\"end\" transform=\"translate(%.1f %.1f)rotate(-40)\">",
                              at, bottom + 14);
        else
            kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at, bottom + 16);
        put_tick_text(out, &p->x, p->x.ticks[k]);
        kfe_i_text_puts(out, "</text>");
    }
}

static void put_y_axis(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    for (int k = 0; k < p->y.tick_count; k++) {
        double at = tick_at(&p->y, p->y.ticks[k]);
        if (!p->y.words)
            kfe_i_text_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", p->left, at,
                              p->left + p->width);
        kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", p->left - 6, at + 4);
        put_tick_text(out, &p->y, p->y.ticks[k]);
        kfe_i_text_puts(out, "</text>");
    }
}

static void put_titles(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    const kfe_i_panel *panel = &p->figure->panels[p->panel];
    double middle = p->left + p->width / 2;
    double turned = is_turned(&p->x, p->width) ? 0.75 * label_room(&p->x) : 0;

    if (panel->title) {
        kfe_i_text_printf(out, "<text class=\"panel\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", middle,
                          p->top - 8);
        kfe_i_put_markup_cut(out, panel->title, 40);
        kfe_i_text_puts(out, "</text>");
    }
    kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", middle,
                      p->top + p->height + 36 + turned);
    kfe_i_put_markup_cut(out, panel->x.title, 70);
    double side = p->left - room_beside(&p->y, p->height) - 10;
    kfe_i_text_printf(out,
                      "</text><text text-anchor=\"middle\" transform=\"translate(%.1f %.1f)rotate(-90)\">",
                      side, p->top + p->height / 2);
    kfe_i_put_markup_cut(out, panel->y.title, 50);
    kfe_i_text_puts(out, "</text>");
}

static void put_dashed(double x, double y, double to_x, double to_y, kfe_i_text *out)
{
    kfe_i_text_printf(out, "<path class=\"axis\" stroke-dasharray=\"5 4\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x, y,
                      to_x, to_y);
}

/* The line y = x between the ranges of both axes, or y = level. */
static void put_reference(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    const kfe_i_panel *panel = &p->figure->panels[p->panel];

    if (panel->reference == KFE_REFERENCE_DIAGONAL) {
        double low = fmax(p->x.low, p->y.low);
        double high = fmin(p->x.high, p->y.high);
        if (low <= high)
            put_dashed(kfe_i_scale_at(&p->x, low), kfe_i_scale_at(&p->y, low), kfe_i_scale_at(&p->x, high),
                       kfe_i_scale_at(&p->y, high), out);
    } else if (panel->reference != KFE_REFERENCE_NONE) {
        double level = panel->reference == KFE_REFERENCE_ZERO ? 0 : panel->level;
        double at = kfe_i_scale_at(&p->y, level);
        if (level >= p->y.low && level <= p->y.high)
            put_dashed(p->left, at, p->left + p->width, at, out);
    }
}

/* ---- three axes ---- */

void kfe_i_svg_project(const kfe_i_svg_panel *panel, const double share[3], double *x, double *y)
{
    double a = share[0] - 0.5; /* seen from 30° to the side and 25° above */
    double b = share[1] - 0.5;
    double c = share[2] - 0.5;
    double across = 0.866 * a + 0.5 * b;
    double depth = -0.5 * a + 0.866 * b;
    double up = 0.906 * c + 0.423 * depth;
    double size = fmin(panel->width, panel->height) / 1.45;

    *x = panel->left + panel->width / 2 + size * across;
    *y = panel->top + panel->height / 2 - size * up;
}

static void put_space_axes(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    static const double ends[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const kfe_i_panel *panel = &p->figure->panels[p->panel];
    const char *titles[3] = {panel->x.title, panel->y.title, panel->z.title ? panel->z.title : ""};
    double zero[3] = {0};
    double x = 0;
    double y = 0;
    double from_x = 0;
    double from_y = 0;

    kfe_i_svg_project(p, zero, &from_x, &from_y);
    for (int axis = 0; axis < 3; axis++) {
        kfe_i_svg_project(p, ends[axis], &x, &y);
        kfe_i_text_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fL%.1f %.1f\"/>", from_x, from_y, x, y);
        kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x,
                          axis == 2 ? y - 6 : y + 14);
        kfe_i_put_markup_cut(out, titles[axis], 30);
        kfe_i_text_puts(out, "</text>");
    }
}

/* ---- legend and frame ---- */

/* A square panel leaves room beside it, for longer names. */
static double legend_left(const kfe_i_figure *figure, const layout *l)
{
    double left = WIDTH - l->legend + 4;

    if (!(figure->flags & KFE_FIGURE_SQUARE) || figure->panel_count != 1)
        return left;
    const kfe_i_svg_panel p = place_panel(figure, l, 0);
    return fmin(left, p.left + p.width + 24);
}

static void put_legend(const kfe_i_figure *figure, const layout *l, kfe_i_text *out)
{
    double x = legend_left(figure, l);
    int letters = (int)fmax(NAME_SHOWN, (WIDTH - x - 34) / LETTER_WIDTH);
    double y = l->head + 14;
    int64_t shown = 0;
    int64_t most = (int64_t)((l->height - l->head - 20) / LINE_HEIGHT);

    most = most > MOST_LEGEND ? MOST_LEGEND : most;
    for (int64_t s = 0; s < figure->series_count; s++) {
        if (!figure->series[s].name || ++shown > most)
            continue;
        kfe_i_svg_sample(&figure->series[s], x, y - 4, out);
        kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 30, y);
        kfe_i_put_markup_cut(out, figure->series[s].name, letters);
        kfe_i_text_puts(out, "</text>");
        y += LINE_HEIGHT;
    }
    if (shown > most)
        kfe_i_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\">and %lld more</text>", x, y,
                          (long long)(shown - most));
}

/* A panel without series is only its name. */
static int is_name(const kfe_i_figure *figure, int panel)
{
    for (int64_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].panel == panel)
            return 0;
    return figure->panels[panel].title != NULL;
}

static void put_name(const kfe_i_svg_panel *p, kfe_i_text *out)
{
    kfe_i_text_printf(out, "<text class=\"panel\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                      p->left + p->width / 2, p->top + p->height / 2);
    kfe_i_put_markup_cut(out, p->figure->panels[p->panel].title, NAME_SHOWN);
    kfe_i_text_puts(out, "</text>");
}

static void put_panel(const kfe_i_figure *figure, const layout *l, int panel, kfe_i_text *out)
{
    kfe_i_svg_panel p = place_panel(figure, l, panel);

    if (is_name(figure, panel)) {
        put_name(&p, out);
        return;
    }
    kfe_i_text_puts(out, "<g>");
    if (figure->flags & KFE_FIGURE_SPACE) {
        put_space_axes(&p, out);
    } else {
        put_x_axis(&p, out);
        put_y_axis(&p, out);
        put_titles(&p, out);
        put_reference(&p, out);
    }
    kfe_i_svg_marks(&p, out);
    if (!(figure->flags & KFE_FIGURE_SPACE))
        kfe_i_text_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", p.left, p.top,
                          p.top + p.height, p.left + p.width);
    kfe_i_text_puts(out, "</g>");
}

/* Pages set the colour of ink and paper themselves; a file of its own has black on white. */
static const char style[] =
    "<style>.kfe text{font:12px system-ui,sans-serif;fill:currentColor}.kfe text.panel{font-weight:600}"
    ".kfe text.head{font-size:16px;font-weight:600}.kfe "
    ".grid{stroke:currentColor;stroke-opacity:.13;fill:none}"
    ".kfe .axis{stroke:currentColor;stroke-opacity:.6;fill:none}</style>";

void kfe_i_figure_svg(const kfe_i_figure *figure, int whole, kfe_i_text *out)
{
    layout l = plan(figure, whole);

    kfe_i_text_printf(out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"kfe\" viewBox=\"0 0 %d %.0f\" "
                      "role=\"img\" color=\"#222\"",
                      WIDTH, l.height);
    if (whole)
        kfe_i_text_printf(out, " width=\"%d\" height=\"%.0f\"", WIDTH, l.height);
    kfe_i_text_puts(out, "><title>");
    kfe_i_put_markup(out, figure->kind->title);
    kfe_i_text_puts(out, "</title>");
    if (whole) {
        kfe_i_text_puts(out, "<desc>");
        kfe_i_put_markup(out, figure->caption.bytes ? figure->caption.bytes : "");
        kfe_i_text_puts(out, "</desc>");
        kfe_i_text_puts(out, style);
        kfe_i_text_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
        kfe_i_text_puts(out, "<text class=\"head\" x=\"12\" y=\"20\">");
        kfe_i_put_markup(out, figure->kind->title);
        kfe_i_text_puts(out, "</text>");
    }
    for (int panel = 0; panel < figure->panel_count; panel++)
        put_panel(figure, &l, panel, out);
    put_legend(figure, &l, out);
    kfe_i_text_puts(out, "</svg>\n");
}
