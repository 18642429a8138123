/* SPDX-License-Identifier: Apache-2.0 */
#include "data/target.h"

#include <math.h>

#include "support.h"

static void names_keep_order_of_appearance(void **state)
{
    kfe_context *ctx = *state;
    static const char *const labels[] = {"b", "a", "b", "1", "1.0", "a"};
    static const int32_t expected[] = {0, 1, 0, 2, 3, 1};
    kfe_i_target target;
    int64_t counts[4];

    assert_ok(ctx, kfe_i_target_from_labels(ctx, 6, labels, &target));
    assert_int_equal(target.task, KFE_TASK_CLASSES);
    assert_int_equal(target.class_count, 4);
    assert_memory_equal(target.codes, expected, sizeof expected);
    assert_string_equal(target.names[0], "b");
    assert_string_equal(target.names[3], "1.0");
    kfe_i_target_count(&target, counts);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 2);
    assert_int_equal(counts[3], 1);
    kfe_i_target_free(&target);
}

static void few_integers_are_classes(void **state)
{
    kfe_context *ctx = *state;
    double values[102];
    kfe_i_target target;

    for (int i = 0; i < 102; i++)
        values[i] = i % 50 - 10;
    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 102, values, KFE_TASK_NONE, &target));
    assert_int_equal(target.task, KFE_TASK_CLASSES);
    assert_int_equal(target.class_count, 50);
    assert_string_equal(target.names[0], "-10");
    kfe_i_target_free(&target);

    values[101] = 1000; /* the 51st distinct value */
    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 102, values, KFE_TASK_NONE, &target));
    assert_int_equal(target.task, KFE_TASK_REAL);
    assert_int_equal(target.cols, 1);
    assert_true(target.values[101] == 1000);
    kfe_i_target_free(&target);
}

static void the_wanted_task_wins(void **state)
{
    kfe_context *ctx = *state;
    static const double values[] = {0.5, -0.0, 0.0, 0.5};
    static const double integers[] = {1, 2, 1};
    kfe_i_target target;

    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 4, values, KFE_TASK_CLASSES, &target));
    assert_int_equal(target.class_count, 2);
    assert_string_equal(target.names[0], "0.5");
    assert_string_equal(target.names[1], "0");
    kfe_i_target_free(&target);
    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 3, integers, KFE_TASK_REAL, &target));
    assert_int_equal(target.task, KFE_TASK_REAL);
    kfe_i_target_free(&target);
    assert_ok(ctx, kfe_i_target_from_numbers(ctx, 4, values, KFE_TASK_NONE, &target));
    assert_int_equal(target.task, KFE_TASK_REAL);
    kfe_i_target_free(&target);
}

static void targets_must_be_finite(void **state)
{
    kfe_context *ctx = *state;
    const double values[] = {1, (double)NAN};
    const double infinite[] = {(double)INFINITY, 2};
    kfe_i_target target;

    assert_fails(ctx, KFE_EINPUT, "row 2", kfe_i_target_from_numbers(ctx, 2, values, KFE_TASK_NONE, &target));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_keep_order_of_appearance, support_context_setup,
                                        support_context_teardown),
        cmocka_unit_test_setup_teardown(few_integers_are_classes, support_context_setup,
                                        support_context_teardown),
        cmocka_unit_test_setup_teardown(the_wanted_task_wins, support_context_setup,
                                        support_context_teardown),
        cmocka_unit_test_setup_teardown(targets_must_be_finite, support_context_setup,
                                        support_context_teardown),
        cmocka_unit_test_setup_teardown(gathering_keeps_the_classes, support_context_setup,
                                        support_context_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
