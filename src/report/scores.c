/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of one assessment (kfe_cross_validate) as text and JSON, and pieces that comparisons share. */
#include "report/scores.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"

/* More rows than these are left to JSON. */
enum { MOST_SPLITS = 30, MOST_SETTINGS = 100, BEST_SETTINGS = 20, MOST_FAILURES = 10 };
enum { SECONDS_WIDTH = 10 };

/* ---- pieces ---- */

void kfe_i_put_estimate(kfe_i_text *out, kfe_i_estimate estimate)
{
    double mean = estimate.mean;

    if (isnan(mean))
        kfe_i_text_puts(out, "-");
    else if (isnan(estimate.error))
        kfe_i_text_printf(out, "%.4g", mean);
    else if (fabs(mean) < 1e-3 || fabs(mean) >= 1e5)
        kfe_i_text_printf(out, "%.4g ± %.2g", mean, estimate.error);
    else
        kfe_i_text_printf(out, "%.4f ± %.4f", mean, estimate.error);
}

void kfe_i_put_meaning(kfe_i_text *out, kfe_i_estimate estimate, int64_t splits)
{
    if (!isnan(estimate.error))
        kfe_i_text_puts(out, " (standard error");
    if (!isnan(estimate.error) && !isnan(estimate.sd))
        kfe_i_text_printf(out, "; standard deviation over %lld splits %.2g", (long long)splits, estimate.sd);
    if (!isnan(estimate.error))
        kfe_i_text_puts(out, ")");
}

void kfe_i_estimate_json(kfe_i_json *json, const char *key, kfe_i_estimate estimate)
{
    kfe_i_json_object(json, key);
    kfe_i_json_real(json, "mean", estimate.mean);
    kfe_i_json_real(json, "standard_error", estimate.error);
    kfe_i_json_real(json, "sd", estimate.sd);
    kfe_i_json_end(json);
}

/* "0.001" and "1e-3" are the same. */
static int is_same_value(const char *a, const char *b)
{
    double x = 0;
    double y = 0;

    if (kfe_i_parse_number(a, a + strlen(a), &x) && kfe_i_parse_number(b, b + strlen(b), &y))
        return x == y;
    return strcmp(a, b) == 0;
}

/* Appends ":key=value,key=value" with the parameters that are not at their defaults. */
static void put_changed(kfe_context *ctx, const kfe_i_param_table *table, const void *settings,
                        kfe_i_text *out)
{
    const char *separator = ":";

    for (int i = 0; i < table->count; i++) {
        const kfe_i_param *row = &table->rows[i];
        char *value = NULL;
        kfe_i_text one;
        kfe_i_text_init(&one, ctx);
        kfe_i_param_format(row, settings, &one);
        if (kfe_i_text_take(&one, &value) != KFE_OK) {
            out->status = kfe_i_lack(ctx);
        } else if (!is_same_value(value, row->info.initial)) {
            kfe_i_text_printf(out, "%s%s=%s", separator, row->info.name, value);
            separator = ",";
        }
        kfe_i_free(ctx, value);
    }
}

static void put_learner(const kfe_spec *spec, kfe_i_text *out)
{
    kfe_i_text_puts(out, spec->learner->name);
    put_changed(spec->ctx, &spec->learner->params, spec->learner_settings, out);
}

/* Whether the learner works without features, and gives its name to the model (kfe_model_plain_learner). */
static int is_plain(const kfe_spec *spec)
{
    return spec->learner && strcmp(spec->method->name, "none") == 0 && spec->fit.landmarks <= 0;
}

void kfe_i_spec_label(const kfe_spec *spec, kfe_i_text *out)
{
    if (is_plain(spec)) {
        put_learner(spec, out);
        return;
    }
    kfe_i_text_puts(out, spec->method->name);
    put_changed(spec->ctx, &spec->method->params, spec->settings, out);
}

void kfe_i_spec_long_label(const kfe_spec *spec, kfe_i_text *out)
{
    kfe_i_spec_label(spec, out);
    for (int64_t m = 0; m < spec->kernels.count; m++) {
        const kfe_i_kernel *kernel = &spec->kernels.items[m];
        kfe_i_text_printf(out, "%s%s", m ? "+" : " ", kernel->def->name);
        put_changed(spec->ctx, &kernel->def->params, kernel->settings, out);
    }
    if (spec->learner && !is_plain(spec)) {
        kfe_i_text_puts(out, " ");
        put_learner(spec, out);
    }
    kfe_i_text fit;
    kfe_i_text_init(&fit, spec->ctx);
    put_changed(spec->ctx, &kfe_i_fit_params, &spec->fit, &fit);
    if (fit.status != KFE_OK)
        out->status = fit.status;
    else if (fit.length > 1)
        kfe_i_text_printf(out, " %s", fit.bytes + 1);
    kfe_i_text_free(&fit);
}

