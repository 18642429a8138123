/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, against the records of models fitted directly and by hand, and times of fits. */
#include "support/fit.h"

#include <math.h>

#include "support/plan.h"
#include "support/tolerance.h"

static kfe_data *make_regression(kfe_context *ctx)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_generate(ctx, "sma-cost", "n=30,features=60", &data));
    return data;
}

/* One fit on all rows; past the last feature there is nothing. */
static void test_path_shows_records(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] = PATH "[{" SMC ", \"record\": \"covariance / kernel_evaluations\"}, "
                                    "{\"name\": \"X\", \"method\": \"smc\", \"kernel\": \"linear\", "
                                    "\"record\": \"no-such\"}], \"rows\": [" REAL "]}";
    kfe_data *data = make_regression(ctx);
    kfe_model *model = support_fit(ctx, "smc", "dim=5", "linear", data);
    int64_t count = 0;
    const double *covariance = kfe_model_record(model, "covariance", &count);
    json_t *report = support_reproduce(ctx, text, NULL);

    assert_int_equal(count, 5);
    assert_true(support_result_number(support_result(report, 0), "ours") == covariance[0]);
    assert_string_equal(json_string_value(json_object_get(support_result(report, 0), "metric")),
                        "covariance / kernel_evaluations");
    assert_below(fabs(support_result_number(support_result(report, 2), "ours") - covariance[2] / 3), 1e-15);
    assert_true(json_is_null(json_object_get(support_result(report, 4), "ours")));
    assert_non_null(strstr(json_string_value(json_object_get(support_result(report, 1), "note")), "no-such"));
    assert_true(json_is_null(json_object_get(support_result(report, 3), "ours")));
    json_decref(report);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* A record of rounds goes on beyond the number of features. */
static void test_path_shows_rounds(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"kind\": \"path\", \"over\": {\"name\": \"round\", \"values\": [1, 4]}, \"columns\": "
        "[{\"name\": \"U\", \"method\": \"svm-joint\", \"kernel\": \"rbf:gamma=0.3\", \"params\": "
        "{\"dim\": 1, \"settled\": 0, \"max-iter\": 5}, \"record\": \"upper-bound\"}], \"rows\": "
        "[{\"name\": \"I\", \"generate\": \"iris\"}]}";
    kfe_data *iris = NULL;
    int64_t count = 0;

    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &iris));
    kfe_model *model = support_fit(ctx, "svm-joint", "dim=1,settled=0,max-iter=5", "rbf:gamma=0.3", iris);
    const double *bounds = kfe_model_record(model, "upper-bound", &count);
    json_t *report = support_reproduce(ctx, text, NULL);

    assert_int_equal(kfe_model_dim(model), 1);
    assert_int_equal(count, 5);
    assert_true(support_result_number(support_result(report, 0), "ours") == bounds[0]);
    assert_true(support_result_number(support_result(report, 1), "ours") == bounds[3]);
    assert_true(bounds[0] != bounds[3]);
    json_decref(report);
    kfe_model_free(model);
    kfe_data_free(iris);
}

/* ---- times ---- */

/* The fit that iterates a thousand times as much takes longer, whatever else the machine does. */
static void test_fits_are_timed(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"kind\": \"time\", \"protocol\": {\"folds\": 3}, \"columns\": [{\"name\": \"S\", "
        "\"method\": \"koc\", \"kernel\": \"rbf\"}, {\"name\": \"L\", \"method\": \"svm-joint\", "
        "\"kernel\": \"rbf\", \"params\": {\"settled\": 0, \"max-iter\": 300}}], \"rows\": [{\"name\": "
        "\"I\", \"generate\": \"iris\", \"paper\": {\"S\": 3}}]}";
    json_t *report = support_reproduce(ctx, text, NULL);
    double fast = support_result_number(support_result(report, 0), "ours");

    assert_string_equal(json_string_value(json_object_get(support_result(report, 0), "metric")), "seconds");
    assert_int_equal(support_result_number(support_result(report, 0), "splits"), 3);
    assert_true(support_result_number(support_result(report, 0), "paper") == 3);
    assert_true(fast > 0 && fast < support_result_number(support_result(report, 1), "ours"));
    json_decref(report);
}

/* The split says which rows train; mean, features and their squares are taken here by hand. */
static void test_path_on_test_rows_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] = PATH
        "[{\"name\": \"C\", \"method\": \"smc\", \"kernel\": \"linear\", \"params\": {\"dim\": 5, \"bound\": "
        "true}, \"record\": \"test - cost\"}], \"protocol\": {\"split\": \"random\", \"train-size\": 20}, "
        "\"rows\": [" REAL "]}";
    kfe_data *data = make_regression(ctx);
    kfe_splits *splits = NULL;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    int64_t count = 0;
    int64_t cols = 0;
    double mean = 0;
    double expected = 0;

    assert_ok(ctx, kfe_splits_make(ctx, data, "split=random,train-size=20", &splits));
    const int64_t *rows = kfe_splits_train(splits, 0, &count);
    assert_ok(ctx, kfe_data_take(ctx, data, count, rows, &train));
    rows = kfe_splits_test(splits, 0, &count);
    assert_ok(ctx, kfe_data_take(ctx, data, count, rows, &test));
    const double *trained = kfe_data_targets(train, &cols);
    const double *tested = kfe_data_targets(test, &cols);
    kfe_model *model = support_fit(ctx, "smc", "dim=5,bound=yes", "linear", train);
    kfe_matrix z = support_transform(ctx, model, test);
    for (int64_t i = 0; i < 20; i++)
        mean += trained[i] / 20;
    for (int64_t i = 0; i < 10; i++)
        for (int64_t j = 0; j < 3; j++)
            expected += pow((tested[i] - mean) * z.values[i * z.stride + j], 2) / 10;
    expected -= 3 * kfe_model_record(model, "bound_cost", &count)[0];
    json_t *report = support_reproduce(ctx, text, NULL);
    assert_below(fabs(support_result_number(support_result(report, 1), "ours") - expected),
                 1e-12 * (1 + fabs(expected)));
    assert_int_equal(support_result_number(support_result(report, 1), "splits"), 1);
    json_decref(report);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
    kfe_splits_free(splits);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_path_shows_records),
        with_context(test_path_shows_rounds),
        with_context(test_fits_are_timed),
        with_context(test_path_on_test_rows_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
