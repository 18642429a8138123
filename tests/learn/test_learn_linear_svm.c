/* SPDX-License-Identifier: Apache-2.0 */
/* linear-svm: the gradient of its objective at the solution, and LIBLINEAR as an oracle. */
#include <stdio.h>

#include "oracles/liblinear.h"
#include "support/learn.h"
#include "support/tolerance.h"

enum { ROWS = 80, COLS = 5, WIDE = COLS + 1, CLASSES = 3 };

typedef struct clouds {
    double *x;
    int *class_of;
    kfe_i_table table, sparse;
    kfe_i_target target;
} clouds;

static clouds make_clouds(kfe_context *ctx, uint64_t seed, int classes)
{
    clouds p;

    support_clouds(seed, ROWS, COLS, classes, 1, &p.x, &p.class_of);
    for (int64_t i = 0; i < ROWS * COLS; i += 4)
        p.x[i] = 0;
    p.table = learn_dense(ROWS, COLS, p.x);
    p.sparse = learn_sparse(ctx, ROWS, COLS, p.x);
    p.target = learn_classes(ctx, ROWS, p.class_of);
    return p;
}

static void free_clouds(clouds *p)
{
    kfe_i_table_free(&p->sparse);
    kfe_i_target_free(&p->target);
    free(p->x);
    free(p->class_of);
}

/* ---- the objective; weights and intercept are in w[WIDE] ---- */

typedef struct objective {
    const double *x;
    double y[ROWS], cost[ROWS];
    double tube; /* below 0: classes */
    int bias;
} objective;

static double residual(const objective *o, const double *w, int64_t i)
{
    double output = o->bias ? w[COLS] : 0;

    for (int64_t j = 0; j < COLS; j++)
        output += w[j] * o->x[i * COLS + j];
    if (o->tube < 0)
        return fmax(0, 1 - o->y[i] * output);
    return fmax(0, fabs(o->y[i] - output) - o->tube);
}

static double value(const objective *o, const double *w)
{
    double sum = 0;

    for (int64_t j = 0; j < COLS + o->bias; j++)
        sum += w[j] * w[j] / 2;
    for (int64_t i = 0; i < ROWS; i++)
        sum += o->cost[i] * residual(o, w, i) * residual(o, w, i);
    return sum;
}

/* The norm of the gradient by central differences, which are exact for the piecewise quadratic objective
 * except at kinks of the second derivative. */
static double gradient_norm(const objective *o, const double *w)
{
    double sum = 0;
    double h = 1e-5;

    for (int64_t j = 0; j < COLS + o->bias; j++) {
        double moved[WIDE];
        memcpy(moved, w, sizeof moved);
        moved[j] = w[j] + h;
        double above = value(o, moved);
        moved[j] = w[j] - h;
        double slope = (above - value(o, moved)) / (2 * h);
        sum += slope * slope;
    }
    return sqrt(sum);
}

static void take_column(const kfe_i_predictor *predictor, int64_t output, double *w)
{
    for (int64_t j = 0; j < COLS; j++)
        w[j] = predictor->weights[j * predictor->outputs + output];
    w[COLS] = -predictor->offset[output];
}

static void check_minimum(const objective *o, const kfe_i_predictor *predictor, int64_t output, double stop)
{
    double w[WIDE];
    double zero[WIDE] = {0};

    take_column(predictor, output, w);
    assert_below(gradient_norm(o, w), stop * gradient_norm(o, zero) + 1e-6);
    if (!o->bias)
        assert_true(predictor->offset[output] == 0);
}

/* ---- classes ---- */

static objective class_objective(const clouds *p, int positive, double c_positive, double c_rest, int bias)
{
    objective o = {.x = p->x, .tube = -1, .bias = bias};

    for (int64_t i = 0; i < ROWS; i++) {
        o.y[i] = p->class_of[i] == positive ? 1 : -1;
        o.cost[i] = o.y[i] > 0 ? c_positive : c_rest;
    }
    return o;
}

static void test_two_classes_are_at_the_minimum(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 40, 2);

    for (int way = 0; way < 4; way++) {
        int bias = way & 1;
        const kfe_i_table *table = way & 2 ? &p.sparse : &p.table;
        const char *params = bias ? "C=0.7,stop=1e-5" : "C=0.7,stop=1e-5,bias=no";
        objective o = class_objective(&p, 0, 0.7, 0.7, bias);
        kfe_i_predictor predictor = learn_fit(ctx, "linear-svm", params, table, &p.target);
        assert_int_equal(predictor.outputs, 1);
        check_minimum(&o, &predictor, 0, 1e-5);
        kfe_i_predictor_free(&predictor);
    }
    free_clouds(&p);
}

