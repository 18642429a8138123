/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling against values computed by hand, and its invariants on sparse, constant and extreme data. */
#include "support/support.h"
#include "support/sweep.h"

#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "data/prepare/scale.h"

static kfe_i_table dense(double *values, int64_t rows, int64_t cols, int64_t stride)
{
    kfe_i_table table = {
        .kind = KFE_TABLE_DENSE, .rows = rows, .cols = cols, .stride = stride, .values = values};
    return table;
}

static void scale(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_table *table, kfe_i_table *out)
{
    kfe_i_scaler scaler;

    assert_ok(ctx, kfe_i_scaler_learn(ctx, kind, table, &scaler));
    assert_ok(ctx, kfe_i_scaler_apply(ctx, &scaler, table, out));
    kfe_i_scaler_free(&scaler);
}

static void assert_values(const kfe_i_table *table, const double *expected)
{
    double row[8];

    for (int64_t i = 0; i < table->rows; i++) {
        kfe_i_table_dense_row(table, i, row);
        for (int64_t j = 0; j < table->cols; j++)
            if (!(fabs(row[j] - expected[i * table->cols + j]) <= 4 * DBL_EPSILON))
                fail_msg("row %d, column %d: %.17g, expected %.17g", (int)i, (int)j, row[j],
                         expected[i * table->cols + j]);
    }
}

/* Columns 1, 3, 5, 7 (mean 4, variance 5, norm of the deviations √20) and 2, 2, 2, 2. The third number of
 * each row is not part of the table. */
static double hand_values[] = {1, 2, -99, 3, 2, -99, 5, 2, -99, 7, 2, -99};

static void test_dense_by_hand(void **state)
{
    kfe_context *ctx = *state;
    const struct {
        kfe_i_scale_kind kind;
        double centre, width, constant;
    } cases[] = {{KFE_SCALE_STANDARD, 4, sqrt(5), 0},
                 {KFE_SCALE_MINMAX, 1, 6, 0},
                 {KFE_SCALE_UNIT_NORM, 4, sqrt(20), 0},
                 {KFE_SCALE_NONE, 0, 1, 2}};
    kfe_i_table table = dense(hand_values, 4, 2, 3);

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kfe_i_table out;
        double expected[8];
        for (int i = 0; i < 4; i++) {
            expected[2 * i] = (1 + 2 * i - cases[k].centre) / cases[k].width;
            expected[2 * i + 1] = cases[k].constant;
        }
        scale(ctx, cases[k].kind, &table, &out);
        assert_values(&out, expected);
        kfe_i_table_free(&out);
    }
    assert_true(hand_values[0] == 1);
}

static void test_none_borrows(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_table table = dense(hand_values, 4, 2, 3);
    kfe_i_table out;

    scale(ctx, KFE_SCALE_NONE, &table, &out);
    assert_ptr_equal(out.values, hand_values);
    assert_int_equal(out.owned, 0);
}

static void test_l2_rows(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {3, 4, 0, 0, -5e200, 12e200};
    const double expected[] = {0.6, 0.8, 0, 0, -5.0 / 13, 12.0 / 13};
    kfe_i_table table = dense(values, 3, 2, 2);
    kfe_i_table out;

    scale(ctx, KFE_SCALE_L2_ROWS, &table, &out);
    assert_values(&out, expected);
    kfe_i_table_free(&out);
}

/* [0 2 6; 4 0 6; 0 0 6; 0 2 6]: the last column is constant and has an entry in every row. */
static int64_t sparse_start[] = {0, 2, 4, 5, 7};
static int32_t sparse_columns[] = {1, 2, 0, 2, 2, 1, 2};
static double sparse_values[] = {2, 6, 4, 6, 6, 2, 6};

static kfe_i_table sparse(void)
{
    kfe_i_table table = {.kind = KFE_TABLE_CSR, .rows = 4, .cols = 3};
    table.row_start = sparse_start;
    table.columns = sparse_columns;
    table.values = sparse_values;
    return table;
}

static void test_sparse_keeps_zeros(void **state)
{
    kfe_context *ctx = *state;
    const struct {
        kfe_i_scale_kind kind;
        double first, second;
    } cases[] = {
        {KFE_SCALE_STANDARD, sqrt(3), 1}, {KFE_SCALE_MINMAX, 4, 2}, {KFE_SCALE_UNIT_NORM, 4, sqrt(8)}};
    kfe_i_table table = sparse();

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double one = 2 / cases[k].second;
        const double expected[] = {0, one, 6, 4 / cases[k].first, 0, 6, 0, 0, 6, 0, one, 6};
        kfe_i_table out;
        support_catch_log(ctx);
        scale(ctx, cases[k].kind, &table, &out);
        assert_int_equal(out.kind, KFE_TABLE_CSR);
        assert_values(&out, expected);
        assert_non_null(strstr(support_log(), "without centring"));
        kfe_i_table_free(&out);
    }
}

