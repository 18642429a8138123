/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows: what is refused, how they follow the rows, and the statistics of columns that they enter. */
#include "support/fit.h"

#include <math.h>

#include "data/data.h"
#include "data/prepare/fill.h"
#include "data/prepare/scale.h"
#include "kernel/kernel.h"

enum { ROWS = 8, COLS = 3 };

static const int class_of[ROWS] = {0, 1, 0, 1, 0, 1, 2, 2};

static void test_wrong_weights(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(1, ROWS * COLS);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    double weights[ROWS] = {1, 2, 3, 4, 5, 6, 7, 8};

    assert_ok(ctx, kfe_data_set_weights(ctx, data, weights));
    weights[2] = -1;
    assert_fails(ctx, KFE_EINPUT, "the weight of row 3 is -1", kfe_data_set_weights(ctx, data, weights));
    weights[2] = NAN;
    assert_fails(ctx, KFE_EINPUT, "the weight of row 3 is not a finite number",
                 kfe_data_set_weights(ctx, data, weights));
    weights[2] = weights[3] = 1e101;
    assert_fails(ctx, KFE_EINPUT, "the largest weight is 1e+101, too large to compute with; divide",
                 kfe_data_set_weights(ctx, data, weights));
    for (int i = 0; i < ROWS; i++)
        weights[i] = 1e-300;
    assert_fails(ctx, KFE_EINPUT, "the largest weight is 1e-300, too small to compute with; multiply",
                 kfe_data_set_weights(ctx, data, weights));
    memset(weights, 0, sizeof weights);
    assert_fails(ctx, KFE_EINPUT, "all weights are zero", kfe_data_set_weights(ctx, data, weights));
    assert_true(kfe_data_weights(data)[7] == 8); /* those before are kept */
    assert_fails(ctx, KFE_EINPUT, "weight names the column 'w', which is not there",
                 kfe_data_take_weights(ctx, data, "w"));
    assert_ok(ctx, kfe_data_set_weights(ctx, data, NULL));
    assert_null(kfe_data_weights(data));
    kfe_data_free(data);
    free(x);
}

/* Labels and weights are set in either order; rows that are taken keep their weights. */
static void test_weights_follow_rows(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(1, ROWS * COLS);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
    const double weights[ROWS] = {1, 0, 3, 4, 5, 6, 0, 0};
    const int64_t rows[] = {5, 2};
    kfe_data *part = NULL;
    kfe_data *dropped = NULL;

    assert_ok(ctx, kfe_data_set_weights(ctx, data, weights));
    support_label(ctx, data, ROWS, class_of);
    assert_ok(ctx, kfe_data_take(ctx, data, 2, rows, &part));
    assert_true(kfe_data_weights(part)[0] == 6 && kfe_data_weights(part)[1] == 3);
    assert_ok(ctx, kfe_i_data_drop_weightless(ctx, data, &dropped));
    assert_int_equal(kfe_data_rows(dropped), 5);
    assert_int_equal(kfe_data_classes(dropped), 2); /* the third has no weight */
    kfe_data_free(part);
    kfe_data_free(dropped);
    kfe_data_free(data);
    free(x);
}

static void test_weights_from_a_column(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * COLS];
    double row[COLS];

    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = i;
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    assert_ok(ctx, kfe_data_take_weights(ctx, data, "2"));
    assert_int_equal(kfe_data_cols(data, 0), COLS - 1);
    assert_true(kfe_data_weights(data)[3] == 10);
    assert_ok(ctx, kfe_data_row(ctx, data, 0, 3, row));
    assert_true(row[0] == 9 && row[1] == 11);
    kfe_data_free(data);
}

/* A table with a row per weight, and one with weights: mean, deviation and widths of kernels are the same. */
static void test_statistics(void **state)
{
    kfe_context *ctx = *state;
    static const char *const kernels[] = {"rbf:gamma=scale", "rbf:gamma=median"};
    const double weights[4] = {1, 3, 2, 2};
    double *x = support_normals(5, 4 * COLS);
    double copies[ROWS * COLS];
    int64_t rows = 0;

    for (int i = 0; i < 4; i++)
        for (int copy = 0; copy < (int)weights[i]; copy++)
            memcpy(copies + rows++ * COLS, x + (size_t)i * COLS, COLS * sizeof *x);
    kfe_i_table weighted = {.rows = 4, .cols = COLS, .stride = COLS, .values = x, .weights = weights};
    kfe_i_table repeated = {.rows = rows, .cols = COLS, .stride = COLS, .values = copies};
    kfe_i_scaler a;
    kfe_i_scaler b;
    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_STANDARD, &weighted, &a));
    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_STANDARD, &repeated, &b));
    assert_below(support_distance(COLS, b.shift, a.shift), 1e-14);
    assert_below(support_distance(COLS, b.factor, a.factor), 1e-14);
    kfe_i_scaler_free(&a);
    kfe_i_scaler_free(&b);
    kfe_i_ranges ranges;
    kfe_i_ranges repeated_ranges;
    assert_ok(ctx, kfe_i_ranges_find(ctx, &weighted, NULL, 4, &ranges));
    assert_ok(ctx, kfe_i_ranges_find(ctx, &repeated, NULL, rows, &repeated_ranges));
    assert_true(ranges.ratio == repeated_ranges.ratio && ranges.few_rows == repeated_ranges.few_rows);
    for (int k = 0; k < 2; k++) {
        kfe_i_kernel one = {0};
        kfe_i_kernel two = {0};
        assert_ok(ctx, kfe_i_kernel_parse(ctx, kernels[k], &one));
        assert_ok(ctx, kfe_i_kernel_parse(ctx, kernels[k], &two));
        assert_ok(ctx, kfe_i_kernel_prepare(ctx, &one, &weighted));
        assert_ok(ctx, kfe_i_kernel_prepare(ctx, &two, &repeated));
        double first = *(const double *)one.settings; /* gamma */
        double second = *(const double *)two.settings;
        assert_below(fabs(first - second), 1e-13 * second);
        kfe_i_kernel_free(&one);
        kfe_i_kernel_free(&two);
    }
    free(x);
}

