/* SPDX-License-Identifier: Apache-2.0 */
/* Several assessments on the same splits, as a result and as its text: one table, the best in bold, and which differences
 * are significant. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "text/read.h"
#include "text/scores.h"
#include "text/texts.h"

/* Two-sided; below it a difference is called significant. */
#define KFE_SIGNIFICANCE 0.05

enum { CELL = 20 };

typedef struct comparison {
    kfe_context *ctx;
    int64_t count; /* specs that were assessed */
    const kfe_i_assessment *items;
    int64_t failed_count;
    const kfe_i_failed_spec *failed;
    char **labels; /* of those assessed, then of those that failed */
} comparison;

/* ---- labels ---- */

static const kfe_spec *spec_at(const comparison *c, int64_t i)
{
    return i < c->count ? c->items[i].grid.base : c->failed[i - c->count].spec;
}

/* How often the label of spec i stands among the others (before it: earlier ones only). */
static int64_t count_alike(const comparison *c, int64_t i, int64_t end)
{
    int64_t alike = 0;

    for (int64_t j = 0; j < end; j++)
        alike += j != i && strcmp(c->labels[j], c->labels[i]) == 0;
    return alike;
}

static kfe_status set_label(const comparison *c, int64_t i, int is_long, int64_t number)
{
    kfe_i_text text;

    kfe_i_text_init(&text, c->ctx);
    if (is_long)
        kfe_i_spec_long_label(spec_at(c, i), &text);
    else
        kfe_i_spec_label(spec_at(c, i), &text);
    if (number > 0)
        kfe_i_text_printf(&text, " #%lld", (long long)number);
    kfe_i_free(c->ctx, c->labels[i]);
    c->labels[i] = NULL;
    return kfe_i_text_take(&text, &c->labels[i]);
}

/* Two specs that would have the same name show their kernels, learners and options; if these are alike too, a
 * number. */
static kfe_status tell_apart(const comparison *c, int64_t all)
{
    kfe_status status = KFE_OK;
    unsigned char *is_long = NULL;

    KFE_ALLOC_ZERO(c->ctx, is_long, all);
    for (int64_t i = 0; i < all; i++)
        is_long[i] = count_alike(c, i, all) > 0;
    for (int64_t i = 0; i < all; i++)
        if (is_long[i])
            KFE_TRY(set_label(c, i, 1, 0));
    for (int64_t i = all - 1; i > 0; i--) {
        int64_t before = count_alike(c, i, i);
        if (before > 0)
            KFE_TRY(set_label(c, i, is_long[i], before + 1));
    }
cleanup:
    kfe_i_free(c->ctx, is_long);
    return status;
}

static kfe_status make_labels(comparison *c)
{
    kfe_status status = KFE_OK;
    int64_t all = c->count + c->failed_count;

    KFE_ALLOC_ZERO(c->ctx, c->labels, all);
    for (int64_t i = 0; i < all; i++)
        KFE_TRY(set_label(c, i, 0, 0));
    KFE_TRY(tell_apart(c, all));
cleanup:
    return status;
}

/* ---- the result ---- */

static int64_t best_of(const comparison *c)
{
    int64_t best = 0;

    for (int64_t i = 1; i < c->count; i++)
        if (kfe_i_is_better(c->items[0].metrics[0], kfe_i_assessment_estimate(&c->items[i], 0).mean,
                            kfe_i_assessment_estimate(&c->items[best], 0).mean))
            best = i;
    return best;
}

static void put_test(kfe_i_result_table *table, const char *group, const kfe_i_test_result *test)
{
    kfe_i_put_real(table, group, "t", test->statistic);
    kfe_i_put_real(table, group, "p", test->p);
    kfe_i_put_flag(table, group, "significant", test->p < KFE_SIGNIFICANCE);
}

/* The first metric of two methods; splits on which one of them failed or has no value do not count. */
static void put_pair(const comparison *c, int64_t i, int64_t j, kfe_i_result_table *table)
{
    const kfe_i_tested a = {c->items[i].values, c->items[i].metric_count};
    const kfe_i_tested b = {c->items[j].values, c->items[j].metric_count};
    int64_t splits = c->items[0].splits.count;
    const kfe_i_test_result plain = kfe_i_paired_t(splits, a, b, 0);
    const kfe_i_test_result corrected = kfe_i_paired_t(splits, a, b, kfe_i_test_share(&c->items[0].splits));

    kfe_i_result_row(table);
    kfe_i_put_text(table, NULL, "a", c->labels[i]);
    kfe_i_put_text(table, NULL, "b", c->labels[j]);
    kfe_i_put_real(table, NULL, "difference", plain.mean_difference);
    put_test(table, "paired", &plain);
    put_test(table, "corrected", &corrected);
}

