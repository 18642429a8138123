/* SPDX-License-Identifier: Apache-2.0 */
/* Messages name parameters in the words of the host and leave braces in users' text alone. */
#include "support/support.h"

#include "core/wording.h"

static void assert_worded(const char *format, const char *in_c, const char *as_flags, const char *in_python,
                          const char *in_r)
{
    const char *expected[] = {in_c, as_flags, in_python, in_r};
    kfe_context *ctx = NULL;
    char out[KFE_WORDING_TEXT];

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    for (int w = 0; w < KFE_WORDING_COUNT; w++) {
        assert_int_equal(kfe_context_set_wording(ctx, (kfe_wording)w), KFE_OK);
        kfe_i_word_format(ctx, format, out);
        assert_string_equal(out, expected[w]);
    }
    kfe_context_free(ctx);
}

static void test_names_and_values(void **state)
{
    (void)state;
    assert_worded("use {missing=mean}.", "use missing=mean.", "use --missing mean.", "use missing='mean'.",
                  "use missing = \"mean\".");
    assert_worded("raise {max-iter}", "raise max-iter", "raise --max-iter", "raise max_iter",
                  "raise max_iter");
    assert_worded("{ridge=0.1} {ridge=-1}", "ridge=0.1 ridge=-1", "--ridge 0.1 --ridge -1",
                  "ridge=0.1 ridge=-1", "ridge = 0.1 ridge = -1");
    assert_worded("{margin-C}", "margin-C", "--margin-C", "margin_C", "margin_C");
    assert_worded("{lambda=1}", "lambda=1", "--lambda 1", "lambda_=1", "lambda = 1");
    assert_worded("{dim=%lld}, {task=%s}", "dim=%lld, task=%s", "--dim %lld, --task %s",
                  "dim=%lld, task='%s'", "dim = %lld, task = \"%s\"");
}

static void test_words_of_hosts(void **state)
{
    (void)state;
    assert_worded("{methods} lists them", "kfe_method() lists them", "`kfe methods` lists them",
                  "kfe.methods() lists them", "kfe_methods() lists them");
}

static void test_other_braces_stay(void **state)
{
    const char *braces[] = {"{", "}", "{}", "{ label}", "a{b", "{label=", "{9}", "{a b}", "{{", "{label"};

    (void)state;
    for (size_t i = 0; i < sizeof braces / sizeof *braces; i++)
        assert_worded(braces[i], braces[i], braces[i], braces[i], braces[i]);
}

static void test_only_formats_are_translated(void **state)
{
    kfe_context *ctx = NULL;

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_int_equal(kfe_context_set_wording(ctx, KFE_WORDING_FLAGS), KFE_OK);
    assert_int_equal(kfe_i_fail(ctx, KFE_EINPUT, "%s: use {label=none}", "{label}.csv"), KFE_EINPUT);
    assert_string_equal(kfe_error_message(ctx), "{label}.csv: use --label none");
    kfe_i_fail_at(ctx, KFE_EINPUT, "{x=1}", 3, 0, "see {label}, not %s", "{y}");
    assert_string_equal(kfe_error_message(ctx), "{x=1}:3: see --label, not {y}");
    assert_int_equal(kfe_context_set_memory(ctx, 1), KFE_OK);
    assert_int_equal(kfe_i_check_memory(ctx, 1e9, "all of it", "raise {memory}"), KFE_ELIMIT);
    assert_non_null(strstr(kfe_error_message(ctx), "raise --memory"));
    kfe_context_free(ctx);
}

static void test_long_formats_are_cut(void **state)
{
    kfe_context *ctx = NULL;
    char format[3 * KFE_WORDING_TEXT];
    char out[KFE_WORDING_TEXT];

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    for (size_t start = KFE_WORDING_TEXT - 12; start <= KFE_WORDING_TEXT; start++) {
        memset(format, 'x', sizeof format);
        memcpy(format + start, "{label=none}", 12);
        format[sizeof format - 1] = '\0';
        kfe_i_word_format(ctx, format, out);
        assert_int_equal(strlen(out), KFE_WORDING_TEXT - 1);
    }
    kfe_context_free(ctx);
}

static void test_wordings_have_numbers(void **state)
{
    kfe_context *ctx = NULL;

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_int_equal(kfe_context_set_wording(ctx, (kfe_wording)-1), KFE_EINVAL);
    assert_int_equal(kfe_context_set_wording(ctx, KFE_WORDING_COUNT), KFE_EINVAL);
    kfe_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_values),     cmocka_unit_test(test_words_of_hosts),
        cmocka_unit_test(test_other_braces_stay),    cmocka_unit_test(test_only_formats_are_translated),
        cmocka_unit_test(test_long_formats_are_cut), cmocka_unit_test(test_wordings_have_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
