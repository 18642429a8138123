/* SPDX-License-Identifier: Apache-2.0 */
/* Tails of Student's t, F and χ² against closed forms, printed tables, quadrature and identities; limits against SciPy's. */
#include "support/fit.h"

#include <math.h>

#include "core/distribution.h"

#define PI 3.14159265358979323846
/* A few dozen roundings, and exp of an argument of several hundred. */
#define RELATIVE 1e-12

static void assert_tail(double t, double degrees, double expected)
{
    double p = kfe_i_student_two_sided(t, degrees);

    if (!(fabs(p - expected) <= RELATIVE * expected))
        fail_msg("t = %g, %g degrees: %.17g, expected %.17g", t, degrees, p, expected);
    assert_true(kfe_i_student_two_sided(-t, degrees) == p);
}

/* With 1, 2 and 4 degrees of freedom, in forms without cancellation. */
static void test_closed_forms(void **state)
{
    (void)state;
    for (double t = 1e-6; t < 1e60; t *= 1.7) {
        double root2 = sqrt(2 + t * t);
        double root4 = sqrt(4 + t * t);
        double rest = 4 / (root4 * (root4 + t)); /* 1 − t/√(4 + t²) */
        assert_tail(t, 1, 2 / PI * atan2(1, t));
        assert_tail(t, 2, 2 / (root2 * (root2 + t)));
        /* with s = t/√(4 + t²): 1 − (3s − s³)/2 = (1 − s)²(2 + s)/2 */
        assert_tail(t, 4, rest * rest * (2 + t / root4) / 2);
    }
}

/* Simpson's rule on the density with t = √ν·tan θ: the integral of cos^(ν−1) θ over 0 … atan(t/√ν), as a
 * share of 0 … π/2. */
static double tail_by_quadrature(double t, double degrees)
{
    enum { STEPS = 20000 };
    double inside = atan(t / sqrt(degrees));
    double sums[2];
    double from[2] = {inside, 0};

    for (int k = 0; k < 2; k++) {
        double step = (PI / 2 - from[k]) / STEPS;
        sums[k] = 0;
        for (int i = 0; i <= STEPS; i++) {
            double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
            sums[k] += weight * pow(fmax(cos(from[k] + i * step), 0), degrees - 1) * step / 3;
        }
    }
    return sums[0] / sums[1];
}

static void test_quadrature(void **state)
{
    static const double degrees[] = {5, 7.5, 9, 29, 100, 1000};
    static const double ts[] = {0.01, 0.3, 1, 1.7, 2.5, 4, 8};
    (void)state;

    for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
        for (size_t k = 0; k < sizeof ts / sizeof *ts; k++) {
            double p = kfe_i_student_two_sided(ts[k], degrees[d]);
            double expected = tail_by_quadrature(ts[k], degrees[d]);
            assert_below(fabs(p - expected), 1e-9 * expected);
        }
}

/* Percentage points from printed tables, p = 0.05 and 0.01. */
static void test_printed_points(void **state)
{
    (void)state;
    assert_below(fabs(kfe_i_student_two_sided(2.2281, 10) - 0.05), 1e-5);
    assert_below(fabs(kfe_i_student_two_sided(3.1693, 10) - 0.01), 1e-6);
    assert_below(fabs(kfe_i_student_two_sided(2.0452, 29) - 0.05), 1e-5);
    assert_below(fabs(kfe_i_student_two_sided(2.7564, 29) - 0.01), 1e-6);
}

static void test_many_degrees_are_normal(void **state)
{
    (void)state;
    for (double t = 0; t < 8; t += 0.37) {
        double normal = erfc(t / sqrt(2));
        /* the two differ by φ(t)(t³ + t)/2ν and smaller terms, and p ≥ 2φ(t)t/(t² + 1) */
        double bound = (t * t + 1) * (t * t + 1) / 4e9 + RELATIVE;
        assert_below(fabs(kfe_i_student_two_sided(t, 1e9) - normal), bound * normal);
        assert_below(fabs(kfe_i_student_two_sided(t, 1e300) - normal), RELATIVE * normal);
        assert_below(fabs(kfe_i_student_two_sided(t, (double)INFINITY) - normal), RELATIVE * normal);
    }
}

static void test_ends(void **state)
{
    (void)state;
    for (double degrees = 0.5; degrees < 1e7; degrees *= 3) {
        assert_true(kfe_i_student_two_sided(0, degrees) == 1);
        assert_true(kfe_i_student_two_sided((double)INFINITY, degrees) == 0);
        double last = 1;
        for (double t = 0.01; t < 1e3; t *= 1.3) {
            double p = kfe_i_student_two_sided(t, degrees);
            assert_true(p >= 0 && p <= last);
            last = p;
        }
    }
    assert_true(isnan(kfe_i_student_two_sided(1, 0)));
    assert_true(isnan(kfe_i_student_two_sided(1, -1)));
    assert_true(isnan(kfe_i_student_two_sided((double)NAN, 3)));
}

