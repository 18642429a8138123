/* SPDX-License-Identifier: Apache-2.0 */
/* Vector powers against powl. */
#include "support/support.h"

#include <float.h>
#include <math.h>

#include "core/rng.h"
#include "kernel/tile/vpow.h"
#include "support/tolerance.h"

/* Square roots, no change at all, and logarithms. */
static const double powers[] = {0.25, 0.5, 0.75, 1, 0.05, 0.35, 0.7, 0.999};
enum { POWERS = sizeof powers / sizeof *powers };

static long double ulps_off(double got, long double exact)
{
    int exponent;

    frexpl(exact, &exponent);
    return fabsl(got - exact) / ldexpl(1, exponent - DBL_MANT_DIG);
}

static void test_random_arguments(void **state)
{
    enum { COUNT = 20001 };
    double x[COUNT];
    double y[COUNT];
    kfe_i_rng rng;
    (void)state;

    kfe_i_rng_init(&rng, 1, 1);
    for (int p = 0; p < POWERS; p++) {
        for (int i = 0; i < COUNT; i++)
            y[i] = x[i] =
                i % 3 == 0 ? exp(1400 * (kfe_i_rng_uniform(&rng) - 0.5)) : exp(kfe_i_rng_normal(&rng));
        kfe_i_vpow(y, COUNT, powers[p]);
        for (int i = 0; i < COUNT; i++)
            if (!(ulps_off(y[i], powl(x[i], powers[p])) <= TOLERANCE_POW_ULP))
                fail_msg("%.17g ^ %g = %.17g is off by %.2Lf ulp", x[i], powers[p], y[i],
                         ulps_off(y[i], powl(x[i], powers[p])));
    }
}

static void test_zero_infinity_and_every_length(void **state)
{
    enum { MOST = 19 };
    (void)state;

    for (int p = 0; p < POWERS; p++)
        for (int length = 0; length <= MOST; length++) {
            double values[MOST + 1];
            for (int i = 0; i <= MOST; i++)
                values[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? INFINITY : 1;
            kfe_i_vpow(values, length, powers[p]);
            for (int i = 0; i <= MOST; i++) /* these three are their own powers */
                assert_true(values[i] == (i % 3 == 0 ? 0 : i % 3 == 1 ? INFINITY : 1));
        }
}

static void test_nothing_after_the_end_changes(void **state)
{
    double values[6] = {4, 4, 4, 4, 4, 4};
    (void)state;

    kfe_i_vpow(values, 5, 0.5);
    assert_true(values[4] == 2 && values[5] == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_arguments),
        cmocka_unit_test(test_zero_infinity_and_every_length),
        cmocka_unit_test(test_nothing_after_the_end_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
