/* SPDX-License-Identifier: Apache-2.0 */
/* Lines over iterations or features from the records of a model; used by path.c and convergence.c. */
#include "report/figure/kind/records.h"

#include <math.h>

#include "core/memory.h"

/* Fewer numbers than this do not make a curve. */
enum { LEAST_NUMBERS = 2 };

static const double *find(const kfe_model *model, kfe_i_record_axis axis, const char *name, int64_t *count)
{
    const double *values = name ? kfe_model_record(model, name, count) : NULL;

    if (!values || *count < LEAST_NUMBERS)
        return NULL;
    return (*count == model->dim) == (axis == KFE_RECORD_FEATURES) ? values : NULL;
}

static int64_t longest(const kfe_model *model, kfe_i_record_axis axis, const kfe_i_record_panel *panels)
{
    int64_t most = 0;

    for (; panels->title; panels++)
        for (int k = 0; k < 2; k++) {
            int64_t count = 0;
            if (find(model, axis, panels->names[k], &count) && count > most)
                most = count;
        }
    return most;
}

static kfe_status add_record(kfe_i_figure *out, const char *name, const double *values, int64_t count)
{
    kfe_status status = KFE_OK;
    double *column_values = NULL;
    kfe_i_series series = {.mark = KFE_MARK_LINE,
                           .flags = count <= 40 ? KFE_SERIES_DOTTED : 0,
                           .style = (int)(out->series_count % 2),
                           .panel = (int)out->panel_count - 1,
                           .count = count,
                           .x = 1};

    KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &column_values));
    for (int64_t i = 0; i < out->rows; i++)
        column_values[i] = i < count ? values[i] : NAN;
    KFE_TRY(kfe_i_figure_series(out, NULL, series));
cleanup:
    return status;
}

static kfe_status add_panel(const kfe_model *model, kfe_i_record_axis axis, const kfe_i_record_panel *panel,
                            kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int opened = 0;

    for (int k = 0; k < 2; k++) {
        int64_t count = 0;
        const double *values = find(model, axis, panel->names[k], &count);
        if (!values)
            continue;
        if (!opened)
            KFE_TRY(kfe_i_figure_panel(out, panel->title,
                                       axis == KFE_RECORD_FEATURES ? "number of features" : "iteration", ""));
        opened = 1;
        KFE_TRY(add_record(out, panel->names[k], values, count));
    }
cleanup:
    return status;
}

kfe_status kfe_i_draw_records(kfe_context *ctx, const kfe_i_source *source, kfe_i_record_axis axis,
                              const kfe_i_record_panel *panels, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *steps = NULL;
    int column = 0;
    int64_t rows = source->model ? longest(source->model, axis, panels) : 0;

    (void)ctx;
    if (rows == 0)
        return KFE_OK;
    kfe_i_figure_rows(out, rows);
    KFE_TRY(
        kfe_i_figure_numbers(out, axis == KFE_RECORD_FEATURES ? "features" : "iteration", &column, &steps));
    for (int64_t i = 0; i < rows; i++)
        steps[i] = (double)i + 1;
    for (; panels->title; panels++)
        KFE_TRY(add_panel(source->model, axis, panels, out));
    out->across = out->panel_count > 1 ? 2 : 1;
cleanup:
    return status;
}
