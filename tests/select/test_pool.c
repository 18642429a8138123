/* SPDX-License-Identifier: Apache-2.0 */
/* Pooled errors equal their formulas over all rows, and their standard errors come from derivatives by the weight of each split, which
 * are taken numerically here. python/tests/test_pooled.py compares whole searches with scikit-learn. */
#include <math.h>

#include "select/pool.h"
#include "support/fit.h"

enum { ROWS = 18, SPLITS = 6, COLS = 2, SETTINGS = 2 };

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.17g, expected %.17g", value, expected);
}

/* Six splits of three rows each, with weights; both settings predict with errors of their own. */
typedef struct problem {
    double y[ROWS * COLS], weights[ROWS], errors[SETTINGS][ROWS * COLS];
    int64_t test[ROWS];
    kfe_i_split items[SPLITS];
    kfe_i_splits splits;
    kfe_i_target target;
} problem;

static void make_problem(problem *p)
{
    uint64_t random = 11;

    for (int i = 0; i < ROWS; i++) {
        p->test[i] = i;
        p->weights[i] = 1 + i % 3;
        for (int j = 0; j < COLS; j++) {
            p->y[i * COLS + j] = 100 * j + (1 + j) * support_normal(&random);
            for (int c = 0; c < SETTINGS; c++)
                p->errors[c][i * COLS + j] = 0.3 * (1 + c) * support_normal(&random) + 0.05;
        }
    }
    for (int s = 0; s < SPLITS; s++)
        p->items[s] = (kfe_i_split){.test = p->test + 3 * s, .test_count = 3, .train_count = ROWS - 3};
    p->splits = (kfe_i_splits){.items = p->items, .count = SPLITS};
    p->target = (kfe_i_target){
        .task = KFE_TASK_REAL, .rows = ROWS, .cols = COLS, .values = p->y, .weights = p->weights};
}

static void fill_cells(kfe_context *ctx, const problem *p, kfe_i_cells *cells)
{
    const kfe_i_cells shape = {.splits = SPLITS, .settings = SETTINGS, .metrics = 1, .targets = COLS};

    assert_ok(ctx, kfe_i_cells_make(ctx, &shape, cells));
    for (int s = 0; s < SPLITS; s++)
        for (int c = 0; c < SETTINGS; c++)
            for (int j = 0; j < COLS; j++) {
                double *out = cells->residuals + 2 * ((s * SETTINGS + c) * COLS + j);
                out[0] = out[1] = 0;
                for (int i = 3 * s; i < 3 * s + 3; i++) {
                    double e = p->errors[c][i * COLS + j];
                    out[0] += p->weights[i] * e;
                    out[1] += p->weights[i] * e * e;
                }
            }
}

/* The formulas, where the weights of split `more` are multiplied by `factor`. */
static void by_formulas(const problem *p, int setting, int column, int more, double factor, double out[4])
{
    double mass = 0;
    double mean = 0;
    double spread = 0;
    double sums[2] = {0, 0};

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < ROWS; i++) {
            double w = p->weights[i] * (i / 3 == more ? factor : 1);
            double y = p->y[i * COLS + column];
            double e = p->errors[setting][i * COLS + column];
            mass += pass == 0 ? w : 0;
            mean += pass == 0 ? w * y : 0;
            spread += pass == 1 ? w * (y - mean / mass) * (y - mean / mass) : 0;
            sums[0] += pass == 1 ? w * e : 0;
            sums[1] += pass == 1 ? w * e * e : 0;
        }
    out[0] = sqrt(sums[1] / mass);
    out[1] = 1 - sums[1] / spread;
    out[2] = sums[0] / mass;
    out[3] = sqrt((sums[1] - sums[0] * sums[0] / mass) / (mass - 1));
}

