/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `variance`: what each feature of a linear model explains of the columns and of the targets. */
#include "report/figure/kind/explained.h"

static kfe_status add_bars(const kfe_table *table, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    for (int64_t c = 1; c < table->cols; c++) {
        const kfe_column *from = kfe_table_column(table, c);
        kfe_i_series series = {
            .mark = KFE_MARK_BARS, .style = (int)out->series_count, .count = out->rows, .x = 1};
        char name[64];
        double *values = NULL;
        kfe_i_snprintf(name, sizeof name, "%s, %s", table->name, from->name);
        KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = from->numbers[i];
        KFE_TRY(kfe_i_figure_series(out, name, series));
    }
cleanup:
    return status;
}

static kfe_status fill(const kfe_result *explanation, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_table *x = kfe_result_find(explanation, "x-variance");
    const kfe_table *y = kfe_result_find(explanation, "y-variance");
    const kfe_column *features = x ? kfe_table_column(x, 0) : NULL;
    double *numbers = NULL;

    if (!x || x->rows == 0)
        return KFE_OK;
    out->rows = x->rows;
    if (features->texts)
        KFE_TRY(kfe_i_figure_labels(out, "feature", features->texts));
    else
        KFE_TRY(kfe_i_figure_numbers(out, "feature", NULL, &numbers));
    for (int64_t i = 0; numbers && i < out->rows; i++)
        numbers[i] = (double)i + 1;
    KFE_TRY(add_bars(x, out));
    if (y)
        KFE_TRY(add_bars(y, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "feature", "share of the variance"));
    kfe_i_text_puts(
        &out->caption,
        "Shares of the variance of the training columns (x) and of the target (y) that each feature "
        "explains.");
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_result *explanation = NULL;
    kfe_status status = kfe_i_explained_linear(ctx, source, 0, &explanation);

    if (status == KFE_OK && explanation)
        status = fill(explanation, out);
    kfe_result_free(explanation);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_variance = {
    .name = "variance",
    .title = "Explained variance",
    .section = "How it was learned",
    .summary = "shares of the variance of columns and targets that each feature explains",
    .needs = "a model of a linear method, such as pls",
    .draw = draw,
};
