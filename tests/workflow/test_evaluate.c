/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluating and writing predictions of models whose predictions are known by hand: the nearest of three
 * points on a line, and a straight line. */
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "support/result.h"
#include "support/support.h"
#include "support/sweep.h"

static kfe_data *points(kfe_context *ctx, int64_t rows, const double *x, const char *const *labels)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, rows, 1, 1, x, &data));
    if (labels)
        assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    return data;
}

static kfe_model *fit(kfe_context *ctx, const char *learner, const char *params, const kfe_data *train)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    if (learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, params));
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    return model;
}

static const double centres[] = {0, 10, 20};
static const char *const letters[] = {"a", "b", "c"};

/* Predicts the nearest of 0 (a), 10 (b) and 20 (c). */
static kfe_model *nearest(kfe_context *ctx)
{
    kfe_data *train = points(ctx, 3, centres, letters);
    kfe_model *model = fit(ctx, "knn", NULL, train);

    kfe_data_free(train);
    return model;
}

/* The model predicts a b b c c a. */
static const double asked[] = {1, 9, 11, 19, 16, -3};

static json_t *evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const char *options)
{
    char *text = NULL;
    json_t *result;

    assert_ok(ctx, write_evaluate(ctx, model, data, options, KFE_STYLE_JSON, &text));
    result = json_loads(text, 0, NULL);
    if (!result)
        fail_msg("not JSON: %s", text);
    kfe_string_free(ctx, text);
    return result;
}

static double metric(json_t *result, const char *name)
{
    json_t *value = json_object_get(json_object_get(result, "metrics"), name);

    if (!json_is_number(value))
        fail_msg("metric %s is missing or null", name);
    return json_number_value(value);
}

static int64_t confusion(json_t *result, size_t truth, size_t predicted)
{
    json_t *matrix = json_object_get(json_object_get(result, "confusion"), "matrix");
    return json_integer_value(json_array_get(json_array_get(matrix, truth), predicted));
}

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-14)

static void test_classes_by_hand(void **state)
{
    static const char *const truth[] = {"c", "b", "a", "c", "c", "a"};
    static const int64_t expected[3][3] = {{1, 1, 0}, {0, 1, 0}, {1, 0, 2}};
    kfe_context *ctx = *state;
    kfe_model *model = nearest(ctx);
    kfe_data *data = points(ctx, 6, asked, truth);
    json_t *result = evaluate(ctx, model, data, NULL);

    assert_near(metric(result, "accuracy"), 4.0 / 6);
    assert_near(metric(result, "error"), 2.0 / 6);
    assert_near(metric(result, "balanced-accuracy"), (1.0 / 2 + 1 + 2.0 / 3) / 3);
    assert_near(metric(result, "f1"), (2.0 / 4 + 2.0 / 3 + 4.0 / 5) / 3);
    for (size_t g = 0; g < 3; g++) /* the order of classes is the model's, not that of the data */
        for (size_t h = 0; h < 3; h++)
            assert_int_equal(confusion(result, g, h), expected[g][h]);
    assert_int_equal(json_array_size(json_object_get(result, "curves")), 3);
    assert_int_equal(json_integer_value(json_object_get(result, "rows")), 6);
    json_decref(result);
    kfe_data_free(data);
    kfe_model_free(model);
}

static void test_unknown_labels_are_wrong(void **state)
{
    static const char *const truth[] = {"x", "b", "b", "y", "c", "a"};
    kfe_context *ctx = *state;
    kfe_model *model = nearest(ctx);
    kfe_data *data = points(ctx, 6, asked, truth);

    support_catch_log(ctx);
    json_t *result = evaluate(ctx, model, data, "metrics=accuracy;auc");
    assert_non_null(strstr(support_log(), "x, y"));
    assert_near(metric(result, "accuracy"), 4.0 / 6);
    assert_int_equal(json_object_size(json_object_get(result, "metrics")), 2);
    assert_int_equal(confusion(result, 3, 0), 1); /* x was predicted as a */
    assert_int_equal(confusion(result, 4, 2), 1); /* y was predicted as c */
    /* votes are 0 or 1: a and c find their one row and one of the five others, which gives 1 − (1/5)/2; b is
     * perfect; x and y get the same score for all rows */
    assert_near(metric(result, "auc"), (0.9 + 1 + 0.9 + 0.5 + 0.5) / 5);
    json_decref(result);
    kfe_data_free(data);
    kfe_model_free(model);
}

