/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `contributions`: which columns make an example distant, the most distant one unless asked. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "explain/diagnostics.h"
#include "report/figure/kind/columns.h"

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

static int64_t row_in_file(const kfe_i_set *set, int64_t row)
{
    return set->origin ? set->origin[row] : row;
}

static int has_name(const kfe_i_set *set, int64_t row, const char *name)
{
    const kfe_i_table *ids = &set->data->ids;

    if (ids->rows <= row)
        return 0;
    size_t length = (size_t)(ids->row_start[row + 1] - ids->row_start[row]);
    return strlen(name) == length && memcmp(name, ids->bytes + ids->row_start[row], length) == 0;
}

/* The example that was asked for by its name or its number, among those that figures show. */
static kfe_status find_row(kfe_context *ctx, const kfe_i_source *source, const kfe_i_set *set, int64_t *out)
{
    const char *asked = source->settings.row;
    double number = 0;
    int is_number = kfe_i_parse_number(asked, asked + strlen(asked), &number);

    for (int by_number = 0; by_number <= is_number; by_number++)
        for (int64_t i = 0; i < set->rows; i++) {
            int64_t row = row_in_file(set, i);
            if (by_number ? (double)row + 1 == number : has_name(set, row, asked)) {
                *out = i;
                return KFE_OK;
            }
        }
    return kfe_i_fail(ctx, KFE_EINVAL, "{row=%s}: there is no such row in the %s data of %lld rows%s", asked,
                      set->name, (long long)kfe_data_rows(set->data),
                      set->origin ? ", of which figures show a sample" : "");
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

/* Shares of both distances by column, and the larger of them. */
static void find_shares(const kfe_table *t2, const kfe_table *q, double *shares[3])
{
    double sizes[2];

    find_sizes(t2, q, sizes);
    for (int64_t j = 0; j + 1 < t2->cols; j++) {
        shares[0][j] = kfe_table_column(t2, j + 1)->numbers[0] / sizes[0];
        shares[1][j] = kfe_table_column(q, j + 1)->numbers[0] / sizes[1];
        shares[2][j] = fmax(fabs(shares[0][j]), fabs(shares[1][j]));
    }
}

static kfe_status add_panels(const kfe_i_columns *columns, double *const shares[2], kfe_i_figure *out)
{
    static const char *const titles[] = {"T²", "Q"};
    static const char *const names[] = {"share of T²", "share of Q"};
    kfe_status status = KFE_OK;

    for (int p = 0; p < 2; p++) {
        double *values = NULL;
        kfe_i_series series = kfe_i_columns_series(columns, 0);
        series.panel = p;
        KFE_TRY(kfe_i_figure_numbers(out, names[p], &series.y, &values));
        for (int64_t k = 0; k < out->rows; k++)
            values[k] = shares[p][columns->items[k].index];
        KFE_TRY(kfe_i_columns_panel(columns, titles[p], "share", out));
        out->panels[p].reference = KFE_REFERENCE_ZERO;
        KFE_TRY(kfe_i_figure_series(out, NULL, series));
    }
cleanup:
    return status;
}

static kfe_status add_columns(kfe_context *ctx, const kfe_table *t2, const kfe_table *q, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = t2->cols - 1;
    const char **names = NULL;
    double *shares[3] = {0};
    kfe_i_columns columns = {0};

    KFE_ALLOC(ctx, names, count);
    for (int64_t j = 0; j < count; j++)
        names[j] = kfe_table_column(t2, j + 1)->name;
    for (int k = 0; k < 3; k++)
        KFE_ALLOC(ctx, shares[k], count);
    find_shares(t2, q, shares);
    KFE_TRY(kfe_i_columns_begin(ctx, &(kfe_column){.name = "column", .texts = names}, count, shares[2],
                                KFE_COLUMNS_IN_ORDER, out, &columns));
    KFE_TRY(add_panels(&columns, shares, out));
    kfe_i_columns_caption(&columns, out);
cleanup:
    kfe_i_columns_free(&columns);
    kfe_i_free(ctx, names);
    for (int k = 0; k < 3; k++)
        kfe_i_free(ctx, shares[k]);
    return status;
}

/* `row`: its number in the file, from 1, where it has no name. */
static kfe_status draw_tables(kfe_context *ctx, const kfe_i_source *source, const kfe_result *explanation,
                              int64_t row, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_table *t2 = kfe_result_find(explanation, "t2-contributions");
    const kfe_table *q = kfe_result_find(explanation, "q-contributions");
    const kfe_column *names = kfe_table_column(t2, 0);

    kfe_i_text_printf(&out->caption, "What each column adds to T² and Q of the %s%s example, ",
                      *source->settings.row ? "" : "most distant ", source->test.data ? "test" : "training");
    if (names->texts && names->texts[0])
        kfe_i_text_add_shown(&out->caption, names->texts[0]);
    else
        kfe_i_text_printf(&out->caption, "row %lld", (long long)row);
    kfe_i_text_puts(
        &out->caption,
        ". Shares of T² add up to 1. Shares of Q have the sign of the residual, and their sizes add up to "
        "1.");
    KFE_TRY(add_columns(ctx, t2, q, out));
cleanup:
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
    if (*source->settings.row)
        KFE_TRY(find_row(ctx, source, set, &row));
    else
        KFE_TRY(find_farthest(ctx, source, data, &row));
    KFE_TRY(kfe_data_take(ctx, data, 1, &row, &one));
    KFE_TRY(kfe_explain(ctx, source->model, one, "parts=diagnostics,examples=yes", &explanation));
    KFE_TRY(draw_tables(ctx, source, explanation, row_in_file(set, row) + 1, out));
cleanup:
    kfe_result_free(explanation);
    kfe_data_free(one);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_contributions = {
    .name = "contributions",
    .title = "What makes an example distant",
    .section = "Why",
    .summary = "what each column adds to T² and Q of the most distant example, or of the one that `row` "
               "names",
    .needs = "data and a linear model whose features do not explain all columns",
    .draw = draw,
};
