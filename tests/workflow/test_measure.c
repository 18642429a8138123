/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of kernels against their definitions, computed with full matrices. */
#include "support/fit.h"
#include "support/result.h"

#include <math.h>

#include <jansson.h>

#include "support/tolerance.h"

enum { ROWS = 14, COLS = 3 };
#define GAMMA 0.4
#define KERNEL "rbf:gamma=0.4"

static double inner(const double *a, const double *b)
{
    double sum = 0;

    for (int64_t i = 0; i < ROWS * ROWS; i++)
        sum += a[i] * b[i];
    return sum;
}

typedef struct expected_values {
    double alignment, centred_alignment, hsic, effective_rank;
} expected_values;

/* From K and T = YYᵀ by the formulas; HPH is computed by products of full matrices. */
static expected_values by_definition(const double *k, int64_t target_cols, const double *y)
{
    double kc[ROWS * ROWS];
    double trace = 0;
    expected_values e;
    double *turned = support_transpose(ROWS, target_cols, y);
    double *t = support_product(ROWS, target_cols, ROWS, y, turned);
    double *tc = support_product(ROWS, target_cols, ROWS, y, turned);

    memcpy(kc, k, sizeof kc);
    support_centre_kernel(ROWS, kc);
    support_centre_kernel(ROWS, tc);
    for (int64_t i = 0; i < ROWS; i++)
        trace += kc[i * ROWS + i];
    e.alignment = inner(k, t) / sqrt(inner(k, k) * inner(t, t));
    e.centred_alignment = inner(kc, tc) / sqrt(inner(kc, kc) * inner(tc, tc));
    e.hsic = inner(kc, t) / ((ROWS - 1) * (ROWS - 1));
    e.effective_rank = trace * trace / inner(kc, kc);
    free(turned);
    free(t);
    free(tc);
    return e;
}

static json_t *measure(kfe_context *ctx, const kfe_data *data, const char *options)
{
    const char *const kernels[] = {KERNEL, "linear"};
    char *text = NULL;
    json_error_t error;

    assert_ok(ctx, write_measure(ctx, data, 2, kernels, options, KFE_STYLE_JSON, &text));
    json_t *list = json_loads(text, 0, &error);
    if (!list)
        fail_msg("not JSON: %s: %s", error.text, text);
    kfe_string_free(ctx, text);
    assert_true(json_is_array(list));
    assert_int_equal(json_array_size(list), 2);
    return list;
}

static double number(const json_t *list, size_t kernel, const char *name)
{
    const json_t *value = json_object_get(json_array_get(list, kernel), name);

    assert_non_null(value);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void check_values(const json_t *list, size_t kernel, const expected_values *e, double tolerance)
{
    assert_below(fabs(number(list, kernel, "alignment") - e->alignment), tolerance);
    assert_below(fabs(number(list, kernel, "centred-alignment") - e->centred_alignment), tolerance);
    assert_below(fabs(number(list, kernel, "hsic") - e->hsic), tolerance * fmax(1, fabs(e->hsic)));
    assert_below(fabs(number(list, kernel, "effective-rank") - e->effective_rank),
                 tolerance * e->effective_rank);
}

static void check_all_ways(kfe_context *ctx, const double *x, const kfe_data *data, int64_t target_cols,
                           const double *y)
{
    double *k = support_rbf(ROWS, x, ROWS, x, COLS, GAMMA);
    double *turned = support_transpose(ROWS, COLS, x);
    double *linear = support_product(ROWS, COLS, ROWS, x, turned);
    expected_values with_rbf = by_definition(k, target_cols, y);
    expected_values with_linear = by_definition(linear, target_cols, y);
    static const char *const options[] = {NULL, "gram=f64", "gram=tiled", "gram=f32"};

    for (size_t i = 0; i < 4; i++) {
        json_t *list = measure(ctx, data, options[i]);
        double precision = i == 3 ? TOLERANCE_SINGLE : DBL_EPSILON;
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "kernel")), KERNEL);
        check_values(list, 0, &with_rbf, tolerance_sensitivity(ROWS, precision, 1));
        check_values(list, 1, &with_linear, tolerance_sensitivity(ROWS, precision, 1));
        json_decref(list);
    }
    free(k);
    free(turned);
    free(linear);
}

