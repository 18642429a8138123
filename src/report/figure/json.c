/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the description of a figure as JSON: columns, panels, series. Used by the page and by `kfe plot`. */
#include "report/figure/json.h"

#include <math.h>
#include <string.h>

#include "report/figure/svg.h"

enum { DIGITS = 4, AXIS_DIGITS = 9 };

/* Four significant digits show all that a reader can see, but the positions along a line may be close to each other: 1000.5 and 1001. */
static int digits_of(const kfe_i_figure *figure, int64_t column)
{
    for (int64_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].mark == KFE_MARK_LINE && figure->series[s].x == column + 1)
            return AXIS_DIGITS;
    return DIGITS;
}

/* Rounds to some significant digits: more would double the size of a page and show nothing. Whole numbers, such as rows
 * and counts, stay exact. */
static double rounded(double value, int digits)
{
    char text[32];
    double result = value;

    if (!isfinite(value) || (value == rint(value) && fabs(value) < 1e15))
        return value;
    kfe_i_snprintf(text, sizeof text, "%.*g", digits, value);
    kfe_i_parse_number(text, text + strlen(text), &result);
    return result;
}

static void write_column(kfe_i_json *json, const kfe_i_figure *figure, int64_t number)
{
    const kfe_i_column *column = &figure->columns[number];
    int digits = digits_of(figure, number);

    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "name", column->name);
    if (column->title)
        kfe_i_json_text(json, "title", column->title);
    if (column->numbers) {
        kfe_i_json_array(json, "numbers");
        for (int64_t i = 0; i < figure->rows; i++)
            kfe_i_json_real(json, NULL, rounded(column->numbers[i], digits));
        kfe_i_json_end(json);
    } else {
        kfe_i_json_texts(json, "words", column->word_count, column->words);
        kfe_i_json_array(json, "codes");
        for (int64_t i = 0; i < figure->rows; i++)
            kfe_i_json_integer(json, NULL, column->codes[i]);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static void write_axis(kfe_i_json *json, const char *key, const kfe_i_axis *axis)
{
    kfe_i_json_object(json, key);
    kfe_i_json_text(json, "title", axis->title ? axis->title : "");
    if (axis->log)
        kfe_i_json_boolean(json, "log", 1);
    if (axis->is_reversed)
        kfe_i_json_boolean(json, "reversed", 1);
    if (axis->has_range) {
        kfe_i_json_array(json, "range");
        kfe_i_json_real(json, NULL, axis->low);
        kfe_i_json_real(json, NULL, axis->high);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

/* The middle, then the three numbers of figure.h. */
static void write_ellipse(kfe_i_json *json, const kfe_i_panel *panel)
{
    const double values[] = {panel->middle[0], panel->middle[1], panel->ellipse[0], panel->ellipse[1],
                             panel->ellipse[2]};

    kfe_i_json_array(json, "ellipse");
    for (int k = 0; k < 5; k++)
        kfe_i_json_real(json, NULL, values[k]);
    kfe_i_json_end(json);
}

static void write_panel(kfe_i_json *json, const kfe_i_panel *panel)
{
    static const char *const references[] = {"none", "diagonal", "zero", "level"};

    kfe_i_json_object(json, NULL);
    if (panel->title)
        kfe_i_json_text(json, "title", panel->title);
    kfe_i_json_text(json, "reference", references[panel->reference]);
    if (panel->reference == KFE_REFERENCE_LEVEL)
        kfe_i_json_real(json, "level", panel->level);
    if (panel->has_ellipse)
        write_ellipse(json, panel);
    write_axis(json, "x", &panel->x);
    write_axis(json, "y", &panel->y);
    write_axis(json, "z", &panel->z);
    kfe_i_json_end(json);
}

static void write_flag(kfe_i_json *json, const char *key, unsigned is_set)
{
    if (is_set)
        kfe_i_json_boolean(json, key, 1);
}

static void write_number(kfe_i_json *json, const char *key, int64_t value)
{
    if (value)
        kfe_i_json_integer(json, key, value);
}

static void write_series(kfe_i_json *json, const kfe_i_series *series)
{
    static const char *const marks[] = {"points", "line", "bars", "heat", "labels"};

    kfe_i_json_object(json, NULL);
    if (series->name)
        kfe_i_json_text(json, "name", series->name);
    kfe_i_json_text(json, "mark", marks[series->mark]);
    char colour[KFE_COLOUR_TEXT];
    kfe_i_series_colour(series, colour);
    kfe_i_json_text(json, "colour", colour);
    kfe_i_json_integer(json, "style", series->style);
    write_number(json, "panel", series->panel);
    write_number(json, "first", series->first);
    kfe_i_json_integer(json, "count", series->count);
    kfe_i_json_integer(json, "x", series->x);
    kfe_i_json_integer(json, "y", series->y);
    write_number(json, "z", series->z);
    write_number(json, "shade", series->shade);
    write_number(json, "shift", series->shift);
    if (series->has_tone)
        kfe_i_json_real(json, "tone", series->tone);
    write_number(json, "spread", series->spread);
    write_flag(json, "plain", series->flags & KFE_SERIES_PLAIN);
    write_number(json, "label", series->label);
    write_flag(json, "dashed", series->flags & KFE_SERIES_DASHED);
    write_flag(json, "crosses", series->flags & KFE_SERIES_CROSSES);
    write_flag(json, "grey", series->flags & KFE_SERIES_GREY);
    write_flag(json, "dotted", series->flags & KFE_SERIES_DOTTED);
    write_flag(json, "hollow", series->flags & KFE_SERIES_HOLLOW);
    write_flag(json, "key", series->flags & KFE_SERIES_KEY);
    if (series->set != KFE_SET_NONE)
        kfe_i_json_text(json, "set", series->set == KFE_SET_TEST ? "test" : "training");
    kfe_i_json_end(json);
}

void kfe_i_figure_json(const kfe_i_figure *figure, kfe_i_json *json)
{
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "figure", figure->kind->name);
    kfe_i_json_text(json, "title", figure->kind->title);
    kfe_i_json_text(json, "caption", figure->caption.bytes ? figure->caption.bytes : "");
    write_flag(json, "space", figure->flags & KFE_FIGURE_SPACE);
    write_flag(json, "choice", figure->flags & KFE_FIGURE_CHOICE);
    write_flag(json, "square", figure->flags & KFE_FIGURE_SQUARE);
    write_flag(json, "counts", figure->flags & KFE_FIGURE_COUNTS);
    write_flag(json, "reversed", figure->flags & KFE_FIGURE_REVERSED);
    write_number(json, "first_feature", figure->first_feature);
    write_number(json, "feature_count", figure->feature_count);
    kfe_i_json_integer(json, "across", figure->across);
    kfe_i_json_integer(json, "rows", figure->rows);
    kfe_i_json_array(json, "columns");
    for (int64_t c = 0; c < figure->column_count; c++)
        write_column(json, figure, c);
    kfe_i_json_end(json);
    kfe_i_json_array(json, "panels");
    for (int64_t p = 0; p < figure->panel_count; p++)
        write_panel(json, &figure->panels[p]);
    kfe_i_json_end(json);
    kfe_i_json_array(json, "series");
    for (int64_t s = 0; s < figure->series_count; s++)
        write_series(json, &figure->series[s]);
    kfe_i_json_end(json);
    kfe_i_json_end(json);
}
