/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `spectra`: some rows of the data as lines over the axis of their columns, as they are and as the steps of the model prepare them. */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "data/steps/positions.h"
#include "model/arrange.h"
#include "model/chain_views.h"
#include "report/figure/kind/columns.h"

enum { MOST_LINES = 100, MOST_NUMBERS = 80000, MOST_PLACES = 1000 };

/* One row: its place among the rows of the set, and what colours it. */
typedef struct line {
    int64_t row;
    double value; /* the class, or the first real target; 0: neither */
} line;

typedef struct spectra {
    kfe_context *ctx;
    const kfe_i_source *source;
    const kfe_i_set *set;
    const kfe_data *data; /* of the set */
    int64_t count;
    line lines[MOST_LINES];
    kfe_i_table tables[2];            /* raw and, if the model has steps, prepared rows */
    const char *const *names[2];      /* of their columns; NULL: none */
    int64_t cols[2], step, places[2]; /* every step-th column is shown */
    int panels;
    const char *chooser; /* the step that has chosen columns; NULL: there is none */
} spectra;

/* ---- which rows ---- */

static int compare_lines(const void *a, const void *b)
{
    const line *p = a;
    const line *q = b;

    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static double value_of(const spectra *s, int64_t row)
{
    const kfe_i_target *target = &s->data->target;

    if (s->set->truth)
        return s->set->truth[row];
    return target->task == KFE_TASK_REAL ? target->values[row * target->cols] : 0;
}

/* The content of the rows decides which are drawn; equal rows once. */
static kfe_status choose_lines(spectra *s, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_data_row_keys(s->ctx, s->data, &keys));
    KFE_TRY(kfe_i_distinct_make(s->ctx, kfe_data_rows(s->data), keys, KFE_STREAM_FIGURES, &distinct));
    s->count = distinct.count < most ? distinct.count : most;
    for (int64_t k = 0; k < s->count; k++)
        s->lines[k] = (line){distinct.first[k], value_of(s, distinct.first[k])};
    qsort(s->lines, (size_t)s->count, sizeof *s->lines, compare_lines);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(s->ctx, keys);
    return status;
}

/* ---- which columns ---- */

/* Whether the rows are spectra: their columns are an axis, or the model prepares many columns without names as such. */
static int are_spectra(const kfe_i_source *source)
{
    const kfe_model *model = source->model;
    const kfe_i_model_view *view = model ? model->views : NULL;

    if (!view || model->view_count != 1 || view->strings || view->encoding.count > 0 || view->cols < 2 ||
        (!source->train.data && !source->test.data) || kfe_i_kernel_list_given(&model->kernels, 0) > 0)
        return 0;
    kfe_i_positions positions = kfe_i_positions_of((const char *const *)view->column_names, view->cols);
    return positions.is_axis || (view->scaler.chain.count > 0 && view->cols > KFE_FIGURE_BARS);
}

static void plan_places(spectra *s, const kfe_i_model_view *view)
{
    const kfe_i_chain *chain = &view->scaler.chain;
    int64_t most = 0;

    s->panels = chain->count > 0 ? 2 : 1;
    s->cols[0] = view->cols;
    s->cols[1] = s->panels > 1 ? chain->made : 0;
    s->names[0] = (const char *const *)view->column_names;
    s->names[1] = (const char *const *)(chain->names ? chain->names : view->column_names);
    most = s->cols[0] > s->cols[1] ? s->cols[0] : s->cols[1];
    s->step = (most - 1) / MOST_PLACES + 1;
    for (int p = 0; p < s->panels; p++)
        s->places[p] = (s->cols[p] - 1) / s->step + 1;
}

static kfe_status take_rows(spectra *s, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    int64_t rows[MOST_LINES];
    kfe_data *taken = NULL;
    kfe_data arranged = {0};

    for (int64_t k = 0; k < s->count; k++)
        rows[k] = s->lines[k].row;
    KFE_TRY(kfe_i_data_gather(s->ctx, s->data, rows, s->count, &taken));
    KFE_TRY(kfe_i_arrange(s->ctx, model, taken, &arranged));
    const kfe_i_table *table = &arranged.views[0].table;
    KFE_TRY(kfe_i_table_new_dense(s->ctx, s->count, s->cols[0], &s->tables[0]));
    for (int64_t k = 0; k < s->count; k++)
        kfe_i_table_dense_row(table, k, s->tables[0].values + k * s->tables[0].stride);
    if (s->panels > 1)
        KFE_TRY(kfe_i_chain_apply(s->ctx, &model->views[0].scaler.chain, &s->tables[0], "the data", 0,
                                  &s->tables[1]));
cleanup:
    kfe_i_arrange_free(&arranged);
    kfe_data_free(taken);
    return status;
}

