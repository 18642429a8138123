/* SPDX-License-Identifier: Apache-2.0 */
/* Newton's method for linear SVMs in each of its ways: gradients by hand, LIBLINEAR's solution of the same problem, and the
 * learner that uses it. */
#include <math.h>

#include "learn/linear/newton.h"
#include "oracles/liblinear.h"
#include "support/learn.h"
#include "support/tolerance.h"

enum { MOST_ROWS = 1300 };

/* A table and intervals for its outputs. */
typedef struct sample {
    int64_t rows, cols;
    double *x;
    kfe_i_table table;
    double y[MOST_ROWS];
} sample;

/* Clouds that overlap, one column with larger numbers than the others, some rows twice, and zeros. */
static sample make_sample(kfe_context *ctx, const int64_t shape[2], int64_t filled, int sparse, int classes)
{
    sample s = {.rows = shape[0], .cols = shape[1]};
    int64_t every = s.cols / filled;
    double *noise = support_normals((uint64_t)shape[0] + 1, s.rows);

    s.x = support_normals((uint64_t)shape[1], s.rows * s.cols);
    for (int64_t i = 0; i < s.rows; i++) {
        for (int64_t j = 0; j < s.cols; j++)
            if ((i + j) % every != 0 && j > 2)
                s.x[i * s.cols + j] = 0;
        s.x[i * s.cols + 2] *= 5;
        if (i % 10 == 9)
            memcpy(s.x + i * s.cols, s.x + (i - 1) * s.cols, (size_t)s.cols * sizeof *s.x);
        double value = s.x[i * s.cols] - 0.1 * s.x[i * s.cols + 2] + noise[i] + 0.3;
        s.y[i] = classes ? (value > 0 ? 1 : -1) : value;
    }
    s.table = sparse ? learn_sparse(ctx, s.rows, s.cols, s.x) : learn_dense(s.rows, s.cols, s.x);
    free(noise);
    return s;
}

static void free_sample(sample *s)
{
    kfe_i_table_free(&s->table);
    free(s->x);
}

typedef struct problem {
    const sample *s;
    double low[MOST_ROWS], high[MOST_ROWS], cost[MOST_ROWS];
    oracle_linear_svm oracle;
} problem;

static problem problem_of(const sample *s, double cost, double negative, double epsilon)
{
    problem p = {.s = s, .oracle = {s->rows, s->cols, s->x, s->y, cost, epsilon, negative, 1e-6, 0}};

    for (int64_t i = 0; i < s->rows; i++) {
        p.cost[i] = cost * (s->y[i] < 0 && epsilon < 0 ? negative : 1);
        p.low[i] = epsilon >= 0 ? s->y[i] - epsilon : s->y[i] > 0 ? 1 : -INFINITY;
        p.high[i] = epsilon >= 0 ? s->y[i] + epsilon : s->y[i] > 0 ? INFINITY : -1;
    }
    return p;
}

/* The objective and the norm of its gradient, from the definition. */
static double objective_of(const problem *p, const double *w, double *norm)
{
    int64_t d = p->s->cols;
    double sum = 0;
    double *gradient = malloc((size_t)d * sizeof *gradient);

    for (int64_t j = 0; j < d; j++) {
        gradient[j] = w[j];
        sum += w[j] * w[j] / 2;
    }
    for (int64_t i = 0; i < p->s->rows; i++) {
        const double *x = p->s->x + i * d;
        double output = 0;
        for (int64_t j = 0; j < d; j++)
            output += w[j] * x[j];
        double beyond = fmax(0, output - p->high[i]) - fmax(0, p->low[i] - output);
        sum += p->cost[i] * beyond * beyond;
        for (int64_t j = 0; j < d; j++)
            gradient[j] += 2 * p->cost[i] * beyond * x[j];
    }
    *norm = 0;
    for (int64_t j = 0; j < d; j++)
        *norm = hypot(*norm, gradient[j]);
    free(gradient);
    return sum;
}

static kfe_status solve(kfe_context *ctx, const problem *p, kfe_i_linear_way way, double stop, double *w,
                        kfe_i_newton_result *result)
{
    kfe_status status = KFE_OK;
    kfe_i_linear_rows rows = {0};
    double *narrow = calloc((size_t)p->s->cols, sizeof *narrow);

    KFE_TRY(kfe_i_linear_rows_open(ctx, &p->s->table, 0, 1, &rows));
    assert_int_equal(rows.way, way);
    kfe_i_newton_problem newton = {&rows, {p->low, p->high, p->cost, rows.count}, stop};
    KFE_TRY(kfe_i_newton_solve(ctx, &newton, narrow, result));
    kfe_i_linear_rows_expand(&rows, narrow, w);
cleanup:
    kfe_i_linear_rows_free(&rows);
    free(narrow);
    return status;
}

