/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `cv-curve`: the metric of a search over one parameter, with bands of one standard deviation; one line per
 * setting of the other parameters. Over `dim` it is the error by number of features (RMSECV). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/choice.h"

enum { MOST_LINES = 8 };

/* A setting with its place in the figure: which line, and where on it. */
typedef struct place {
    int64_t line, setting;
    double x;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *p = a;
    const place *q = b;

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

static kfe_status add_columns(const kfe_i_choice *choice, const place *places, int axis, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *means = NULL;
    double *sds = NULL;
    int column = 0;

    kfe_i_figure_rows(out, choice->count);
    for (int a = 0; a < choice->axis_count; a++) {
        KFE_TRY(kfe_i_choice_column(choice, a, a == axis, out, &column));
        for (int64_t i = 0; i < choice->count; i++) {
            int32_t code = choice->codes[places[i].setting * choice->axis_count + a];
            if (out->columns[column - 1].numbers)
                out->columns[column - 1].numbers[i] = choice->axes[a].numbers[code];
            else
                out->columns[column - 1].codes[i] = code;
        }
    }
    KFE_TRY(kfe_i_figure_numbers(out, choice->metric, &column, &means));
    KFE_TRY(kfe_i_figure_numbers(out, "standard deviation", &column, &sds));
    for (int64_t i = 0; i < choice->count; i++) {
        means[i] = choice->means[places[i].setting];
        sds[i] = choice->sds[places[i].setting];
    }
cleanup:
    return status;
}

static kfe_status add_lines(kfe_context *ctx, const kfe_i_choice *choice, const place *places, int axis,
                            kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char *name = NULL;

    for (int64_t i = 0; i < choice->count && out->series_count < MOST_LINES;) {
        int64_t end = i;
        while (end < choice->count && places[end].line == places[i].line)
            end++;
        kfe_i_series series = {.mark = KFE_MARK_LINE,
                               .flags = KFE_SERIES_DOTTED,
                               .style = (int)out->series_count,
                               .first = i,
                               .count = end - i,
                               .x = axis + 1,
                               .y = choice->axis_count + 1,
                               .spread = choice->axis_count + 2};
        KFE_TRY(name_line(ctx, choice, places[i].setting, axis, &name));
        KFE_TRY(kfe_i_figure_series(out, choice->axis_count > 1 ? name : NULL, series));
        kfe_i_free(ctx, name);
        name = NULL;
        i = end;
    }
cleanup:
    kfe_i_free(ctx, name);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_choice choice = {0};
    place *places = NULL;

    KFE_TRY(kfe_i_choice_read(ctx, source, &choice));
    if (choice.count == 0 || choice.axis_count == 0)
        goto cleanup;
    int axis = choose_axis(&choice);
    KFE_ALLOC(ctx, places, choice.count);
    for (int64_t i = 0; i < choice.count; i++) {
        int32_t code = choice.codes[i * choice.axis_count + axis];
        double x = choice.axes[axis].is_number ? choice.axes[axis].numbers[code] : code;
        places[i] = (place){.line = line_of(&choice, i, axis), .setting = i, .x = x};
    }
    qsort(places, (size_t)choice.count, sizeof *places, compare_places);
    KFE_TRY(add_columns(&choice, places, axis, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, choice.axes[axis].name, choice.metric));
    out->panels[0].x.log = choice.axes[axis].is_log;
    KFE_TRY(add_lines(ctx, &choice, places, axis, out));
    kfe_i_text_printf(&out->caption,
                      "Mean %s over the splits on which settings were compared; bands are one "
                      "standard deviation.",
                      choice.metric);
    if (out->series_count == MOST_LINES)
        kfe_i_text_printf(&out->caption, " At most %d lines are drawn; the table has every setting.",
                          MOST_LINES);
cleanup:
    kfe_i_free(ctx, places);
    kfe_i_choice_free(&choice);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_cv_curve = {
    .name = "cv-curve",
    .title = "Metric by setting",
    .section = "Choice",
    .summary = "the metric of a search over one parameter, with bands of one standard deviation",
    .needs = "the JSON of cv or compare with a grid",
    .draw = draw,
};
