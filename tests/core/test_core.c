/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter tables, contexts and status texts. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/param.h"
#include "data/generate/generate.h"

/* ---- parameters ---- */

struct settings {
    int64_t count;
    double gamma;
    double weight;
    int mode;
    int center;
    char name[KFE_PARAM_TEXT_SIZE];
};

static const kfe_i_param rows[] = {
    KFE_INT(struct settings, count, "count", "3", 1, 10, "how many"),
    KFE_REAL_OR(struct settings, gamma, "gamma", "scale", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto|scale",
                "auto=-1|scale=-2", "width"),
    KFE_REAL(struct settings, weight, "weight", "0.5", -1, 1, "factor"),
    KFE_CHOICE(struct settings, mode, "mode", "fast", "slow|fast", "how"),
    KFE_FLAG(struct settings, center, "center", "yes", "whether"),
    KFE_TEXT(struct settings, name, "name", "anna", "who"),
};
static const kfe_i_param_table table = KFE_PARAM_TABLE(rows, struct settings);

static kfe_status parse(kfe_context *ctx, struct settings *settings, const char *text)
{
    return kfe_i_params_parse(ctx, &table, "method test", settings, text);
}

static void test_defaults(void **state)
{
    kfe_context *ctx = *state;
    struct settings settings;

    memset(&settings, 0xDE, sizeof settings);
    assert_ok(ctx, kfe_i_params_default(ctx, &table, &settings));
    assert_int_equal(settings.count, 3);
    assert_true(settings.gamma == -2);
    assert_true(settings.weight == 0.5);
    assert_int_equal(settings.mode, 1);
    assert_int_equal(settings.center, 1);
    assert_string_equal(settings.name, "anna");
    for (size_t i = 4; i < sizeof settings.name; i++)
        assert_int_equal(settings.name[i], 0);
}

/* A field without a row would keep the old content of the memory: filling the memory in two ways reveals it. */
static void assert_every_word_is_set(kfe_context *ctx, const kfe_i_param_table *params)
{
    unsigned char *filled[2];

    for (int k = 0; k < 2; k++) {
        filled[k] = malloc(params->size + 1);
        memset(filled[k], k ? 0x21 : 0xDE, params->size);
        assert_ok(ctx, kfe_i_params_default(ctx, params, filled[k]));
    }
    for (size_t i = 0; i + sizeof(int) <= params->size; i += sizeof(int)) {
        static const unsigned char untouched[sizeof(int)] = {0xDE, 0xDE, 0xDE, 0xDE};
        int is_padding = i % 8 == 4 && i + sizeof(int) == params->size;
        if (!is_padding && memcmp(filled[0] + i, untouched, sizeof untouched) == 0)
            fail_msg("byte %zu is not set", i);
        if (!is_padding)
            assert_memory_equal(filled[0] + i, filled[1] + i, sizeof(int));
    }
    free(filled[0]);
    free(filled[1]);
}

static void test_every_table_sets_every_field(void **state)
{
    kfe_context *ctx = *state;

    assert_every_word_is_set(ctx, &table);
    for (int i = 0; kfe_i_generator_at(i); i++)
        assert_every_word_is_set(ctx, &kfe_i_generator_at(i)->params);
}

static void test_values(void **state)
{
    kfe_context *ctx = *state;
    struct settings settings;

    assert_ok(ctx, kfe_i_params_default(ctx, &table, &settings));
    assert_ok(ctx, parse(ctx, &settings, "count=10,gamma=0.25,weight=-1,mode=slow,center=no,name=b=c"));
    assert_int_equal(settings.count, 10);
    assert_true(settings.gamma == 0.25 && settings.weight == -1);
    assert_int_equal(settings.mode, 0);
    assert_int_equal(settings.center, 0);
    assert_string_equal(settings.name, "b=c");
    assert_ok(ctx, parse(ctx, &settings, "gamma=auto,center=1,count=1e0"));
    assert_true(settings.gamma == -1 && settings.center == 1 && settings.count == 1);
    assert_ok(ctx, parse(ctx, &settings, NULL));
    assert_ok(ctx, parse(ctx, &settings, ""));
    assert_int_equal(settings.count, 1);
}