static void check_classes(kfe_context *ctx, int classes)
{
    double *x;
    int *class_of;
    double y[ROWS * 3] = {0};
    int64_t target_cols = classes == 2 ? 1 : classes;

    support_clouds(1 + (uint64_t)classes, ROWS, COLS, classes, 1, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (int64_t i = 0; i < ROWS; i++) {
        if (classes == 2)
            y[i] = class_of[i] ? -1 : 1;
        else
            y[i * classes + class_of[i]] = 1;
    }
    check_all_ways(ctx, x, data, target_cols, y);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

static void test_two_classes(void **state)
{
    check_classes(*state, 2);
}

static void test_three_classes(void **state)
{
    check_classes(*state, 3);
}

static void test_real_targets(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(5, ROWS * COLS);
    double *y = support_normals(6, ROWS * 2);

    for (int64_t cols = 1; cols <= 2; cols++) {
        kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
        assert_ok(ctx, kfe_data_set_targets(ctx, data, cols, y));
        check_all_ways(ctx, x, data, cols, y);
        kfe_data_free(data);
    }
    free(x);
    free(y);
}

/* A kernel that equals the target's own matrix has alignment one. */
static void test_perfect_kernel_has_alignment_one(void **state)
{
    kfe_context *ctx = *state;
    double k[ROWS * ROWS];
    int class_of[ROWS];
    const char *const kernels[] = {"precomputed"};
    char *text = NULL;

    for (int64_t i = 0; i < ROWS; i++)
        class_of[i] = i % 3 == 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++)
            k[i * ROWS + j] = class_of[i] == class_of[j] ? 1 : -1;
    kfe_data *data = support_dense(ctx, ROWS, ROWS, k, class_of);
    assert_ok(ctx, write_measure(ctx, data, 1, kernels, NULL, KFE_STYLE_JSON, &text));
    json_t *list = json_loads(text, 0, NULL);
    assert_below(fabs(number(list, 0, "alignment") - 1), tolerance_sum(ROWS * ROWS, 1));
    assert_below(fabs(number(list, 0, "centred-alignment") - 1), tolerance_sum(ROWS * ROWS, 1));
    assert_below(fabs(number(list, 0, "effective-rank") - 1), tolerance_sum(ROWS * ROWS, 1));
    json_decref(list);
    kfe_string_free(ctx, text);
    kfe_data_free(data);
}

static void test_without_a_target_there_is_the_rank_only(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(5, ROWS * COLS);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
    json_t *list = measure(ctx, data, NULL);
    char *text = NULL;
    const char *const kernels[] = {KERNEL};

    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "alignment")));
    assert_true(number(list, 0, "effective-rank") > 1);
    json_decref(list);
    assert_ok(ctx, write_measure(ctx, data, 1, kernels, NULL, KFE_STYLE_TEXT, &text));
    assert_non_null(strstr(text, "effective-rank"));
    assert_non_null(strstr(text, KERNEL));
    assert_null(strstr(text, "nan"));
    kfe_string_free(ctx, text);
    kfe_data_free(data);
    free(x);
}

static void test_bad_requests_are_refused(void **state)
{
    kfe_context *ctx = *state;
    double x[2] = {1, 2};
    kfe_data *one = support_dense(ctx, 1, 2, x, NULL);
    kfe_data *two = support_dense(ctx, 2, 1, x, NULL);
    const char *const good[] = {"linear"};
    const char *const bad[] = {"rfb"};
    char *text = NULL;

    assert_fails(ctx, KFE_EINPUT, "two examples",
                 write_measure(ctx, one, 1, good, NULL, KFE_STYLE_TEXT, &text));
    assert_null(text);
    assert_fails(ctx, KFE_EINVAL, "rbf", write_measure(ctx, two, 1, bad, NULL, KFE_STYLE_TEXT, &text));
    assert_fails(ctx, KFE_EINVAL, "gram",
                 write_measure(ctx, two, 1, good, "gram=f16", KFE_STYLE_TEXT, &text));
    x[1] = NAN;
    assert_fails(ctx, KFE_EINPUT, "row 2, column 1",
                 write_measure(ctx, two, 1, good, NULL, KFE_STYLE_TEXT, &text));
    kfe_data_free(one);
    kfe_data_free(two);
}

/* With one class the centred target is zero, although the computed mean of 49 ones is not exactly one. */
static void test_one_class_gives_no_measure(void **state)
{
    kfe_context *ctx = *state;
    double x[49 * 2];
    const char *labels[49];
    uint64_t random = 5;
    kfe_data *data = NULL;

    for (int i = 0; i < 49; i++) {
        x[2 * i] = support_uniform(&random);
        x[2 * i + 1] = support_uniform(&random);
        labels[i] = "a";
    }
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 49, 2, 2, x, &data));
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    json_t *list = measure(ctx, data, NULL);
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "centred-alignment")));
    assert_true(number(list, 0, "hsic") == 0);
    json_decref(list);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_two_classes),
        with_context(test_one_class_gives_no_measure),
        with_context(test_three_classes),
        with_context(test_real_targets),
        with_context(test_perfect_kernel_has_alignment_one),
        with_context(test_without_a_target_there_is_the_rank_only),
        with_context(test_bad_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
