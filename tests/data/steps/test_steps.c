/* SPDX-License-Identifier: Apache-2.0 */
/* Steps against what defines them: polynomials, residuals, transposes, repeated rows; chains as text; refusals. tests/cli/test_steps.py
 * compares with SciPy. */
#include "support/support.h"
#include "support/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/steps/chain.h"

enum { ROWS = 7, COLS = 13 };

static double pattern(int64_t i, int64_t j)
{
    return 2 + sin(0.7 * (double)i + 0.9 * (double)(j * j % 11)) + 0.1 * (double)j;
}

static kfe_i_table table_of(double *values, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < COLS; j++)
            values[i * COLS + j] = pattern(i, j);
    return (kfe_i_table){
        .kind = KFE_TABLE_DENSE, .rows = rows, .cols = COLS, .stride = COLS, .values = values};
}

/* A target for steps that choose columns, which go by the content of rows: row i of the table is row rows[i] of table_of (NULL: i). */
static void learn_rows(kfe_context *ctx, const char *text, const kfe_i_table *table, const int *rows,
                       kfe_i_chain *chain)
{
    double y[ROWS + 1];
    int64_t unit_of[ROWS + 1];
    const kfe_i_step_target target = {
        .units = ROWS, .cols = 1, .unit_of = unit_of, .values = y, .is_real = 1};

    for (int64_t i = 0; i < table->rows; i++) {
        unit_of[i] = rows ? rows[i] : i;
        y[i] = pattern(unit_of[i], 3) + 0.3 * cos((double)unit_of[i]);
    }
    assert_ok(ctx, kfe_i_chain_parse(ctx, text, chain));
    assert_ok(ctx, kfe_i_chain_learn(ctx, chain, table, &target, NULL, "table"));
}

static void learn(kfe_context *ctx, const char *text, const kfe_i_table *table, kfe_i_chain *chain)
{
    learn_rows(ctx, text, table, NULL, chain);
}

/* What a chain makes of one row of COLS numbers. */
static void apply_row(kfe_context *ctx, const char *text, const double *row, double *out)
{
    double values[ROWS * COLS];
    kfe_i_table table = table_of(values, ROWS);
    kfe_i_table one = table;
    kfe_i_table made = {0};
    kfe_i_chain chain = {0};

    one.rows = 1;
    one.values = (double *)(uintptr_t)row;
    learn(ctx, text, &table, &chain);
    assert_ok(ctx, kfe_i_chain_apply(ctx, &chain, &one, "row", 0, &made));
    memcpy(out, made.values, (size_t)made.cols * sizeof *out);
    kfe_i_table_free(&made);
    kfe_i_chain_free(&chain);
}

static void assert_near(const double *found, const double *expected, int64_t count, double tolerance)
{
    for (int64_t j = 0; j < count; j++)
        if (!(fabs(found[j] - expected[j]) <= tolerance))
            fail_msg("column %d: %.17g, expected %.17g", (int)j, found[j], expected[j]);
}

/* ---- single steps ---- */

static void test_sg_keeps_polynomials(void **state)
{
    double row[COLS];
    double smooth[COLS];
    double slope[COLS];
    double found[COLS];

    for (int j = 0; j < COLS; j++) { /* t = 0.5 j */
        double t = 0.5 * j;
        row[j] = smooth[j] = 1 - 2 * t + 0.5 * t * t * t;
        slope[j] = -2 + 1.5 * t * t;
    }
    apply_row(*state, "sg:window=7,order=3", row, found);
    assert_near(found, smooth, COLS, 1e-11);
    apply_row(*state, "sg:window=7,order=4,derivative=1,delta=0.5", row, found);
    assert_near(found, slope, COLS, 1e-10);
    apply_row(*state, "sg:window=1,order=0", row, found);
    assert_near(found, row, COLS, 1e-14);
    apply_row(*state, "sg:window=13,order=3", row, found); /* the whole row is one window */
    assert_near(found, smooth, COLS, 1e-11);
}

static void test_detrend_leaves_no_polynomial(void **state)
{
    double row[COLS];
    double found[COLS];

    for (int j = 0; j < COLS; j++)
        row[j] = pattern(3, j);
    apply_row(*state, "detrend:order=2", row, found);
    for (int power = 0; power <= 2; power++) {
        double sum = 0;
        for (int j = 0; j < COLS; j++)
            sum += pow(j, power) * found[j];
        assert_true(fabs(sum) < 1e-10);
    }
    for (int j = 0; j < COLS; j++) /* adding a parabola changes nothing */
        row[j] += 3 - j + 0.25 * j * j;
    double again[COLS];
    apply_row(*state, "detrend:order=2", row, again);
    assert_near(again, found, COLS, 1e-12);
}

