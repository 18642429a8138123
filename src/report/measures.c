/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `kfe measure` as a text table or as JSON: one line per kernel. Called by workflow/measure.c. */
#include "report/measures.h"

#include <math.h>
#include <string.h>

#include "core/json/json.h"
#include "core/text.h"

static double value_of(const kfe_i_measure *measure, const kfe_i_measured *moments)
{
    return measure->needs_target && !moments->has_target ? (double)NAN : measure->value(moments);
}

static kfe_status as_json(kfe_context *ctx, int64_t count, char *const *names, const kfe_i_measured *moments,
                          char **out)
{
    kfe_i_json json;
    const kfe_i_measure *measure;

    kfe_i_json_init(&json, ctx, 1);
    kfe_i_json_array(&json, NULL);
    for (int64_t m = 0; m < count; m++) {
        kfe_i_json_object(&json, NULL);
        kfe_i_json_text(&json, "kernel", names[m]);
        for (int i = 0; (measure = kfe_i_measure_at(i)); i++)
            kfe_i_json_real(&json, measure->name, value_of(measure, &moments[m]));
        kfe_i_json_end(&json);
    }
    kfe_i_json_end(&json);
    return kfe_i_json_finish(&json, out);
}

static int longest(int64_t count, char *const *names)
{
    size_t width = strlen("kernel");

    for (int64_t m = 0; m < count; m++)
        width = strlen(names[m]) > width ? strlen(names[m]) : width;
    return (int)width;
}

static kfe_status as_text(kfe_context *ctx, int64_t count, char *const *names, const kfe_i_measured *moments,
                          char **out)
{
    kfe_i_text text;
    const kfe_i_measure *measure;
    int width = longest(count, names);

    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "%-*s", width, "kernel");
    for (int i = 0; (measure = kfe_i_measure_at(i)); i++)
        kfe_i_text_printf(&text, "  %17s", measure->name);
    kfe_i_text_puts(&text, "\n");
    for (int64_t m = 0; m < count; m++) {
        kfe_i_text_printf(&text, "%-*s", width, names[m]);
        for (int i = 0; (measure = kfe_i_measure_at(i)); i++) {
            double value = value_of(measure, &moments[m]);
            if (isnan(value))
                kfe_i_text_printf(&text, "  %17s", "-");
            else
                kfe_i_text_printf(&text, "  %17.6g", value);
        }
        kfe_i_text_puts(&text, "\n");
    }
    return kfe_i_text_take(&text, out);
}

kfe_status kfe_i_report_measures(kfe_context *ctx, int64_t count, char *const *names,
                                 const kfe_i_measured *moments, kfe_style style, char **out)
{
    *out = NULL;
    return style == KFE_STYLE_JSON ? as_json(ctx, count, names, moments, out)
                                   : as_text(ctx, count, names, moments, out);
}
