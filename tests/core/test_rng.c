/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams: published numbers of xoshiro256** and SplitMix64, moments, unbiased choice. */
#include "support/support.h"

#include <math.h>

#include "core/rng.h"

enum { DRAWS = 200000, SIGMAS = 5 };

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not within %.3g of %.9g", value, tolerance, expected);
}

/* From the authors' C code, starting from the state 1, 2, 3, 4. */
static void test_published_sequence(void **state)
{
    static const uint64_t published[] = {UINT64_C(11520),
                                         UINT64_C(0),
                                         UINT64_C(1509978240),
                                         UINT64_C(1215971899390074240),
                                         UINT64_C(1216172134540287360),
                                         UINT64_C(607988272756665600),
                                         UINT64_C(16172922978634559625),
                                         UINT64_C(8476171486693032832),
                                         UINT64_C(10595114339597558777),
                                         UINT64_C(2904607092377533576)};
    kfe_i_rng rng = {{1, 2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        assert_true(kfe_i_rng_bits(&rng) == published[i]);
}

/* SplitMix64 computed bit by bit, as an independent check of how a state is filled. */
static uint64_t naive_multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (int bit = 0; bit < 64; bit++)
        product += b >> bit & 1 ? a << bit : 0;
    return product;
}

static uint64_t naive_split_mix(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(11400714819323198485);
    z = naive_multiply(z ^ z >> 30, UINT64_C(13787848793156543929));
    z = naive_multiply(z ^ z >> 27, UINT64_C(10723151780598845931));
    return z ^ z >> 31;
}

static void test_seeding(void **state)
{
    uint64_t known = 1234567;
    kfe_i_rng rng;

    (void)state;
    assert_true(naive_split_mix(&known) == UINT64_C(6457827717110365317));
    assert_true(naive_split_mix(&known) == UINT64_C(3203168211198807973));
    for (uint64_t seed = 0; seed < 5; seed++)
        for (uint64_t stream = 1; stream < 4; stream++) {
            uint64_t x = seed;
            uint64_t mixed = naive_split_mix(&x) ^ naive_multiply(stream, UINT64_C(15074714826142052245));
            kfe_i_rng_init(&rng, seed, stream);
            for (int i = 0; i < 4; i++)
                assert_true(rng.state[i] == naive_split_mix(&mixed));
        }
}

static void test_streams_and_seeds_differ(void **state)
{
    enum { SEEDS = 40, STREAMS = 5, COUNT = SEEDS * STREAMS };
    uint64_t first[COUNT];

    (void)state;
    for (int k = 0; k < COUNT; k++) {
        kfe_i_rng rng;
        kfe_i_rng_init(&rng, (uint64_t)(k / STREAMS), (uint64_t)(k % STREAMS));
        first[k] = kfe_i_rng_bits(&rng);
        for (int other = 0; other < k; other++)
            assert_true(first[other] != first[k]);
    }
}

static void test_uniform_and_normal(void **state)
{
    kfe_i_rng rng;
    double sums[2] = {0};
    double squares[2] = {0};
    double fourth = 0;
    double n = DRAWS;

    (void)state;
    kfe_i_rng_init(&rng, 1, 2);
    for (int i = 0; i < DRAWS; i++) {
        double u = kfe_i_rng_uniform(&rng);
        double z = kfe_i_rng_normal(&rng);
        assert_true(u >= 0 && u < 1);
        sums[0] += u;
        squares[0] += (u - 0.5) * (u - 0.5);
        sums[1] += z;
        squares[1] += z * z;
        fourth += z * z * z * z;
    }
    assert_near(sums[0] / n, 0.5, SIGMAS * sqrt(1 / 12.0 / n));
    assert_near(squares[0] / n, 1 / 12.0, SIGMAS * sqrt(1 / 180.0 / n));
    assert_near(sums[1] / n, 0, SIGMAS * sqrt(1 / n));
    assert_near(squares[1] / n, 1, SIGMAS * sqrt(2 / n));
    assert_near(fourth / n, 3, SIGMAS * sqrt(96 / n));
}

static void test_below_is_even(void **state)
{
    kfe_i_rng rng;
    double counts[7] = {0};
    double statistic = 0;

    (void)state;
    kfe_i_rng_init(&rng, 3, 1);
    for (int i = 0; i < DRAWS; i++) {
        int64_t drawn = kfe_i_rng_below(&rng, 7);
        assert_true(drawn >= 0 && drawn < 7);
        counts[drawn]++;
    }
    for (int c = 0; c < 7; c++)
        statistic += (counts[c] - DRAWS / 7.0) * (counts[c] - DRAWS / 7.0) / (DRAWS / 7.0);
    assert_true(statistic < 6 + SIGMAS * sqrt(12));
    for (int i = 0; i < 100; i++)
        assert_int_equal(kfe_i_rng_below(&rng, 1), 0);
}

/* 2⁶⁴ is 2⅔ times this bound: taking the remainder would fall into the lower two thirds with probability ¾. */
static void test_below_has_no_bias(void **state)
{
    const int64_t bound = INT64_C(3) << 61;
    kfe_i_rng rng;
    double low = 0;

    (void)state;
    kfe_i_rng_init(&rng, 4, 1);
    for (int i = 0; i < DRAWS; i++)
        low += kfe_i_rng_below(&rng, bound) < bound / 3 * 2;
    assert_near(low / DRAWS, 2 / 3.0, SIGMAS * sqrt(2 / 9.0 / DRAWS));
}

static void test_choose(void **state)
{
    enum { TOTAL = 10, COUNT = 4, REPEATS = 20000 };
    kfe_i_rng rng;
    int64_t index[TOTAL];
    double chosen[TOTAL] = {0};

    (void)state;
    kfe_i_rng_init(&rng, 5, 1);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        unsigned seen = 0;
        kfe_i_rng_choose(&rng, TOTAL, COUNT, index);
        for (int i = 0; i < TOTAL; i++) {
            assert_true(index[i] >= 0 && index[i] < TOTAL);
            seen |= 1u << index[i];
            chosen[index[i]] += i < COUNT;
        }
        assert_int_equal(seen, (1u << TOTAL) - 1);
    }
    for (int i = 0; i < TOTAL; i++)
        assert_near(chosen[i] / REPEATS, 0.4, SIGMAS * sqrt(0.24 / REPEATS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_sequence),
        cmocka_unit_test(test_seeding),
        cmocka_unit_test(test_streams_and_seeds_differ),
        cmocka_unit_test(test_uniform_and_normal),
        cmocka_unit_test(test_below_is_even),
        cmocka_unit_test(test_below_has_no_bias),
        cmocka_unit_test(test_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
