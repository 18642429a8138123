/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of `kfe reproduce`: missing data, and results compared with direct calls of the search and with
 * values known by hand. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "reproduce/src/cell.h"
#include "reproduce/src/data.h"
#include "reproduce/src/findings.h"
#include "reproduce/src/separation.h"
#include "select/assess.h"
#include "support/plan.h"
#include "support/sweep.h"
#include "support/tolerance.h"

/* ---- plans in the library ---- */

static void test_embedded_specifications_are_sound(void **state)
{
    kfe_context *ctx = *state;
    static const char *const wanted[] = {
        "000-table2",  "000-table3",  "001-figure2",    "001-figure3",        "001-figure4", "001-figure6",
        "001-table3",  "001-table4",  "001-table5",     "001-table6",         "002-figure1", "002-figure2",
        "002-figure3", "002-table2",  "002-table2-ovr", "002-table2-scaling", "002-table3",  "002-table3-ovr",
        "002-table4",  "004-figure1", "004-figure2",    "004-figure3",        "004-table1"};
    rep_entry info;
    size_t found = 0;

    for (int i = 0; rep_entry_at(i, &info); i++) {
        rep_plan plan;
        assert_ok(ctx, rep_plan_open(ctx, info.name, &plan));
        assert_string_equal(rep_string(plan.root, "title"), info.title);
        assert_string_equal(rep_string(plan.root, "paper"), info.paper);
        rep_plan_close(&plan);
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
            found += strcmp(wanted[w], info.name) == 0;
    }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    assert_int_equal(rep_entry_at(-1, &info), 0);
    assert_null(info.name);
}

/* ---- running ---- */