static kfe_i_estimate tuned(const kfe_i_assessment *a, int64_t setting, int64_t metric)
{
    return a->tuning[setting * a->metric_count + metric];
}

/* Time of fitting and measuring the chosen setting on an outer split. */
static double split_seconds(const kfe_i_assessment *a, int64_t split)
{
    return a->outer.seconds[split * a->grid.count + a->chosen[split]];
}

/* Mean time of a setting on the splits that settings were compared on. */
static double setting_seconds(const kfe_i_assessment *a, int64_t setting)
{
    const kfe_i_cells *cells = a->nested ? &a->inner : &a->outer;
    double mean = 0;
    double sd = 0;

    kfe_i_mean_sd(cells->splits, cells->seconds + setting, cells->settings, &mean, &sd);
    return mean;
}

/* RMSECV and Q² of a setting, from the rmse of the splits that settings were compared on: the root of the mean of their
 * squares, and 1 − RMSECV²/variance of the target. Returns 0 if rmse was not measured. */
static int find_rmsecv(const kfe_i_assessment *a, int64_t setting, double *rmsecv, double *q2)
{
    double count = (double)a->tuning_splits;

    for (int64_t m = 0; a->tuning && a->target_variance > 0 && m < a->metric_count; m++) {
        double mean = tuned(a, setting, m).mean;
        double sd = tuned(a, setting, m).sd;
        if (strcmp(a->metrics[m]->name, "rmse") != 0)
            continue;
        *rmsecv = sqrt(mean * mean + (isnan(sd) ? 0 : sd * sd * (count - 1) / count));
        *q2 = 1 - *rmsecv * *rmsecv / a->target_variance;
        return 1;
    }
    return 0;
}

/* ---- one assessment as text ---- */

static void put_value(kfe_i_text *text, int width, double value)
{
    if (isnan(value))
        kfe_i_text_printf(text, "%*s", width, "-");
    else
        kfe_i_text_printf(text, "%*.4g", width, value);
}

static void put_seconds(kfe_i_text *text, double seconds)
{
    if (isnan(seconds))
        kfe_i_text_printf(text, "%*s", SECONDS_WIDTH, "-");
    else
        kfe_i_text_printf(text, "%*.2g", SECONDS_WIDTH, seconds);
}

static int column_width(const kfe_i_metric *metric)
{
    int width = (int)strlen(metric->name) + 2;
    return width < 10 ? 10 : width;
}

static void add_splits(kfe_i_text *text, const kfe_i_assessment *a)
{
    kfe_i_text_puts(text, "split");
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_text_printf(text, "%*s", column_width(a->metrics[m]), a->metrics[m]->name);
    kfe_i_text_printf(text, "%*s%s\n", SECONDS_WIDTH, "seconds", a->nested ? "   chosen" : "");
    for (int64_t s = 0; s < a->splits.count && s < MOST_SPLITS; s++) {
        kfe_i_text_printf(text, "%5lld", (long long)s + 1);
        for (int64_t m = 0; m < a->metric_count; m++)
            put_value(text, column_width(a->metrics[m]), a->values[s * a->metric_count + m]);
        put_seconds(text, split_seconds(a, s));
        if (a->nested) {
            kfe_i_text_puts(text, "   ");
            kfe_i_grid_describe(&a->grid, a->chosen[s], text);
        }
        if (kfe_i_assessment_reason(a, s))
            kfe_i_text_printf(text, "   failed: %s", kfe_i_assessment_reason(a, s));
        kfe_i_text_puts(text, "\n");
    }
    if (a->splits.count > MOST_SPLITS)
        kfe_i_text_message(text, "… and %lld more splits; {json} has them all\n",
                           (long long)(a->splits.count - MOST_SPLITS));
}

static void add_means(kfe_i_text *text, const kfe_i_assessment *a)
{
    for (int64_t m = 0; m < a->metric_count; m++) {
        kfe_i_estimate estimate = kfe_i_assessment_estimate(a, m);
        kfe_i_text_printf(text, "%s ", a->metrics[m]->name);
        kfe_i_put_estimate(text, estimate);
        kfe_i_put_meaning(text, estimate, a->splits.count);
        kfe_i_text_puts(text, "\n");
    }
}

