/* SPDX-License-Identifier: Apache-2.0 */
/* The vector exponential against expl. */
#include "support/support.h"

#include <float.h>
#include <math.h>

#include "core/rng.h"
#include "kernel/tile/vexp.h"
#include "support/tolerance.h"

/* Error of a value in units in the last place of the exact one. */
static long double ulps_off(double got, long double exact)
{
    int exponent;

    frexpl(exact, &exponent);
    return fabsl(got - exact) / ldexpl(1, exponent - DBL_MANT_DIG);
}

static void test_random_arguments(void **state)
{
    enum { COUNT = 200000 };
    double *x = malloc(COUNT * sizeof *x);
    double *y = malloc(COUNT * sizeof *y);
    kfe_i_rng rng;
    (void)state;

    assert_true(x && y);
    kfe_i_rng_init(&rng, 1, 1);
    for (int i = 0; i < COUNT; i++)
        y[i] = x[i] = i % 2 ? -708 + 1408 * kfe_i_rng_uniform(&rng) : kfe_i_rng_normal(&rng);
    kfe_i_vexp_scaled(y, COUNT, 1);
    for (int i = 0; i < COUNT; i++)
        if (!(ulps_off(y[i], expl(x[i])) <= TOLERANCE_EXP_ULP))
            fail_msg("exp(%.17g) = %.17g is off by %.2Lf ulp", x[i], y[i], ulps_off(y[i], expl(x[i])));
    free(x);
    free(y);
}

/* Whole vectors and the remaining elements take different paths: every position must be right, and the
 * numbers around the array must not change. */
static void test_any_length(void **state)
{
    enum { MOST = 33, GUARD = 4 };
    (void)state;

    for (int length = 0; length <= MOST; length++) {
        double values[MOST + 2 * GUARD];
        for (int i = 0; i < MOST + 2 * GUARD; i++)
            values[i] = 0.25 * i;
        kfe_i_vexp_scaled(values + GUARD, length, -0.5);
        for (int i = 0; i < MOST + 2 * GUARD; i++) {
            if (i < GUARD || i >= GUARD + length)
                assert_true(values[i] == 0.25 * i);
            else
                assert_true(ulps_off(values[i], expl(-0.125L * i)) <= TOLERANCE_EXP_ULP);
        }
    }
}

static void assert_everywhere(double argument, double factor, double expected)
{
    double values[19];

    for (int i = 0; i < 19; i++)
        values[i] = argument;
    kfe_i_vexp_scaled(values, 19, factor);
    for (int i = 0; i < 19; i++)
        if (values[i] != expected)
            fail_msg("exp(%g * %g) at %d: %.17g instead of %.17g", factor, argument, i, values[i], expected);
}

static void test_special_arguments(void **state)
{
    (void)state;
    assert_everywhere(0, 1, 1);
    assert_everywhere(0, -1e308, 1);
    assert_everywhere(1e-320, -1, 1);
    assert_everywhere(-708.0000000001, 1, 0);
    assert_everywhere(1000, -1, 0);
    assert_everywhere(1e300, -1e300, 0);
    assert_everywhere(INFINITY, -1, 0);
}

/* One argument outside of the vector loops' range must not change its neighbours. */
static void test_large_and_nan_among_others(void **state)
{
    const double odd[] = {709.5, 800, INFINITY, NAN};
    (void)state;

    for (int o = 0; o < 4; o++) {
        double values[19];
        for (int i = 0; i < 19; i++)
            values[i] = i == 5 || i == 17 ? odd[o] : -0.5 * i;
        kfe_i_vexp_scaled(values, 19, 1);
        for (int i = 0; i < 19; i++) {
            if (i != 5 && i != 17)
                assert_true(ulps_off(values[i], expl(-0.5L * i)) <= TOLERANCE_EXP_ULP);
            else if (isfinite(odd[o]) && odd[o] < 709.7)
                assert_true(ulps_off(values[i], expl(odd[o])) <= TOLERANCE_EXP_ULP);
            else
                assert_true(isnan(odd[o]) ? isnan(values[i]) : isinf(values[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_arguments),
        cmocka_unit_test(test_any_length),
        cmocka_unit_test(test_special_arguments),
        cmocka_unit_test(test_large_and_nan_among_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
