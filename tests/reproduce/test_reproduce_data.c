/* SPDX-License-Identifier: Apache-2.0 */
/* How a row of a plan prepares its data. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "reproduce/src/data.h"
#include "support/plan.h"
#include "support/tolerance.h"

static kfe_data *data_of_row(kfe_context *ctx, const char *row)
{
    char text[1000];
    rep_plan plan;
    kfe_data *data = NULL;
    const rep_use use = {.folder = ""};

    snprintf(text, sizeof text, "{" HEAD ", \"columns\": [{\"name\": \"P\"}], \"rows\": [%s]}", row);
    assert_ok(ctx, rep_plan_parse(ctx, "d.json", text, strlen(text), &plan));
    assert_ok(ctx, rep_row_data(&plan, json_array_get(plan.rows, 0), &use, &data));
    rep_plan_close(&plan);
    return data;
}

/* iris contains its three classes of 50 rows one after the other. */
static void test_rows_are_the_first(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"rows\": 60}");

    assert_int_equal(kfe_data_rows(data), 60);
    assert_int_equal(kfe_data_classes(data), 2);
    kfe_data_free(data);
    data = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"every\": 60}");
    assert_int_equal(kfe_data_rows(data), 3); /* rows 0, 60 and 120: one of each class */
    assert_int_equal(kfe_data_classes(data), 3);
    kfe_data_free(data);
    data = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"rows\": 600}");
    assert_int_equal(kfe_data_rows(data), 150);
    kfe_data_free(data);
}

static int is_the_same_row(kfe_context *ctx, const kfe_data *a, int64_t i, const kfe_data *b, int64_t j)
{
    double row[2][4];

    assert_ok(ctx, kfe_data_row(ctx, a, 0, i, row[0]));
    assert_ok(ctx, kfe_data_row(ctx, b, 0, j, row[1]));
    return memcmp(row[0], row[1], sizeof row[0]) == 0 && kfe_data_class_of(a, i) == kfe_data_class_of(b, j);
}

static void test_classes_are_joined(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data =
        data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"classes\": {\"others\": "
                         "[\"virginica\", \"setosa\"], \"v\": [\"versicolor\"]}, \"every\": 10}");

    assert_int_equal(kfe_data_rows(data), 15);
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 0), "others");
    for (int64_t i = 0; i < 15; i++)
        assert_int_equal(kfe_data_class_of(data, i), i >= 5 && i < 10);
    kfe_data_free(data);
}

static void test_a_class_in_no_list(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"columns\": [{\"name\": \"P\"}], \"rows\": [{\"name\": \"I\", \"generate\": "
        "\"iris\", \"classes\": {\"v\": [\"versicolor\"]}}]}";
    const rep_use use = {.folder = ""};
    rep_plan plan;
    kfe_data *data = NULL;

    assert_ok(ctx, rep_plan_parse(ctx, "d.json", text, strlen(text), &plan));
    assert_fails(ctx, KFE_EINPUT, "no list with class 'setosa'",
                 rep_row_data(&plan, json_array_get(plan.rows, 0), &use, &data));
    rep_plan_close(&plan);
}

/* The requested number of each class: distinct rows in their order; the seed determines which. */
static void test_classes_are_sampled(void **state)
{
    kfe_context *ctx = *state;
    static const char row[] = "{\"name\": \"I\", \"generate\": \"iris\", \"per-class\": 20}";
    kfe_data *iris = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\"}");
    kfe_data *data = data_of_row(ctx, row);
    int64_t counts[3] = {0};
    int64_t at = 0;
    int64_t same = 0;

    assert_int_equal(kfe_data_rows(data), 60);
    for (int64_t i = 0; i < 60; i++) {
        while (at < 150 && !is_the_same_row(ctx, data, i, iris, at))
            at++;
        assert_true(at++ < 150);
        counts[kfe_data_class_of(data, i)]++;
    }
    for (int g = 0; g < 3; g++)
        assert_int_equal(counts[g], 20);
    kfe_data *again = data_of_row(ctx, row);
    kfe_context_set_seed(ctx, kfe_context_seed(ctx) + 1);
    kfe_data *other = data_of_row(ctx, row);
    for (int64_t i = 0; i < 60; i++) {
        assert_true(is_the_same_row(ctx, data, i, again, i));
        same += is_the_same_row(ctx, data, i, other, i);
    }
    assert_true(same < 60);
    kfe_data_free(other);
    kfe_data_free(again);
    kfe_data_free(data);
    kfe_data_free(iris);
}

