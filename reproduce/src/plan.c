/* SPDX-License-Identifier: Apache-2.0 */
/* Opens plans and reads their JSON. Called by every other file of this folder. */
#include "reproduce/src/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/src/embedded.h"
#include "reproduce/src/rules.h"

/* ---- failures ---- */

kfe_status rep_plan_fail(const rep_plan *plan, const char *where, const char *format, ...)
{
    char reason[768];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return rep_fail(plan->ctx, KFE_EINPUT, "%s: %s%s%s", plan->name, where, *where ? ": " : "", reason);
}

kfe_status rep_plan_prefix(const rep_plan *plan, const char *where, kfe_status status)
{
    char reason[1024];

    if (status == KFE_OK || status == KFE_ENOMEM || status == KFE_ECANCEL)
        return status;
    snprintf(reason, sizeof reason, "%s", kfe_error_message(plan->ctx));
    return rep_fail(plan->ctx, status == KFE_EINVAL ? KFE_EINPUT : status, "%s: %s: %s", plan->name, where,
                    reason);
}

/* ---- contents of a plan ---- */

int rep_plan_is_assessed(const rep_plan *plan)
{
    return plan->kind == REP_TABLE || plan->kind == REP_CURVE;
}

const char *rep_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *rep_plan_metric(const rep_plan *plan, int64_t index)
{
    static const char *const of_scatter[] = {"neighbour-accuracy", "scatter-ratio"};
    const json_t *metrics = json_object_get(plan->root, "metrics");

    if (plan->kind == REP_SCATTER)
        return index < 2 ? of_scatter[index] : NULL;
    if (plan->kind == REP_PATH || plan->kind == REP_TIME || plan->kind == REP_ROC)
        return index > 0                ? NULL
               : plan->kind == REP_PATH ? "record"
               : plan->kind == REP_ROC  ? REP_ROC_METRIC
                                        : REP_SECONDS;
    if (!metrics)
        return index == 0 ? "accuracy" : NULL;
    return json_string_value(json_array_get(metrics, (size_t)index));
}

static int has_points(const rep_plan *plan)
{
    return plan->kind == REP_CURVE || plan->kind == REP_PATH || plan->kind == REP_ROC;
}

static const json_t *point_values(const rep_plan *plan)
{
    return json_object_get(json_object_get(plan->root, "over"), "values");
}

int64_t rep_plan_points(const rep_plan *plan)
{
    return has_points(plan) ? (int64_t)json_array_size(point_values(plan)) : 1;
}

double rep_plan_point(const rep_plan *plan, int64_t index)
{
    return has_points(plan) ? json_number_value(json_array_get(point_values(plan), (size_t)index)) : NAN;
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

rep_published rep_plan_published(const rep_plan *plan, const json_t *row, const char *column,
                                 const char *metric)
{
    const json_t *entry = json_object_get(json_object_get(row, "paper"), column);
    rep_published published;

    if (json_object_get(entry, metric))
        entry = json_object_get(entry, metric);
    else if (strcmp(metric, rep_plan_metric(plan, 0)) != 0)
        entry = NULL;
    const json_t *count = json_object_get(entry, "count");
    published.value = number_or_nan(json_is_object(entry) ? json_object_get(entry, "value") : entry);
    published.sd = number_or_nan(json_object_get(entry, "sd"));
    published.count = number_or_nan(count ? count : json_object_get(plan->root, "paper-splits"));
    return published;
}

/* ---- opening ---- */

static kfe_status find_embedded(kfe_context *ctx, const char *name, const char **text)
{
    for (int i = 0; rep_embedded_specs[i].name; i++)
        if (strcmp(rep_embedded_specs[i].name, name) == 0) {
            *text = (const char *)rep_embedded_specs[i].text;
            return KFE_OK;
        }
    return rep_fail(
        ctx, KFE_EINVAL,
        "there is no table or figure '%s'; 'kfe reproduce --list' shows their names. The name of a file "
        "contains a '/' or ends in .json",
        name);
}

static int is_file_name(const char *name)
{
    size_t length = strlen(name);

    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static kfe_status begin(kfe_context *ctx, const char *name, rep_plan *out)
{
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    return rep_copy(ctx, name, &out->name);
}

static kfe_status not_json(const rep_plan *plan, const json_error_t *error)
{
    if (json_error_code(error) == json_error_cannot_open_file)
        return rep_fail(plan->ctx, KFE_EIO, "%s: %s", plan->name, error->text);
    if (json_error_code(error) == json_error_out_of_memory)
        return rep_out_of_memory(plan->ctx);
    return rep_fail(plan->ctx, KFE_EINPUT, "%s:%d:%d: not JSON: %s", plan->name, error->line, error->column,
                    error->text);
}

static kfe_status check(rep_plan *plan)
{
    kfe_status status = KFE_OK;

    REP_TRY(rep_check_shape(plan));
    REP_TRY(rep_check_cells(plan));
cleanup:
    return status;
}

kfe_status rep_plan_parse(kfe_context *ctx, const char *name, const char *text, size_t size, rep_plan *out)
{
    kfe_status status = begin(ctx, name, out);
    json_error_t error;

    if (status != KFE_OK)
        return status;
    out->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    return out->root ? check(out) : not_json(out, &error);
}

static kfe_status open_file(kfe_context *ctx, const char *name, rep_plan *out)
{
    kfe_status status = begin(ctx, name, out);
    json_error_t error;

    if (status != KFE_OK)
        return status;
    out->root = json_load_file(name, JSON_REJECT_DUPLICATES, &error);
    return out->root ? check(out) : not_json(out, &error);
}

kfe_status rep_plan_open(kfe_context *ctx, const char *name, rep_plan *out)
{
    kfe_status status = KFE_OK;
    const char *text = NULL;

    memset(out, 0, sizeof *out);
    if (is_file_name(name))
        return open_file(ctx, name, out);
    REP_TRY(find_embedded(ctx, name, &text));
    REP_TRY(rep_plan_parse(ctx, name, text, strlen(text), out));
cleanup:
    return status;
}

void rep_plan_close(rep_plan *plan)
{
    json_decref(plan->root);
    free(plan->name);
    memset(plan, 0, sizeof *plan);
}
