/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of multi-block models: `view-weights`, how much each view counts, and `score-correlations`, how much the scores of views agree. */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_PANELS = 4 };

static kfe_status view_names(kfe_context *ctx, const kfe_model *model, const char ***out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, model->view_count);
    for (int v = 0; v < model->view_count; v++)
        (*out)[v] = model->views[v].name;
cleanup:
    return status;
}

/* The record with a number for each view. */
static const double *find_weights(const kfe_model *model, const char **name)
{
    static const char *const names[] = {"view-importance", "prediction-weights"};
    static const char *const titles[] = {"importance of the view", "weight in predictions"};
    int64_t count = 0;

    for (int i = 0; model && i < 2; i++) {
        const double *values = kfe_model_record(model, names[i], &count);
        *name = titles[i];
        if (values && count == model->view_count && count > 1)
            return values;
    }
    return NULL;
}

static kfe_status draw_weights(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char *title = NULL;
    const double *weights = find_weights(source->model, &title);
    const char **names = NULL;

    if (!weights)
        return KFE_OK;
    out->rows = source->model->view_count;
    KFE_TRY(view_names(ctx, source->model, &names));
    KFE_TRY(kfe_i_figure_labels(out, "view", names));
    KFE_TRY(kfe_i_figure_copy(out, title, weights));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "", title));
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS, .count = out->rows, .x = 1, .y = 2}));
    kfe_i_text_puts(&out->caption,
                    title[0] == 'i' ? "A view of importance above 1 contributes more than the average view."
                                    : "The weights of the views in predictions add up to one.");
cleanup:
    kfe_i_free(ctx, names);
    return status;
}

/* Cells of component j, one row of the table for each pair of views. */
static kfe_status add_component(kfe_i_figure *out, int64_t j, int64_t cells, const int *columns)
{
    kfe_status status = KFE_OK;
    char title[32];

    (void)kfe_i_snprintf(title, sizeof title, "component %lld", (long long)j + 1);
    KFE_TRY(kfe_i_figure_panel(out, title, "", ""));
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_HEAT,
                                               .panel = (int)j,
                                               .first = j * cells,
                                               .count = cells,
                                               .x = columns[0],
                                               .y = columns[1],
                                               .z = columns[2]}));
cleanup:
    return status;
}

static kfe_status draw_correlations(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    const double *values =
        source->model ? kfe_model_record(source->model, "score-correlations", &count) : NULL;
    int64_t views = source->model ? source->model->view_count : 0;
    const char **names = NULL;
    int32_t *codes[2];
    double *shown = NULL;
    int columns[3];

    if (!values || views < 2 || count % (views * views) != 0)
        return KFE_OK;
    int64_t panels = count / (views * views) < MOST_PANELS ? count / (views * views) : MOST_PANELS;
    out->rows = panels * views * views;
    KFE_TRY(view_names(ctx, source->model, &names));
    KFE_TRY(kfe_i_figure_words(out, "view", views, names, &columns[0], &codes[0]));
    KFE_TRY(kfe_i_figure_words(out, "other view", views, names, &columns[1], &codes[1]));
    KFE_TRY(kfe_i_figure_numbers(out, "correlation", &columns[2], &shown));
    for (int64_t k = 0; k < out->rows; k++) {
        codes[0][k] = (int32_t)(k % views);
        codes[1][k] = (int32_t)(k / views % views);
        shown[k] = round(100 * values[k]) / 100;
    }
    out->flags = KFE_FIGURE_SQUARE | KFE_FIGURE_COUNTS | KFE_FIGURE_REVERSED;
    for (int64_t j = 0; j < panels; j++)
        KFE_TRY(add_component(out, j, views * views, columns));
    out->across = panels > 1 ? 2 : 1;
    kfe_i_text_puts(&out->caption, "Correlations between the scores of the views on the training examples.");
cleanup:
    kfe_i_free(ctx, names);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_view_weights = {
    .name = "view-weights",
    .title = "How much each view counts",
    .section = "How it was learned",
    .summary = "importance of views, or their weights in predictions",
    .needs = "a model of mbpls or block-splsda with several views",
    .draw = draw_weights,
};

const kfe_i_figure_kind kfe_i_figure_score_correlations = {
    .name = "score-correlations",
    .title = "How much the views agree",
    .section = "How it was learned",
    .summary = "correlations between the scores of views",
    .needs = "a model of mbpls or block-splsda with several views",
    .draw = draw_correlations,
};