/* ---- the table ---- */

static kfe_status add_positions(const spectra *s, kfe_i_figure *out)
{
    static const char *const words[] = {"raw", "prepared"};
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;
    double *values = NULL;
    int64_t row = 0;

    KFE_TRY(kfe_i_figure_words(out, "rows", s->panels, words, NULL, &codes));
    KFE_TRY(kfe_i_figure_numbers(out, "position", NULL, &values));
    for (int p = 0; p < s->panels; p++) {
        kfe_i_positions positions = kfe_i_positions_of(s->names[p], s->cols[p]);
        for (int64_t k = 0; k < s->places[p]; k++, row++) {
            codes[row] = p;
            values[row] = kfe_i_position_at(&positions, s->names[p], k * s->step);
        }
    }
cleanup:
    return status;
}

static void name_line(const spectra *s, int64_t k, char *out, size_t size)
{
    const kfe_i_table *ids = &s->set->data->ids;
    int64_t row = s->set->origin ? s->set->origin[s->lines[k].row] : s->lines[k].row;

    if (ids->rows > row)
        kfe_i_snprintf(out, size, "%.*s", (int)(ids->row_start[row + 1] - ids->row_start[row]),
                       ids->bytes + ids->row_start[row]);
    else
        kfe_i_snprintf(out, size, "row %lld", (long long)row + 1);
}

static kfe_status add_line(const spectra *s, int64_t k, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char name[128];
    double *values = NULL;
    int64_t at = 0;

    name_line(s, k, name, sizeof name);
    KFE_TRY(kfe_i_figure_numbers(out, name, NULL, &values));
    for (int p = 0; p < s->panels; p++)
        for (int64_t j = 0; j < s->places[p]; j++)
            values[at++] = s->tables[p].values[k * s->tables[p].stride + j * s->step];
cleanup:
    return status;
}

/* The step that has chosen columns of the data, if there is one; origins[cols] = the columns that it sees. */
static const kfe_i_fitted_step *choosing_step(const spectra *s, int64_t *origins)
{
    const kfe_i_chain *chain = &s->source->model->views[0].scaler.chain;

    for (int i = 0; i < chain->count; i++)
        if (chain->steps[i].step->choose)
            return kfe_i_chain_origins(chain, i, origins) ? &chain->steps[i] : NULL;
    return NULL;
}

/* Marks the columns chosen below the lines of the raw rows. */
static kfe_status add_marks(spectra *s, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t *origins = NULL;
    double *values = NULL;
    double low = (double)INFINITY;

    KFE_ALLOC(s->ctx, origins, s->cols[0]);
    const kfe_i_fitted_step *fit = choosing_step(s, origins);
    if (!fit)
        goto cleanup;
    s->chooser = fit->step->name;
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t j = 0; j < s->cols[0]; j++)
            low = fmin(low, s->tables[0].values[k * s->tables[0].stride + j]);
    KFE_TRY(kfe_i_figure_numbers(out, "chosen", NULL, &values));
    for (int64_t row = 0; row < out->rows; row++)
        values[row] = (double)NAN;
    for (int64_t j = 0; j < fit->made; j++)
        values[origins[fit->kept[j]] / s->step] = low;
cleanup:
    kfe_i_free(s->ctx, origins);
    return status;
}

/* ---- the picture ---- */

static kfe_status add_panels(const spectra *s, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    for (int p = 0; p < s->panels; p++) {
        kfe_i_positions positions = kfe_i_positions_of(s->names[p], s->cols[p]);
        char title[96];
        kfe_i_position_title(&positions, s->names[p], title, sizeof title);
        KFE_TRY(kfe_i_figure_panel(out, s->panels < 2 ? NULL : p ? "prepared" : "raw", title, "value"));
        kfe_i_axis *x = &out->panels[p].x;
        const double *places = out->columns[1].numbers + (p ? s->places[0] : 0);
        double first = places[0];
        double last = places[s->places[p] - 1];
        x->is_reversed = positions.is_axis && positions.is_reversed;
        if (first != last)
            kfe_i_axis_range(x, fmin(first, last), fmax(first, last));
    }
cleanup:
    return status;
}

