/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `differences`, a table: every pair of compared methods with the p-values of their difference. */
#include "core/memory.h"
#include "report/figure/kind/choice.h"

static kfe_status add_labels(kfe_context *ctx, const kfe_i_json_value *pairs, const char *key,
                             kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char **words = NULL;
    int32_t *codes = NULL;
    int column = 0;
    int64_t i = 0;

    KFE_ALLOC(ctx, words, pairs->count);
    for (const kfe_i_json_value *p = pairs->first; p; p = p->next, i++) {
        const char *label = kfe_i_json_get_text(p, key);
        words[i] = label ? label : "";
    }
    KFE_TRY(kfe_i_figure_words(out, key, pairs->count, words, &column, &codes));
    for (i = 0; i < pairs->count; i++)
        codes[i] = (int32_t)i;
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    static const char *const names[3] = {"a - b", "p, paired", "p, corrected"};
    kfe_status status = KFE_OK;
    const kfe_i_json_value *pairs = kfe_i_json_get(source->results, "differences");
    const char *metric = kfe_i_json_get_text(source->results, "metric");
    double *values[3] = {NULL, NULL, NULL};
    int column = 0;
    int64_t i = 0;

    if (!kfe_i_json_is(pairs, KFE_JSON_ARRAY) || pairs->count == 0)
        return KFE_OK;
    kfe_i_figure_rows(out, pairs->count);
    KFE_TRY(add_labels(ctx, pairs, "a", out));
    KFE_TRY(add_labels(ctx, pairs, "b", out));
    for (int k = 0; k < 3; k++)
        KFE_TRY(kfe_i_figure_numbers(out, names[k], &column, &values[k]));
    for (const kfe_i_json_value *p = pairs->first; p; p = p->next, i++) {
        values[0][i] = kfe_i_json_number(kfe_i_json_get(p, "difference"));
        values[1][i] = kfe_i_json_number(kfe_i_json_get(kfe_i_json_get(p, "paired"), "p"));
        values[2][i] = kfe_i_json_number(kfe_i_json_get(kfe_i_json_get(p, "corrected"), "p"));
    }
    kfe_i_text_printf(
        &out->caption,
        "Mean difference in %s between every two methods on the same splits, with p of the paired t-test "
        "and of the test that is corrected for training parts that overlap.",
        metric ? metric : "the metric");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_differences = {
    .name = "differences",
    .title = "Differences between methods",
    .section = "Choice",
    .summary = "every pair of compared methods with the p-values of their difference, as a table",
    .needs = "the JSON of compare with at least two methods",
    .draw = draw,
};
