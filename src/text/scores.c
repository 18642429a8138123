/* SPDX-License-Identifier: Apache-2.0 */
/* One assessment (kfe_cross_validate) as a result and as its text, and pieces that comparisons share. */
#include "text/scores.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"
#include "text/read.h"
#include "text/texts.h"

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

void kfe_i_add_estimate(kfe_i_result_table *table, const char *group, const char *metric,
                        kfe_i_estimate estimate)
{
    char path[128];

    kfe_i_snprintf(path, sizeof path, "%s/%s", group, metric);
    kfe_i_put_real(table, path, "mean", estimate.mean);
    kfe_i_put_real(table, path, "standard_error", estimate.error);
    kfe_i_put_real(table, path, "sd", estimate.sd);
}

void kfe_i_add_setting(kfe_i_result_table *table, const char *group, const kfe_i_grid *grid, int64_t setting)
{
    const char *name = strrchr(group, '/');
    char outer[64];

    kfe_i_snprintf(outer, sizeof outer, "%.*s", name ? (int)(name - group) : 0, group);
    kfe_i_put_group(table, name ? outer : NULL, name ? name + 1 : group);
    for (int64_t i = 0; i < grid->axis_count; i++) {
        kfe_i_put_text(table, group, grid->axes[i].label, kfe_i_grid_value(grid, setting, i));
        kfe_i_put_about(table, "the value of the parameter");
    }
}

