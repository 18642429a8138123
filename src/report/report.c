/* SPDX-License-Identifier: Apache-2.0 */
/* The public object kfe_report: collects what figures are drawn from, and draws them. */
#include "report/report.h"

#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "data/rows/fingerprint.h"
#include "report/figure/json.h"
#include "report/figure/svg.h"
#include "report/page/page.h"

static const kfe_i_param rows[] = {
    KFE_INT(kfe_i_figure_settings, x, "x", "0", 0, KFE_INT_MAX,
            "the feature on the first axis of scatter plots, from 1; 0: the first"),
    KFE_INT(kfe_i_figure_settings, y, "y", "0", 0, KFE_INT_MAX,
            "the feature on the second axis; 0: the second"),
    KFE_INT(kfe_i_figure_settings, z, "z", "0", 0, KFE_INT_MAX,
            "the feature on the third axis; 0: the third"),
    KFE_TEXT(kfe_i_figure_settings, metric, "metric", "",
             "the metric of figures about a search; the first one unless given"),
    KFE_TEXT(kfe_i_figure_settings, positive, "positive", "",
             "the class of the ROC and precision-recall curves; with two classes, the larger number or later "
             "name unless given"),
    KFE_TEXT(
        kfe_i_figure_settings, row, "row", "",
        "the example whose distances are explained by columns: its name, or its number from 1; empty: the most "
        "distant one"),
    KFE_TEXT(kfe_i_figure_settings, title, "title", "", "the title of the report"),
    KFE_FLAG(kfe_i_figure_settings, refit, "refit", "no",
             "in the figure of views: also fit the model again on the training examples without each view in "
             "turn, and show how much worse it predicts the test examples"),
};
static const kfe_i_param_table params = KFE_PARAM_TABLE(rows, kfe_i_figure_settings);

const kfe_param_info *kfe_report_option(int index)
{
    return kfe_i_param_info(&params, index);
}

const kfe_entry_info *kfe_figure(int index)
{
    const kfe_i_figure_kind *row = kfe_i_figure_at(index);
    return row ? &row->entry : NULL;
}

kfe_status kfe_report_new(kfe_context *ctx, const char *options, kfe_report **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, *out, 1);
    (*out)->ctx = ctx;
    KFE_TRY(kfe_i_params_default(ctx, &params, &(*out)->source.settings));
    KFE_TRY(kfe_i_params_parse(ctx, &params, NULL, &(*out)->source.settings, options));
cleanup:
    if (status != KFE_OK) {
        kfe_report_free(*out);
        *out = NULL;
    }
    return status;
}

void kfe_report_free(kfe_report *report)
{
    if (!report)
        return;
    kfe_i_source_free(&report->source);
    for (int64_t i = 0; i < report->fact_count; i++) {
        kfe_i_free(report->ctx, report->facts[i].name);
        kfe_i_free(report->ctx, report->facts[i].value);
    }
    for (int64_t i = 0; i < report->warning_count; i++)
        kfe_i_free(report->ctx, report->warnings[i]);
    kfe_i_free(report->ctx, report->facts);
    kfe_i_free(report->ctx, report->warnings);
    kfe_i_free(report->ctx, report);
}

/* Forgets what was computed from the old model or data. */
static void forget(kfe_report *report)
{
    kfe_i_source old = report->source;

    kfe_i_source_free(&old);
    report->source = (kfe_i_source){.model = old.model, .results = old.results, .settings = old.settings};
    report->source.train.data = old.train.data;
    report->source.test.data = old.test.data;
    report->is_prepared = 0;
}

kfe_status kfe_report_set_model(kfe_context *ctx, kfe_report *report, const kfe_model *model)
{
    (void)ctx;
    forget(report);
    report->source.model = model;
    return KFE_OK;
}

