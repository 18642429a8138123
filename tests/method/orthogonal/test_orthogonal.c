/* SPDX-License-Identifier: Apache-2.0 */
/* opls and kopls2: more components than there are; allocations of these, spls and gkdr that fail. The formulas themselves are checked against
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
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
