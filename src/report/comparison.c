/* SPDX-License-Identifier: Apache-2.0 */
/* Several assessments on the same splits: one table, the best in bold, and which differences are significant.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "report/scores.h"

/* Two-sided; below it a difference is called significant. */
#define KFE_SIGNIFICANCE 0.05

enum { CELL = 20 };

typedef struct comparison {
    kfe_context *ctx;
    int64_t count; /* specs that were assessed */
    const kfe_i_assessment *items;
    int64_t failed_count;
    const kfe_i_failed_spec *failed;
    kfe_i_bold bold;
    char **labels; /* of those assessed, then of those that failed */
    int width;     /* of labels */
    int64_t best;
} comparison;

static double mean_of(const kfe_i_assessment *a, int64_t metric)
{
    return kfe_i_assessment_estimate(a, metric).mean;
}

static int64_t best_in(const comparison *c, int64_t metric)
{
    int64_t best = 0;

    for (int64_t i = 1; i < c->count; i++) {
        double mean = mean_of(&c->items[i], metric);
        double than = mean_of(&c->items[best], metric);
        if (kfe_i_is_better(c->items[0].metrics[metric], mean, than))
            best = i;
    }
    return best;
}

/* First metric of each split, as the tests want it. */
static kfe_status column_of(const comparison *c, int64_t i, double **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_assessment *a = &c->items[i];

    KFE_ALLOC(c->ctx, *out, a->splits.count);
    for (int64_t s = 0; s < a->splits.count; s++)
        (*out)[s] = a->values[s * a->metric_count];
cleanup:
    return status;
}

/* Drops the splits on which one of the two failed or has no value; returns how many are left. */
static int64_t keep_pairs(int64_t count, double *a, double *b)
{
    int64_t kept = 0;

    for (int64_t s = 0; s < count; s++) {
        if (isnan(a[s]) || isnan(b[s]))
            continue;
        a[kept] = a[s];
        b[kept++] = b[s];
    }
    return kept;
}

static kfe_status test_pair(const comparison *c, int64_t i, int64_t j, kfe_i_test_result *plain,
                            kfe_i_test_result *corrected)
{
    kfe_status status = KFE_OK;
    double *a = NULL;
    double *b = NULL;

    KFE_TRY(column_of(c, i, &a));
    KFE_TRY(column_of(c, j, &b));
    int64_t n = keep_pairs(c->items[0].splits.count, a, b);
    *plain = kfe_i_paired_t(n, a, b);
    *corrected = kfe_i_corrected_t(n, a, b, kfe_i_test_share(&c->items[0].splits));
cleanup:
    kfe_i_free(c->ctx, a);
    kfe_i_free(c->ctx, b);
    return status;
}

/* ---- text ---- */

