/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels are written, which texts are refused, the kernel on strings, and users' functions as kernels. */
#include "support/support.h"

#include <stdio.h>

#include "core/memory.h"
#include "data/data.h"
#include "kernel/kernel.h"
#include "support/points.h"
#include "support/tolerance.h"

/* ---- writing and reading ---- */

static char *format(kfe_context *ctx, const kfe_i_kernel *kernel)
{
    kfe_i_text text;
    char *out = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_kernel_format(kernel, &text);
    assert_ok(ctx, kfe_i_text_take(&text, &out));
    return out;
}

static void check_round_trip(kfe_context *ctx, const char *text, const char *contains)
{
    kfe_i_kernel kernel;
    kfe_i_kernel again;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    char *first = format(ctx, &kernel);
    if (!strstr(first, contains))
        fail_msg("'%s' is written '%s', without '%s'", text, first, contains);
    assert_ok(ctx, kfe_i_kernel_parse(ctx, first, &again));
    char *second = format(ctx, &again);
    assert_string_equal(first, second);
    assert_ptr_equal(kernel.def, again.def);
    assert_memory_equal(kernel.settings, again.settings, kernel.def->params.size);
    assert_true(kernel.common.weight == again.common.weight);
    kfe_i_free(ctx, first);
    kfe_i_free(ctx, second);
    kfe_i_kernel_free(&kernel);
    kfe_i_kernel_free(&again);
}

static void test_round_trip(void **state)
{
    const kfe_entry_info *info;

    for (int i = 0; (info = kfe_kernel(i)); i++) {
        char weighted[96];
        snprintf(weighted, sizeof weighted, "%s:weight=0.1", info->name);
        check_round_trip(*state, info->name, info->name);
        check_round_trip(*state, weighted, "weight=0.1");
    }
    check_round_trip(*state, "poly:degree=5,coef0=0.1,gamma=median", "degree=5");
    check_round_trip(*state, "rbf:gamma=0.3333333333333333,weight=2.5", "gamma=0.3333333333333333");
    check_round_trip(*state, "spectrum:length=8,normalize=yes", "normalize=yes");
    check_round_trip(*state, "sigmoid:coef0=-1e-300", "coef0=-1e-300");
    check_round_trip(*state, "user:mine", "user:mine");
}

/* Names of other packages are accepted; model files contain ours. */
static void test_other_names(void **state)
{
    static const char *const names[][2] = {{"gaussian:gamma=2", "rbf:gamma=2"},
                                           {"polynomial:degree=4", "poly:degree=4"}};
    const kfe_entry_info *info;

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        check_round_trip(*state, names[k][0], names[k][1]);
    for (int i = 0; (info = kfe_kernel(i)); i++)
        if (info->alias)
            check_round_trip(*state, info->alias, info->name);
}

static void test_unknown_names(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_kernel kernel;

    assert_fails(ctx, KFE_EINVAL, "did you mean 'rbf'", kfe_i_kernel_parse(ctx, "rbg", &kernel));
    assert_fails(ctx, KFE_EINVAL, "did you mean 'laplacian'", kfe_i_kernel_parse(ctx, "laplace", &kernel));
    assert_fails(ctx, KFE_EINVAL, "no kernel 'fourier'", kfe_i_kernel_parse(ctx, "fourier:a=1", &kernel));
    assert_fails(ctx, KFE_EINVAL, "did you mean 'gamma'", kfe_i_kernel_parse(ctx, "rbf:gama=1", &kernel));
    assert_fails(ctx, KFE_EINVAL, "degree", kfe_i_kernel_parse(ctx, "poly:degre=1", &kernel));
    assert_fails(ctx, KFE_EINVAL, "gamma", kfe_i_kernel_parse(ctx, "linear:gamma=1", &kernel));
    assert_null(kernel.settings);
}

static void test_values_out_of_range(void **state)
{
    static const char *const texts[] = {"rbf:gamma=0",         "rbf:gamma=-1",    "rbf:gamma=nan",
                                        "rbf:gamma=wide",      "rbf:gamma=",      "poly:degree=0",
                                        "poly:degree=2.5",     "poly:coef0=-1",   "spectrum:length=9",
                                        "spectrum:length=0",   "linear:weight=0", "linear:weight=-1",
                                        "spectrum:normalize=2"};
    kfe_context *ctx = *state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kfe_i_kernel kernel;
        char parameter[32];
        snprintf(parameter, sizeof parameter, "%s", strchr(texts[i], ':') + 1);
        *strchr(parameter, '=') = '\0';
        assert_fails(ctx, KFE_EINVAL, parameter, kfe_i_kernel_parse(ctx, texts[i], &kernel));
    }
}