/* Whether a setting is among the best ones, the only ones that a long list shows. */
static int is_shown(const kfe_i_assessment *a, int64_t setting)
{
    int64_t before = 0;
    double own = tuned(a, setting, 0).mean;

    if (a->grid.count <= MOST_SETTINGS)
        return 1;
    for (int64_t c = 0; c < a->grid.count && before < BEST_SETTINGS; c++) {
        double other = tuned(a, c, 0).mean;
        int better = a->metrics[0]->larger_is_better ? other > own : other < own;
        before += better || (other == own && c < setting);
    }
    return before < BEST_SETTINGS && !isnan(own);
}

static void add_settings(kfe_i_text *text, const kfe_i_assessment *a)
{
    for (int64_t i = 0; i < a->grid.axis_count; i++)
        kfe_i_text_printf(text, "%14s", a->grid.axes[i].label);
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_text_printf(text, "   %s", a->metrics[m]->name);
    kfe_i_text_puts(text, "   seconds\n");
    for (int64_t c = 0; c < a->grid.count; c++) {
        if (!is_shown(a, c))
            continue;
        for (int64_t i = 0; i < a->grid.axis_count; i++)
            kfe_i_text_printf(text, "%14s", kfe_i_grid_value(&a->grid, c, i));
        for (int64_t m = 0; m < a->metric_count; m++) {
            kfe_i_text_puts(text, "   ");
            kfe_i_put_estimate(text, tuned(a, c, m));
        }
        put_seconds(text, setting_seconds(a, c));
        kfe_i_text_puts(text, c == a->best ? "  *\n" : "\n");
    }
    if (a->grid.count > MOST_SETTINGS)
        kfe_i_text_message(text, "the best %d of %lld settings; {json} has them all\n", BEST_SETTINGS,
                           (long long)a->grid.count);
    kfe_i_text_puts(text, KFE_STANDARD_ERROR_NOTE "\n");
}

/* The settings that failed where settings were compared, with the reason of each. */
static void add_failures(kfe_i_text *text, const kfe_i_assessment *a)
{
    int64_t listed = 0;

    for (int64_t c = 0; c < a->grid.count; c++) {
        const char *reason;
        int64_t failed = kfe_i_assessment_failures(a, c, &reason);
        if (failed == 0)
            continue;
        if (++listed > MOST_FAILURES)
            continue;
        kfe_i_text_puts(text, "failed: ");
        kfe_i_grid_describe(&a->grid, c, text);
        kfe_i_text_printf(text, " on %lld of %lld splits: %s\n", (long long)failed,
                          (long long)a->tuning_splits, reason);
    }
    if (listed > MOST_FAILURES)
        kfe_i_text_message(text, "… and %lld more settings failed; {json} has them all\n",
                           (long long)(listed - MOST_FAILURES));
}

/* A best value at the edge of its grid says that the grid is too narrow. */
void kfe_i_put_edges(kfe_i_text *text, const char *label, const kfe_i_assessment *a)
{
    for (int64_t i = 0; i < a->grid.axis_count; i++) {
        int edge = kfe_i_grid_edge(&a->grid, a->best, i);
        if (edge != 0)
            kfe_i_text_printf(text,
                              "%s%sbest value at the edge of the grid: %s=%s is the %s that was tried\n",
                              label ? label : "", label ? ": " : "", a->grid.axes[i].label,
                              kfe_i_grid_value(&a->grid, a->best, i), edge < 0 ? "smallest" : "largest");
    }
}

static void add_best(kfe_i_text *text, const kfe_i_assessment *a)
{
    kfe_i_text_puts(text, "best setting ");
    kfe_i_grid_describe(&a->grid, a->best, text);
    kfe_i_text_printf(text, ": %s ", a->metrics[0]->name);
    kfe_i_put_estimate(text, tuned(a, a->best, 0));
    kfe_i_text_puts(text, isnan(tuned(a, a->best, 0).error) ? "" : " (standard error)");
    if (a->nested)
        kfe_i_text_printf(text, " on %lld inner folds\n", (long long)a->tuning_splits);
    else
        kfe_i_text_message(text,
                           " on %lld splits; too good, since it is the best of %lld settings on these very "
                           "splits: {inner-folds=5} gives a fair estimate\n",
                           (long long)a->tuning_splits, (long long)a->grid.count);
}

