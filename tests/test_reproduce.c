/* SPDX-License-Identifier: Apache-2.0 */
/* Reproductions: data that is not there, and numbers against the search called
 * directly and against answers known by hand. */
#include "support_fit.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "api/plan.h"
#include "select/separation.h"
#include "support_plan.h"
#include "tolerance.h"

/* ---- what is in the library ---- */

static void test_embedded_specifications_are_sound(void **state)
{
    kfe_context *ctx = *state;
    static const char *const wanted[] = {
        "000-table2", "000-table3", "001-figure2", "001-figure3", "001-figure4", "001-figure6", "001-table3",
        "001-table4", "001-table5", "001-table6",  "004-figure1", "004-figure2", "004-figure3", "004-table1"};
    kfe_entry_info info;
    size_t found = 0;

    for (int i = 0; kfe_reproduction(i, &info); i++) {
        kfe_i_plan plan;
        assert_ok(ctx, kfe_i_plan_open(ctx, info.name, &plan));
        assert_string_equal(kfe_i_plan_text(plan.root, "title"), info.summary);
        assert_string_equal(kfe_i_plan_text(plan.root, "paper"), info.formula);
        kfe_i_plan_close(&plan);
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
            found += strcmp(wanted[w], info.name) == 0;
    }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    assert_int_equal(kfe_reproduction(-1, &info), 0);
    assert_null(info.name);
}

/* ---- running ---- */

static json_t *reproduce(kfe_context *ctx, const char *text, const char *options)
{
    char *out = NULL;
    json_error_t error;

    assert_ok(ctx, kfe_reproduce(ctx, support_text("s.json", text), options, KFE_STYLE_JSON, &out));
    json_t *report = json_loads(out, 0, &error);
    if (!report)
        fail_msg("not JSON: %s: %s", error.text, out);
    kfe_string_free(ctx, out);
    return report;
}

static const json_t *result_at(const json_t *report, size_t index)
{
    const json_t *result = json_array_get(json_object_get(report, "results"), index);

    assert_non_null(result);
    return result;
}

static double number_of(const json_t *result, const char *key)
{
    const json_t *value = json_object_get(result, key);

    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}

/* The search, called directly. */
static kfe_i_assessment assess(kfe_context *ctx, const kfe_spec *spec, int grids, const char *const *grid,
                               const kfe_data *data, const char *options)
{
    kfe_i_assessment assessment;
    kfe_i_assess_settings settings;

    assert_ok(ctx, kfe_i_assess_settings_parse(ctx, options, &settings));
    assert_ok(ctx, kfe_i_assess(ctx, spec, grids, grid, 0, NULL, data, &settings, &assessment));
    return assessment;
}

static double mean_of(int64_t count, const double *values, int64_t stride)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += values[i * stride];
    return sum / (double)count;
}

static double sd_of(int64_t count, const double *values, int64_t stride)
{
    double mean = mean_of(count, values, stride);
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += (values[i * stride] - mean) * (values[i * stride] - mean);
    return sqrt(sum / (double)(count - 1));
}

static kfe_spec *make_spec(kfe_context *ctx, const char *kernel, const char *learner, const char *params)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, kernel, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, params));
    return spec;
}

/* Percent, the chosen setting, the protocol in its layers, and the difference with and without the paper's
 * sd. */
