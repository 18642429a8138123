/* SPDX-License-Identifier: Apache-2.0 */
/* The number of features that cross-validation chooses: that of a planted problem, whatever the order, the weights and the offsets of the
 * rows; the method's own number where features explain nothing. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/dim_rule.h"
#include "support/sweep.h"

enum { ROWS = 39, MANY = 120, COLS = 12, MOST = 3 * MANY };

typedef struct sample {
    int64_t rows;
    double x[MOST * COLS], y[MOST * 2], weights[MOST];
    int class_of[MOST];
} sample;

/* Columns are noisy copies of two factors of different size. The target needs both, or (signal 0) neither. */
static void draw(int64_t rows, double signal, sample *s)
{
    uint64_t random = 31;

    s->rows = rows;
    for (int64_t i = 0; i < rows; i++) {
        double a = support_normal(&random);
        double b = support_normal(&random);
        for (int j = 0; j < COLS; j++)
            s->x[i * COLS + j] = 3 * a + (j % 2 ? b : -b) + 0.1 * support_normal(&random);
        s->y[2 * i] = signal * (a + 2 * b) + 0.3 * support_normal(&random);
        s->y[2 * i + 1] = signal * (b - a) + 0.3 * support_normal(&random);
        s->class_of[i] = (s->y[2 * i] > 0) + (s->y[2 * i + 1] > 0);
        s->weights[i] = 1;
    }
}

typedef enum kind { ONE_TARGET, TWO_TARGETS, CLASSES } kind;

static kfe_data *data_of(kfe_context *ctx, const sample *s, kind target, int weighted)
{
    double first[MOST];
    kfe_data *data = support_dense(ctx, s->rows, COLS, s->x, target == CLASSES ? s->class_of : NULL);

    for (int64_t i = 0; i < s->rows; i++)
        first[i] = s->y[2 * i];
    if (target == ONE_TARGET)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, first));
    if (target == TWO_TARGETS)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 2, s->y));
    if (weighted)
        assert_ok(ctx, kfe_data_set_weights(ctx, data, s->weights));
    return data;
}

static int64_t dim_of(kfe_context *ctx, const char *method, const char *params, const sample *s, kind target,
                      int weighted, int *chosen)
{
    kfe_data *data = data_of(ctx, s, target, weighted);
    kfe_model *model = support_fit(ctx, method, params, NULL, data);
    int64_t dim = kfe_model_dim(model);
    int64_t count = 0;

    *chosen = kfe_model_record(model, "cv-unexplained-variance", &count) != NULL;
    kfe_model_free(model);
    kfe_data_free(data);
    return dim;
}

static const char *const methods[] = {"pls", "cr", "spls", "kpls", "blf", "kblf", "plsda", "skpls", "skblf"};
enum { METHODS = sizeof methods / sizeof *methods };

static void test_planted_number(void **state)
{
    static sample s;
    int chosen = 0;

    draw(ROWS, 1, &s);
    for (kind target = ONE_TARGET; target <= CLASSES; target++) {
        assert_int_equal(dim_of(*state, "pls", NULL, &s, target, 0, &chosen), 2);
        assert_true(chosen);
        assert_int_equal(dim_of(*state, "cr", NULL, &s, target, 0, &chosen), 2);
    }
    draw(MANY, 1, &s);
    assert_int_equal(dim_of(*state, "pls", NULL, &s, TWO_TARGETS, 0, &chosen), 2);
}

static void test_given_and_hopeless_numbers(void **state)
{
    static sample s;
    int chosen = 1;

    draw(MANY, 1, &s);
    assert_int_equal(dim_of(*state, "pls", "dim=5", &s, ONE_TARGET, 0, &chosen), 5);
    assert_false(chosen);
    draw(MANY, 0, &s);
    assert_int_equal(dim_of(*state, "pls", NULL, &s, ONE_TARGET, 0, &chosen), 10);
    assert_false(chosen);
}

/* The record has the share of variance that each number leaves: the number chosen is the first within one standard error of the
 * smallest, so none before it is smaller than any after it. */