/* y = 2x + 1 is learned exactly; the true values are 1 above or below it. */
static void test_values_by_hand(void **state)
{
    static const double x[] = {0, 1, 2, 3};
    static const double y[] = {1, 3, 5, 7};
    static const double truth[] = {2, 2, 6, 6};
    kfe_context *ctx = *state;
    kfe_data *train = points(ctx, 4, x, NULL);
    kfe_data *data = points(ctx, 4, x, NULL);
    char *text = NULL;

    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, truth));
    kfe_model *model = fit(ctx, "ls", NULL, train);
    json_t *result = evaluate(ctx, model, data, NULL);
    assert_true(fabs(metric(result, "rmse") - 1) < 1e-12);
    assert_true(fabs(metric(result, "mae") - 1) < 1e-12);
    assert_true(fabs(metric(result, "r2") - 0.75) < 1e-12); /* of the sum of squares 16, 4 remains */
    assert_null(json_object_get(result, "confusion"));
    json_decref(result);
    assert_ok(ctx, write_evaluate(ctx, model, data, "metrics=mae", KFE_STYLE_TEXT, &text));
    assert_string_equal(text, "mae                 1\n");
    kfe_string_free(ctx, text);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(data);
}

static void test_refusals(void **state)
{
    static const double numbers[] = {1, 2, 3, 4, 5, 6};
    kfe_context *ctx = *state;
    kfe_model *model = nearest(ctx);
    kfe_data *bare = points(ctx, 6, asked, NULL);
    kfe_data *real = points(ctx, 6, asked, NULL);
    kfe_data *classes = points(ctx, 3, centres, letters);
    kfe_model *features = fit(ctx, NULL, NULL, classes);
    kfe_matrix wrong = {.rows = 1, .cols = 1, .stride = 1, .values = (double[]){3}};
    char *text = NULL;

    assert_ok(ctx, kfe_data_set_targets(ctx, real, 1, numbers));
    assert_fails(ctx, KFE_EINPUT, "labels", write_evaluate(ctx, model, bare, NULL, KFE_STYLE_TEXT, &text));
    assert_fails(ctx, KFE_EINPUT, "predicts classes",
                 write_evaluate(ctx, model, real, NULL, KFE_STYLE_TEXT, &text));
    assert_fails(ctx, KFE_EINVAL, "accuracy",
                 write_evaluate(ctx, model, classes, "metrics=acuracy", KFE_STYLE_TEXT, &text));
    assert_fails(ctx, KFE_EINVAL, "no class 'z'",
                 write_evaluate(ctx, model, classes, "positive=z", KFE_STYLE_TEXT, &text));
    assert_fails(ctx, KFE_EINVAL, "metrics",
                 write_evaluate(ctx, model, classes, "metric=f1", KFE_STYLE_TEXT, &text));
    assert_fails(ctx, KFE_EINVAL, "learner=knn",
                 write_evaluate(ctx, features, classes, NULL, KFE_STYLE_TEXT, &text));
    assert_null(text);
    assert_fails(ctx, KFE_EINVAL, "number of a class",
                 kfe_predictions_write(ctx, model, NULL, &wrong, NULL, support_path("wrong.csv")));
    wrong.values[0] = 0.5;
    assert_fails(ctx, KFE_EINVAL, "number of a class",
                 kfe_predictions_write(ctx, model, NULL, &wrong, NULL, support_path("wrong.csv")));
    wrong.values[0] = 0;
    assert_fails(ctx, KFE_EINVAL, "columns",
                 kfe_predictions_write(ctx, model, NULL, &wrong, &wrong, support_path("wrong.csv")));
    assert_fails(ctx, KFE_EINVAL, "text",
                 kfe_predictions_write(ctx, model, NULL, &wrong, NULL, support_path("wrong.npy")));
    assert_fails(ctx, KFE_EINVAL, "learner",
                 kfe_predictions_write(ctx, features, NULL, &wrong, NULL, support_path("wrong.csv")));
    kfe_model_free(features);
    kfe_model_free(model);
    kfe_data_free(bare);
    kfe_data_free(real);
    kfe_data_free(classes);
}

