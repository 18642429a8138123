/* SPDX-License-Identifier: Apache-2.0 */
/* svm against the optimality conditions and the duality gap, computed here, and its certificates on small
 * cases by hand. */
#include <math.h>
#include <stdio.h>

#include "learn/svm_dual.h"
#include "support/learn.h"
#include "support/tolerance.h"

enum { ROWS = 90, COLS = 4 };

/* ---- optimality conditions, example by example ---- */

/* The coefficient of a training row, which is that of the support example with the same numbers (rows are
 * distinct). */
static double coefficient_of(const kfe_i_predictor *predictor, const double *row)
{
    for (int64_t r = 0; r < predictor->support.rows; r++)
        if (memcmp(predictor->support.values + r * predictor->support.stride, row, COLS * sizeof *row) == 0)
            return predictor->weights[r];
    return 0;
}

static void check_conditions(kfe_context *ctx, const char *params, double c_first, double c_second,
                             double stop)
{
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 26, 2);
    kfe_i_predictor predictor = learn_fit(ctx, "svm", params, &p.table, &p.target);
    double *f = learn_outputs(ctx, &predictor, &p.table);
    double sum = 0;
    int free_vectors = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        double y = p.class_of[i] == 0 ? 1 : -1;
        double c = y > 0 ? c_first : c_second;
        double alpha = y * coefficient_of(&predictor, p.x + i * COLS);
        double margin = y * f[i];
        assert_true(alpha >= 0 && alpha <= c);
        if (alpha < c)
            assert_true(margin >= 1 - stop);
        if (alpha > 0)
            assert_true(margin <= 1 + stop);
        free_vectors += alpha > 0 && alpha < c;
        sum += y * alpha;
    }
    assert_true(free_vectors > 0);
    assert_below(fabs(sum), tolerance_sum(ROWS, ROWS * (c_first + c_second)));
    free(f);
    kfe_i_predictor_free(&predictor);
    learn_clouds_free(&p);
}

static void test_solutions_are_optimal(void **state)
{
    kfe_context *ctx = *state;

    check_conditions(ctx, "learner-kernel=rbf:gamma=1,C=2", 2, 2, 1e-3);
    check_conditions(ctx, "learner-kernel=rbf:gamma=1,C=2,class-weights=c0:3;c1:0.5", 6, 1, 1e-3);
    check_conditions(ctx, "learner-kernel=laplacian:gamma=1,C=2", 2, 2, 1e-3);
    check_conditions(ctx, "learner-kernel=rbf:gamma=1,C=2,class-weights=c0:3", 6, 2, 1e-3);
}

static double record_of(const kfe_i_predictor *predictor, const char *name)
{
    for (int i = 0; i < predictor->record_count; i++)
        if (strcmp(predictor->records[i].name, name) == 0)
            return predictor->records[i].value;
    fail_msg("there is no record %s", name);
    return NAN;
}

/* Computes primal and dual from the predictor's coefficients and outputs. Weak duality bounds the distance to
 * the optimum. */
static void check_duality(kfe_context *ctx, const char *params, double c, double stop)
{
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 26, 2);
    kfe_i_predictor predictor = learn_fit(ctx, "svm", params, &p.table, &p.target);
    double *f = learn_outputs(ctx, &predictor, &p.table);
    double square = 0;
    double total = 0;
    double loss = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        double b = coefficient_of(&predictor, p.x + i * COLS);
        square += b * (f[i] + predictor.offset[0]);
        total += fabs(b);
        loss += c * fmax(0, 1 - (p.class_of[i] == 0 ? f[i] : -f[i]));
    }
    double primal = square / 2 + loss;
    /* a violation v costs at most v·C per example; it is measured on kernels in single precision */
    assert_below(primal - (total - square / 2), 2 * stop * c * ROWS + 1e-9 * primal);
    assert_below(fabs(record_of(&predictor, "objective") - primal), 1e-9 * primal);
    assert_below(fabs(record_of(&predictor, "gap") * primal - (square + loss - total)), 1e-9 * primal);
    free(f);
    kfe_i_predictor_free(&predictor);
    learn_clouds_free(&p);
}

static void test_duality_gap_over_six_decades(void **state)
{
    char params[128];

    for (int e = -3; e <= 3; e++) {
        snprintf(params, sizeof params, "learner-kernel=rbf:gamma=1,stop=1e-5,C=1e%d", e);
        check_duality(*state, params, pow(10, e), 1e-5);
    }
}

/* Problems on a linear kernel end at the optimum whatever the stop, so that a row of weight w is w rows: in three solutions that take
 * different ways there, with the rows in different orders. */
