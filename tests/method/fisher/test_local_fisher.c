/* SPDX-License-Identifier: Apache-2.0 */
/* lfda and klfda: equal examples, classes of one example, and allocations that fail. The formulas themselves are checked against
 * NumPy in python/tests/test_relatives.py. */
#include "support/fit.h"

#include <math.h>

#include "support/sweep.h"

enum { ROWS = 24, COLS = 3 };

/* A class of one example has no neighbours, and copies of one example have widths of zero. */
static void test_tiny_and_repeated_classes(void **state)
{
    static const char *const methods[] = {"lfda", "klfda"};
    kfe_context *ctx = *state;
    double *x = support_normals(7, (int64_t)ROWS * COLS);
    int class_of[ROWS];

    for (int i = 0; i < ROWS; i++) {
        class_of[i] = i == 0 ? 0 : i < 12 ? 1 : 2;
        for (int j = 0; i >= 12 && j < COLS; j++)
            x[i * COLS + j] = 5;
    }
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (int m = 0; m < 2; m++) {
        kfe_matrix f = support_features(ctx, methods[m], "dim=2", m ? "rbf:gamma=0.3" : NULL, data, data);
        for (int64_t i = 0; i < f.rows * f.cols; i++)
            assert_true(isfinite(f.values[i]));
        for (int64_t i = 13; i < ROWS; i++) /* equal examples have equal features */
            assert_true(fabs(f.values[i * f.cols] - f.values[12 * f.cols]) <
                        1e-9 * (1 + fabs(f.values[12 * f.cols])));
        kfe_matrix_free(&f);
    }
    kfe_data_free(data);
    free(x);
}

/* The criterion falls from feature to feature, and more neighbours than a class has are all of it. */
static void test_many_neighbours(void **state)
{
    kfe_context *ctx = *state;
    double *x;
    int *class_of;

    support_clouds(8, ROWS, COLS, 2, 2, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    kfe_matrix all = support_features(ctx, "lfda", "dim=3,neighbours=23", NULL, data, data);
    kfe_matrix more = support_features(ctx, "lfda", "dim=3,neighbours=1000", NULL, data, data);
    kfe_model *model = support_fit(ctx, "lfda", "dim=3", NULL, data);
    int64_t count = 0;
    const double *criterion = kfe_model_record(model, "criterion", &count);
    assert_int_equal(count, 3);
    assert_true(criterion[0] > criterion[1] && criterion[1] > criterion[2]);
    assert_memory_equal(all.values, more.values, (size_t)(all.rows * all.cols) * sizeof(double));
    kfe_model_free(model);
    kfe_matrix_free(&all);
    kfe_matrix_free(&more);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

/* Words for the ridge: mean, the default, is a thousand times as much as thousandth. */
static void test_ridge_in_words(void **state)
{
    static const char *const settings[] = {NULL, "ridge=mean", "ridge=thousandth"};
    kfe_context *ctx = *state;
    double *x;
    int *class_of;
    double ridge[3];

    support_clouds(8, ROWS, COLS, 2, 2, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (int k = 0; k < 3; k++) {
        int64_t count = 0;
        kfe_model *model = support_fit(ctx, "lfda", settings[k], NULL, data);
        ridge[k] = *kfe_model_record(model, "ridge", &count);
        kfe_model_free(model);
    }
    assert_true(ridge[0] == ridge[1] && fabs(ridge[1] - 1000 * ridge[2]) < 1e-9 * ridge[1]);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

static void test_allocations_that_fail(void **state)
{
    double *x;
    int *class_of;

    (void)state;
    support_clouds(9, ROWS, COLS, 3, 2, &x, &class_of);
    support_fit_case linear = {"lfda", NULL, NULL, ROWS, COLS, x, class_of, 0, NULL};
    support_fit_case kernel = {"klfda", NULL, "rbf:gamma=0.2", ROWS, COLS, x, class_of, 0, NULL};
    support_sweep_all("lfda", support_fit_use, &linear, 30);
    support_sweep_all("klfda", support_fit_use, &kernel, 30);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_tiny_and_repeated_classes),
        with_context(test_many_neighbours),
        with_context(test_ridge_in_words),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