/* ---- kfe_kernel_matrix: weights and errors ---- */

static void test_weight_is_a_factor(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    kfe_matrix plain;
    kfe_matrix weighted;

    support_points_make(&points, 1, 20, 3, 0);
    kfe_data *data = support_points_data(ctx, &points, 0);
    assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=1", data, NULL, &plain));
    assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=1,weight=0.25", data, NULL, &weighted));
    for (int64_t i = 0; i < 400; i++)
        assert_true(weighted.values[i] == 0.25 * plain.values[i]);
    kfe_matrix_free(&plain);
    kfe_matrix_free(&weighted);
    kfe_data_free(data);
    support_points_free(&points);
}

static void refuse(kfe_context *ctx, kfe_status status, const char *says, const char *kernel,
                   const kfe_data *rows, const kfe_data *columns)
{
    kfe_matrix k;

    assert_fails(ctx, status, says, kfe_kernel_matrix(ctx, kernel, rows, columns, &k));
    assert_null(k.values);
    assert_int_equal(k.rows, 0);
}

static void test_matrix_refusals(void **state)
{
    kfe_context *ctx = *state;
    double numbers[] = {1, 2, 3, 4};
    double bad[] = {1, NAN};
    const char *strings[] = {"ab", "bc"};
    kfe_data *two = NULL;
    kfe_data *one = NULL;
    kfe_data *missing = NULL;
    kfe_data *text = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 2, 2, numbers, &two));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 4, 1, 1, numbers, &one));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 1, 2, 2, bad, &missing));
    assert_ok(ctx, kfe_data_from_text(ctx, 2, strings, &text));
    refuse(ctx, KFE_EINVAL, "did you mean 'linear'", "liner", two, NULL);
    refuse(ctx, KFE_EINVAL, "precomputed", "precomputed", two, NULL);
    refuse(ctx, KFE_EINVAL, "user", "user:f", two, NULL);
    refuse(ctx, KFE_EINPUT, "columns", "linear", two, one);
    refuse(ctx, KFE_EINPUT, "row 1, column 2", "linear", missing, two);
    refuse(ctx, KFE_EINPUT, "row 1, column 2", "linear", two, missing);
    refuse(ctx, KFE_EINPUT, "strings", "spectrum", two, NULL);
    refuse(ctx, KFE_EINPUT, "strings", "rbf", text, NULL);
    refuse(ctx, KFE_EINPUT, "strings", "rbf:gamma=1", text, one);
    refuse(ctx, KFE_EINPUT, "strings", "spectrum", one, text);
    assert_ok(ctx, kfe_context_set_memory(ctx, 100));
    refuse(ctx, KFE_ELIMIT, "128 bytes of memory, but the limit is 100 bytes", "linear", one, NULL);
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    kfe_data_free(two);
    kfe_data_free(one);
    kfe_data_free(missing);
    kfe_data_free(text);
}

/* Tables without rows or without columns have kernel matrices too. */
static void test_empty_tables(void **state)
{
    kfe_context *ctx = *state;
    double numbers[] = {1, 2, 3, 4};
    int64_t starts[] = {0, 0, 0};
    kfe_data *data[3] = {NULL, NULL, NULL};
    kfe_matrix k;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 0, 2, 2, numbers, &data[0]));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 0, 0, numbers, &data[1]));
    assert_ok(ctx, kfe_data_wrap_csr(ctx, 2, 0, starts, NULL, NULL, &data[2]));
    assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=1", data[0], NULL, &k));
    assert_int_equal(k.rows, 0);
    kfe_matrix_free(&k);
    for (int d = 1; d < 3; d++) {
        assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=1", data[d], NULL, &k));
        for (int i = 0; i < 4; i++)
            assert_true(k.values[i] == 1);
        kfe_matrix_free(&k);
        assert_ok(ctx, kfe_kernel_matrix(ctx, "linear", data[d], NULL, &k));
        for (int i = 0; i < 4; i++)
            assert_true(k.values[i] == 0);
        kfe_matrix_free(&k);
    }
    for (int d = 0; d < 3; d++)
        kfe_data_free(data[d]);
}

