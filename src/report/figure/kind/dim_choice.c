/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `dim-choice`: what each number of features left unexplained when a fit chose it by cross-validation, with a cross at the choice. */
#include "core/memory.h"
#include "report/figure/figure.h"

static kfe_status add_columns(const double *left, const double *errors, int64_t chosen, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *numbers = NULL;
    double *marks = NULL;

    KFE_TRY(kfe_i_figure_numbers(out, "features", NULL, &numbers));
    KFE_TRY(kfe_i_figure_copy(out, "unexplained variance", left));
    if (errors)
        KFE_TRY(kfe_i_figure_copy(out, "standard error", errors));
    KFE_TRY(kfe_i_figure_numbers(out, "chosen", NULL, &marks));
    for (int64_t j = 0; j < out->rows; j++) {
        numbers[j] = (double)j + 1;
        marks[j] = j + 1 == chosen;
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    int64_t known = 0;
    const kfe_model *model = source->model;
    const double *left = model ? kfe_model_record(model, "cv-unexplained-variance", &count) : NULL;
    const double *errors = model ? kfe_model_record(model, "cv-unexplained-error", &known) : NULL;

    (void)ctx;
    if (!left || model->dim > count)
        return KFE_OK;
    errors = known == count ? errors : NULL; /* models of earlier versions have none */
    out->rows = count;
    KFE_TRY(add_columns(left, errors, model->dim, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "number of features", "share of variance left unexplained"));
    const kfe_i_series line = {.mark = KFE_MARK_LINE,
                               .flags = KFE_SERIES_DOTTED,
                               .count = count,
                               .x = 1,
                               .y = 2,
                               .spread = errors ? 3 : 0};
    KFE_TRY(kfe_i_figure_series(out, "held-out rows", line));
    KFE_TRY(kfe_i_figure_series(out, "chosen",
                                (kfe_i_series){.mark = KFE_MARK_POINTS,
                                               .flags = KFE_SERIES_CROSSES,
                                               .first = model->dim - 1,
                                               .count = 1,
                                               .x = 1,
                                               .y = 2}));
    kfe_i_text_printf(
        &out->caption,
        "The share of the variance of the targets that a regression on the first features left "
        "unexplained on held-out folds of the training examples%s. The cross is the number that "
        "the fit chose.",
        errors ? ", with bands of one standard error" : "");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_dim_choice = {
    .name = "dim-choice",
    .title = "Number of features",
    .section = "How it was learned",
    .summary = "what each number of features leaves unexplained, with the number that the fit chose",
    .needs = "a model whose number of features was chosen by cross-validation (dim=auto of pls and others)",
    .draw = draw,
};
