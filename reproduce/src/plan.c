/* SPDX-License-Identifier: Apache-2.0 */
#include "api/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/embedded.h"
#include "api/plan_rules.h"
#include "core/memory.h"
#include "data/read/source.h"

/* ---- what others ask ---- */

kfe_status kfe_i_plan_fail(const kfe_i_plan *plan, const char *where, const char *format, ...)
{
    char reason[768];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return kfe_i_fail(plan->ctx, KFE_EINPUT, "%s: %s%s%s", plan->name, where, *where ? ": " : "", reason);
}

kfe_status kfe_i_plan_prefix(const kfe_i_plan *plan, const char *where, kfe_status status)
{
    char prefix[512];

    if (status == KFE_OK || status == KFE_ENOMEM || status == KFE_ECANCEL)
        return status;
    snprintf(prefix, sizeof prefix, "%s: %s", plan->name, where);
    return kfe_i_fail_prefix(plan->ctx, status == KFE_EINVAL ? KFE_EINPUT : status, prefix);
}

int kfe_i_plan_is_assessed(const kfe_i_plan *plan)
{
    return plan->kind == KFE_PLAN_TABLE || plan->kind == KFE_PLAN_CURVE;
}

const char *kfe_i_plan_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *kfe_i_plan_metric(const kfe_i_plan *plan, int64_t index)
{
    static const char *const of_scatter[] = {"neighbour-accuracy", "scatter-ratio"};
    const json_t *metrics = json_object_get(plan->root, "metrics");

    if (plan->kind == KFE_PLAN_SCATTER)
        return index < 2 ? of_scatter[index] : NULL;
    if (plan->kind == KFE_PLAN_PATH || plan->kind == KFE_PLAN_TIME)
        return index > 0 ? NULL : plan->kind == KFE_PLAN_PATH ? "record" : KFE_PATH_SECONDS;
    if (!metrics)
        return index == 0 ? "accuracy" : NULL;
    return json_string_value(json_array_get(metrics, (size_t)index));
}

static int has_points(const kfe_i_plan *plan)
{
    return plan->kind == KFE_PLAN_CURVE || plan->kind == KFE_PLAN_PATH;
}

static const json_t *curve_values(const kfe_i_plan *plan)
{
    return json_object_get(json_object_get(plan->root, "over"), "values");
}

int64_t kfe_i_plan_points(const kfe_i_plan *plan)
{
    return has_points(plan) ? (int64_t)json_array_size(curve_values(plan)) : 1;
}

double kfe_i_plan_point(const kfe_i_plan *plan, int64_t index)
{
    return has_points(plan) ? json_number_value(json_array_get(curve_values(plan), (size_t)index)) : NAN;
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void kfe_i_plan_paper(const kfe_i_plan *plan, const json_t *row, const char *column, const char *metric,
                      double *value, double *sd, double *count)
{
    const json_t *entry = json_object_get(json_object_get(row, "paper"), column);
    const json_t *runs;

    if (json_object_get(entry, metric))
        entry = json_object_get(entry, metric);
    else if (strcmp(metric, kfe_i_plan_metric(plan, 0)) != 0)
        entry = NULL;
    *value = number_or_nan(json_is_object(entry) ? json_object_get(entry, "value") : entry);
    *sd = number_or_nan(json_object_get(entry, "sd"));
    runs = json_object_get(entry, "count");
    *count = number_or_nan(runs ? runs : json_object_get(plan->root, "paper-splits"));
}

/* ---- opening ---- */

static const char *embedded_name_at(const void *list, int index)
{
    (void)list;
    return kfe_i_embedded_plans[index].name;
}

static kfe_status find_embedded(kfe_context *ctx, const char *name, const char **text)
{
    char suggestion[96];

    for (int i = 0; kfe_i_embedded_plans[i].name; i++)
        if (strcmp(kfe_i_embedded_plans[i].name, name) == 0) {
            *text = (const char *)kfe_i_embedded_plans[i].text;
            return KFE_OK;
        }
    kfe_i_suggest(name, embedded_name_at, NULL, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL,
                      "there is no table or figure '%s'%s; a file of your own has a '/' or ends in .json",
                      name, suggestion);
}

static int is_path(const char *name)
{
    size_t length = strlen(name);

    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static kfe_status open_file(kfe_context *ctx, const char *name, kfe_i_plan *out)
{
    kfe_status status = KFE_OK;
    kfe_i_source source = {0};
    char *bytes = NULL;
    int64_t count = 0;

    KFE_TRY(kfe_i_source_open(ctx, name, &source));
    KFE_TRY(kfe_i_source_read_all(&source, &bytes, &count));
    KFE_TRY(kfe_i_plan_parse(ctx, name, bytes, (size_t)count, out));
cleanup:
    kfe_i_free(ctx, bytes);
    kfe_i_source_close(&source);
    return status;
}

kfe_status kfe_i_plan_open(kfe_context *ctx, const char *name, kfe_i_plan *out)
{
    kfe_status status = KFE_OK;
    const char *text = NULL;

    memset(out, 0, sizeof *out);
    if (is_path(name))
        return open_file(ctx, name, out);
    KFE_TRY(find_embedded(ctx, name, &text));
    KFE_TRY(kfe_i_plan_parse(ctx, name, text, strlen(text), out));
cleanup:
    return status;
}

kfe_status kfe_i_plan_parse(kfe_context *ctx, const char *name, const char *text, size_t size,
                            kfe_i_plan *out)
{
    kfe_status status = KFE_OK;
    json_error_t error;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_STRDUP(ctx, out->name, name);
    out->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!out->root)
        return kfe_i_fail_at(ctx, KFE_EINPUT, name, error.line, error.column, "not JSON: %s", error.text);
    KFE_TRY(kfe_i_plan_check_shape(out));
    KFE_TRY(kfe_i_plan_check_cells(out));
cleanup:
    return status;
}

void kfe_i_plan_close(kfe_i_plan *plan)
{
    if (!plan->ctx)
        return;
    json_decref(plan->root);
    kfe_i_free(plan->ctx, plan->name);
    memset(plan, 0, sizeof *plan);
}