/* Error by number of features, as users of PLS read it. */
static void add_components(kfe_i_text *text, const kfe_i_assessment *a)
{
    double rmsecv = 0;
    double q2 = 0;

    if (a->grid.axis_count != 1 || strcmp(a->grid.axes[0].name, "dim") != 0 ||
        !find_rmsecv(a, 0, &rmsecv, &q2))
        return;
    kfe_i_text_printf(text, "%14s%12s%12s\n", "dim", "RMSECV", "Q2");
    for (int64_t c = 0; c < a->grid.count; c++) {
        find_rmsecv(a, c, &rmsecv, &q2);
        kfe_i_text_printf(text, "%14s", kfe_i_grid_value(&a->grid, c, 0));
        put_value(text, 12, rmsecv);
        put_value(text, 12, q2);
        kfe_i_text_puts(text, c == a->best ? "  *\n" : "\n");
    }
}

void kfe_i_put_permutations(kfe_i_text *text, const char *label, const kfe_i_assessment *a)
{
    if (a->permuted_count > 0)
        kfe_i_text_printf(
            text, "%s%sp %.3g: how likely labels that say nothing do as well (%lld permutations)\n",
            label ? label : "", label ? ": " : "", a->permutation_p, (long long)a->permuted_count);
}

static kfe_status as_text(kfe_context *ctx, const kfe_i_assessment *a, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    if (a->tuning && !a->nested) {
        add_settings(&text, a);
    } else {
        add_splits(&text, a);
        add_means(&text, a);
    }
    if (a->tuning) {
        add_failures(&text, a);
        add_best(&text, a);
        kfe_i_put_edges(&text, NULL, a);
        add_components(&text, a);
    }
    kfe_i_put_permutations(&text, NULL, a);
    return kfe_i_text_take(&text, out);
}

/* ---- JSON ---- */

static void write_setting(kfe_i_json *json, const char *key, const kfe_i_assessment *a, int64_t setting)
{
    kfe_i_json_object(json, key);
    for (int64_t i = 0; i < a->grid.axis_count; i++)
        kfe_i_json_text(json, a->grid.axes[i].label, kfe_i_grid_value(&a->grid, setting, i));
    kfe_i_json_end(json);
}

/* null: nothing failed. */
static void write_reason(kfe_i_json *json, const char *key, const char *reason)
{
    if (reason)
        kfe_i_json_text(json, key, reason);
    else
        kfe_i_json_null(json, key);
}

static void write_split(kfe_i_json *json, const kfe_i_assessment *a, int64_t s)
{
    const kfe_i_split *split = &a->splits.items[s];

    kfe_i_json_object(json, NULL);
    kfe_i_json_integer(json, "repeat", split->repeat + 1);
    kfe_i_json_integer(json, "fold", split->fold + 1);
    kfe_i_json_integer(json, "train_rows", split->train_count);
    kfe_i_json_integer(json, "test_rows", split->test_count);
    write_setting(json, "setting", a, a->chosen[s]);
    kfe_i_json_object(json, "metrics");
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_json_real(json, a->metrics[m]->name, a->values[s * a->metric_count + m]);
    kfe_i_json_end(json);
    kfe_i_json_real(json, "support_vectors", a->outer.support_vectors[s * a->grid.count + a->chosen[s]]);
    kfe_i_json_real(json, "seconds", split_seconds(a, s));
    write_reason(json, "failed", kfe_i_assessment_reason(a, s));
    kfe_i_json_end(json);
}

static void write_rmsecv(kfe_i_json *json, const kfe_i_assessment *a, int64_t setting)
{
    double rmsecv = 0;
    double q2 = 0;

    if (!find_rmsecv(a, setting, &rmsecv, &q2))
        return;
    kfe_i_json_real(json, "rmsecv", rmsecv);
    kfe_i_json_real(json, "q2", q2);
}

