/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `contributions`: which columns make the most distant example distant. */
#include <math.h>

#include "core/memory.h"
#include "core/sort.h"
#include "explain/diagnostics.h"
#include "report/figure/figure.h"

enum { MOST_SHOWN = 30 };

/* The example that is farthest from the training data by both distances. */
static kfe_status find_farthest(kfe_context *ctx, const kfe_i_source *source, const kfe_data *data,
                                int64_t *out)
{
    kfe_status status = KFE_OK;
    kfe_matrix rows = {0};

    KFE_TRY(kfe_diagnose(ctx, source->model, data, 0.95, &rows, NULL));
    for (int64_t i = 1; i < rows.rows; i++)
        if (rows.values[i * rows.stride + KFE_DIAGNOSTIC_DISTANCE] >
            rows.values[*out * rows.stride + KFE_DIAGNOSTIC_DISTANCE])
            *out = i;
cleanup:
    kfe_matrix_free(&rows);
    return status;
}

/* T² and Q, which the contributions add up to, or 1. */
static void find_sizes(const kfe_table *t2, const kfe_table *q, double *sizes)
{
    sizes[0] = sizes[1] = 0;
    for (int64_t j = 1; j < t2->cols; j++) {
        sizes[0] += kfe_table_column(t2, j)->numbers[0];
        sizes[1] += fabs(kfe_table_column(q, j)->numbers[0]);
    }
    for (int k = 0; k < 2; k++)
        sizes[k] = sizes[k] > 0 ? sizes[k] : 1;
}

/* The columns with the largest shares of T² or Q, in the order of the columns. */
static kfe_status choose_columns(kfe_context *ctx, const kfe_table *t2, const kfe_table *q,
                                 kfe_i_sorted **out, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t cols = t2->cols - 1;
    double sizes[2];

    KFE_ALLOC(ctx, *out, cols);
    find_sizes(t2, q, sizes);
    for (int64_t j = 0; j < cols; j++) {
        double share = fabs(kfe_table_column(t2, j + 1)->numbers[0]) / sizes[0];
        double other = fabs(kfe_table_column(q, j + 1)->numbers[0]) / sizes[1];
        (*out)[j] = (kfe_i_sorted){fmax(share, other), j};
    }
    kfe_i_sort_falling(*out, cols);
    *count = cols < MOST_SHOWN ? cols : MOST_SHOWN;
    for (int64_t k = 0; k < *count; k++)
        (*out)[k].value = -(double)(*out)[k].index;
    kfe_i_sort_falling(*out, *count);
cleanup:
    return status;
}

static kfe_status add_columns(const kfe_table *t2, const kfe_table *q, const kfe_i_sorted *items,
                              kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char *words[MOST_SHOWN];
    double values[2][MOST_SHOWN];
    double sizes[2];

    find_sizes(t2, q, sizes);
    for (int64_t k = 0; k < out->rows; k++) {
        words[k] = kfe_table_column(t2, items[k].index + 1)->name;
        values[0][k] = kfe_table_column(t2, items[k].index + 1)->numbers[0] / sizes[0];
        values[1][k] = kfe_table_column(q, items[k].index + 1)->numbers[0] / sizes[1];
    }
    KFE_TRY(kfe_i_figure_labels(out, "column", words));
    KFE_TRY(kfe_i_figure_copy(out, "share of T²", values[0]));
    KFE_TRY(kfe_i_figure_copy(out, "share of Q", values[1]));
cleanup:
    return status;
}

/* `row`: its number in the file, from 1, where it has no name. */
static kfe_status draw_tables(kfe_context *ctx, const kfe_result *explanation, int64_t row, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_table *t2 = kfe_result_find(explanation, "t2-contributions");
    const kfe_table *q = kfe_result_find(explanation, "q-contributions");
    const kfe_column *names = kfe_table_column(t2, 0);
    kfe_i_sorted *items = NULL;

    KFE_TRY(choose_columns(ctx, t2, q, &items, &out->rows));
    KFE_TRY(add_columns(t2, q, items, out));
    for (int p = 0; p < 2; p++) {
        KFE_TRY(kfe_i_figure_panel(out, p ? "Q" : "T²", "column", "share"));
        KFE_TRY(kfe_i_figure_series(
            out, NULL,
            (kfe_i_series){.mark = KFE_MARK_BARS, .panel = p, .count = out->rows, .x = 1, .y = p + 2}));
    }
    kfe_i_text_puts(&out->caption, "What each column adds to T² and Q of the most distant example, ");
    if (names->texts && names->texts[0])
        kfe_i_text_add_shown(&out->caption, names->texts[0]);
    else
        kfe_i_text_printf(&out->caption, "row %lld", (long long)row);
    kfe_i_text_printf(
        &out->caption,
        ": the %lld largest of %lld columns. Shares of T² add up to 1; those of Q have the sign of the residual.",
        (long long)out->rows, (long long)t2->cols - 1);
cleanup:
    kfe_i_free(ctx, items);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = source->test.data ? &source->test : &source->train;
    kfe_data *one = NULL;
    kfe_result *explanation = NULL;
    int64_t row = 0;

    if (!source->model || !set->data || kfe_i_not_diagnosed(source->model) ||
        kfe_i_no_residuals(source->model))
        return KFE_OK;
    const kfe_data *data = set->gathered ? set->gathered : set->data;
    if (kfe_data_rows(data) < 1)
        return KFE_OK;
    KFE_TRY(find_farthest(ctx, source, data, &row));
    KFE_TRY(kfe_data_take(ctx, data, 1, &row, &one));
    KFE_TRY(kfe_explain(ctx, source->model, one, "parts=diagnostics,examples=yes", &explanation));
    KFE_TRY(draw_tables(ctx, explanation, (set->origin ? set->origin[row] : row) + 1, out));
cleanup:
    kfe_result_free(explanation);
    kfe_data_free(one);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_contributions = {
    .name = "contributions",
    .title = "What makes the most distant example distant",
    .section = "Why",
    .summary = "what each column adds to T² and Q of the most distant example",
    .needs = "data and a linear model whose features do not explain all columns",
    .draw = draw,
};
