/* SPDX-License-Identifier: Apache-2.0 */
/* The text of what kfe_tune found: the ranking, the best specification, and the honest error. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "text/read.h"
#include "text/scores.h"
#include "text/texts.h"

static int name_width(const kfe_table *ranking)
{
    size_t width = 22;

    for (int64_t i = 0; i < ranking->rows; i++) {
        size_t length = strlen(kfe_i_result_shown(ranking, "candidate", i));
        width = length > width ? length : width;
    }
    return (int)width + 2;
}

static void add_row(const kfe_table *ranking, int64_t i, kfe_i_text *text)
{
    const kfe_i_estimate estimate = {.mean = kfe_i_result_at(ranking, "mean", i),
                                     .error = kfe_i_result_at(ranking, "standard_error", i),
                                     .sd = kfe_i_result_at(ranking, "sd", i)};
    double folds = kfe_i_result_at(ranking, "folds", i);
    double p = kfe_i_result_at(ranking, "p", i);
    const char *reason = kfe_i_result_word(ranking, "reason", i);
    kfe_i_text cell;

    kfe_i_text_printf(text, "%4lld  %-*s", (long long)i + 1, name_width(ranking),
                      kfe_i_result_shown(ranking, "candidate", i));
    if (!(folds > 0)) {
        kfe_i_text_printf(text, "  %s\n", reason ? reason : "not tried");
        return;
    }
    kfe_i_text_init(&cell, text->ctx);
    kfe_i_put_estimate(&cell, estimate);
    if (cell.status != KFE_OK)
        text->status = cell.status;
    else /* ± has two bytes */
        kfe_i_text_printf(text, "%*s", strstr(cell.bytes, "±") ? 19 : 18, cell.bytes);
    kfe_i_text_free(&cell);
    if (isnan(p))
        kfe_i_text_printf(text, "%8s", "-");
    else
        kfe_i_text_printf(text, "%8.2g", p);
    kfe_i_text_printf(text, "%7.0f%9.2g   ", folds, kfe_i_result_at(ranking, "seconds", i));
    kfe_i_result_put_group(ranking, "setting", i, " ", text);
    kfe_i_text_puts(text, "\n");
}

static void add_honest(const kfe_result *result, kfe_i_text *text)
{
    const kfe_table *splits = kfe_result_find(result, "honest/splits");
    int held_out =
        strcmp(kfe_i_result_shown(kfe_result_table(result, 0), "honest/measured_on", 0), "held-out") == 0;
    const kfe_column *metric;

    for (int64_t m = 0; (metric = kfe_i_metric_column(splits, m)); m++) {
        char path[128];
        kfe_i_snprintf(path, sizeof path, "honest/%s", metric->name);
        kfe_i_estimate estimate = kfe_i_read_estimate(kfe_result_table(result, 0), 0, path);
        kfe_i_text_printf(text, "%s ", kfe_i_last_part(metric->name));
        kfe_i_put_estimate(text, estimate);
        kfe_i_put_meaning(text, estimate, splits->rows);
        if (held_out)
            kfe_i_text_printf(text, " on %.0f examples held out, which took no part in choosing\n",
                              kfe_i_result_at(splits, "test_rows", 0));
        else
            kfe_i_text_printf(text, " on %lld outer folds, which took no part in choosing\n",
                              (long long)splits->rows);
    }
    kfe_i_put_pooled(text, "honest/pooled", kfe_result_table(result, 0), 0);
}

kfe_status kfe_i_tuning_text(const kfe_result *result, kfe_i_text *text)
{
    const kfe_table *facts = kfe_result_table(result, 0);
    const kfe_table *ranking = kfe_result_find(result, "ranking");

    kfe_i_text_printf(text, "place %-*s%18s%8s%7s%9s   %s\n", name_width(ranking), "candidate",
                      kfe_i_result_shown(facts, "metric", 0), "p", "folds", "seconds", "best setting");
    for (int64_t i = 0; i < ranking->rows; i++)
        add_row(ranking, i, text);
    kfe_i_text_printf(text, "± is the standard error of the mean over the folds\nbest: %s\n",
                      kfe_i_result_shown(facts, "best/spec", 0));
    kfe_i_put_edges(text, NULL, kfe_result_find(result, "edges"), 0);
    add_honest(result, text);
    return KFE_OK;
}