kfe_status kfe_report_set_data(kfe_context *ctx, kfe_report *report, const kfe_data *train,
                               const kfe_data *test)
{
    (void)ctx;
    forget(report);
    report->source.train.data = train;
    report->source.test.data = test;
    return KFE_OK;
}

kfe_status kfe_report_set_results(kfe_context *ctx, kfe_report *report, const kfe_result *results)
{
    if (results && !kfe_result_find(results, "methods") && !kfe_result_find(results, "splits") &&
        !kfe_result_text(results, "figure/table"))
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "a report shows the result of a cross-validation or a comparison, or one that describes "
            "its picture; this is another one");
    forget(report);
    report->source.results = results;
    return KFE_OK;
}

kfe_status kfe_report_add_fact(kfe_context *ctx, kfe_report *report, const char *name, const char *value)
{
    kfe_status status = KFE_OK;

    KFE_GROW(ctx, report->facts, report->fact_capacity, report->fact_count + 1);
    kfe_i_fact *fact = &report->facts[report->fact_count++];
    *fact = (kfe_i_fact){NULL, NULL};
    KFE_STRDUP(ctx, fact->name, name);
    KFE_STRDUP(ctx, fact->value, value);
cleanup:
    return status;
}

kfe_status kfe_report_add_warning(kfe_context *ctx, kfe_report *report, const char *text)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < report->warning_count; i++)
        if (strcmp(report->warnings[i], text) == 0)
            return KFE_OK;
    KFE_GROW(ctx, report->warnings, report->warning_capacity, report->warning_count + 1);
    KFE_STRDUP(ctx, report->warnings[report->warning_count], text);
    report->warning_count++;
cleanup:
    return status;
}

/* Computes features and predictions, unless they are there. */
static kfe_status prepare(kfe_context *ctx, kfe_report *report)
{
    kfe_status status = KFE_OK;

    if (report->is_prepared)
        return KFE_OK;
    forget(report); /* of an attempt that failed */
    KFE_TRY(kfe_i_source_prepare(ctx, &report->source));
    report->is_prepared = 1;
cleanup:
    return status;
}

/* ---- single figures ---- */

static kfe_status write_svg(kfe_context *ctx, const kfe_i_figure *figure, char **out)
{
    kfe_i_text text;

    if (figure->panel_count == 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "%s is only a table here; {format=csv} gives its numbers",
                          figure->kind->name);
    kfe_i_text_init(&text, ctx);
    kfe_i_figure_svg(figure, 1, &text);
    return kfe_i_text_take(&text, out);
}

static kfe_status write_json(kfe_context *ctx, const kfe_i_figure *figure, char **out)
{
    kfe_i_json json;

    kfe_i_json_init(&json, ctx, 1);
    kfe_i_figure_json(figure, &json);
    kfe_status status = kfe_i_json_finish(&json, out);
    kfe_i_json_free(&json);
    return status;
}

/* What a figure has to draw from. */
static kfe_status describe_given(kfe_context *ctx, const kfe_i_source *source, char **out)
{
    const kfe_i_set *set = source->test.data ? &source->test : &source->train;
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    if (source->results)
        kfe_i_text_puts(&text, "the results of a search");
    if (source->model) {
        const char *plain = kfe_model_plain_learner(source->model);
        kfe_i_text_printf(&text, "%sa %s%s", text.length ? ", " : "", plain ? "plain " : "model of ",
                          plain ? plain : source->model->method);
    }
    if (set->data)
        kfe_i_text_printf(&text, "%s%lld row%s of data%s", text.length ? " and " : "",
                          (long long)kfe_data_rows(set->data), kfe_data_rows(set->data) == 1 ? "" : "s",
                          kfe_data_task(set->data) == KFE_TASK_NONE ? " without labels" : "");
    else
        kfe_i_text_printf(&text, "%sno data", text.length ? " and " : "");
    return kfe_i_text_take(&text, out);
}