static void test_record(void **state)
{
    static sample s;
    kfe_context *ctx = *state;
    int64_t count = 0;

    draw(ROWS, 1, &s);
    kfe_data *data = data_of(ctx, &s, ONE_TARGET, 0);
    kfe_model *model = support_fit(ctx, "pls", NULL, NULL, data);
    const double *left = kfe_model_record(model, "cv-unexplained-variance", &count);
    assert_int_equal(count, COLS);
    assert_true(left[0] > 2 * left[1] && left[1] < 0.3);
    for (int64_t j = 2; j < count; j++)
        assert_true(left[1] < 1.5 * left[j]);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* Rows in another order, with offsets of columns (linear methods, without scaling), and twice each. */
static void test_invariance(void **state)
{
    static sample s;
    static sample other;
    int chosen = 0;

    draw(MANY, 1, &s);
    for (int m = 0; m < METHODS; m++) {
        int64_t dim = dim_of(*state, methods[m], NULL, &s, CLASSES, 0, &chosen);
        other = (sample){.rows = MANY};
        for (int64_t i = 0; i < MANY; i++) {
            int64_t from = i * 77 % MANY;
            memcpy(other.x + i * COLS, s.x + from * COLS, COLS * sizeof *s.x);
            other.class_of[i] = 2 - s.class_of[from]; /* and other names */
        }
        assert_int_equal(dim_of(*state, methods[m], NULL, &other, CLASSES, 0, &chosen), dim);
        for (int64_t i = 0; i < MANY * COLS; i++)
            other.x[i] = s.x[i] + 8 * (double)(i % COLS);
        memcpy(other.class_of, s.class_of, sizeof s.class_of);
        if (m < 3)
            assert_int_equal(dim_of(*state, methods[m], NULL, &other, CLASSES, 0, &chosen), dim);
        for (int64_t i = 0; i < 2 * MANY; i++) {
            memcpy(other.x + i * COLS, s.x + i % MANY * COLS, COLS * sizeof *s.x);
            other.class_of[i] = s.class_of[i % MANY];
        }
        other.rows = 2 * MANY;
        assert_int_equal(dim_of(*state, methods[m], NULL, &other, CLASSES, 0, &chosen), dim);
    }
}

static void test_weights_are_repeated_rows(void **state)
{
    static sample s;
    static sample repeated;
    int chosen = 0;

    draw(MANY, 1, &s);
    repeated = (sample){0};
    for (int64_t i = 0; i < MANY; i++) {
        s.weights[i] = (double)(i % 4);
        for (int64_t k = 0; k < i % 4; k++) {
            memcpy(repeated.x + repeated.rows * COLS, s.x + i * COLS, COLS * sizeof *s.x);
            memcpy(repeated.y + repeated.rows * 2, s.y + i * 2, 2 * sizeof *s.y);
            repeated.class_of[repeated.rows++] = s.class_of[i];
        }
    }
    for (int m = 0; m < METHODS; m++)
        for (kind target = strcmp(methods[m], "plsda") == 0 ? CLASSES : TWO_TARGETS; target <= CLASSES;
             target++)
            assert_int_equal(dim_of(*state, methods[m], NULL, &s, target, 1, &chosen),
                             dim_of(*state, methods[m], NULL, &repeated, target, 0, &chosen));
}

/* Against all signs of ten differences. */
static void test_random_signs(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        double d[10];
        double observed = 0;
        int as_large = 0;
        for (int i = 0; i < 10; i++) {
            d[i] = sin(1 + i * (k + 1)) + 0.12 * k;
            observed += d[i];
        }
        for (int signs = 0; signs < 1 << 10; signs++) {
            double sum = 0;
            for (int i = 0; i < 10; i++)
                sum += signs >> i & 1 ? d[i] : -d[i];
            as_large += sum >= observed - 1e-12;
        }
        assert_true(fabs(kfe_i_flip_probability(5, 10, d) - as_large / 1024.0) < 0.06);
    }
}

static void test_allocation_failures(void **state)
{
    static sample s;
    (void)state;

    draw(20, 1, &s);
    support_fit_case fit = {.method = "pls", .rows = 20, .cols = 3, .x = s.x, .class_of = s.class_of};
    support_sweep_all("pls", support_fit_use, &fit, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_planted_number),
        with_context(test_given_and_hopeless_numbers),
        with_context(test_record),
        with_context(test_invariance),
        with_context(test_weights_are_repeated_rows),
        cmocka_unit_test(test_random_signs),
        with_context(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