static void test_each_column(void **state)
{
    kfe_context *ctx = *state;
    problem p;
    kfe_i_held_out held_out = {0};
    kfe_i_cells cells = {0};
    kfe_i_extent extent = {.count = SPLITS, .test_share = 0.2};
    double step = 1e-6;

    make_problem(&p);
    fill_cells(ctx, &p, &cells);
    assert_ok(ctx, kfe_i_held_out_make(ctx, &p.target, &p.splits, &held_out));
    for (int setting = 0; setting < SETTINGS; setting++)
        for (int j = 0; j < COLS; j++) {
            double expected[4];
            double squares[2] = {0, 0};
            kfe_i_pooled got = kfe_i_pool(&held_out, &cells, (kfe_i_pick){.setting = setting}, &extent, j);
            by_formulas(&p, setting, j, -1, 1, expected);
            assert_near(got.rmse, expected[0], 1e-12);
            assert_near(got.r2, expected[1], 1e-12);
            assert_near(got.bias, expected[2], 1e-12);
            assert_near(got.sep, expected[3], 1e-12);
            for (int s = 0; s < SPLITS; s++) {
                double up[4];
                double down[4];
                by_formulas(&p, setting, j, s, 1 + step, up);
                by_formulas(&p, setting, j, s, 1 - step, down);
                for (int k = 0; k < 2; k++)
                    squares[k] += pow((up[k] - down[k]) / (2 * step), 2);
            }
            double factor = sqrt(SPLITS / (SPLITS - 1.0) * (1 + SPLITS * extent.test_share));
            assert_near(got.rmse_error, factor * sqrt(squares[0]), 1e-7);
            assert_near(got.r2_error, factor * sqrt(squares[1]), 1e-7);
        }
    kfe_i_held_out_free(&held_out);
    kfe_i_cells_free(&cells);
}

/* Of several columns; of the setting that each split chose; of one owner's splits; without the splits that failed. */
static void test_choices(void **state)
{
    kfe_context *ctx = *state;
    problem p;
    kfe_i_held_out held_out = {0};
    kfe_i_cells cells = {0};
    const int64_t chosen[SPLITS] = {0, 1, 0, 1, 0, 1};
    double expected[2][4];

    make_problem(&p);
    fill_cells(ctx, &p, &cells);
    assert_ok(ctx, kfe_i_held_out_make(ctx, &p.target, &p.splits, &held_out));
    for (int j = 0; j < COLS; j++)
        by_formulas(&p, 0, j, -1, 1, expected[j]);
    kfe_i_pooled got = kfe_i_pool(&held_out, &cells, (kfe_i_pick){0}, NULL, -1);
    assert_near(got.rmse, sqrt((pow(expected[0][0], 2) + pow(expected[1][0], 2)) / 2), 1e-12);
    assert_near(got.r2, (expected[0][1] + expected[1][1]) / 2, 1e-12);
    assert_true(isnan(got.rmse_error));

    kfe_i_pooled mixed = kfe_i_pool(&held_out, &cells, (kfe_i_pick){.chosen = chosen}, NULL, 0);
    double squares = 0;
    for (int owner = 0; owner < 2; owner++) {
        kfe_i_pooled part = kfe_i_pool(
            &held_out, &cells, (kfe_i_pick){.setting = owner, .owner_of = chosen, .owner = owner}, NULL, 0);
        squares += part.rmse * part.rmse * part.predictions;
    }
    assert_near(mixed.rmse, sqrt(squares / mixed.predictions), 1e-12);

    for (int s = 0; s < SPLITS; s += 2)
        kfe_i_cells_clear_residuals(&cells, s, 0);
    kfe_i_pooled left = kfe_i_pool(&held_out, &cells, (kfe_i_pick){0}, NULL, 0);
    kfe_i_pooled odd = kfe_i_pool(&held_out, &cells, (kfe_i_pick){.owner_of = chosen, .owner = 1}, NULL, 0);
    assert_near(left.rmse, odd.rmse, 1e-12);
    assert_near(left.predictions, odd.predictions, 1e-12);
    for (int s = 1; s < SPLITS; s += 2)
        kfe_i_cells_clear_residuals(&cells, s, 0);
    assert_true(isnan(kfe_i_pool(&held_out, &cells, (kfe_i_pick){0}, NULL, 0).rmse));
    kfe_i_held_out_free(&held_out);
    kfe_i_cells_free(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_each_column),
        with_context(test_choices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
