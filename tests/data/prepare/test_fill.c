/* SPDX-License-Identifier: Apache-2.0 */
/* Values that fill gaps, and the positions of the gaps. */
#include "data/prepare/scale.h"

#include <math.h>

#include "support/support.h"
#include "support/sweep.h"

#define GAP ((double)NAN)
enum { ROWS = 5, COLS = 3 };

static kfe_status make(kfe_context *ctx, kfe_i_table *out)
{
    const double values[] = {1, 7, GAP, 2, 7, 5, 2, GAP, 5, 9, -1, 6, GAP, -1, 6};
    kfe_status status = kfe_i_table_new_dense(ctx, ROWS, COLS, out);

    for (int i = 0; status == KFE_OK && i < ROWS * COLS; i++)
        out->values[i] = values[i];
    return status;
}

static void each_kind_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const double expected[][COLS] = {{0}, {3.5, 3, 5.5}, {2, 3, 5.5}, {2, -1, 5}};
    kfe_i_table table;
    double fill[COLS];
    int64_t empty = 0;

    assert_ok(ctx, make(ctx, &table));
    for (int kind = KFE_FILL_MEAN; kind <= KFE_FILL_MOST_FREQUENT; kind++) {
        assert_ok(ctx, kfe_i_fill_learn(ctx, &(kfe_i_gaps){.fill = (kfe_i_fill)kind}, &table, fill, &empty));
        assert_int_equal(empty, -1);
        for (int j = 0; j < COLS; j++)
            assert_true(fabs(fill[j] - expected[kind][j]) < 1e-15);
    }
    assert_int_equal(kfe_i_fill_nans(fill, &table), 3);
    assert_true(table.values[2] == 5 && table.values[7] == -1 && table.values[12] == 2);
    for (int i = 0; i < ROWS; i++)
        table.values[i * COLS + 1] = GAP;
    assert_ok(ctx, kfe_i_fill_learn(ctx, &(kfe_i_gaps){.fill = KFE_FILL_MEAN}, &table, fill, &empty));
    assert_int_equal(empty, 1);
    assert_true(fill[1] == 0);
    kfe_i_table_free(&table);
}

/* Rows 3, 0 and 3 again: fills and scaling come from these rows, not from the whole table. */
static kfe_status learn_on_some_rows(kfe_context *ctx, void *user)
{
    static const int64_t index[] = {4, 0, 3, 0};
    kfe_status status = KFE_OK;
    kfe_i_table table = {0};
    kfe_i_table part = {0};
    kfe_i_table scaled = {0};
    kfe_i_gaps gaps = {0};
    kfe_i_gaps part_gaps = {0};
    kfe_i_scaler scaler = {0};
    const double whole[COLS] = {100, 100, 100};

    (void)user;
    KFE_TRY(make(ctx, &table));
    KFE_TRY(kfe_i_gaps_find(ctx, &table, KFE_FILL_MEAN, &(kfe_i_encoding){0}, &gaps));
    kfe_i_fill_nans(whole, &table);
    KFE_TRY(kfe_i_table_gather(ctx, &table, index, 4, &part));
    KFE_TRY(kfe_i_gaps_gather(ctx, &gaps, index, 4, &part_gaps));
    kfe_i_scale_source source = {.table = &part, .gaps = &part_gaps, .shown = "part"};
    KFE_TRY(kfe_i_fill_scaler_learn(ctx, KFE_SCALE_MINMAX, &source, &(kfe_i_chain){0}, &scaler, NULL));
    assert_true(fabs(scaler.fill[0] - 11.0 / 3) < 1e-15 && scaler.fill[2] == 6);
    assert_true(scaler.shift[0] == 1 && scaler.shift[2] == 6);
    source = (kfe_i_scale_source){.table = &table, .gaps = &gaps, .shown = "table"};
    KFE_TRY(kfe_i_fill_scaler_apply(ctx, &scaler, &source, &scaled));
    assert_true(fabs(scaled.values[12] - (11.0 / 3 - 1) / 8) < 1e-15 && scaled.values[2] == 0);
    assert_true(table.values[12] == 100); /* the data itself does not change */
cleanup:
    kfe_i_scaler_free(&scaler);
    kfe_i_gaps_free(&gaps);
    kfe_i_gaps_free(&part_gaps);
    kfe_i_table_free(&table);
    kfe_i_table_free(&part);
    kfe_i_table_free(&scaled);
    return status;
}

static void learned_on_the_training_rows_alone(void **state)
{
    (void)state;
    support_sweep_all("fill and scale", learn_on_some_rows, NULL, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(each_kind_by_hand),
        cmocka_unit_test(learned_on_the_training_rows_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
