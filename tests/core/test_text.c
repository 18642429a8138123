/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to and from text against the C library's strtod, and the string helpers. */
#include "support/support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/text.h"

static int parse(const char *text, double *out)
{
    return kfe_i_parse_number(text, text + strlen(text), out);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_parses_as(const char *text, double expected)
{
    double found = 0;

    if (!parse(text, &found))
        fail_msg("'%s' is not read as a number", text);
    if (bits_of(found) != bits_of(expected))
        fail_msg("'%s' is read as %.17g, not %.17g", text, found, expected);
}

static void test_random_bit_patterns(void **state)
{
    kfe_i_rng rng;

    (void)state;
    kfe_i_rng_init(&rng, 1, 1);
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = kfe_i_rng_bits(&rng);
        char text[KFE_NUMBER_TEXT];
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        kfe_i_format_number(value, text);
        assert_parses_as(text, value);
        if (bits_of(strtod(text, NULL)) != bits)
            fail_msg("'%s' is not %a", text, value);
    }
}

/* Digits and exponents as in data files, where the fast reading path applies. */
static void test_random_decimals(void **state)
{
    kfe_i_rng rng;

    (void)state;
    kfe_i_rng_init(&rng, 2, 1);
    for (int i = 0; i < 300000; i++) {
        char text[80];
        int digits = 1 + (int)kfe_i_rng_below(&rng, 24);
        int point = (int)kfe_i_rng_below(&rng, digits + 1);
        int length = 0;
        if (kfe_i_rng_below(&rng, 2))
            text[length++] = '-';
        for (int d = 0; d < digits; d++) {
            if (d == point)
                text[length++] = '.';
            text[length++] = (char)('0' + kfe_i_rng_below(&rng, 10));
        }
        if (kfe_i_rng_below(&rng, 2))
            length += snprintf(text + length, 16, "e%d", (int)kfe_i_rng_below(&rng, 60) - 30);
        text[length] = '\0';
        assert_parses_as(text, strtod(text, NULL));
    }
}

static void test_hard_numbers(void **state)
{
    static const char *const texts[] = {
        "9007199254740993",
        "9007199254740993.0000000000000000000000000001",
        "1e23",
        "0.1",
        "5e-324",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "0e99999999999999999999",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000000000000000000000001",
        "00000000000000000000000000000001",
        "6.0221409e+23",
        "1.",
        ".5",
        "+3",
        "-0",
        "1E5",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999e27",
        "8.5e-27",
    };

    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        assert_parses_as(texts[k], strtod(texts[k], NULL));
    assert_parses_as(" \t42 \t", 42);
    assert_parses_as("inf", (double)INFINITY);
    assert_parses_as("-Infinity", -(double)INFINITY);
}

/* Halfway between two doubles, and slightly above it, in the 300th digit. */
static void test_many_digits(void **state)
{
    char text[400];

    (void)state;
    strcpy(text, "9007199254740993.");
    memset(text + strlen(text), '0', 300);
    text[317] = '\0';
    assert_parses_as(text, 9007199254740992.0);
    text[316] = '1';
    assert_parses_as(text, 9007199254740994.0);
}

static void test_what_is_not_a_number(void **state)
{
    static const char *const texts[] = {"",    " ",        ".",     "-",    "+",    "e5",
                                        "1e",  "1e+",      "1,5",   "0x10", "1 2",  "1.2.3",
                                        "--1", "infinite", "nanny", "1f",   "1e5x", "١"};
    double found = 0;

    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (parse(texts[k], &found))
            fail_msg("'%s' is read as a number", texts[k]);
    assert_int_equal(parse("NaN", &found), 1);
    assert_true(isnan(found));
}

static void test_only_the_range_is_read(void **state)
{
    const char *text = "12345";
    const char zero_inside[] = {'1', '\0', '2'};
    double found = 0;

    (void)state;
    assert_int_equal(kfe_i_parse_number(text + 1, text + 3, &found), 1);
    assert_true(found == 23);
    assert_int_equal(kfe_i_parse_number(zero_inside, zero_inside + 3, &found), 0);
}

static void test_short_forms(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1e23, "1e+23"},
                 {100000, "100000"},
                 {1.0 / 3, "0.3333333333333333"},
                 {-0.0, "-0"},
                 {5e-324, "5e-324"},
                 {9007199254740992, "9007199254740992"},
                 {(double)INFINITY, "inf"},
                 {-(double)INFINITY, "-inf"},
                 {(double)NAN, "nan"}};
    char text[KFE_NUMBER_TEXT];

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kfe_i_format_number(cases[k].value, text);
        assert_string_equal(text, cases[k].text);
    }
    kfe_i_format_bytes(1536e6, text, sizeof text);
    assert_string_equal(text, "1.5 GB");
    kfe_i_format_bytes(999, text, sizeof text);
    assert_string_equal(text, "999 bytes");
}