/* The objective f is strongly convex with constant 1, so f(w) − min f ≤ ½‖∇f(w)‖². */
static void test_distance_to_the_minimum_over_six_decades(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 40, 2);

    for (int e = -3; e <= 3; e++) {
        char params[64];
        double w[WIDE];
        objective o = class_objective(&p, 0, pow(10, e), pow(10, e), 1);
        snprintf(params, sizeof params, "C=1e%d,stop=1e-6", e);
        kfe_i_predictor predictor = learn_fit(ctx, "linear-svm", params, &p.table, &p.target);
        take_column(&predictor, 0, w);
        assert_below(pow(gradient_norm(&o, w), 2) / 2, 1e-4 * value(&o, w));
        assert_string_equal(predictor.records[0].name, "objective");
        assert_below(fabs(predictor.records[0].value - value(&o, w)), 1e-12 * value(&o, w));
        assert_string_equal(predictor.records[1].name, "gradient");
        assert_below(predictor.records[1].value, 1e-5);
        kfe_i_predictor_free(&predictor);
    }
    free_clouds(&p);
}

static void test_each_class_against_the_rest(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 41, CLASSES);
    kfe_i_predictor predictor = learn_fit(ctx, "linear-svm", "stop=1e-5", &p.table, &p.target);
    double *out = learn_outputs(ctx, &predictor, &p.table);
    int64_t right = 0;

    assert_int_equal(predictor.decision, KFE_DECIDE_LARGEST);
    for (int g = 0; g < CLASSES; g++) {
        objective o = class_objective(&p, g, 1, 1, 1);
        check_minimum(&o, &predictor, g, 1e-5);
    }
    for (int64_t i = 0; i < ROWS; i++)
        right += kfe_i_predictor_decide(&predictor, out + i * CLASSES) == p.class_of[i];
    assert_true(right > ROWS / 2);
    free(out);
    kfe_i_predictor_free(&predictor);
    free_clouds(&p);
}

/* Class 0 has weight 3; the other classes together have the mean weight of their examples. */
static void test_class_weights(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 42, CLASSES);
    const char *params = "C=0.5,stop=1e-5,class-weights=c0:3;c2:0.25";
    support_catch_log(ctx);
    kfe_i_predictor predictor = learn_fit(ctx, "linear-svm", params, &p.table, &p.target);
    double count[CLASSES] = {0};

    assert_string_equal(support_log(), "");
    for (int64_t i = 0; i < ROWS; i++)
        count[p.class_of[i]]++;
    double rest = (count[1] + 0.25 * count[2]) / (count[1] + count[2]);
    objective o = class_objective(&p, 0, 0.5 * 3, 0.5 * rest, 1);
    check_minimum(&o, &predictor, 0, 1e-5);
    kfe_i_predictor_free(&predictor);
    free_clouds(&p);
}

/* ---- LIBLINEAR's dual solver reaches the same objective ---- */

static void solve_dual(const objective *o, double *w)
{
    double x[ROWS * WIDE];

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < WIDE; j++)
            x[i * WIDE + j] = j < COLS ? o->x[i * COLS + j] : 1;
    oracle_liblinear(&(oracle_linear_svm){ROWS, WIDE, x, o->y, o->cost[0], o->tube, 1, 1e-6, 1}, w);
}

static void check_dual(const objective *o, const kfe_i_predictor *predictor)
{
    double primal[WIDE];
    double dual[WIDE];

    take_column(predictor, 0, primal);
    solve_dual(o, dual);
    assert_below(fabs(value(o, primal) - value(o, dual)) / value(o, dual), 1e-3);
    assert_below(support_distance(WIDE, dual, primal), 2e-2);
}

static void test_objective_equals_that_of_the_dual(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 43, 2);
    objective o = class_objective(&p, 0, 2, 2, 1);
    kfe_i_predictor predictor = learn_fit(ctx, "linear-svm", "C=2", &p.table, &p.target);

    check_dual(&o, &predictor);
    kfe_i_predictor_free(&predictor);
    free_clouds(&p);
}

/* ---- real targets ---- */

static void test_regression(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 44, 2);
    double *y = support_normals(45, ROWS * 2);
    kfe_i_target target;

    assert_ok(ctx, kfe_i_target_from_values(ctx, ROWS, 2, y, &target));
    support_catch_log(ctx);
    kfe_i_predictor predictor =
        learn_fit(ctx, "linear-svm", "C=0.3,epsilon=0.2,stop=1e-5", &p.sparse, &target);
    /* the gradient, computed independently, is small, so nothing was logged */
    assert_string_equal(support_log(), "");
    assert_int_equal(predictor.decision, KFE_DECIDE_VALUE);
    assert_int_equal(predictor.outputs, 2);
    for (int column = 0; column < 2; column++) {
        objective o = {.x = p.x, .tube = 0.2, .bias = 1};
        for (int64_t i = 0; i < ROWS; i++) {
            o.y[i] = y[2 * i + column];
            o.cost[i] = 0.3;
        }
        check_minimum(&o, &predictor, column, 1e-5);
        if (column == 0)
            check_dual(&o, &predictor);
    }
    kfe_i_predictor_free(&predictor);
    assert_fails(ctx, KFE_EINVAL, "for classes",
                 learn_try(ctx, "linear-svm", "class-weights=balanced", &p.table, &target, &predictor));
    kfe_i_target_free(&target);
    free_clouds(&p);
    free(y);
}

