/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What methods choose by themselves from the rows (ridges, C, metrics) does not depend on the order of the rows, and depends on weights
 * as on repeated rows: a row of weight 2 counts like two, and all rows given twice lead to the same model, whose ridge is twice as large.
 *
 * There are more distinct rows than leave-one-out uses, so that its sample is tested too.
 */
#include "support/fit.h"

#include <math.h>
#include <string.h>

enum { DIFFERENT = 260, COLS = 3, MOST = 3 * DIFFERENT };

/* What rounding makes of a ridge, relative: the path of ridges has fixed steps. */
#define TOLERANCE_CHOICE 1e-9

typedef struct chooser {
    const char *method, *params, *record;
    int classes;
    int power; /* how the record depends on the number of all rows: 1 or −1 */
} chooser;

static const chooser choosers[] = {
    {"kfd", NULL, "ridge", 3, 1},
    {"kopls", NULL, "ridge", 2, 1},
    {"kopls", NULL, "ridge", 0, 1},
    {"rkopls", "support=30", "ridge", 3, 1},
    {"hsic", NULL, "ridge", 3, 1},
    {"uhsic", NULL, "ridge", 3, 1},
    {"kb", NULL, "ridge", 2, 1},
    {"svm-joint", "max-iter=2", "svm-c", 3, -1},
    {"usvm-joint", "max-iter=2", "xi", 3, 1},
    {"mkl", NULL, "svm-c", 2, -1},
    {"rfm", "iterations=2", "ridge", 3, 1},
    {"rfm", "iterations=2", "ridge", 0, 1},
    {"gkdr", "iterations=1", "ridge", 3, 1},
};

/* A table of `rows` rows, row i of which is that of content[i]. */
typedef struct rows_of {
    int64_t rows;
    int content[MOST];
    double weights[MOST];
    int weighted;
} rows_of;

static double noisy_target(const double *x, uint64_t *random)
{
    return sin(x[0]) + x[1] * x[1] + support_normal(random);
}

/* The number that the method chooses for these rows. */
static double choice_of(kfe_context *ctx, const chooser *c, const rows_of *of)
{
    double *all = NULL;
    int *class_of = NULL;
    static double x[MOST * COLS];
    double y[DIFFERENT];
    double targets[MOST];
    int classes[MOST];
    uint64_t random = 8;
    int64_t count = 0;

    support_clouds(21, DIFFERENT, COLS, c->classes ? c->classes : 2, 1, &all, &class_of);
    for (int i = 0; i < DIFFERENT; i++)
        y[i] = noisy_target(all + i * COLS, &random);
    for (int64_t i = 0; i < of->rows; i++) {
        memcpy(x + i * COLS, all + of->content[i] * COLS, COLS * sizeof *x);
        classes[i] = class_of[of->content[i]];
        targets[i] = y[of->content[i]];
    }
    kfe_data *data = support_dense(ctx, of->rows, COLS, x, c->classes ? classes : NULL);
    if (!c->classes)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, targets));
    if (of->weighted)
        assert_ok(ctx, kfe_data_set_weights(ctx, data, of->weights));
    kfe_model *model = support_fit(ctx, c->method, c->params, "rbf:gamma=0.3", data);
    double chosen = *kfe_model_record(model, c->record, &count);
    kfe_model_free(model);
    kfe_data_free(data);
    free(all);
    free(class_of);
    return chosen;
}

static void check(const chooser *c, const char *what, double chosen, double expected)
{
    if (fabs(chosen - expected) > TOLERANCE_CHOICE * fabs(expected))
        fail_msg("%s, %d classes, %s: %s is %.9g, expected %.9g", c->method, c->classes, what, c->record,
                 chosen, expected);
}

static rows_of each_once(void)
{
    rows_of of = {.rows = DIFFERENT};

    for (int i = 0; i < DIFFERENT; i++)
        of.content[i] = i;
    return of;
}

static void test_order(void **state)
{
    for (size_t m = 0; m < sizeof choosers / sizeof *choosers; m++) {
        rows_of once = each_once();
        rows_of moved = once;
        for (int i = 0; i < DIFFERENT; i++)
            moved.content[i] = i * 77 % DIFFERENT; /* 77 and 260 have no common divisor */
        check(&choosers[m], "other order", choice_of(*state, &choosers[m], &moved),
              choice_of(*state, &choosers[m], &once));
    }
}

static void test_weights_are_repeated_rows(void **state)
{
    for (size_t m = 0; m < sizeof choosers / sizeof *choosers; m++) {
        rows_of weighted = each_once();
        rows_of repeated = {0};
        weighted.weighted = 1;
        for (int i = 0; i < DIFFERENT; i++) {
            weighted.weights[i] = i % 4;
            for (int k = 0; k < i % 4; k++)
                repeated.content[repeated.rows++] = i;
        }
        check(&choosers[m], "weights", choice_of(*state, &choosers[m], &weighted),
              choice_of(*state, &choosers[m], &repeated));
    }
}

static void test_all_rows_twice(void **state)
{
    for (size_t m = 0; m < sizeof choosers / sizeof *choosers; m++) {
        rows_of once = each_once();
        rows_of twice = {.rows = 2 * DIFFERENT};
        for (int i = 0; i < 2 * DIFFERENT; i++)
            twice.content[i] = i % DIFFERENT;
        check(&choosers[m], "all rows twice", choice_of(*state, &choosers[m], &twice),
              pow(2, choosers[m].power) * choice_of(*state, &choosers[m], &once));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_order),
        with_context(test_weights_are_repeated_rows),
        with_context(test_all_rows_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
