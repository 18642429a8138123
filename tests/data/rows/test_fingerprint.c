/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints: equal data has equal ones, whatever the number of threads, and every change shows. And the first number that
 * is too large is found in its place. */
#include "data/rows/fingerprint.h"

#include <math.h>

#include "support/fit.h"
#include "support/support.h"

enum { ROWS = 5000, COLS = 7 };

static kfe_data *make(kfe_context *ctx, const double *x, const double *y)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    return data;
}

static uint64_t print_of(kfe_context *ctx, const double *x, const double *y)
{
    kfe_data *data = make(ctx, x, y);
    uint64_t print = kfe_i_data_fingerprint(ctx, data);

    kfe_data_free(data);
    return print;
}

static void test_changes_show(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(1, (int64_t)ROWS * COLS);
    double *y = support_normals(2, ROWS);
    static const int64_t places[] = {0, 3, 4, 6, 7, COLS * 2048, COLS * 2049 + 5, COLS * ROWS - 1};
    uint64_t print = print_of(ctx, x, y);

    for (int threads = 1; threads <= 3; threads++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, threads));
        assert_true(print_of(ctx, x, y) == print);
    }
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double before = x[places[k]];
        x[places[k]] = nextafter(before, 9);
        assert_true(print_of(ctx, x, y) != print);
        x[places[k]] = before;
    }
    double first = x[0]; /* two numbers that change places */
    x[0] = x[4];
    x[4] = first;
    assert_true(print_of(ctx, x, y) != print);
    first = x[0];
    x[0] = x[4];
    x[4] = first;
    y[ROWS - 1] += 1;
    assert_true(print_of(ctx, x, y) != print);
    x[8] = 0.0;
    y[ROWS - 1] -= 1;
    print = print_of(ctx, x, y);
    x[8] = -0.0;
    assert_true(print_of(ctx, x, y) == print);
    free(x);
    free(y);
}

static void test_the_first_large_number_is_found(void **state)
{
    double *x = support_normals(3, (int64_t)ROWS * COLS);
    kfe_i_table table = {.kind = KFE_TABLE_DENSE, .rows = ROWS, .cols = COLS, .stride = COLS, .values = x};
    int64_t row = -1;
    int64_t col = -1;

    assert_false(kfe_i_table_find_beyond(*state, &table, 100, &row, &col));
    x[4000 * COLS + 2] = -101;
    x[3000 * COLS + 6] = NAN;
    x[3000 * COLS + 5] = 1e300;
    assert_true(kfe_i_table_find_beyond(*state, &table, 100, &row, &col));
    assert_int_equal(row, 3000);
    assert_int_equal(col, 5);
    table.rows = 3000;
    assert_false(kfe_i_table_find_beyond(*state, &table, 100, &row, &col));
    free(x);
}

/* The pass that makes the fingerprint sees every value that is too large or no number. */
static void test_inspection(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(4, (int64_t)ROWS * COLS);
    double *y = support_normals(5, ROWS);
    static const int64_t places[] = {
        0, COLS - 1, COLS * 2047, COLS * 2048 + 3, COLS * (ROWS - 1), COLS * ROWS - 1};
    static const double values[] = {101, -101, (double)NAN, (double)INFINITY};
    kfe_data *data = make(ctx, x, y);
    int within = 0;

    assert_true(kfe_i_data_inspect(ctx, data, 100, &within) == kfe_i_data_fingerprint(ctx, data));
    assert_true(within);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            double before = x[places[k]];
            x[places[k]] = values[v];
            assert_true(kfe_i_data_inspect(ctx, data, 100, &within) == kfe_i_data_fingerprint(ctx, data));
            assert_false(within);
            x[places[k]] = before;
        }
    kfe_data_free(data);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_changes_show),
        with_context(test_inspection),
        with_context(test_the_first_large_number_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