static void test_values_out_of_range(void **state)
{
    kfe_context *ctx = *state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"count=0", "count takes an integer from 1 to 10, not '0'"},
        {"count=11", "not '11'"},
        {"count=2.5", "an integer"},
        {"count=nan", "an integer"},
        {"count=1e400", "an integer"},
        {"count=three", "an integer"},
        {"count=", "an integer"},
        {"gamma=0", "gamma takes a number above 0"},
        {"gamma=-1", "above 0"},
        {"gamma=inf", "above 0"},
        {"gamma=autos", "above 0 or one of auto|"},
        {"weight=1.0000001", "from -1 to 1"},
        {"weight=auto", "from -1 to 1"},
        {"mode=medium", "mode takes one of slow|fast, not 'medium'"},
        {"center=maybe", "center takes yes or no, not 'maybe'"},
        {"cuont=2", "method test has no parameter 'cuont' (did you mean 'count'?)"},
        {"zzzzzz=2", "no parameter 'zzzzzz'"},
        {"count", "'count' is not of the form key=value"},
        {"=2", "key=value"},
        {"count=2,,weight=0", "key=value"},
    };
    struct settings settings;

    assert_ok(ctx, kfe_i_params_default(ctx, &table, &settings));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_fails(ctx, KFE_EINVAL, cases[k].reason, parse(ctx, &settings, cases[k].text));
    parse(ctx, &settings, "zzzzzz=2");
    assert_null(strstr(kfe_error_message(ctx), "did you mean"));
    assert_true(settings.gamma == -2 && settings.mode == 1);
}

static void test_long_text_is_refused(void **state)
{
    kfe_context *ctx = *state;
    struct settings settings;
    char value[KFE_PARAM_TEXT_SIZE + 1];

    memset(value, 'x', KFE_PARAM_TEXT_SIZE);
    value[KFE_PARAM_TEXT_SIZE] = '\0';
    assert_fails(ctx, KFE_EINVAL, "longer than 511",
                 kfe_i_param_set(ctx, &table, "test", &settings, "name", value));
    value[KFE_PARAM_TEXT_SIZE - 1] = '\0';
    assert_ok(ctx, kfe_i_param_set(ctx, &table, "test", &settings, "name", value));
    assert_string_equal(settings.name, value);
}

static void test_names_with_bars(void **state)
{
    static const kfe_i_param own[] = {KFE_INT(struct settings, count, "how-many", "3", 1, 10, "how many")};
    static const kfe_i_param_table barred = KFE_PARAM_TABLE(own, struct settings);
    kfe_context *ctx = *state;
    struct settings settings;

    assert_ok(ctx, kfe_i_params_parse(ctx, &barred, "test", &settings, "how-many=4,how_many=5"));
    assert_int_equal(settings.count, 5);
    assert_null(kfe_i_param_find(&barred, "how many"));
    assert_null(kfe_i_param_find(&barred, "how-man"));
    assert_null(kfe_i_param_find(&barred, "how-many-"));
}

static void test_former_names_are_understood(void **state)
{
    static const kfe_i_param own[] = {
        KFE_INT(struct settings, count, "max-iter", "3", 1, 10, "how many", KFE_ALIAS("max-rounds"))};
    static const kfe_i_param_table renamed = KFE_PARAM_TABLE(own, struct settings);
    kfe_context *ctx = *state;
    struct settings settings;
    kfe_i_text text;
    char *out = NULL;

    assert_ok(ctx, kfe_i_params_parse(ctx, &renamed, "test", &settings, "max-rounds=4,max_rounds=5"));
    assert_int_equal(settings.count, 5);
    assert_ok(ctx, kfe_i_params_parse(ctx, &renamed, "test", &settings, "max-iter=6"));
    assert_int_equal(settings.count, 6);
    kfe_i_text_init(&text, ctx);
    kfe_i_params_format(&renamed, &settings, &text);
    assert_ok(ctx, kfe_i_text_take(&text, &out));
    assert_string_equal(out, "max-iter=6");
    kfe_i_free(ctx, out);
    assert_fails(ctx, KFE_EINVAL, "max-iter takes an integer",
                 kfe_i_params_parse(ctx, &renamed, "test", &settings, "max-rounds=99"));
}