/* A class with fewer rows than requested is kept whole; all rows of a class are equally likely. */
static void test_samples_are_fair(void **state)
{
    kfe_context *ctx = *state;
    enum { DRAWS = 400, ASKED = 10 };
    kfe_data *iris = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"rows\": 55}");
    int taken[50] = {0};

    for (int draw = 0; draw < DRAWS; draw++) {
        kfe_context_set_seed(ctx, (uint64_t)draw);
        kfe_data *data =
            data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"per-class\": 10, \"rows\": 10}");
        int64_t at = 0;
        for (int64_t i = 0; i < ASKED; i++) {
            while (!is_the_same_row(ctx, data, i, iris, at))
                at++;
            taken[at++]++;
        }
        kfe_data_free(data);
    }
    for (int i = 0; i < 50; i++) /* binomial with mean 80 and standard deviation 8; iris repeats some rows */
        assert_true(taken[i] > 40 && taken[i] < 120);
    kfe_data_free(iris);
    iris = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"per-class\": 70}");
    assert_int_equal(kfe_data_rows(iris), 150);
    kfe_data_free(iris);
}

/* Images of 2 × 2 pixels have features beyond the four pixels; the target does not change. */
static void test_images_become_rectangle_features(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *iris = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\"}");
    kfe_data *data =
        data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"transform\": \"viola-jones 2x2\"}");
    kfe_data *expected = NULL;
    double row[2][64];

    assert_ok(ctx, kfe_data_viola_jones(ctx, iris, 2, 2, &expected));
    assert_int_equal(kfe_data_cols(data, 0), kfe_data_cols(expected, 0));
    assert_true(kfe_data_cols(data, 0) < 64);
    assert_ok(ctx, kfe_data_row(ctx, data, 0, 7, row[0]));
    assert_ok(ctx, kfe_data_row(ctx, expected, 0, 7, row[1]));
    assert_memory_equal(row[0], row[1], (size_t)kfe_data_cols(data, 0) * sizeof **row);
    assert_int_equal(kfe_data_classes(data), 3);
    kfe_data_free(expected);
    kfe_data_free(data);
    kfe_data_free(iris);
}

static void test_targets_are_scaled(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data =
        data_of_row(ctx, "{\"name\": \"R\", \"generate\": \"sma-cost\", \"options\": {\"n\": 30, "
                         "\"features\": 60}, \"target-scale\": \"unit-norm\"}");
    kfe_data *plain = NULL;

    assert_ok(ctx, kfe_data_generate(ctx, "sma-cost", "n=30,features=60", &plain));
    int64_t cols = 0;
    const double *scaled = kfe_data_targets(data, &cols);
    const double *raw = kfe_data_targets(plain, &cols);
    double sum = 0;
    double squares = 0;

    for (int64_t i = 0; i < 30; i++) {
        sum += scaled[i];
        squares += scaled[i] * scaled[i];
        assert_below(
            fabs((scaled[i] - scaled[0]) * (raw[1] - raw[0]) - (scaled[1] - scaled[0]) * (raw[i] - raw[0])),
            1e-12);
    }
    assert_below(fabs(sum), tolerance_sum(30, 1));
    assert_below(fabs(squares - 1), tolerance_sum(30, 1));
    kfe_data_free(plain);
    kfe_data_free(data);
}

/* Over all rows, every column has mean 0 and norm 1; labels do not change. */
static void test_columns_are_scaled(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data =
        data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"column-scale\": \"unit-norm\"}");
    double sums[4] = {0};
    double squares[4] = {0};

    for (int64_t i = 0; i < 150; i++) {
        double row[4];
        assert_ok(ctx, kfe_data_row(ctx, data, 0, i, row));
        assert_int_equal(kfe_data_class_of(data, i), i / 50);
        for (int j = 0; j < 4; j++) {
            sums[j] += row[j];
            squares[j] += row[j] * row[j];
        }
    }
    for (int j = 0; j < 4; j++) {
        assert_below(fabs(sums[j]), 1e-12); /* 150 values, each off by the rounding error of the mean */
        assert_below(fabs(squares[j] - 1), tolerance_sum(150, 1));
    }
    kfe_data_free(data);
}

static void test_samples_need_classes(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"columns\": [{\"name\": \"P\"}], \"rows\": [{\"name\": \"R\", \"generate\": "
        "\"sma-cost\", \"options\": {\"n\": 30, \"features\": 60}, \"per-class\": 3}]}";
    const rep_use use = {.folder = ""};
    rep_plan plan;
    kfe_data *data = NULL;

    assert_ok(ctx, rep_plan_parse(ctx, "d.json", text, strlen(text), &plan));
    assert_fails(ctx, KFE_EINPUT, "data with classes",
                 rep_row_data(&plan, json_array_get(plan.rows, 0), &use, &data));
    assert_null(data);
    rep_plan_close(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_rows_are_the_first),   with_context(test_classes_are_sampled),
        with_context(test_samples_are_fair),     with_context(test_images_become_rectangle_features),
        with_context(test_targets_are_scaled),   with_context(test_columns_are_scaled),
        with_context(test_samples_need_classes), with_context(test_classes_are_joined),
        with_context(test_a_class_in_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
