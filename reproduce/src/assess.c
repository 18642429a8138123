/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validates a cell and reads the JSON that the library returns. Called by reproduce.c. */
#include "reproduce/src/assess.h"

#include <math.h>
#include <string.h>

#include "reproduce/src/mean.h"

kfe_status rep_assess(const rep_cell *cell, const kfe_data *data, json_t **out)
{
    kfe_status status = KFE_OK;
    char *text = NULL;

    *out = NULL;
    REP_TRY(kfe_cross_validate(cell->ctx, cell->spec, cell->grid_count, cell->grids, data, cell->options,
                               KFE_STYLE_JSON, NULL, &text));
    *out = json_loads(text, 0, NULL);
    if (!*out)
        status = rep_out_of_memory(cell->ctx);
cleanup:
    kfe_string_free(cell->ctx, text);
    return status;
}

/* The value of one split; NaN if the library wrote null. */
static double split_value(const json_t *split, const char *metric)
{
    const json_t *value = strcmp(metric, REP_SUPPORT_VECTORS) == 0
                              ? json_object_get(split, "support_vectors")
                              : json_object_get(json_object_get(split, "metrics"), metric);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

int64_t rep_assessed_metric(const json_t *assessment, const char *metric, double *mean, double *sd)
{
    const json_t *splits = json_object_get(assessment, "splits");
    rep_mean sum = {0};

    for (size_t i = 0; i < json_array_size(splits); i++)
        rep_mean_add(&sum, split_value(json_array_get(splits, i), metric));
    *mean = rep_mean_value(&sum);
    *sd = rep_mean_sd(&sum);
    return sum.count;
}

/* Appends "k of n WHAT failed: reason" for the entries of a list whose "failed" holds a reason; returns k. */
static size_t put_failures(const json_t *list, const char *what, rep_text *out)
{
    const char *reason = NULL;
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *failed = json_string_value(json_object_get(json_array_get(list, i), "failed"));
        reason = reason ? reason : failed;
        count += failed != NULL;
    }
    if (count > 0)
        rep_text_printf(out, "%zu of %zu %s failed: %s", count, json_array_size(list), what, reason);
    return count;
}

void rep_assessed_failures(const json_t *assessment, rep_text *out)
{
    const json_t *settings = json_object_get(assessment, "settings");

    if (put_failures(json_object_get(assessment, "splits"), "splits", out) == 0 &&
        json_array_size(settings) > 1)
        (void)put_failures(settings, "settings", out);
}

static void put_setting(const json_t *setting, rep_text *out)
{
    const char *name;
    json_t *value;
    int first = 1;

    json_object_foreach((json_t *)(uintptr_t)setting, name, value)
    {
        rep_text_printf(out, "%s%s=%s", first ? "" : " ", name, json_string_value(value));
        first = 0;
    }
}

static int all_chose_the_same(const json_t *splits)
{
    const json_t *first = json_object_get(json_array_get(splits, 0), "setting");

    for (size_t i = 1; i < json_array_size(splits); i++)
        if (!json_equal(first, json_object_get(json_array_get(splits, i), "setting")))
            return 0;
    return 1;
}

void rep_assessed_setting(const json_t *assessment, rep_text *out)
{
    const json_t *splits = json_object_get(assessment, "splits");

    if (json_array_size(json_object_get(assessment, "settings")) < 2)
        return;
    if (all_chose_the_same(splits)) {
        put_setting(json_object_get(json_array_get(splits, 0), "setting"), out);
        return;
    }
    rep_text_puts(out, "chosen for each split; best over all: ");
    put_setting(json_object_get(assessment, "best"), out);
}