/* Calls the search directly. */
static kfe_i_assessment assess(kfe_context *ctx, const kfe_spec *spec, int grids, const char *const *grid,
                               const kfe_data *data, const char *options)
{
    kfe_i_assessment assessment;
    kfe_i_assess_settings settings;

    assert_ok(ctx, kfe_i_assess_settings_parse(ctx, options, &settings));
    kfe_status status =
        kfe_i_assess(ctx, spec, (kfe_i_grid_texts){grids, grid, 0}, data, &settings, &assessment);
    assert_ok(ctx, status);
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

static const char table_plan[] =
    "{" HEAD ", \"metrics\": [\"error\", \"balanced-accuracy\"], \"percent\": true, \"protocol\": "
    "{\"split\": \"random\", \"repeats\": 7, \"train-size\": 0.9, \"inner-folds\": 3}, \"quick\": "
    "{\"repeats\": 5}, \"columns\": [{\"name\": \"P\"}, {\"name\": \"K\", \"method\": \"koc\", "
    "\"kernel\": \"rbf\", \"learner\": \"knn\", \"protocol\": {\"tuning-splits\": 2}}], \"rows\": "
    "[{\"name\": \"S\", \"generate\": \"slabs\", \"options\": {\"per-class\": 20}, \"seed\": 5, "
    "\"protocol\": {\"train-size\": 40}, \"columns\": {\"K\": {\"grid\": [\"gamma=0.01,0.3\", "
    "\"neighbors=1,3\"]}}, \"paper\": {\"P\": 9.5, \"K\": {\"error\": {\"value\": 12, \"sd\": 3, "
    "\"count\": "
    "50}, \"balanced-accuracy\": 80}}}]}";

/* Percentages, the chosen setting, the protocol with its defaults, and the difference with and without the
 * paper's standard deviation. */
static void test_table_equals_the_search(void **state)
{
    kfe_context *ctx = *state;
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
        const rep_settings settings = {.quick = quick};
        json_t *found = support_reproduce(ctx, table_plan, &settings);
        const json_t *error = support_result(found, 2);
        const json_t *balanced = support_result(found, 3);
        double mean = 100 * mean_of(a.splits.count, a.values, 2);
        double sd = 100 * sd_of(a.splits.count, a.values, 2);
        double n = quick ? 5 : 7;
        kfe_i_text setting;

        assert_true(support_result_number(support_result(found, 0), "paper") == 9.5);
        assert_true(json_is_null(json_object_get(support_result(found, 0), "ours")));
        assert_true(json_is_null(json_object_get(support_result(found, 1), "paper")));
        assert_int_equal(support_result_number(error, "splits"), n);
        assert_below(fabs(support_result_number(error, "ours") - mean), tolerance_sum(7, 100));
        assert_below(fabs(support_result_number(error, "sd") - sd), tolerance_sum(7, 100));
        assert_below(
            fabs(support_result_number(error, "difference") * sqrt(sd * sd / n + 9.0 / 50) - (mean - 12)),
            1e-10);
        mean = 100 * mean_of(a.splits.count, a.values + 1, 2);
        sd = 100 * sd_of(a.splits.count, a.values + 1, 2);
        assert_below(fabs(support_result_number(balanced, "ours") - mean), tolerance_sum(7, 100));
        assert_below(fabs(support_result_number(balanced, "difference") * sd / sqrt(n) - (mean - 80)), 1e-10);
        kfe_i_text_init(&setting, ctx);
        kfe_i_grid_describe(&a.grid, a.chosen[0], &setting);
        assert_string_equal(json_string_value(json_object_get(error, "setting")), setting.bytes);
        kfe_i_text_free(&setting);
        json_decref(found);
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
    json_t *found = support_reproduce(ctx, text, NULL);

    assert_ok(ctx, kfe_data_generate(ctx, "slabs", "per-class=20", &data));
    for (size_t p = 0; p < 2; p++) {
        kfe_spec *spec = make_spec(ctx, kernels[p], "svm", "C=10");
        kfe_i_assessment a = assess(ctx, spec, 0, NULL, data, "folds=3");
        assert_true(support_result_number(support_result(found, 2 * p), "sigma") == sigmas[p]);
        assert_below(
            fabs(support_result_number(support_result(found, 2 * p), "ours") - 100 * mean_of(3, a.values, 1)),
            tolerance_sum(3, 100));
        assert_below(fabs(support_result_number(support_result(found, 2 * p + 1), "ours") -
                          mean_of(3, a.outer.support_vectors, 1)),
                     tolerance_sum(3, 100));
        kfe_i_assessment_free(&a);
        kfe_spec_free(spec);
    }
    json_decref(found);
    kfe_data_free(data);
}

/* Equal errors differ by rounding when shown as percentages; the standard error is zero nevertheless. */
static void test_no_difference_without_spread(void **state)
{
    const double unknown = NAN;
    rep_finding f = {.mean = 72, .sd = 1.4e-14, .splits = 3, .paper = {.value = 18, .sd = unknown}};

    (void)state;
    assert_true(isnan(rep_finding_difference(&f)));
    f.sd = 3;
    assert_below(fabs(rep_finding_difference(&f) - 54 / sqrt(3)), 1e-12);
    f.sd = 0;
    f.paper.sd = 2;
    f.paper.count = 4;
    assert_below(fabs(rep_finding_difference(&f) - 54), 1e-12);
    f.sd = unknown; /* from one split */
    assert_true(isnan(rep_finding_difference(&f)));
}

/* ---- methods with a predictor of their own ---- */

/* The share of test rows that a model of the training rows predicts wrongly. */
static double error_on_split(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                             const kfe_splits *splits, int64_t index)
{
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_model *model = NULL;
    kfe_matrix predictions = {0};
    double wrong = 0;
    int64_t count = 0;
    const int64_t *rows = kfe_splits_train(splits, index, &count);

    assert_ok(ctx, kfe_data_take(ctx, data, count, rows, &train));
    rows = kfe_splits_test(splits, index, &count);
    assert_ok(ctx, kfe_data_take(ctx, data, count, rows, &test));
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    assert_ok(ctx, kfe_predict(ctx, model, test, &predictions, NULL));
    for (int64_t i = 0; i < count; i++)
        wrong += strcmp(kfe_model_class_name(model, (int64_t)predictions.values[i]),
                        kfe_data_class_name(test, kfe_data_class_of(test, i))) != 0;
    kfe_matrix_free(&predictions);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
    return wrong / (double)count;
}

static const char svm_table[] =
    "{" HEAD ", \"metrics\": [\"error\"], \"protocol\": {\"split\": \"random\", \"train-size\": 0.5, "
    "\"repeats\": 3}, \"columns\": [{\"name\": \"J\", \"method\": \"svm-joint\", \"kernel\": "
    "\"rbf:gamma=0.3\", \"params\": {\"dim\": 1}}, {\"name\": \"M\", \"method\": \"svm-mkl\", "
    "\"kernel\": [\"rbf:gamma=0.3\", \"linear\"], \"params\": {\"dim\": 1}}, {\"name\": \"S\", \"method\": "
    "\"sldr\", \"params\": {\"local-dim\": 1, \"features\": \"gate\"}}], \"rows\": [{\"name\": "
    "\"I\", \"generate\": \"iris\", \"every\": 3}]}";

/* A method whose folds share a kernel matrix, one that opens its own kernels, and one whose decision values
 * do not come from its features. */
static void test_svms_of_methods_are_measured(void **state)
{
    kfe_context *ctx = *state;
    rep_plan plan;
    kfe_data *data = NULL;
    const rep_use use = {.folder = ""};
    json_t *found = support_reproduce(ctx, svm_table, NULL);

    assert_ok(ctx, rep_plan_parse(ctx, "m.json", svm_table, strlen(svm_table), &plan));
    assert_ok(ctx, rep_row_data(&plan, json_array_get(plan.rows, 0), &use, &data));
    for (size_t c = 0; c < 3; c++) {
        const rep_place place = {.plan = &plan,
                                 .row = json_array_get(plan.rows, 0),
                                 .column = json_array_get(plan.columns, c),
                                 .point = NAN};
        rep_cell cell;
        kfe_splits *splits = NULL;
        double sum = 0;
        assert_ok(ctx, rep_cell_open(&place, &use, &cell));
        assert_ok(ctx, kfe_splits_make(ctx, data, cell.options, &splits));
        assert_int_equal(kfe_splits_count(splits), 3);
        for (int64_t i = 0; i < 3; i++)
            sum += error_on_split(ctx, cell.spec, data, splits, i);
        assert_true(sum > 0); /* one feature is too few, so the error is not zero */
        assert_below(fabs(support_result_number(support_result(found, c), "ours") - sum / 3),
                     tolerance_sum(3, 1));
        kfe_splits_free(splits);
        rep_cell_close(&cell);
    }
    kfe_data_free(data);
    rep_plan_close(&plan);
    json_decref(found);
}

/* ---- scatter ---- */

/* By hand, on a line: a at 0, 2, 4 and b at 3, 9, in features with unused numbers between rows. The nearest
 * of 0 is 2 (a, right); of 2 is 3 (b); of 4 is 3 (b); of 3 is 2, the first of two equally near (a); of 9
 * is 4 (a). Means 2, 6 and 3.6: between 3·1.6² + 2·2.4² = 19.2, within 8 + 18 = 26. */
static void test_separation_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static double features[] = {0, 77, 2, -5, 4, 1, 3, 8, 9, 0};
    static const char *const labels[] = {"a", "a", "a", "b", "b"};
    kfe_matrix points = {.rows = 5, .cols = 1, .stride = 2, .values = features};
    kfe_data *data = NULL;
    rep_separation separation;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 5, 1, 2, features, &data));
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    assert_ok(ctx, rep_separation_measure(ctx, data, &points, &separation));
    assert_below(fabs(separation.neighbour_accuracy - 0.2), DBL_EPSILON);
    assert_below(fabs(separation.scatter_ratio - 19.2 / 26), tolerance_sum(5, 1));
    points.rows = 1;
    assert_ok(ctx, rep_separation_measure(ctx, data, &points, &separation));
    assert_true(isnan(separation.neighbour_accuracy) && isnan(separation.scatter_ratio));
    kfe_data_free(data);
}

