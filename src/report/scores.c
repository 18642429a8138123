/* SPDX-License-Identifier: Apache-2.0 */
#include "report/scores.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* More rows than these are left to JSON. */
enum { MOST_SPLITS = 30, MOST_SETTINGS = 100, BEST_SETTINGS = 20 };

/* ---- pieces ---- */

void kfe_i_put_mean_sd(kfe_i_text *out, double mean, double sd)
{
    if (isnan(mean))
        kfe_i_text_puts(out, "-");
    else if (isnan(sd))
        kfe_i_text_printf(out, "%.4g", mean);
    else if (fabs(mean) < 1e-3 || fabs(mean) >= 1e5)
        kfe_i_text_printf(out, "%.4g ± %.2g", mean, sd);
    else
        kfe_i_text_printf(out, "%.4f ± %.4f", mean, sd);
}

void kfe_i_spec_label(const kfe_spec *spec, kfe_i_text *out)
{
    const char *separator = ":";

    kfe_i_text_puts(out, spec->method->name);
    for (int i = 0; i < spec->method->params.count; i++) {
        const kfe_i_param *row = &spec->method->params.rows[i];
        char *value = NULL;
        kfe_i_text one;
        kfe_i_text_init(&one, spec->ctx);
        kfe_i_param_format(row, spec->settings, &one);
        if (kfe_i_text_take(&one, &value) != KFE_OK) {
            out->status = KFE_ENOMEM;
        } else if (strcmp(value, row->info.initial) != 0) {
            kfe_i_text_printf(out, "%s%s=%s", separator, row->info.name, value);
            separator = ",";
        }
        kfe_i_free(spec->ctx, value);
    }
}

static void mean_of(const kfe_i_assessment *a, int64_t metric, double *mean, double *sd)
{
    kfe_i_mean_sd(a->splits.count, a->values + metric, a->metric_count, mean, sd);
}

static double tuning_mean(const kfe_i_assessment *a, int64_t setting, int64_t metric)
{
    return a->tuning[2 * (setting * a->metric_count + metric)];
}

static double tuning_sd(const kfe_i_assessment *a, int64_t setting, int64_t metric)
{
    return a->tuning[2 * (setting * a->metric_count + metric) + 1];
}

/* ---- one assessment as text ---- */

static void put_value(kfe_i_text *text, int width, double value)
{
    if (isnan(value))
        kfe_i_text_printf(text, "%*s", width, "-");
    else
        kfe_i_text_printf(text, "%*.4g", width, value);
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
    kfe_i_text_puts(text, a->nested ? "   chosen\n" : "\n");
    for (int64_t s = 0; s < a->splits.count && s < MOST_SPLITS; s++) {
        kfe_i_text_printf(text, "%5lld", (long long)s + 1);
        for (int64_t m = 0; m < a->metric_count; m++)
            put_value(text, column_width(a->metrics[m]), a->values[s * a->metric_count + m]);
        if (a->nested) {
            kfe_i_text_puts(text, "   ");
            kfe_i_grid_describe(&a->grid, a->chosen[s], text);
        }
        kfe_i_text_puts(text, "\n");
    }
    if (a->splits.count > MOST_SPLITS)
        kfe_i_text_printf(text, "… and %lld more splits; --json has them all\n",
                          (long long)(a->splits.count - MOST_SPLITS));
}

static void add_means(kfe_i_text *text, const kfe_i_assessment *a)
{
    for (int64_t m = 0; m < a->metric_count; m++) {
        double mean = 0;
        double sd = 0;
        mean_of(a, m, &mean, &sd);
        kfe_i_text_printf(text, "%s ", a->metrics[m]->name);
        kfe_i_put_mean_sd(text, mean, sd);
        kfe_i_text_puts(text, "\n");
    }
}

/* Whether a setting is among the best so many of a list too long to print. */
static int is_shown(const kfe_i_assessment *a, int64_t setting)
{
    int64_t before = 0;
    double own = tuning_mean(a, setting, 0);

    if (a->grid.count <= MOST_SETTINGS)
        return 1;
    for (int64_t c = 0; c < a->grid.count && before < BEST_SETTINGS; c++) {
        double other = tuning_mean(a, c, 0);
        int better = a->metrics[0]->larger_is_better ? other > own : other < own;
        before += better || (other == own && c < setting);
    }
    return before < BEST_SETTINGS && !isnan(own);
}

static void add_settings(kfe_i_text *text, const kfe_i_assessment *a)
{
    for (int64_t i = 0; i < a->grid.axis_count; i++)
        kfe_i_text_printf(text, "%14s", a->grid.axes[i].name);
    for (int64_t m = 0; m < a->metric_count; m++)
        kfe_i_text_printf(text, "   %s", a->metrics[m]->name);
    kfe_i_text_puts(text, "\n");
    for (int64_t c = 0; c < a->grid.count; c++) {
        if (!is_shown(a, c))
            continue;
        for (int64_t i = 0; i < a->grid.axis_count; i++)
            kfe_i_text_printf(text, "%14s", kfe_i_grid_value(&a->grid, c, i));
        for (int64_t m = 0; m < a->metric_count; m++) {
            kfe_i_text_puts(text, "   ");
            kfe_i_put_mean_sd(text, tuning_mean(a, c, m), tuning_sd(a, c, m));
        }
        kfe_i_text_puts(text, c == a->best ? "  *\n" : "\n");
    }
    if (a->grid.count > MOST_SETTINGS)
        kfe_i_text_printf(text, "the best %d of %lld settings; --json has them all\n", BEST_SETTINGS,
                          (long long)a->grid.count);
}

