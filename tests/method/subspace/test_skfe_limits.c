/* SPDX-License-Identifier: Apache-2.0 */
/* skfe at its limits: refused input, starts with a tiny gradient, more dimensions than the kernel has,
 * kernels that are not positive definite, failing allocations. */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "method/subspace/criterion.h"
#include "support/sample.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 24, COLS = 3, CLASSES = 3 };
#define KERNEL "rbf:gamma=0.3"

static support_sample make_sample(kfe_context *ctx, uint64_t seed)
{
    return support_sample_make(
        ctx, &(support_shape){.seed = seed, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 1.5});
}

/* With a wide kernel all examples are nearly equal and the first gradient is tiny, yet the search must go on. */
static void test_flat_start_is_left(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=1e-5", "rbf:gamma=1e-7"};
    static const char *const optimizers[] = {"max-iter=60", "optimizer=cg,max-iter=300"};
    kfe_context *ctx = *state;
    support_sample e = make_sample(ctx, 17);

    for (int k = 0; k < 2; k++)
        for (int o = 0; o < 2; o++) {
            int64_t count = 0;
            kfe_model *model = support_fit(ctx, "skfe", optimizers[o], kernels[k], e.data);
            const double *trace = kfe_model_record(model, "alignment", &count);
            for (int64_t i = 1; i < count; i++)
                assert_true(trace[i] >= trace[i - 1] * (1 - 1e-9));
            assert_true(trace[count - 1] > trace[0] + 0.05);
            kfe_model_free(model);
        }
    support_sample_free(&e);
}

/* The default number of iterations is chosen by the margins of held-out examples, and gives the same features
 * as that number given explicitly. */
static void test_iterations_are_chosen_on_held_out_examples(void **state)
{
    kfe_context *ctx = *state;
    support_sample e = make_sample(ctx, 19);
    int64_t count = 0;
    int64_t best = 0;
    int64_t chosen = 0;
    char params[32];

    kfe_model *model = support_fit(ctx, "skfe", NULL, "rbf:gamma=0.3", e.data);
    const double *margin = kfe_model_record(model, "held-out-margin", &count);
    const double *error = kfe_model_record(model, "held-out-error", &count);
    const double *points = kfe_model_record(model, "held-out-iterations", &count);
    assert_true(margin && error);
    assert_int_equal(count, 17);
    assert_true(points[0] == 0 && points[12] == 64 && points[16] == 256);
    for (int64_t i = 0; i < count; i++) {
        assert_true(margin[i] >= -1 && margin[i] <= 1);
        best = margin[i] > margin[best] ? i : best;
    }
    assert_true(error[best] == 0);
    chosen = best;
    for (int64_t i = 0; i < count; i++)
        if (margin[best] - margin[i] <= error[i] / 2 && llabs(i - 12) < llabs(chosen - 12))
            chosen = i;
    snprintf(params, sizeof params, "max-iter=%d", (int)points[chosen]);
    kfe_matrix z = support_transform(ctx, model, e.data);
    kfe_matrix same = support_features(ctx, "skfe", params, "rbf:gamma=0.3", e.data, e.data);
    assert_memory_equal(z.values, same.values, (size_t)(z.rows * z.cols) * sizeof *z.values);
    kfe_matrix_free(&z);
    kfe_matrix_free(&same);
    kfe_model_free(model);
    support_sample_free(&e);
}

/* Distances to the two classes: 1 and 3, then 2.5 and 1.5; the third example has no fitted example of its
 * class. */
static void test_margins_by_hand(void **state)
{
    const double fitted_x[] = {0, 4};
    const int32_t fitted_class[] = {0, 1};
    const double held_x[] = {1, 2.5, 9};
    const int32_t held_class[] = {0, 0, 2};
    const kfe_i_labelled fitted = {2, fitted_x, fitted_class};
    const kfe_i_labelled held = {3, held_x, held_class};
    double margins[6] = {0};

    (void)state;
    kfe_i_neighbour_margins(&held, &fitted, 1, 2, margins);
    assert_below(fabs(margins[0] - (3 - 1) / 4.0), 1e-15);
    assert_below(fabs(margins[2] - (1.5 - 2.5) / 4), 1e-15);
    assert_true(isnan(margins[4]));
    assert_true(margins[1] == 0 && margins[3] == 0 && margins[5] == 0); /* not changed */
}