static void test_table_equals_the_search(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"metrics\": [\"error\", \"balanced-accuracy\"], \"percent\": true, \"protocol\": "
        "{\"split\": \"random\", \"repeats\": 7, \"train-size\": 0.9, \"inner-folds\": 3}, \"quick\": "
        "{\"repeats\": 5}, \"columns\": [{\"name\": \"P\"}, {\"name\": \"K\", \"method\": \"koc\", "
        "\"kernel\": \"rbf\", \"learner\": \"knn\", \"protocol\": {\"tuning-splits\": 2}}], \"rows\": "
        "[{\"name\": \"S\", \"generate\": \"slabs\", \"options\": {\"per-class\": 20}, \"seed\": 5, "
        "\"protocol\": {\"train-size\": 40}, \"columns\": {\"K\": {\"grid\": [\"gamma=0.01,0.3\", "
        "\"neighbors=1,3\"]}}, \"paper\": {\"P\": 9.5, \"K\": {\"error\": {\"value\": 12, \"sd\": 3, "
        "\"count\": "
        "50}, \"balanced-accuracy\": 80}}}]}";
    static const char *const grid[] = {"gamma=0.01,0.3", "neighbors=1,3"};
    kfe_data *data = NULL;
    uint64_t seed = kfe_context_seed(ctx);

    kfe_context_set_seed(ctx, seed + 5);
    assert_ok(ctx, kfe_data_generate(ctx, "slabs", "per-class=20", &data));
    kfe_context_set_seed(ctx, seed);
    kfe_spec *spec = make_spec(ctx, "rbf", "knn", NULL);
    for (int quick = 0; quick < 2; quick++) {
        kfe_i_assessment a =
            assess(ctx, spec, 2, grid, data,
                   quick ? "split=random,repeats=5,train-size=40,inner-folds=3,tuning-splits=2,"
                           "metrics=error;balanced-accuracy"
                         : "split=random,repeats=7,train-size=40,inner-folds=3,tuning-splits=2,"
                           "metrics=error;balanced-accuracy");
        json_t *report = reproduce(ctx, text, quick ? "quick=yes" : NULL);
        const json_t *error = result_at(report, 2);
        const json_t *balanced = result_at(report, 3);
        double mean = 100 * mean_of(a.splits.count, a.values, 2);
        double sd = 100 * sd_of(a.splits.count, a.values, 2);
        double n = quick ? 5 : 7;
        kfe_i_text setting;

        assert_true(number_of(result_at(report, 0), "paper") == 9.5);
        assert_true(json_is_null(json_object_get(result_at(report, 0), "ours")));
        assert_true(json_is_null(json_object_get(result_at(report, 1), "paper")));
        assert_int_equal(number_of(error, "splits"), n);
        assert_below(fabs(number_of(error, "ours") - mean), tolerance_sum(7, 100));
        assert_below(fabs(number_of(error, "sd") - sd), tolerance_sum(7, 100));
        assert_below(fabs(number_of(error, "difference") * sqrt(sd * sd / n + 9.0 / 50) - (mean - 12)),
                     1e-10);
        mean = 100 * mean_of(a.splits.count, a.values + 1, 2);
        sd = 100 * sd_of(a.splits.count, a.values + 1, 2);
        assert_below(fabs(number_of(balanced, "ours") - mean), tolerance_sum(7, 100));
        assert_below(fabs(number_of(balanced, "difference") * sd / sqrt(n) - (mean - 80)), 1e-10);
        kfe_i_text_init(&setting, ctx);
        kfe_i_grid_describe(&a.grid, a.chosen[0], &setting);
        assert_string_equal(json_string_value(json_object_get(error, "setting")), setting.bytes);
        kfe_i_text_free(&setting);
        json_decref(report);
        kfe_i_assessment_free(&a);
    }
    kfe_spec_free(spec);
    kfe_data_free(data);
}

