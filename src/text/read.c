/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what texts and figures need from the results of evaluations and searches. */
#include "text/read.h"

#include <math.h>
#include <string.h>

#include "select/metric.h"

const char *kfe_i_result_shown(const kfe_table *table, const char *column, int64_t row)
{
    const char *word = kfe_i_result_word(table, column, row);

    return word ? word : "";
}

static double estimate_part(const kfe_table *table, int64_t row, const char *metric, const char *part)
{
    char path[128];

    kfe_i_snprintf(path, sizeof path, "%s/%s", metric, part);
    return kfe_i_result_at(table, path, row);
}

kfe_i_estimate kfe_i_read_estimate(const kfe_table *table, int64_t row, const char *metric)
{
    return (kfe_i_estimate){.mean = estimate_part(table, row, metric, "mean"),
                            .error = estimate_part(table, row, metric, "standard_error"),
                            .sd = estimate_part(table, row, metric, "sd")};
}

const kfe_column *kfe_i_metric_column(const kfe_table *splits, int64_t index)
{
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(splits, i)); i++)
        if (strncmp(c->name, "metrics/", 8) == 0 && c->numbers && index-- == 0)
            return c;
    return NULL;
}

int64_t kfe_i_best_assessment(const kfe_result *results)
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

int kfe_i_results_are_nested(const kfe_result *results)
{
    const kfe_table *methods = kfe_result_find(results, "methods");
    const kfe_table *table = methods ? methods : kfe_result_find(results, "facts");
    int nested = 0;

    for (int64_t row = 0; table && row < table->rows; row++)
        nested |= kfe_i_result_at(table, "nested", row) > 0;
    return nested;
}

int kfe_i_larger_is_better(const char *name)
{
    const kfe_i_metric *metric;

    for (int i = 0; (metric = kfe_i_metric_at(i)); i++)
        if (strcmp(metric->name, name) == 0)
            return metric->larger_is_better;
    return 1;
}

int64_t kfe_i_difference_row(const kfe_table *differences, const char *a, const char *b, double *sign)
{
    for (int64_t i = 0; differences && i < differences->rows; i++) {
        const char *first = kfe_i_result_word(differences, "a", i);
        const char *second = kfe_i_result_word(differences, "b", i);
        if (!first || !second)
            continue;
        *sign = strcmp(first, a) == 0 && strcmp(second, b) == 0 ? 1 : -1;
        if (*sign > 0 || (strcmp(first, b) == 0 && strcmp(second, a) == 0))
            return i;
    }
    return -1;
}

double kfe_i_difference_p(const kfe_result *result, const char *a, const char *b)
{
    double sign = 1;
    const kfe_table *differences = kfe_result_find(result, "differences");

    return kfe_i_result_at(differences, "corrected/p", kfe_i_difference_row(differences, a, b, &sign));
}