static kfe_status fill(const comparison *c, kfe_i_result_table *facts)
{
    kfe_status status = KFE_OK;

    kfe_i_put_text(facts, NULL, "metric", c->items[0].metrics[0]->name);
    kfe_i_put_text(facts, NULL, "best", c->labels[best_of(c)]);
    kfe_i_result_table *methods = kfe_i_result_add(facts, NULL, "methods", 0);
    for (int64_t i = 0; i < c->count; i++) {
        kfe_i_result_row(methods);
        kfe_i_put_text(methods, NULL, "label", c->labels[i]);
        KFE_TRY(kfe_i_add_assessment(methods, &c->items[i]));
    }
    kfe_i_result_table *failed = kfe_i_result_add(facts, NULL, "failed", 0);
    for (int64_t i = 0; i < c->failed_count; i++) {
        kfe_i_result_row(failed);
        kfe_i_put_text(failed, NULL, "label", c->labels[c->count + i]);
        kfe_i_put_text(failed, NULL, "method", c->failed[i].spec->method->name);
        kfe_i_put_text(failed, NULL, "reason", c->failed[i].reason);
    }
    kfe_i_result_table *differences = kfe_i_result_add(facts, NULL, "differences", 0);
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t j = i + 1; j < c->count; j++)
            put_pair(c, i, j, differences);
cleanup:
    return status;
}

kfe_status kfe_i_comparison_result(kfe_context *ctx, const kfe_i_compared *compared, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_result *result = NULL;
    comparison c = {.ctx = ctx,
                    .count = compared->count,
                    .items = compared->assessments,
                    .failed_count = compared->failed_count,
                    .failed = compared->failed};

    *out = NULL;
    KFE_TRY(make_labels(&c));
    KFE_TRY(kfe_i_result_new(ctx, &result));
    result->bold = compared->bold;
    KFE_TRY(fill(&c, kfe_i_result_facts(result)));
    status = kfe_i_result_finish(result, out);
    result = NULL;
cleanup:
    kfe_result_free(result);
    for (int64_t i = 0; c.labels && i < c.count + c.failed_count; i++)
        kfe_i_free(ctx, c.labels[i]);
    kfe_i_free(ctx, c.labels);
    return status;
}

/* ---- text ---- */

/* A comparison that is written. */
typedef struct shown {
    const kfe_result *result;
    const kfe_table *methods, *failed, *splits;
    int width; /* of labels */
} shown;

static int widest_label(const kfe_table *table, int width)
{
    for (int64_t i = 0; table && i < table->rows; i++)
        width = (int)strlen(kfe_i_result_shown(table, "label", i)) > width
                    ? (int)strlen(kfe_i_result_shown(table, "label", i))
                    : width;
    return width;
}

static int64_t best_row(const shown *s, const char *metric)
{
    const kfe_i_metric direction = {.larger_is_better = kfe_i_larger_is_better(kfe_i_last_part(metric))};
    int64_t best = 0;

    for (int64_t i = 1; i < s->methods->rows; i++)
        if (kfe_i_is_better(&direction, kfe_i_read_estimate(s->methods, i, metric).mean,
                            kfe_i_read_estimate(s->methods, best, metric).mean))
            best = i;
    return best;
}