/* The files contain the features of a fit and the labels; the file of numbers exists as well. */
static void test_scatter_writes_features(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"kind\": \"scatter\", \"columns\": [{\"name\": \"K 1/2\", \"method\": \"koc\", "
        "\"kernel\": \"rbf:gamma=0.5\"}], \"rows\": [{\"name\": \"iris\", \"generate\": \"iris\"}]}";
    const rep_settings settings = {.output = support_path("figures")};
    char path[600];
    kfe_data *iris = NULL;
    kfe_data *written = NULL;
    double row[3];

    json_decref(support_reproduce(ctx, text, &settings));
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

/* ---- missing data ---- */

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
    const rep_settings settings = {0};
    char *out = NULL;

    json_t *found = support_reproduce(ctx, some, NULL);
    assert_string_equal(json_string_value(json_object_get(support_result(found, 0), "note")),
                        "needs set.csv under --data DIR");
    assert_true(json_is_null(json_object_get(support_result(found, 0), "ours")));
    assert_true(support_result_number(support_result(found, 1), "ours") > 0.34);
    json_decref(found);
    assert_fails(ctx, KFE_EINPUT, "needs set.csv, v/one.csv, v/two.csv, v/labels.csv under --data DIR",
                 rep_run(ctx, support_text("s.json", none), &settings, &out, NULL));
    assert_null(out);
}

