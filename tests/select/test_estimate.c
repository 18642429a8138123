/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors: influences against numerical derivatives, and the error over splits against its formulas. */
#include "support/fit.h"

#include <math.h>
#include <string.h>

#include "select/estimate.h"
#include "support/sweep.h"

enum { ROWS = 40, CLASSES = 3, COLS = 2 };

typedef struct sample {
    int32_t truth[ROWS], predicted[ROWS];
    double scores[ROWS * CLASSES], weights[ROWS];
    double real[ROWS * COLS], fitted[ROWS * COLS];
} sample;

/* Fixed numbers without a pattern. */
static double noise(int i)
{
    double x = sin(12.9898 * (i + 1)) * 43758.5453;
    return x - floor(x);
}

static kfe_i_outcome make_outcome(sample *s, kfe_task task, int weighted)
{
    for (int i = 0; i < ROWS; i++) {
        s->truth[i] = i % CLASSES;
        s->predicted[i] = noise(i) < 0.7 ? s->truth[i] : (i + 1) % CLASSES;
        s->weights[i] = weighted ? 0.5 + noise(1000 + i) : 1;
        for (int g = 0; g < CLASSES; g++)
            s->scores[i * CLASSES + g] = 2 * noise(100 + i * CLASSES + g) - 1 + (g == s->predicted[i]);
        for (int j = 0; j < COLS; j++) {
            s->real[i * COLS + j] = noise(300 + i * COLS + j);
            s->fitted[i * COLS + j] = s->real[i * COLS + j] + noise(500 + i * COLS + j) - 0.5;
        }
    }
    return (kfe_i_outcome){.task = task,
                           .rows = ROWS,
                           .classes = CLASSES,
                           .positive = -1,
                           .truth = s->truth,
                           .predicted = s->predicted,
                           .scores = s->scores,
                           .one_vs_rest = 1,
                           .cols = COLS,
                           .truth_values = s->real,
                           .predicted_values = s->fitted,
                           .weights = s->weights};
}

/* With W = Σ w, the derivative of the value by w_i is ψ_i/W. */
static double derivative(kfe_context *ctx, const kfe_i_metric *metric, sample *s,
                         const kfe_i_outcome *outcome, int row)
{
    const double step = 1e-5;
    double value[2];
    double weight = s->weights[row];

    for (int side = 0; side < 2; side++) {
        s->weights[row] = weight + (side ? step : -step);
        assert_ok(ctx, kfe_i_metric_measure(ctx, metric, outcome, &value[side], NULL));
    }
    s->weights[row] = weight;
    return (value[1] - value[0]) / (2 * step);
}

/* variance = n Σ (w_i times the derivative of the value by w_i)² */
static void check_variance(kfe_context *ctx, const kfe_i_metric *metric, sample *s,
                           const kfe_i_outcome *outcome, double variance)
{
    double sum = 0;

    for (int i = 0; i < ROWS; i++)
        sum += pow(s->weights[i] * derivative(ctx, metric, s, outcome, i), 2);
    assert_below(fabs(variance - ROWS * sum), 1e-7 * (1 + variance));
}

static void test_variances_are_of_derivatives(void **state)
{
    kfe_context *ctx = *state;
    const kfe_i_metric *metric;
    int known = 0;

    for (int m = 0; (metric = kfe_i_metric_at(m)); m++) {
        sample s;
        kfe_i_outcome outcome = make_outcome(&s, metric->task, 1);
        double value = 0;
        double variance = 0;
        assert_ok(ctx, kfe_i_metric_measure(ctx, metric, &outcome, &value, &variance));
        if (isnan(variance))
            continue;
        known++;
        check_variance(ctx, metric, &s, &outcome, variance);
        for (int heavy = 0; heavy < ROWS;
             heavy++) { /* the derivative by each row is what the variance is made of */
            double weight = s.weights[heavy];
            s.weights[heavy] = 100 * weight;
            assert_ok(ctx, kfe_i_metric_measure(ctx, metric, &outcome, &value, &variance));
            check_variance(ctx, metric, &s, &outcome, variance);
            s.weights[heavy] = weight;
        }
    }
    assert_int_equal(known, 9);
}

