/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `loadings`: coefficients of a linear model by column, as bars or, for many columns, as a spectrum. */
#include <string.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_BARS = 40, MOST_FEATURES = 4 };

/* Columns named by numbers, such as wavelengths, are an axis of numbers. */
static int names_are_numbers(const kfe_i_model_view *view)
{
    double number = 0;

    for (int64_t j = 0; view->column_names && j < view->cols; j++)
        if (!kfe_i_parse_number(view->column_names[j], view->column_names[j] + strlen(view->column_names[j]),
                                &number))
            return 0;
    return view->column_names != NULL;
}

static kfe_status add_named_columns(kfe_i_figure *out, const kfe_i_model_view *view, int *column)
{
    kfe_status status = KFE_OK;
    int32_t *codes = NULL;

    KFE_TRY(kfe_i_figure_words(out, "column", view->cols, (const char *const *)view->column_names, column,
                               &codes));
    for (int64_t j = 0; j < view->cols; j++)
        codes[j] = (int32_t)j;
cleanup:
    return status;
}

static kfe_status add_numbered_columns(kfe_i_figure *out, const kfe_i_model_view *view, int by_name,
                                       int *column)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    KFE_TRY(kfe_i_figure_numbers(out, by_name ? "column" : "column number", column, &values));
    for (int64_t j = 0; j < view->cols; j++) {
        values[j] = (double)j + 1;
        if (by_name)
            kfe_i_parse_number(view->column_names[j], view->column_names[j] + strlen(view->column_names[j]),
                               &values[j]);
    }
cleanup:
    return status;
}

static kfe_status add_features(const kfe_model *model, kfe_i_figure *out, int x)
{
    kfe_status status = KFE_OK;
    int64_t shown = model->dim < MOST_FEATURES ? model->dim : MOST_FEATURES;

    for (int64_t k = 0; k < model->dim && k < KFE_FIGURE_FEATURES; k++) {
        char name[32];
        double *values = NULL;
        kfe_i_series series = {.mark = model->rows > MOST_BARS ? KFE_MARK_LINE : KFE_MARK_BARS,
                               .style = (int)k,
                               .count = out->rows,
                               .x = x};
        kfe_i_feature_name(k, name, sizeof name);
        KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &values));
        for (int64_t j = 0; j < out->rows; j++)
            values[j] = model->coefficients[j * model->dim + k];
        if (k < shown)
            KFE_TRY(kfe_i_figure_series(out, name, series));
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = source->model;
    int x = 0;

    (void)ctx;
    if (!model || model->projector != KFE_PROJECT_LINEAR || !model->coefficients)
        return KFE_OK;
    const kfe_i_model_view *view = &model->views[0];
    int by_name = names_are_numbers(view);
    kfe_i_figure_rows(out, model->rows);
    if (view->column_names && !by_name)
        KFE_TRY(add_named_columns(out, view, &x));
    else
        KFE_TRY(add_numbered_columns(out, view, by_name, &x));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "column", "coefficient"));
    out->panels[0].reference = KFE_REFERENCE_ZERO;
    KFE_TRY(add_features(model, out, x));
    kfe_i_text_puts(&out->caption, "How much each column, scaled as the model scales it, adds to a feature.");
    if (model->dim > MOST_FEATURES)
        kfe_i_text_printf(&out->caption, " The first %d of %lld features.", MOST_FEATURES,
                          (long long)model->dim);
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_loadings = {
    .name = "loadings",
    .title = "Features by column",
    .section = "Why",
    .summary = "coefficients of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method, such as pls, pca or oc",
    .draw = draw,
};