static char *format_all(kfe_context *ctx, const struct settings *settings)
{
    kfe_i_text text;
    char *out = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_params_format(&table, settings, &text);
    assert_ok(ctx, kfe_i_text_take(&text, &out));
    return out;
}

static void test_format_and_escapes(void **state)
{
    kfe_context *ctx = *state;
    struct settings settings;
    struct settings again;
    char *text;

    assert_ok(ctx, kfe_i_params_default(ctx, &table, &settings));
    assert_ok(ctx, parse(ctx, &settings, "weight=0.1,name=a\\,b\\\\c\\=d"));
    assert_string_equal(settings.name, "a,b\\c=d");
    text = format_all(ctx, &settings);
    assert_string_equal(text, "count=3,gamma=scale,weight=0.1,mode=fast,center=yes,name=a\\,b\\\\c=d");
    memset(&again, 0x77, sizeof again);
    assert_ok(ctx, parse(ctx, &again, text));
    assert_string_equal(again.name, settings.name);
    assert_true(again.weight == settings.weight && again.gamma == settings.gamma);
    kfe_i_free(ctx, text);
}

static void test_finding_rows(void **state)
{
    (void)state;
    assert_string_equal(kfe_i_param_find(&table, "mode")->info.words, "slow|fast");
    assert_null(kfe_i_param_find(&table, "mod"));
    assert_string_equal(kfe_i_param_info(&table, 0)->name, "count");
    assert_null(kfe_i_param_info(&table, 6));
    assert_null(kfe_i_param_info(&table, -1));
}

/* ---- contexts and status ---- */

static void test_status_texts(void **state)
{
    (void)state;
    for (int i = 0; i < KFE_STATUS_COUNT; i++) {
        const char *text = kfe_status_text((kfe_status)i);
        assert_true(strlen(text) > 3);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, kfe_status_text((kfe_status)j));
    }
    assert_string_equal(kfe_status_text(KFE_OK), "success");
    assert_string_equal(kfe_status_text((kfe_status)1000), "unknown status");
    assert_string_equal(kfe_version(), KFE_VERSION);
}

static void test_two_contexts_do_not_meet(void **state)
{
    kfe_context *first = *state;
    kfe_context *second = NULL;

    assert_int_equal(kfe_context_new(&second), KFE_OK);
    kfe_context_set_seed(first, 5);
    assert_ok(first, kfe_context_set_threads(first, 3));
    assert_ok(first, kfe_context_set_memory(first, 1000));
    assert_fails(first, KFE_EINVAL, "threads", kfe_context_set_threads(first, -1));
    assert_int_equal(kfe_context_seed(second), 0);
    assert_true(kfe_context_threads(second) >= 1);
    assert_true(kfe_context_memory(second) > 1000);
    assert_string_equal(kfe_error_message(second), "");
    assert_int_equal(kfe_context_seed(first), 5);
    assert_int_equal(kfe_context_threads(first), 3);
    assert_int_equal(kfe_context_memory(first), 1000);
    assert_fails(first, KFE_EINVAL, "negative", kfe_context_set_memory(first, -1));
    kfe_context_free(second);
    kfe_context_free(NULL);
}