/* A row of weight 0 is an absent row, also for the extremes of a column and for the first row. */
static void test_statistics_without_a_row(void **state)
{
    kfe_context *ctx = *state;
    static const kfe_i_scale_kind kinds[] = {KFE_SCALE_STANDARD, KFE_SCALE_MINMAX, KFE_SCALE_UNIT_NORM,
                                             KFE_SCALE_AUTO};
    double x[] = {-1e6, 1e6, 1, 2, 3, 5, 7, 1};
    const double weights[] = {0, 2, 2, 2};
    kfe_i_table weighted = {.rows = 4, .cols = 2, .stride = 2, .values = x, .weights = weights};
    kfe_i_table present = {.rows = 3, .cols = 2, .stride = 2, .values = x + 2, .weights = weights + 1};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        kfe_i_scaler a;
        kfe_i_scaler b;
        assert_ok(ctx, kfe_i_scaler_learn(ctx, kinds[k], &weighted, &a));
        assert_ok(ctx, kfe_i_scaler_learn(ctx, kinds[k], &present, &b));
        assert_int_equal(a.kind, b.kind);
        assert_true(!a.shift == !b.shift);
        for (int j = 0; a.shift && j < 2; j++)
            assert_true(a.shift[j] == b.shift[j] && a.factor[j] == b.factor[j]);
        kfe_i_scaler_free(&a);
        kfe_i_scaler_free(&b);
    }
}

/* What fills missing values is the same from weights as from repeated rows: the mean, the median and the most frequent value of a
 * column, and the most frequent of two categories. Without weights all of them are others. */
static void test_fills(void **state)
{
    enum { FILL_ROWS = 6, FILL_COLS = 3, FILL_MOST = 20 };
    kfe_context *ctx = *state;
    const double weights[FILL_ROWS] = {6, 1, 2, 5, 1, 1};
    double x[FILL_ROWS * FILL_COLS] = {7, 1, 0, 1, 0, 1, 2, 0, 1, 3, NAN, NAN, 2, 0, 1, NAN, 0, 1};
    int64_t blocks[] = {1, 2};
    double copies[FILL_MOST * FILL_COLS];
    int64_t rows = 0;

    for (int i = 0; i < FILL_ROWS; i++)
        for (int copy = 0; copy < (int)weights[i]; copy++)
            memcpy(copies + rows++ * FILL_COLS, x + (size_t)i * FILL_COLS, FILL_COLS * sizeof *x);
    const kfe_i_table plain = {.rows = FILL_ROWS, .cols = FILL_COLS, .stride = FILL_COLS, .values = x};
    const kfe_i_table repeated = {.rows = rows, .cols = FILL_COLS, .stride = FILL_COLS, .values = copies};
    kfe_i_table weighted = plain;
    weighted.weights = weights;
    for (int kind = KFE_FILL_MEAN; kind <= KFE_FILL_MOST_FREQUENT; kind++) {
        const kfe_i_gaps gaps = {.fill = (kfe_i_fill)kind, .block_count = 1, .blocks = blocks};
        double got[FILL_COLS];
        double expected[FILL_COLS];
        double unweighted[FILL_COLS];
        int64_t empty = 0;
        assert_ok(ctx, kfe_i_fill_learn(ctx, &gaps, &weighted, got, &empty));
        assert_ok(ctx, kfe_i_fill_learn(ctx, &gaps, &repeated, expected, &empty));
        assert_ok(ctx, kfe_i_fill_learn(ctx, &gaps, &plain, unweighted, &empty));
        assert_below(support_distance(FILL_COLS, expected, got), 1e-14);
        for (int j = 0; j < FILL_COLS; j++)
            assert_true(fabs(unweighted[j] - got[j]) > 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_wrong_weights),
        with_context(test_weights_follow_rows),
        with_context(test_weights_from_a_column),
        with_context(test_statistics),
        with_context(test_statistics_without_a_row),
        with_context(test_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