/* What the eye sees of UTF-8 text: bytes that are not continuations. */
static int columns_of(const char *text)
{
    int columns = 0;

    for (; *text; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

static kfe_status add_cell(const shown *s, const char *metric, int64_t row, kfe_i_text *text)
{
    static const char *const on[] = {"", "**", "\033[1m"};
    static const char *const off[] = {"", "**", "\033[0m"};
    kfe_status status = KFE_OK;
    kfe_i_bold bold = best_row(s, metric) == row ? s->result->bold : KFE_BOLD_NONE;
    kfe_i_text cell;
    char *value = NULL;

    kfe_i_text_init(&cell, text->ctx);
    kfe_i_put_estimate(&cell, kfe_i_read_estimate(s->methods, row, metric));
    KFE_TRY(kfe_i_text_take(&cell, &value));
    int marks = bold == KFE_BOLD_STARS ? 4 : 0;
    kfe_i_text_printf(text, "%*s%s%s%s", CELL - columns_of(value) - marks, "", on[bold], value, off[bold]);
cleanup:
    kfe_i_free(text->ctx, value);
    return status;
}

/* "; failed on 2 of 5 splits: REASON" after the row of a method. */
static void add_failed_splits(const shown *s, int64_t row, kfe_i_text *text)
{
    const char *first = NULL;
    int64_t failed = 0;
    int64_t splits = 0;

    int64_t begin = kfe_i_result_first(s->splits, row, &splits);
    for (int64_t i = begin; i < begin + splits; i++) {
        const char *reason = kfe_i_result_word(s->splits, "failed", i);
        failed += reason != NULL;
        first = first ? first : reason;
    }
    if (failed > 0)
        kfe_i_text_printf(text, "   failed on %lld of %lld splits: %s", (long long)failed, (long long)splits,
                          first);
}

static kfe_status add_table(const shown *s, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    const kfe_column *metric;

    kfe_i_text_printf(text, "%-*s", s->width, "method");
    for (int64_t m = 0; (metric = kfe_i_metric_column(s->splits, m)); m++)
        kfe_i_text_printf(text, "%*s", CELL, kfe_i_last_part(metric->name));
    kfe_i_text_printf(text, "%10s\n", "seconds");
    for (int64_t i = 0; i < s->methods->rows; i++) {
        kfe_i_text_printf(text, "%-*s", s->width, kfe_i_result_shown(s->methods, "label", i));
        for (int64_t m = 0; (metric = kfe_i_metric_column(s->splits, m)); m++)
            KFE_TRY(add_cell(s, metric->name, i, text));
        kfe_i_text_printf(text, "%10.2f", kfe_i_result_at(s->methods, "seconds", i));
        kfe_i_put_chosen(text, s->result, s->methods, i);
        add_failed_splits(s, i, text);
        kfe_i_text_puts(text, "\n");
    }
    for (int64_t i = 0; s->failed && i < s->failed->rows; i++) {
        kfe_i_text_printf(text, "%-*sfailed: %s\n", s->width, kfe_i_result_shown(s->failed, "label", i),
                          kfe_i_result_shown(s->failed, "reason", i));
    }
    kfe_i_text_puts(text, KFE_STANDARD_ERROR_NOTE "\n");
cleanup:
    return status;
}

static void add_probability(kfe_i_text *text, double p)
{
    if (isnan(p))
        kfe_i_text_printf(text, "%14s", "-");
    else
        kfe_i_text_printf(text, "%12.3g%s", p, p < KFE_SIGNIFICANCE ? " *" : "  ");
}

static void add_tests(const shown *s, kfe_i_text *text)
{
    const kfe_table *differences = kfe_result_find(s->result, "differences");
    const char *best = kfe_result_text(s->result, "best");
    const char *metric = kfe_result_text(s->result, "metric");
    double sign = 1;

    kfe_i_text_printf(text, "\ndifference from %s in %s over %lld splits; * is significant at %g\n",
                      best ? best : "", metric ? metric : "", (long long)(s->splits->rows / s->methods->rows),
                      KFE_SIGNIFICANCE);
    kfe_i_text_printf(text, "%-*s%12s%14s%14s\n", s->width, "", "difference", "p, paired", "p, corrected");
    for (int64_t i = 0; best && i < s->methods->rows; i++) {
        int64_t pair =
            kfe_i_difference_row(differences, kfe_i_result_shown(s->methods, "label", i), best, &sign);
        if (pair < 0)
            continue;
        kfe_i_text_printf(text, "%-*s%12.4g", s->width, kfe_i_result_shown(s->methods, "label", i),
                          sign * kfe_i_result_at(differences, "difference", pair) + 0.0); /* no -0 */
        add_probability(text, kfe_i_result_at(differences, "paired/p", pair));
        add_probability(text, kfe_i_result_at(differences, "corrected/p", pair));
        kfe_i_text_puts(text, "\n");
    }
}

kfe_status kfe_i_comparison_text(const kfe_result *result, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    shown s = {.result = result,
               .methods = kfe_result_find(result, "methods"),
               .failed = kfe_result_find(result, "failed"),
               .splits = kfe_result_find(result, "splits")};

    s.width = widest_label(s.failed, widest_label(s.methods, (int)strlen("method"))) + 2;
    if (!kfe_i_metric_column(s.splits, 0))
        return kfe_i_fail(text->ctx, KFE_EINPUT, "the results have no metrics");
    KFE_TRY(add_table(&s, text));
    for (int64_t i = 0; i < s.methods->rows; i++) {
        kfe_i_put_edges(text, kfe_i_result_shown(s.methods, "label", i), kfe_result_find(result, "edges"), i);
        kfe_i_put_permutations(text, kfe_i_result_shown(s.methods, "label", i), result, s.methods, i);
    }
    if (s.methods->rows > 1)
        add_tests(&s, text);
cleanup:
    return status;
}
