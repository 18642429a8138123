/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that choose columns: the PLS that they fit against least squares and closed forms, their schedule, and what they find in planted data.
 * python/tests/test_chosen.py compares both with programs in NumPy. */
#include "support/support.h"
#include "support/sweep.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "data/steps/chain.h"
#include "data/steps/chosen_columns.h"
#include "data/steps/column_pls.h"

enum { ROWS = 40, COLS = 30, FEW = 4, HALF = 20 };

typedef struct problem {
    double x[ROWS * COLS], y[ROWS * 2], weights[ROWS];
    int64_t unit_of[ROWS];
    kfe_i_table table;
    kfe_i_step_target target;
} problem;

/* y follows columns 5 and 11. With `classes`, indicators of y > 0 and y <= 0. */
static void fill(problem *p, int64_t cols, int classes)
{
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, 7, KFE_STREAM_GENERATE);
    for (int64_t k = 0; k < ROWS * cols; k++)
        p->x[k] = kfe_i_rng_normal(&rng);
    for (int64_t i = 0; i < ROWS; i++) {
        double y = cols > 11 ? 2 * p->x[i * cols + 5] - 1.8 * p->x[i * cols + 11] : p->x[i * cols];
        y += 0.2 * kfe_i_rng_normal(&rng);
        p->y[i * (1 + classes)] = classes ? y > 0 : y;
        if (classes)
            p->y[i * 2 + 1] = y <= 0;
        p->weights[i] = 1 + (double)(i % 3);
        p->unit_of[i] = i;
    }
    p->table =
        (kfe_i_table){.kind = KFE_TABLE_DENSE, .rows = ROWS, .cols = cols, .stride = cols, .values = p->x};
    p->target = (kfe_i_step_target){
        .units = ROWS, .cols = 1 + classes, .unit_of = p->unit_of, .values = p->y, .is_real = !classes};
}

/* Solves the normal equations of weighted least squares with a constant by elimination. */
static void least_squares(const problem *p, int64_t count, double *b)
{
    double a[FEW + 1][FEW + 2] = {{0}};

    for (int64_t i = 0; i < count; i++) {
        double row[FEW + 2] = {1};
        memcpy(row + 1, p->x + i * FEW, FEW * sizeof *row);
        row[FEW + 1] = p->y[i];
        for (int r = 0; r <= FEW; r++)
            for (int c = 0; c <= FEW + 1; c++)
                a[r][c] += p->weights[i] * row[r] * row[c];
    }
    for (int k = 0; k <= FEW; k++)
        for (int r = 0; r <= FEW; r++) {
            double ratio = r == k ? 0 : a[r][k] / a[k][k];
            for (int c = k; c <= FEW + 1; c++)
                a[r][c] -= ratio * a[k][c];
        }
    for (int k = 0; k <= FEW; k++)
        b[k] = a[k][FEW + 1] / a[k][k];
}

static double spread_of(const problem *p)
{
    double mass = 0;
    double sum = 0;
    double squares = 0;

    for (int i = 0; i < ROWS; i++) {
        mass += p->weights[i];
        sum += p->weights[i] * p->y[i];
        squares += p->weights[i] * p->y[i] * p->y[i];
    }
    return sqrt(squares / mass - sum * sum / mass / mass);
}