static void test_more_features_than_dimensions(void **state)
{
    kfe_context *ctx = *state;
    support_sample e = make_sample(ctx, 11);

    support_catch_log(ctx);
    kfe_matrix z = support_features(ctx, "skfe", "dim=9", "linear", e.data, e.data);
    assert_int_equal(z.cols, COLS);
    assert_non_null(strstr(support_log(), "9 features were asked for"));
    /* all dimensions: the kernel itself */
    assert_below(support_distance_up_to_rotation(ROWS, COLS, e.x, COLS, z.values),
                 tolerance_solve(ROWS, 1e3));
    kfe_matrix_free(&z);
    support_sample_free(&e);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    support_sample e = make_sample(ctx, 12);
    double zeros[ROWS] = {0};
    double *k = support_rbf(ROWS, e.x, ROWS, e.x, COLS, 0.3);
    kfe_data *given = support_dense(ctx, ROWS, ROWS, k, e.class_of);
    kfe_data *zero = support_dense(ctx, ROWS, 1, zeros, e.class_of);

    assert_fails(ctx, KFE_EINVAL, "tolerance", kfe_spec_parse(ctx, "skfe", "tolerance=0", KERNEL, &spec));
    assert_fails(ctx, KFE_EINVAL, "margin-C", kfe_spec_parse(ctx, "skfe", "margin-C=0", KERNEL, &spec));
    assert_ok(ctx, kfe_spec_parse(ctx, "skfe", NULL, "linear", &spec));
    assert_fails(ctx, KFE_EINPUT, "zero", kfe_fit(ctx, spec, zero, &model));
    kfe_spec_free(spec);
    assert_ok(ctx, kfe_spec_parse(ctx, "skfe", "init=akda-qr", "precomputed", &spec));
    assert_fails(ctx, KFE_EINVAL, "needs the data", kfe_fit(ctx, spec, given, &model));
    kfe_spec_free(spec);
    memset(e.class_of, 0, ROWS * sizeof *e.class_of);
    kfe_data *one_class = support_dense(ctx, ROWS, COLS, e.x, e.class_of);
    assert_ok(ctx, kfe_spec_parse(ctx, "skfe", NULL, KERNEL, &spec));
    assert_fails(ctx, KFE_EINPUT, "two classes", kfe_fit(ctx, spec, one_class, &model));
    kfe_spec_free(spec);
    kfe_data_free(one_class);
    kfe_data_free(given);
    free(k);
    kfe_data_free(zero);
    support_sample_free(&e);
}

static void test_classes_of_one_member(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(13, 6 * 3);
    int class_of[6] = {0, 1, 2, 3, 4, 5};
    kfe_data *data = support_dense(ctx, 6, 3, x, class_of);
    kfe_matrix z = support_features(ctx, "skfe", NULL, "rbf:gamma=0.5", data, data);

    assert_int_equal(z.cols, 6);
    for (int64_t i = 0; i < z.rows * z.cols; i++)
        assert_true(isfinite(z.values[i]));
    kfe_matrix_free(&z);
    kfe_data_free(data);
    free(x);
}

/* From one dimension to all of them, whichever part of the kernel is negative or lost in rounding. */
static void test_any_dim_of_an_indefinite_kernel(void **state)
{
    static const char *const optimizers[] = {"manifold", "cg"};
    kfe_context *ctx = *state;
    support_sample e = make_sample(ctx, 18);

    for (int dim = 1; dim <= ROWS; dim++)
        for (int o = 0; o < 2; o++) {
            char params[64];
            int64_t count = 0;
            snprintf(params, sizeof params, "dim=%d,optimizer=%s", dim, optimizers[o]);
            kfe_model *model = support_fit(ctx, "skfe", params, "sigmoid:gamma=0.5,coef0=-0.2", e.data);
            kfe_matrix z = support_transform(ctx, model, e.data);
            const double *trace = kfe_model_record(model, "alignment", &count);
            assert_true(z.cols >= 1 && z.cols <= dim);
            assert_true(trace[count - 1] >= trace[0] * (1 - 1e-9));
            for (int64_t i = 0; i < z.rows * z.cols; i++)
                assert_true(isfinite(z.values[i]));
            kfe_matrix_free(&z);
            kfe_model_free(model);
        }
    support_sample_free(&e);
}

static void test_failing_allocations(void **state)
{
    static const char *const params[] = {"max-iter=3,dim=4", "max-iter=3,optimizer=cg,restarts=1",
                                         "init=akda-qr,tolerance=0.5", "max-iter=2,criterion=radius-margin"};
    static const int class_of[] = {0, 1, 2, 0, 1, 2, 0, 1};
    double *x = support_normals(2, 24);

    (void)state;
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        support_fit_case fit = {"skfe", params[i], "rbf:gamma=1", 8, 3, x, class_of, 0, NULL};
        support_sweep_all(params[i], support_fit_use, &fit, 20);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_flat_start_is_left),
        with_context(test_iterations_are_chosen_on_held_out_examples),
        cmocka_unit_test(test_margins_by_hand),
        with_context(test_more_features_than_dimensions),
        with_context(test_refusals),
        with_context(test_classes_of_one_member),
        with_context(test_any_dim_of_an_indefinite_kernel),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
