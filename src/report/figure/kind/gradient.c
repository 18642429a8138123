/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `gradient`: how strongly outputs or features change with each column. */
#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/explained.h"
#include "report/figure/kind/importance.h"

/* Columns by their derivatives, summed over outputs or features and divided by the sum over columns. */
static kfe_status order_columns(kfe_context *ctx, const kfe_table *table, kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;
    double total = 0;

    KFE_ALLOC(ctx, *out, table->rows);
    for (int64_t j = 0; j < table->rows; j++) {
        (*out)[j] = (kfe_i_sorted){0, j};
        for (int64_t o = 1; o < table->cols; o++)
            (*out)[j].value += kfe_table_column(table, o)->numbers[j];
        total += (*out)[j].value;
    }
    for (int64_t j = 0; j < table->rows && total > 0; j++)
        (*out)[j].value /= total;
    kfe_i_sort_falling(*out, table->rows);
cleanup:
    return status;
}

static kfe_status fill(kfe_context *ctx, const kfe_table *table, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    double *values = NULL;

    KFE_TRY(order_columns(ctx, table, &order));
    out->rows = table->rows < KFE_FIGURE_BARS ? table->rows : KFE_FIGURE_BARS;
    KFE_TRY(kfe_i_add_row_labels(ctx, table, order, out));
    KFE_TRY(kfe_i_figure_numbers(out, "share of squared derivatives", NULL, &values));
    for (int64_t i = 0; i < out->rows; i++)
        values[i] = order[i].value;
cleanup:
    kfe_i_free(ctx, order);
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
    KFE_TRY(kfe_i_figure_panel(out, NULL, "column", "share of squared derivatives"));
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS, .count = out->rows, .x = 1, .y = 2}));
    kfe_i_text_printf(
        &out->caption,
        "How strongly %s change with a column: the mean squared derivative at %lld examples, times the "
        "variance of the column, as a share of the sum over all columns.",
        strcmp(kfe_table_column(table, 1)->about, "output") == 0 ? "the outputs" : "the features",
        (long long)effort.rows);
    if (out->rows < table->rows)
        kfe_i_text_printf(&out->caption, " The %lld largest of %lld.", (long long)out->rows,
                          (long long)table->rows);
cleanup:
    kfe_result_free(explanation);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_gradient = {
    .name = "gradient",
    .title = "Which columns change the outputs",
    .section = "Why",
    .summary = "the mean squared derivative by column, largest first",
    .needs = "a model whose kernels have derivatives, and at least two rows of data",
    .draw = draw,
};
