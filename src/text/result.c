/* SPDX-License-Identifier: Apache-2.0 */
/* Results as text and JSON: kfe_result_describe. */
#include "core/memory.h"
#include "text/texts.h"

/* The kinds of results, by a table that only they have. */
static const struct {
    const char *table;
    kfe_status (*text)(const kfe_result *result, kfe_i_text *text);
} kinds[] = {
    {"methods", kfe_i_comparison_text},
    {"ranking", kfe_i_tuning_text},
    {"splits", kfe_i_assessment_text},
    {"measures", kfe_i_measures_text},
};

kfe_status kfe_result_describe(kfe_context *ctx, const kfe_result *result, kfe_style style, char **out)
{
    kfe_status status = KFE_OK;
    size_t kind = 0;
    kfe_i_text text;

    *out = NULL;
    if (style == KFE_STYLE_JSON)
        return kfe_i_result_json(ctx, result, out);
    kfe_i_text_init(&text, ctx);
    kfe_i_text_puts(&text, "");
    while (kind < sizeof kinds / sizeof *kinds && !kfe_result_find(result, kinds[kind].table))
        kind++;
    if (result->has_matrices)
        KFE_TRY(kfe_i_explanation_text(result, &text));
    else if (kind < sizeof kinds / sizeof *kinds)
        KFE_TRY(kinds[kind].text(result, &text));
    else
        KFE_TRY(kfe_i_outcome_text(result, &text));
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    return status;
}