static void test_curve_equals_the_search_at_each_point(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD
        ", \"kind\": \"curve\", \"metrics\": [\"accuracy\", \"support-vectors\"], \"percent\": true, "
        "\"protocol\": {\"folds\": 3}, \"over\": {\"name\": \"sigma\", \"parameter\": \"kernel.gamma\", "
        "\"values\": [0.5, 4], \"reciprocal\": true}, \"columns\": [{\"name\": \"K\", \"method\": \"koc\", "
        "\"kernel\": \"rbf\", \"learner\": \"svm\", \"learner-params\": {\"C\": 10}}], \"rows\": [" SLABS
        "]}";
    static const char *const kernels[] = {"rbf:gamma=2", "rbf:gamma=0.25"};
    static const double sigmas[] = {0.5, 4};
    kfe_data *data = NULL;
    json_t *report = reproduce(ctx, text, NULL);

    assert_ok(ctx, kfe_data_generate(ctx, "slabs", "per-class=20", &data));
    for (size_t p = 0; p < 2; p++) {
        kfe_spec *spec = make_spec(ctx, kernels[p], "svm", "C=10");
        kfe_i_assessment a = assess(ctx, spec, 0, NULL, data, "folds=3");
        assert_true(number_of(result_at(report, 2 * p), "sigma") == sigmas[p]);
        assert_below(fabs(number_of(result_at(report, 2 * p), "ours") - 100 * mean_of(3, a.values, 1)),
                     tolerance_sum(3, 100));
        assert_below(fabs(number_of(result_at(report, 2 * p + 1), "ours") - mean_of(3, a.support_vectors, 1)),
                     tolerance_sum(3, 100));
        kfe_i_assessment_free(&a);
        kfe_spec_free(spec);
    }
    json_decref(report);
    kfe_data_free(data);
}

/* ---- scatter ---- */

/* By hand, on a line: a at 0, 2, 4 and b at 3, 9, in features with a gap between rows. The nearest of 0 is 2
 * (a, right); of 2 is 3 (b); of 4 is 3 (b); of 3 is 2, the first of two equals (a); of 9 is 4 (a). Means 2, 6
 * and 3.6: between 3·1.6² + 2·2.4² = 19.2, within 8 + 18 = 26. */
static void test_separation_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const double features[] = {0, 77, 2, -5, 4, 1, 3, 8, 9, 0};
    static const char *const labels[] = {"a", "a", "a", "b", "b"};
    kfe_i_target target = {0};
    kfe_i_separation separation;

    assert_ok(ctx, kfe_i_target_from_labels(ctx, 5, labels, &target));
    assert_ok(ctx, kfe_i_separation_measure(ctx, &target, 1, 2, features, &separation));
    assert_below(fabs(separation.neighbour_accuracy - 0.2), DBL_EPSILON);
    assert_below(fabs(separation.scatter_ratio - 19.2 / 26), tolerance_sum(5, 1));
    target.rows = 1;
    target.class_count = 1;
    assert_ok(ctx, kfe_i_separation_measure(ctx, &target, 1, 2, features, &separation));
    assert_true(isnan(separation.neighbour_accuracy) && isnan(separation.scatter_ratio));
    target.class_count = 2;
    target.rows = 5;
    kfe_i_target_free(&target);
}

/* The files hold the features that a fit gives, and the labels; the numbers file is there as well. */
static void test_scatter_writes_features(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"kind\": \"scatter\", \"columns\": [{\"name\": \"K 1/2\", \"method\": \"koc\", "
        "\"kernel\": \"rbf:gamma=0.5\"}], \"rows\": [{\"name\": \"iris\", \"generate\": \"iris\"}]}";
    char options[600];
    char path[600];
    kfe_data *iris = NULL;
    kfe_data *written = NULL;
    double row[3];

    snprintf(options, sizeof options, "output=%s", support_path("figures"));
    json_decref(reproduce(ctx, text, options));
    snprintf(path, sizeof path, "%s/s-iris-K_1_2.csv", support_path("figures"));
    assert_ok(ctx, kfe_data_read(ctx, path, "label=last", &written));
    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &iris));
    kfe_matrix expected = support_features(ctx, "koc", NULL, "rbf:gamma=0.5", iris, iris);
    assert_int_equal(kfe_data_rows(written), 150);
    assert_int_equal(kfe_data_cols(written, 0), 3);
    for (int64_t i = 0; i < 150; i++) {
        assert_ok(ctx, kfe_data_row(ctx, written, 0, i, row));
        assert_memory_equal(row, expected.values + i * expected.stride, sizeof row);
        assert_int_equal(kfe_data_class_of(written, i), i / 50);
    }
    assert_int_equal(remove(path), 0);
    snprintf(path, sizeof path, "%s/s.csv", support_path("figures"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(support_path("figures")), 0);
    kfe_matrix_free(&expected);
    kfe_data_free(written);
    kfe_data_free(iris);
}

