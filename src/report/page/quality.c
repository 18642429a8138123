/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first paragraph of a page: the quality of the predictions on rows that the model has not seen, with a 95 % interval (1.96 standard
 * errors to each side), beside what guessing the most frequent class, or the mean, gives on these rows. Called by page.c.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "report/figure/markup.h"
#include "report/page/title.h"
#include "text/read.h"

#define KFE_TWO_SIDED_95 1.96

typedef struct quality {
    const char *metric;         /* NULL: nothing was predicted */
    double value, error, guess; /* NaN: not known */
    const char *method;         /* of a comparison, the best of `methods`; else NULL */
    int64_t methods;
    const char *set; /* the name of the rows */
    int64_t rows;    /* 0: not known */
    int is_training;
} quality;

/* Rows of the most frequent class over all rows, by weight. */
static kfe_status share_of_largest(kfe_context *ctx, const kfe_i_outcome *outcome, double *out)
{
    kfe_status status = KFE_OK;
    double *sizes = NULL;
    double largest = 0;

    KFE_ALLOC_ZERO(ctx, sizes, outcome->classes);
    for (int64_t i = 0; i < outcome->rows; i++)
        sizes[outcome->truth[i]] += kfe_i_outcome_weight(outcome, i);
    for (int64_t g = 0; g < outcome->classes; g++)
        largest = fmax(largest, sizes[g]);
    *out = largest / kfe_i_outcome_mass(outcome);
cleanup:
    kfe_i_free(ctx, sizes);
    return status;
}

/* The error of the mean of each target: the root of the mean of their variances. */
static double error_of_mean(const kfe_i_outcome *outcome)
{
    double mass = kfe_i_outcome_mass(outcome);
    double sum = 0;

    for (int64_t j = 0; j < outcome->cols; j++) {
        double mean = 0;
        for (int64_t i = 0; i < outcome->rows; i++)
            mean += kfe_i_outcome_weight(outcome, i) / mass * outcome->truth_values[i * outcome->cols + j];
        for (int64_t i = 0; i < outcome->rows; i++) {
            double away = outcome->truth_values[i * outcome->cols + j] - mean;
            sum += kfe_i_outcome_weight(outcome, i) / mass * away * away;
        }
    }
    return sqrt(sum / (double)outcome->cols);
}

/* From the predictions of the set that judges. */
static kfe_status judge(kfe_context *ctx, const kfe_i_source *source, quality *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    double variance = NAN;

    if (!set)
        return KFE_OK;
    const kfe_i_outcome *outcome = &set->outcome;
    const kfe_i_metric *metric = kfe_i_metric_default(outcome->task);
    KFE_TRY(kfe_i_metric_measure(ctx, metric, outcome, &out->value, &variance));
    out->metric = metric->name;
    out->error = sqrt(variance / (double)outcome->rows);
    out->set = set->name;
    out->rows = set->rows;
    out->is_training = set == &source->train;
    if (outcome->task == KFE_TASK_CLASSES)
        KFE_TRY(share_of_largest(ctx, outcome, &out->guess));
    else
        out->guess = error_of_mean(outcome);
cleanup:
    return status;
}

/* The estimate of a search, of its best method and its first metric, in place of one from its held-out rows: its error counts that training
 * parts overlap. The guess stays where it is of the same metric. */
static void take_estimate(const kfe_i_source *source, quality *out)
{
    const kfe_table *methods = kfe_result_find(source->results, "methods");
    const kfe_table *table = methods ? methods : kfe_result_find(source->results, "facts");
    const kfe_column *metric = kfe_i_metric_column(kfe_result_find(source->results, "splits"), 0);
    int64_t row = kfe_i_best_assessment(source->results);

    if (!metric || !table || row < 0 || row >= table->rows)
        return;
    const kfe_i_estimate estimate = kfe_i_read_estimate(table, row, metric->name);
    if (isnan(estimate.mean))
        return;
    const char *name = kfe_i_last_part(metric->name);
    if (!out->metric || strcmp(name, out->metric) != 0)
        out->guess = NAN;
    if (methods && methods->rows > 1) {
        out->method = kfe_i_result_shown(methods, "label", row);
        out->methods = methods->rows;
    }
    out->metric = name;
    out->value = estimate.mean;
    out->error = estimate.error;
    out->set = "held-out";
}

static void write_interval(const quality *q, kfe_i_text *words)
{
    double half = KFE_TWO_SIDED_95 * q->error;
    double low = q->value - half;
    double high = q->value + half;

    if (!isfinite(half))
        return;
    if (strcmp(q->metric, "accuracy") == 0) {
        low = fmax(low, 0);
        high = fmin(high, 1);
    } else if (strcmp(q->metric, "rmse") == 0) {
        low = fmax(low, 0);
    }
    kfe_i_text_printf(words, " (95 %% interval %.4g to %.4g)", low, high);
}

/* "rmse" is an abbreviation; other metrics are words, which begin a sentence with a capital. */
static void put_metric(const char *metric, int begins, kfe_i_text *words)
{
    int capital = begins && metric[0] >= 'a' && metric[0] <= 'z';

    if (strcmp(metric, "rmse") == 0)
        kfe_i_text_puts(words, "RMSE");
    else if (capital)
        kfe_i_text_printf(words, "%c%s", metric[0] - 'a' + 'A', metric + 1);
    else
        kfe_i_text_puts(words, metric);
}

static void write_quality(const quality *q, int is_real, kfe_i_text *words)
{
    if (q->is_training)
        kfe_i_text_puts(words, "Only training examples were given, so this says how well the model "
                               "remembers: ");
    if (q->method)
        kfe_i_text_printf(words, "%s, the best of %lld methods: ", q->method, (long long)q->methods);
    put_metric(q->metric, !q->is_training && !q->method, words);
    kfe_i_text_printf(words, " %.4g", q->value);
    write_interval(q, words);
    if (q->rows > 0)
        kfe_i_text_printf(words, " on %lld %s examples", (long long)q->rows, q->set);
    else
        kfe_i_text_printf(words, " on %s examples", q->set);
    if (isfinite(q->guess))
        kfe_i_text_printf(words, "; guessing %s gives %.4g",
                          is_real ? "their mean" : "the most frequent class", q->guess);
    kfe_i_text_puts(
        words, q->is_training ? ". Cross-validation (kfe cv) estimates the quality on new examples." : ".");
}

void kfe_i_page_quality(kfe_report *report, kfe_i_text *out)
{
    quality q = {.value = NAN, .error = NAN, .guess = NAN};
    const kfe_i_source *source = &report->source;
    const kfe_i_set *set = kfe_i_source_judged(source);
    kfe_i_text words;
    kfe_status status = judge(report->ctx, source, &q);

    if (status != KFE_OK) {
        out->status = status;
        return;
    }
    if (source->results && !source->test.data)
        take_estimate(source, &q);
    if (!q.metric || isnan(q.value))
        return;
    kfe_i_text_init(&words, report->ctx);
    write_quality(&q, set && set->outcome.task == KFE_TASK_REAL, &words);
    kfe_i_text_puts(out, "<p class=\"quality\">");
    if (words.status == KFE_OK)
        kfe_i_put_markup(out, words.bytes);
    else
        out->status = words.status;
    kfe_i_text_puts(out, "</p>\n");
    kfe_i_text_free(&words);
}
