/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic choices on more rows than they look at (dim=auto: 1,000 different ones; knn: 2,000; gamma=median: 1,000; ridge=auto: some
 * 400): what they find does not depend on the order of the rows, and weights are repeated rows. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"

enum { ROWS = 2500, COLS = 3, MOST = 2 * ROWS };

typedef struct table {
    int64_t rows;
    double x[MOST * COLS], y[MOST], weights[MOST];
    int class_of[MOST];
} table;

static void draw(table *t)
{
    uint64_t random = 5;

    t->rows = ROWS;
    for (int64_t i = 0; i < ROWS; i++) {
        double *x = t->x + i * COLS;
        for (int j = 0; j < COLS; j++)
            x[j] = (1 + j) * support_normal(&random);
        t->class_of[i] = x[0] + x[1] * x[1] + support_normal(&random) > 1;
        t->y[i] = x[0] + x[1] + support_normal(&random);
        t->weights[i] = (double)(i % 3);
    }
}

static void copy_row(const table *from, int64_t i, table *to)
{
    memcpy(to->x + to->rows * COLS, from->x + i * COLS, COLS * sizeof *to->x);
    to->y[to->rows] = from->y[i];
    to->class_of[to->rows] = from->class_of[i];
    to->weights[to->rows++] = from->weights[i];
}

/* Every row so often, in an order of its own. */
static void move(const table *from, int by_weight, int64_t copies, table *to)
{
    to->rows = 0;
    for (int64_t copy = 0; copy < copies; copy++)
        for (int64_t i = 0; i < from->rows; i++) {
            int64_t row = i * 1009 % from->rows;
            if (!by_weight || from->weights[row] > (double)copy)
                copy_row(from, row, to);
        }
}

typedef struct choice {
    const char *method, *params, *kernel, *learner;
    const char *record; /* NULL: the kernel's parameters */
    int classes;
} choice;

static const choice choices[] = {
    {"pls", NULL, NULL, NULL, "cv-unexplained-variance", 0},
    {"none", NULL, NULL, "knn", "loo-error-rate", 1},
    {"none", NULL, NULL, "knn", "loo-squared-error", 0},
    {"kpca", "landmarks=5,landmark-by=random", "rbf:gamma=median", NULL, NULL, 1},
    {"kfd", "landmarks=5,landmark-by=random", "rbf", NULL, "ridge", 1},
};

enum { MOST_NUMBERS = 32 };

static const double *record_of(const kfe_i_predictor *p, const char *name)
{
    for (int r = 0; r < p->record_count; r++)
        if (strcmp(p->records[r].name, name) == 0)
            return &p->records[r].value;
    return NULL;
}

/* The numbers of a record, or the first number of the text of the kernel; returns how many. */
static int64_t chosen(kfe_context *ctx, const choice *c, const table *t, int weighted, double *out)
{
    kfe_data *data = support_dense(ctx, t->rows, COLS, t->x, c->classes ? t->class_of : NULL);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    char *kernel = NULL;
    int64_t count = 1;

    if (!c->classes)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, t->y));
    if (weighted)
        assert_ok(ctx, kfe_data_set_weights(ctx, data, t->weights));
    assert_ok(ctx, kfe_spec_parse(ctx, c->method, c->params, c->kernel, &spec));
    if (c->learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, c->learner, NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    if (c->record) {
        const double *found =
            c->learner ? record_of(&model->predictor, c->record) : kfe_model_record(model, c->record, &count);
        if (!found)
            fail_msg("%s has no record %s", c->method, c->record);
        assert_in_range(count, 1, MOST_NUMBERS);
        memcpy(out, found, (size_t)count * sizeof *out);
    } else {
        assert_ok(ctx, kfe_model_kernel(ctx, model, 0, &kernel));
        out[0] = strtod(strchr(kernel, '=') + 1, NULL);
        kfe_string_free(ctx, kernel);
    }
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return count;
}

static void check_equal(const choice *c, const char *what, int64_t counts[2], double values[2][MOST_NUMBERS])
{
    assert_int_equal(counts[0], counts[1]);
    for (int64_t k = 0; k < counts[0]; k++)
        if (!(fabs(values[0][k] - values[1][k]) <= 1e-8 * fabs(values[0][k])))
            fail_msg("%s %s, %s: %.17g and %.17g", c->method, c->record ? c->record : c->kernel, what,
                     values[0][k], values[1][k]);
}

static void test_choices(void **state)
{
    static table t;
    static table other;
    kfe_context *ctx = *state;
    int64_t counts[2];
    double values[2][MOST_NUMBERS];

    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    draw(&t);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const choice *c = &choices[i];
        int takes_weights = !c->learner || strcmp(c->learner, "knn") != 0;
        counts[0] = chosen(ctx, c, &t, 0, values[0]);
        move(&t, 0, 1, &other);
        counts[1] = chosen(ctx, c, &other, 0, values[1]);
        check_equal(c, "another order", counts, values);
        move(&t, takes_weights, 2, &other);
        if (takes_weights)
            counts[0] = chosen(ctx, c, &t, 1, values[0]);
        counts[1] = chosen(ctx, c, &other, 0, values[1]);
        check_equal(c, takes_weights ? "repeated rows for weights" : "all rows twice", counts, values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {with_context(test_choices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
