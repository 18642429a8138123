/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `estimate`, a table: every metric over the test parts of a cross-validation or comparison, with the setting that was
 * chosen. */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"
#include "text/read.h"

/* Errors over all held-out predictions that are no metrics. */
static const char *const pooled_names[] = {"bias", "SEP"};
static const char *const pooled_columns[] = {"pooled/bias", "pooled/sep"};
enum { POOLED = 2 };

/* The rows are assessments (methods, or the facts of one) times metrics, then pooled errors. */
typedef struct estimates {
    const kfe_table *table, *splits;
    int64_t metrics, each; /* each: with the pooled errors */
} estimates;

static estimates find_estimates(const kfe_i_source *source)
{
    const kfe_table *methods = kfe_result_find(source->results, "methods");
    estimates e = {.table = methods ? methods : kfe_result_find(source->results, "facts"),
                   .splits = kfe_result_find(source->results, "splits")};

    while (e.table && kfe_i_metric_column(e.splits, e.metrics))
        e.metrics++;
    int is_pooled = e.metrics > 0 && e.table && kfe_table_find(e.table, pooled_columns[0]);
    e.each = e.metrics + (is_pooled ? POOLED : 0);
    return e;
}

static kfe_status add_names(kfe_context *ctx, const estimates *e, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char *name = kfe_table_find(e->table, "label") ? "label" : "method";
    const char **words = NULL;

    KFE_ALLOC(ctx, words, out->rows);
    for (int64_t i = 0; i < out->rows; i++)
        words[i] = kfe_i_result_shown(e->table, name, i / e->each);
    KFE_TRY(kfe_i_figure_labels(out, "method", words));
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t m = i % e->each;
        words[i] = m < e->metrics ? kfe_i_last_part(kfe_i_metric_column(e->splits, m)->name)
                                  : pooled_names[m - e->metrics];
    }
    KFE_TRY(kfe_i_figure_labels(out, "metric", words));
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

static kfe_i_estimate estimate_at(const estimates *e, int64_t row, int64_t m)
{
    if (m < e->metrics)
        return kfe_i_read_estimate(e->table, row, kfe_i_metric_column(e->splits, m)->name);
    return (kfe_i_estimate){kfe_i_result_at(e->table, pooled_columns[m - e->metrics], row), NAN, NAN};
}

static kfe_status add_numbers(const estimates *e, kfe_i_figure *out)
{
    static const char *const names[] = {"mean", "standard error", "standard deviation", "test parts"};
    kfe_status status = KFE_OK;
    double *values[4] = {NULL};

    for (int k = 0; k < 4; k++)
        KFE_TRY(kfe_i_figure_numbers(out, names[k], NULL, &values[k]));
    for (int64_t i = 0; i < out->rows; i++) {
        const kfe_i_estimate estimate = estimate_at(e, i / e->each, i % e->each);
        int64_t count = 0;
        (void)kfe_i_result_first(e->splits, i / e->each, &count);
        values[0][i] = estimate.mean;
        values[1][i] = estimate.error;
        values[2][i] = estimate.sd;
        values[3][i] = (double)count;
    }
cleanup:
    return status;
}

/* The settings that all data would be fitted with, as "gamma=0.1, C=10"; *has_grid 0: nothing was chosen. */
static kfe_status add_settings(kfe_context *ctx, const estimates *e, kfe_i_figure *out, int *has_grid)
{
    kfe_status status = KFE_OK;
    char **settings = NULL;
    kfe_i_text text;

    *has_grid = 0;
    KFE_ALLOC_ZERO(ctx, settings, out->rows);
    for (int64_t i = 0; i < out->rows; i++) {
        kfe_i_text_init(&text, ctx);
        kfe_i_text_puts(&text, "");
        kfe_i_result_put_group(e->table, "best", i / e->each, ", ", &text);
        *has_grid |= text.length > 0;
        KFE_TRY(kfe_i_text_take(&text, &settings[i]));
    }
    if (*has_grid)
        KFE_TRY(kfe_i_figure_labels(out, "setting chosen", (const char *const *)settings));
cleanup:
    kfe_i_strings_free(ctx, settings ? out->rows : 0, settings);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const estimates e = find_estimates(source);
    int has_grid = 0;

    out->rows = e.table ? e.table->rows * e.each : 0;
    if (out->rows == 0)
        return KFE_OK;
    KFE_TRY(add_names(ctx, &e, out));
    KFE_TRY(add_numbers(&e, out));
    KFE_TRY(add_settings(ctx, &e, out, &has_grid));
    kfe_i_text_puts(&out->caption, "Mean over the test parts of the splits, its standard error, and the "
                                   "standard deviation over these parts.");
    if (e.each > e.metrics)
        kfe_i_text_puts(&out->caption, " Bias and SEP are the mean and the standard deviation of prediction "
                                       "minus target over all held-out predictions.");
    if (has_grid)
        kfe_i_text_puts(&out->caption,
                        kfe_i_results_are_nested(source->results)
                            ? " Settings were chosen again inside each training part, so that the test parts "
                              "judge the choice too. The setting shown is the one chosen on all splits."
                            : " Settings were chosen on these splits, so that the numbers are somewhat too "
                              "good.");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_estimate = {
    .name = "estimate",
    .title = "Estimated quality",
    .section = "Quality",
    .summary = "every metric over the test parts of a search, with the setting chosen, as a table",
    .needs = "the JSON of cv or compare",
    .draw = draw,
};