static void test_binomial(void **state)
{
    kfe_context *ctx = *state;
    sample s;
    kfe_i_outcome outcome = make_outcome(&s, KFE_TASK_CLASSES, 0);
    const kfe_i_metric *accuracy = kfe_i_metric_at(0);
    double p = 0;
    double variance = 0;

    assert_ok(ctx, kfe_i_metric_measure(ctx, accuracy, &outcome, &p, &variance));
    assert_below(fabs(variance - p * (1 - p)), 1e-14);
}

/* Two folds of three and two rows, and the same rows once more. */
static kfe_i_splits make_splits(kfe_context *ctx)
{
    static int64_t rows[] = {0, 1, 2, 3, 4};
    static kfe_i_split items[] = {{.train = rows + 3, .test = rows, .train_count = 2, .test_count = 3},
                                  {.train = rows, .test = rows + 3, .train_count = 3, .test_count = 2},
                                  {.train = rows + 3, .test = rows, .train_count = 2, .test_count = 3},
                                  {.train = rows, .test = rows + 3, .train_count = 3, .test_count = 2}};
    return (kfe_i_splits){.ctx = ctx, .items = items, .count = 4};
}

static void test_larger_of_two(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_splits splits = make_splits(ctx);
    kfe_i_extent extent;
    const double apart[] = {1, 0.5, 1, 0.5};
    const double variances[] = {0, 0.25, 0, 0.25};
    const double alike[] = {0.5, 0.5, 0.5, 0.5};
    const double quarter[] = {0.25, 0.25, 0.25, 0.25};
    const double unknown[] = {NAN, NAN, NAN, NAN};

    assert_ok(ctx, kfe_i_extent_of(ctx, &splits, &extent));
    assert_true(extent.rows == 5); /* not 10: repeats see the same rows */
    kfe_i_estimate one = kfe_i_estimate_over(&extent, apart, variances, 1);
    double sd = sqrt(4 * 0.25 * 0.25 / 3);
    assert_below(fabs(one.mean - 0.75), 1e-15);
    assert_below(fabs(one.sd - sd), 1e-15);
    assert_below(fabs(one.error - sd * sqrt(1.0 / 4 + 1)), 1e-15);
    assert_true(one.error > sqrt(0.8 * 0.2 / 5)); /* 4 of 5 rows are right */
    kfe_i_estimate other = kfe_i_estimate_over(&extent, alike, quarter, 1);
    assert_true(other.sd == 0);
    assert_below(fabs(other.error - sqrt(0.25 / 5)), 1e-15);
    assert_true(kfe_i_estimate_over(&extent, apart, unknown, 1).error == one.error);
}

/* v and the spread of the splits' means make p(1 − p) of all rows. */
static void test_rows_of_unequal_splits(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_splits splits = make_splits(ctx);
    kfe_i_extent extent;
    const double values[] = {2.0 / 3, 1.0 / 2};
    const double variances[] = {2.0 / 9, 1.0 / 4};

    splits.count = 2;
    assert_ok(ctx, kfe_i_extent_of(ctx, &splits, &extent));
    extent.test_share = -0.5; /* makes the corrected one zero */
    assert_below(fabs(kfe_i_estimate_over(&extent, values, variances, 1).error - sqrt(0.6 * 0.4 / 5)), 1e-15);
}

static void test_one_split(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_splits splits = make_splits(ctx);
    kfe_i_extent extent;
    const double value = 0.5;
    const double variance = 0.25;
    const double unknown = NAN;

    splits.count = 1;
    assert_ok(ctx, kfe_i_extent_of(ctx, &splits, &extent));
    kfe_i_estimate one = kfe_i_estimate_over(&extent, &value, &variance, 1);
    assert_true(isnan(one.sd));
    assert_below(fabs(one.error - sqrt(0.25 / 3)), 1e-15);
    assert_true(isnan(kfe_i_estimate_over(&extent, &value, &unknown, 1).error));
    assert_true(isnan(kfe_i_estimate_over(&extent, &unknown, &unknown, 1).mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_variances_are_of_derivatives),
        with_context(test_binomial),
        with_context(test_larger_of_two),
        with_context(test_rows_of_unequal_splits),
        with_context(test_one_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
