/* SPDX-License-Identifier: Apache-2.0 */
/* How low restarts=auto of lmkl and sldr ends, against single starts, on generated problems. */
#include "support/local.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 400, CLASSES = 3, SINGLES = 20, CONTINUED = 3, MOST_SOFTENINGS = 3 };
static const int64_t widths[SUPPORT_VIEWS] = {30, 20, 15, 10};

/* How far above the best of the single starts a problem may end. On average over the problems it must end below. */
#define MARGIN 0.15

typedef struct problem {
    double *values[SUPPORT_VIEWS];
    int *class_of;
    support_views views;
} problem;

/* Each example shows its class in one view only, which a shift of the view's first column tells. */
static void draw_view(kfe_i_rng *rng, int view, const int64_t *where, const int *class_of, double *out)
{
    for (int64_t i = 0; i < ROWS; i++) {
        double *row = out + i * widths[view];
        for (int64_t j = 0; j < widths[view]; j++)
            row[j] = kfe_i_rng_normal(rng);
        row[0] += where[i] == view ? 3 : 0;
        row[1 + class_of[i]] += where[i] == view ? 4 : 0.2;
    }
}

static void open_problem(kfe_context *ctx, uint64_t seed, problem *s)
{
    static const char *const names[SUPPORT_VIEWS] = {"first", "second", "third", "fourth"};
    int64_t *where = calloc(ROWS, sizeof *where);
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, seed, KFE_STREAM_GENERATE);
    s->class_of = calloc(ROWS, sizeof *s->class_of);
    for (int64_t i = 0; i < ROWS; i++) {
        where[i] = kfe_i_rng_below(&rng, SUPPORT_VIEWS);
        s->class_of[i] = (int)kfe_i_rng_below(&rng, CLASSES);
    }
    assert_ok(ctx, support_views_begin(ctx, ROWS, s->class_of, &s->views));
    for (int v = 0; v < SUPPORT_VIEWS; v++) {
        s->values[v] = calloc((size_t)(ROWS * widths[v]), sizeof(double));
        draw_view(&rng, v, where, s->class_of, s->values[v]);
        support_views_add(&s->views, names[v], widths[v], s->values[v]);
        assert_ok(ctx, support_views_kernel(&s->views, v, "linear"));
    }
    free(where);
}

static void close_problem(problem *s)
{
    support_views_end(&s->views);
    for (int v = 0; v < SUPPORT_VIEWS; v++)
        free(s->values[v]);
    free(s->class_of);
}

/* *descents, unless NULL: to ends, from starts and from softer gates */
static double end_of(problem *s, const char *method, const char *params, uint64_t seed, int64_t *descents)
{
    kfe_i_solution solution;

    kfe_context_set_seed(s->views.ctx, seed);
    assert_ok(s->views.ctx, support_local_fit(&s->views, method, params, &solution));
    double end = support_local_objective(&solution);
    for (int64_t r = 0; descents && r < solution.record_count; r++)
        if (strcmp(solution.records[r].name, "restart-objectives") == 0)
            *descents = solution.records[r].count;
    kfe_i_solution_free(&solution);
    return end;
}

/* log of the end of restarts=auto over the best end of single starts with other seeds; *descents of the former */
static double compare(kfe_context *ctx, const char *method, const char *params, uint64_t number,
                      int64_t *descents)
{
    problem s;
    char single[128];
    double best = INFINITY;

    snprintf(single, sizeof single, "%s,restarts=1", params);
    open_problem(ctx, number, &s);
    for (uint64_t seed = 1; seed <= SINGLES; seed++)
        best = fmin(best, end_of(&s, method, single, seed, NULL));
    double found = end_of(&s, method, params, 0, descents);
    print_message("%s %s, problem %d: auto %.5g, best of %d single starts %.5g\n", method, params,
                  (int)number, found, SINGLES, best);
    assert_true(found <= (1 + MARGIN) * best);
    close_problem(&s);
    return log(found / best);
}

static void test_automatic_starts_end_below_single_ones(void **state)
{
    static const struct {
        const char *method, *params;
    } fits[] = {{"sldr", "svm-C=1"}, {"sldr", "svm-C=10,gate-dim=3"}, {"lmkl", "svm-C=1"}};
    enum { FITS = sizeof fits / sizeof *fits, PROBLEMS = 2 };
    int64_t most = 0;
    double sum = 0;

    for (uint64_t number = 1; number <= PROBLEMS; number++)
        for (int f = 0; f < FITS; f++) {
            int64_t descents = 0;
            sum += compare(*state, fits[f].method, fits[f].params, number, &descents);
            assert_true(descents >= CONTINUED * 2);
            most = descents > most ? descents : most;
        }
    assert_below(sum, 0);
    assert_true(most > CONTINUED + MOST_SOFTENINGS); /* more than one start went on from softer gates */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_automatic_starts_end_below_single_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
