/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `gradient`: how strongly outputs or features change with each column. */
#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/columns.h"
#include "report/figure/kind/importance.h"

/* Derivatives of each column, summed over outputs or features and divided by the sum over columns. */
static void find_shares(const kfe_table *table, double *shares)
{
    double total = 0;

    for (int64_t j = 0; j < table->rows; j++) {
        shares[j] = 0;
        for (int64_t o = 1; o < table->cols; o++)
            shares[j] += kfe_table_column(table, o)->numbers[j];
        total += shares[j];
    }
    for (int64_t j = 0; j < table->rows && total > 0; j++)
        shares[j] /= total;
}

static kfe_status fill(kfe_context *ctx, const kfe_table *table, kfe_i_columns *columns, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *shares = NULL;
    double *values = NULL;
    int y = 0;

    KFE_ALLOC(ctx, shares, table->rows);
    find_shares(table, shares);
    KFE_TRY(kfe_i_columns_begin(ctx, kfe_table_column(table, 0), table->rows, shares, KFE_COLUMNS_ABOVE_ZERO,
                                out, columns));
    KFE_TRY(kfe_i_figure_numbers(out, "share of squared derivatives", &y, &values));
    for (int64_t i = 0; i < out->rows; i++)
        values[i] = shares[columns->items[i].index];
    KFE_TRY(kfe_i_columns_panel(columns, NULL, "share of squared derivatives", out));
    KFE_TRY(kfe_i_figure_series(out, NULL, kfe_i_columns_series(columns, y)));
cleanup:
    kfe_i_free(ctx, shares);
    return status;
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
    kfe_i_text_printf(
        &out->caption,
        "How strongly %s change with a column: the mean squared derivative at %lld examples, times the "
        "variance of the column, as a share of the sum over all columns.",
        strcmp(kfe_table_column(table, 1)->about, "output") == 0 ? "the outputs" : "the features",
        (long long)effort.rows);
    kfe_i_columns_caption(&columns, out);
cleanup:
    kfe_i_columns_free(&columns);
    kfe_result_free(explanation);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_gradient = {
    .name = "gradient",
    .title = "Which columns change the outputs",
    .section = "Why",
    .summary = "the mean squared derivative by column",
    .needs = "a model whose kernels have derivatives, and at least two rows of data",
    .draw = draw,
};
