/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct rows are numbered by their content: whatever their order, the order of the columns and the form of the table. */
#include "support/fit.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "support/sweep.h"

enum { ROWS = 40, COLS = 3, DIFFERENT = 25 };

/* Row i has the content i % DIFFERENT; some numbers are zero. */
static void fill(double *x)
{
    uint64_t random = 3;

    for (int i = 0; i < DIFFERENT; i++)
        for (int j = 0; j < COLS; j++)
            x[i * COLS + j] = (i + j) % 4 == 0 ? 0 : support_normal(&random);
    memcpy(x + DIFFERENT * COLS, x, (size_t)((ROWS - DIFFERENT) * COLS) * sizeof *x);
}

static kfe_i_distinct number(kfe_context *ctx, const kfe_data *data)
{
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct;

    assert_ok(ctx, kfe_i_data_row_keys(ctx, data, &keys));
    assert_ok(ctx, kfe_i_distinct_make(ctx, ROWS, keys, KFE_STREAM_LOO, &distinct));
    kfe_i_free(ctx, keys);
    return distinct;
}

static void test_equal_rows_have_one_number(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * COLS];
    int64_t order[ROWS];

    fill(x);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
    kfe_i_distinct distinct = number(ctx, data);
    assert_int_equal(distinct.count, DIFFERENT);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(distinct.of[i], distinct.of[i % DIFFERENT]);
        assert_int_equal(distinct.first[distinct.of[i]], i % DIFFERENT);
    }
    assert_ok(ctx, kfe_i_distinct_order(&distinct, order));
    for (int i = 1; i < ROWS; i++)
        assert_true(distinct.of[order[i - 1]] < distinct.of[order[i]] ||
                    (distinct.of[order[i - 1]] == distinct.of[order[i]] && order[i - 1] < order[i]));
    kfe_i_distinct_free(&distinct);
    kfe_data_free(data);
}

/* Rows backwards, columns backwards, a sparse table, other units and constants added: every content keeps its number. */
static void test_numbers_depend_on_content_only(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * COLS];
    double rows[ROWS * COLS];
    double columns[ROWS * COLS];
    double units[ROWS * COLS];
    support_csr arrays;
    kfe_data *data[5];

    fill(x);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            rows[(ROWS - 1 - i) * COLS + j] = columns[i * COLS + COLS - 1 - j] = x[i * COLS + j];
    for (int i = 0; i < ROWS * COLS; i++)
        units[i] = x[i] * (i % COLS == 0 ? 1000 : 0.3) + 70 * (i % COLS);
    data[0] = support_dense(ctx, ROWS, COLS, x, NULL);
    data[1] = support_dense(ctx, ROWS, COLS, rows, NULL);
    data[2] = support_dense(ctx, ROWS, COLS, columns, NULL);
    data[3] = support_sparse(ctx, ROWS, COLS, x, NULL, &arrays);
    data[4] = support_dense(ctx, ROWS, COLS, units, NULL);
    kfe_i_distinct own = number(ctx, data[0]);
    for (int d = 1; d < 5; d++) {
        kfe_i_distinct other = number(ctx, data[d]);
        for (int i = 0; i < ROWS; i++)
            assert_int_equal(own.of[i], other.of[d == 1 ? ROWS - 1 - i : i]);
        kfe_i_distinct_free(&other);
    }
    kfe_i_distinct_free(&own);
    for (int d = 0; d < 5; d++)
        kfe_data_free(data[d]);
    support_csr_free(&arrays);
}

/* (1, 2) and (2, 1) have different numbers, and so have other seeds. */
static void test_rows_of_permuted_columns_differ(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * 2];
    int64_t before[ROWS];
    int moved = 0;

    for (int i = 0; i < ROWS; i++) {
        x[2 * i + i % 2] = i / 2;
        x[2 * i + 1 - i % 2] = i / 2 + 100;
    }
    kfe_data *data = support_dense(ctx, ROWS, 2, x, NULL);
    kfe_i_distinct distinct = number(ctx, data);
    assert_int_equal(distinct.count, ROWS);
    memcpy(before, distinct.of, sizeof before);
    kfe_i_distinct_free(&distinct);
    kfe_context_set_seed(ctx, 99);
    distinct = number(ctx, data);
    for (int i = 0; i < ROWS; i++)
        moved += distinct.of[i] != before[i];
    assert_true(moved > ROWS / 2);
    kfe_i_distinct_free(&distinct);
    kfe_data_free(data);
}

static void test_without_keys_all_rows_differ(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_distinct distinct = {0};
    int64_t order[ROWS];

    assert_ok(ctx, kfe_i_distinct_make(ctx, ROWS, NULL, KFE_STREAM_LOO, &distinct));
    assert_int_equal(distinct.count, ROWS);
    assert_ok(ctx, kfe_i_distinct_order(&distinct, order));
    for (int g = 0; g < ROWS; g++) {
        assert_int_equal(distinct.of[distinct.first[g]], g);
        assert_int_equal(order[g], distinct.first[g]);
    }
    kfe_i_distinct_free(&distinct);
}

static kfe_status number_once(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};
    int64_t order[ROWS];

    status = kfe_i_data_row_keys(ctx, user, &keys);
    if (status == KFE_OK)
        status = kfe_i_distinct_make(ctx, ROWS, keys, KFE_STREAM_LOO, &distinct);
    if (status == KFE_OK)
        status = kfe_i_distinct_order(&distinct, order);
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, keys);
    return status;
}

static void test_allocation_failures(void **state)
{
    double x[ROWS * COLS];

    fill(x);
    kfe_data *data = support_dense(*state, ROWS, COLS, x, NULL);
    support_sweep_all("distinct rows", number_once, data, 4);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_equal_rows_have_one_number),
        with_context(test_numbers_depend_on_content_only),
        with_context(test_rows_of_permuted_columns_differ),
        with_context(test_without_keys_all_rows_differ),
        with_context(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