static kfe_status refuse_figure(kfe_context *ctx, const kfe_i_figure_kind *kind, const kfe_i_source *source)
{
    char *given = NULL;
    kfe_status status = describe_given(ctx, source, &given);

    if (status == KFE_OK)
        status = kfe_i_fail(ctx, KFE_EINVAL, "%s cannot be drawn: it needs %s; given: %s", kind->name,
                            kind->needs, given);
    kfe_i_free(ctx, given);
    return status;
}

kfe_status kfe_report_figure(kfe_context *ctx, kfe_report *report, const char *figure, const char *format,
                             char **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_figure_kind *kind = NULL;
    kfe_i_figure drawn = {0};

    *out = NULL;
    KFE_TRY(kfe_i_figure_find(ctx, figure, &kind));
    KFE_TRY(prepare(ctx, report));
    KFE_TRY(kfe_i_figure_draw(ctx, kind, &report->source, &drawn));
    if (drawn.rows == 0)
        KFE_TRY(refuse_figure(ctx, kind, &report->source));
    if (strcmp(format, "svg") == 0)
        KFE_TRY(write_svg(ctx, &drawn, out));
    else if (strcmp(format, "csv") == 0)
        KFE_TRY(kfe_i_figure_csv(ctx, &drawn, out));
    else if (strcmp(format, "json") == 0)
        KFE_TRY(write_json(ctx, &drawn, out));
    else if (strcmp(format, "html") == 0)
        KFE_TRY(kfe_i_page_write(ctx, report, &drawn, out));
    else
        KFE_FAIL(ctx, KFE_EINVAL, "'%s' is not a format of figures; use svg, html, csv or json", format);
cleanup:
    kfe_i_figure_free(&drawn);
    return status;
}

/* ---- the whole report ---- */

/* Numbers on training data say how well the model remembers, not how well it predicts. */
static kfe_status warn_of_training_data(kfe_context *ctx, kfe_report *report)
{
    const kfe_i_source *source = &report->source;
    const kfe_i_set *judged = source->model ? kfe_i_source_judged(source) : NULL;
    int is_same = judged == &source->test && source->model->origin.fingerprint &&
                  source->model->origin.fingerprint == kfe_i_data_fingerprint(ctx, source->test.data);

    if (judged && (judged == &source->train || is_same))
        return kfe_report_add_warning(
            ctx, report,
            "Predictions are judged on the data that the model was fitted on, so the "
            "numbers are better than on new data.");
    return KFE_OK;
}

/* One warning for each row of a table about the whole that has both words. */
static kfe_status warn_of_rows(kfe_context *ctx, kfe_report *report, const char *table, const char *first,
                               const char *second, const char *format)
{
    const kfe_table *t = kfe_result_find(report->source.results, table);
    kfe_status status = KFE_OK;
    kfe_i_text text;

    for (int64_t row = 0; t && t->parent == 0 && row < t->rows && status == KFE_OK; row++) {
        const char *subject = kfe_i_result_word(t, first, row);
        const char *value = kfe_i_result_word(t, second, row);
        if (!subject || !value)
            continue;
        kfe_i_text_init(&text, ctx);
        kfe_i_text_printf(&text, format, subject, value);
        status = text.status == KFE_OK ? kfe_report_add_warning(ctx, report, text.bytes) : text.status;
        kfe_i_text_free(&text);
    }
    return status;
}

kfe_status kfe_report_html(kfe_context *ctx, kfe_report *report, char **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    KFE_TRY(prepare(ctx, report));
    KFE_TRY(warn_of_training_data(ctx, report));
    KFE_TRY(warn_of_rows(ctx, report, "edges", "parameter", "value",
                         "The best value is at the edge of the grid: %s=%s."));
    KFE_TRY(warn_of_rows(ctx, report, "results", "row", "note", "%s: %s"));
    KFE_TRY(kfe_i_page_write(ctx, report, NULL, out));
cleanup:
    return status;
}