void kfe_i_add_edge(kfe_i_result_table *table, const kfe_i_grid *grid, int64_t setting, int64_t axis,
                    int side)
{
    if (side == 0)
        return;
    kfe_i_result_row(table);
    kfe_i_put_text(table, NULL, "parameter", grid->axes[axis].label);
    kfe_i_put_text(table, NULL, "value", kfe_i_grid_value(grid, setting, axis));
    kfe_i_put_text(table, NULL, "side", side < 0 ? "lower" : "upper");
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

/* ---- the result ---- */

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

static void put_parameters(kfe_i_result_table *table, const kfe_i_assessment *a, int64_t setting)
{
    kfe_i_text text;

    kfe_i_text_init(&text, a->ctx);
    kfe_i_text_puts(&text, "");
    kfe_i_grid_describe(&a->grid, setting, &text);
    if (text.status == KFE_OK)
        kfe_i_put_text(table, NULL, "parameters", text.bytes);
    else
        table->result->status = text.status;
    kfe_i_text_free(&text);
}

static void put_split(kfe_i_result_table *splits, const kfe_i_assessment *a, int64_t s)
{
    const kfe_i_split *split = &a->splits.items[s];

    kfe_i_result_row(splits);
    kfe_i_put_count(splits, NULL, "repeat", split->repeat + 1);
    kfe_i_put_count(splits, NULL, "fold", split->fold + 1);
    kfe_i_put_count(splits, NULL, "train_rows", split->train_count);
    kfe_i_put_count(splits, NULL, "test_rows", split->test_count);
    kfe_i_add_setting(splits, "setting", &a->grid, a->chosen[s]);
    for (int64_t m = 0; m < a->metric_count; m++) {
        kfe_i_put_real(splits, "metrics", a->metrics[m]->name, a->values[s * a->metric_count + m]);
        kfe_i_put_about(splits, a->metrics[m]->summary);
    }
    kfe_i_put_real(splits, NULL, "support_vectors",
                   a->outer.support_vectors[s * a->grid.count + a->chosen[s]]);
    kfe_i_put_real(splits, NULL, "seconds", split_seconds(a, s));
    if (a->grid.axis_count > 0)
        put_parameters(splits, a, a->chosen[s]);
    kfe_i_put_text(splits, NULL, "failed", kfe_i_assessment_reason(a, s));
}

static void put_setting(kfe_i_result_table *settings, const kfe_i_assessment *a, int64_t c)
{
    const char *reason;

    kfe_i_result_row(settings);
    kfe_i_add_setting(settings, "setting", &a->grid, c);
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_add_estimate(settings, "metrics", a->metrics[m]->name, tuned(a, c, m));
    if (a->pooled)
        kfe_i_put_pooled_errors(settings, NULL, &a->pooled[c]);
    kfe_i_put_real(settings, NULL, "seconds", setting_seconds(a, c));
    put_parameters(settings, a, c);
    kfe_i_put_flag(settings, NULL, "is_best", c == a->best);
    kfe_i_put_count(settings, NULL, "failed_splits", kfe_i_assessment_failures(a, c, &reason));
    kfe_i_put_text(settings, NULL, "failed", reason);
}

static void put_tuning(kfe_i_result_table *table, const kfe_i_assessment *a)
{
    kfe_i_result_table *settings = kfe_i_result_add(table, NULL, "settings", 0);

    for (int64_t c = 0; a->tuning && c < a->grid.count; c++)
        put_setting(settings, a, c);
    if (!a->tuning)
        return;
    kfe_i_add_setting(table, "best", &a->grid, a->best);
    kfe_i_result_table *edges = kfe_i_result_add(table, NULL, "edges", 0);
    for (int64_t i = 0; i < a->grid.axis_count; i++)
        kfe_i_add_edge(edges, &a->grid, a->best, i, kfe_i_grid_edge(&a->grid, a->best, i));
    kfe_i_put_count(table, NULL, "tuning_splits", a->tuning_splits);
}

static void put_permutations(kfe_i_result_table *table, const kfe_i_assessment *a)
{
    if (a->permuted_count == 0)
        return;
    kfe_i_put_real(table, "permutations", "p", a->permutation_p);
    kfe_i_result_table *values = kfe_i_result_add(table, "permutations", "values", 1);
    for (int64_t k = 0; k < a->permuted_count; k++) {
        kfe_i_result_row(values);
        kfe_i_put_real(values, NULL, "value", a->permuted[k]);
    }
}

static kfe_status put_kernels(kfe_i_result_table *table, const kfe_i_assessment *a)
{
    kfe_status status = KFE_OK;
    kfe_i_result_table *kernels = kfe_i_result_add(table, NULL, "kernels", 1);

    for (int64_t m = 0; m < a->grid.base->kernels.count; m++) {
        char *written = NULL;
        KFE_TRY(kfe_i_kernel_text(a->ctx, &a->grid.base->kernels.items[m], &written));
        kfe_i_result_row(kernels);
        kfe_i_put_text(kernels, NULL, "kernel", written);
        kfe_i_free(a->ctx, written);
    }
cleanup:
    return status;
}

kfe_status kfe_i_add_assessment(kfe_i_result_table *table, const kfe_i_assessment *a)
{
    kfe_status status = KFE_OK;
    const kfe_spec *spec = a->grid.base;

    kfe_i_put_text(table, NULL, "method", spec->method->name);
    KFE_TRY(put_kernels(table, a));
    kfe_i_put_text(table, NULL, "learner", spec->learner ? spec->learner->name : NULL);
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_add_estimate(table, "metrics", a->metrics[m]->name, kfe_i_assessment_estimate(a, m));
    kfe_i_add_pooled(table, a);
    kfe_i_result_table *splits = kfe_i_result_add(table, NULL, "splits", 0);
    for (int64_t s = 0; s < a->splits.count; s++)
        put_split(splits, a, s);
    kfe_i_add_held_out(table, a);
    kfe_i_put_flag(table, NULL, "nested", a->nested);
    put_tuning(table, a);
    put_permutations(table, a);
    kfe_i_put_count(table, NULL, "fits", a->fits);
    kfe_i_put_real(table, NULL, "seconds", a->seconds);
cleanup:
    return status;
}

kfe_status kfe_i_assessment_result(kfe_context *ctx, const kfe_i_assessment *a, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_result *result = NULL;

    KFE_TRY(kfe_i_result_new(ctx, &result));
    KFE_TRY(kfe_i_add_assessment(kfe_i_result_facts(result), a));
    status = kfe_i_result_finish(result, out);
    result = NULL;
cleanup:
    kfe_result_free(result);
    return status;
}

/* ---- one assessment as text ---- */

/* An assessment in a result: the facts or, in a comparison, a row of its methods. */
typedef struct assessed {
    const kfe_table *table;
    int64_t row;
    const kfe_table *splits, *settings, *edges;
} assessed;

static assessed find_assessed(const kfe_result *result, const kfe_table *table, int64_t row)
{
    return (assessed){table, row, kfe_result_find(result, "splits"), kfe_result_find(result, "settings"),
                      kfe_result_find(result, "edges")};
}

static int64_t count_own(const kfe_table *table, int64_t row)
{
    int64_t count = 0;

    (void)kfe_i_result_first(table, row, &count);
    return count;
}

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

static int column_width(const kfe_column *metric)
{
    int width = (int)strlen(kfe_i_last_part(metric->name)) + 2;
    return width < 10 ? 10 : width;
}

/* Rows of splits and settings of another assessment are passed over. */
static int is_own(const assessed *a, const kfe_table *table, int64_t row)
{
    return table->parent_row[row] == a->row;
}

/* The row of the best setting; -1: nothing was chosen. */
static int64_t best_of(const assessed *a)
{
    for (int64_t c = 0; a->settings && c < a->settings->rows; c++)
        if (is_own(a, a->settings, c) && kfe_i_result_at(a->settings, "is_best", c) > 0)
            return c;
    return -1;
}

static void add_splits(kfe_i_text *text, const assessed *a, int is_nested)
{
    const kfe_column *metric;
    int64_t count = count_own(a->splits, a->row);
    int64_t number = 0;

    kfe_i_text_puts(text, "split");
    for (int64_t m = 0; (metric = kfe_i_metric_column(a->splits, m)); m++)
        kfe_i_text_printf(text, "%*s", column_width(metric), kfe_i_last_part(metric->name));
    kfe_i_text_printf(text, "%*s%s\n", SECONDS_WIDTH, "seconds", is_nested ? "   chosen" : "");
    for (int64_t s = 0; s < a->splits->rows && number < MOST_SPLITS; s++) {
        const char *failed = kfe_i_result_word(a->splits, "failed", s);
        kfe_i_text_printf(text, "%5lld", (long long)++number);
        for (int64_t m = 0; (metric = kfe_i_metric_column(a->splits, m)); m++)
            put_value(text, column_width(metric), metric->numbers[s]);
        put_seconds(text, kfe_i_result_at(a->splits, "seconds", s));
        if (is_nested)
            kfe_i_text_printf(text, "   %s", kfe_i_result_shown(a->splits, "parameters", s));
        if (failed)
            kfe_i_text_printf(text, "   failed: %s", failed);
        kfe_i_text_puts(text, "\n");
    }
    if (count > MOST_SPLITS)
        kfe_i_text_message(text, "… and %lld more splits; {json} has them all\n",
                           (long long)(count - MOST_SPLITS));
}

static void add_means(kfe_i_text *text, const assessed *a)
{
    const kfe_column *metric;

    for (int64_t m = 0; (metric = kfe_i_metric_column(a->splits, m)); m++) {
        kfe_i_estimate estimate = kfe_i_read_estimate(a->table, a->row, metric->name);
        kfe_i_text_printf(text, "%s ", kfe_i_last_part(metric->name));
        kfe_i_put_estimate(text, estimate);
        kfe_i_put_meaning(text, estimate, count_own(a->splits, a->row));
        kfe_i_text_puts(text, "\n");
    }
}

/* Whether a setting is among the best ones, the only ones that a long list shows. */
static int is_shown(const assessed *a, const char *metric, int64_t setting)
{
    int64_t before = 0;
    double own = kfe_i_read_estimate(a->settings, setting, metric).mean;
    int larger = kfe_i_larger_is_better(kfe_i_last_part(metric));

    if (a->settings->rows <= MOST_SETTINGS)
        return 1;
    for (int64_t c = 0; c < a->settings->rows && before < BEST_SETTINGS; c++) {
        double other = kfe_i_read_estimate(a->settings, c, metric).mean;
        int better = larger ? other > own : other < own;
        before += better || (other == own && c < setting);
    }
    return before < BEST_SETTINGS && !isnan(own);
}

static const kfe_column *axis_column(const kfe_table *settings, int64_t index)
{
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(settings, i)); i++)
        if (strncmp(c->name, "setting/", 8) == 0 && c->texts && index-- == 0)
            return c;
    return NULL;
}

