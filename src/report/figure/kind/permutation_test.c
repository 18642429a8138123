/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `permutation-test`: a histogram of the metric with permuted targets, and the value observed; of a comparison, those of its best
 * method. */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"
#include "text/read.h"

enum { LEAST_BINS = 5, MOST_BINS = 30 };

/* What a search found with permuted targets. */
typedef struct test {
    const double *values; /* of the permutations */
    int64_t count;
    double observed, p;
    const char *metric;
} test;

static int read_test(const kfe_result *results, test *out)
{
    const kfe_table *values = kfe_result_find(results, "permutations/values");
    const kfe_table *methods = kfe_result_find(results, "methods");
    const kfe_table *table = methods ? methods : kfe_result_find(results, "facts");
    const kfe_column *column = values ? kfe_table_column(values, 0) : NULL;
    const kfe_column *metric = kfe_i_metric_column(kfe_result_find(results, "splits"), 0);
    int64_t row = kfe_i_best_assessment(results);
    int64_t first = kfe_i_result_first(values, row, &out->count);

    if (!column || !column->numbers || !metric || row < 0 || out->count < 2)
        return 0;
    out->values = column->numbers + first;
    out->metric = kfe_i_last_part(metric->name);
    out->observed = kfe_i_read_estimate(table, row, metric->name).mean;
    out->p = kfe_i_result_at(table, "permutations/p", row);
    return isfinite(out->observed);
}

/* Equal bins over the permuted values. */
typedef struct bins {
    double low, width;
    int64_t count;
    double heights[MOST_BINS];
} bins;

static bins count_bins(const test *t)
{
    bins b = {.low = INFINITY};
    double high = -INFINITY;
    double roots = ceil(sqrt((double)t->count));

    for (int64_t i = 0; i < t->count; i++) {
        b.low = isfinite(t->values[i]) ? fmin(b.low, t->values[i]) : b.low;
        high = isfinite(t->values[i]) ? fmax(high, t->values[i]) : high;
    }
    b.count = roots < LEAST_BINS ? LEAST_BINS : roots > MOST_BINS ? MOST_BINS : (int64_t)roots;
    if (!(high > b.low)) /* all alike: one bin around them */
        b.count = 1;
    b.width = high > b.low ? (high - b.low) / (double)b.count : fmax(fabs(b.low) / 100, 1e-6);
    b.low -= high > b.low ? 0 : b.width / 2;
    for (int64_t i = 0; i < t->count; i++) {
        int64_t bin = isfinite(t->values[i]) ? (int64_t)((t->values[i] - b.low) / b.width) : -1;
        if (bin >= 0)
            b.heights[bin < b.count ? bin : b.count - 1]++;
    }
    return b;
}

/* The outline of the histogram, then the line of the observed value. */
static void fill(const bins *b, double observed, double *x, double *y)
{
    double most = 0;
    int64_t at = 1;

    x[0] = b->low;
    y[0] = 0;
    for (int64_t k = 0; k < b->count; k++)
        for (int side = 0; side < 2; side++) {
            x[at] = b->low + (double)(k + side) * b->width;
            y[at++] = b->heights[k];
            most = fmax(most, b->heights[k]);
        }
    x[at] = b->low + (double)b->count * b->width;
    y[at++] = 0;
    x[at] = x[at + 1] = observed;
    y[at] = 0;
    y[at + 1] = most;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    static const char *const whats[] = {"permuted", "observed"};
    kfe_status status = KFE_OK;
    test t = {0};
    int32_t *of = NULL;
    double *x = NULL;
    double *y = NULL;

    (void)ctx;
    if (!source->results || !read_test(source->results, &t))
        return KFE_OK;
    const bins b = count_bins(&t);
    int64_t outline = 2 * b.count + 2;
    out->rows = outline + 2;
    KFE_TRY(kfe_i_figure_words(out, "what", 2, whats, NULL, &of));
    KFE_TRY(kfe_i_figure_numbers(out, t.metric, NULL, &x));
    KFE_TRY(kfe_i_figure_numbers(out, "permutations", NULL, &y));
    of[outline] = of[outline + 1] = 1;
    fill(&b, t.observed, x, y);
    KFE_TRY(kfe_i_figure_panel(out, NULL, t.metric, "permutations"));
    KFE_TRY(kfe_i_figure_series(out, "permuted labels",
                                (kfe_i_series){.mark = KFE_MARK_LINE, .count = outline, .x = 2, .y = 3}));
    KFE_TRY(kfe_i_figure_series(out, "observed",
                                (kfe_i_series){.mark = KFE_MARK_LINE,
                                               .flags = KFE_SERIES_DASHED,
                                               .style = 1,
                                               .first = outline,
                                               .count = 2,
                                               .x = 2,
                                               .y = 3}));
    kfe_i_text_printf(
        &out->caption,
        "How often %s came out where with permuted labels, in %lld permutations; the dashed line "
        "is the value observed, %.4g. p %.3g: how likely permuted labels are to do as well.",
        t.metric, (long long)t.count, t.observed, t.p);
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_permutation_test = {
    .name = "permutation-test",
    .title = "Permutation test",
    .section = "Quality",
    .summary = "a histogram of the metric with permuted labels, with the value observed",
    .needs = "the JSON of cv or compare with permutations",
    .draw = draw,
};