static void check_solution(kfe_context *ctx, const problem *p, kfe_i_linear_way way)
{
    double left = way == KFE_LINEAR_BY_KERNEL ? 1e-8 : 1e-9; /* products of rows have lost some digits */
    int64_t d = p->s->cols;
    double *zero = calloc((size_t)d, sizeof *zero);
    double *w = calloc((size_t)d, sizeof *w);
    double *theirs = calloc((size_t)d, sizeof *theirs);
    double start;
    double end;
    double excess;
    double apart = 0;
    kfe_i_newton_result result;

    assert_ok(ctx, solve(ctx, p, way, 1e-9, w, &result));
    double nothing = objective_of(p, zero, &start);
    double reached = objective_of(p, w, &end);
    assert_true(result.solved);
    assert_below(end, left * start);
    assert_below(fabs(result.start - start), 1e-12 * start);
    assert_below(fabs(result.objective - reached), 1e-12 * reached + 1e-20 * nothing);
    assert_below(result.gradient, left * start);
    /* the objective is strongly convex with constant 1, so points are at most as far apart as their gradients */
    if (p->oracle.cost <= (p->s->cols < 10 ? 100 : 0.5)) { /* LIBLINEAR takes long for the others */
        oracle_liblinear(&p->oracle, theirs);
        assert_below(reached, objective_of(p, theirs, &excess) * (1 + 1e-9));
        for (int64_t j = 0; j < d; j++)
            apart = hypot(apart, theirs[j] - w[j]);
        assert_below(apart, end + excess + 1e-15);
    }
    free(zero);
    free(w);
    free(theirs);
}

/* A shape for each way and layout: rows and columns, and how many columns of a row are not zero. */
static const struct {
    int64_t shape[2], filled;
    int sparse;
    kfe_i_linear_way way;
} shapes[] = {
    {{1300, 7}, 7, 0, KFE_LINEAR_BY_COLUMNS},      {{1300, 120}, 120, 0, KFE_LINEAR_BY_COLUMNS},
    {{1300, 40}, 5, 1, KFE_LINEAR_BY_COLUMNS},     {{60, 900}, 900, 0, KFE_LINEAR_BY_KERNEL},
    {{90, 2000}, 1000, 1, KFE_LINEAR_BY_KERNEL},   {{500, 3000}, 30, 1, KFE_LINEAR_BY_GRADIENTS},
    {{600, 600}, 600, 0, KFE_LINEAR_BY_GRADIENTS},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static sample sample_of(kfe_context *ctx, int shape, int classes)
{
    return make_sample(ctx, shapes[shape].shape, shapes[shape].filled, shapes[shape].sparse, classes);
}

static void test_classes_over_decades(void **state)
{
    kfe_context *ctx = *state;

    for (int k = 0; k < SHAPES; k++) {
        int most = shapes[k].way == KFE_LINEAR_BY_GRADIENTS ? 0 : 4;
        sample s = sample_of(ctx, k, 1);
        for (int e = -4; e <= most; e += 2) {
            problem even = problem_of(&s, pow(10, e), 1, -1);
            problem uneven = problem_of(&s, pow(10, e), 3, -1);
            check_solution(ctx, &even, shapes[k].way);
            check_solution(ctx, &uneven, shapes[k].way);
        }
        free_sample(&s);
    }
}

static void test_real_targets(void **state)
{
    static const double epsilons[] = {0, 0.1, 2};
    kfe_context *ctx = *state;
    double w[3000];
    kfe_i_newton_result result;

    for (int k = 0; k < SHAPES; k++) {
        sample s = sample_of(ctx, k, 0);
        for (int e = 0; e < 3; e++) {
            problem p = problem_of(&s, 0.3, 1, epsilons[e]);
            check_solution(ctx, &p, shapes[k].way);
        }
        problem p = problem_of(&s, 1, 1, 100); /* nothing is lost at w = 0 */
        assert_ok(ctx, solve(ctx, &p, shapes[k].way, 1e-9, w, &result));
        for (int64_t j = 0; j < s.cols; j++)
            assert_true(w[j] == 0);
        assert_true(result.solved && result.objective == 0);
        free_sample(&s);
    }
}

/* Classes that a plane separates: with a large C nearly all rows have no loss. */
static void test_separable_classes(void **state)
{
    kfe_context *ctx = *state;
    sample s = sample_of(ctx, 0, 1);

    for (int64_t i = 0; i < s.rows; i++)
        s.x[i * s.cols] += 50 * s.y[i];
    for (int e = -2; e <= 4; e += 2) {
        problem p = problem_of(&s, pow(10, e), 1, -1);
        check_solution(ctx, &p, KFE_LINEAR_BY_COLUMNS);
    }
    free_sample(&s);
}

/* Dense and sparse rows, and problems of all rows and of some, take different ways to the same minimum. */
static void test_the_learner_agrees_with_itself(void **state)
{
    kfe_context *ctx = *state;
    static const char *const settings[] = {"stop=1e-10", "stop=1e-10,C=30,multiclass=chain",
                                           "stop=1e-10,multiclass=ovo,bias=no",
                                           "stop=1e-10,class-weights=balanced"};
    learn_clouds p = learn_clouds_make(ctx, 4000, 5, 3, 3);
    kfe_i_table sparse = learn_sparse(ctx, 4000, 5, p.x);

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        kfe_i_predictor dense = learn_fit(ctx, "linear-svm", settings[i], &p.table, &p.target);
        kfe_i_predictor other = learn_fit(ctx, "linear-svm", settings[i], &sparse, &p.target);
        assert_below(fabs(dense.records[0].value - other.records[0].value), 1e-9 * other.records[0].value);
        assert_below(dense.records[1].value, 1e-9);
        assert_below(support_distance(5 * dense.outputs, other.weights, dense.weights), 1e-6);
        kfe_i_predictor_free(&dense);
        kfe_i_predictor_free(&other);
    }
    kfe_i_table_free(&sparse);
    learn_clouds_free(&p);
}