static void test_negative_data(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    support_points fine;

    support_points_make(&fine, 3, 4, 6, 1);
    support_points_make(&points, 2, 9, 6, 1);
    points.values[4 * points.stride + 5] = -0.5;
    support_points_update(&points);
    for (int sparse = 0; sparse < 2; sparse++) {
        kfe_data *data = support_points_data(ctx, &points, sparse);
        kfe_data *other = support_points_data(ctx, &fine, sparse);
        refuse(ctx, KFE_EINPUT, "row 5, column 6 is -0.5", "chi2", data, NULL);
        refuse(ctx, KFE_EINPUT, "row 5, column 6 is -0.5", "intersection", data, other);
        refuse(ctx, KFE_EINPUT, "row 5, column 6 is -0.5", "intersection", other, data);
        kfe_data_free(data);
        kfe_data_free(other);
    }
    support_points_free(&points);
    support_points_free(&fine);
}

static void test_sigmoid_warns(void **state)
{
    kfe_context *ctx = *state;
    double numbers[] = {1, 2};
    kfe_data *data = NULL;
    kfe_matrix k;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 1, 1, numbers, &data));
    support_catch_log(ctx);
    assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=1", data, NULL, &k));
    kfe_matrix_free(&k);
    assert_null(strstr(support_log(), "positive definite"));
    assert_ok(ctx, kfe_kernel_matrix(ctx, "sigmoid", data, NULL, &k));
    kfe_matrix_free(&k);
    const char *log = support_log();
    assert_non_null(strstr(log, "sigmoid"));
    assert_non_null(strstr(log, "not positive definite"));
    kfe_context_on_log(ctx, NULL, NULL);
    kfe_data_free(data);
}

/* ---- spectrum ---- */

/* The number of pairs of positions at which the two strings have the same substring, that is, the sum over
 * substrings of the products of their counts. */
static double common_places(const char *x, const char *y, size_t length)
{
    double places = 0;

    for (size_t i = 0; i + length <= strlen(x); i++)
        for (size_t j = 0; j + length <= strlen(y); j++)
            places += memcmp(x + i, y + j, length) == 0;
    return places;
}

static const char *const rows_text[] = {"abracadabra", "", "aaaaaaaaaaaa", "naïve ünïcode 日本日本日本",
                                        "ab"};
static const char *const columns_text[] = {
    "cadabra abracad", "日本語日本語", "aaaa", "", "naïve naïve", "\x7f\xff\xfe\x80\xff\xfe\x80", "b"};
enum { ROWS_TEXT = 5, COLUMNS_TEXT = 7 };

static void check_spectrum(kfe_context *ctx, const kfe_data *rows, const kfe_data *columns, int length,
                           int normalize)
{
    char kernel[64];
    kfe_matrix k;

    snprintf(kernel, sizeof kernel, "spectrum:length=%d,normalize=%s", length, normalize ? "yes" : "no");
    assert_ok(ctx, kfe_kernel_matrix(ctx, kernel, rows, columns, &k));
    for (int i = 0; i < ROWS_TEXT; i++)
        for (int j = 0; j < COLUMNS_TEXT; j++) {
            size_t u = (size_t)length;
            double expected = common_places(rows_text[i], columns_text[j], u);
            double own = common_places(rows_text[i], rows_text[i], u) *
                         common_places(columns_text[j], columns_text[j], u);
            double got = k.values[i * COLUMNS_TEXT + j];
            if (normalize)
                assert_true(fabs(got - (own > 0 ? expected / sqrt(own) : 0)) <= 4 * DBL_EPSILON);
            else
                assert_true(got == expected);
        }
    kfe_matrix_free(&k);
}

static void test_spectrum(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *rows = NULL;
    kfe_data *columns = NULL;

    assert_ok(ctx, kfe_data_from_text(ctx, ROWS_TEXT, rows_text, &rows));
    assert_ok(ctx, kfe_data_from_text(ctx, COLUMNS_TEXT, columns_text, &columns));
    for (int length = 1; length <= 8; length++) {
        check_spectrum(ctx, rows, columns, length, 0);
        check_spectrum(ctx, rows, columns, length, 1);
    }
    kfe_data_free(rows);
    kfe_data_free(columns);
}