static void add_settings(kfe_i_text *text, const assessed *a)
{
    const kfe_column *axis;
    const kfe_column *metric;
    const kfe_column *first = kfe_i_metric_column(a->splits, 0);
    int64_t best = best_of(a);

    for (int64_t i = 0; (axis = axis_column(a->settings, i)); i++)
        kfe_i_text_printf(text, "%14s", kfe_i_last_part(axis->name));
    for (int64_t m = 0; (metric = kfe_i_metric_column(a->splits, m)); m++)
        kfe_i_text_printf(text, "   %s", kfe_i_last_part(metric->name));
    kfe_i_text_puts(text, "   seconds\n");
    for (int64_t c = 0; c < a->settings->rows; c++) {
        if (!is_shown(a, first->name, c))
            continue;
        for (int64_t i = 0; (axis = axis_column(a->settings, i)); i++)
            kfe_i_text_printf(text, "%14s", axis->texts[c] ? axis->texts[c] : "-");
        for (int64_t m = 0; (metric = kfe_i_metric_column(a->splits, m)); m++) {
            kfe_i_text_puts(text, "   ");
            kfe_i_put_estimate(text, kfe_i_read_estimate(a->settings, c, metric->name));
        }
        put_seconds(text, kfe_i_result_at(a->settings, "seconds", c));
        kfe_i_text_puts(text, c == best ? "  *\n" : "\n");
    }
    if (a->settings->rows > MOST_SETTINGS)
        kfe_i_text_message(text, "the best %d of %lld settings; {json} has them all\n", BEST_SETTINGS,
                           (long long)a->settings->rows);
    kfe_i_text_puts(text, KFE_STANDARD_ERROR_NOTE "\n");
}