/* Several threads give the same numbers to rounding, and the same bits each time. */
static void test_threads(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx, (const int64_t[]){1200, 5000}, 100, 1, 1);
    problem p = problem_of(&s, 1, 1, -1);
    double *w[3];
    kfe_i_newton_result result;

    for (int k = 0; k < 3; k++) {
        kfe_context_set_threads(ctx, k == 0 ? 1 : 3);
        w[k] = calloc((size_t)s.cols, sizeof **w);
        assert_ok(ctx, solve(ctx, &p, KFE_LINEAR_BY_GRADIENTS, 1e-9, w[k], &result));
    }
    assert_memory_equal(w[1], w[2], (size_t)s.cols * sizeof **w);
    assert_below(support_distance(s.cols, w[0], w[1]), 1e-7);
    for (int k = 0; k < 3; k++)
        free(w[k]);
    free_sample(&s);
}

typedef struct patience {
    int64_t asked, most; /* stops at this question */
} patience;

static int is_at_end(void *user)
{
    patience *p = user;
    return ++p->asked >= p->most;
}

/* Stops at each question in turn; the next call works as if nothing had happened. */
static void test_it_can_be_cancelled(void **state)
{
    kfe_context *ctx = *state;
    double w[3000];
    double again[3000];
    kfe_i_newton_result result;

    for (int k = 0; k < SHAPES; k++) {
        sample s = sample_of(ctx, k, 1);
        problem p = problem_of(&s, 1, 1, -1);
        patience all = {0, INT64_MAX};
        kfe_context_on_cancel(ctx, is_at_end, &all);
        assert_ok(ctx, solve(ctx, &p, shapes[k].way, 1e-9, w, &result));
        assert_true(all.asked >= 3);
        for (int64_t most = 1; most <= all.asked; most += 1 + all.asked / 8) {
            patience some = {0, most};
            kfe_context_on_cancel(ctx, is_at_end, &some);
            assert_int_equal(solve(ctx, &p, shapes[k].way, 1e-9, again, &result), KFE_ECANCEL);
            assert_int_equal(some.asked, most);
        }
        kfe_context_on_cancel(ctx, NULL, NULL);
        assert_ok(ctx, solve(ctx, &p, shapes[k].way, 1e-9, again, &result));
        assert_memory_equal(w, again, (size_t)s.cols * sizeof *w);
        free_sample(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_classes_over_decades),
        with_context(test_real_targets),
        with_context(test_separable_classes),
        with_context(test_the_learner_agrees_with_itself),
        with_context(test_threads),
        with_context(test_it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