static void test_snv_and_constant_rows(void **state)
{
    double row[COLS];
    double found[COLS];
    double mean = 0;
    double squares = 0;
    const double zeros[COLS] = {0};

    for (int j = 0; j < COLS; j++)
        row[j] = 1e6 + pattern(2, j);
    apply_row(*state, "snv", row, found);
    for (int j = 0; j < COLS; j++) {
        mean += found[j] / COLS;
        squares += found[j] * found[j];
    }
    assert_true(fabs(mean) < 1e-9 && fabs(squares - (COLS - 1)) < 1e-7);
    for (int j = 0; j < COLS; j++)
        row[j] = 0.1;
    apply_row(*state, "snv", row, found);
    assert_near(found, zeros, COLS, 0);
    apply_row(*state, "area", zeros, found);
    assert_near(found, zeros, COLS, 0);
    apply_row(*state, "vector", zeros, found);
    assert_near(found, zeros, COLS, 0);
}

/* A row that is a line of the reference becomes the reference, which is the mean of the training rows. */
static void test_msc_undoes_scatter(void **state)
{
    double row[COLS];
    double mean[COLS] = {0};
    double found[COLS];

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            mean[j] += pattern(i, j) / ROWS;
    for (int j = 0; j < COLS; j++)
        row[j] = 5 - 3 * mean[j];
    apply_row(*state, "msc", row, found);
    assert_near(found, mean, COLS, 1e-12);
}

/* The gradient of what als minimises is zero at its baseline. */
static void test_als_baseline_is_stationary(void **state)
{
    double row[COLS];
    double found[COLS];
    double z[COLS];
    const double lambda = 50;
    const double share = 0.05;

    for (int j = 0; j < COLS; j++)
        row[j] = pattern(5, j) + (j == 6 ? 5 : 0);
    apply_row(*state, "als:lambda=50,asymmetry=0.05,iterations=100", row, found);
    for (int j = 0; j < COLS; j++)
        z[j] = row[j] - found[j];
    for (int j = 0; j < COLS; j++) {
        double gradient = (row[j] > z[j] ? share : 1 - share) * (z[j] - row[j]);
        for (int r = j - 2; r <= j; r++)
            if (r >= 0 && r + 2 < COLS)
                gradient += lambda * (j - r == 1 ? -2 : 1) * (z[r] - 2 * z[r + 1] + z[r + 2]);
        assert_true(fabs(gradient) < 1e-9);
    }
}

static void test_rows_and_logarithms(void **state)
{
    double row[COLS];
    double found[COLS];
    double sum = 0;
    double squares = 0;
    double logs = 0;

    for (int j = 0; j < COLS; j++)
        row[j] = j % 2 ? -pattern(1, j) : pattern(1, j);
    apply_row(*state, "area:total=100", row, found);
    for (int j = 0; j < COLS; j++)
        sum += fabs(found[j]);
    apply_row(*state, "vector", row, found);
    for (int j = 0; j < COLS; j++) {
        squares += found[j] * found[j];
        row[j] = fabs(row[j]);
    }
    assert_true(fabs(sum - 100) < 1e-10 && fabs(squares - 1) < 1e-12);
    apply_row(*state, "log:offset=1,base=2", row, found);
    assert_true(fabs(exp2(found[4]) - row[4] - 1) < 1e-12);
    apply_row(*state, "clr", row, found);
    for (int j = 0; j < COLS; j++)
        logs += found[j];
    assert_true(fabs(logs) < 1e-12 && fabs(found[3] - found[2] - log(row[3] / row[2])) < 1e-12);
}

/* ---- columns ---- */

static char *const numbers[] = {"900 nm", "910 nm", "920 nm", "930 nm", "940 nm"};
static char *const scans[] = {"nm900", "nm910", "nm920", "nm930", "nm940"};
static char *const genes[] = {"gene9", "gene12", "gene20", "gene31", "gene40"};
static char *const words[] = {"a", "b", "c", "d", "e"};

/* The names after a chain, joined by blanks. */
static void assert_names(kfe_context *ctx, const char *text, char *const *names, const char *expected)
{
    kfe_i_chain chain = {0};
    kfe_i_text found;

    kfe_i_text_init(&found, ctx);
    assert_ok(ctx, kfe_i_chain_parse(ctx, text, &chain));
    assert_ok(ctx, kfe_i_chain_plan(ctx, &chain, 5, names));
    for (int64_t j = 0; j < chain.made; j++)
        kfe_i_text_printf(&found, "%s%s", j ? "|" : "", chain.names[j]);
    assert_string_equal(found.bytes, expected);
    kfe_i_text_free(&found);
    kfe_i_chain_free(&chain);
}