/* The settings that failed where settings were compared, with the reason of each. */
static void add_failures(kfe_i_text *text, const assessed *a, int64_t tuning_splits)
{
    int64_t listed = 0;

    for (int64_t c = 0; c < a->settings->rows; c++) {
        double failed = kfe_i_result_at(a->settings, "failed_splits", c);
        if (!(failed > 0) || ++listed > MOST_FAILURES)
            continue;
        kfe_i_text_printf(text, "failed: %s on %.0f of %lld splits: %s\n",
                          kfe_i_result_shown(a->settings, "parameters", c), failed, (long long)tuning_splits,
                          kfe_i_result_shown(a->settings, "failed", c));
    }
    if (listed > MOST_FAILURES)
        kfe_i_text_message(text, "… and %lld more settings failed; {json} has them all\n",
                           (long long)(listed - MOST_FAILURES));
}

/* A best value at the edge of its grid says that the grid is too narrow. */
void kfe_i_put_edges(kfe_i_text *text, const char *label, const kfe_table *edges, int64_t row)
{
    for (int64_t i = 0; edges && i < edges->rows; i++)
        if (edges->parent_row[i] == row)
            kfe_i_text_printf(
                text, "%s%sbest value at the edge of the grid: %s=%s is the %s that was tried\n",
                label ? label : "", label ? ": " : "", kfe_i_result_shown(edges, "parameter", i),
                kfe_i_result_shown(edges, "value", i),
                strcmp(kfe_i_result_shown(edges, "side", i), "lower") == 0 ? "smallest" : "largest");
}