/* What the eye sees of UTF-8 text: bytes that are not continuations. */
static int columns_of(const char *text)
{
    int columns = 0;

    for (; *text; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

static kfe_status add_cell(const comparison *c, kfe_i_text *text, int64_t i, int64_t metric)
{
    static const char *const on[] = {"", "**", "\033[1m"};
    static const char *const off[] = {"", "**", "\033[0m"};
    kfe_status status = KFE_OK;
    int bold = best_in(c, metric) == i ? (int)c->bold : KFE_BOLD_NONE;
    kfe_i_text cell;
    char *value = NULL;

    kfe_i_text_init(&cell, c->ctx);
    kfe_i_put_estimate(&cell, kfe_i_assessment_estimate(&c->items[i], metric));
    KFE_TRY(kfe_i_text_take(&cell, &value));
    int marks = bold == KFE_BOLD_STARS ? 4 : 0;
    kfe_i_text_printf(text, "%*s%s%s%s", CELL - columns_of(value) - marks, "", on[bold], value, off[bold]);
cleanup:
    kfe_i_free(c->ctx, value);
    return status;
}

/* "; failed on 2 of 5 splits: REASON" after the row of a method. */
static void add_failed_splits(const kfe_i_assessment *a, kfe_i_text *text)
{
    const char *first = NULL;
    int64_t failed = 0;

    for (int64_t s = 0; s < a->splits.count; s++) {
        const char *reason = kfe_i_assessment_reason(a, s);
        failed += reason != NULL;
        if (!first)
            first = reason;
    }
    if (failed > 0)
        kfe_i_text_printf(text, "   failed on %lld of %lld splits: %s", (long long)failed,
                          (long long)a->splits.count, first);
}

static kfe_status add_table(const comparison *c, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    const kfe_i_assessment *first = &c->items[0];

    kfe_i_text_printf(text, "%-*s", c->width, "method");
    for (int64_t m = 0; m < first->metric_count; m++)
        kfe_i_text_printf(text, "%*s", CELL, first->metrics[m]->name);
    kfe_i_text_printf(text, "%10s\n", "seconds");
    for (int64_t i = 0; i < c->count; i++) {
        kfe_i_text_printf(text, "%-*s", c->width, c->labels[i]);
        for (int64_t m = 0; m < first->metric_count; m++)
            KFE_TRY(add_cell(c, text, i, m));
        kfe_i_text_printf(text, "%10.2f", c->items[i].seconds);
        if (c->items[i].tuning) {
            kfe_i_text_puts(text, "   ");
            kfe_i_grid_describe(&c->items[i].grid, c->items[i].best, text);
        }
        add_failed_splits(&c->items[i], text);
        kfe_i_text_puts(text, "\n");
    }
    for (int64_t i = 0; i < c->failed_count; i++)
        kfe_i_text_printf(text, "%-*sfailed: %s\n", c->width, c->labels[c->count + i], c->failed[i].reason);
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

static kfe_status add_tests(const comparison *c, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    kfe_i_test_result plain;
    kfe_i_test_result corrected;

    kfe_i_text_printf(text, "\ndifference from %s in %s over %lld splits; * is significant at %g\n",
                      c->labels[c->best], c->items[0].metrics[0]->name, (long long)c->items[0].splits.count,
                      KFE_SIGNIFICANCE);
    kfe_i_text_printf(text, "%-*s%12s%14s%14s\n", c->width, "", "difference", "p, paired", "p, corrected");
    for (int64_t i = 0; i < c->count; i++) {
        if (i == c->best)
            continue;
        KFE_TRY(test_pair(c, i, c->best, &plain, &corrected));
        kfe_i_text_printf(text, "%-*s%12.4g", c->width, c->labels[i], plain.mean_difference);
        add_probability(text, plain.p);
        add_probability(text, corrected.p);
        kfe_i_text_puts(text, "\n");
    }
cleanup:
    return status;
}

static kfe_status as_text(const comparison *c, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_text text;

    kfe_i_text_init(&text, c->ctx);
    KFE_TRY(add_table(c, &text));
    for (int64_t i = 0; i < c->count; i++) {
        if (c->items[i].tuning)
            kfe_i_put_edges(&text, c->labels[i], &c->items[i]);
        kfe_i_put_permutations(&text, c->labels[i], &c->items[i]);
    }
    if (c->count > 1)
        KFE_TRY(add_tests(c, &text));
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    return status;
}

/* ---- JSON ---- */

static void write_result(kfe_i_json *json, const char *key, const kfe_i_test_result *result)
{
    kfe_i_json_object(json, key);
    kfe_i_json_real(json, "t", result->statistic);
    kfe_i_json_real(json, "p", result->p);
    kfe_i_json_boolean(json, "significant", result->p < KFE_SIGNIFICANCE);
    kfe_i_json_end(json);
}

static kfe_status write_pair(const comparison *c, int64_t i, int64_t j, kfe_i_json *json)
{
    kfe_status status = KFE_OK;
    kfe_i_test_result plain;
    kfe_i_test_result corrected;

    KFE_TRY(test_pair(c, i, j, &plain, &corrected));
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "a", c->labels[i]);
    kfe_i_json_text(json, "b", c->labels[j]);
    kfe_i_json_real(json, "difference", plain.mean_difference);
    write_result(json, "paired", &plain);
    write_result(json, "corrected", &corrected);
    kfe_i_json_end(json);
cleanup:
    return status;
}

static kfe_status as_json(const comparison *c, char **out)
{
    kfe_status status = KFE_OK;
    kfe_i_json json;

    kfe_i_json_init(&json, c->ctx, 1);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_text(&json, "metric", c->items[0].metrics[0]->name);
    kfe_i_json_text(&json, "best", c->labels[c->best]);
    kfe_i_json_array(&json, "methods");
    for (int64_t i = 0; i < c->count; i++)
        KFE_TRY(kfe_i_assessment_json(c->ctx, &c->items[i], c->labels[i], &json));
    kfe_i_json_end(&json);
    kfe_i_json_array(&json, "failed");
    for (int64_t i = 0; i < c->failed_count; i++) {
        kfe_i_json_object(&json, NULL);
        kfe_i_json_text(&json, "label", c->labels[c->count + i]);
        kfe_i_json_text(&json, "method", c->failed[i].spec->method->name);
        kfe_i_json_text(&json, "reason", c->failed[i].reason);
        kfe_i_json_end(&json);
    }
    kfe_i_json_end(&json);
    kfe_i_json_array(&json, "differences");
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t j = i + 1; j < c->count; j++)
            KFE_TRY(write_pair(c, i, j, &json));
    kfe_i_json_end(&json);
    kfe_i_json_end(&json);
    KFE_TRY(kfe_i_json_finish(&json, out));
cleanup:
    kfe_i_json_free(&json);
    return status;
}

/* ---- both ---- */

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
    c->width = (int)strlen("method");
    for (int64_t i = 0; i < all; i++)
        c->width = (int)strlen(c->labels[i]) > c->width ? (int)strlen(c->labels[i]) : c->width;
    c->width += 2;
cleanup:
    return status;
}

kfe_status kfe_i_report_comparison(kfe_context *ctx, const kfe_i_compared *compared, kfe_style style,
                                   char **out)
{
    kfe_status status = KFE_OK;
    char *text = NULL;
    char *json = NULL;
    comparison c = {.ctx = ctx,
                    .count = compared->count,
                    .items = compared->assessments,
                    .failed_count = compared->failed_count,
                    .failed = compared->failed,
                    .bold = compared->bold};

    *out = NULL;
    KFE_TRY(make_labels(&c));
    c.best = best_in(&c, 0);
    if (style != KFE_STYLE_TEXT)
        KFE_TRY(as_json(&c, &json));
    if (style != KFE_STYLE_JSON)
        KFE_TRY(as_text(&c, &text));
    KFE_TRY(kfe_i_join_styles(ctx, text, json, out));
    json = NULL;
cleanup:
    kfe_i_free(ctx, json);
    for (int64_t i = 0; c.labels && i < c.count + c.failed_count; i++)
        kfe_i_free(ctx, c.labels[i]);
    kfe_i_free(ctx, c.labels);
    return status;
}
