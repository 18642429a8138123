/* SPDX-License-Identifier: Apache-2.0 */
/* The derivatives of kernels by their base value, against differences of the kernel's own map, and the widths that
 * have names. */
#include "support/support.h"

#include <math.h>

#include "kernel/kernel.h"

/* One value of the kernel's map or slope. */
static double at(const kfe_i_kernel *kernel, int derivative, double base)
{
    double norm = 1;
    double value = base;
    kfe_i_tile tile = {
        .values = &value, .rows = 1, .cols = 1, .stride = 1, .row_norms = &norm, .col_norms = &norm};

    if (derivative)
        kfe_i_kernel_slope(kernel, &tile);
    else
        kfe_i_kernel_map(kernel, &tile);
    return value;
}

/* Central differences with step h: truncation h²/6·f''' and rounding ε/h are both below 1e-8 here. */
static void check_slope(kfe_context *ctx, const char *text)
{
    static const double bases[] = {0.3, 1, 2.5, 7};
    kfe_i_kernel kernel;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    assert_non_null(kernel.def->slope);
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        double h = 1e-5;
        double difference = (at(&kernel, 0, bases[b] + h) - at(&kernel, 0, bases[b] - h)) / (2 * h);
        double slope = at(&kernel, 1, bases[b]);
        if (!(fabs(slope - difference) <= 1e-8 * (1 + fabs(difference))))
            fail_msg("%s at %g: slope %.12g, difference %.12g", text, bases[b], slope, difference);
    }
    kfe_i_kernel_free(&kernel);
}

static void test_slopes_are_derivatives(void **state)
{
    check_slope(*state, "linear");
    check_slope(*state, "poly:degree=3,gamma=0.5,coef0=2");
    check_slope(*state, "rbf:gamma=0.7");
    check_slope(*state, "exp:sigma=1.5");
    check_slope(*state, "exp:sigma=1.5,power=0.5");
    check_slope(*state, "exp:sigma=1.5,power=0.7");
    check_slope(*state, "exp:sigma=1.5,power=1.5");
    check_slope(*state, "exp:sigma=1.5,power=2");
    check_slope(*state, "matern:sigma=1.5");
    check_slope(*state, "matern:sigma=1.5,nu=2.5");
}

/* What devices evaluate is the same derivative. */
static void check_description(kfe_context *ctx, const char *text)
{
    static const double bases[] = {0, 1e-19, 0.3, 1, 2.5, 7, 100};
    kfe_i_kernel kernel;
    kfe_i_formula formula;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    assert_non_null(kernel.def->slope);
    double factor = kernel.def->slope(kernel.settings, &formula);
    assert_int_equal(formula.base, kernel.def->base);
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        double slope = at(&kernel, 1, bases[b]);
        double described = factor * kfe_i_map_f64(formula.map, bases[b], 1, 1, formula.params);
        if (!(fabs(slope - described) <= 1e-14 * fabs(slope)))
            fail_msg("%s at %g: slope %.17g, described %.17g", text, bases[b], slope, described);
    }
    kfe_i_kernel_free(&kernel);
}

static void test_devices_have_the_same_slopes(void **state)
{
    static const char *const kernels[] = {"linear",
                                          "poly:degree=1,gamma=0.5,coef0=2",
                                          "poly:degree=3,gamma=0.5,coef0=2",
                                          "rbf:gamma=0.7",
                                          "exp:sigma=1.5",
                                          "exp:sigma=1.5,power=0.7",
                                          "exp:sigma=1.5,power=1.5",
                                          "exp:sigma=1.5,power=2",
                                          "matern:sigma=1.5",
                                          "matern:sigma=1.5,nu=2.5"};

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        check_description(*state, kernels[i]);
}

static void assert_slope(kfe_context *ctx, const char *text, double base, double expected)
{
    kfe_i_kernel kernel;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    double slope = at(&kernel, 1, base);
    if (!(fabs(slope - expected) <= 1e-15 * fabs(expected)))
        fail_msg("%s at %g: slope %.17g, expected %.17g", text, base, slope, expected);
    kfe_i_kernel_free(&kernel);
}

/* At r = 0 a slope is its limit, or 0 where there is none; far away it is 0, not NaN. */
static void test_slopes_at_the_ends(void **state)
{
    assert_slope(*state, "exp:sigma=2", 0, 0);
    assert_slope(*state, "exp:sigma=2,power=1.9", 0, 0);
    assert_slope(*state, "exp:sigma=2,power=2", 0, -0.25);
    assert_slope(*state, "matern:sigma=2", 0, -3.0 / 8);
    assert_slope(*state, "matern:sigma=2,nu=2.5", 0, -5.0 / 24);
    assert_slope(*state, "exp:sigma=2", 1e-19, 0); /* norms are 1: the points differ by rounding */
    assert_slope(*state, "exp:sigma=2", INFINITY, 0);
    assert_slope(*state, "exp:sigma=2,power=0.7", INFINITY, 0);
    assert_slope(*state, "exp:sigma=1e-300,power=1.5", 1, 0); /* sigma^(-power) overflows */
    assert_slope(*state, "exp:sigma=1e-300,power=1.5", 0, 0);
    assert_slope(*state, "matern:sigma=2", INFINITY, 0);
    assert_slope(*state, "matern:sigma=1e-300,nu=2.5", 1, 0);
}

/* The flag is what hosts see of the derivative. */
static void test_flag_says_derivative(void **state)
{
    const kfe_i_kernel_def *def;
    (void)state;

    for (int i = 0; (def = kfe_i_kernel_def_at(i)); i++)
        if (!!(def->flags & KFE_HAS_DERIVATIVE) != (def->slope != NULL))
            fail_msg("kernel %s: the flag does not say whether there is a derivative", def->name);
}

static double kernel_value(kfe_context *ctx, const char *text, const double *rows, int64_t count)
{
    kfe_data *data = NULL;
    kfe_matrix k;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, count, 1, 1, rows, &data));
    assert_ok(ctx, kfe_kernel_matrix(ctx, text, data, NULL, &k));
    double value = k.values[1];
    kfe_matrix_free(&k);
    kfe_data_free(data);
    return value;
}

/* Points 0, 4, 4: distances 4, 4, 0; median 4; variance 32/9; one column. */
static void test_names_of_sigma(void **state)
{
    static const double points[] = {0, 4, 4};
    kfe_context *ctx = *state;

    assert_true(fabs(kernel_value(ctx, "exp", points, 3) - exp(-1)) < 1e-15);
    assert_true(fabs(kernel_value(ctx, "exp:sigma=auto", points, 3) - exp(-4)) < 1e-15);
    assert_true(fabs(kernel_value(ctx, "exp:sigma=scale", points, 3) - exp(-4 / sqrt(32.0 / 9))) < 1e-15);
    assert_true(fabs(kernel_value(ctx, "matern", points, 3) - (1 + sqrt(3)) * exp(-sqrt(3))) < 1e-15);
}

static void test_constant_data_gives_no_sigma(void **state)
{
    static const double points[] = {2, 2, 2};
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    kfe_matrix k;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 3, 1, 1, points, &data));
    assert_fails(ctx, KFE_EINPUT, "give sigma a number", kfe_kernel_matrix(ctx, "exp", data, NULL, &k));
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_slopes_are_derivatives), with_context(test_devices_have_the_same_slopes),
        with_context(test_flag_says_derivative),   with_context(test_slopes_at_the_ends),
        with_context(test_names_of_sigma),         with_context(test_constant_data_gives_no_sigma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
