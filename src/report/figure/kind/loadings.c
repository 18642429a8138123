/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `loadings`: coefficients of a linear model by column: bars, of many columns the largest, or a spectrum if
 * the names of the columns are a scale. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "report/figure/kind/explained.h"

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

/* The columns in the order in which they are drawn: by the largest coefficient of a feature that is shown, if `sorted`. */
static kfe_status order_columns(kfe_context *ctx, const kfe_model *model, int sorted, kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, model->rows);
    for (int64_t j = 0; j < model->rows; j++) {
        (*out)[j] = (kfe_i_sorted){0, j};
        for (int64_t k = 0; k < model->dim && k < MOST_FEATURES; k++)
            (*out)[j].value = fmax((*out)[j].value, fabs(model->coefficients[j * model->dim + k]));
    }
    if (sorted)
        kfe_i_sort_falling(*out, model->rows);
cleanup:
    return status;
}

static kfe_status add_named_columns(kfe_context *ctx, kfe_i_figure *out, const kfe_i_model_view *view,
                                    const kfe_i_sorted *order, int *column)
{
    kfe_status status = KFE_OK;
    const char **words = NULL;
    int32_t *codes = NULL;

    KFE_ALLOC(ctx, words, out->rows);
    for (int64_t j = 0; j < out->rows; j++)
        words[j] = view->column_names[order[j].index];
    KFE_TRY(kfe_i_figure_words(out, "column", out->rows, words, column, &codes));
    for (int64_t j = 0; j < out->rows; j++)
        codes[j] = (int32_t)j;
cleanup:
    kfe_i_free(ctx, words);
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

static kfe_status add_features(const kfe_model *model, const kfe_i_sorted *order, kfe_i_figure *out, int x)
{
    kfe_status status = KFE_OK;
    int64_t shown = model->dim < MOST_FEATURES ? model->dim : MOST_FEATURES;

    for (int64_t k = 0; k < model->dim && k < KFE_FIGURE_FEATURES; k++) {
        char name[32];
        double *values = NULL;
        kfe_i_series series = {.mark = out->rows > MOST_BARS ? KFE_MARK_LINE : KFE_MARK_BARS,
                               .style = (int)k,
                               .count = out->rows,
                               .x = x};
        kfe_i_feature_name(k, name, sizeof name);
        KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &values));
        for (int64_t j = 0; j < out->rows; j++)
            values[j] = model->coefficients[order[j].index * model->dim + k];
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
    kfe_i_sorted *order = NULL;
    int x = 0;

    if (!model || model->projector != KFE_PROJECT_LINEAR || !model->coefficients)
        return KFE_OK;
    const kfe_i_model_view *view = &model->views[0];
    int by_name = names_are_numbers(view);
    int is_cut = model->rows > MOST_BARS && view->column_names &&
                 !kfe_i_names_are_scale(view->cols, (const char *const *)view->column_names);
    KFE_TRY(order_columns(ctx, model, is_cut, &order));
    kfe_i_figure_rows(out, is_cut ? MOST_BARS : model->rows);
    if (view->column_names && !by_name)
        KFE_TRY(add_named_columns(ctx, out, view, order, &x));
    else
        KFE_TRY(add_numbered_columns(out, view, by_name, &x));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "column", "coefficient"));
    out->panels[0].reference = KFE_REFERENCE_ZERO;
    KFE_TRY(add_features(model, order, out, x));
    kfe_i_text_puts(&out->caption, "How much each column, scaled as the model scales it, adds to a feature.");
    if (model->dim > MOST_FEATURES)
        kfe_i_text_printf(&out->caption, " The first %d of %lld features.", MOST_FEATURES,
                          (long long)model->dim);
    if (is_cut)
        kfe_i_text_printf(&out->caption, " The %d columns with the largest coefficients of %lld.", MOST_BARS,
                          (long long)model->rows);
cleanup:
    kfe_i_free(ctx, order);
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