/* ---- F and χ² ---- */

/* With two degrees of freedom on one side, and the square of Student's t. */
static void test_f_closed_forms(void **state)
{
    (void)state;
    for (double f = 1e-9; f < 1e9; f *= 2.3)
        for (double degrees = 0.3; degrees < 1e5; degrees *= 3.1) {
            double expected = exp(-degrees / 2 * log1p(2 * f / degrees));
            assert_below(fabs(kfe_i_f_above(f, 2, degrees) - expected), 1e-9 * expected);
            expected = kfe_i_student_two_sided(sqrt(f), degrees);
            assert_below(fabs(kfe_i_f_above(f, 1, degrees) - expected), 1e-9 * expected);
            expected = kfe_i_f_above(1 / f, degrees, 3.7);
            assert_below(fabs(1 - kfe_i_f_above(f, 3.7, degrees) - expected), 1e-10);
        }
}

/* With an even number 2m of degrees of freedom, the tail is that of a Poisson distribution: Σ_{i<m} (x/2)^i e^(−x/2)/i! */
static void test_chi_square_closed_forms(void **state)
{
    (void)state;
    for (int m = 1; m < 60; m++)
        for (double x = 1e-6; x < 400; x *= 1.9) {
            double term = exp(-x / 2);
            double expected = term;
            for (int i = 1; i < m; i++)
                expected += term *= x / 2 / i;
            assert_below(fabs(kfe_i_chi_square_above(x, 2 * m) - expected), 1e-11 * expected);
        }
}

/* F with endless rows behind its denominator is χ² over its degrees of freedom. */
static void test_f_becomes_chi_square(void **state)
{
    (void)state;
    for (double degrees = 0.4; degrees < 300; degrees *= 2)
        for (double f = 0.1; f < 4; f *= 1.7) {
            double expected = kfe_i_chi_square_above(f * degrees, degrees);
            double bound = (f * degrees + 1) * (f * degrees + 1) / 1e7 + 1e-7;
            assert_below(fabs(kfe_i_f_above(f, degrees, 1e7) - expected), bound * expected);
        }
}

/* scipy.stats: f.ppf, chi2.ppf, and t.ppf of (1 + level)/2 */
static void test_limits_of_scipy(void **state)
{
    static const double f[][4] = {{0.95, 3, 47, 2.80235517609617},
                                  {0.99, 12.5, 1e4, 2.15817751120422},
                                  {0.5, 1, 1, 1},
                                  {0.999, 57, 3, 124.517918528149},
                                  {0.95, 0.3, 2000.25, 5.50852997961001}};
    static const double chi[][3] = {{0.95, 3, 7.81472790325118},     {0.99, 0.37, 4.25184116089014},
                                    {0.95, 1e5, 100736.736177319},   {0.01, 40, 22.1642612529752},
                                    {0.999, 7.25, 24.7777795120456}, {0.95, 0.01, 3.95238865278791e-05}};
    (void)state;

    for (size_t i = 0; i < sizeof f / sizeof *f; i++)
        assert_below(fabs(kfe_i_f_limit(f[i][0], f[i][1], f[i][2]) / f[i][3] - 1), 1e-10);
    for (size_t i = 0; i < sizeof chi / sizeof *chi; i++)
        assert_below(fabs(kfe_i_chi_square_limit(chi[i][0], chi[i][1]) / chi[i][2] - 1), 1e-10);
    assert_below(fabs(kfe_i_student_limit(0.95, 3) / 3.18244630528371 - 1), 1e-10);
    assert_below(fabs(kfe_i_student_limit(0.99, 45) / 2.68958501937464 - 1), 1e-10);
}

static void test_no_limits(void **state)
{
    (void)state;
    assert_true(isnan(kfe_i_f_limit(0.95, 0, 3)) && isnan(kfe_i_f_limit(0.95, 3, -1)));
    assert_true(isnan(kfe_i_f_limit(1, 3, 3)) && isnan(kfe_i_chi_square_limit(0, 3)));
    assert_true(isnan(kfe_i_chi_square_limit(0.95, (double)NAN)));
    assert_true(kfe_i_f_above(0, 2, 3) == 1 && kfe_i_chi_square_above(0, 3) == 1);
    assert_true(kfe_i_f_above((double)INFINITY, 2, 3) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_quadrature),
        cmocka_unit_test(test_printed_points),
        cmocka_unit_test(test_many_degrees_are_normal),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_f_closed_forms),
        cmocka_unit_test(test_chi_square_closed_forms),
        cmocka_unit_test(test_f_becomes_chi_square),
        cmocka_unit_test(test_limits_of_scipy),
        cmocka_unit_test(test_no_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