static void assert_file(const char *path, const char *expected)
{
    char content[512] = "";
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(content, expected);
}

/* Matrices with unused numbers between the rows, and a label that needs quotes. */
static void test_writing(void **state)
{
    static const char *const names[] = {"a", "b, or c", "c"};
    double codes[] = {1, -7, 0, -7};
    double votes[] = {0, 0.5, 0.25, -7, 1, 0, 0, -7};
    kfe_context *ctx = *state;
    kfe_data *train = points(ctx, 3, centres, names);
    kfe_model *model = fit(ctx, "knn", NULL, train);
    const kfe_matrix predictions = {.rows = 2, .cols = 1, .stride = 2, .values = codes};
    const kfe_matrix scores = {.rows = 2, .cols = 3, .stride = 4, .values = votes};
    const char *path = support_path("p.csv");

    assert_ok(ctx, kfe_predictions_write(ctx, model, NULL, &predictions, NULL, path));
    assert_file(path, "label\n\"b, or c\"\na\n");
    assert_ok(ctx, kfe_predictions_write(ctx, model, NULL, &predictions, &scores, path));
    assert_file(path, "label,score a,\"score b, or c\",score c\n\"b, or c\",0,0.5,0.25\na,1,0,0\n");
    path = support_path("p.tsv");
    assert_ok(ctx, kfe_predictions_write(ctx, model, NULL, &predictions, &scores, path));
    assert_file(path, "label\tscore a\tscore b, or c\tscore c\nb, or c\t0\t0.5\t0.25\na\t1\t0\t0\n");
    kfe_model_free(model);
    kfe_data_free(train);
}

/* ---- failing allocations ---- */

static kfe_status load_and_evaluate(kfe_context *ctx, void *model_path)
{
    static const char *const truth[] = {"x", "b", "b", "y", "c", "a"};
    kfe_model *model = NULL;
    kfe_data *data = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix scores = {0};
    char *text = NULL;
    char *json = NULL;
    kfe_status status = kfe_model_load(ctx, model_path, &model);

    if (status == KFE_OK)
        status = kfe_data_wrap_dense(ctx, 6, 1, 1, asked, &data);
    if (status == KFE_OK)
        status = kfe_data_set_labels(ctx, data, truth);
    if (status == KFE_OK)
        status = write_evaluate(ctx, model, data, NULL, KFE_STYLE_TEXT, &text);
    if (status == KFE_OK)
        status = write_evaluate(ctx, model, data, "metrics=auc;f1,positive=b", KFE_STYLE_JSON, &json);
    if (status == KFE_OK)
        status = kfe_predict(ctx, model, data, &predictions, &scores);
    if (status == KFE_OK)
        status = kfe_predictions_write(ctx, model, NULL, &predictions, &scores, support_path("swept.csv"));
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&scores);
    kfe_string_free(ctx, text);
    kfe_string_free(ctx, json);
    kfe_data_free(data);
    kfe_model_free(model);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    kfe_context *ctx = *state;
    kfe_model *model = nearest(ctx);
    char path[512];

    snprintf(path, sizeof path, "%s", support_path("swept.kfe"));
    assert_ok(ctx, kfe_model_save(ctx, model, path));
    kfe_model_free(model);
    support_sweep_all("evaluate", load_and_evaluate, path, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_classes_by_hand), with_context(test_unknown_labels_are_wrong),
        with_context(test_values_by_hand),  with_context(test_refusals),
        with_context(test_writing),         with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