static void write_tuning(kfe_i_json *json, const kfe_i_assessment *a)
{
    kfe_i_json_array(json, "settings");
    for (int64_t c = 0; a->tuning && c < a->grid.count; c++) {
        const char *reason;
        kfe_i_json_object(json, NULL);
        write_setting(json, "setting", a, c);
        kfe_i_json_object(json, "metrics");
        for (int64_t m = 0; m < a->metric_count; m++)
            kfe_i_estimate_json(json, a->metrics[m]->name, tuned(a, c, m));
        kfe_i_json_end(json);
        write_rmsecv(json, a, c);
        kfe_i_json_real(json, "seconds", setting_seconds(a, c));
        kfe_i_json_integer(json, "failed_splits", kfe_i_assessment_failures(a, c, &reason));
        write_reason(json, "failed", reason);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
    if (!a->tuning)
        return;
    write_setting(json, "best", a, a->best);
    kfe_i_json_array(json, "edges");
    for (int64_t i = 0; i < a->grid.axis_count; i++) {
        int edge = kfe_i_grid_edge(&a->grid, a->best, i);
        if (edge == 0)
            continue;
        kfe_i_json_object(json, NULL);
        kfe_i_json_text(json, "parameter", a->grid.axes[i].label);
        kfe_i_json_text(json, "value", kfe_i_grid_value(&a->grid, a->best, i));
        kfe_i_json_text(json, "side", edge < 0 ? "lower" : "upper");
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static void write_permutations(kfe_i_json *json, const kfe_i_assessment *a)
{
    kfe_i_json_object(json, "permutations");
    kfe_i_json_real(json, "p", a->permutation_p);
    kfe_i_json_array(json, "values");
    for (int64_t k = 0; k < a->permuted_count; k++)
        kfe_i_json_real(json, NULL, a->permuted[k]);
    kfe_i_json_end(json);
    kfe_i_json_end(json);
}

static void write_metrics(kfe_i_json *json, const kfe_i_assessment *a)
{
    kfe_i_json_object(json, "metrics");
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_estimate_json(json, a->metrics[m]->name, kfe_i_assessment_estimate(a, m));
    kfe_i_json_end(json);
}

static kfe_status write_kernels(kfe_context *ctx, const kfe_i_assessment *a, kfe_i_json *json)
{
    kfe_status status = KFE_OK;

    kfe_i_json_array(json, "kernels");
    for (int64_t m = 0; m < a->grid.base->kernels.count; m++) {
        char *written = NULL;
        KFE_TRY(kfe_i_kernel_text(ctx, &a->grid.base->kernels.items[m], &written));
        kfe_i_json_text(json, NULL, written);
        kfe_i_free(ctx, written);
    }
    kfe_i_json_end(json);
cleanup:
    return status;
}

kfe_status kfe_i_assessment_json(kfe_context *ctx, const kfe_i_assessment *a, const char *label,
                                 kfe_i_json *json)
{
    kfe_status status = KFE_OK;
    const kfe_spec *spec = a->grid.base;

    kfe_i_json_object(json, NULL);
    if (label)
        kfe_i_json_text(json, "label", label);
    kfe_i_json_text(json, "method", spec->method->name);
    KFE_TRY(write_kernels(ctx, a, json));
    if (spec->learner)
        kfe_i_json_text(json, "learner", spec->learner->name);
    else
        kfe_i_json_null(json, "learner");
    write_metrics(json, a);
    kfe_i_json_array(json, "splits");
    for (int64_t s = 0; s < a->splits.count; s++)
        write_split(json, a, s);
    kfe_i_json_end(json);
    kfe_i_json_boolean(json, "nested", a->nested);
    write_tuning(json, a);
    if (a->permuted_count > 0)
        write_permutations(json, a);
    kfe_i_json_integer(json, "fits", a->fits);
    kfe_i_json_real(json, "seconds", a->seconds);
    kfe_i_json_end(json);
cleanup:
    return status;
}

static kfe_status as_json(kfe_context *ctx, const kfe_i_assessment *a, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_json json;

    kfe_i_json_init(&json, ctx, 1);
    KFE_TRY(kfe_i_assessment_json(ctx, a, NULL, &json));
    KFE_TRY(kfe_i_json_finish(&json, out));
cleanup:
    kfe_i_json_free(&json);
    return status;
}

kfe_status kfe_i_join_styles(kfe_context *ctx, char *text, char *json, char **out)
{
    kfe_i_text both;

    *out = text ? text : json;
    if (!text || !json)
        return KFE_OK;
    kfe_i_text_init(&both, ctx);
    kfe_i_text_printf(&both, "%s\f%s", text, json);
    kfe_i_free(ctx, text);
    kfe_i_free(ctx, json);
    return kfe_i_text_take(&both, out);
}

kfe_status kfe_i_report_assessment(kfe_context *ctx, const kfe_i_assessment *a, kfe_style style, char **out)
{
    kfe_status status = KFE_OK;
    char *text = NULL;
    char *json = NULL;

    *out = NULL;
    if (style != KFE_STYLE_TEXT)
        KFE_TRY(as_json(ctx, a, &json));
    if (style != KFE_STYLE_JSON)
        KFE_TRY(as_text(ctx, a, &text));
    return kfe_i_join_styles(ctx, text, json, out);
cleanup:
    kfe_i_free(ctx, json);
    return status;
}
