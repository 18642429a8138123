/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validation and comparison through the public calls: the model of the best setting, and results whose
 * numbers are consistent. */
#include "support/select.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "support/points.h"
#include "support/result.h"
#include "support/sweep.h"

enum { ROWS = 50, COLS = 4, FOLDS = 5 };

static kfe_spec *spec_of(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                         const char *learner)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, kernel, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, NULL));
    return spec;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    assert_true(json_is_number(value));
    return json_number_value(value);
}

static json_t *cross_validate(kfe_context *ctx, const kfe_spec *spec, const char *grid, const kfe_data *data,
                              const char *options, kfe_model **best)
{
    char *text = NULL;

    assert_ok(ctx, write_cross_validate(ctx, spec, grid ? 1 : 0, &grid, data, options, KFE_STYLE_JSON, best,
                                        &text));
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    kfe_string_free(ctx, text);
    return json;
}

/* ---- cross-validation ---- */

static void assert_same_predictions(kfe_context *ctx, const kfe_model *a, const kfe_model *b,
                                    const kfe_data *data)
{
    kfe_matrix predictions[2];
    kfe_matrix scores[2];

    assert_ok(ctx, kfe_predict(ctx, a, data, &predictions[0], &scores[0]));
    assert_ok(ctx, kfe_predict(ctx, b, data, &predictions[1], &scores[1]));
    assert_int_equal(scores[0].cols, scores[1].cols);
    assert_memory_equal(predictions[0].values, predictions[1].values,
                        (size_t)predictions[0].rows * sizeof(double));
    assert_memory_equal(scores[0].values, scores[1].values,
                        (size_t)(scores[0].rows * scores[0].cols) * sizeof(double));
    for (int i = 0; i < 2; i++) {
        kfe_matrix_free(&predictions[i]);
        kfe_matrix_free(&scores[i]);
    }
}

static void test_best_model_is_that_of_the_best_setting(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *spec = spec_of(ctx, "koc", "scale=standard", "rbf", "knn");
    kfe_model *best = NULL;
    json_t *json = cross_validate(ctx, spec, "gamma=0.001,0.1,10", s.data, NULL, &best);
    char kernel[64];

    snprintf(kernel, sizeof kernel, "rbf:gamma=%s",
             json_string_value(json_object_get(json_object_get(json, "best"), "gamma")));
    kfe_spec *by_hand = spec_of(ctx, "koc", "scale=standard", kernel, "knn");
    kfe_model *expected = NULL;
    assert_ok(ctx, kfe_fit(ctx, by_hand, s.data, &expected));
    assert_same_predictions(ctx, best, expected, s.data);
    json_decref(json);
    kfe_model_free(best);
    kfe_model_free(expected);
    kfe_spec_free(spec);
    kfe_spec_free(by_hand);
    select_sample_free(&s);
}