/* With all features, PLS is least squares, and its errors on rows left out are those of least squares. */
static void test_all_features_are_least_squares(void **state)
{
    kfe_context *ctx = *state;
    problem p;
    kfe_i_step_units units = {0};
    kfe_i_column_pls pls = {0};
    double b[FEW + 1];
    double sizes[FEW];
    int64_t rows[ROWS];
    const int64_t columns[FEW] = {0, 1, 2, 3};
    double expected = 0;

    fill(&p, FEW, 0);
    p.table.weights = p.weights;
    for (int i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_ok(ctx, kfe_i_step_units_make(ctx, &p.table, &p.target, "cars", 6, &units));
    assert_ok(ctx, kfe_i_column_pls_new(ctx, &units, FEW + 2, &pls));
    kfe_i_column_pls_load(&pls, (kfe_i_step_list){rows, HALF}, (kfe_i_step_list){rows + HALF, ROWS - HALF},
                          (kfe_i_step_list){columns, FEW});
    while (kfe_i_column_pls_add(&pls, 0))
        ;
    assert_int_equal(pls.made, FEW); /* no more features than columns */
    kfe_i_column_pls_sizes(&pls, sizes);
    least_squares(&p, HALF, b);
    double spread = spread_of(&p);
    for (int j = 0; j < FEW; j++)
        assert_true(fabs(sizes[j] - fabs(b[j + 1]) / spread) < 1e-9);
    for (int i = HALF; i < ROWS; i++) {
        double error = p.y[i] - b[0];
        for (int j = 0; j < FEW; j++)
            error -= b[j + 1] * p.x[i * FEW + j];
        expected += p.weights[i] * error * error / spread / spread;
    }
    assert_true(fabs(kfe_i_column_pls_error(&pls) - expected) < 1e-9 * expected);
    kfe_i_column_pls_free(&pls);
    kfe_i_step_units_free(&units);
}

/* The first direction of one target is Xᵀy, and a sparse one its soft threshold. */
static void test_first_direction(void **state)
{
    kfe_context *ctx = *state;
    problem p;
    kfe_i_step_units units = {0};
    kfe_i_column_pls pls = {0};
    double c[COLS] = {0};
    double sorted[COLS];
    int64_t rows[ROWS];
    int64_t columns[COLS];
    double length = 0;
    double mean = 0;

    fill(&p, COLS, 0);
    for (int i = 0; i < ROWS; i++) {
        rows[i] = i;
        mean += p.y[i] / ROWS;
    }
    for (int j = 0; j < COLS; j++) {
        columns[j] = j;
        for (int i = 0; i < ROWS; i++)
            c[j] += p.x[i * COLS + j] * (p.y[i] - mean);
        sorted[j] = fabs(c[j]);
    }
    for (int a = 0; a < 4; a++) /* the four largest in front */
        for (int j = a + 1; j < COLS; j++)
            if (sorted[j] > sorted[a]) {
                double swap = sorted[a];
                sorted[a] = sorted[j];
                sorted[j] = swap;
            }
    for (int j = 0; j < COLS; j++)
        c[j] = fabs(c[j]) > sorted[3] ? copysign(fabs(c[j]) - sorted[3], c[j]) : 0;
    for (int j = 0; j < COLS; j++)
        length += c[j] * c[j];
    assert_ok(ctx, kfe_i_step_units_make(ctx, &p.table, &p.target, "stability", 6, &units));
    assert_ok(ctx, kfe_i_column_pls_new(ctx, &units, 1, &pls));
    kfe_i_column_pls_load(&pls, (kfe_i_step_list){rows, ROWS}, (kfe_i_step_list){NULL, 0},
                          (kfe_i_step_list){columns, COLS});
    assert_true(kfe_i_column_pls_add(&pls, 3));
    for (int j = 0; j < COLS; j++)
        assert_true(fabs(pls.weights[j] - c[j] / sqrt(length)) < 1e-12);
    kfe_i_column_pls_free(&pls);
    kfe_i_step_units_free(&units);
}

/* Li et al. (2009), eqs. 5 to 7: r_1 = 1, r_N = 2/p, and r_i falls by the same factor. */
static void test_schedule(void **state)
{
    (void)state;
    assert_int_equal(kfe_i_cars_columns(400, 1, 50), 400);
    assert_int_equal(kfe_i_cars_columns(400, 50, 50), 2);
    for (int i = 2; i < 50; i++)
        assert_int_equal(kfe_i_cars_columns(400, i, 50),
                         (int64_t)floor(400 * pow(2.0 / 400, (i - 1) / 49.0) + 0.5));
    assert_int_equal(kfe_i_cars_columns(3, 2, 2), 2);
}

static void assert_finds(kfe_context *ctx, const char *text, int classes)
{
    problem p;
    kfe_i_chain chain = {0};

    fill(&p, COLS, classes);
    assert_ok(ctx, kfe_i_chain_parse(ctx, text, &chain));
    assert_ok(ctx, kfe_i_chain_learn(ctx, &chain, &p.table, &p.target, NULL, "table"));
    const kfe_i_fitted_step *fit = &chain.steps[0];
    assert_true(kfe_i_is_chosen(fit, 5));
    assert_true(classes || kfe_i_is_chosen(fit, 11));
    assert_in_range(chain.made, 1, COLS / 2);
    int64_t chosen = 0;
    for (int j = 0; j < COLS; j++) {
        chosen += kfe_i_is_chosen(fit, j);
        assert_true(kfe_i_share_of_runs(fit, j) >= 0 && kfe_i_share_of_runs(fit, j) <= 1);
    }
    assert_int_equal(chosen, fit->made);
    kfe_i_chain_free(&chain);
}

static void test_planted_columns_are_found(void **state)
{
    for (int classes = 0; classes < 2; classes++) {
        assert_finds(*state, "cars:dim=3", classes);
        assert_finds(*state, "stability:errors=2", classes);
        assert_finds(*state, "stability:dim=2,keep=3", classes);
    }
}

/* The steps after a choice see the columns that it leaves. */
static void test_later_steps_see_fewer_columns(void **state)
{
    kfe_context *ctx = *state;
    problem p;
    kfe_i_chain chain = {0};
    kfe_i_table made = {0};
    int64_t origins[COLS];

    fill(&p, COLS, 0);
    assert_ok(ctx, kfe_i_chain_parse(ctx, "cut:drop=1..2,stability:errors=4,standard,cars:dim=2", &chain));
    assert_ok(ctx, kfe_i_chain_learn(ctx, &chain, &p.table, &p.target, NULL, "table"));
    assert_int_equal(chain.steps[2].cols, chain.steps[1].made);
    assert_int_equal(chain.steps[3].cols, chain.steps[1].made);
    assert_int_equal(chain.made, chain.steps[3].made);
    assert_true(kfe_i_chain_origins(&chain, 1, origins));
    assert_int_equal(origins[0], 2);
    assert_true(kfe_i_chain_origins(&chain, 3, origins));
    assert_ok(ctx, kfe_i_chain_apply(ctx, &chain, &p.table, "table", 0, &made));
    assert_int_equal(made.cols, chain.made);
    int64_t column = origins[chain.steps[3].kept[0]];
    double mean = 0;
    double squares = 0;
    for (int i = 0; i < ROWS; i++)
        mean += p.x[i * COLS + column] / ROWS;
    for (int i = 0; i < ROWS; i++)
        squares += pow(p.x[i * COLS + column] - mean, 2) / ROWS;
    assert_true(fabs(made.values[0] - (p.x[column] - mean) / sqrt(squares)) < 1e-12);
    kfe_i_table_free(&made);
    kfe_i_chain_free(&chain);
    assert_ok(ctx, kfe_i_chain_parse(ctx, "bin:width=2,cars:dim=2", &chain));
    assert_ok(ctx, kfe_i_chain_learn(ctx, &chain, &p.table, &p.target, NULL, "table"));
    assert_false(kfe_i_chain_origins(&chain, 1, origins));
    kfe_i_chain_free(&chain);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    problem p;
    kfe_i_chain chain = {0};

    fill(&p, COLS, 0);
    memset(p.y, 0, sizeof p.y);
    assert_ok(ctx, kfe_i_chain_parse(ctx, "cars", &chain));
    assert_fails(ctx, KFE_EINPUT, "does not vary",
                 kfe_i_chain_learn(ctx, &chain, &p.table, &p.target, NULL, "table"));
    kfe_i_chain_free(&chain);
    fill(&p, COLS, 0);
    p.target.units = 5;
    for (int i = 0; i < ROWS; i++)
        p.unit_of[i] = i % 5;
    assert_ok(ctx, kfe_i_chain_parse(ctx, "stability", &chain));
    assert_fails(ctx, KFE_EINPUT, "6 different rows or more to choose columns, but there are 5",
                 kfe_i_chain_learn(ctx, &chain, &p.table, &p.target, NULL, "table"));
    kfe_i_chain_free(&chain);
}

/* A fit that chooses columns, and what shows and saves them. */
static kfe_status use_model(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    problem p;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_result *result = NULL;
    char *text = NULL;
    const char *const *labels = user;

    fill(&p, FEW, 0);
    KFE_TRY(kfe_data_wrap_dense(ctx, ROWS, FEW, FEW, p.x, &data));
    KFE_TRY(kfe_data_set_labels(ctx, data, labels));
    KFE_TRY(kfe_spec_parse(ctx, "pls", "dim=1,prepare=cars:runs=3\\,dim=2", NULL, &spec));
    KFE_TRY(kfe_fit(ctx, spec, data, &model));
    KFE_TRY(kfe_model_describe(ctx, model, KFE_STYLE_TEXT, &text));
    KFE_TRY(kfe_explain(ctx, model, NULL, "parts=chosen", &result));
cleanup:
    kfe_string_free(ctx, text);
    kfe_result_free(result);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_failing_allocations(void **state)
{
    const char *labels[ROWS];

    (void)state;
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 3 ? "a" : "b";
    support_sweep_all("fit that chooses columns", use_model, (void *)labels, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_all_features_are_least_squares),
        with_context(test_first_direction),
        with_context(test_schedule),
        with_context(test_planted_columns_are_found),
        with_context(test_later_steps_see_fewer_columns),
        with_context(test_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
