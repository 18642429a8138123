/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of a search from its JSON; used by cv_curve.c and cv_surface.c. */
#include "report/figure/kind/choice.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

double kfe_i_json_number(const kfe_i_json_value *value)
{
    if (kfe_i_json_is(value, KFE_JSON_REAL))
        return value->real;
    return kfe_i_json_is(value, KFE_JSON_INTEGER) ? (double)value->integer : NAN;
}

const kfe_i_json_value *kfe_i_choice_metric(const kfe_i_source *source, const kfe_i_json_value *metrics)
{
    if (!kfe_i_json_is(metrics, KFE_JSON_OBJECT))
        return NULL;
    return source->settings.metric[0] ? kfe_i_json_get(metrics, source->settings.metric) : metrics->first;
}

void kfe_i_choice_free(kfe_i_choice *choice)
{
    if (!choice->ctx)
        return;
    for (int a = 0; a < choice->axis_count; a++) {
        kfe_i_free(choice->ctx, choice->axes[a].words);
        kfe_i_free(choice->ctx, choice->axes[a].numbers);
    }
    kfe_i_free(choice->ctx, choice->codes);
    kfe_i_free(choice->ctx, choice->means);
    kfe_i_free(choice->ctx, choice->errors);
    kfe_i_free(choice->ctx, choice->rmsecv);
    kfe_i_free(choice->ctx, choice->q2);
    memset(choice, 0, sizeof *choice);
}

/* The settings of a cross-validation or, in a comparison, of its best method. */
static const kfe_i_json_value *find_settings(const kfe_i_json_value *results)
{
    const char *best = kfe_i_json_get_text(results, "best");
    const kfe_i_json_value *methods = kfe_i_json_get(results, "methods");
    const kfe_i_json_value *settings = kfe_i_json_get(results, "settings");

    if (!methods)
        return settings;
    for (const kfe_i_json_value *m = methods->first; m; m = m->next) {
        const char *label = kfe_i_json_get_text(m, "label");
        if (best && label && strcmp(best, label) == 0)
            return kfe_i_json_get(m, "settings");
    }
    return NULL;
}

static kfe_status begin_axes(kfe_i_choice *choice, const kfe_i_json_value *setting)
{
    kfe_status status = KFE_OK;

    for (const kfe_i_json_value *a = setting ? setting->first : NULL;
         a && choice->axis_count < KFE_CHOICE_AXES; a = a->next) {
        kfe_i_choice_axis *axis = &choice->axes[choice->axis_count];
        *axis = (kfe_i_choice_axis){.name = a->key};
        choice->axis_count++;
        KFE_ALLOC(choice->ctx, axis->words, choice->count);
        KFE_ALLOC(choice->ctx, axis->numbers, choice->count);
    }
cleanup:
    return status;
}

static int32_t value_code(kfe_i_choice_axis *axis, const char *word)
{
    int64_t k = 0;

    while (k < axis->count && strcmp(axis->words[k], word) != 0)
        k++;
    if (k == axis->count) {
        axis->words[k] = word;
        axis->numbers[k] = NAN;
        kfe_i_parse_number(word, word + strlen(word), &axis->numbers[k]);
        axis->count++;
    }
    return (int32_t)k;
}

/* Values that span more than a decade and a half, all positive, belong on a logarithmic axis. */
static void classify(kfe_i_choice_axis *axis)
{
    double low = INFINITY;
    double high = -INFINITY;

    axis->is_number = 1;
    for (int64_t k = 0; k < axis->count; k++) {
        axis->is_number &= isfinite(axis->numbers[k]);
        low = fmin(low, axis->numbers[k]);
        high = fmax(high, axis->numbers[k]);
    }
    axis->is_log = axis->is_number && low > 0 && high > 30 * low;
}

static int read_setting(kfe_i_choice *choice, const kfe_i_source *source, const kfe_i_json_value *item,
                        int64_t row)
{
    const kfe_i_json_value *setting = kfe_i_json_get(item, "setting");
    const kfe_i_json_value *metric = kfe_i_choice_metric(source, kfe_i_json_get(item, "metrics"));

    for (int a = 0; a < choice->axis_count; a++) {
        const char *word = kfe_i_json_get_text(setting, choice->axes[a].name);
        if (!word)
            return 0;
        choice->codes[row * choice->axis_count + a] = value_code(&choice->axes[a], word);
    }
    if (!metric)
        return 0;
    choice->metric = metric->key;
    choice->means[row] = kfe_i_json_number(kfe_i_json_get(metric, "mean"));
    choice->errors[row] = kfe_i_json_number(kfe_i_json_get(metric, "standard_error"));
    choice->rmsecv[row] = kfe_i_json_number(kfe_i_json_get(item, "rmsecv"));
    choice->q2[row] = kfe_i_json_number(kfe_i_json_get(item, "q2"));
    return 1;
}

kfe_status kfe_i_choice_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_choice *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_json_value *settings = find_settings(source->results);
    int64_t row = 0;

    *out = (kfe_i_choice){.ctx = ctx};
    if (!kfe_i_json_is(settings, KFE_JSON_ARRAY) || settings->count < 2)
        return KFE_OK;
    out->count = settings->count;
    KFE_TRY(begin_axes(out, kfe_i_json_get(settings->first, "setting")));
    KFE_ALLOC_ZERO(ctx, out->codes, out->count * (out->axis_count + 1));
    KFE_ALLOC_ZERO(ctx, out->means, out->count);
    KFE_ALLOC_ZERO(ctx, out->errors, out->count);
    KFE_ALLOC_ZERO(ctx, out->rmsecv, out->count);
    KFE_ALLOC_ZERO(ctx, out->q2, out->count);
    for (const kfe_i_json_value *item = settings->first; item; item = item->next)
        if (!read_setting(out, source, item, row++)) {
            out->count = 0; /* not the JSON of a search, or not with this metric */
            break;
        }
    for (int a = 0; a < out->axis_count; a++)
        classify(&out->axes[a]);
cleanup:
    return status;
}

kfe_status kfe_i_choice_column(const kfe_i_choice *choice, int axis, int numeric, kfe_i_figure *out,
                               int *column)
{
    kfe_status status = KFE_OK;
    const kfe_i_choice_axis *a = &choice->axes[axis];
    int32_t *codes = NULL;
    double *numbers = NULL;

    if (numeric && a->is_number)
        KFE_TRY(kfe_i_figure_numbers(out, a->name, column, &numbers));
    else
        KFE_TRY(kfe_i_figure_words(out, a->name, a->count, a->words, column, &codes));
    (void)codes;
    (void)numbers;
cleanup:
    return status;
}
