/* SPDX-License-Identifier: Apache-2.0 */
/* Every metric of the table: rows count by their weights like repeated rows, and rows of weight zero not at all. */
#include "support/fit.h"

#include <math.h>

#include "select/metric.h"

enum { ROWS = 24, CLASSES = 4, COLS = 2, MOST = 4 * ROWS };

/* One set of rows, for both tasks. */
typedef struct rows {
    int64_t count;
    int32_t truth[MOST], predicted[MOST];
    double scores[MOST * CLASSES], truth_values[MOST * COLS], predicted_values[MOST * COLS];
} rows;

static void add_row(const rows *from, int i, rows *to)
{
    int64_t at = to->count++;

    to->truth[at] = from->truth[i];
    to->predicted[at] = from->predicted[i];
    memcpy(to->scores + at * CLASSES, from->scores + (size_t)i * CLASSES, CLASSES * sizeof *to->scores);
    memcpy(to->truth_values + at * COLS, from->truth_values + (size_t)i * COLS,
           COLS * sizeof *to->truth_values);
    memcpy(to->predicted_values + at * COLS, from->predicted_values + (size_t)i * COLS,
           COLS * sizeof *to->predicted_values);
}

/* Row i has the weight i mod 4. The last class occurs with weight zero only, and so does variation of the second target. */
static void make_rows(rows *out, double *weights)
{
    double *noise = support_normals(6, ROWS * (CLASSES + 2 * COLS));

    *out = (rows){.count = ROWS};
    for (int i = 0; i < ROWS; i++) {
        const double *own = noise + (size_t)i * (CLASSES + 2 * COLS);
        weights[i] = i % 4;
        out->truth[i] = i % 4 == 0 ? CLASSES - 1 : i % (CLASSES - 1);
        for (int c = 0; c < CLASSES; c++)
            out->scores[i * CLASSES + c] = own[c] + (c == out->truth[i]);
        for (int c = 0; c < CLASSES; c++)
            out->predicted[i] = out->scores[i * CLASSES + c] > out->scores[i * CLASSES + out->predicted[i]]
                                    ? c
                                    : out->predicted[i];
        for (int c = 0; c < COLS; c++) {
            out->truth_values[i * COLS + c] = c == 1 && i % 4 ? 0.1 : own[CLASSES + c];
            out->predicted_values[i * COLS + c] = out->truth_values[i * COLS + c] + own[CLASSES + COLS + c];
        }
    }
    free(noise);
}

static double value_of(kfe_context *ctx, const kfe_i_metric *metric, const rows *r, const double *weights,
                       int64_t cols)
{
    double value = 0;
    kfe_i_outcome outcome = {.task = metric->task,
                             .rows = r->count,
                             .classes = CLASSES,
                             .positive = -1,
                             .truth = r->truth,
                             .predicted = r->predicted,
                             .scores = r->scores,
                             .one_vs_rest = 1,
                             .cols = cols,
                             .truth_values = r->truth_values,
                             .predicted_values = r->predicted_values,
                             .weights = weights};

    assert_ok(ctx, kfe_i_metric_measure(ctx, metric, &outcome, &value, NULL));
    return value;
}

/* The public calls, by hand: 1 + 2 of 6 are right, and the squared errors 1, 4 and 9 count 1, 2 and 3 times. */
static void test_public_calls(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t truth[] = {0, 1, 1};
    static const int32_t predicted[] = {0, 1, 0};
    static const double weights[] = {1, 2, 3};
    static const double none[] = {0, 0, 0};
    static const double values[] = {1, 2, 3};
    kfe_judged classes = {.size = sizeof classes, .rows = 3, .classes = 2, .positive = 1};
    kfe_judged real = {
        .size = sizeof real, .rows = 3, .cols = 1, .true_values = values, .predicted_values = none};
    double out = 0;

    classes.truth = truth;
    classes.predicted = predicted;
    classes.weights = real.weights = weights;
    assert_ok(ctx, kfe_metric_compute(ctx, "accuracy", &classes, &out));
    assert_below(fabs(out - 0.5), 1e-15);
    assert_ok(ctx, kfe_metric_compute(ctx, "rmse", &real, &out));
    assert_below(fabs(out - 6 / sqrt(6)), 1e-15);
    classes.weights = real.weights = none;
    assert_fails(ctx, KFE_EINPUT, "all weights are zero",
                 kfe_metric_compute(ctx, "accuracy", &classes, &out));
    assert_fails(ctx, KFE_EINPUT, "all weights are zero", kfe_metric_compute(ctx, "rmse", &real, &out));
}

static void test_weights_count_like_repeated_rows(void **state)
{
    kfe_context *ctx = *state;
    const kfe_i_metric *metric;
    double weights[ROWS];
    rows plain;
    rows repeated = {0};
    int compared = 0;

    make_rows(&plain, weights);
    for (int i = 0; i < ROWS; i++)
        for (int copy = 0; copy < (int)weights[i]; copy++)
            add_row(&plain, i, &repeated);
    for (int m = 0; (metric = kfe_i_metric_at(m)) != NULL; m++) {
        double got = value_of(ctx, metric, &plain, weights, COLS);
        double expected = value_of(ctx, metric, &repeated, NULL, COLS);
        double unweighted = value_of(ctx, metric, &plain, NULL, COLS);
        if (isnan(got) != isnan(expected) || fabs(got - expected) > 1e-12 * (1 + fabs(expected)))
            fail_msg("%s: %.17g with weights, %.17g with repeated rows", metric->name, got, expected);
        if (fabs(got - unweighted) < 1e-6)
            fail_msg("%s does not depend on the weights: %g", metric->name, got);
        compared += !isnan(got);
    }
    assert_true(compared >= 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_weights_count_like_repeated_rows),
        with_context(test_public_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
