/* SPDX-License-Identifier: Apache-2.0 */
/* plsda and splsda: rules on a table whose answer is known, and allocations that fail. The oracles are in python/tests/test_discriminant.py. */
#include "support/fit.h"

#include <math.h>

#include "support/sweep.h"

enum { ROWS = 6 };

/* One column, 0 0 0 0 for class a and 1 2 for class b: the regression of the dummies is 1.5/3.5 of the centred column. */
static const double column[ROWS] = {0, 0, 0, 0, 1, 2};
static const int class_of[ROWS] = {0, 0, 0, 0, 1, 1};

static void check_outputs(kfe_context *ctx, const char *params, double slope, double threshold)
{
    kfe_data *data = support_dense(ctx, ROWS, 1, column, class_of);
    kfe_model *model = support_fit(ctx, "plsda", params, NULL, data);
    kfe_matrix answers = {0};
    kfe_matrix outputs = {0};

    assert_ok(ctx, kfe_predict(ctx, model, data, &answers, &outputs));
    assert_int_equal(outputs.cols, 2);
    for (int i = 0; i < ROWS; i++) {
        double dummy = 1.0 / 3 + slope * (column[i] - 0.5);
        assert_true(fabs(outputs.values[2 * i + 1] - (dummy - threshold)) < 1e-12);
        assert_int_equal((int)answers.values[i], outputs.values[2 * i + 1] > outputs.values[2 * i]);
    }
    kfe_matrix_free(&answers);
    kfe_matrix_free(&outputs);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* Class a has one value, so that no density crosses: the threshold is at its dummy, zero deviations from it. */
static void test_rules_on_one_column(void **state)
{
    double slope = 2.0 / 3.5;

    check_outputs(*state, "scale=none,dim=1", slope, 0.5);
    check_outputs(*state, "scale=none,dim=1,class-rule=threshold", slope, 1.0 / 3 - slope * 0.5);
}

static void test_allocations_that_fail(void **state)
{
    double *x = NULL;
    int *classes = NULL;

    (void)state;
    support_clouds(3, 24, 3, 3, 2, &x, &classes);
    support_fit_case largest = {"plsda", NULL, NULL, 24, 3, x, classes, 0, NULL};
    support_fit_case threshold = {
        "plsda", "dim=2,class-rule=threshold,calibration=none", NULL, 24, 3, x, classes, 0, NULL};
    support_fit_case centroid = {
        "plsda", "dim=2,class-rule=centroid,calibration=none", NULL, 24, 3, x, classes, 0, NULL};
    support_sweep_all("plsda", support_fit_use, &largest, 30);
    support_sweep_all("plsda, threshold", support_fit_use, &threshold, 30);
    support_sweep_all("plsda, centroid", support_fit_use, &centroid, 30);
    support_fit_case sparse = {"splsda", "dim=2,keep=auto,calibration=none", NULL, 24, 3, x, classes, 0,
                               NULL};
    support_sweep_all("splsda", support_fit_use, &sparse, 30);
    free(x);
    free(classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_rules_on_one_column),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