static void test_columns_are_cut_and_binned(void **state)
{
    assert_names(*state, "cut:keep=905..930", numbers, "910 nm|920 nm|930 nm");
    assert_names(*state, "cut:drop=..910+940..", numbers, "920 nm|930 nm");
    assert_names(*state, "cut:keep=905..915+940..", scans, "nm910|nm940");
    assert_names(*state, "bin:width=4", scans, "nm915|nm940");
    assert_names(*state, "cut:keep=2..3+5..5", words, "b|c|e");
    assert_names(*state, "cut:keep=2..3", genes, "gene12|gene20");
    assert_names(*state, "cut:keep=2..4,drop=3..3", NULL, "2|4");
    assert_names(*state, "bin:width=2", numbers, "905 nm|925 nm|940 nm");
    assert_names(*state, "bin:width=2", words, "a..b|c..d|e");
    assert_names(*state, "bin:width=3", NULL, "1..3|4..5");
    assert_names(*state, "cut:keep=910..,bin:width=2,cut:drop=930..", numbers, "915 nm");

    const double row[COLS] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25};
    const double binned[] = {5, 15, 23};
    double found[COLS];
    apply_row(*state, "bin:width=5", row, found);
    assert_near(found, binned, 3, 1e-14);
}

/* ---- all steps of the table ---- */

/* For each step that is affine, ⟨Ax, y⟩ = ⟨x, Aᵀy⟩. */
static void test_pull_is_the_transpose(void **state)
{
    kfe_context *ctx = *state;
    static const char *const texts[] = {"sg:window=5,derivative=1",
                                        "detrend",
                                        "standard",
                                        "pareto",
                                        "bin:width=4",
                                        "cut:keep=3..9",
                                        "cars:runs=10,dim=2",
                                        "stability:runs=20",
                                        "sg:window=3,cut:drop=1..2,bin,standard,detrend"};
    double values[ROWS * COLS];
    kfe_i_table table = table_of(values, ROWS);

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        kfe_i_chain chain = {0};
        double weights[COLS];
        double pulled[COLS];
        double made[COLS];
        double constant = 0;
        learn(ctx, texts[k], &table, &chain);
        assert_true(kfe_i_chain_is_linear(&chain, NULL));
        for (int64_t j = 0; j < chain.made; j++)
            weights[j] = cos((double)j);
        assert_ok(ctx, kfe_i_chain_pull(ctx, &chain, 1, weights, pulled, &constant));
        for (int i = 0; i < ROWS; i++) {
            double before = constant;
            double after = 0;
            apply_row(ctx, texts[k], values + i * COLS, made);
            for (int64_t j = 0; j < COLS; j++)
                before += pulled[j] * values[i * COLS + j];
            for (int64_t j = 0; j < chain.made; j++)
                after += weights[j] * made[j];
            assert_true(fabs(before - after) < 1e-10);
        }
        kfe_i_chain_free(&chain);
    }
    for (int s = 0; kfe_i_step_at(s); s++) { /* none is forgotten above */
        int is_tested = 0;
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            is_tested |= strncmp(texts[k], kfe_i_step_at(s)->name, strlen(kfe_i_step_at(s)->name)) == 0;
        if (!kfe_i_step_at(s)->is_transfer) /* tests/model/test_transfer.c */
            assert_int_equal(is_tested, kfe_i_step_at(s)->pull != NULL);
    }
}

/* Weight 2 is a repeated row, weight 0 none, and the order of rows does not matter. */
static void test_weights_are_repetitions(void **state)
{
    kfe_context *ctx = *state;
    double values[ROWS * COLS];
    double repeated[(ROWS + 1) * COLS];
    const double weights[ROWS] = {1, 2, 1, 0, 1, 1, 2};
    const int rows[] = {6, 1, 0, 1, 2, 6, 5, 4};
    kfe_i_table once = table_of(values, ROWS);
    kfe_i_table twice = once;

    once.weights = weights;
    twice.rows = 8;
    twice.values = repeated;
    for (int i = 0; i < 8; i++)
        memcpy(repeated + i * COLS, values + rows[i] * COLS, COLS * sizeof *values);
    for (int s = 0; kfe_i_step_at(s); s++) {
        kfe_i_chain a = {0};
        kfe_i_chain b = {0};
        if (kfe_i_step_at(s)->learns == 0 || kfe_i_step_at(s)->is_transfer)
            continue;
        learn(ctx, kfe_i_step_at(s)->name, &once, &a);
        learn_rows(ctx, kfe_i_step_at(s)->name, &twice, rows, &b);
        assert_near(a.steps[0].learned, b.steps[0].learned, kfe_i_step_at(s)->learns * COLS, 1e-12);
        kfe_i_chain_free(&a);
        kfe_i_chain_free(&b);
    }
}