/* Without a grid there is nothing to choose, and `best` is a fit of the spec itself. */
static void test_best_model_without_a_grid(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *spec = spec_of(ctx, "pca", NULL, NULL, "ls");
    kfe_model *best = NULL;
    kfe_model *expected = NULL;
    json_t *json = cross_validate(ctx, spec, NULL, s.data, NULL, &best);

    assert_ok(ctx, kfe_fit(ctx, spec, s.data, &expected));
    assert_same_predictions(ctx, best, expected, s.data);
    assert_null(json_object_get(json, "best"));
    assert_false(json_is_true(json_object_get(json, "nested")));
    json_decref(json);
    kfe_model_free(best);
    kfe_model_free(expected);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void check_mean(const json_t *json, const char *metric)
{
    const json_t *splits = json_object_get(json, "splits");
    const json_t *told = json_object_get(json_object_get(json, "metrics"), metric);
    double n = (double)json_array_size(splits);
    double mean = 0;
    double squares = 0;

    for (size_t i = 0; i < json_array_size(splits); i++)
        mean += number(json_object_get(json_array_get(splits, i), "metrics"), metric) / n;
    for (size_t i = 0; i < json_array_size(splits); i++)
        squares += pow(number(json_object_get(json_array_get(splits, i), "metrics"), metric) - mean, 2);
    assert_below(fabs(number(told, "mean") - mean), 1e-12);
    assert_below(fabs(number(told, "sd") - sqrt(squares / (n - 1))), 1e-12);
}

static void test_text_of_cross_validation(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *spec = spec_of(ctx, "koc", NULL, "rbf", "knn");
    json_t *json =
        cross_validate(ctx, spec, "gamma=0.01,0.1,1", s.data, "metrics=accuracy;auc,repeats=2", NULL);
    const json_t *splits = json_object_get(json, "splits");
    const char *const grids[] = {"gamma=0.01,0.1,1"};
    char *text = NULL;

    check_mean(json, "accuracy");
    check_mean(json, "auc");
    assert_int_equal(json_array_size(splits), 2 * FOLDS);
    assert_int_equal(json_array_size(json_object_get(json, "settings")), 3);
    assert_true(json_is_true(json_object_get(json, "nested")));
    assert_string_equal(json_string_value(json_object_get(json, "method")), "koc");
    assert_string_equal(json_string_value(json_object_get(json, "learner")), "knn");
    for (size_t i = 0; i < json_array_size(splits); i++) {
        const json_t *split = json_array_get(splits, i);
        assert_true(number(split, "train_rows") + number(split, "test_rows") == ROWS);
        assert_non_null(json_object_get(json_object_get(split, "setting"), "gamma"));
    }
    json_decref(json);
    for (int inner = 0; inner <= 3; inner += 3) {
        char options[32];
        snprintf(options, sizeof options, "inner-folds=%d", inner);
        assert_ok(ctx,
                  write_cross_validate(ctx, spec, 1, grids, s.data, options, KFE_STYLE_TEXT, NULL, &text));
        assert_non_null(strstr(text, "accuracy"));
        assert_non_null(strstr(text, "gamma="));
        assert_int_equal(strstr(text, "fair estimate") != NULL, inner == 0);
        kfe_string_free(ctx, text);
    }
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- settings that fail ---- */

/* Numbers around 1e5 overflow when raised to the power 100. */
static select_sample large_sample(kfe_context *ctx)
{
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);

    for (int64_t i = 0; i < ROWS * COLS; i++)
        s.data->views[0].table.values[i] = 1e5 * (2 + s.data->views[0].table.values[i]);
    return s;
}

static void test_a_failed_setting_is_named_and_not_chosen(void **state)
{
    static const char *const grids[] = {"degree=100,1"};
    kfe_context *ctx = *state;
    select_sample s = large_sample(ctx);
    kfe_spec *spec = spec_of(ctx, "koc", "scale=none", "poly", "knn");

    for (int inner = 0; inner <= 3; inner += 3) {
        char options[32];
        char *text = NULL;
        snprintf(options, sizeof options, "inner-folds=%d", inner);
        json_t *json = cross_validate(ctx, spec, grids[0], s.data, options, NULL);
        const json_t *settings = json_object_get(json, "settings");
        const json_t *failed = json_array_get(settings, 0);
        const json_t *splits = json_object_get(json, "splits");
        assert_true(number(failed, "failed_splits") == (inner ? 15 : FOLDS));
        assert_true(json_is_string(json_object_get(failed, "failed")));
        assert_true(json_is_null(json_object_get(json_array_get(settings, 1), "failed")));
        assert_int_equal(json_array_size(splits), FOLDS);
        for (size_t i = 0; i < json_array_size(splits); i++) {
            const json_t *setting = json_object_get(json_array_get(splits, i), "setting");
            assert_string_equal(json_string_value(json_object_get(setting, "degree")), "1");
            assert_true(json_is_null(json_object_get(json_array_get(splits, i), "failed")));
            assert_true(number(json_array_get(splits, i), "seconds") >= 0);
        }
        assert_ok(ctx,
                  write_cross_validate(ctx, spec, 1, grids, s.data, options, KFE_STYLE_TEXT, NULL, &text));
        assert_non_null(strstr(text, "failed: degree=100 on "));
        kfe_string_free(ctx, text);
        json_decref(json);
    }
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* All training rows of the first split are equal, so kfd cannot separate the classes. */
static void test_a_failed_split_is_left_out_of_the_mean(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *spec = spec_of(ctx, "kfd", NULL, "linear", "knn");
    char options[700] = "split-file=";

    for (int64_t i = 0; i < ROWS / 2 * COLS; i++)
        s.data->views[0].table.values[i] = 1;
    strcat(options, support_text("same.txt", "train 1-25\ntest 26-50\ntrain 20-50\ntest 1-19\n"));
    json_t *json = cross_validate(ctx, spec, NULL, s.data, options, NULL);
    const json_t *splits = json_object_get(json, "splits");
    const json_t *good = json_object_get(json_array_get(splits, 1), "metrics");
    assert_int_equal(json_array_size(splits), 2);
    assert_non_null(strstr(json_string_value(json_object_get(json_array_get(splits, 0), "failed")), "same"));
    assert_true(number(json_object_get(json_object_get(json, "metrics"), "accuracy"), "mean") ==
                number(good, "accuracy"));
    json_decref(json);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void test_a_failed_method_is_a_row_of_the_comparison(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = large_sample(ctx);
    kfe_spec *specs[2] = {spec_of(ctx, "koc", "scale=none", "poly:degree=100", "knn"),
                          spec_of(ctx, "none", "scale=none", NULL, "knn")};
    char *text = NULL;

    assert_ok(ctx, write_compare(ctx, 2, (const kfe_spec *const *)specs, 0, NULL, s.data, NULL,
                                 KFE_STYLE_JSON, &text));
    json_t *json = json_loads(text, 0, NULL);
    const json_t *failed = json_object_get(json, "failed");
    assert_int_equal(json_array_size(json_object_get(json, "methods")), 1);
    assert_int_equal(json_array_size(failed), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(failed, 0), "method")), "koc");
    assert_true(strlen(json_string_value(json_object_get(json_array_get(failed, 0), "reason"))) > 10);
    kfe_string_free(ctx, text);
    json_decref(json);
    assert_ok(ctx, write_compare(ctx, 2, (const kfe_spec *const *)specs, 0, NULL, s.data, NULL,
                                 KFE_STYLE_TEXT, &text));
    assert_non_null(strstr(text, "failed: "));
    kfe_string_free(ctx, text);
    for (int i = 0; i < 2; i++)
        kfe_spec_free(specs[i]);
    select_sample_free(&s);
}

static void test_best_values_at_the_edge_are_named(void **state)
{
    static const char *const grids[] = {"gamma=1e-12,1e-11,1e-10", "gamma=1e-12,0.1,1e12"};
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 3);
    kfe_spec *spec = spec_of(ctx, "none", NULL, "rbf", "svm");

    for (int g = 0; g < 2; g++) {
        char *text = NULL;
        json_t *json = cross_validate(ctx, spec, grids[g], s.data, NULL, NULL);
        const json_t *edges = json_object_get(json, "edges");
        const json_t *best = json_object_get(json_object_get(json, "best"), "gamma");
        assert_ok(ctx,
                  write_cross_validate(ctx, spec, 1, &grids[g], s.data, NULL, KFE_STYLE_TEXT, NULL, &text));
        assert_int_equal(json_array_size(edges), g == 0);
        assert_int_equal(strstr(text, "best value at the edge of the grid: gamma=") != NULL, g == 0);
        if (g == 0) {
            const json_t *edge = json_array_get(edges, 0);
            assert_string_equal(json_string_value(json_object_get(edge, "parameter")), "gamma");
            assert_true(json_equal(json_object_get(edge, "value"), best));
            assert_string_equal(json_string_value(json_object_get(edge, "side")),
                                strcmp(json_string_value(best), "1e-12") == 0 ? "lower" : "upper");
        }
        kfe_string_free(ctx, text);
        json_decref(json);
    }
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- comparison ---- */

enum { METHODS = 3 };

static json_t *compare(kfe_context *ctx, int count, kfe_spec *const *specs, const char *grid,
                       const kfe_data *data, const char *options)
{
    char *text = NULL;

    assert_ok(ctx, write_compare(ctx, count, (const kfe_spec *const *)specs, grid ? 1 : 0, &grid, data,
                                 options, KFE_STYLE_JSON, &text));
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    kfe_string_free(ctx, text);
    return json;
}

static double value_of(const json_t *assessment, int split)
{
    const json_t *entry = json_array_get(json_object_get(assessment, "splits"), (size_t)split);
    return number(json_object_get(entry, "metrics"), "accuracy");
}

static void check_test(kfe_context *ctx, const json_t *told, const double *a, const double *b, double share)
{
    double t = 0;
    double p = 0;

    assert_ok(ctx, kfe_paired_test(ctx, FOLDS, a, b, share, &t, &p));
    if (isfinite(t))
        assert_below(fabs(number(told, "t") - t), 1e-9 * fmax(1, fabs(t)));
    assert_below(fabs(number(told, "p") - p), 1e-9);
    assert_int_equal(json_is_true(json_object_get(told, "significant")), p < 0.05);
}

static void check_pair(kfe_context *ctx, const json_t *pair, const json_t *first, const json_t *second)
{
    double a[FOLDS];
    double b[FOLDS];
    double difference = 0;

    for (int f = 0; f < FOLDS; f++) {
        a[f] = value_of(first, f);
        b[f] = value_of(second, f);
        difference += (a[f] - b[f]) / FOLDS;
    }
    assert_string_equal(json_string_value(json_object_get(pair, "a")),
                        json_string_value(json_object_get(first, "label")));
    assert_string_equal(json_string_value(json_object_get(pair, "b")),
                        json_string_value(json_object_get(second, "label")));
    assert_below(fabs(number(pair, "difference") - difference), 1e-12);
    check_test(ctx, json_object_get(pair, "paired"), a, b, 0);
    check_test(ctx, json_object_get(pair, "corrected"), a, b, 1.0 / (FOLDS - 1));
}

static void test_comparison_has_all_pairs(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *specs[METHODS] = {spec_of(ctx, "koc", NULL, "rbf", "knn"),
                                spec_of(ctx, "pca", "dim=1", NULL, "ls"),
                                spec_of(ctx, "none", NULL, NULL, "centroid")};
    json_t *json = compare(ctx, METHODS, specs, NULL, s.data, NULL);
    const json_t *methods = json_object_get(json, "methods");
    const json_t *pairs = json_object_get(json, "differences");
    size_t at = 0;

    assert_int_equal(json_array_size(methods), METHODS);
    assert_int_equal(json_array_size(pairs), METHODS * (METHODS - 1) / 2);
    for (size_t i = 0; i < METHODS; i++)
        for (size_t j = i + 1; j < METHODS; j++)
            check_pair(ctx, json_array_get(pairs, at++), json_array_get(methods, i),
                       json_array_get(methods, j));
    for (int i = 0; i < METHODS; i++) { /* the splits equal those of separate runs */
        json_t *alone = cross_validate(ctx, specs[i], NULL, s.data, NULL, NULL);
        for (int f = 0; f < FOLDS; f++)
            assert_true(value_of(alone, f) == value_of(json_array_get(methods, (size_t)i), f));
        json_decref(alone);
        kfe_spec_free(specs[i]);
    }
    json_decref(json);
    select_sample_free(&s);
}

static void test_method_does_not_differ_from_itself(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *spec = spec_of(ctx, "koc", NULL, "rbf", "knn");
    kfe_spec *both[] = {spec, spec};
    json_t *json = compare(ctx, 2, both, "gamma=0.1,1", s.data, NULL);
    const json_t *pair = json_array_get(json_object_get(json, "differences"), 0);

    assert_true(number(pair, "difference") == 0);
    assert_true(number(json_object_get(pair, "paired"), "t") == 0);
    assert_false(json_is_true(json_object_get(json_object_get(pair, "paired"), "significant")));
    assert_false(json_is_true(json_object_get(json_object_get(pair, "corrected"), "significant")));
    json_decref(json);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void test_grids_serve_those_that_have_the_parameter(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *specs[] = {spec_of(ctx, "koc", NULL, "rbf", "knn"), spec_of(ctx, "pca", NULL, NULL, "knn")};
    const kfe_spec *const lent[] = {specs[0], specs[1]};
    const char *const nobody[] = {"gamma=1,2", "C=1,2"};
    json_t *json = compare(ctx, 2, specs, "gamma=0.1,1", s.data, NULL);
    const json_t *methods = json_object_get(json, "methods");
    char *text = NULL;

    assert_true(json_is_true(json_object_get(json_array_get(methods, 0), "nested")));
    assert_false(json_is_true(json_object_get(json_array_get(methods, 1), "nested")));
    json_decref(json);
    assert_fails(ctx, KFE_EINVAL, "C=1,2",
                 write_compare(ctx, 2, lent, 2, nobody, s.data, NULL, KFE_STYLE_TEXT, &text));
    assert_null(text);
    assert_fails(ctx, KFE_EINVAL, "nothing",
                 write_compare(ctx, 0, lent, 0, NULL, s.data, NULL, KFE_STYLE_TEXT, &text));
    assert_ok(ctx, write_compare(ctx, 2, lent, 0, NULL, s.data, "bold=stars,folds=3", KFE_STYLE_TEXT, &text));
    assert_non_null(strstr(text, "**"));
    assert_non_null(strstr(text, "koc"));
    assert_non_null(strstr(text, "pca"));
    kfe_string_free(ctx, text);
    kfe_spec_free(specs[0]);
    kfe_spec_free(specs[1]);
    select_sample_free(&s);
}

/* ---- failing allocations ---- */

enum { FEW = 12 };

typedef struct comparison {
    const double *x;
    kfe_style style;
} comparison;

static kfe_status validate_and_compare(kfe_context *ctx, void *user)
{
    const comparison *one = user;
    static const char *const grids[] = {"neighbors=1,3"};
    const char *labels[FEW];
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *best = NULL;
    char *text = NULL;
    kfe_status status;

    for (int i = 0; i < FEW; i++)
        labels[i] = i % 2 ? "b" : "a";
    if ((status = kfe_data_wrap_dense(ctx, FEW, COLS, COLS, one->x, &data)) == KFE_OK &&
        (status = kfe_data_set_labels(ctx, data, labels)) == KFE_OK &&
        (status = kfe_spec_parse(ctx, "koc", "dim=1", NULL, &spec)) == KFE_OK &&
        (status = kfe_spec_set_learner(ctx, spec, "knn", NULL)) == KFE_OK &&
        (status = write_cross_validate(ctx, spec, 1, grids, data, "folds=2,inner-folds=2", one->style, &best,
                                       &text)) == KFE_OK) {
        const kfe_spec *const both[] = {spec, spec};
        kfe_string_free(ctx, text);
        status = write_compare(ctx, 2, both, 1, grids, data, "folds=2,inner-folds=0,bold=stars", one->style,
                               &text);
    }
    kfe_string_free(ctx, text);
    kfe_model_free(best);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    double *x = support_normals(3, FEW * COLS);

    (void)state;
    for (int style = 0; style < 2; style++) {
        comparison one = {x, (kfe_style)style};
        /* the styles differ only in the writing, which is written last */
        support_sweep_run(&(support_sweep){.name = style ? "JSON" : "text",
                                           .use = validate_and_compare,
                                           .user = &one,
                                           .at_least = 300,
                                           .last = style ? 300 : 0});
    }
    free(x);
}

/* Settings of one method are labelled by their differences, and by a number if there are none. */
static void test_labels_are_distinct(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.5);
    kfe_spec *specs[4] = {
        spec_of(ctx, "koc", NULL, "rbf:gamma=1", "knn"), spec_of(ctx, "koc", NULL, "rbf:gamma=2", "knn"),
        spec_of(ctx, "koc", NULL, "rbf:gamma=2", "knn"), spec_of(ctx, "none", NULL, NULL, "knn")};
    static const char *const expected[4] = {"koc rbf:gamma=1 knn", "koc rbf:gamma=2 knn",
                                            "koc rbf:gamma=2 knn #2", "knn"};
    json_t *json = compare(ctx, 4, specs, NULL, s.data, NULL);

    for (size_t i = 0; i < 4; i++) {
        const json_t *method = json_array_get(json_object_get(json, "methods"), i);
        assert_string_equal(json_string_value(json_object_get(method, "label")), expected[i]);
        kfe_spec_free(specs[i]);
    }
    json_decref(json);
    select_sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_best_values_at_the_edge_are_named),
        with_context(test_labels_are_distinct),
        with_context(test_a_failed_setting_is_named_and_not_chosen),
        with_context(test_a_failed_split_is_left_out_of_the_mean),
        with_context(test_a_failed_method_is_a_row_of_the_comparison),
        cmocka_unit_test(test_best_model_is_that_of_the_best_setting),
        cmocka_unit_test(test_best_model_without_a_grid),
        cmocka_unit_test(test_text_of_cross_validation),
        cmocka_unit_test(test_comparison_has_all_pairs),
        cmocka_unit_test(test_method_does_not_differ_from_itself),
        cmocka_unit_test(test_grids_serve_those_that_have_the_parameter),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