/* The positions of a slice do not start at zero. */
static void test_sparse_slice(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_table table = sparse();
    kfe_i_table slice = kfe_i_table_slice(&table, 1, 2);
    const double expected[] = {1, 0, 6, 0, 0, 6};
    kfe_i_table out;

    scale(ctx, KFE_SCALE_MINMAX, &slice, &out);
    assert_values(&out, expected);
    kfe_i_table_free(&out);
}

static void test_dense_scaler_on_sparse_data(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {0, 0, 0, 4, 2, 2};
    const double expected[] = {0, 1, 3, 1, 0, 3, 0, 0, 3, 0, 1, 3};
    kfe_i_table train = dense(values, 2, 3, 3);
    kfe_i_table test = sparse();
    kfe_i_scaler scaler;
    kfe_i_table out;

    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_MINMAX, &train, &scaler));
    assert_ok(ctx, kfe_i_scaler_apply(ctx, &scaler, &test, &out));
    assert_int_equal(out.kind, KFE_TABLE_DENSE);
    assert_values(&out, expected);
    kfe_i_table_free(&out);
    assert_ok(ctx, kfe_context_set_memory(ctx, 64));
    assert_fails(ctx, KFE_ELIMIT, "dense", kfe_i_scaler_apply(ctx, &scaler, &test, &out));
    kfe_i_scaler_free(&scaler);
}

/* The squares of 1e200 and 1e-200 overflow and underflow; 0.1 added up a thousand times is not 100. */
static void test_extreme_scales(void **state)
{
    kfe_context *ctx = *state;
    enum { ROWS = 1000 };
    static double values[ROWS * 3];
    kfe_i_table table = dense(values, ROWS, 3, 3);
    kfe_i_table out;

    for (int i = 0; i < ROWS; i++) {
        values[3 * i] = i % 2 ? 1e200 : -1e200;
        values[3 * i + 1] = i % 2 ? 1e-200 : -1e-200;
        values[3 * i + 2] = 0.1;
    }
    scale(ctx, KFE_SCALE_STANDARD, &table, &out);
    for (int i = 0; i < ROWS; i++) {
        double sign = i % 2 ? 1 : -1;
        assert_true(fabs(out.values[3 * i] - sign) < 1e-12);
        assert_true(fabs(out.values[3 * i + 1] - sign) < 1e-12);
        assert_true(out.values[3 * i + 2] == 0);
    }
    kfe_i_table_free(&out);
}

/* The ratio of ranges, and whether more columns vary than rows differ. */
static kfe_i_ranges ranges_of(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count)
{
    kfe_i_ranges ranges = {0};

    assert_ok(ctx, kfe_i_ranges_find(ctx, table, rows, count, &ranges));
    return ranges;
}

/* Columns 1, 3, 5, 7 and ten times that, with a constant between them: the ranges differ exactly tenfold,
 * which is not more than tenfold. The last row makes it more. */
static void test_auto(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {1, 2, 10, 3, 2, 30, 5, 2, 50, 7, 2, 70, 4, 2, 4000};
    const int64_t some_rows[] = {0, 2, 3};
    const int64_t with_last[] = {0, 4, 4};
    kfe_i_table even = dense(values, 4, 3, 3);
    kfe_i_table uneven = dense(values, 5, 3, 3);
    kfe_i_table csr = sparse();
    kfe_i_scaler scaler;
    kfe_i_table automatic;
    kfe_i_table standard;

    assert_true(fabs(ranges_of(ctx, &uneven, some_rows, 3).ratio - 10) < 1e-12);
    assert_true(fabs(ranges_of(ctx, &uneven, with_last, 3).ratio - 1330) < 1e-9); /* 3990 / 3 */
    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_AUTO, &even, &scaler));
    assert_int_equal(scaler.kind, KFE_SCALE_NONE);
    kfe_i_scaler_free(&scaler);
    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_AUTO, &csr, &scaler));
    assert_int_equal(scaler.kind, KFE_SCALE_NONE);
    kfe_i_scaler_free(&scaler);
    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_AUTO, &uneven, &scaler));
    assert_int_equal(scaler.kind, KFE_SCALE_STANDARD);
    kfe_i_scaler_free(&scaler);
    scale(ctx, KFE_SCALE_AUTO, &uneven, &automatic);
    scale(ctx, KFE_SCALE_STANDARD, &uneven, &standard);
    assert_memory_equal(automatic.values, standard.values, 15 * sizeof(double));
    kfe_i_table_free(&automatic);
    kfe_i_table_free(&standard);
}