/* The colour of a line: of its class, or the tone of its target. */
static kfe_i_series colour_line(const spectra *s, int64_t k)
{
    kfe_i_series series = {.mark = KFE_MARK_LINE, .flags = KFE_SERIES_PLAIN, .x = 2};
    double low = s->lines[0].value;
    double high = s->lines[s->count - 1].value;

    if (s->set->truth)
        series.style = (int)s->lines[k].value;
    else if (high > low) {
        series.has_tone = 1;
        series.tone = (s->lines[k].value - low) / (high - low);
    }
    return series;
}

/* With real targets, the lowest and the highest line stand in the legend. */
static void name_target(const spectra *s, int64_t k, char *out, size_t size)
{
    out[0] = '\0';
    if (s->set->truth || s->lines[0].value == s->lines[s->count - 1].value)
        return;
    if (k == 0 || k == s->count - 1)
        kfe_i_snprintf(out, size, "target %.4g", s->lines[k].value);
}

static kfe_status add_series(const spectra *s, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    for (int p = 0; p < s->panels; p++)
        for (int64_t k = 0; k < s->count; k++) {
            char name[64];
            kfe_i_series series = colour_line(s, k);
            name_target(s, k, name, sizeof name);
            series.panel = p;
            series.first = p ? s->places[0] : 0;
            series.count = s->places[p];
            series.y = (int)k + 3;
            KFE_TRY(kfe_i_figure_series(out, p == 0 && *name ? name : NULL, series));
        }
    if (s->chooser) {
        char name[64];
        kfe_i_snprintf(name, sizeof name, "chosen: %s", s->chooser);
        KFE_TRY(kfe_i_figure_series(out, name,
                                    (kfe_i_series){.mark = KFE_MARK_POINTS,
                                                   .flags = KFE_SERIES_GREY,
                                                   .x = 2,
                                                   .y = (int)s->count + 3,
                                                   .count = s->places[0]}));
    }
    for (int64_t k = 0; s->set->truth && k < s->count; k++) {
        kfe_i_series key = colour_line(s, k);
        if (k > 0 && s->lines[k].value == s->lines[k - 1].value)
            continue;
        key.flags |= KFE_SERIES_KEY;
        key.y = 3;
        KFE_TRY(kfe_i_figure_series(out, s->source->classes.names[(int64_t)s->lines[k].value], key));
    }
cleanup:
    return status;
}

static void write_caption(const spectra *s, kfe_i_figure *out)
{
    kfe_i_text_printf(&out->caption, "%lld of the %lld %s examples, coloured by class or target%s.",
                      (long long)s->count, (long long)kfe_data_rows(s->set->data), s->set->name,
                      s->panels > 1 ? ": as they are, and as the steps of the model prepare them" : "");
    if (s->step > 1)
        kfe_i_text_printf(&out->caption, " One in %lld columns is shown.", (long long)s->step);
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    spectra s = {.ctx = ctx, .source = source};

    if (!are_spectra(source))
        return KFE_OK;
    s.set = source->train.data ? &source->train : &source->test;
    s.data = s.set->gathered ? s.set->gathered : s.set->data;
    plan_places(&s, source->model->views);
    int64_t most = MOST_NUMBERS / (s.places[0] + s.places[1]);
    KFE_TRY(choose_lines(&s, most < MOST_LINES ? most : MOST_LINES));
    if (s.count < 1)
        goto cleanup;
    KFE_TRY(take_rows(&s, source->model));
    out->rows = s.places[0] + s.places[1];
    KFE_TRY(add_positions(&s, out));
    for (int64_t k = 0; k < s.count; k++)
        KFE_TRY(add_line(&s, k, out));
    KFE_TRY(add_marks(&s, out));
    KFE_TRY(add_panels(&s, out));
    KFE_TRY(add_series(&s, out));
    write_caption(&s, out);
cleanup:
    kfe_i_table_free(&s.tables[0]);
    kfe_i_table_free(&s.tables[1]);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_spectra = {
    .name = "spectra",
    .title = "Spectra",
    .section = "Features",
    .summary = "rows as lines over the axis of their columns, raw and prepared, coloured by class or target",
    .needs =
        "a model of one view whose columns are named by positions, such as 900 nm, or prepared by steps, and data",
    .draw = draw,
};
