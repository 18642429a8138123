/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for programs built on the library: rows of data, splits, checks of a cross-validation, and users' own
 * failures and progress. */
#include "support/fit.h"
#include "support/result.h"

#include <jansson.h>

static kfe_data *make_iris(kfe_context *ctx)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &data));
    return data;
}

/* ---- rows ---- */

/* iris has its three classes in blocks of 50 rows. */
static void test_rows_in_the_order_listed(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t rows[] = {149, 3, 3, 120};
    kfe_data *iris = make_iris(ctx);
    kfe_data *part = NULL;

    assert_ok(ctx, kfe_data_take(ctx, iris, 4, rows, &part));
    assert_int_equal(kfe_data_rows(part), 4);
    assert_int_equal(kfe_data_classes(part), 2); /* versicolor is missing */
    for (int64_t i = 0; i < 4; i++) {
        double taken[4];
        double original[4];
        assert_ok(ctx, kfe_data_row(ctx, part, 0, i, taken));
        assert_ok(ctx, kfe_data_row(ctx, iris, 0, rows[i], original));
        assert_memory_equal(taken, original, sizeof taken);
        assert_string_equal(kfe_data_class_name(part, kfe_data_class_of(part, i)),
                            kfe_data_class_name(iris, kfe_data_class_of(iris, rows[i])));
    }
    kfe_data_free(part);
    assert_fails(ctx, KFE_EINVAL, "there is no row 150; the rows are 0 to 149",
                 kfe_data_take(ctx, iris, 1, (int64_t[]){150}, &part));
    assert_fails(ctx, KFE_EINVAL, "there is no row -1; the rows are 0 to 149",
                 kfe_data_take(ctx, iris, 2, (int64_t[]){149, -1}, &part));
    assert_null(part);
    assert_fails(ctx, KFE_EINVAL, "no rows", kfe_data_take(ctx, iris, 0, rows, &part));
    kfe_data_free(iris);
}

/* ---- splits ---- */

static void test_folds_are_a_partition(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *iris = make_iris(ctx);
    kfe_splits *splits = NULL;
    int tested[150] = {0};
    int64_t count = 0;

    assert_ok(ctx, kfe_splits_make(ctx, iris, "folds=4", &splits));
    assert_int_equal(kfe_splits_count(splits), 4);
    for (int64_t s = 0; s < 4; s++) {
        int trained[150] = {0};
        const int64_t *rows = kfe_splits_train(splits, s, &count);
        for (int64_t i = 0; i < count; i++)
            trained[rows[i]]++;
        rows = kfe_splits_test(splits, s, &count);
        for (int64_t i = 0; i < count; i++) {
            tested[rows[i]]++;
            trained[rows[i]]++;
            assert_true(i == 0 || rows[i] > rows[i - 1]);
        }
        for (int i = 0; i < 150; i++)
            assert_int_equal(trained[i], 1);
    }
    for (int i = 0; i < 150; i++)
        assert_int_equal(tested[i], 1);
    assert_null(kfe_splits_train(splits, 4, &count));
    assert_int_equal(count, 0);
    assert_null(kfe_splits_test(splits, -1, &count));
    kfe_splits_free(splits);
    kfe_data_free(iris);
}

static double error_by_hand(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                            const kfe_splits *splits)
{
    kfe_data *parts[2] = {NULL, NULL};
    kfe_model *model = NULL;
    kfe_matrix predictions = {0};
    int64_t count = 0;
    int64_t wrong = 0;
    const int64_t *rows = kfe_splits_train(splits, 0, &count);

    assert_ok(ctx, kfe_data_take(ctx, data, count, rows, &parts[0]));
    assert_ok(ctx, kfe_fit(ctx, spec, parts[0], &model));
    rows = kfe_splits_test(splits, 0, &count);
    assert_ok(ctx, kfe_data_take(ctx, data, count, rows, &parts[1]));
    assert_ok(ctx, kfe_predict(ctx, model, parts[1], &predictions, NULL));
    for (int64_t i = 0; i < count; i++)
        wrong += strcmp(kfe_model_class_name(model, (int64_t)predictions.values[i]),
                        kfe_data_class_name(parts[1], kfe_data_class_of(parts[1], i))) != 0;
    kfe_matrix_free(&predictions);
    kfe_model_free(model);
    kfe_data_free(parts[0]);
    kfe_data_free(parts[1]);
    return (double)wrong / (double)count;
}

