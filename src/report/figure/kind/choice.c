/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of a search from its result; used by cv_curve.c and cv_surface.c. */
#include "report/figure/kind/choice.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "report/read.h"

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
    kfe_i_free(choice->ctx, choice->means);
    kfe_i_free(choice->ctx, choice->errors);
    kfe_i_free(choice->ctx, choice->rmsecv);
    kfe_i_free(choice->ctx, choice->q2);
    memset(choice, 0, sizeof *choice);
}

/* The row of the assessment whose settings are shown: of a comparison, its best method. -1: there is none. */
static int64_t find_assessment(const kfe_result *results)
{
    const kfe_table *methods = kfe_result_find(results, "methods");
    const char *best = kfe_result_text(results, "best");

    if (!methods)
        return 0;
    for (int64_t m = 0; m < methods->rows; m++) {
        const char *label = kfe_i_result_word(methods, "label", m);
        if (best && label && strcmp(best, label) == 0)
            return m;
    }
    return -1;
}

/* The axes of the first setting. */
static kfe_status begin_axes(kfe_i_choice *choice, const kfe_table *settings, int64_t first)
{
    kfe_status status = KFE_OK;
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(settings, i)) && choice->axis_count < KFE_CHOICE_AXES; i++) {
        kfe_i_choice_axis *axis = &choice->axes[choice->axis_count];
        if (strncmp(c->name, "setting/", 8) != 0 || (c->given && !c->given[first]))
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

static int read_setting(kfe_i_choice *choice, const kfe_table *settings, const char *metric, int64_t setting,
                        int64_t row)
{
    const kfe_i_estimate estimate = kfe_i_read_estimate(settings, setting, metric);

    for (int a = 0; a < choice->axis_count; a++) {
        const char *const *words = choice->axes[a].column->texts;
        if (!words || !words[setting])
            return 0;
        choice->codes[row * choice->axis_count + a] = value_code(&choice->axes[a], words[setting]);
    }
    choice->means[row] = estimate.mean;
    choice->errors[row] = estimate.error;
    choice->rmsecv[row] = kfe_i_result_at(settings, "rmsecv", setting);
    choice->q2[row] = kfe_i_result_at(settings, "q2", setting);
    return 1;
}

kfe_status kfe_i_choice_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_choice *out)
{
    kfe_status status = KFE_OK;
    const kfe_table *settings = kfe_result_find(source->results, "settings");
    int64_t assessment = find_assessment(source->results);
    int64_t row = 0;

    *out = (kfe_i_choice){.ctx = ctx};
    int64_t first = kfe_i_result_first(settings, assessment, &out->count);
    if (out->count < 2 || !kfe_i_choice_metric(source, settings, out->path)) {
        out->count = 0;
        return KFE_OK;
    }
    out->metric = kfe_i_last_part(out->path);
    KFE_TRY(begin_axes(out, settings, first));
    KFE_ALLOC_ZERO(ctx, out->codes, out->count * (out->axis_count + 1));
    KFE_ALLOC_ZERO(ctx, out->means, out->count);
    KFE_ALLOC_ZERO(ctx, out->errors, out->count);
    KFE_ALLOC_ZERO(ctx, out->rmsecv, out->count);
    KFE_ALLOC_ZERO(ctx, out->q2, out->count);
    while (row < out->count && read_setting(out, settings, out->path, first + row, row))
        row++;
    if (row < out->count)
        out->count = 0; /* these are not settings of a search */
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