/* The folder is that of the file just written. The labels equal the one feature, so 1-NN makes no mistakes. */
static void test_files_are_read_from_the_folder(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] =
        "{" HEAD ", \"protocol\": {\"folds\": 2}, \"columns\": [{\"name\": \"N\", \"method\": \"none\", "
        "\"learner\": \"knn\"}, {\"name\": \"O\", \"method\": \"none\", \"learner\": \"knn\"}], \"rows\": "
        "[{\"name\": \"F\", \"data\": \"set.csv\", \"reading\": {\"label\": \"last\"}, \"note\": \"made "
        "up\", "
        "\"columns\": {\"O\": null}, \"paper\": {\"N\": 0.5}}]}";
    char folder[600];
    const rep_settings settings = {.data = folder};
    char *out = NULL;

    snprintf(folder, sizeof folder, "%s",
             support_text("set.csv", "1,1\n1,1\n2,2\n2,2\n1,1\n2,2\n1,1\n2,2\n"));
    *strrchr(folder, '/') = '\0';
    json_t *found = support_reproduce(ctx, text, &settings);
    assert_true(support_result_number(support_result(found, 0), "ours") == 1);
    assert_true(json_is_null(json_object_get(support_result(found, 0), "difference")));
    assert_int_equal(json_array_size(json_object_get(found, "results")), 1); /* O is skipped */
    json_decref(found);
    assert_ok(ctx, rep_run(ctx, support_text("s.json", text), &settings, &out, NULL));
    assert_non_null(strstr(out, "F (made up)\n"));
    assert_non_null(strstr(out, "1.000 +- 0.000"));
    free(out);
}

/* ---- failing allocations ---- */

typedef struct reproduction {
    const char *path, *output;
    kfe_style style;
} reproduction;

static kfe_status reproduce_once(kfe_context *ctx, void *user)
{
    const reproduction *one = user;
    const rep_settings settings = {.output = one->output};
    char *out = NULL;
    kfe_status status = rep_run(ctx, one->path, &settings, one->style == KFE_STYLE_TEXT ? &out : NULL,
                                one->style == KFE_STYLE_JSON ? &out : NULL);

    assert_int_equal(out == NULL, status != KFE_OK);
    free(out);
    return status;
}

static void sweep_failures(const char *text, const char *output, kfe_style style)
{
    char path[512];

    snprintf(path, sizeof path, "%s", support_text("s.json", text));
    support_sweep_all(path, reproduce_once, &(reproduction){path, output, style}, 50);
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
    static const char time[] =
        "{" HEAD ", \"kind\": \"time\", \"protocol\": {\"folds\": 2}, \"columns\": [{\"name\": \"K\", "
        "\"method\": \"koc\"}], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"per-class\": 3}]}";
    static const char path[] = PATH
        "[{" SMC ", \"record\": \"test / features\"}], \"protocol\": {\"folds\": 2}, \"rows\": [{\"name\": "
        "\"R\", \"generate\": \"sma-cost\", \"options\": {\"n\": 12, \"features\": 60}, \"rows\": 10, "
        "\"target-scale\": \"standard\"}]}";
    static const char predictor[] =
        "{" HEAD ", \"protocol\": {\"folds\": 2}, \"columns\": [{\"name\": \"J\", \"method\": "
        "\"svm-joint\", \"params\": {\"max-iter\": 2}}, {\"name\": \"M\", \"method\": \"svm-mkl\", "
        "\"params\": {\"max-iter\": 2}}], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", "
        "\"options\": {\"per-class\": 4}}]}";
    char output[600];
    char file[700];

    (void)state;
    sweep_failures(path, NULL, KFE_STYLE_TEXT);
    sweep_failures(time, NULL, KFE_STYLE_TEXT);
    sweep_failures(predictor, NULL, KFE_STYLE_TEXT);
    snprintf(output, sizeof output, "%s", support_path("failures"));
    sweep_failures(table, NULL, KFE_STYLE_TEXT);
    sweep_failures(scatter, output, KFE_STYLE_JSON);
    snprintf(file, sizeof file, "%s/s.csv", support_path("failures"));
    assert_int_equal(remove(file), 0);
    snprintf(file, sizeof file, "%s/s-S-K.csv", support_path("failures"));
    assert_int_equal(remove(file), 0);
    assert_int_equal(remove(support_path("failures")), 0); /* no unfinished file is left */
}