/* By hand: "banana" contains an, an, ba, na, na; "ananas" contains an, an, na, na, as. 2·2 + 2·2 = 8. */
static void test_spectrum_by_hand(void **state)
{
    kfe_context *ctx = *state;
    const char *fruit[] = {"banana", "ananas"};
    kfe_data *data = NULL;
    kfe_matrix k;

    assert_ok(ctx, kfe_data_from_text(ctx, 2, fruit, &data));
    assert_ok(ctx, kfe_kernel_matrix(ctx, "spectrum:length=2", data, NULL, &k));
    assert_true(k.values[0] == 9 && k.values[1] == 8 && k.values[2] == 8 && k.values[3] == 9);
    kfe_matrix_free(&k);
    kfe_data_free(data);
}

/* ---- users' functions ---- */

/* The Gaussian kernel whose gamma `user` points to. */
static double user_gaussian(void *user, const double *x, const double *y, int64_t cols)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return exp(-*(const double *)user * sum);
}

static kfe_data *labelled(kfe_context *ctx, const support_points *points, int sparse)
{
    const char *labels[150];
    kfe_data *data = support_points_data(ctx, points, sparse);

    assert_true(points->rows <= 150);
    for (int64_t i = 0; i < points->rows; i++)
        labels[i] = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c";
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    return data;
}

static void fit(kfe_context *ctx, const char *kernel, double *gamma, const kfe_data *data, kfe_model **out)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, kernel, &spec));
    if (!kernel)
        assert_ok(ctx, kfe_spec_add_user_kernel(ctx, spec, "gaussian", user_gaussian, gamma));
    assert_ok(ctx, kfe_fit(ctx, spec, data, out));
    kfe_spec_free(spec);
}

static void assert_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                            const kfe_matrix *expected, double tolerance)
{
    kfe_matrix got;

    assert_ok(ctx, kfe_transform(ctx, model, data, &got));
    assert_int_equal(got.rows, expected->rows);
    assert_int_equal(got.cols, expected->cols);
    for (int64_t i = 0; i < got.rows * got.cols; i++)
        if (!(fabs(got.values[i] - expected->values[i]) <= tolerance))
            fail_msg("feature %d: %.17g instead of %.17g", (int)i, got.values[i], expected->values[i]);
    kfe_matrix_free(&got);
}

static void check_user_kernel(kfe_context *ctx, const support_points *points, int sparse)
{
    double gamma = 0.3;
    kfe_data *data = labelled(ctx, points, sparse);
    kfe_model *built_in = NULL;
    kfe_model *own = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix expected;
    kfe_matrix features;
    const char *path = support_path("user.kfe");

    fit(ctx, "rbf:gamma=0.3", NULL, data, &built_in);
    fit(ctx, NULL, &gamma, data, &own);
    assert_ok(ctx, kfe_transform(ctx, built_in, data, &expected));
    assert_int_equal(expected.cols, 3);
    assert_features(ctx, own, data, &expected, 1e-11);
    assert_ok(ctx, kfe_model_save(ctx, own, path));
    assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
    assert_fails(ctx, KFE_EINVAL, "'gaussian'", kfe_transform(ctx, loaded, data, &features));
    assert_non_null(strstr(kfe_error_message(ctx), "kfe_model_bind_kernel"));
    assert_fails(ctx, KFE_EINVAL, "'other'",
                 kfe_model_bind_kernel(ctx, loaded, "other", user_gaussian, &gamma));
    assert_ok(ctx, kfe_model_bind_kernel(ctx, loaded, "gaussian", user_gaussian, &gamma));
    assert_ok(ctx, kfe_transform(ctx, own, data, &features));
    assert_features(ctx, loaded, data, &features, 0);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&features);
    kfe_model_free(built_in);
    kfe_model_free(own);
    kfe_model_free(loaded);
    kfe_data_free(data);
}

static void test_user_kernel(void **state)
{
    support_points points;

    support_points_make(&points, 4, 140, 5, 0);
    for (int sparse = 0; sparse < 2; sparse++)
        check_user_kernel(*state, &points, sparse);
    support_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),         cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_unknown_names),      cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_weight_is_a_factor), cmocka_unit_test(test_matrix_refusals),
        cmocka_unit_test(test_empty_tables),       cmocka_unit_test(test_negative_data),
        cmocka_unit_test(test_sigmoid_warns),      cmocka_unit_test(test_spectrum),
        cmocka_unit_test(test_spectrum_by_hand),   cmocka_unit_test(test_user_kernel),
    };
    return cmocka_run_group_tests(tests, support_context_setup, support_context_teardown);
}
