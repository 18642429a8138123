/* SPDX-License-Identifier: Apache-2.0 */
/* Paired tests by hand, and where there is no difference. */
#include "support/fit.h"

#include <math.h>

#include "select/significance.h"

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
        cmocka_unit_test(test_paired_by_hand),
        with_context(test_degenerate_pairs),
        cmocka_unit_test(test_missing_pairs),
        cmocka_unit_test(test_p_is_uniform_without_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
