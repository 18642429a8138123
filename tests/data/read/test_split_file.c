/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of split files: long lines, and mistakes with their positions. */
#include "support/support.h"
#include "support/sweep.h"

#include <stdio.h>

#include "data/read/split_file.h"

typedef struct totals {
    int64_t splits, train, test, last_test;
} totals;

static kfe_status add_up(void *user, const int64_t *train, int64_t train_count, const int64_t *test,
                         int64_t test_count)
{
    totals *sum = user;

    for (int64_t i = 0; i < train_count; i++)
        assert_int_equal(train[i], 2 * i);
    sum->splits++;
    sum->train += train_count;
    sum->test += test_count;
    sum->last_test = test[test_count - 1];
    return KFE_OK;
}

/* One line of several megabytes, which real split files have. */
static void test_very_long_line(void **state)
{
    enum { TRAIN = 300000 };
    kfe_context *ctx = *state;
    size_t capacity = 10 * (size_t)TRAIN + 100;
    char *text = malloc(capacity);
    size_t length = 0;
    totals sum = {0};

    length += (size_t)snprintf(text, capacity, "train");
    for (int i = 0; i < TRAIN; i++)
        length += (size_t)snprintf(text + length, capacity - length, " %d", 2 * i + 1);
    length += (size_t)snprintf(text + length, capacity - length, "\ntest %d-%d", 2 * TRAIN, 3 * TRAIN);
    const char *path = support_file("long.txt", text, length);
    assert_ok(ctx, kfe_i_split_file_read(ctx, path, 3 * TRAIN, add_up, &sum));
    assert_int_equal(sum.splits, 1);
    assert_int_equal(sum.train, TRAIN);
    assert_int_equal(sum.test, TRAIN + 1);
    assert_int_equal(sum.last_test, 3 * TRAIN - 1);
    free(text);
}

static kfe_status ignore(void *user, const int64_t *train, int64_t train_count, const int64_t *test,
                         int64_t test_count)
{
    (void)user;
    (void)train;
    (void)train_count;
    (void)test;
    (void)test_count;
    return KFE_OK;
}

static void test_bad_files_are_named(void **state)
{
    kfe_context *ctx = *state;
    static const struct {
        const char *text, *message;
        int64_t line, column;
    } cases[] = {
        {"train 1 0\ntest 2", "'0': rows count from 1", 1, 9},
        {"train 1\ntest 2 9-11", "'9-11': the data has only 10 rows", 2, 8},
        {"train 1\ntest 99999999999999999999999", "only 10 rows", 2, 6},
        {"train 1 2\r\n# x\r\n  3 2 test 4", "row 2 is listed twice", 3, 5},
        {"train 1 2 test 3 3-4", "row 3 is listed twice", 1, 18},
        {"train 1 2\ntest 3 1-2", "row 1 is both in train and in test", 2, 8},
        {"train 1 two\ntest 3", "'two': expected a row number", 1, 9},
        {"train 1 2.5 test 3", "'2.5': expected", 1, 9},
        {"train 1 -2 test 3", "'-2': expected", 1, 9},
        {"train 1 2- test 3", "'2-': expected", 1, 9},
        {"train 1 2-3-4 test 5", "'2-3-4': expected", 1, 9},
        {"train 5-3 test 1", "a range must rise", 1, 7},
        {"1 2\ntrain 3", "before the word 'train'", 1, 1},
        {"test 1 train 2", "begins with its training rows", 1, 1},
        {"train 1 test 2\ntest 3", "second 'test'", 2, 1},
        {"", "no split in it", 0, 0},
        {"\n # nothing\n", "no split in it", 0, 0},
        {"train 1 2 3", "no test rows", 1, 0},
        {"# x\ntrain 1 test\ntrain 2 test 3", "no test rows", 2, 0},
        {"train 1 test 2\ntrain 2", "no test rows", 2, 0},
        {"train test 2", "no training rows", 1, 0},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path = support_text("bad.txt", cases[k].text);
        assert_fails(ctx, KFE_EINPUT, cases[k].message, kfe_i_split_file_read(ctx, path, 10, ignore, NULL));
        assert_non_null(strstr(kfe_error_message(ctx), "bad.txt"));
        assert_int_equal(kfe_error_line(ctx), cases[k].line);
        assert_int_equal(kfe_error_column(ctx), cases[k].column);
    }
}

static kfe_status read_once(kfe_context *ctx, void *path)
{
    return kfe_i_split_file_read(ctx, path, 3, ignore, NULL);
}

static void test_failing_allocations(void **state)
{
    char path[512];
    (void)state;

    snprintf(path, sizeof path, "%s", support_text("sweep.txt", "train 1 3\ntest 2"));
    support_sweep_all("file of splits", read_once, path, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_very_long_line),
        with_context(test_bad_files_are_named),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
