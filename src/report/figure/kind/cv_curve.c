/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `cv-curve`: the metric of a search over one parameter, with bands of one standard error; one line per
 * setting of the other parameters, and a cross at the setting chosen. Of regressions measured by rmse, it is RMSECV with Q² beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/choice.h"
#include "text/read.h"

enum { MOST_LINES = 8 };

static int compare_places(const void *a, const void *b)
{
    const kfe_i_choice_place *p = a;
    const kfe_i_choice_place *q = b;

    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* The number of features if it was searched, otherwise the parameter with the most values that are numbers. */
static int choose_axis(const kfe_i_choice *choice)
{
    int best = 0;

    for (int a = 0; a < choice->axis_count; a++) {
        const kfe_i_choice_axis *axis = &choice->axes[a];
        if (strcmp(axis->name, "dim") == 0)
            return a;
        if (axis->is_number - choice->axes[best].is_number > 0 ||
            (axis->is_number == choice->axes[best].is_number && axis->count > choice->axes[best].count))
            best = a;
    }
    return best;
}

/* The number of the combination of all other parameters. */
static int64_t line_of(const kfe_i_choice *choice, int64_t setting, int skipped)
{
    int64_t line = 0;

    for (int a = 0; a < choice->axis_count; a++)
        if (a != skipped)
            line = line * choice->axes[a].count + choice->codes[setting * choice->axis_count + a];
    return line;
}

static kfe_status name_line(kfe_context *ctx, const kfe_i_choice *choice, int64_t setting, int skipped,
                            char **out)
{
    kfe_i_text name;

    kfe_i_text_init(&name, ctx);
    for (int a = 0; a < choice->axis_count; a++)
        if (a != skipped)
            kfe_i_text_printf(&name, "%s%s=%s", name.length ? ", " : "", choice->axes[a].name,
                              choice->axes[a].words[choice->codes[setting * choice->axis_count + a]]);
    if (name.length == 0)
        kfe_i_text_puts(&name, choice->metric);
    return kfe_i_text_take(&name, out);
}

/* The line of a setting in each panel. */
static kfe_status add_line(const kfe_i_choice *choice, const char *name, kfe_i_series line, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int first = choice->axis_count + 1; /* the column of the metric */

    line.y = kfe_i_choice_has_q2(choice) ? first + 2 : first;
    line.spread = line.mark == KFE_MARK_POINTS ? 0 : kfe_i_choice_has_q2(choice) ? first + 4 : first + 1;
    KFE_TRY(kfe_i_figure_series(out, name, line));
    if (kfe_i_choice_has_q2(choice)) {
        line.y = first + 3;
        line.spread = 0;
        line.panel = 1;
        KFE_TRY(kfe_i_figure_series(out, NULL, line));
    }
cleanup:
    return status;
}

static kfe_status add_lines(kfe_context *ctx, const kfe_i_choice *choice, const kfe_i_choice_place *places,
                            int axis, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char *name = NULL;
    int lines = 0;

    for (int64_t i = 0; i < choice->count && lines < MOST_LINES; lines++) {
        int64_t end = i;
        while (end < choice->count && places[end].line == places[i].line)
            end++;
        kfe_i_series series = {.mark = KFE_MARK_LINE,
                               .flags = KFE_SERIES_DOTTED,
                               .style = lines,
                               .first = i,
                               .count = end - i,
                               .x = axis + 1};
        KFE_TRY(name_line(ctx, choice, places[i].setting, axis, &name));
        KFE_TRY(add_line(choice, choice->axis_count > 1 ? name : NULL, series, out));
        kfe_i_free(ctx, name);
        name = NULL;
        i = end;
    }
cleanup:
    kfe_i_free(ctx, name);
    return status;
}

/* A cross at the setting that was chosen. */
static kfe_status mark_best(const kfe_i_choice *choice, const kfe_i_choice_place *places, int axis,
                            kfe_i_figure *out)
{
    for (int64_t i = 0; i < choice->count; i++)
        if (kfe_i_result_at(choice->settings, "is_best", choice->first + places[i].setting) > 0)
            return add_line(choice, "chosen",
                            (kfe_i_series){.mark = KFE_MARK_POINTS,
                                           .flags = KFE_SERIES_CROSSES,
                                           .first = i,
                                           .count = 1,
                                           .x = axis + 1},
                            out);
    return KFE_OK;
}

static void put_caption(const kfe_i_choice *choice, int nested, kfe_i_figure *out)
{
    int q2 = kfe_i_choice_has_q2(choice);
    int64_t lines = out->series_count / (q2 ? 2 : 1);
    const char *bands =
        lines <= KFE_FIGURE_BANDS ? "bands are one standard error" : "the table has their standard errors";

    if (q2)
        kfe_i_text_printf(&out->caption,
                          "RMSECV, the root of the mean squared error over held-out predictions (%s), "
                          "and Q² = 1 − RMSECV²/variance of the target.",
                          bands);
    else
        kfe_i_text_printf(&out->caption, "Mean %s over the %s; %s.", choice->metric,
                          nested ? "inner folds of the training parts, on which settings were compared"
                                 : "splits on which settings were compared",
                          bands);
    kfe_i_text_puts(&out->caption, q2 && nested
                                       ? " The cross is the setting chosen, by the error on inner folds of "
                                         "the training parts, so that it need not be the lowest point."
                                       : " The cross is the setting chosen.");
    if (lines >= MOST_LINES)
        kfe_i_text_printf(&out->caption, " At most %d lines are drawn; the table has every setting.",
                          MOST_LINES);
}

static kfe_status add_panels(const kfe_i_choice *choice, int axis, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int q2 = kfe_i_choice_has_q2(choice);

    KFE_TRY(kfe_i_figure_panel(out, NULL, choice->axes[axis].name, q2 ? "RMSECV" : choice->metric));
    if (q2)
        KFE_TRY(kfe_i_figure_panel(out, NULL, choice->axes[axis].name, "Q2"));
    for (int64_t p = 0; p < out->panel_count; p++)
        out->panels[p].x.log = choice->axes[axis].is_log;
    out->across = q2 ? 2 : 1;
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_choice choice = {0};
    kfe_i_choice_place *places = NULL;

    KFE_TRY(kfe_i_choice_read(ctx, source, &choice));
    if (choice.count == 0 || choice.axis_count == 0)
        goto cleanup;
    int axis = choose_axis(&choice);
    KFE_ALLOC(ctx, places, choice.count);
    for (int64_t i = 0; i < choice.count; i++) {
        int32_t code = choice.codes[i * choice.axis_count + axis];
        double x = choice.axes[axis].is_number ? choice.axes[axis].numbers[code] : code;
        places[i] = (kfe_i_choice_place){.line = line_of(&choice, i, axis), .setting = i, .x = x};
    }
    qsort(places, (size_t)choice.count, sizeof *places, compare_places);
    KFE_TRY(kfe_i_choice_columns(&choice, places, axis, out));
    KFE_TRY(add_panels(&choice, axis, out));
    KFE_TRY(add_lines(ctx, &choice, places, axis, out));
    put_caption(&choice, kfe_i_results_are_nested(source->results), out);
    KFE_TRY(mark_best(&choice, places, axis, out));
cleanup:
    kfe_i_free(ctx, places);
    kfe_i_choice_free(&choice);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_cv_curve = {
    .name = "cv-curve",
    .title = "Metric by setting",
    .section = "Choice",
    .summary =
        "the metric of a search over one parameter, with bands of one standard error and the setting chosen",
    .needs = "the JSON of cv or compare with a grid",
    .draw = draw,
};