static void check_repeated(kfe_context *ctx, int64_t rows, int classes)
{
    learn_clouds p = learn_clouds_make(ctx, rows, COLS, 27, classes);
    double *weights = calloc((size_t)rows, sizeof *weights);
    double *x = calloc((size_t)(2 * rows * COLS), sizeof *x);
    int *class_of = calloc((size_t)(2 * rows), sizeof *class_of);
    int64_t n = 0;

    assert_true(weights && x && class_of);
    for (int64_t i = rows; i-- > 0;) {
        weights[i] = 1 + (double)(i % 3 == 0);
        for (int64_t copy = 0; copy < (int64_t)weights[i]; copy++, n++) {
            memcpy(x + n * COLS, p.x + i * COLS, COLS * sizeof *x);
            class_of[n] = p.class_of[i];
        }
    }
    kfe_i_table repeated = learn_dense(n, COLS, x);
    kfe_i_target target = learn_classes(ctx, n, class_of);
    kfe_i_target weighted = p.target;
    weighted.weights = weights;
    double *expected = learn_fit_outputs(ctx, "svm", "C=3,stop=1e-10", &repeated, &target, &p.table);
    double *loose = learn_fit_outputs(ctx, "svm", "C=3", &repeated, &target, &p.table);
    double *got = learn_fit_outputs(ctx, "svm", "C=3", &p.table, &weighted, &p.table);
    for (int64_t i = 0; i < rows; i++) {
        assert_below(fabs(loose[i] - expected[i]), 1e-8);
        assert_below(fabs(got[i] - expected[i]), 1e-8);
    }
    free(expected);
    free(loose);
    free(got);
    free(weights);
    free(x);
    free(class_of);
    kfe_i_target_free(&target);
    learn_clouds_free(&p);
}

static void test_a_weight_is_a_repeated_row(void **state)
{
    check_repeated(*state, ROWS, 2);
    check_repeated(*state, 2000, 2); /* of several working sets */
}

/* Two points at ±1: the solution is α = ½ each and w = 1. */
static kfe_i_svm_certificate certify(double c, double positive, double negative, double b, double f0,
                                     double f1)
{
    static const int64_t rows[] = {0, 1};
    static const double sign[] = {1, -1};
    const double coefficients[] = {b, -b};
    const double values[] = {f0, f1};
    kfe_i_binary binary = {
        .count = 2, .rows = rows, .sign = sign, .positive_weight = positive, .negative_weight = negative};
    kfe_i_svm_column column = {coefficients, values, 1, 0, NULL};

    return kfe_i_svm_certify_classes(&binary, c, &column);
}

static kfe_i_svm_certificate certify_real(double b, double f)
{
    static const double targets[] = {1, -1};
    const double coefficients[] = {b, -b};
    const double values[] = {f, -f};
    kfe_i_svm_targets real = {targets, 2, 1, 0.5};
    kfe_i_svm_column column = {coefficients, values, 1, 0, NULL};

    return kfe_i_svm_certify_real(&real, 1, &column);
}

static void test_certificates_by_hand(void **state)
{
    kfe_i_svm_certificate best = certify(1, 1, 1, 0.5, 1, -1);
    (void)state;

    assert_below(fabs(best.violation), 1e-15);
    assert_below(fabs(best.gap), 1e-15);
    assert_below(fabs(best.objective - 0.5), 1e-15);
    assert_true(certify(1, 1, 1, 0, 0, 0).violation == 2);
    assert_true(certify(1, 1, 1, 0, 0, 0).gap == 2); /* both hinges are 1 and the dual value is 0 */
    assert_true(certify(1, 1, 1, 0.25, 3.5, 2.5).violation == 1);
    /* at the bound, outputs may miss the margin */
    assert_true(certify(0.25, 1, 1, 0.25, 0.5, -0.5).violation <= 0);
    assert_below(fabs(certify(0.25, 1, 1, 0.25, 0.5, -0.5).gap), 1e-15);
    assert_true(certify(1, 0.25, 0.25, 0.25, 0.5, -0.5).violation <= 0);
    assert_true(certify(1, 0.25, 1, 0.25, 0.5, -0.5).violation <= 0); /* only one of the pair can move */
    assert_true(certify(1, 1, 1, 0.25, 0.5, -0.5).violation == 1);
    /* real targets with tube ½: w = ½ suffices, with b = ¼ each */
    assert_below(certify_real(0.25, 0.5).violation, 1e-15);
    assert_below(fabs(certify_real(0.25, 0.5).gap), 1e-15);
    assert_true(certify_real(0, 0).violation == 1);
    assert_true(certify_real(0, 0).gap == 1);
}

/* Decision values in double precision cannot show so small a violation. */
static void test_a_violation_is_reported(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, ROWS, COLS, 27, 2);
    kfe_i_predictor predictor;

    support_catch_log(ctx);
    predictor = learn_fit(ctx, "svm", "learner-kernel=rbf:gamma=1,C=100,stop=1e-16", &p.table, &p.target);
    assert_non_null(strstr(support_log(), "a violation of"));
    kfe_i_predictor_free(&predictor);
    predictor = learn_fit(ctx, "svm", "learner-kernel=rbf:gamma=1,C=100", &p.table, &p.target);
    assert_null(strstr(support_log(), "a violation of"));
    kfe_i_predictor_free(&predictor);
    learn_clouds_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_solutions_are_optimal),   with_context(test_duality_gap_over_six_decades),
        with_context(test_certificates_by_hand),    with_context(test_a_weight_is_a_repeated_row),
        with_context(test_a_violation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