/* ---- paths ---- */

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
    json_t *report = reproduce(ctx, text, NULL);

    assert_int_equal(count, 5);
    assert_true(number_of(result_at(report, 0), "ours") == covariance[0]);
    assert_string_equal(json_string_value(json_object_get(result_at(report, 0), "metric")),
                        "covariance / kernel_evaluations");
    assert_below(fabs(number_of(result_at(report, 2), "ours") - covariance[2] / 3), 1e-15);
    assert_true(json_is_null(json_object_get(result_at(report, 4), "ours")));
    assert_non_null(strstr(json_string_value(json_object_get(result_at(report, 1), "note")), "no-such"));
    assert_true(json_is_null(json_object_get(result_at(report, 3), "ours")));
    json_decref(report);
    kfe_model_free(model);
    kfe_data_free(data);
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
    kfe_i_assess_settings settings;
    kfe_i_splits splits = {0};
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    int64_t count = 0;
    double mean = 0;
    double expected = 0;

    assert_ok(ctx, kfe_i_assess_settings_parse(ctx, "split=random,train-size=20", &settings));
    assert_ok(ctx, kfe_i_splits_make(ctx, &settings.protocol, &data->target, 30, NULL, 0, 0, &splits));
    assert_ok(ctx, kfe_i_data_gather(ctx, data, splits.items[0].train, 20, &train));
    assert_ok(ctx, kfe_i_data_gather(ctx, data, splits.items[0].test, 10, &test));
    kfe_model *model = support_fit(ctx, "smc", "dim=5,bound=yes", "linear", train);
    kfe_matrix z = support_transform(ctx, model, test);
    for (int64_t i = 0; i < 20; i++)
        mean += train->target.values[i] / 20;
    for (int64_t i = 0; i < 10; i++)
        for (int64_t j = 0; j < 3; j++)
            expected += pow((test->target.values[i] - mean) * z.values[i * z.stride + j], 2) / 10;
    expected -= 3 * kfe_model_record(model, "bound_cost", &count)[0];
    json_t *report = reproduce(ctx, text, NULL);
    assert_below(fabs(number_of(result_at(report, 1), "ours") - expected), 1e-12 * (1 + fabs(expected)));
    assert_int_equal(number_of(result_at(report, 1), "splits"), 1);
    json_decref(report);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
    kfe_i_splits_free(&splits);
    kfe_data_free(data);
}

/* ---- what a row does to its data ---- */

static kfe_data *data_of_row(kfe_context *ctx, const char *row)
{
    char text[1000];
    kfe_i_plan plan;
    kfe_data *data = NULL;
    const kfe_i_plan_use use = {.folder = ""};

    snprintf(text, sizeof text, "{" HEAD ", \"columns\": [{\"name\": \"P\"}], \"rows\": [%s]}", row);
    assert_ok(ctx, kfe_i_plan_parse(ctx, "d.json", text, strlen(text), &plan));
    assert_ok(ctx, kfe_i_plan_data(&plan, json_array_get(plan.rows, 0), &use, &data));
    kfe_i_plan_close(&plan);
    return data;
}

/* iris comes in its three classes of 50, one after the other. */
static void test_rows_are_the_first(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"rows\": 60}");

    assert_int_equal(kfe_data_rows(data), 60);
    assert_int_equal(kfe_data_class_count(data), 2);
    kfe_data_free(data);
    data = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"every\": 60}");
    assert_int_equal(kfe_data_rows(data), 3); /* 0, 60 and 120: one of each class */
    assert_int_equal(kfe_data_class_count(data), 3);
    kfe_data_free(data);
    data = data_of_row(ctx, "{\"name\": \"I\", \"generate\": \"iris\", \"rows\": 600}");
    assert_int_equal(kfe_data_rows(data), 150);
    kfe_data_free(data);
}

/* Of 2 × 2 pixels there are features beyond the four numbers, and the target stays. */
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
    assert_int_equal(kfe_data_class_count(data), 3);
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
    kfe_data *plain = make_regression(ctx);
    const double *scaled = data->target.values;
    const double *raw = plain->target.values;
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

