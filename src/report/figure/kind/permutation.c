/* SPDX-License-Identifier: Apache-2.0 */
/* The figures `permutation` and `views`: by how much predictions get worse when a column, or a view, says nothing. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "report/figure/kind/importance.h"

enum { MOST_BARS = 40 };

static int table_index(const kfe_explanation *explanation, const char *name)
{
    kfe_explained table;
    int i = 0;

    while (kfe_explanation_table(explanation, i, &table) && strcmp(table.name, name) != 0)
        i++;
    return i;
}

/* Columns or views by their losses, largest first, with all values of the table. */
static kfe_status fill(kfe_context *ctx, const kfe_explanation *explanation, const kfe_explained *table,
                       kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int index = table_index(explanation, table->name);
    kfe_i_sorted *order = NULL;
    const char **words = NULL;
    int32_t *codes = NULL;
    double *values = NULL;
    int column = 0;

    KFE_ALLOC(ctx, order, table->rows);
    KFE_ALLOC(ctx, words, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        order[i] = (kfe_i_sorted){table->values[i * table->cols], i};
    kfe_i_sort_falling(order, table->rows);
    kfe_i_figure_rows(out, table->rows < MOST_BARS ? table->rows : MOST_BARS);
    for (int64_t i = 0; i < out->rows; i++)
        words[i] = kfe_explanation_row_label(explanation, index, order[i].index);
    KFE_TRY(kfe_i_figure_words(out, table->row_axis, out->rows, words, &column, &codes));
    for (int64_t i = 0; i < out->rows; i++)
        codes[i] = (int32_t)i;
    for (int64_t c = 0; c < table->cols; c++) {
        KFE_TRY(
            kfe_i_figure_numbers(out, kfe_explanation_col_label(explanation, index, c), &column, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = table->values[order[i].index * table->cols + c];
    }
cleanup:
    kfe_i_free(ctx, order);
    kfe_i_free(ctx, words);
    return status;
}

/* Of views: bars beside the loss for the share of a gate and for what is lost in a fit without the view. */
static kfe_status add_shares_and_drops(const kfe_explanation *explanation, const kfe_explained *table,
                                       kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int index = table_index(explanation, table->name);

    for (int64_t c = 2; c < table->cols; c++) {
        int drops = strcmp(kfe_explanation_col_label(explanation, index, c), "drop") == 0;
        KFE_TRY(kfe_i_figure_series(
            out, drops ? "loss when dropped" : "mean share",
            (kfe_i_series){
                .mark = KFE_MARK_BARS, .style = (int)c - 1, .count = out->rows, .x = 1, .y = (int)c + 2}));
        if (drops)
            kfe_i_text_puts(&out->caption,
                            " Beside it, by how much the metric gets worse on all examples when the model is "
                            "fitted again without the view; a gap means that there is no such fit.");
    }
cleanup:
    return status;
}

static kfe_status draw_losses(kfe_context *ctx, const kfe_i_source *source, const char *part,
                              const kfe_i_effort *effort, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_explanation *explanation = NULL;
    kfe_explained table = {0};

    KFE_TRY(kfe_i_importance(ctx, source, part, effort, &explanation, &table));
    if (!explanation)
        return KFE_OK;
    KFE_TRY(fill(ctx, explanation, &table, out));
    const char *metric = source->model->predictor.classes > 0 ? "accuracy" : "rmse";
    int64_t rows = source->test.data ? source->test.rows : source->train.rows;
    kfe_i_text_printf(
        &out->caption,
        "By how much %s gets worse when the values of a %s are exchanged among the examples: mean of "
        "%lld permutation%s of %lld of %lld examples%s.",
        metric, table.row_axis, (long long)effort->repeats, effort->repeats == 1 ? "" : "s",
        (long long)effort->rows, (long long)rows,
        effort->repeats > 1 ? "; bars of errors are one standard deviation" : "");
    KFE_TRY(kfe_i_figure_panel(out, NULL, table.row_axis, "loss"));
    KFE_TRY(kfe_i_figure_series(out, table.cols > 2 ? "loss when permuted" : NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS,
                                               .count = out->rows,
                                               .x = 1,
                                               .y = 2,
                                               .spread = effort->repeats > 1 ? 3 : 0}));
    KFE_TRY(add_shares_and_drops(explanation, &table, out));
    if (effort->top > 0)
        kfe_i_text_printf(&out->caption, " Only the %lld columns with the largest derivatives were tried.",
                          (long long)effort->top);
    else if (out->rows < table.rows)
        kfe_i_text_printf(&out->caption, " The %lld largest of %lld.", (long long)out->rows,
                          (long long)table.rows);
cleanup:
    kfe_explanation_free(explanation);
    return status;
}

static kfe_status draw_columns(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_i_effort effort = kfe_i_effort_permutation(source);

    return draw_losses(ctx, source, "permutation", &effort, out);
}

static kfe_status draw_views(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_i_effort effort = kfe_i_effort_views(source);

    return draw_losses(ctx, source, "views", &effort, out);
}

const kfe_i_figure_kind kfe_i_figure_permutation = {
    .name = "permutation",
    .title = "Which columns predictions need",
    .section = "Why",
    .summary = "by how much predictions get worse when a column is permuted, largest first",
    .needs = "a model that predicts from columns, and at least two labelled rows of data",
    .draw = draw_columns,
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
    .draw = draw_views,
};
