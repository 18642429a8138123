/* SPDX-License-Identifier: Apache-2.0 */
/* Targets from strings and from numbers. */
#include "data/target/target.h"

#include <math.h>
#include <string.h>

#include "core/utf8.h"
#include "data/target/classes.h"
#include "support/support.h"
#include "support/sweep.h"

static void equal_numbers_are_one_class_and_classes_are_sorted(void **state)
{
    kfe_context *ctx = *state;
    static const char *const labels[] = {
        "b", "10", "B", "1.0", "+1", "9", "1", "b", "-1e1", "9007199254740993", "9007199254740992.5"};
    static const int32_t expected[] = {7, 3, 6, 1, 1, 2, 1, 7, 0, 5, 4};
    kfe_i_target target;
    int64_t counts[8];

    assert_ok(ctx, kfe_i_target_from_labels(ctx, 11, labels, &target));
    assert_int_equal(target.task, KFE_TASK_CLASSES);
    assert_int_equal(target.class_count, 8);
    assert_memory_equal(target.codes, expected, sizeof expected);
    assert_string_equal(target.names[0], "-1e1");
    assert_string_equal(target.names[1], "1.0"); /* as in its first occurrence */
    assert_string_equal(target.names[6], "B");
    kfe_i_target_count(&target, counts);
    assert_int_equal(counts[1], 3);
    assert_int_equal(counts[7], 2);
    kfe_i_target_free(&target);
    assert_true(kfe_i_same_class("1", "+1.0") && kfe_i_same_class("a", "a"));
    assert_false(kfe_i_same_class("1", "one") || kfe_i_same_class("nan", "NaN"));
}

static void the_rule_for_numbers(void **state)
{
    kfe_context *ctx = *state;
    double values[102];

    for (int i = 0; i < 102; i++)
        values[i] = i % 20 - 10;
    support_catch_log(ctx);
    assert_int_equal(kfe_guess_task(ctx, 102, values, 0), KFE_TASK_CLASSES);
    assert_string_equal(support_log(), "");
    assert_int_equal(kfe_guess_task(ctx, 102, values, 1),
                     KFE_TASK_REAL); /* values of a floating-point type */
    assert_non_null(strstr(support_log(), "task=classify"));
    values[101] = 1000; /* the 21st distinct value */
    support_catch_log(ctx);
    assert_int_equal(kfe_guess_task(ctx, 102, values, 0), KFE_TASK_REAL);
    assert_non_null(strstr(support_log(), "more than 20 different whole numbers"));
    values[101] = 0.5;
    support_catch_log(ctx);
    assert_int_equal(kfe_guess_task(ctx, 102, values, 0), KFE_TASK_REAL);
    assert_string_equal(support_log(), "");
}

static void the_wanted_task_wins(void **state)
{
    kfe_context *ctx = *state;
    static const double values[] = {0.5, -0.0, 0.0, 0.5};
    static const double integers[] = {1, 2, 1};
    kfe_i_target target;

    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 4, values, KFE_TASK_CLASSES, &target));
    assert_int_equal(target.class_count, 2);
    assert_string_equal(target.names[0], "0");
    assert_string_equal(target.names[1], "0.5");
    kfe_i_target_free(&target);
    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 3, integers, KFE_TASK_REAL, &target));
    assert_int_equal(target.task, KFE_TASK_REAL);
    kfe_i_target_free(&target);
}

static void targets_must_be_finite(void **state)
{
    kfe_context *ctx = *state;
    const double values[] = {1, (double)NAN};
    const double infinite[] = {(double)INFINITY, 2};
    kfe_i_target target;

    assert_fails(ctx, KFE_EINPUT, "row 2", kfe_i_target_from_numbers(ctx, 2, values, KFE_TASK_REAL, &target));
    assert_fails(ctx, KFE_EINPUT, "row 1", kfe_i_target_from_values(ctx, 2, 1, infinite, &target));
    assert_null(target.values);
}

static void gathering_keeps_the_classes(void **state)
{
    kfe_context *ctx = *state;
    static const char *const labels[] = {"x", "y", "z"};
    static const double values[] = {1, 2, 3, 4, 5, 6};
    static const int64_t index[] = {2, 2};
    kfe_i_target whole, part;

    assert_ok(ctx, kfe_i_target_from_labels(ctx, 3, labels, &whole));
    assert_ok(ctx, kfe_i_target_gather(ctx, &whole, index, 2, &part));
    assert_int_equal(part.rows, 2);
    assert_int_equal(part.class_count, 3);
    assert_int_equal(part.codes[1], 2);
    kfe_i_target_free(&part);
    kfe_i_target_free(&whole);
    assert_ok(ctx, kfe_i_target_from_values(ctx, 3, 2, values, &whole));
    assert_ok(ctx, kfe_i_target_gather(ctx, &whole, index, 2, &part));
    assert_true(part.values[2] == 5 && part.values[3] == 6);
    kfe_i_target_free(&part);
    kfe_i_target_free(&whole);
}

static kfe_status copy_once(kfe_context *ctx, void *user)
{
    static const double values[] = {1, 2, 3};
    static const char *const labels[] = {"b", "a", "b"};
    kfe_data *from = NULL;
    kfe_data *to = NULL;
    kfe_status status = KFE_OK;

    (void)user;
    KFE_TRY(kfe_data_wrap_dense(ctx, 3, 1, 1, values, &from));
    KFE_TRY(kfe_data_wrap_dense(ctx, 3, 1, 1, values, &to));
    KFE_TRY(kfe_data_set_labels(ctx, from, labels));
    status = kfe_data_copy_target(ctx, from, to);
    kfe_data_free(from);
    from = NULL;
    assert_int_equal(kfe_data_classes(to), status == KFE_OK ? 2 : 0);
    if (status == KFE_OK)
        assert_string_equal(kfe_data_class_name(to, kfe_data_class_of(to, 1)), "a");
cleanup:
    kfe_data_free(from);
    kfe_data_free(to);
    return status;
}

static void copies_stand_on_their_own_and_may_run_out_of_memory(void **state)
{
    (void)state;
    support_sweep_all("copy of targets", copy_once, NULL, 8);
}

static void copying_wants_as_many_rows(void **state)
{
    kfe_context *ctx = *state;
    static const double values[] = {1, 2, 3};
    kfe_data *three = NULL;
    kfe_data *two = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 3, 1, 1, values, &three));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 1, 1, values, &two));
    assert_ok(ctx, kfe_data_set_targets(ctx, three, 1, values));
    assert_fails(ctx, KFE_EINVAL, "3 rows", kfe_data_copy_target(ctx, three, two));
    kfe_data_free(two);
    kfe_data_free(three);
}

static void labels_are_utf8(void **state)
{
    kfe_context *ctx = *state;
    static const char *const good[] = {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    static const char *const bad[] = {
        "\xE4", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "a\x80"};
    kfe_i_target target;

    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        assert_true(kfe_i_is_utf8(good[k]));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_false(kfe_i_is_utf8(bad[k]));
        assert_fails(ctx, KFE_EINPUT, "row 1", kfe_i_target_from_labels(ctx, 1, &bad[k], &target));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(equal_numbers_are_one_class_and_classes_are_sorted),
        with_context(the_rule_for_numbers),
        with_context(the_wanted_task_wins),
        with_context(targets_must_be_finite),
        with_context(gathering_keeps_the_classes),
        with_context(copying_wants_as_many_rows),
        with_context(labels_are_utf8),
        cmocka_unit_test(copies_stand_on_their_own_and_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