static void test_allocator_that_fails_at_once(void **state)
{
    support_allocator allocator = {.fail_at = 1};
    kfe_context *ctx = (kfe_context *)(uintptr_t)1;

    (void)state;
    assert_int_equal(kfe_context_new_with(support_reallocate, &allocator, &ctx), KFE_ENOMEM);
    assert_null(ctx);
    assert_int_equal(allocator.live, 0);
    assert_int_equal(kfe_context_new(NULL), KFE_EINVAL);
}

static void test_allocation_limits(void **state)
{
    kfe_context *ctx = *state;
    char *block = kfe_i_alloc(ctx, 0, 8);

    assert_non_null(block);
    kfe_i_free(ctx, block);
    assert_null(kfe_i_alloc(ctx, INT64_MAX, 8));
    assert_non_null(strstr(kfe_error_message(ctx), "out of memory"));
    assert_null(kfe_i_alloc(ctx, -1, 1));
    assert_null(kfe_i_alloc_zero(ctx, INT64_MAX / 2, 4));
}

static void test_error_places(void **state)
{
    kfe_context *ctx = *state;

    kfe_i_fail_at(ctx, KFE_EINPUT, "a.csv", 3, 7, "text '%s'", "x");
    assert_string_equal(kfe_error_message(ctx), "a.csv:3:7: text 'x'");
    assert_int_equal(kfe_error_line(ctx), 3);
    assert_int_equal(kfe_error_column(ctx), 7);
    assert_int_equal(kfe_i_fail_prefix(ctx, KFE_EINPUT, "view 2"), KFE_EINPUT);
    assert_string_equal(kfe_error_message(ctx), "view 2: a.csv:3:7: text 'x'");
    assert_int_equal(kfe_error_line(ctx), 3);
    kfe_i_fail_at(ctx, KFE_EINPUT, "a.csv", 3, 0, "short");
    assert_string_equal(kfe_error_message(ctx), "a.csv:3: short");
    assert_int_equal(kfe_i_fail(ctx, KFE_EINVAL, "other"), KFE_EINVAL);
    assert_int_equal(kfe_error_line(ctx), 0);
}

static int say_stop(void *user)
{
    return *(int *)user;
}

static void count_progress(void *user, const char *stage, int64_t done, int64_t total)
{
    *(int64_t *)user += done + total + (int64_t)strlen(stage);
}

static void test_progress_cancel_and_limit(void **state)
{
    kfe_context *ctx = *state;
    int stop = 0;
    int64_t seen = 0;

    kfe_context_on_progress(ctx, count_progress, &seen);
    kfe_context_on_cancel(ctx, say_stop, &stop);
    assert_ok(ctx, kfe_i_progress(ctx, "fitting", 2, 10));
    assert_int_equal(seen, 19);
    stop = 1;
    assert_fails(ctx, KFE_ECANCEL, "cancelled while fitting", kfe_i_progress(ctx, "fitting", 3, 10));
    kfe_context_on_cancel(ctx, NULL, NULL);
    assert_ok(ctx, kfe_i_progress(ctx, "fitting", 4, 10));
    assert_ok(ctx, kfe_context_set_memory(ctx, 2000000));
    assert_ok(ctx, kfe_i_check_memory(ctx, 2e6, "it", "do less"));
    assert_fails(ctx, KFE_ELIMIT, "it needs 3.0 MB of memory, but the limit is 2.0 MB; do less",
                 kfe_i_check_memory(ctx, 3e6, "it", "do less"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_defaults),
        with_context(test_every_table_sets_every_field),
        with_context(test_values),
        with_context(test_values_out_of_range),
        with_context(test_long_text_is_refused),
        with_context(test_format_and_escapes),
        with_context(test_names_with_bars),
        with_context(test_former_names_are_understood),
        cmocka_unit_test(test_finding_rows),
        cmocka_unit_test(test_status_texts),
        with_context(test_two_contexts_do_not_meet),
        cmocka_unit_test(test_allocator_that_fails_at_once),
        with_context(test_allocation_limits),
        with_context(test_error_places),
        with_context(test_progress_cancel_and_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