static void add_best(kfe_i_text *text, const kfe_i_assessment *a)
{
    kfe_i_text_puts(text, "best setting ");
    kfe_i_grid_describe(&a->grid, a->best, text);
    kfe_i_text_printf(text, ": %s ", a->metrics[0]->name);
    kfe_i_put_mean_sd(text, tuning_mean(a, a->best, 0), tuning_sd(a, a->best, 0));
    kfe_i_text_printf(text,
                      a->nested ? " on %lld inner folds\n"
                                : " on %lld splits; being the best of %lld settings on these very splits, it "
                                  "flatters: --inner-folds 5 is fair\n",
                      (long long)a->tuning_splits, (long long)a->grid.count);
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
    if (a->tuning)
        add_best(&text, a);
    return kfe_i_text_take(&text, out);
}

/* ---- JSON ---- */

static json_t *setting_object(const kfe_i_assessment *a, int64_t setting)
{
    json_t *object = json_object();

    for (int64_t i = 0; i < a->grid.axis_count; i++)
        json_object_set_new(object, a->grid.axes[i].name,
                            kfe_i_json_string(kfe_i_grid_value(&a->grid, setting, i)));
    return object;
}

static json_t *mean_object(double mean, double sd)
{
    json_t *object = json_object();

    json_object_set_new(object, "mean", kfe_i_json_number(mean));
    json_object_set_new(object, "sd", kfe_i_json_number(sd));
    return object;
}

static json_t *split_array(const kfe_i_assessment *a)
{
    json_t *list = json_array();

    for (int64_t s = 0; s < a->splits.count; s++) {
        const kfe_i_split *split = &a->splits.items[s];
        json_t *object = json_object();
        json_t *metrics = json_object();
        for (int64_t m = 0; m < a->metric_count; m++)
            json_object_set_new(metrics, a->metrics[m]->name,
                                kfe_i_json_number(a->values[s * a->metric_count + m]));
        json_object_set_new(object, "repeat", json_integer((json_int_t)split->repeat + 1));
        json_object_set_new(object, "fold", json_integer((json_int_t)split->fold + 1));
        json_object_set_new(object, "train_rows", json_integer((json_int_t)split->train_count));
        json_object_set_new(object, "test_rows", json_integer((json_int_t)split->test_count));
        json_object_set_new(object, "setting", setting_object(a, a->chosen[s]));
        json_object_set_new(object, "metrics", metrics);
        json_object_set_new(object, "support_vectors", kfe_i_json_number(a->support_vectors[s]));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *tuning_array(const kfe_i_assessment *a)
{
    json_t *list = json_array();

    for (int64_t c = 0; a->tuning && c < a->grid.count; c++) {
        json_t *object = json_object();
        json_t *metrics = json_object();
        for (int64_t m = 0; m < a->metric_count; m++)
            json_object_set_new(metrics, a->metrics[m]->name,
                                mean_object(tuning_mean(a, c, m), tuning_sd(a, c, m)));
        json_object_set_new(object, "setting", setting_object(a, c));
        json_object_set_new(object, "metrics", metrics);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *metric_object(const kfe_i_assessment *a)
{
    json_t *object = json_object();

    for (int64_t m = 0; m < a->metric_count; m++) {
        double mean = 0;
        double sd = 0;
        mean_of(a, m, &mean, &sd);
        json_object_set_new(object, a->metrics[m]->name, mean_object(mean, sd));
    }
    return object;
}

/* NULL when memory is out. */
static json_t *kernel_array(kfe_context *ctx, const kfe_i_assessment *a)
{
    json_t *list = json_array();

    for (int64_t m = 0; m < a->grid.base->kernels.count; m++) {
        char *written = NULL;
        kfe_i_text text;
        kfe_i_text_init(&text, ctx);
        kfe_i_kernel_format(&a->grid.base->kernels.items[m], &text);
        if (kfe_i_text_take(&text, &written) != KFE_OK) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, kfe_i_json_string(written));
        kfe_i_free(ctx, written);
    }
    return list;
}

json_t *kfe_i_assessment_json(kfe_context *ctx, const kfe_i_assessment *a)
{
    const kfe_spec *spec = a->grid.base;
    json_t *kernels = kernel_array(ctx, a);
    json_t *object = kernels ? json_object() : NULL;

    if (!object) {
        json_decref(kernels);
        return NULL;
    }
    json_object_set_new(object, "method", json_string(spec->method->name));
    json_object_set_new(object, "kernels", kernels);
    json_object_set_new(object, "learner", spec->learner ? json_string(spec->learner->name) : json_null());
    json_object_set_new(object, "metrics", metric_object(a));
    json_object_set_new(object, "splits", split_array(a));
    json_object_set_new(object, "nested", json_boolean(a->nested));
    json_object_set_new(object, "settings", tuning_array(a));
    if (a->tuning)
        json_object_set_new(object, "best", setting_object(a, a->best));
    json_object_set_new(object, "fits", json_integer((json_int_t)a->fits));
    json_object_set_new(object, "seconds", kfe_i_json_number(a->seconds));
    return object;
}

kfe_status kfe_i_report_assessment(kfe_context *ctx, const kfe_i_assessment *a, kfe_style style, char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? kfe_i_json_take(ctx, kfe_i_assessment_json(ctx, a), out)
                                   : as_text(ctx, a, out);
}
