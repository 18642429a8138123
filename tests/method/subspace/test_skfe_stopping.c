/* SPDX-License-Identifier: Apache-2.0 */
/* The number of iterations that skfe chooses on held-out examples, and its random starts, depend on what the rows contain and on their weights:
 * not on their order, nor on whether a row stands twice or has weight 2. */
#include "support/examples.h"

#include <math.h>
#include <stdio.h>

/* Searches multiply rounding errors from iteration to iteration: the margins after up to this many points are compared. */
enum { POINTS = 5, MOST = 32 };
#define TOLERANCE 1e-7

typedef struct choice {
    int64_t iterations, count;
    double margins[MOST], ends[MOST];
} choice;

static int64_t take(const kfe_model *model, const char *name, double *out)
{
    int64_t count = 0;
    const double *values = kfe_model_record(model, name, &count);

    assert_in_range(count, 1, MOST);
    memcpy(out, values, (size_t)count * sizeof *out);
    return count;
}

static choice choose(kfe_context *ctx, const support_examples *e, const char *params)
{
    choice out = {0};
    double iterations[MOST];
    kfe_data *train = support_examples_train(ctx, e);
    kfe_model *model = support_fit(ctx, "skfe", params, "rbf", train);

    if (strstr(params, "init=random"))
        out.count = take(model, "search-values", out.ends);
    else
        out.count = take(model, "held-out-margin", out.margins);
    take(model, "iterations", iterations);
    out.iterations = (int64_t)iterations[0];
    kfe_model_free(model);
    kfe_data_free(train);
    return out;
}

static void check(kfe_context *ctx, const support_examples *a, const support_examples *b, const char *params)
{
    choice x = choose(ctx, a, params);
    choice y = choose(ctx, b, params);

    assert_int_equal(x.iterations, y.iterations);
    assert_int_equal(x.count, y.count);
    for (int p = 0; p < POINTS && p < x.count; p++) {
        assert_below(fabs(x.margins[p] - y.margins[p]), TOLERANCE);
        assert_below(fabs(x.ends[p] - y.ends[p]), TOLERANCE);
    }
}

/* Two of the classes lie on two sides of the third, and columns of noise make long searches worse: the choice is not the usual number. */
static support_examples make(support_target_kind kind)
{
    support_examples e = support_examples_make(kind, EXAMPLE_POINTS, 0);

    for (int64_t i = 0; i < e.rows; i++)
        e.x[i * EXAMPLE_COLS + e.class_of[i]] += 1;
    return e;
}

static void check_all(kfe_context *ctx, const char *params)
{
    for (int kind = THREE_CLASSES; kind <= TWO_CLASSES; kind++) {
        support_examples plain = make((support_target_kind)kind);
        support_examples other = plain;
        support_reorder_rows(&other, 1);
        check(ctx, &plain, &other, params);
        support_weigh(&plain, 0);
        other = plain;
        support_repeat(&other, 0);
        check(ctx, &plain, &other, params);
        support_reorder_rows(&other, 1);
        check(ctx, &plain, &other, params);
    }
}

static void test_iterations(void **state)
{
    check_all(*state, "criterion=kta");
}

static void test_random_starts(void **state)
{
    check_all(*state, "init=random,restarts=3,max-iter=0");
}

/* A copy of a held-out example tells its class, so that fits on copies would never seem to overfit. */
static void test_copies_are_held_out_together(void **state)
{
    support_examples once = make(THREE_CLASSES);
    support_examples twice = once;

    support_weigh_twice(&twice, 0);
    support_repeat(&twice, 0);
    check(*state, &once, &twice, "criterion=kta");
}

int main(void)
{
    const struct CMUnitTest tests[] = {with_context(test_iterations), with_context(test_random_starts),
                                       with_context(test_copies_are_held_out_together)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