/* ---- weights of examples ---- */

/* A row of weight 3 is the row three times, in a table whose copies take another way (several rows, one column after the other). */
static void test_weights_are_repetitions(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 48, CLASSES);
    double *x = calloc((size_t)(3 * ROWS * COLS), sizeof *x);
    int class_of[3 * ROWS];
    double weights[ROWS];
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        weights[i] = (double)(1 + i % 3);
        for (int64_t copy = 0; copy < 1 + i % 3; copy++) {
            memcpy(x + count * COLS, p.x + i * COLS, COLS * sizeof *x);
            class_of[count++] = p.class_of[i];
        }
    }
    kfe_i_table table = learn_dense(count, COLS, x);
    kfe_i_target target = learn_classes(ctx, count, class_of);
    for (int way = 0; way < 2; way++) {
        kfe_i_predictor repeated = learn_fit(ctx, "linear-svm", "C=0.5,stop=1e-8", &table, &target);
        p.target.weights = weights;
        kfe_i_predictor weighted =
            learn_fit(ctx, "linear-svm", "C=0.5,stop=1e-8", way ? &p.sparse : &p.table, &p.target);
        p.target.weights = NULL;
        assert_below(support_distance(COLS * CLASSES, repeated.weights, weighted.weights), 1e-6);
        assert_below(support_distance(CLASSES, repeated.offset, weighted.offset), 1e-6);
        kfe_i_predictor_free(&repeated);
        kfe_i_predictor_free(&weighted);
    }
    kfe_i_target_free(&target);
    free(x);
    free_clouds(&p);
}

/* ---- other multiclass schemes ---- */

static void test_chain_and_pairs(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 46, CLASSES);
    kfe_i_predictor chain = learn_fit(ctx, "linear-svm", "multiclass=chain,stop=1e-5", &p.table, &p.target);
    kfe_i_predictor pairs = learn_fit(ctx, "linear-svm", "multiclass=ovo,stop=1e-5", &p.table, &p.target);
    objective first = class_objective(&p, 0, 1, 1, 1);
    objective last = class_objective(&p, 1, 1, 1, 1);

    assert_int_equal(chain.decision, KFE_DECIDE_CHAIN);
    assert_int_equal(chain.outputs, 2);
    assert_int_equal(pairs.decision, KFE_DECIDE_PAIRS);
    check_minimum(&first, &chain, 0, 1e-5);
    for (int64_t i = 0; i < ROWS; i++) /* class 1 against class 2, without class 0 */
        last.cost[i] = p.class_of[i] == 0 ? 0 : 1;
    check_minimum(&last, &chain, 1, 1e-5);
    check_minimum(&last, &pairs, 2, 1e-5);
    kfe_i_predictor_free(&chain);
    kfe_i_predictor_free(&pairs);
    free_clouds(&p);
}

/* Columns of such different sizes that the solver cannot reach its tolerance. */
static void test_a_large_gradient_is_reported(void **state)
{
    kfe_context *ctx = *state;
    clouds p = make_clouds(ctx, 47, 2);
    kfe_i_predictor predictor;

    support_catch_log(ctx);
    predictor = learn_fit(ctx, "linear-svm", NULL, &p.table, &p.target);
    assert_string_equal(support_log(), "");
    kfe_i_predictor_free(&predictor);
    predictor = learn_fit(ctx, "linear-svm", "C=1e12,stop=1e-300", &p.table, &p.target);
    assert_non_null(strstr(support_log(), "gradient"));
    kfe_i_predictor_free(&predictor);
    free_clouds(&p);
}

/* Nothing would be left of the norm. */
static void test_large_numbers_are_refused(void **state)
{
    kfe_context *ctx = *state;
    double x[] = {1, 1e18, -1, 2, 1e18, 1e18, 3, 0.5};
    const double y[] = {1.5, 0, 0, 0};
    kfe_i_table table = learn_dense(4, 2, x);
    kfe_i_target target;
    kfe_i_predictor predictor;

    assert_ok(ctx, kfe_i_target_from_values(ctx, 4, 1, y, &target));
    assert_fails(ctx, KFE_EINPUT, "too large",
                 learn_try(ctx, "linear-svm", NULL, &table, &target, &predictor));
    for (int i = 0; i < 8; i++)
        x[i] = fmin(x[i], 1e12);
    predictor = learn_fit(ctx, "linear-svm", NULL, &table, &target);
    kfe_i_predictor_free(&predictor);
    assert_fails(ctx, KFE_EINPUT, "smaller C",
                 learn_try(ctx, "linear-svm", "C=1e10", &table, &target, &predictor));
    kfe_i_target_free(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_two_classes_are_at_the_minimum),
        with_context(test_distance_to_the_minimum_over_six_decades),
        with_context(test_each_class_against_the_rest),
        with_context(test_class_weights),
        with_context(test_objective_equals_that_of_the_dual),
        with_context(test_regression),
        with_context(test_weights_are_repetitions),
        with_context(test_chain_and_pairs),
        with_context(test_a_large_gradient_is_reported),
        with_context(test_large_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