/* A chain is its steps one after the other, and each later step learns from what the earlier ones make. */
static void test_chain_is_its_steps(void **state)
{
    kfe_context *ctx = *state;
    double values[ROWS * COLS];
    kfe_i_table table = table_of(values, ROWS);
    kfe_i_table now = kfe_i_table_slice(&table, 0, ROWS);
    static const char *const parts[] = {"snv", "msc", "sg:window=5", "standard", "bin", "pareto"};
    kfe_i_chain whole = {0};
    kfe_i_table made = {0};

    learn(ctx, "snv,msc,sg:window=5,standard,bin,pareto", &table, &whole);
    assert_ok(ctx, kfe_i_chain_apply(ctx, &whole, &table, "table", 0, &made));
    for (int k = 0; k < 6; k++) {
        kfe_i_chain one = {0};
        kfe_i_table next = {0};
        learn(ctx, parts[k], &now, &one);
        assert_ok(ctx, kfe_i_chain_apply(ctx, &one, &now, "table", 0, &next));
        kfe_i_chain_free(&one);
        kfe_i_table_free(&now);
        now = next;
    }
    assert_int_equal(made.cols, now.cols);
    assert_near(made.values, now.values, made.rows * made.cols, 0);
    kfe_i_table_free(&now);
    kfe_i_table_free(&made);
    kfe_i_chain_free(&whole);
}

/* ---- text ---- */

static void test_text_and_back(void **state)
{
    kfe_context *ctx = *state;
    static const char *const texts[][2] = {
        {"snv", "snv"},
        {"none", "none"},
        {"", "none"},
        {" snv , sg : window = 7 , derivative=1 , detrend ", "snv,sg:window=7,derivative=1,detrend"},
        {"sg:window=11,order=2", "sg"},
        {"cut:keep=1e+3..2000+3000..4000", "cut:keep=1e+3..2000+3000..4000"}};

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        kfe_i_chain chain = {0};
        kfe_i_text text;
        kfe_i_text_init(&text, ctx);
        assert_ok(ctx, kfe_i_chain_parse(ctx, texts[k][0], &chain));
        kfe_i_chain_format(&chain, 0, &text);
        assert_string_equal(text.bytes, texts[k][1]);
        kfe_i_text_free(&text);
        kfe_i_chain_free(&chain);
    }
}

static void test_views_have_chains(void **state)
{
    kfe_context *ctx = *state;
    const char *text = "snv;genes=log:offset=1,standard;empty=none";
    static const struct {
        const char *view;
        int steps, named;
    } cases[] = {{"nir", 1, 0}, {"genes", 2, 1}, {"empty", 0, 1}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kfe_i_chain chain = {0};
        int named = 0;
        assert_ok(ctx, kfe_i_chain_for_view(ctx, text, cases[k].view, &chain, &named));
        assert_int_equal(chain.count, cases[k].steps);
        assert_int_equal(named, cases[k].named);
        kfe_i_chain_free(&chain);
    }
    char set[KFE_PARAM_TEXT_SIZE];
    int found = 0;
    assert_ok(ctx, kfe_i_chain_set(ctx, text, "log.offset", "2", set, &found));
    assert_string_equal(set, "snv;genes=log:offset=2,standard;empty=none");
    assert_true(found);
    assert_ok(ctx, kfe_i_chain_set(ctx, text, "sg.window", "5", set, &found));
    assert_false(found);
}

static void test_steps_of_a_text(void **state)
{
    const char *text = "snv, sg : window=7,derivative=1;genes=log:offset=1,standard;empty=none";

    (void)state;
    assert_true(kfe_i_chain_has(text, "snv") && kfe_i_chain_has(text, "sg") && kfe_i_chain_has(text, "log"));
    assert_true(kfe_i_chain_has(text, "standard"));
    assert_false(kfe_i_chain_has(text, "genes") || kfe_i_chain_has(text, "window") ||
                 kfe_i_chain_has(text, "s"));
    assert_false(kfe_i_chain_has(text, "derivative") || kfe_i_chain_has("", "snv") ||
                 kfe_i_chain_has("snvs", "snv"));
}

