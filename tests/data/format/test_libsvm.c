/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of LIBSVM files: entries, labels, comments, and errors with their positions. */
#include <stdio.h>

#include "data/data.h"
#include "support/support.h"
#include "support/sweep.h"

static kfe_data *read_text(kfe_context *ctx, const char *text, const char *options)
{
    kfe_data *data = NULL;
    assert_ok(ctx, kfe_data_read(ctx, support_text("t.svm", text), options, &data));
    return data;
}

#define assert_read_fails(ctx, code, message, text, options)                                                 \
    do {                                                                                                     \
        kfe_data *refused = NULL;                                                                            \
        assert_fails(ctx, code, message,                                                                     \
                     kfe_data_read(ctx, support_text("t.svm", text), options, &refused));                    \
        assert_null(refused);                                                                                \
    } while (0)

static void rows_become_csr(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = read_text(ctx,
                               "# made by hand\n+1 1:0.5 4:-2 # a comment 9:9\n\n-1\n+1\t2:1e3 3:0 \r\n"
                               "-1 5:7",
                               NULL);
    const kfe_i_table *table = &data->views[0].table;
    static const int64_t starts[] = {0, 2, 2, 3, 4};
    static const int32_t columns[] = {0, 3, 1, 4};
    static const double values[] = {0.5, -2, 1000, 7};

    assert_int_equal(table->kind, KFE_TABLE_CSR);
    assert_int_equal(table->rows, 4);
    assert_int_equal(table->cols, 5);
    assert_memory_equal(table->row_start, starts, sizeof starts);
    assert_memory_equal(table->columns, columns, sizeof columns);
    assert_memory_equal(table->values, values, sizeof values);
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 0), "-1");
    assert_string_equal(kfe_data_class_name(data, 1), "+1");
    assert_int_equal(kfe_data_class_of(data, 1), 0);
    kfe_data_free(data);
}

static void labels_in_all_forms(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = read_text(ctx, "cat 1:1\ndog 2:1\n", NULL);

    assert_string_equal(kfe_data_class_name(data, 1), "dog");
    kfe_data_free(data);
    data = read_text(ctx, "0.5 1:1\n0.75 2:1\n", NULL);
    assert_int_equal(kfe_data_task(data), KFE_TASK_REAL);
    assert_true(data->target.values[1] == 0.75);
    kfe_data_free(data);
    data = read_text(ctx, "1:1\n2:1 3:4\n", NULL);
    assert_int_equal(kfe_data_task(data), KFE_TASK_NONE);
    assert_int_equal(kfe_data_cols(data, 0), 3);
    kfe_data_free(data);
    data = read_text(ctx, "a 1:1\nb 2:1\n", "label=none");
    assert_int_equal(kfe_data_task(data), KFE_TASK_NONE);
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "t.svm:1:1: '1,2': several labels", "1,2 1:1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "does not begin with a label", "1 1:1\n2:3\n", NULL);
    assert_read_fails(ctx, KFE_EINVAL, "label first", "1 1:1\n", "label=last");
}

static void bad_entries_are_named(void **state)
{
    kfe_context *ctx = *state;

    assert_read_fails(ctx, KFE_EINPUT, "t.svm:2:7: '2:2': indices must increase", "1 1:1\n1 3:1 2:2\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "t.svm:1:7: '3:2': the index occurs twice", "1 3:1 3:2\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "count from 1", "1 0:1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "whole number", "1 -3:1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "whole number", "1 x:1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "larger than 2147483647", "1 2147483648:1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "larger than 2147483647", "1 99999999999999999999:1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "not a number", "1 1:abc\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "not finite", "1 1:inf\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "missing=drop", "1 1:nan\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "must be index:value", "1 1:1 7\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "no index before", "1 :1\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "no rows", "# nothing\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "no row has any entry", "1\n2\n", NULL);
    assert_int_equal(kfe_error_line(ctx), 0);
}

static void columns_can_be_given(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = read_text(ctx, "1 2:1\n", "columns=7");

    assert_int_equal(kfe_data_cols(data, 0), 7);
    kfe_data_free(data);
    data = read_text(ctx, "1 2147483647:1\n", NULL);
    assert_int_equal(kfe_data_cols(data, 0), 2147483647);
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "index 9, but 7 columns", "1 9:1\n", "columns=7");
}

