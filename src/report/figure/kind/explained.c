/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures that are tables of an explanation of a linear model: coefficients, vip, loadings, loading-weights, rotations and variance;
 * and how gradient.c and permutation.c draw such tables.
 */
#include "report/figure/kind/explained.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"

enum { MOST_SERIES = 8 };

typedef struct explained_kind {
    const char *tables[2]; /* drawn beside each other, with the same rows; the second may be NULL */
    const char *x, *y;     /* titles of the axes */
    const char *caption;
    int is_sorted;    /* bars of the largest values, largest first; else all rows in their order */
    int most_series;  /* of each table; 0: eight */
    int is_by_column; /* signed values of columns; many columns whose names are not a scale, such as genes: bars of the largest, by absolute value */
} explained_kind;

/* Whether names are a scale, such as wavelengths: the same word, or none, before numbers that rise. */
static int names_are_scale(int64_t count, const char *const *names)
{
    size_t prefix = count > 0 && names[0] ? strcspn(names[0], "0123456789") : 0;
    double last = -INFINITY;

    for (int64_t i = 0; i < count; i++) {
        double number = 0;
        if (!names[i] || strncmp(names[i], names[0], prefix) != 0 ||
            !kfe_i_parse_number(names[i] + prefix, names[i] + strlen(names[i]), &number) || number <= last)
            return 0;
        last = number;
    }
    return count > 0;
}

/* Columns named by numbers, such as wavelengths, are an axis of numbers. */
static int labels_are_numbers(const kfe_table *table)
{
    const char *const *names = kfe_table_column(table, 0)->texts;
    double number = 0;

    for (int64_t i = 0; names && i < table->rows; i++)
        if (!kfe_i_parse_number(names[i], names[i] + strlen(names[i]), &number))
            return 0;
    return names != NULL;
}

/* Whether the table has more rows than bars, and their names are not a scale. */
static int has_many_names(const kfe_table *table)
{
    const char *const *names = kfe_table_column(table, 0)->texts;

    return table->rows > KFE_FIGURE_BARS && names && !names_are_scale(table->rows, names);
}

/* What a row is sorted by: its first value or, of `series` that are drawn, the largest absolute one. */
static double size_of(const kfe_table *table, int64_t row, int series)
{
    double size = kfe_table_column(table, 1)->numbers[row];

    if (series == 0)
        return isfinite(size) ? size : 0;
    size = 0;
    for (int64_t c = 1; c < table->cols && c <= series; c++)
        size = fmax(size, fabs(kfe_table_column(table, c)->numbers[row]));
    return size;
}

/* The rows in the order in which they are drawn. */
static kfe_status order_rows(kfe_context *ctx, const kfe_table *table, int is_sorted, int series,
                             kfe_i_sorted **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        (*out)[i] = (kfe_i_sorted){size_of(table, i, series), i};
    if (is_sorted)
        kfe_i_sort_falling(*out, table->rows);
cleanup:
    return status;
}