/* ---- data that is not there ---- */

#define FILES "{\"name\": \"F\", \"data\": \"set.csv\", \"reading\": {\"label\": \"last\"}}"
#define VIEWS                                                                                                \
    "{\"name\": \"V\", \"data\": [\"v/one.csv\", \"v/two.csv\"], \"reading\": {\"label-file\": "             \
    "\"v/labels.csv\"}}"

static void test_missing_files_are_named(void **state)
{
    kfe_context *ctx = *state;
    static const char some[] =
        "{" HEAD ", \"protocol\": {\"folds\": 3}, \"columns\": [" KNN "], \"rows\": [" FILES ", " SLABS "]}";
    static const char none[] = "{" HEAD ", \"columns\": [" KNN "], \"rows\": [" FILES ", " VIEWS "]}";
    char *out = NULL;

    json_t *report = reproduce(ctx, some, NULL);
    assert_string_equal(json_string_value(json_object_get(result_at(report, 0), "note")),
                        "needs set.csv under --data DIR");
    assert_true(json_is_null(json_object_get(result_at(report, 0), "ours")));
    assert_true(number_of(result_at(report, 1), "ours") > 0.34);
    json_decref(report);
    assert_fails(ctx, KFE_EINPUT, "needs set.csv, v/one.csv, v/two.csv, v/labels.csv under --data DIR",
                 kfe_reproduce(ctx, support_text("s.json", none), NULL, KFE_STYLE_TEXT, &out));
    assert_null(out);
}

/* The folder is that of the file just written. Labels equal the one feature, so 1-NN is right always. */
static void test_files_are_read_from_the_folder(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"protocol\": {\"folds\": 2}, \"columns\": [{\"name\": \"N\", \"method\": \"none\", "
        "\"learner\": \"knn\"}, {\"name\": \"O\", \"method\": \"none\", \"learner\": \"knn\"}], \"rows\": "
        "[{\"name\": \"F\", \"data\": \"set.csv\", \"reading\": {\"label\": \"last\"}, \"note\": \"made "
        "up\", "
        "\"columns\": {\"O\": null}, \"paper\": {\"N\": 0.5}}]}";
    char options[600];
    char *out = NULL;

    snprintf(options, sizeof options, "data=%s",
             support_text("set.csv", "1,1\n1,1\n2,2\n2,2\n1,1\n2,2\n1,1\n2,2\n"));
    *strrchr(options, '/') = '\0';
    json_t *report = reproduce(ctx, text, options);
    assert_true(number_of(result_at(report, 0), "ours") == 1);
    assert_true(json_is_null(json_object_get(result_at(report, 0), "difference")));
    assert_true(json_is_null(json_object_get(result_at(report, 1), "ours")));
    json_decref(report);
    assert_ok(ctx, kfe_reproduce(ctx, support_text("s.json", text), options, KFE_STYLE_TEXT, &out));
    assert_non_null(strstr(out, "F (made up)\n"));
    assert_non_null(strstr(out, "1.000 +- 0.000"));
    kfe_string_free(ctx, out);
}

/* ---- failing allocations ---- */

static kfe_status reproduce_with(support_allocator *allocator, const char *path, const char *options,
                                 kfe_style style)
{
    kfe_context *ctx = NULL;
    char *out = NULL;
    kfe_status status = kfe_context_new_with(support_reallocate, allocator, &ctx);

    if (status == KFE_OK) {
        kfe_context_set_threads(ctx, 1);
        status = kfe_reproduce(ctx, path, options, style, &out);
        assert_int_equal(out == NULL, status != KFE_OK);
        kfe_string_free(ctx, out);
    }
    kfe_context_free(ctx);
    return status;
}