/* ---- parts of a table ---- */

static void test_one_row_and_column(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] = "{" HEAD ", \"columns\": [" KNN ", {\"name\": \"P\"}], \"rows\": [" SLABS
                               ", {\"name\": \"I\", \"generate\": \"iris\"}]}";
    const rep_settings one = {.row = "I", .column = "K"};
    const rep_settings wrong = {.row = "J"};
    char *out = NULL;
    json_t *all = support_reproduce(ctx, text, NULL);
    json_t *part = support_reproduce(ctx, text, &one);

    assert_int_equal(json_array_size(json_object_get(all, "results")), 4);
    assert_int_equal(json_array_size(json_object_get(part, "results")), 1);
    assert_true(support_result_number(support_result(part, 0), "ours") ==
                support_result_number(support_result(all, 2), "ours"));
    assert_fails(ctx, KFE_EINVAL, "no row 'J'",
                 rep_run(ctx, support_text("s.json", text), &wrong, &out, NULL));
    json_decref(all);
    json_decref(part);
}

/* ---- settings that fail ---- */

#define FAILING(grid)                                                                                        \
    "{" HEAD ", \"columns\": [{\"name\": \"U\", \"method\": \"uhsic\", \"kernel\": \"rbf\", \"learner\": "   \
    "\"knn\", \"grid\": [\"gamma=" grid "\"]}], \"rows\": [" SLABS "]}"

/* With a Gaussian kernel of gamma 1e-40 all rows are equal. */
static void test_failing_settings_are_left_out(void **state)
{
    kfe_context *ctx = *state;
    json_t *with = support_reproduce(ctx, FAILING("0.1,0.3,1e-40"), NULL);
    json_t *without = support_reproduce(ctx, FAILING("0.1,0.3"), NULL);
    const json_t *result = support_result(with, 0);
    const char *failed = json_string_value(json_object_get(result, "failed"));

    assert_true(support_result_number(result, "ours") ==
                support_result_number(support_result(without, 0), "ours"));
    assert_non_null(failed);
    assert_non_null(strstr(failed, "1 of 3 settings failed: uhsic: all examples are the same to the kernel"));
    assert_true(json_is_null(json_object_get(support_result(without, 0), "failed")));
    json_decref(with);
    json_decref(without);
}

/* ---- repeatability ---- */

static void test_the_seed_decides(void **state)
{
    kfe_context *ctx = *state;
    static const char text[] = "{" HEAD ", \"columns\": [" KNN "], \"rows\": [" SLABS "]}";
    const json_t *results[3];
    json_t *found[3];

    for (int i = 0; i < 3; i++) {
        kfe_context_set_seed(ctx, i == 2 ? 8 : 7);
        found[i] = support_reproduce(ctx, text, NULL);
        results[i] = support_result(found[i], 0);
    }
    assert_true(support_result_number(results[0], "ours") == support_result_number(results[1], "ours"));
    assert_true(support_result_number(results[0], "sd") == support_result_number(results[1], "sd"));
    assert_true(support_result_number(results[0], "sd") != support_result_number(results[2], "sd"));
    for (int i = 0; i < 3; i++)
        json_decref(found[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_embedded_specifications_are_sound),
        with_context(test_table_equals_the_search),
        with_context(test_curve_equals_the_search_at_each_point),
        cmocka_unit_test(test_no_difference_without_spread),
        with_context(test_svms_of_methods_are_measured),
        with_context(test_separation_by_hand),
        with_context(test_scatter_writes_features),
        with_context(test_missing_files_are_named),
        with_context(test_files_are_read_from_the_folder),
        with_context(test_failing_allocations),
        with_context(test_one_row_and_column),
        with_context(test_failing_settings_are_left_out),
        with_context(test_the_seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
