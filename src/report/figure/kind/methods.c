/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the methods of a comparison from its JSON; used by comparison.c and time.c. */
#include "report/figure/kind/methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/choice.h"

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

static double value_on(const kfe_i_json_value *split, const char *metric)
{
    return split ? kfe_i_json_number(kfe_i_json_get(kfe_i_json_get(split, "metrics"), metric)) : NAN;
}

static int larger_is_better(const char *name)
{
    const kfe_i_metric *metric;

    for (int i = 0; (metric = kfe_i_metric_at(i)); i++)
        if (strcmp(metric->name, name) == 0)
            return metric->larger_is_better;
    return 1;
}

/* Ranks of one method, averaged over splits; equal values share the mean of their ranks. */
static double mean_rank(const kfe_i_methods *methods, int64_t m)
{
    int larger = larger_is_better(methods->metric);
    const kfe_i_json_value *splits[2];
    double sum = 0;
    int64_t count = 0;

    for (int64_t s = 0; s < methods->items[m].splits->count; s++) {
        double rank = 1;
        splits[0] = methods->items[m].splits->first;
        for (int64_t k = 0; k < s && splits[0]; k++)
            splits[0] = splits[0]->next;
        double own = value_on(splits[0], methods->metric);
        for (int64_t other = 0; other < methods->count; other++) {
            splits[1] = methods->items[other].splits->first;
            for (int64_t k = 0; k < s && splits[1]; k++)
                splits[1] = splits[1]->next;
            double value = value_on(splits[1], methods->metric);
            if (other != m)
                rank += value == own ? 0.5 : (larger ? value > own : value < own) ? 1 : 0;
        }
        if (isfinite(own)) {
            sum += rank;
            count++;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

static double mean_seconds(const kfe_i_json_value *splits)
{
    double sum = 0;
    int64_t count = 0;

    for (const kfe_i_json_value *s = splits->first; s; s = s->next) {
        double seconds = kfe_i_json_number(kfe_i_json_get(s, "seconds"));
        if (!isfinite(seconds))
            continue;
        sum += seconds;
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

static int read_method(kfe_i_methods *out, const kfe_i_source *source, const kfe_i_json_value *m)
{
    kfe_i_compared_method *item = &out->items[out->count];
    const kfe_i_json_value *metric = kfe_i_choice_metric(source, kfe_i_json_get(m, "metrics"));

    item->label = kfe_i_json_get_text(m, "label");
    item->splits = kfe_i_json_get(m, "splits");
    if (!item->label || !metric || !kfe_i_json_is(item->splits, KFE_JSON_ARRAY))
        return 0;
    out->metric = metric->key;
    item->mean = kfe_i_json_number(kfe_i_json_get(metric, "mean"));
    item->error = kfe_i_json_number(kfe_i_json_get(metric, "standard_error"));
    item->seconds = mean_seconds(item->splits);
    out->count++;
    return 1;
}

kfe_status kfe_i_methods_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_methods *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_json_value *methods = kfe_i_json_get(source->results, "methods");

    *out = (kfe_i_methods){.ctx = ctx};
    if (!kfe_i_json_is(methods, KFE_JSON_ARRAY) || methods->count == 0)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, out->items, methods->count);
    for (const kfe_i_json_value *m = methods->first; m; m = m->next)
        if (!read_method(out, source, m)) {
            out->count = 0;
            return KFE_OK;
        }
    for (int64_t i = 0; i < out->count; i++)
        out->items[i].rank = mean_rank(out, i);
    qsort(out->items, (size_t)out->count, sizeof *out->items, compare_ranks);
cleanup:
    return status;
}

double kfe_i_methods_p(const kfe_i_source *source, const char *a, const char *b)
{
    const kfe_i_json_value *pairs = kfe_i_json_get(source->results, "differences");

    for (const kfe_i_json_value *p = pairs ? pairs->first : NULL; p; p = p->next) {
        const char *first = kfe_i_json_get_text(p, "a");
        const char *second = kfe_i_json_get_text(p, "b");
        if (first && second &&
            ((strcmp(first, a) == 0 && strcmp(second, b) == 0) ||
             (strcmp(first, b) == 0 && strcmp(second, a) == 0)))
            return kfe_i_json_number(kfe_i_json_get(kfe_i_json_get(p, "corrected"), "p"));
    }
    return NAN;
}

kfe_status kfe_i_methods_columns(const kfe_i_methods *methods, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const char **labels = NULL;
    int32_t *codes = NULL;
    double *means = NULL;
    double *errors = NULL;
    int column = 0;

    KFE_ALLOC(methods->ctx, labels, methods->count);
    for (int64_t i = 0; i < methods->count; i++)
        labels[i] = methods->items[i].label;
    KFE_TRY(kfe_i_figure_words(out, "method", methods->count, labels, &column, &codes));
    KFE_TRY(kfe_i_figure_numbers(out, methods->metric, &column, &means));
    KFE_TRY(kfe_i_figure_numbers(out, "standard error", &column, &errors));
    for (int64_t i = 0; i < out->rows; i++) {
        codes[i] = (int32_t)(i < methods->count ? i : 0);
        means[i] = i < methods->count ? methods->items[i].mean : NAN;
        errors[i] = i < methods->count ? methods->items[i].error : NAN;
    }
cleanup:
    kfe_i_free(methods->ctx, labels);
    return status;
}