static void sweep_failures(const char *text, const char *options, kfe_style style)
{
    const char *path = support_text("s.json", text);
    int64_t k = 1;
    kfe_status status = KFE_ENOMEM;

    for (; status != KFE_OK && k < 100000; k++) {
        support_allocator allocator = {.fail_at = k};
        status = reproduce_with(&allocator, path, options, style);
        assert_true(status == KFE_OK || status == KFE_ENOMEM);
        assert_int_equal(allocator.live, 0);
    }
    assert_int_equal(status, KFE_OK);
    assert_true(k > 50);
}

static void test_failing_allocations(void **state)
{
    static const char table[] =
        "{" HEAD ", \"protocol\": {\"folds\": 2, \"inner-folds\": 2}, \"columns\": [{\"name\": \"K\", "
        "\"method\": \"koc\", \"kernel\": \"rbf\", \"learner\": \"knn\", \"grid\": [\"gamma=0.1,1\"]}], "
        "\"rows\": [" FILES ", {\"name\": \"S\", \"generate\": \"slabs\", \"options\": {\"per-class\": 4}}]}";
    static const char scatter[] =
        "{" HEAD ", \"kind\": \"scatter\", \"columns\": [{\"name\": \"K\", \"method\": \"koc\"}], \"rows\": "
        "[{\"name\": \"S\", \"generate\": \"slabs\", \"options\": {\"per-class\": 2}}]}";
    static const char path[] = PATH
        "[{" SMC ", \"record\": \"test / features\"}], \"protocol\": {\"folds\": 2}, \"rows\": [{\"name\": "
        "\"R\", \"generate\": \"sma-cost\", \"options\": {\"n\": 12, \"features\": 60}, \"rows\": 10, "
        "\"target-scale\": \"standard\"}]}";
    char output[600];
    char file[700];

    (void)state;
    sweep_failures(path, NULL, KFE_STYLE_TEXT);
    snprintf(output, sizeof output, "output=%s", support_path("failures"));
    sweep_failures(table, NULL, KFE_STYLE_TEXT);
    sweep_failures(scatter, output, KFE_STYLE_JSON);
    snprintf(file, sizeof file, "%s/s.csv", support_path("failures"));
    assert_int_equal(remove(file), 0);
    snprintf(file, sizeof file, "%s/s-S-K.csv", support_path("failures"));
    assert_int_equal(remove(file), 0);
    assert_int_equal(remove(support_path("failures")), 0); /* nothing half-written is left */
}

/* ---- the same again ---- */

static void test_the_seed_decides(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] = "{" HEAD ", \"columns\": [" KNN "], \"rows\": [" SLABS "]}";
    char *out[3] = {NULL, NULL, NULL};

    for (int i = 0; i < 3; i++) {
        kfe_context_set_seed(ctx, i == 2 ? 8 : 7);
        assert_ok(ctx, kfe_reproduce(ctx, support_text("s.json", text), NULL, KFE_STYLE_JSON, &out[i]));
    }
    assert_string_equal(out[0], out[1]);
    assert_string_not_equal(out[0], out[2]);
    for (int i = 0; i < 3; i++)
        kfe_string_free(ctx, out[i]);
}

int main(void)
{
#define WITH_CONTEXT(test)                                                                                   \
    cmocka_unit_test_setup_teardown(test, support_context_setup, support_context_teardown)
    const struct CMUnitTest tests[] = {
        WITH_CONTEXT(test_embedded_specifications_are_sound),
        WITH_CONTEXT(test_table_equals_the_search),
        WITH_CONTEXT(test_curve_equals_the_search_at_each_point),
        WITH_CONTEXT(test_separation_by_hand),
        WITH_CONTEXT(test_scatter_writes_features),
        WITH_CONTEXT(test_path_shows_records),
        WITH_CONTEXT(test_path_on_test_rows_by_hand),
        WITH_CONTEXT(test_rows_are_the_first),
        WITH_CONTEXT(test_images_become_rectangle_features),
        WITH_CONTEXT(test_targets_are_scaled),
        WITH_CONTEXT(test_missing_files_are_named),
        WITH_CONTEXT(test_files_are_read_from_the_folder),
        WITH_CONTEXT(test_failing_allocations),
        WITH_CONTEXT(test_the_seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
