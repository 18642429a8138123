/* SPDX-License-Identifier: Apache-2.0 */
/* The figures `permutation` and `views`: by how much predictions get worse when a column, or a view, says nothing. */
#include <string.h>

#include "core/memory.h"
#include "explain/permuting.h"
#include "report/figure/kind/columns.h"
#include "report/figure/kind/importance.h"

/* Whether losses of columns are drawn. */
static int has_bars(const kfe_table *table)
{
    return table->cols == 3 && !kfe_i_nothing_matters(table);
}

/* Columns or views by their losses, largest first or over their axis, with all values of the table. */
static kfe_status fill(kfe_context *ctx, const kfe_table *table, kfe_i_columns *columns, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_column *from = kfe_table_column(table, 1);
    double *values = NULL;

    KFE_TRY(kfe_i_columns_begin(ctx, kfe_table_column(table, 0), table->rows, from->numbers,
                                has_bars(table) ? KFE_COLUMNS_ABOVE_ZERO : KFE_COLUMNS_SORTED, out, columns));
    for (int64_t c = 1; (from = kfe_table_column(table, c)); c++) {
        KFE_TRY(kfe_i_figure_numbers(out, from->name, NULL, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = from->numbers[columns->items[i].index];
    }
cleanup:
    return status;
}

/* Of views: bars beside the loss for the share of a gate and for what is lost in a fit without the view. */
static kfe_status add_shares_and_drops(const kfe_table *table, const kfe_i_columns *columns,
                                       kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    for (int64_t c = 3; c < table->cols; c++) {
        int drops = strcmp(kfe_table_column(table, c)->name, "drop") == 0;
        kfe_i_series series = kfe_i_columns_series(columns, columns->x + (int)c);
        series.style = (int)c - 2;
        KFE_TRY(kfe_i_figure_series(out, drops ? "loss when dropped" : "mean share", series));
        if (drops)
            kfe_i_text_puts(&out->caption,
                            " Beside it, by how much the metric gets worse on all examples when the model is "
                            "fitted again without the view; a gap means that there is no such fit.");
    }
cleanup:
    return status;
}

static kfe_status add_losses(const kfe_table *table, const kfe_i_columns *columns, const kfe_i_effort *effort,
                             kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char *what = kfe_table_column(table, 0)->name;
    char nothing[64];
    kfe_i_series series = kfe_i_columns_series(columns, columns->x + 1);

    kfe_i_snprintf(nothing, sizeof nothing, "no %s matters detectably", what);
    if (table->cols == 3 && kfe_i_nothing_matters(table))
        return kfe_i_figure_panel(out, nothing, "", "");
    series.spread = effort->repeats > 1 ? columns->x + 2 : 0;
    if (effort->top > 0 && columns->is_line)
        series.mark = KFE_MARK_POINTS;
    KFE_TRY(kfe_i_columns_panel(columns, NULL, "loss", out));
    if (columns->is_line)
        out->panels[0].reference = KFE_REFERENCE_ZERO;
    KFE_TRY(kfe_i_figure_series(out, table->cols > 3 ? "loss when permuted" : NULL, series));
    KFE_TRY(add_shares_and_drops(table, columns, out));
cleanup:
    return status;
}

static void write_caption(const kfe_i_source *source, const kfe_table *table, const kfe_i_effort *effort,
                          kfe_i_figure *out)
{
    const char *metric = source->model->predictor.classes > 0 ? "accuracy" : "rmse";
    int64_t rows = source->test.data ? source->test.rows : source->train.rows;

    kfe_i_text_printf(
        &out->caption,
        "By how much %s gets worse when the values of a %s are exchanged among the examples: mean of "
        "%lld permutation%s of %lld of %lld examples%s.",
        metric, kfe_table_column(table, 0)->name, (long long)effort->repeats, effort->repeats == 1 ? "" : "s",
        (long long)effort->rows, (long long)rows, effort->repeats > 1 ? ", with one standard deviation" : "");
    if (table->cols == 3 && kfe_i_nothing_matters(table))
        kfe_i_text_puts(&out->caption, " No loss is larger than twice its standard deviation.");
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_effort effort;
    kfe_result *explanation = NULL;
    const kfe_table *table = NULL;
    kfe_i_columns columns = {0};

    KFE_TRY(kfe_i_importance(ctx, source, out->kind->name, &effort, &explanation, &table));
    if (!explanation)
        return KFE_OK;
    KFE_TRY(fill(ctx, table, &columns, out));
    write_caption(source, table, &effort, out);
    KFE_TRY(add_losses(table, &columns, &effort, out));
    if (effort.top > 0)
        kfe_i_text_printf(&out->caption, " Only the %lld columns with the largest derivatives were tried.",
                          (long long)effort.top);
    else
        kfe_i_columns_caption(&columns, out);
cleanup:
    kfe_i_columns_free(&columns);
    kfe_result_free(explanation);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_permutation = {
    .name = "permutation",
    .title = "Which columns predictions need",
    .section = "Why",
    .summary = "how much worse predictions get when a column is permuted",
    .needs = "a model that predicts from columns, and at least two labelled rows of data",
    .draw = draw,
};

const kfe_i_figure_kind kfe_i_figure_views = {
    .name = "views",
    .title = "Which views predictions need",
    .section = "Why",
    .summary = "how much worse predictions get when a view is permuted and, with refit, when the model is "
               "fitted without it, beside the shares of a gate",
    .needs =
        "a model that predicts from several views, and at least two labelled rows of data; with refit also "
        "training data",
    .draw = draw,
};
