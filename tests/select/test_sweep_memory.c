/* SPDX-License-Identifier: Apache-2.0 */
/* The peak memory of cross-validation: the kernel matrix is stored only for methods that need all of it in every fold. */
#include "support/fit.h"
#include "support/result.h"

/* The peak memory of a cross-validation, relative to the kernel matrix. */
static double peak_of(const char *method, const char *params, int64_t rows)
{
    enum { FEW = 4 };
    support_allocator allocator = {0};
    kfe_context *ctx = NULL;
    double *x = NULL;
    int *class_of = NULL;
    kfe_spec *spec = NULL;
    char *report = NULL;

    support_clouds(5, rows, FEW, 3, 2, &x, &class_of);
    assert_int_equal(kfe_context_new_with(support_reallocate, &allocator, &ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    kfe_data *data = support_dense(ctx, rows, FEW, x, class_of);
    assert_ok(ctx, kfe_spec_parse(ctx, method, params, "rbf:gamma=0.1", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_ok(ctx, write_cross_validate(ctx, spec, 0, NULL, data, "folds=3", KFE_STYLE_TEXT, NULL, &report));
    kfe_string_free(ctx, report);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    free(x);
    free(class_of);
    return (double)allocator.peak / (8 * (double)rows * (double)rows);
}

/* koc makes a pass over the matrix in every fold, so the folds share a stored matrix; sma and rkopls need few columns. */
static void test_a_matrix_is_stored_only_if_it_pays_off(void **state)
{
    (void)state;
    assert_true(peak_of("koc", NULL, 1000) > 1);
    assert_true(peak_of("rkopls", "support=50", 1500) < 0.5);
    assert_true(peak_of("sma", "dim=5,columns=40", 3000) < 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_matrix_is_stored_only_if_it_pays_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
