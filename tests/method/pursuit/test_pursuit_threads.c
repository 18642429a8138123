/* SPDX-License-Identifier: Apache-2.0 */
/* A pursuit picks the same examples and ends with the same bits on any number of threads, and with nearly the same numbers whether the
 * pool is kept in double precision, in single precision or not at all. */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "support/fit.h"

enum { COLS = 5, CLASSES = 3 };

/* Rows in no multiple of anything, and fewer rows than threads. */
static const int64_t sizes[] = {3, 5, 131, 2053, 4099};

typedef struct setting {
    const char *method, *params;
    int64_t memory; /* 0: no limit */
} setting;

static const setting settings[] = {
    {"sma", "dim=12,columns=300", 0},
    {"smc", "dim=12,columns=300", 0},
    {"skfa", "dim=12,columns=300", 0},
    {"sma", "dim=12,columns=70,refresh=40", 0}, /* new columns in two passes */
    {"smc", "dim=12,columns=300", 9000000},     /* in single precision */
    {"sma", "dim=12,columns=300", 9000000},
    {"sma", "dim=6,columns=90,low-memory=yes", 0},
    {"smc", "dim=6,columns=90,low-memory=yes", 0},
    {"sma", "dim=4,columns=40,sparsity=2", 0},
    {"smc", "dim=4,columns=40,sparsity=2", 0},
};

static void assert_same(const kfe_model *one, const kfe_model *other)
{
    assert_int_equal(one->dim, other->dim);
    assert_int_equal(one->rows, other->rows);
    assert_memory_equal(one->support_index, other->support_index,
                        (size_t)one->rows * sizeof *one->support_index);
    assert_memory_equal(one->coefficients, other->coefficients,
                        (size_t)(one->rows * one->dim) * sizeof *one->coefficients);
}

static void check_setting(kfe_context *ctx, const setting *s, const kfe_data *data)
{
    static const int threads[] = {2, 3, 7};

    assert_ok(ctx, kfe_context_set_memory(ctx, kfe_data_rows(data) > 4000 ? s->memory : 0));
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    kfe_model *alone = support_fit(ctx, s->method, s->params, "rbf:gamma=0.3", data);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, threads[t]));
        kfe_model *together = support_fit(ctx, s->method, s->params, "rbf:gamma=0.3", data);
        assert_same(alone, together);
        kfe_model_free(together);
    }
    kfe_model_free(alone);
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
}

static void test_threads_do_not_change_a_bit(void **state)
{
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        double *values = NULL;
        int *class_of = NULL;
        support_clouds(11, sizes[z], COLS, sizes[z] < 10 ? 2 : CLASSES, 1.5, &values, &class_of);
        kfe_data *data = support_dense(*state, sizes[z], COLS, values, class_of);
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
            check_setting(*state, &settings[i], data);
        kfe_data_free(data);
        free(values);
        free(class_of);
    }
}

/* How far the directions of two columns are apart, relative to the largest entry. */
static double apart(int64_t stride, int64_t rows, const double *a, const double *b)
{
    int64_t largest = 0;
    double most = 0;

    for (int64_t i = 0; i < rows; i++)
        largest = fabs(a[i * stride]) > fabs(a[largest * stride]) ? i : largest;
    for (int64_t i = 0; i < rows; i++)
        most = fmax(most, fabs(a[i * stride] / a[largest * stride] - b[i * stride] / b[largest * stride]));
    return most;
}

/* The pool only orders candidates and estimates the lengths of their residual columns, by which sma scales its features: the precision of
 * the pool does not show in the directions. The columns are nearly dependent, so that parts in
 * single precision which were not corrected would be seen in every coefficient. */
static void test_precision_of_the_pool_does_not_show(void **state)
{
    enum { ROWS = 4099, DIM = 25 };
    const char *params = "dim=25,columns=300";
    double *values = NULL;
    int *class_of = NULL;

    support_clouds(12, ROWS, COLS, CLASSES, 1.5, &values, &class_of);
    kfe_data *data = support_dense(*state, ROWS, COLS, values, class_of);
    for (int m = 0; m < 2; m++) {
        const char *method = m ? "smc" : "sma";
        support_catch_log(*state);
        kfe_model *wide = support_fit(*state, method, params, "rbf:gamma=0.05", data);
        assert_non_null(strstr(support_log(), "double precision"));
        assert_ok(*state, kfe_context_set_memory(*state, 10000000));
        support_catch_log(*state);
        kfe_model *narrow = support_fit(*state, method, params, "rbf:gamma=0.05", data);
        assert_non_null(strstr(support_log(), "single precision"));
        assert_ok(*state, kfe_context_set_memory(*state, 0));
        assert_int_equal(wide->rows, narrow->rows);
        for (int64_t j = 0; j < DIM; j++) {
            assert_int_equal(wide->support_index[j], narrow->support_index[j]);
            assert_true(apart(DIM, wide->rows, wide->coefficients + j, narrow->coefficients + j) <= 1e-10);
        }
        kfe_model_free(wide);
        kfe_model_free(narrow);
    }
    kfe_data_free(data);
    free(values);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_threads_do_not_change_a_bit),
        with_context(test_precision_of_the_pool_does_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
