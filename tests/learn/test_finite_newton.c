/* SPDX-License-Identifier: Apache-2.0 */
/* The finite Newton method for linear SVMs: gradients by hand, LIBLINEAR's solution of the same problem, and the learner that uses it. */
#include <linear.h>
#include <math.h>

#include "learn/finite_newton.h"
#include "support/learn.h"
#include "support/tolerance.h"

enum { ROWS = 1300, COLS = 7 };

typedef struct sample {
    double *columns; /* COLS × ROWS; the last column is 1 */
    double y[ROWS];
} sample;

/* Clouds that overlap, one column with larger numbers than the others, and some rows twice. */
static sample make_sample(uint64_t seed, int classes)
{
    sample s = {support_normals(seed, ROWS * COLS), {0}};
    double *noise = support_normals(seed + 1, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        s.columns[2 * ROWS + i] *= 30;
        s.columns[(COLS - 1) * ROWS + i] = 1;
        for (int64_t j = 0; i % 10 == 9 && j < COLS; j++)
            s.columns[j * ROWS + i] = s.columns[j * ROWS + i - 1];
        double value = s.columns[i] - 0.02 * s.columns[2 * ROWS + i] + noise[i] + 0.3;
        s.y[i] = classes ? (value > 0 ? 1 : -1) : value;
    }
    free(noise);
    return s;
}

static kfe_i_newton_problem problem_of(const sample *s, double positive, double negative, double epsilon)
{
    return (kfe_i_newton_problem){ROWS, COLS, s->columns, s->y, {positive, negative}, epsilon};
}

static double output_of(const kfe_i_newton_problem *p, const double *w, int64_t i)
{
    double sum = 0;

    for (int64_t j = 0; j < COLS; j++)
        sum += w[j] * p->columns[j * ROWS + i];
    return sum;
}

/* The loss of a row and its derivative by the output. */
static double loss_of(const kfe_i_newton_problem *p, double y, double output, double *slope)
{
    double cost = p->cost[y < 0];
    double error = p->epsilon < 0 ? fmax(0, 1 - y * output) : fmax(0, fabs(y - output) - p->epsilon);

    *slope = 2 * cost * error * (p->epsilon < 0 ? -y : output > y ? 1 : -1);
    return cost * error * error;
}

static double objective_of(const kfe_i_newton_problem *p, const double *w, double *gradient)
{
    double sum = 0;
    double g[COLS];

    for (int j = 0; j < COLS; j++) {
        g[j] = w[j];
        sum += w[j] * w[j] / 2;
    }
    for (int64_t i = 0; i < ROWS; i++) {
        double slope;
        sum += loss_of(p, p->y[i], output_of(p, w, i), &slope);
        for (int j = 0; j < COLS; j++)
            g[j] += slope * p->columns[j * ROWS + i];
    }
    *gradient = 0;
    for (int j = 0; j < COLS; j++)
        *gradient = hypot(*gradient, g[j]);
    return sum;
}

static void quiet(const char *text)
{
    (void)text;
}

/* LIBLINEAR's primal solver on the same problem. */
static void solve_by_liblinear(const kfe_i_newton_problem *p, double *w)
{
    struct feature_node *nodes = calloc(ROWS * (COLS + 1), sizeof *nodes);
    struct feature_node **rows = calloc(ROWS, sizeof *rows);
    int labels[2] = {1, -1};
    double weights[2] = {1, p->cost[1] / p->cost[0]};
    struct problem problem = {.l = ROWS, .n = COLS, .y = (double *)p->y, .x = rows, .bias = -1};
    struct parameter parameter = {.solver_type = p->epsilon < 0 ? L2R_L2LOSS_SVC : L2R_L2LOSS_SVR,
                                  .eps = 1e-10,
                                  .C = p->cost[0],
                                  .nr_weight = p->epsilon < 0 ? 2 : 0,
                                  .weight_label = labels,
                                  .weight = weights,
                                  .p = fmax(p->epsilon, 0)};

    for (int64_t i = 0; i < ROWS; i++) {
        rows[i] = nodes + i * (COLS + 1);
        for (int j = 0; j < COLS; j++)
            rows[i][j] = (struct feature_node){j + 1, p->columns[j * ROWS + i]};
        rows[i][COLS].index = -1;
    }
    set_print_string_function(quiet);
    struct model *model = train(&problem, &parameter);
    double sign = p->epsilon < 0 && model->label[0] < 0 ? -1 : 1;
    for (int j = 0; j < COLS; j++)
        w[j] = sign * model->w[j];
    free_and_destroy_model(&model);
    free(nodes);
    free(rows);
}

