/* SPDX-License-Identifier: Apache-2.0 */
/* Student's tail probability against closed forms, printed tables and quadrature; paired tests by hand. */
#include "support/fit.h"

#include <math.h>

#include "select/significance.h"

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

/* ---- paired tests ---- */

static kfe_i_test_result test_of(int64_t count, const double *a, const double *b, double test_share)
{
    return kfe_i_paired_t(count, (kfe_i_tested){a, 1}, (kfe_i_tested){b, 1}, test_share);
}

static void test_paired_by_hand(void **state)
{
    static const double a[] = {4, 7, 12};
    static const double b[] = {3, 5, 9};
    double t = 2 * sqrt(3); /* differences 1, 2, 3: mean 2, variance 1 */
    kfe_i_test_result plain = test_of(3, a, b, 0);
    kfe_i_test_result turned = test_of(3, b, a, 0);
    kfe_i_test_result corrected = test_of(3, a, b, 0.5);
    (void)state;

    assert_below(fabs(plain.mean_difference - 2), 1e-15);
    assert_true(plain.degrees == 2);
    assert_below(fabs(plain.statistic - t), 1e-14);
    assert_below(fabs(plain.p - (1 - t / sqrt(14))), 1e-14);
    assert_true(turned.statistic == -plain.statistic && turned.p == plain.p);
    assert_below(fabs(corrected.statistic - 2 / sqrt(1.0 / 3 + 0.5)), 1e-14);
    assert_true(corrected.degrees == 2 && corrected.p > plain.p);
}

static void test_degenerate_pairs(void **state)
{
    kfe_context *ctx = *state;
    static const double a[] = {5, 6, 7};
    static const double b[] = {3, 4, 5};
    static const double bad[] = {1, NAN, 3};
    double t = 0;
    double p = 0;

    assert_ok(ctx, kfe_paired_test(ctx, 3, a, b, 0.1, &t, &p));
    assert_true(isinf(t) && t > 0 && isnan(p));
    assert_ok(ctx, kfe_paired_test(ctx, 3, b, a, 0, &t, &p));
    assert_true(isinf(t) && t < 0 && isnan(p));
    assert_ok(ctx, kfe_paired_test(ctx, 3, a, a, 0, &t, &p));
    assert_true(t == 0 && p == 1);
    /* One more error in each of three folds of 20 rows: equal differences, though not the same doubles. */
    assert_ok(ctx,
              kfe_paired_test(ctx, 3, (double[]){0.95, 1, 0.9}, (double[]){0.9, 0.95, 0.85}, 0.1, &t, &p));
    assert_true(isinf(t) && t > 0 && isnan(p));
    for (int64_t count = 0; count < 2; count++) {
        assert_ok(ctx, kfe_paired_test(ctx, count, a, b, 0, &t, &p));
        assert_true(isnan(t) && isnan(p));
    }
    assert_fails(ctx, KFE_EINPUT, "row 2: the second value", kfe_paired_test(ctx, 3, a, bad, 0, &t, &p));
    assert_true(t == 0 && p == 0);
    assert_fails(ctx, KFE_EINVAL, "-1", kfe_paired_test(ctx, 3, a, b, -1, &t, &p));
    assert_fails(ctx, KFE_EINVAL, "pairs", kfe_paired_test(ctx, -3, a, b, 0, &t, &p));
}

/* Pairs of which one is missing do not count, and values may lie apart. */
static void test_missing_pairs(void **state)
{
    static const double a[] = {4, 0, NAN, 0, 7, 0, 12, 0, 1, 0};
    static const double b[] = {3, 2, 5, 9, NAN}; /* pairs: (4, 3), (7, 5), (12, 9) */
    kfe_i_test_result all = kfe_i_paired_t(5, (kfe_i_tested){a, 2}, (kfe_i_tested){b, 1}, 0.2);
    kfe_i_test_result known = test_of(3, (const double[]){4, 7, 12}, (const double[]){3, 5, 9}, 0.2);

    (void)state;
    assert_true(all.degrees == known.degrees && all.statistic == known.statistic && all.p == known.p);
    all = test_of(5, b, (const double[]){NAN, NAN, NAN, NAN, NAN}, 0);
    assert_true(isnan(all.p) && all.degrees == 0);
}

/* Without a difference p is uniform: about a tenth of many tests have p < 0.1. */
static void test_p_is_uniform_without_difference(void **state)
{
    enum { TESTS = 4000, PAIRS = 6 };
    int64_t small = 0;
    (void)state;

    for (uint64_t k = 0; k < TESTS; k++) {
        double *values = support_normals(k + 1, 2 * PAIRS);
        small += test_of(PAIRS, values, values + PAIRS, 0).p < 0.1;
        free(values);
    }
    /* five standard deviations of the binomial distribution */
    assert_below(fabs((double)small - 0.1 * TESTS), 5 * sqrt(0.09 * TESTS));
}

/* The same numbers summed in another order do not differ. */
static void test_rounding_is_a_tie(void **state)
{
    static const double a[] = {0.9, 0.85, 0.7, 0.8};
    double b[] = {0.9 + 1e-15, 0.85 - 2e-16, 0.7 + 3e-15, 0.8};
    kfe_i_test_result result = test_of(4, a, b, 0);

    (void)state;
    assert_true(result.mean_difference == 0 && result.statistic == 0 && result.p == 1);
    b[0] += 0.01; /* ties do not hide one real difference */
    result = test_of(4, a, b, 0);
    assert_below(fabs(result.mean_difference + 0.01 / 4), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding_is_a_tie),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_quadrature),
        cmocka_unit_test(test_printed_points),
        cmocka_unit_test(test_many_degrees_are_normal),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_paired_by_hand),
        with_context(test_degenerate_pairs),
        cmocka_unit_test(test_missing_pairs),
        cmocka_unit_test(test_p_is_uniform_without_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
