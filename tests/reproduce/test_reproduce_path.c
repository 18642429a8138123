/* SPDX-License-Identifier: Apache-2.0 */
/* Paths over the number of features or iterations, against the records of models fitted directly and by hand;
 * times of fits; ROC curves. */
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

/* One fit on all rows; the path ends at the last feature. */
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
    json_t *found = support_reproduce(ctx, text, NULL);

    assert_int_equal(count, 5);
    assert_true(support_result_number(support_result(found, 0), "ours") == covariance[0]);
    assert_string_equal(json_string_value(json_object_get(support_result(found, 0), "metric")),
                        "covariance / kernel_evaluations");
    assert_below(fabs(support_result_number(support_result(found, 2), "ours") - covariance[2] / 3), 1e-15);
    assert_true(json_is_null(json_object_get(support_result(found, 4), "ours")));
    assert_non_null(strstr(json_string_value(json_object_get(support_result(found, 1), "note")), "no-such"));
    assert_true(json_is_null(json_object_get(support_result(found, 3), "ours")));
    json_decref(found);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* A record per iteration continues beyond the number of features; a record with one number applies to every
 * point. */
static void test_path_shows_iterations(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD
        ", \"kind\": \"path\", \"over\": {\"name\": \"iteration\", \"values\": [1, 4]}, \"columns\": "
        "[{\"name\": \"U\", \"method\": \"svm-joint\", \"kernel\": \"rbf:gamma=0.3\", \"params\": "
        "{\"dim\": 1, \"step\": \"plain\", \"settled\": 0, \"max-iter\": 5}, \"record\": \"upper-bound\"}, "
        "{\"name\": \"E\", \"method\": \"svm-joint\", \"kernel\": \"rbf:gamma=0.3\", \"params\": "
        "{\"dim\": 1}, \"record\": \"objective\"}], \"rows\": "
        "[{\"name\": \"I\", \"generate\": \"iris\"}]}";
    kfe_data *iris = NULL;
    int64_t count = 0;

    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &iris));
    kfe_model *model =
        support_fit(ctx, "svm-joint", "dim=1,step=plain,settled=0,max-iter=5", "rbf:gamma=0.3", iris);
    const double *bounds = kfe_model_record(model, "upper-bound", &count);
    json_t *found = support_reproduce(ctx, text, NULL);

    assert_int_equal(kfe_model_dim(model), 1);
    assert_int_equal(count, 5);
    assert_true(support_result_number(support_result(found, 0), "ours") == bounds[0]);
    assert_true(support_result_number(support_result(found, 2), "ours") == bounds[3]);
    assert_true(bounds[0] != bounds[3]);
    assert_true(support_result_number(support_result(found, 1), "ours") > 0);
    assert_true(support_result_number(support_result(found, 1), "ours") ==
                support_result_number(support_result(found, 3), "ours"));
    json_decref(found);
    kfe_model_free(model);
    kfe_data_free(iris);
}

/* ---- times ---- */

/* A fit with a thousand times the iterations takes longer, whatever the load of the machine. */
static void test_fits_are_timed(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"kind\": \"time\", \"protocol\": {\"folds\": 3}, \"columns\": [{\"name\": \"S\", "
        "\"method\": \"koc\", \"kernel\": \"rbf\"}, {\"name\": \"L\", \"method\": \"svm-joint\", "
        "\"kernel\": \"rbf\", \"params\": {\"step\": \"plain\", \"settled\": 0, \"max-iter\": 300}}], "
        "\"rows\": [{\"name\": "
        "\"I\", \"generate\": \"iris\", \"paper\": {\"S\": 3}}]}";
    json_t *found = support_reproduce(ctx, text, NULL);
    double fast = support_result_number(support_result(found, 0), "ours");

    assert_string_equal(json_string_value(json_object_get(support_result(found, 0), "metric")), "seconds");
    assert_int_equal(support_result_number(support_result(found, 0), "splits"), 3);
    assert_true(support_result_number(support_result(found, 0), "paper") == 3);
    assert_true(fast > 0 && fast < support_result_number(support_result(found, 1), "ours"));
    json_decref(found);
}