static int use_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",       "fr_FR.UTF-8",
                                        "fr_FR.utf8",  "pt_BR.utf8", "ru_RU.UTF-8", "nl_NL.UTF-8"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (setlocale(LC_NUMERIC, names[k]) && *localeconv()->decimal_point == ',')
            return 1;
    return 0;
}

static void test_decimal_comma(void **state)
{
    char text[KFE_NUMBER_TEXT];

    (void)state;
    if (!use_decimal_comma()) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    assert_parses_as("1.5", 1.5);
    assert_parses_as("1.00000000000000000000000000000001e-300", 1e-300);
    kfe_i_format_number(0.25, text);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "0.25");
}

static void test_growing_text(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_text text;
    char *taken = NULL;

    kfe_i_text_init(&text, ctx);
    for (int i = 0; i < 1000; i++)
        kfe_i_text_printf(&text, "%d,", i);
    kfe_i_text_add(&text, "abc", 2);
    kfe_i_text_puts(&text, "!");
    assert_ok(ctx, kfe_i_text_take(&text, &taken));
    assert_int_equal(strlen(taken), 10 * 2 + 90 * 3 + 900 * 4 + 3);
    assert_string_equal(taken + strlen(taken) - 7, "999,ab!");
    kfe_i_free(ctx, taken);
    kfe_i_text_init(&text, ctx);
    assert_ok(ctx, kfe_i_text_take(&text, &taken));
    assert_string_equal(taken, "");
    kfe_i_free(ctx, taken);
}

static void test_growing_text_out_of_memory(void **state)
{
    support_allocator allocator = {.fail_at = 3};
    kfe_context *ctx = NULL;
    kfe_i_text text;
    char *taken = NULL;

    (void)state;
    assert_int_equal(kfe_context_new_with(support_reallocate, &allocator, &ctx), KFE_OK);
    kfe_i_text_init(&text, ctx);
    for (int i = 0; i < 100; i++)
        kfe_i_text_puts(&text, "more and more");
    assert_int_equal(kfe_i_text_take(&text, &taken), KFE_ENOMEM);
    assert_null(taken);
    kfe_context_free(ctx);
    assert_int_equal(allocator.live, 0);
}

static void test_words(void **state)
{
    char word[8];

    (void)state;
    assert_int_equal(kfe_i_word_index("none|standard|minmax", "minmax"), 2);
    assert_int_equal(kfe_i_word_index("none|standard|minmax", "min"), -1);
    assert_int_equal(kfe_i_word_index("none|standard", ""), -1);
    assert_int_equal(kfe_i_word_at("a|standard|c", 1, word, sizeof word), 1);
    assert_string_equal(word, "standar");
    assert_int_equal(kfe_i_word_at("a|b", 2, word, sizeof word), 0);
}

static void test_typos(void **state)
{
    static const struct {
        const char *word, *name;
        int typos;
    } cases[] = {
        {"gamma", "gamma", 0},
        {"gama", "gamma", 1},
        {"gmama", "gamma", 1}, /* swapped */
        {"kpac", "kpca", 1},
        {"laplace", "laplacian", 3},
        {"svn", "svm", 1},
        {"foo", "koc", -1},
        {"kitten", "sitting", -1},
        {"", "abc", -1},
        {"abc", "", -1},
        {"k", "m", -1},
        {"kp", "pk", 1},
        {"x_y", "x-y", 1},
        {"ridge", "gamma", -1},
        {"a", "ab", -1},
        {"standrad", "standard", 1},
    };
    char longer[200];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (kfe_count_typos(cases[i].word, cases[i].name) != cases[i].typos)
            fail_msg("%s for %s: %d", cases[i].word, cases[i].name,
                     kfe_count_typos(cases[i].word, cases[i].name));
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(kfe_count_typos(longer, longer), 0);
    assert_int_equal(kfe_count_typos(longer, "aaa"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bit_patterns),
        cmocka_unit_test(test_random_decimals),
        cmocka_unit_test(test_hard_numbers),
        cmocka_unit_test(test_many_digits),
        cmocka_unit_test(test_what_is_not_a_number),
        cmocka_unit_test(test_only_the_range_is_read),
        cmocka_unit_test(test_short_forms),
        cmocka_unit_test(test_decimal_comma),
        with_context(test_growing_text),
        cmocka_unit_test(test_growing_text_out_of_memory),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_typos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
