/* SPDX-License-Identifier: Apache-2.0 */
/* opls and kopls2: more components than there are; how many directions gkdr takes; allocations of these, spls and gkdr that fail. The formulas themselves are checked against
 * NumPy in python/tests/test_relatives.py. */
#include "support/fit.h"

#include <math.h>

#include "support/sweep.h"

enum { ROWS = 24, COLS = 3 };

static double *make_target(const double *x)
{
    double *y = calloc(ROWS, sizeof *y);

    for (int64_t i = 0; i < ROWS; i++)
        y[i] = x[i * COLS] - 0.5 * x[i * COLS + 1];
    return y;
}

/* Three columns have one predictive and at most two orthogonal directions; shares of the variance sum to less than one. */
static void test_no_more_components_than_columns(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(7, (int64_t)ROWS * COLS);
    double *y = make_target(x);
    int64_t count = 0;
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);

    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    support_catch_log(ctx);
    kfe_model *model = support_fit(ctx, "opls", "orthogonal=9,predictive=5", NULL, data);
    const char *log = support_log();
    assert_non_null(strstr(log, "5 predictive features were asked for, but the targets have 1"));
    assert_non_null(strstr(log, "9 orthogonal components were asked for"));
    assert_true(kfe_model_dim(model) <= 3);
    const double *shares = kfe_model_record(model, "orthogonal-shares", &count);
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += shares[i];
    assert_true(count == kfe_model_dim(model) - 1 && sum > 0 && sum < 1);
    kfe_model_free(model);
    kfe_data_free(data);
    free(x);
    free(y);
}

/* gkdr by default: one direction fewer than classes but at least four, two for a real target, never more than columns. */
static void test_usual_directions(void **state)
{
    static const int expected[][3] = {/* classes (0: a real target), columns, features */
                                      {2, 6, 4},
                                      {8, 9, 7},
                                      {2, 3, 3},
                                      {0, 6, 2},
                                      {0, 1, 1}};
    kfe_context *ctx = *state;
    enum { MANY = 40 };

    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        int cols = expected[k][1];
        double *x = support_normals(11, (int64_t)MANY * cols);
        int class_of[MANY];
        double y[MANY];
        for (int i = 0; i < MANY; i++) {
            class_of[i] = expected[k][0] ? i % expected[k][0] : 0;
            y[i] = x[i * cols];
        }
        kfe_data *data = support_dense(ctx, MANY, cols, x, expected[k][0] ? class_of : NULL);
        if (!expected[k][0])
            assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
        kfe_model *model = support_fit(ctx, "gkdr", NULL, "rbf:gamma=0.2", data);
        assert_int_equal(kfe_model_dim(model), expected[k][2]);
        kfe_model_free(model);
        kfe_data_free(data);
        free(x);
    }
}

static void test_allocations_that_fail(void **state)
{
    double *x = support_normals(8, (int64_t)ROWS * COLS);
    double *y = make_target(x);

    (void)state;
    support_fit_case linear = {"opls", NULL, NULL, ROWS, COLS, x, NULL, 1, y};
    support_fit_case kernel = {"kopls2", NULL, "rbf:gamma=0.2", ROWS, COLS, x, NULL, 1, y};
    support_fit_case sparse = {"spls", "dim=2,keep=2", NULL, ROWS, COLS, x, NULL, 1, y};
    support_fit_case gradients = {"gkdr", "iterations=2", "rbf:gamma=0.2", ROWS, COLS, x, NULL, 1, y};
    support_sweep_all("opls", support_fit_use, &linear, 30);
    support_sweep_all("kopls2", support_fit_use, &kernel, 30);
    support_sweep_all("spls", support_fit_use, &sparse, 30);
    support_sweep_all("gkdr", support_fit_use, &gradients, 30);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_no_more_components_than_columns),
        with_context(test_usual_directions),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