/* The split determines the training rows; mean, features and their squares are computed here. */
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
    expected -= 3 * kfe_model_record(model, "bound-cost", &count)[0];
    json_t *found = support_reproduce(ctx, text, NULL);
    assert_below(fabs(support_result_number(support_result(found, 1), "ours") - expected),
                 1e-12 * (1 + fabs(expected)));
    assert_int_equal(support_result_number(support_result(found, 1), "splits"), 1);
    json_decref(found);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
    kfe_splits_free(splits);
    kfe_data_free(data);
}

/* ---- ROC curves ---- */

/* The largest share of positives found with at most `allowed` false positives, over all thresholds. */
static double found_by_hand(int64_t rows, const double *scores, const int *positive, int64_t allowed)
{
    double best = 0;
    double positives = 0;

    for (int64_t i = 0; i < rows; i++)
        positives += positive[i];
    for (int64_t t = 0; t < rows; t++) {
        int64_t right = 0;
        int64_t wrong = 0;
        for (int64_t i = 0; i < rows; i++) {
            right += scores[i] >= scores[t] && positive[i];
            wrong += scores[i] >= scores[t] && !positive[i];
        }
        if (wrong <= allowed)
            best = fmax(best, (double)right / positives);
    }
    return best;
}

/* Two classes of iris are joined, so 50 test rows belong to the joined class. Scores are distinct, so the
 * curve has a point at every multiple of 1/50. */
#define ROC_ROW                                                                                              \
    "{\"name\": \"I\", \"generate\": \"iris\", \"classes\": {\"a\": [\"setosa\", \"virginica\"], "           \
    "\"b\": [\"versicolor\"]}}"

static void test_roc_curve_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"kind\": \"roc\", \"over\": {\"name\": \"fpr\", \"values\": [0, 0.04, 0.5, 1]}, "
        "\"protocol\": {\"split\": \"random\", \"train-size\": 0.5, \"repeats\": 1}, \"columns\": "
        "[{\"name\": \"L\", \"method\": \"pca\", \"params\": {\"dim\": 2}, \"learner\": \"ls\"}], \"rows\": "
        "[" ROC_ROW "]}";
    static const char *const labels[] = {"a", "b", "a"};
    static const double rates[] = {0, 0.04, 0.5, 1};
    const char *all[150];
    double scores[150];
    int positive[150];
    kfe_data *iris = NULL;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_splits *splits = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix outputs = {0};
    int64_t count = 0;

    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &iris));
    for (int i = 0; i < 150; i++)
        all[i] = labels[i / 50];
    assert_ok(ctx, kfe_data_set_labels(ctx, iris, all));
    assert_ok(ctx, kfe_splits_make(ctx, iris, "split=random,train-size=0.5,repeats=1", &splits));
    const int64_t *rows = kfe_splits_train(splits, 0, &count);
    assert_ok(ctx, kfe_data_take(ctx, iris, count, rows, &train));
    rows = kfe_splits_test(splits, 0, &count);
    assert_ok(ctx, kfe_data_take(ctx, iris, count, rows, &test));
    assert_ok(ctx, kfe_spec_parse(ctx, "pca", "dim=2", NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    assert_ok(ctx, kfe_predict(ctx, model, test, &predictions, &outputs));
    double negatives = 0;
    for (int64_t i = 0; i < count; i++) {
        positive[i] = strcmp(kfe_data_class_name(test, kfe_data_class_of(test, i)), "b") == 0;
        negatives += !positive[i];
        scores[i] = outputs.values[i * outputs.stride + 1];
    }
    json_t *found = support_reproduce(ctx, text, NULL);
    assert_int_equal(negatives, 50);
    for (size_t p = 0; p < 4; p++) {
        double expected = found_by_hand(count, scores, positive, (int64_t)(rates[p] * negatives + 0.5));
        assert_true(support_result_number(support_result(found, p), "ours") == expected);
    }
    assert_true(support_result_number(support_result(found, 2), "ours") >
                support_result_number(support_result(found, 0), "ours"));
    json_decref(found);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&outputs);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_splits_free(splits);
    kfe_data_free(train);
    kfe_data_free(test);
    kfe_data_free(iris);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_path_shows_records), with_context(test_path_shows_iterations),
        with_context(test_fits_are_timed),     with_context(test_path_on_test_rows_by_hand),
        with_context(test_roc_curve_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
