/* SPDX-License-Identifier: Apache-2.0 */
/* The figures with a number per column out of an explanation of a linear model: coefficients, vip,
 * selectivity-ratio, smc, loadings, loading-weights, rotations. */
#include <math.h>

#include "core/distribution.h"
#include "core/memory.h"
#include "model/linear.h"
#include "report/figure/kind/columns.h"
#include "report/figure/kind/explained.h"

enum { MOST_SERIES = 8, FOLDS = 10 };

typedef struct explained_kind {
    const char *table;
    const char *y; /* title of the axis */
    const char *caption;
    kfe_i_columns_order order;
    int most_series;  /* 0: eight */
    const char *high; /* a table with the upper ends of intervals; NULL: none */
    int has_f_limit;  /* the line is at the 0.95 quantile of F with 1 and n − 2 degrees of freedom */
    double level;     /* of a dashed line; 0: at zero */
} explained_kind;

/* Multiplications of the fits of the jack-knife that nobody waits for. */
#define FREE_WORK 4e9

/* Whether training data is there and fits are cheap. */
static int can_refit(const kfe_i_source *source)
{
    const kfe_data *train = source->train.data;
    double cols = source->model ? (double)kfe_i_model_all_cols(source->model) : 0;

    return train && cols > 0 &&
           FOLDS * (double)kfe_data_rows(train) * cols * (double)(source->model->dim + 1) <= FREE_WORK;
}

/* The largest absolute value of each row of the series that are drawn. */
static void find_sizes(const kfe_table *table, int series, double *sizes)
{
    for (int64_t j = 0; j < table->rows; j++) {
        sizes[j] = 0;
        for (int64_t c = 1; c < table->cols && c <= series; c++)
            sizes[j] = fmax(sizes[j], fabs(kfe_table_column(table, c)->numbers[j]));
    }
}

/* Half the length of each interval; *column 0: there are none. */
static kfe_status add_spread(const kfe_table *high, const kfe_column *from, int64_t c,
                             const kfe_i_columns *columns, kfe_i_figure *out, int *column)
{
    kfe_status status = KFE_OK;
    char name[160];
    double *values = NULL;

    *column = 0;
    if (!high)
        return KFE_OK;
    kfe_i_snprintf(name, sizeof name, "%s ±", from->name);
    KFE_TRY(kfe_i_figure_numbers(out, name, column, &values));
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t j = columns->items[i].index;
        values[i] = kfe_table_column(high, c)->numbers[j] - from->numbers[j];
    }
cleanup:
    return status;
}

static kfe_status add_series(const kfe_table *table, const kfe_table *high, const kfe_i_columns *columns,
                             int most_series, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int is_single = table->cols == 2;

    for (int64_t c = 1; c < table->cols && c <= KFE_FIGURE_FEATURES; c++) {
        const kfe_column *from = kfe_table_column(table, c);
        char label[128];
        double *values = NULL;
        kfe_i_series series = kfe_i_columns_series(columns, 0);
        series.style = (int)out->series_count;
        kfe_i_snprintf(label, sizeof label, "%s%s%s", kfe_i_result_is_numbered(table) ? from->about : "",
                       kfe_i_result_is_numbered(table) ? " " : "", from->name);
        KFE_TRY(kfe_i_figure_numbers(out, is_single ? table->name : label, &series.y, &values));
        for (int64_t i = 0; i < out->rows; i++)
            values[i] = from->numbers[columns->items[i].index];
        KFE_TRY(add_spread(high, from, c, columns, out, &series.spread));
        if (out->series_count < most_series)
            KFE_TRY(kfe_i_figure_series(out, is_single ? NULL : label, series));
    }
cleanup:
    return status;
}

/* A line at the 0.95 quantile of F with 1 and n − 2 degrees of freedom. */
static void put_f_limit(double degrees, kfe_i_figure *out)
{
    double limit = kfe_i_f_limit(0.95, 1, degrees);

    if (!(limit > 0))
        return;
    out->panels[0].reference = KFE_REFERENCE_LEVEL;
    out->panels[0].level = limit;
    kfe_i_text_puts(&out->caption, " The dashed line is the 95 % limit.");
}