static void queries_are_ignored_with_one_warning(void **state)
{
    kfe_context *ctx = *state;
    support_catch_log(ctx);
    kfe_data *data = read_text(ctx, "1 qid:1 1:1\n2 qid:1 2:1\n", NULL);
    const char *log = support_log();
    const char *found = strstr(log, "qid");

    assert_non_null(found);
    assert_null(strstr(found + 1, "qid"));
    assert_int_equal(kfe_data_cols(data, 0), 2);
    kfe_data_free(data);
}

static void incomplete_rows_can_be_dropped(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = read_text(ctx, "a 1:1\nb 1:2 2:nan\n? 2:2\nc 2:3\n", "missing=drop");

    assert_int_equal(kfe_data_rows(data), 2);
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 1), "c");
    assert_int_equal(data->views[0].table.row_start[2], 2);
    kfe_data_free(data);
}

static void the_format_is_recognised(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_read(ctx, support_text("t.txt", "# x\n1 1:2 3:4\n"), NULL, &data));
    assert_true(kfe_data_is_sparse(data, 0));
    assert_int_equal(kfe_data_csr_row_start(data, 0)[1], 2);
    assert_int_equal(kfe_data_csr_columns(data, 0)[1], 2);
    assert_true(kfe_data_csr_values(data, 0)[1] == 4);
    assert_null(kfe_data_csr_values(data, 1));
    kfe_data_free(data);
    assert_ok(ctx, kfe_data_read(ctx, support_text("t.txt", "1 2 3\n"), NULL, &data));
    assert_false(kfe_data_is_sparse(data, 0));
    kfe_data_free(data);
    assert_ok(ctx, kfe_data_read(ctx, support_text("t.csv", "1 1:2\n"), "format=libsvm", &data));
    assert_true(kfe_data_is_sparse(data, 0));
    kfe_data_free(data);
}

static void a_file_of_several_blocks(void **state)
{
    kfe_context *ctx = *state;
    const int64_t rows = 500000;
    char *text = malloc((size_t)rows * 40);
    char *c = text;
    kfe_data *data = NULL;

    assert_non_null(text);
    for (int64_t i = 0; i < rows; i++)
        c += sprintf(c, "%lld %lld:%lld.25\n", (long long)(i % 3), (long long)(i % 1000 + 1), (long long)i);
    assert_ok(ctx, kfe_data_read(ctx, support_file("large.svm", text, (size_t)(c - text)), NULL, &data));
    assert_int_equal(kfe_data_rows(data), rows);
    for (int64_t i = 0; i < rows; i++)
        if (data->views[0].table.columns[i] != i % 1000 ||
            data->views[0].table.values[i] != (double)i + 0.25 || kfe_data_class_of(data, i) != i % 3)
            fail_msg("row %lld differs", (long long)i);
    kfe_data_free(data);
    free(text);
}

static void every_allocation_may_fail(void **state)
{
    support_reading one = {support_text("t.svm", "a 1:1 2:2\nb 3:1\n"), NULL};
    (void)state;

    support_sweep_all("LIBSVM text", support_read_use, &one, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(rows_become_csr),
        with_context(labels_in_all_forms),
        with_context(bad_entries_are_named),
        with_context(columns_can_be_given),
        with_context(queries_are_ignored_with_one_warning),
        with_context(incomplete_rows_can_be_dropped),
        with_context(the_format_is_recognised),
        with_context(a_file_of_several_blocks),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