/* ---- refusals ---- */

static void assert_refused(kfe_context *ctx, const char *text, const char *said)
{
    double values[ROWS * COLS];
    kfe_i_table table = table_of(values, ROWS);
    kfe_i_table made = {0};
    kfe_i_chain chain = {0};
    kfe_status status = kfe_i_chain_parse(ctx, text, &chain);

    values[2 * COLS + 4] = 0;
    if (status == KFE_OK)
        status = kfe_i_chain_learn(ctx, &chain, &table, NULL, NULL, "file.csv");
    if (status == KFE_OK)
        status = kfe_i_chain_apply(ctx, &chain, &table, "file.csv", 10, &made);
    if (status == KFE_OK)
        fail_msg("'%s' is not refused", text);
    if (!strstr(kfe_error_message(ctx), said))
        fail_msg("'%s' gives \"%s\", which lacks \"%s\"", text, kfe_error_message(ctx), said);
    kfe_i_table_free(&made);
    kfe_i_chain_free(&chain);
}

static void test_refusals(void **state)
{
    static const char *const cases[][2] = {
        {"snw", "did you mean 'snv'"},
        {"snv,", "a step is missing"},
        {",snv", "a step is missing"},
        {"window=3", "no step 'window=3'"},
        {"sg:windw=3", "window"},
        {"sg:window=4", "odd number of columns, not 4; use 5"},
        {"sg:window=15", "window of step sg has 15 columns, but a row has only 13"},
        {"sg:window=3,order=3", "wider window"},
        {"sg:order=2,derivative=3", "order of 3 or more"},
        {"sg:window=0", "window"},
        {"sg:window", "NAME=VALUE"},
        {"detrend:order=12", "leaves nothing"},
        {"cut:keep=100..200", "leaves no column; the places of the columns are from 1 to 13"},
        {"cut:keep=5..1", "ranges such as"},
        {"cut:keep=..", "ranges such as"},
        {"cut:keep=a..b", "ranges such as"},
        {"bin:width=13,snv", "two columns"},
        {"bin:width=7,als", "three columns"},
        {"bin:width=13,msc", "does not vary"},
        {"cars", "step cars chooses columns by how they predict a target, and the data has none"},
        {"stability:threshold=0.5", "threshold"},
        {"log", "file.csv: row 13, column 5: step log takes positive numbers"},
        {"clr", "add an offset"},
        {"snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv,snv", "at most 16 steps"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused(*state, cases[k][0], cases[k][1]);
}

static kfe_status use_chain(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    double values[ROWS * COLS];
    kfe_i_table table = table_of(values, ROWS);
    kfe_i_table made = {0};
    kfe_i_chain chain = {0};
    kfe_i_text text;
    const double y[ROWS] = {1, 3, 2, 5, 4, 4, 1};
    const int64_t unit_of[ROWS] = {0, 1, 2, 3, 4, 5, 6};
    const kfe_i_step_target target = {
        .units = ROWS, .cols = 1, .unit_of = unit_of, .values = y, .is_real = 1};

    (void)user;
    kfe_i_text_init(&text, ctx);
    KFE_TRY(kfe_i_chain_parse(
        ctx, "snv,msc,als,sg:window=5,cut:keep=2..12,bin,standard,detrend,cars:runs=4,stability:runs=6",
        &chain));
    KFE_TRY(kfe_i_chain_learn(ctx, &chain, &table, &target, NULL, "table"));
    KFE_TRY(kfe_i_chain_apply(ctx, &chain, &table, "table", 0, &made));
    kfe_i_chain_format(&chain, 0, &text);
    KFE_TRY(text.status);
cleanup:
    kfe_i_text_free(&text);
    kfe_i_table_free(&made);
    kfe_i_chain_free(&chain);
    return status;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    support_sweep_all("chain of steps", use_chain, NULL, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_sg_keeps_polynomials),
        with_context(test_detrend_leaves_no_polynomial),
        with_context(test_snv_and_constant_rows),
        with_context(test_msc_undoes_scatter),
        with_context(test_als_baseline_is_stationary),
        with_context(test_rows_and_logarithms),
        with_context(test_columns_are_cut_and_binned),
        with_context(test_pull_is_the_transpose),
        with_context(test_weights_are_repetitions),
        with_context(test_chain_is_its_steps),
        with_context(test_text_and_back),
        with_context(test_views_have_chains),
        cmocka_unit_test(test_steps_of_a_text),
        with_context(test_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
