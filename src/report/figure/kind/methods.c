/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the methods of a comparison from its result; used by comparison.c and time.c. */
#include "report/figure/kind/methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "text/read.h"

void kfe_i_methods_free(kfe_i_methods *methods)
{
    if (methods->ctx)
        kfe_i_free(methods->ctx, methods->items);
    memset(methods, 0, sizeof *methods);
}

static int compare_ranks(const void *a, const void *b)
{
    const kfe_i_compared_method *p = a;
    const kfe_i_compared_method *q = b;

    return (p->rank > q->rank) - (p->rank < q->rank);
}

/* Ranks of one method, averaged over splits; equal values share the mean of their ranks. */
static double mean_rank(const kfe_i_methods *methods, const double *values, int64_t m)
{
    int larger = kfe_i_larger_is_better(methods->metric);
    double sum = 0;
    int64_t count = 0;

    for (int64_t s = 0; s < methods->items[m].splits; s++) {
        double rank = 1;
        double own = values[methods->items[m].first_split + s];
        for (int64_t k = 0; k < methods->count; k++) {
            const kfe_i_compared_method *other = &methods->items[k];
            double value = s < other->splits ? values[other->first_split + s] : (double)NAN;
            if (k != m)
                rank += value == own ? 0.5 : (larger ? value > own : value < own) ? 1 : 0;
        }
        if (isfinite(own)) {
            sum += rank;
            count++;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

static double mean_seconds(const kfe_table *splits, const kfe_i_compared_method *item)
{
    double sum = 0;
    int64_t count = 0;

    for (int64_t s = 0; s < item->splits; s++) {
        double seconds = kfe_i_result_at(splits, "seconds", item->first_split + s);
        if (!isfinite(seconds))
            continue;
        sum += seconds;
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

kfe_status kfe_i_methods_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_methods *out)
{
    kfe_status status = KFE_OK;
    const kfe_table *methods = kfe_result_find(source->results, "methods");
    const kfe_table *splits = kfe_result_find(source->results, "splits");
    const kfe_column *metric;

    *out = (kfe_i_methods){.ctx = ctx};
    if (!methods || methods->rows == 0 || !kfe_i_choice_metric(source, methods, out->path))
        return KFE_OK;
    out->metric = kfe_i_last_part(out->path);
    metric = kfe_table_find(splits, out->path);
    if (!metric || !metric->numbers)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, out->items, methods->rows);
    for (int64_t m = 0; m < methods->rows; m++) {
        kfe_i_compared_method *item = &out->items[m];
        const kfe_i_estimate estimate = kfe_i_read_estimate(methods, m, out->path);
        item->label = kfe_i_result_word(methods, "label", m);
        item->first_split = kfe_i_result_first(splits, m, &item->splits);
        if (!item->label || item->splits == 0) {
            out->count = 0;
            return KFE_OK;
        }
        item->mean = estimate.mean;
        item->error = estimate.error;
        item->seconds = mean_seconds(splits, item);
        out->count++;
    }
    for (int64_t i = 0; i < out->count; i++)
        out->items[i].rank = mean_rank(out, metric->numbers, i);
    qsort(out->items, (size_t)out->count, sizeof *out->items, compare_ranks);
cleanup:
    return status;
}

kfe_status kfe_i_methods_columns(const kfe_i_methods *methods, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char **labels = NULL;
    int32_t *codes = NULL;
    double *means = NULL;
    double *errors = NULL;

    KFE_ALLOC(methods->ctx, labels, methods->count);
    for (int64_t i = 0; i < methods->count; i++)
        labels[i] = methods->items[i].label;
    KFE_TRY(kfe_i_figure_words(out, "method", methods->count, labels, NULL, &codes));
    KFE_TRY(kfe_i_figure_numbers(out, methods->metric, NULL, &means));
    KFE_TRY(kfe_i_figure_numbers(out, "standard error", NULL, &errors));
    for (int64_t i = 0; i < out->rows; i++) {
        codes[i] = (int32_t)(i < methods->count ? i : 0);
        means[i] = i < methods->count ? methods->items[i].mean : NAN;
        errors[i] = i < methods->count ? methods->items[i].error : NAN;
    }
cleanup:
    kfe_i_free(methods->ctx, labels);
    return status;
}
