/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `differences`, a table: every pair of compared methods with the p-values of their difference. */
#include "core/memory.h"
#include "report/figure/figure.h"
#include "text/read.h"

static kfe_status add_labels(kfe_context *ctx, const kfe_table *pairs, const char *name, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char **words = NULL;

    KFE_ALLOC(ctx, words, pairs->rows);
    for (int64_t i = 0; i < pairs->rows; i++)
        words[i] = kfe_i_result_shown(pairs, name, i);
    KFE_TRY(kfe_i_figure_labels(out, name, words));
cleanup:
    kfe_i_free(ctx, words);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    static const char *const names[3][2] = {
        {"a - b", "difference"}, {"p, paired", "paired/p"}, {"p, corrected", "corrected/p"}};
    kfe_status status = KFE_OK;
    const kfe_table *pairs = kfe_result_find(source->results, "differences");
    const char *metric = kfe_result_text(source->results, "metric");
    double *values = NULL;

    if (!pairs || pairs->rows == 0)
        return KFE_OK;
    out->rows = pairs->rows;
    KFE_TRY(add_labels(ctx, pairs, "a", out));
    KFE_TRY(add_labels(ctx, pairs, "b", out));
    for (int k = 0; k < 3; k++) {
        KFE_TRY(kfe_i_figure_numbers(out, names[k][0], NULL, &values));
        for (int64_t i = 0; i < pairs->rows; i++)
            values[i] = kfe_i_result_at(pairs, names[k][1], i);
    }
    kfe_i_text_printf(
        &out->caption,
        "Mean difference in %s between each pair of methods on the same splits, with p of the paired "
        "t-test and of its correction for overlapping training parts.",
        metric ? metric : "the metric");
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_differences = {
    .name = "differences",
    .title = "Differences between methods",
    .section = "Quality",
    .summary = "every pair of compared methods with the p-values of their difference, as a table",
    .needs = "the JSON of compare with at least two methods",
    .draw = draw,
};
