/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of a search from its result; used by cv_curve.c and cv_surface.c. */
#include "report/figure/kind/choice.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "text/read.h"

int kfe_i_choice_metric(const kfe_i_source *source, const kfe_table *table, char path[KFE_METRIC_PATH])
{
    const char *wanted = source->settings.metric;
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(table, i)); i++) {
        size_t length = strlen(c->name);
        if (strncmp(c->name, "metrics/", 8) != 0 || length < 13 || strcmp(c->name + length - 5, "/mean") != 0)
            continue;
        kfe_i_snprintf(path, KFE_METRIC_PATH, "%.*s", (int)length - 5, c->name);
        if (!wanted[0] || strcmp(kfe_i_last_part(path), wanted) == 0)
            return 1;
    }
    return 0;
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
    memset(choice, 0, sizeof *choice);
}

/* The axes of the first setting. */
static kfe_status begin_axes(kfe_i_choice *choice)
{
    kfe_status status = KFE_OK;
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(choice->settings, i)) && choice->axis_count < KFE_CHOICE_AXES;
         i++) {
        kfe_i_choice_axis *axis = &choice->axes[choice->axis_count];
        if (strncmp(c->name, "setting/", 8) != 0 || (c->given && !c->given[choice->first]))
            continue;
        *axis = (kfe_i_choice_axis){.name = kfe_i_last_part(c->name), .column = c};
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

static int read_setting(kfe_i_choice *choice, int64_t setting)
{
    for (int a = 0; a < choice->axis_count; a++) {
        const char *const *words = choice->axes[a].column->texts;
        if (!words || !words[choice->first + setting])
            return 0;
        choice->codes[setting * choice->axis_count + a] =
            value_code(&choice->axes[a], words[choice->first + setting]);
    }
    return 1;
}

kfe_status kfe_i_choice_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_choice *out)
{
    kfe_status status = KFE_OK;
    int64_t row = 0;

    *out = (kfe_i_choice){.ctx = ctx, .settings = kfe_result_find(source->results, "settings")};
    out->first = kfe_i_result_first(out->settings, kfe_i_best_assessment(source->results), &out->count);
    if (out->count < 2 || !kfe_i_choice_metric(source, out->settings, out->path)) {
        out->count = 0;
        return KFE_OK;
    }
    out->metric = kfe_i_last_part(out->path);
    KFE_TRY(begin_axes(out));
    KFE_ALLOC_ZERO(ctx, out->codes, out->count * (out->axis_count + 1));
    while (row < out->count && read_setting(out, row))
        row++;
    if (row < out->count)
        out->count = 0; /* these are not settings of a search */
    for (int a = 0; a < out->axis_count; a++)
        classify(&out->axes[a]);
cleanup:
    return status;
}

int kfe_i_choice_has_q2(const kfe_i_choice *choice)
{
    for (int64_t i = choice->first; i < choice->first + choice->count; i++)
        if (!isfinite(kfe_i_result_at(choice->settings, "rmsecv", i)) ||
            !isfinite(kfe_i_result_at(choice->settings, "q2", i)))
            return 0;
    return strcmp(choice->metric, "rmse") == 0;
}

static kfe_status add_axis(const kfe_i_choice *choice, const kfe_i_choice_place *places, int axis,
                           int numeric, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_choice_axis *a = &choice->axes[axis];
    int32_t *codes = NULL;
    double *numbers = NULL;

    if (numeric && a->is_number)
        KFE_TRY(kfe_i_figure_numbers(out, a->name, NULL, &numbers));
    else
        KFE_TRY(kfe_i_figure_words(out, a->name, a->count, a->words, NULL, &codes));
    for (int64_t i = 0; i < choice->count; i++) {
        int32_t code = choice->codes[places[i].setting * choice->axis_count + axis];
        if (numbers)
            numbers[i] = a->numbers[code];
        else
            codes[i] = code;
    }
cleanup:
    return status;
}

static kfe_status add_numbers(const kfe_i_choice *choice, const kfe_i_choice_place *places, const char *name,
                              const char *column, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    KFE_TRY(kfe_i_figure_numbers(out, name, NULL, &values));
    for (int64_t i = 0; i < choice->count; i++)
        values[i] = kfe_i_result_at(choice->settings, column, choice->first + places[i].setting);
cleanup:
    return status;
}

kfe_status kfe_i_choice_columns(const kfe_i_choice *choice, const kfe_i_choice_place *places, int numeric,
                                kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char mean[KFE_METRIC_PATH + 16];
    char error[KFE_METRIC_PATH + 16];

    kfe_i_snprintf(mean, sizeof mean, "%s/mean", choice->path);
    kfe_i_snprintf(error, sizeof error, "%s/standard_error", choice->path);
    out->rows = choice->count;
    for (int a = 0; a < choice->axis_count; a++)
        KFE_TRY(add_axis(choice, places, a, a == numeric, out));
    KFE_TRY(add_numbers(choice, places, choice->metric, mean, out));
    KFE_TRY(add_numbers(choice, places, "standard error", error, out));
    if (!kfe_i_choice_has_q2(choice))
        return KFE_OK;
    KFE_TRY(add_numbers(choice, places, "RMSECV", "rmsecv", out));
    KFE_TRY(add_numbers(choice, places, "Q2", "q2", out));
    KFE_TRY(add_numbers(choice, places, "standard error of RMSECV", "rmsecv_error", out));
cleanup:
    return status;
}