static void check_solution(kfe_context *ctx, const kfe_i_newton_problem *p)
{
    static const double zero[COLS];
    double w[COLS];
    double theirs[COLS];
    double start;
    double end;
    kfe_i_newton_result result;

    assert_ok(ctx, kfe_i_newton_solve(ctx, p, w, &result));
    objective_of(p, zero, &start);
    double reached = objective_of(p, w, &end);
    assert_true(result.solved);
    assert_below(end, 1e-10 * start);
    assert_below(fabs(result.start - start), 1e-12 * start);
    assert_below(fabs(result.objective - reached), 1e-12 * reached);
    assert_below(result.gradient, 1e-10 * start);
    solve_by_liblinear(p, theirs);
    double apart = 0;
    double excess;
    for (int j = 0; j < COLS; j++)
        apart = hypot(apart, theirs[j] - w[j]);
    assert_below(reached, objective_of(p, theirs, &excess) * (1 + 1e-12));
    assert_below(excess, 1e-5 * start);
    /* the objective is strongly convex with constant 1, so points are at most as far apart as their gradients */
    assert_below(apart, end + excess);
}

static void test_classes_over_eight_decades(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(1, 1);

    for (int e = -4; e <= 4; e++) {
        kfe_i_newton_problem even = problem_of(&s, pow(10, e), pow(10, e), -1);
        kfe_i_newton_problem uneven = problem_of(&s, pow(10, e), 3 * pow(10, e), -1);
        check_solution(ctx, &even);
        check_solution(ctx, &uneven);
    }
    free(s.columns);
}

static void test_real_targets(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(7, 0);
    static const double epsilons[] = {0, 0.1, 2, 100};

    for (int e = 0; e < 3; e++) {
        kfe_i_newton_problem p = problem_of(&s, 0.3, 0.3, epsilons[e]);
        check_solution(ctx, &p);
    }
    kfe_i_newton_problem p = problem_of(&s, 1, 1, epsilons[3]); /* nothing is lost at w = 0 */
    kfe_i_newton_result result;
    double w[COLS];
    assert_ok(ctx, kfe_i_newton_solve(ctx, &p, w, &result));
    for (int j = 0; j < COLS; j++)
        assert_true(w[j] == 0);
    assert_true(result.solved && result.objective == 0);
    free(s.columns);
}

/* Classes that a plane separates: with a large C nearly all rows have no loss. */
static void test_separable_classes(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(9, 1);

    for (int64_t i = 0; i < ROWS; i++)
        s.columns[i] += 50 * s.y[i];
    for (int e = -2; e <= 4; e += 2) {
        kfe_i_newton_problem p = problem_of(&s, pow(10, e), pow(10, e), -1);
        check_solution(ctx, &p);
    }
    free(s.columns);
}

/* The learner gives many dense rows to this solver and sparse ones to LIBLINEAR; both find the same minimum. */
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

static int stop_now(void *user)
{
    (void)user;
    return 1;
}

static void test_it_can_be_cancelled(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(11, 1);
    kfe_i_newton_problem p = problem_of(&s, 1, 1, -1);
    kfe_i_newton_result result;
    double w[COLS];

    kfe_context_on_cancel(ctx, stop_now, NULL);
    assert_int_equal(kfe_i_newton_solve(ctx, &p, w, &result), KFE_ECANCEL);
    free(s.columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_classes_over_eight_decades), with_context(test_real_targets),
        with_context(test_separable_classes),          with_context(test_the_learner_agrees_with_itself),
        with_context(test_it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