/* Of 21 columns the two narrowest are a tenth: flat columns at the border of an image. Of ten columns all count. */
static void test_auto_overlooks_a_tenth_of_the_columns(void **state)
{
    enum { PIXELS = 21, IMAGES = 30 };
    kfe_context *ctx = *state;
    double values[IMAGES * PIXELS];
    kfe_i_table table = dense(values, IMAGES, PIXELS, PIXELS);
    kfe_i_table few = dense(values, IMAGES, 10, PIXELS);

    for (int i = 0; i < IMAGES; i++)
        for (int j = 0; j < PIXELS; j++)
            values[i * PIXELS + j] = (i + 1) * (j < 2 ? 1e-3 : j == 9 ? 3 : 1);
    assert_true(fabs(ranges_of(ctx, &table, NULL, IMAGES).ratio - 3) < 1e-12);
    assert_true(fabs(ranges_of(ctx, &few, NULL, IMAGES).ratio - 3000) < 1e-9);
    for (int i = 0; i < IMAGES; i++)
        values[i * PIXELS + 2] *= 1e-3;
    assert_true(fabs(ranges_of(ctx, &table, NULL, IMAGES).ratio - 3000) < 1e-9);
}

/* More columns that vary than rows that differ: neither repeated rows nor weights nor constant columns count, and a table is scaled
 * or not whether its rows are given once or twice. */
static void test_auto_counts_rows_that_differ(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {1, 0, 5, 100, 2, 1, 5, 300, 1, 0, 5, 100, 2, 1, 5, 300, 3, 9, 5, 800};
    double weights[] = {1, 1, 1, 1, 0};
    kfe_i_table table = dense(values, 5, 4, 4);
    kfe_i_table twice = dense(values, 4, 4, 4);
    kfe_i_table lightweight = table;

    lightweight.weights = weights;
    kfe_i_ranges three = ranges_of(ctx, &table, NULL, 5);
    kfe_i_ranges two = ranges_of(ctx, &twice, NULL, 4);
    kfe_i_ranges weighted = ranges_of(ctx, &lightweight, NULL, 5);
    assert_true(three.ratio > 10 && !three.few_rows);
    assert_true(two.ratio > 10 && two.few_rows);
    assert_true(weighted.ratio == two.ratio && weighted.few_rows);
    assert_int_equal(kfe_i_scale_by_ranges(&three), KFE_SCALE_STANDARD);
    assert_int_equal(kfe_i_scale_by_ranges(&two), KFE_SCALE_NONE);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {-1.7e308, 1, 1.7e308, 2};
    kfe_i_table table = dense(values, 2, 2, 2);
    kfe_i_table empty = dense(values, 0, 2, 2);
    kfe_i_table text = {.kind = KFE_TABLE_TEXT, .rows = 1, .cols = 1};
    kfe_i_table narrow = dense(hand_values, 4, 1, 3);
    kfe_i_scaler scaler;
    kfe_i_table out;

    assert_fails(ctx, KFE_EINPUT, "column 1", kfe_i_scaler_learn(ctx, KFE_SCALE_STANDARD, &table, &scaler));
    assert_fails(ctx, KFE_EINPUT, "no rows", kfe_i_scaler_learn(ctx, KFE_SCALE_MINMAX, &empty, &scaler));
    assert_fails(ctx, KFE_EUNSUPPORTED, "strings",
                 kfe_i_scaler_learn(ctx, KFE_SCALE_L2_ROWS, &text, &scaler));
    table = dense(hand_values, 4, 2, 3);
    assert_ok(ctx, kfe_i_scaler_learn(ctx, KFE_SCALE_STANDARD, &table, &scaler));
    assert_fails(ctx, KFE_EINPUT, "1 columns, but the scaling was learned on 2",
                 kfe_i_scaler_apply(ctx, &scaler, &narrow, &out));
    kfe_i_scaler_free(&scaler);
}

static kfe_status scale_once(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_table table = dense(hand_values, 4, 2, 3);
    kfe_i_scaler scaler = {0};
    kfe_i_table out = {0};

    (void)user;
    KFE_TRY(kfe_i_scaler_learn(ctx, KFE_SCALE_AUTO, &table, &scaler));
    kfe_i_scaler_free(&scaler);
    KFE_TRY(kfe_i_scaler_learn(ctx, KFE_SCALE_STANDARD, &table, &scaler));
    KFE_TRY(kfe_i_scaler_apply(ctx, &scaler, &table, &out));
cleanup:
    kfe_i_table_free(&out);
    kfe_i_scaler_free(&scaler);
    return status;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    support_sweep_all("scaling", scale_once, NULL, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_dense_by_hand),
        with_context(test_none_borrows),
        with_context(test_l2_rows),
        with_context(test_sparse_keeps_zeros),
        with_context(test_sparse_slice),
        with_context(test_dense_scaler_on_sparse_data),
        with_context(test_extreme_scales),
        with_context(test_auto),
        with_context(test_auto_overlooks_a_tenth_of_the_columns),
        with_context(test_auto_counts_rows_that_differ),
        with_context(test_refusals),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