/* A fit on the training rows, evaluated on the test rows, has the error that cross-validation reports. */
static void test_splits_are_those_of_cross_validation(void **state)
{
    kfe_context *ctx = *state;
    static const char options[] = "split=random,train-size=20,repeats=1,metrics=error";
    kfe_data *iris = make_iris(ctx);
    kfe_splits *splits = NULL;
    kfe_spec *spec = NULL;
    char *text = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf:gamma=0.5", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, write_cross_validate(ctx, spec, 0, NULL, iris, options, KFE_STYLE_JSON, NULL, &text));
    json_t *result = json_loads(text, 0, NULL);
    json_t *first = json_array_get(json_object_get(result, "splits"), 0);
    double error = json_number_value(json_object_get(json_object_get(first, "metrics"), "error"));
    assert_ok(ctx, kfe_splits_make(ctx, iris, options, &splits));
    assert_true(error > 0);
    assert_true(error_by_hand(ctx, spec, iris, splits) == error);
    json_decref(result);
    kfe_string_free(ctx, text);
    kfe_splits_free(splits);
    kfe_spec_free(spec);
    kfe_data_free(iris);
}

/* ---- checks ---- */

static void test_grids_are_checked_without_data(void **state)
{
    kfe_context *ctx = *state;
    static const char *const grids[] = {"gamma=0.1,1,10", "neighbors=1,5", NULL};
    static const char *const misspelt[] = {"gama=1", NULL};
    kfe_spec *spec = NULL;
    int64_t settings = 0;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, kfe_cv_check(ctx, spec, grids, "folds=3", &settings));
    assert_int_equal(settings, 6);
    assert_fails(ctx, KFE_EINVAL, "gama", kfe_cv_check(ctx, spec, misspelt, NULL, &settings));
    assert_int_equal(settings, 0);
    assert_fails(ctx, KFE_EINVAL, "fods", kfe_cv_check(ctx, spec, NULL, "fods=3", &settings));
    kfe_spec_free(spec);
}

/* ---- failures and progress ---- */

static void keep_stage(void *user, const char *stage, int64_t done, int64_t total)
{
    (void)done;
    (void)total;
    *(const char **)user = stage;
}

static int always(void *user)
{
    (void)user;
    return 1;
}

static void test_own_failures_and_progress(void **state)
{
    kfe_context *ctx = *state;
    const char *seen = NULL;

    assert_int_equal(kfe_fail(ctx, KFE_ENUMERIC, "my rule: 100 % singular"), KFE_ENUMERIC);
    assert_string_equal(kfe_error_message(ctx), "my rule: 100 % singular");
    assert_int_equal(kfe_fail(ctx, KFE_OK, "not a failure"), KFE_OK);
    assert_string_equal(kfe_error_message(ctx), "my rule: 100 % singular");
    kfe_context_on_progress(ctx, keep_stage, &seen);
    assert_ok(ctx, kfe_progress(ctx, "working", 1, 2));
    assert_string_equal(seen, "working");
    kfe_context_on_cancel(ctx, always, NULL);
    assert_fails(ctx, KFE_ECANCEL, "working", kfe_progress(ctx, "working", 2, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_rows_in_the_order_listed),
        with_context(test_folds_are_a_partition),
        with_context(test_splits_are_those_of_cross_validation),
        with_context(test_grids_are_checked_without_data),
        with_context(test_own_failures_and_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