static kfe_status fill(kfe_context *ctx, const kfe_model *model, const kfe_result *explanation,
                       const explained_kind *kind, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_columns columns = {0};
    double *sizes = NULL;
    const kfe_table *table = kfe_result_find(explanation, kind->table);
    const kfe_table *high = kind->high ? kfe_result_find(explanation, kind->high) : NULL;
    int most = kind->most_series ? kind->most_series : MOST_SERIES;

    if (!table || table->rows == 0)
        return KFE_OK;
    KFE_ALLOC(ctx, sizes, table->rows);
    find_sizes(table, most, sizes);
    KFE_TRY(
        kfe_i_columns_begin(ctx, kfe_table_column(table, 0), table->rows, sizes, kind->order, out, &columns));
    KFE_TRY(add_series(table, high, &columns, most, out));
    KFE_TRY(kfe_i_columns_panel(&columns, NULL, kind->y, out));
    out->panels[0].reference = kind->level != 0 ? KFE_REFERENCE_LEVEL : KFE_REFERENCE_ZERO;
    out->panels[0].level = kind->level;
    kfe_i_text_puts(&out->caption, kind->caption);
    if (kind->has_f_limit && model->moments.spread)
        put_f_limit(model->moments.spread[KFE_SPREAD_MASS] - 2, out);
    if (high)
        kfe_i_text_puts(&out->caption, columns.is_line
                                           ? " Bands are jack-knife intervals of level 0.95."
                                           : " Error bars are jack-knife intervals of level 0.95.");
    kfe_i_columns_caption(&columns, out);
    if (kind->most_series && table->cols - 1 > kind->most_series)
        kfe_i_text_printf(&out->caption, " The first %d of %lld features.", kind->most_series,
                          (long long)table->cols - 1);
cleanup:
    kfe_i_columns_free(&columns);
    kfe_i_free(ctx, sizes);
    return status;
}

kfe_status kfe_i_explained_linear(kfe_context *ctx, const kfe_i_source *source, int has_intervals,
                                  kfe_result **out)
{
    kfe_log_fn log = ctx->log;
    const kfe_data *train = has_intervals ? source->train.data : NULL;

    *out = NULL;
    if (!source->model || source->model->projector != KFE_PROJECT_LINEAR)
        return KFE_OK;
    ctx->log = NULL; /* a model without loadings lacks the figure, which needs no warning */
    kfe_status status = kfe_explain_refit(ctx, source->model, train, NULL,
                                          train ? "parts=linear;jackknife" : "parts=linear", out);
    ctx->log = log;
    return status == KFE_EUNSUPPORTED || status == KFE_EINVAL ? KFE_OK : status; /* nothing to explain */
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_result *explanation = NULL;
    const explained_kind *kind = out->kind->what;

    if (kind->high && can_refit(source))
        status = kfe_i_explained_linear(ctx, source, 1, &explanation);
    if (status == KFE_EINPUT || status == KFE_ENUMERIC || (status == KFE_OK && !explanation))
        status = kfe_i_explained_linear(ctx, source, 0, &explanation); /* too few rows for the jack-knife */
    if (status == KFE_OK && explanation)
        status = fill(ctx, source->model, explanation, kind, out);
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
            .table = "coefficients",
            .y = "coefficient",
            .caption =
                "What one unit of a column, in the units of the data, adds to each output of the model.",
            .high = "coefficient-high"},
};

const kfe_i_figure_kind kfe_i_figure_vip = {
    .name = "vip",
    .title = "Variable importance in projection",
    .section = "Why",
    .summary = "variable importance in projection (VIP) by column",
    .needs = "a model of a linear method that knows its target, such as pls",
    .draw = draw,
    .what =
        &(const explained_kind){
            .table = "vip",
            .y = "VIP",
            .caption =
                "Variable importance in projection: columns above 1 matter more than the average column.",
            .order = KFE_COLUMNS_ABOVE_ZERO,
            .level = 1},
};

const kfe_i_figure_kind kfe_i_figure_selectivity_ratio = {
    .name = "selectivity-ratio",
    .title = "Selectivity ratio",
    .section = "Why",
    .summary = "explained over unexplained variance of each column along the predicted target",
    .needs = "a model of a linear method that knows its target, such as pls",
    .is_on_request = 1,
    .draw = draw,
    .what =
        &(const explained_kind){
            .table = "selectivity-ratio",
            .y = "selectivity ratio",
            .caption =
                "Explained over unexplained variance of each column when it is fitted to the predicted target: "
                "high where a column says what the model predicts, and little else.",
            .order = KFE_COLUMNS_ABOVE_ZERO},
};

const kfe_i_figure_kind kfe_i_figure_smc = {
    .name = "smc",
    .title = "Significance multivariate correlation",
    .section = "Why",
    .summary = "F value of each column: its part along the regression against the rest (sMC)",
    .needs = "a model of a linear method that knows its target, such as pls",
    .is_on_request = 1,
    .draw = draw,
    .what =
        &(const explained_kind){
            .table = "smc",
            .y = "F",
            .caption = "Significance multivariate correlation: F value of each column, its part along the "
                       "regression against the rest, with 1 and n − 2 degrees of freedom.",
            .order = KFE_COLUMNS_ABOVE_ZERO,
            .has_f_limit = 1},
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
            .table = "x-loadings",
            .y = "loading P",
            .caption =
                "Loadings P: how each column, scaled as the model scales it, rises with a feature, so that X ≈ TPᵀ.",
            .most_series = 4},
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
            .table = "weights",
            .y = "weight W",
            .caption =
                "Weights W: the rotations made orthonormal, one feature after the other. In PLS they show which "
                "columns each feature takes from the residual of the features before it.",
            .most_series = 4},
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
            .table = "rotations",
            .y = "rotation R",
            .caption =
                "Rotations R: how much each column, scaled as the model scales it, adds to a feature, so that T = XR.",
            .most_series = 4},
};
