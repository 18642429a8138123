/* SPDX-License-Identifier: Apache-2.0 */
/* The figures `permutation` and `views`: by how much predictions get worse when a column, or a view, says nothing. */
#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/explained.h"
#include "report/figure/kind/importance.h"

/* Columns or views by their losses, largest first, with all values of the table. */
static kfe_status fill(kfe_context *ctx, const kfe_table *table, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    const kfe_column *from;
    double *values = NULL;

    KFE_ALLOC(ctx, order, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        order[i] = (kfe_i_sorted){kfe_table_column(table, 1)->numbers[i], i};
    kfe_i_sort_falling(order, table->rows);
    out->rows = table->rows < KFE_FIGURE_BARS ? table->rows : KFE_FIGURE_BARS;
    KFE_TRY(kfe_i_add_row_labels(ctx, table, order, out));
    for (int64_t c = 1; (from = kfe_table_column(table, c)); c++) {
        KFE_TRY(kfe_i_figure_numbers(out, from->name, NULL, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = from->numbers[order[i].index];
    }
cleanup:
    kfe_i_free(ctx, order);
    return status;
}

/* Of views: bars beside the loss for the share of a gate and for what is lost in a fit without the view. */
static kfe_status add_shares_and_drops(const kfe_table *table, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    for (int64_t c = 3; c < table->cols; c++) {
        int drops = strcmp(kfe_table_column(table, c)->name, "drop") == 0;
        KFE_TRY(kfe_i_figure_series(
            out, drops ? "loss when dropped" : "mean share",
            (kfe_i_series){
                .mark = KFE_MARK_BARS, .style = (int)c - 2, .count = out->rows, .x = 1, .y = (int)c + 1}));
        if (drops)
            kfe_i_text_puts(&out->caption,
                            " Beside it, by how much the metric gets worse on all examples when the model is "
                            "fitted again without the view; a gap means that there is no such fit.");
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_effort effort;
    kfe_result *explanation = NULL;
    const kfe_table *table = NULL;

    KFE_TRY(kfe_i_importance(ctx, source, out->kind->name, &effort, &explanation, &table));
    if (!explanation)
        return KFE_OK;
    KFE_TRY(fill(ctx, table, out));
    const char *metric = source->model->predictor.classes > 0 ? "accuracy" : "rmse";
    int64_t rows = source->test.data ? source->test.rows : source->train.rows;
    kfe_i_text_printf(
        &out->caption,
        "By how much %s gets worse when the values of a %s are exchanged among the examples: mean of "
        "%lld permutation%s of %lld of %lld examples%s.",
        metric, kfe_table_column(table, 0)->name, (long long)effort.repeats, effort.repeats == 1 ? "" : "s",
        (long long)effort.rows, (long long)rows,
        effort.repeats > 1 ? "; bars of errors are one standard deviation" : "");
    KFE_TRY(kfe_i_figure_panel(out, NULL, kfe_table_column(table, 0)->name, "loss"));
    KFE_TRY(kfe_i_figure_series(out, table->cols > 3 ? "loss when permuted" : NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS,
                                               .count = out->rows,
                                               .x = 1,
                                               .y = 2,
                                               .spread = effort.repeats > 1 ? 3 : 0}));
    KFE_TRY(add_shares_and_drops(table, out));
    if (effort.top > 0)
        kfe_i_text_printf(&out->caption, " Only the %lld columns with the largest derivatives were tried.",
                          (long long)effort.top);
    else if (out->rows < table->rows)
        kfe_i_text_printf(&out->caption, " The %lld largest of %lld.", (long long)out->rows,
                          (long long)table->rows);
cleanup:
    kfe_result_free(explanation);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_permutation = {
    .name = "permutation",
    .title = "Which columns predictions need",
    .section = "Why",
    .summary = "by how much predictions get worse when a column is permuted, largest first",
    .needs = "a model that predicts from columns, and at least two labelled rows of data",
    .draw = draw,
};

const kfe_i_figure_kind kfe_i_figure_views = {
    .name = "views",
    .title = "Which views predictions need",
    .section = "Why",
    .summary = "by how much predictions get worse when a view is permuted, beside the shares of a gate and, "
               "with refit, the loss of a fit without the view",
    .needs =
        "a model that predicts from several views, and at least two labelled rows of data; with refit also "
        "training data",
    .draw = draw,
};