static void add_best(kfe_i_text *text, const assessed *a, int is_nested, int64_t tuning_splits)
{
    const char *metric = kfe_i_metric_column(a->splits, 0)->name;
    int64_t best = best_of(a);
    kfe_i_estimate estimate = kfe_i_read_estimate(a->settings, best, metric);

    kfe_i_text_printf(text, "best setting %s: %s ", kfe_i_result_shown(a->settings, "parameters", best),
                      kfe_i_last_part(metric));
    kfe_i_put_estimate(text, estimate);
    kfe_i_text_puts(text, isnan(estimate.error) ? "" : " (standard error)");
    if (is_nested)
        kfe_i_text_printf(text, " on %lld inner folds\n", (long long)tuning_splits);
    else
        kfe_i_text_message(text,
                           " on %lld splits; too good, since it is the best of %lld settings on these very "
                           "splits: {inner-folds=5} gives a fair estimate\n",
                           (long long)tuning_splits, (long long)a->settings->rows);
}

/* Error by number of features, as users of PLS read it. */
static void add_components(kfe_i_text *text, const assessed *a)
{
    const kfe_column *axis = axis_column(a->settings, 0);
    int64_t best = best_of(a);

    if (!axis || axis_column(a->settings, 1) || strcmp(axis->name, "setting/dim") != 0 ||
        !kfe_table_find(a->settings, "rmsecv"))
        return;
    kfe_i_text_printf(text, "%14s%12s%12s\n", "dim", "RMSECV", "Q2");
    for (int64_t c = 0; c < a->settings->rows; c++) {
        kfe_i_text_printf(text, "%14s", axis->texts[c] ? axis->texts[c] : "-");
        put_value(text, 12, kfe_i_result_at(a->settings, "rmsecv", c));
        put_value(text, 12, kfe_i_result_at(a->settings, "q2", c));
        kfe_i_text_puts(text, c == best ? "  *\n" : "\n");
    }
}

void kfe_i_put_permutations(kfe_i_text *text, const char *label, const kfe_result *result,
                            const kfe_table *table, int64_t row)
{
    int64_t count = count_own(kfe_result_find(result, "permutations/values"), row);

    if (count > 0)
        kfe_i_text_printf(text,
                          "%s%sp %.3g: how likely permuted labels are to do as well (%lld permutations)\n",
                          label ? label : "", label ? ": " : "",
                          kfe_i_result_at(table, "permutations/p", row), (long long)count);
}

void kfe_i_put_chosen(kfe_i_text *text, const kfe_result *result, const kfe_table *table, int64_t row)
{
    const assessed a = find_assessed(result, table, row);
    int64_t best = best_of(&a);

    if (best >= 0)
        kfe_i_text_printf(text, "   %s", kfe_i_result_shown(a.settings, "parameters", best));
}

kfe_status kfe_i_assessment_text(const kfe_result *result, kfe_i_text *text)
{
    const assessed a = find_assessed(result, kfe_result_table(result, 0), 0);
    int is_nested = kfe_result_number(result, "nested") > 0;
    int64_t tuning_splits = (int64_t)fmax(0, kfe_result_number(result, "tuning_splits"));
    int is_tuned = best_of(&a) >= 0;

    if (!kfe_i_metric_column(a.splits, 0))
        return kfe_i_fail(text->ctx, KFE_EINPUT, "the results have no metrics");
    if (is_tuned && !is_nested) {
        add_settings(text, &a);
    } else {
        add_splits(text, &a, is_nested);
        add_means(text, &a);
        kfe_i_put_pooled(text, "pooled", a.table, a.row);
    }
    if (is_tuned) {
        add_failures(text, &a, tuning_splits);
        add_best(text, &a, is_nested, tuning_splits);
        kfe_i_put_edges(text, NULL, a.edges, 0);
        add_components(text, &a);
    }
    kfe_i_put_permutations(text, NULL, result, a.table, 0);
    return KFE_OK;
}