kfe_status kfe_i_add_row_labels(kfe_context *ctx, const kfe_table *table, const kfe_i_sorted *order,
                                kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_column *labels = kfe_table_column(table, 0);
    const char **words = NULL;
    double *numbers = NULL;

    if (!labels->texts) {
        KFE_TRY(kfe_i_figure_numbers(out, labels->name, NULL, &numbers));
        for (int64_t i = 0; i < out->rows; i++)
            numbers[i] = (double)order[i].index + 1;
        return KFE_OK;
    }
    KFE_ALLOC(ctx, words, out->rows);
    for (int64_t i = 0; i < out->rows; i++)
        words[i] = labels->texts[order[i].index];
    KFE_TRY(kfe_i_figure_labels(out, labels->name, words));
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

static kfe_status add_number_labels(const kfe_table *table, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_column *labels = kfe_table_column(table, 0);
    double *numbers = NULL;

    KFE_TRY(kfe_i_figure_numbers(out, labels->name, NULL, &numbers));
    for (int64_t i = 0; i < out->rows; i++)
        kfe_i_parse_number(labels->texts[i], labels->texts[i] + strlen(labels->texts[i]), &numbers[i]);
cleanup:
    return status;
}

static kfe_status add_table(const kfe_table *table, const kfe_i_sorted *order, int is_one, int most_series,
                            kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int is_single = table->cols == 2;

    for (int64_t c = 1; c < table->cols && c <= KFE_FIGURE_FEATURES; c++) {
        const kfe_column *from = kfe_table_column(table, c);
        char label[128];
        char both[256];
        double *values = NULL;
        kfe_i_series series = {.mark = out->rows > KFE_FIGURE_BARS ? KFE_MARK_LINE : KFE_MARK_BARS,
                               .style = (int)out->series_count,
                               .count = out->rows,
                               .x = 1};
        kfe_i_snprintf(label, sizeof label, "%s%s%s", kfe_i_result_is_numbered(table) ? from->about : "",
                       kfe_i_result_is_numbered(table) ? " " : "", from->name);
        const char *own = is_single ? table->name : label;
        kfe_i_snprintf(both, sizeof both, "%s, %s", table->name, own);
        const char *name = is_one || is_single ? own : both;
        KFE_TRY(kfe_i_figure_numbers(out, name, &series.y, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = from->numbers[order[i].index];
        if (out->series_count < most_series)
            KFE_TRY(kfe_i_figure_series(out, is_one && is_single ? NULL : name, series));
    }
cleanup:
    return status;
}

static kfe_status fill(kfe_context *ctx, const kfe_result *explanation, const explained_kind *kind,
                       kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    const kfe_table *first = kfe_result_find(explanation, kind->tables[0]);
    const kfe_table *second = kind->tables[1] ? kfe_result_find(explanation, kind->tables[1]) : NULL;
    int most = kind->most_series ? kind->most_series : MOST_SERIES;

    if (!first || first->rows == 0)
        return KFE_OK;
    int is_cut = kind->is_by_column && has_many_names(first);
    KFE_TRY(order_rows(ctx, first, kind->is_sorted || is_cut, is_cut ? most : 0, &order));
    is_cut |= kind->is_sorted && first->rows > KFE_FIGURE_BARS;
    out->rows = is_cut ? KFE_FIGURE_BARS : first->rows;
    if (kind->is_by_column && !is_cut && labels_are_numbers(first))
        KFE_TRY(add_number_labels(first, out));
    else
        KFE_TRY(kfe_i_add_row_labels(ctx, first, order, out));
    KFE_TRY(add_table(first, order, !second, most, out));
    if (second && second->rows == first->rows)
        KFE_TRY(add_table(second, order, 0, most, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, kind->x, kind->y));
    out->panels[0].reference = kind->is_by_column ? KFE_REFERENCE_ZERO : KFE_REFERENCE_NONE;
    kfe_i_text_puts(&out->caption, kind->caption);
    if (out->rows < first->rows)
        kfe_i_text_printf(&out->caption, " The %lld largest of %lld.", (long long)out->rows,
                          (long long)first->rows);
    if (kind->most_series && first->cols - 1 > kind->most_series)
        kfe_i_text_printf(&out->caption, " The first %d of %lld features.", kind->most_series,
                          (long long)first->cols - 1);
cleanup:
    kfe_i_free(ctx, order);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_result *explanation = NULL;
    kfe_log_fn log = ctx->log;

    if (!source->model || source->model->projector != KFE_PROJECT_LINEAR)
        return KFE_OK;
    ctx->log = NULL; /* a model without loadings lacks the figure; that is no news */
    kfe_status status = kfe_explain(ctx, source->model, NULL, "parts=linear", &explanation);
    ctx->log = log;
    if (status == KFE_EUNSUPPORTED || status == KFE_EINVAL) /* nothing to explain */
        return KFE_OK;
    if (status == KFE_OK)
        status = fill(ctx, explanation, out->kind->what, out);
    kfe_result_free(explanation);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_coefficients = {
    .name = "coefficients",
    .title = "Coefficients in the units of the data",
    .section = "Why",
    .summary = "how predictions of a linear model change with each column",
    .needs = "a model of a linear method with a linear classifier or regressor",
    .draw = draw,
    .what =
        &(const explained_kind){
            .tables = {"coefficients"},
            .x = "column",
            .y = "coefficient: output per unit of the column",
            .caption =
                "What one unit of a column, in the units of the data, adds to each output of the model.",
            .is_by_column = 1},
};

const kfe_i_figure_kind kfe_i_figure_vip = {
    .name = "vip",
    .title = "Variable importance in projection",
    .section = "Why",
    .summary = "variable importance in projection (VIP) by column, largest first",
    .needs = "a model of a linear method that knows its target, such as pls",
    .draw = draw,
    .what =
        &(const explained_kind){
            .tables = {"vip"},
            .x = "column",
            .y = "VIP",
            .caption =
                "Variable importance in projection: columns above 1 matter more than the average column.",
            .is_sorted = 1},
};

const kfe_i_figure_kind kfe_i_figure_loadings = {
    .name = "loadings",
    .title = "Loadings",
    .section = "Why",
    .summary = "loadings P of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method that keeps its loadings, such as pls or pca",
    .draw = draw,
    .what =
        &(const explained_kind){
            .tables = {"x-loadings"},
            .x = "column",
            .y = "loading P",
            .caption =
                "Loadings P: how each column, scaled as the model scales it, rises with a feature, so that X ≈ TPᵀ.",
            .most_series = 4,
            .is_by_column = 1},
};

const kfe_i_figure_kind kfe_i_figure_loading_weights = {
    .name = "loading-weights",
    .title = "Loading weights",
    .section = "Why",
    .summary = "weights W of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method, such as pls, pca or oc",
    .is_on_request = 1,
    .draw = draw,
    .what =
        &(const explained_kind){
            .tables = {"weights"},
            .x = "column",
            .y = "weight W",
            .caption =
                "Weights W: the rotations made orthonormal, one feature after the other. In PLS they show which "
                "columns each feature takes from the residual of the features before it.",
            .most_series = 4,
            .is_by_column = 1},
};

const kfe_i_figure_kind kfe_i_figure_rotations = {
    .name = "rotations",
    .title = "Rotations",
    .section = "Why",
    .summary = "rotations R of a linear model by column, as bars or as a spectrum",
    .needs = "a model of a linear method, such as pls, pca or oc",
    .is_on_request = 1,
    .draw = draw,
    .what =
        &(const explained_kind){
            .tables = {"rotations"},
            .x = "column",
            .y = "rotation R",
            .caption =
                "Rotations R: how much each column, scaled as the model scales it, adds to a feature, so that T = XR.",
            .most_series = 4,
            .is_by_column = 1},
};

const kfe_i_figure_kind kfe_i_figure_variance = {
    .name = "variance",
    .title = "Explained variance",
    .section = "How it was learned",
    .summary = "shares of the variance of columns and targets that each feature explains",
    .needs = "a model of a linear method, such as pls",
    .draw = draw,
    .what =
        &(const explained_kind){
            .tables = {"x-variance", "y-variance"},
            .x = "feature",
            .y = "share of the variance",
            .caption =
                "Shares of the variance of the training columns (x) and of the target (y) that each feature "
                "explains."},
};
