/* SPDX-License-Identifier: Apache-2.0 */
/* Linear, kernel and sparse partial least squares, and continuum regression: against deflation as in the
 * paper, against each other, and against the criteria that they maximise. */
#include <stdio.h>

#include "model/model.h"
#include "support/deflation.h"

#include <math.h>

#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = DEFLATION_ROWS, TEST_ROWS = DEFLATION_TEST_ROWS, COLS = 5, DIM = 4 };

/* Added to rounding by iterations: each one solves a small eigenproblem and divides by decreasing norms. */
#define TOLERANCE_ITERATIONS 1e-9

static double *copy_of(int64_t count, const double *a)
{
    double *copy = malloc((size_t)count * sizeof *copy);

    memcpy(copy, a, (size_t)count * sizeof *copy);
    return copy;
}

static void take_column(int64_t n, int64_t k, int64_t j, const double *column, double *matrix)
{
    for (int64_t i = 0; i < n; i++)
        matrix[i * k + j] = column[i];
}

/* ---- algorithm 1 ---- */

typedef struct explicit_pls {
    double features[ROWS * DIM], directions[COLS * DIM], loadings[COLS * DIM];
} explicit_pls;

/* X_j is formed, u_j is the first left singular vector of X_jᵀY, τ_j = X_ju_j, p_j = X_jᵀτ_j/τ_jᵀτ_j. */
static void run_algorithm_1(const deflation_problem *p, explicit_pls *out)
{
    double *x = copy_of(ROWS * COLS, p->x);

    free(support_centre_columns(ROWS, COLS, x));
    for (int64_t j = 0; j < DIM; j++) {
        double u[COLS];
        double *xt = support_transpose(ROWS, COLS, x);
        double *c = support_product(COLS, ROWS, p->targets, xt, p->y);
        double *ct = support_transpose(COLS, p->targets, c);
        double *cct = support_product(COLS, p->targets, COLS, c, ct);
        deflation_leading(COLS, cct, u);
        double *tau = support_product(ROWS, COLS, 1, x, u);
        double *loading = support_product(COLS, ROWS, 1, xt, tau);
        double square = 0;
        for (int64_t i = 0; i < ROWS; i++)
            square += tau[i] * tau[i];
        for (int64_t l = 0; l < COLS; l++)
            loading[l] /= square;
        take_column(ROWS, DIM, j, tau, out->features);
        take_column(COLS, DIM, j, u, out->directions);
        take_column(COLS, DIM, j, loading, out->loadings);
        deflation_remove(ROWS, COLS, tau, x);
        free(xt);
        free(c);
        free(ct);
        free(cct);
        free(tau);
        free(loading);
    }
    free(x);
}

/* φ(x)ᵀU(PᵀU)⁻¹ for the test points, centred by the means of the training points. */
static double *project_by_formula(const deflation_problem *p, const explicit_pls *e)
{
    double *turned = support_transpose(COLS, DIM, e->loadings);
    double *pu = support_product(DIM, COLS, DIM, turned, e->directions);
    double *identity = calloc(DIM * DIM, sizeof *identity);
    double *x = copy_of(ROWS * COLS, p->x);
    double *means = support_centre_columns(ROWS, COLS, x);
    double *test = copy_of(TEST_ROWS * COLS, p->test);

    for (int64_t i = 0; i < DIM; i++) {
        identity[i * DIM + i] = 1;
        assert_below(fabs(pu[i * DIM + i] - 1), TOLERANCE_ITERATIONS);
        for (int64_t j = 0; j < i; j++)
            assert_below(fabs(pu[i * DIM + j]), TOLERANCE_ITERATIONS);
    }
    for (int64_t i = 0; i < TEST_ROWS * COLS; i++)
        test[i] -= means[i % COLS];
    double *inverse = support_solve(DIM, DIM, pu, identity);
    double *w = support_product(COLS, DIM, DIM, e->directions, inverse);
    double *features = support_product(TEST_ROWS, COLS, DIM, test, w);
    free(turned);
    free(pu);
    free(identity);
    free(x);
    free(means);
    free(test);
    free(inverse);
    free(w);
    return features;
}

static void test_pls_is_algorithm_1(void **state)
{
    kfe_context *ctx = *state;

    for (int64_t targets = 1; targets <= 3; targets += 2) {
        deflation_problem p = deflation_make(ctx, 3, COLS, targets);
        explicit_pls e;
        run_algorithm_1(&p, &e);
        double *projected = project_by_formula(&p, &e);
        kfe_matrix train = support_features(ctx, "pls", "dim=4", NULL, p.data, p.data);
        kfe_matrix test = support_features(ctx, "pls", "dim=4", NULL, p.data, p.test_data);
        assert_int_equal(train.cols, DIM);
        assert_below(support_distance_up_to_sign(ROWS, DIM, e.features, train.values), TOLERANCE_ITERATIONS);
        assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, projected, test.values),
                     TOLERANCE_ITERATIONS);
        free(projected);
        kfe_matrix_free(&train);
        kfe_matrix_free(&test);
        deflation_free(&p);
    }
}

/* ---- algorithm 2 ---- */

typedef struct explicit_kpls {
    double features[ROWS * DIM], duals[ROWS * DIM];
    double *kernel; /* centred */
} explicit_kpls;

/* β_j is the first eigenvector of Y_jY_jᵀK_j with β_jᵀK_jβ_j = 1. K_j and Y_j are formed; K_j is deflated on
 * one or both sides. */
static void run_algorithm_2(const deflation_problem *p, int two_sided, explicit_kpls *out)
{
    int64_t t = p->targets;
    double *y = copy_of(ROWS * t, p->centred);

    out->kernel = support_rbf(ROWS, p->x, ROWS, p->x, COLS, 0.3);
    support_centre_kernel(ROWS, out->kernel);
    double *k = copy_of(ROWS * ROWS, out->kernel);
    for (int64_t j = 0; j < DIM; j++) {
        double c[8];
        double *yt = support_transpose(ROWS, t, y);
        double *ky = support_product(ROWS, ROWS, t, k, y);
        double *yky = support_product(t, ROWS, t, yt, ky);
        double scale = 1 / sqrt(deflation_leading(t, yky, c));
        double *beta = support_product(ROWS, t, 1, y, c);
        for (int64_t i = 0; i < ROWS; i++)
            beta[i] *= scale;
        double *tau = support_product(ROWS, ROWS, 1, k, beta);
        take_column(ROWS, DIM, j, tau, out->features);
        take_column(ROWS, DIM, j, beta, out->duals);
        deflation_remove(ROWS, ROWS, tau, k);
        if (two_sided) {
            double *turned = support_transpose(ROWS, ROWS, k);
            deflation_remove(ROWS, ROWS, tau, turned);
            free(k);
            k = turned;
        }
        deflation_remove(ROWS, t, tau, y);
        free(yt);
        free(ky);
        free(yky);
        free(beta);
        free(tau);
    }
    free(y);
    free(k);
}

static void test_kpls_is_algorithm_2(void **state)
{
    kfe_context *ctx = *state;

    for (int64_t targets = 1; targets <= 3; targets += 2)
        for (int two_sided = 0; two_sided < 2; two_sided++) {
            deflation_problem p = deflation_make(ctx, 5, COLS, targets);
            explicit_kpls e;
            run_algorithm_2(&p, two_sided, &e);
            kfe_matrix train = support_features(ctx, "kpls", "dim=4", "rbf:gamma=0.3", p.data, p.data);
            assert_int_equal(train.cols, DIM);
            assert_below(support_distance_up_to_sign(ROWS, DIM, e.features, train.values),
                         TOLERANCE_ITERATIONS);
            free(e.kernel);
            kfe_matrix_free(&train);
            deflation_free(&p);
        }
}

/* Predictions by the recorded coefficients on the features equal those of α = B(TᵀKB)⁻¹TᵀY. */
static void test_regression_is_the_dual_formula(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 6, COLS, 2);
    explicit_kpls e;
    int64_t count = 0;

    run_algorithm_2(&p, 0, &e);
    double *tt = support_transpose(ROWS, DIM, e.features);
    double *kb = support_product(ROWS, ROWS, DIM, e.kernel, e.duals);
    double *tkb = support_product(DIM, ROWS, DIM, tt, kb);
    double *ty = support_product(DIM, ROWS, 2, tt, p.centred);
    double *inner = support_solve(DIM, 2, tkb, ty);
    double *alpha = support_product(ROWS, DIM, 2, e.duals, inner);
    double *expected = support_product(ROWS, ROWS, 2, e.kernel, alpha);

    kfe_model *model = support_fit(ctx, "kpls", "dim=4", "rbf:gamma=0.3", p.data);
    kfe_matrix f = support_transform(ctx, model, p.data);
    const double *c = kfe_model_record(model, "regression", &count);
    assert_int_equal(count, 2 * DIM);
    double *ct = support_transpose(2, DIM, c);
    double *got = support_product(ROWS, DIM, 2, f.values, ct);
    assert_below(support_distance(ROWS * 2, expected, got), TOLERANCE_ITERATIONS);
    free(tt);
    free(kb);
    free(tkb);
    free(ty);
    free(inner);
    free(alpha);
    free(expected);
    free(ct);
    free(got);
    free(e.kernel);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    deflation_free(&p);
}

/* ---- properties of all methods ---- */

static const char *const all_methods[][3] = {
    {"pls", "dim=4", NULL},
    {"kpls", "dim=4", "rbf:gamma=0.3"},
    {"blf", "dim=4", NULL},
    {"kblf", "dim=4", "rbf:gamma=0.3"},
    {"cr", "dim=4,alpha=0.8", NULL},
    {"cr", "dim=4,alpha=0.3", NULL},
    {"skpls", "dim=4", "rbf:gamma=0.3"},
    {"skpls", "dim=4,rule=mi,cache=12", "rbf:gamma=0.3"},
    {"skblf", "dim=4", "rbf:gamma=0.3"},
    {"skblf", "dim=4,rule=mi,loss=lad,center=yes", "rbf:gamma=0.3"},
};
enum { ALL_METHODS = sizeof all_methods / sizeof *all_methods };

/* Checks that features are orthogonal and that the records D(S) and B(S) agree with eqs. (11) and (12). */
static void check_features(kfe_context *ctx, const char *const method[3])
{
    deflation_problem p = deflation_make(ctx, 8, COLS, 2);
    kfe_model *model = support_fit(ctx, method[0], method[1], method[2], p.data);
    kfe_matrix f = support_transform(ctx, model, p.data);
    int64_t count = 0;
    const double *alignment = kfe_model_record(model, "alignment", &count);
    const double *covariance = kfe_model_record(model, "covariance", &count);
    double *ft = support_transpose(ROWS, f.cols, f.values);
    double *inner = support_product(f.cols, ROWS, f.cols, ft, f.values);
    double *fy = support_product(f.cols, ROWS, 2, ft, p.centred);
    double total = 0;
    double d = 0;
    double b = 0;

    assert_int_equal(count, f.cols);
    for (int64_t i = 0; i < 2 * ROWS; i++)
        total += p.centred[i] * p.centred[i];
    for (int64_t j = 0; j < f.cols; j++) {
        double square = fy[2 * j] * fy[2 * j] + fy[2 * j + 1] * fy[2 * j + 1];
        for (int64_t i = 0; i < j; i++)
            assert_below(fabs(inner[i * f.cols + j]),
                         TOLERANCE_ITERATIONS * sqrt(inner[i * f.cols + i] * inner[j * f.cols + j]));
        d += square / (total * inner[j * f.cols + j]);
        b += square / ((double)ROWS * ROWS);
        assert_below(fabs(alignment[j] - d), TOLERANCE_ITERATIONS);
        assert_below(fabs(covariance[j] - b), TOLERANCE_ITERATIONS * b);
    }
    free(ft);
    free(inner);
    free(fy);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    deflation_free(&p);
}

static void test_features_are_orthogonal(void **state)
{
    for (int m = 0; m < ALL_METHODS; m++)
        check_features(*state, all_methods[m]);
}

static void test_alignment_approaches_one(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 9, COLS, 2);
    kfe_model *model = support_fit(ctx, "kpls", "dim=30", "rbf:gamma=5", p.data);
    int64_t count = 0;
    const double *alignment = kfe_model_record(model, "alignment", &count);

    for (int64_t j = 1; j < count; j++)
        assert_true(alignment[j] >= alignment[j - 1]);
    assert_below(fabs(alignment[count - 1] - 1), 1e-6);
    kfe_model_free(model);
    deflation_free(&p);
}

static void test_linear_kpls_is_pls(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 10, COLS, 3);

    for (int centred = 0; centred < 2; centred++) {
        const char *params = centred ? "dim=4" : "dim=4,center=no";
        kfe_matrix a = support_features(ctx, "pls", params, NULL, p.data, p.test_data);
        kfe_matrix b = support_features(ctx, "kpls", params, "linear", p.data, p.test_data);
        assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, a.values, b.values), TOLERANCE_ITERATIONS);
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
    }
    deflation_free(&p);
}

static void test_many_threads_and_panels(void **state)
{
    enum { MANY = 1500 };
    kfe_context *ctx = *state;
    double *x = support_normals(3, MANY * 7);
    double *y = support_normals(4, MANY * 2);
    kfe_data *data = NULL;

    for (int64_t i = 0; i < MANY; i++)
        y[2 * i] += x[7 * i] - x[7 * i + 3];
    assert_ok(ctx, kfe_data_wrap_dense(ctx, MANY, 7, 7, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 2, y));
    assert_ok(ctx, kfe_context_set_threads(ctx, 3));
    kfe_matrix primal = support_features(ctx, "pls", "dim=3", NULL, data, data);
    kfe_matrix dual = support_features(ctx, "kpls", "dim=3", "linear", data, data);
    assert_below(support_distance_up_to_sign(MANY, 3, primal.values, dual.values), TOLERANCE_ITERATIONS);
    kfe_matrix_free(&primal);
    kfe_matrix_free(&dual);
    kfe_data_free(data);
    free(x);
    free(y);
}

/* ---- edge cases ---- */

static void assert_fit_fails(kfe_context *ctx, kfe_status expected, const char *text,
                             const char *const method[3], const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method[0], method[1], method[2], &spec));
    assert_fails(ctx, expected, text, kfe_fit(ctx, spec, data, &model));
    assert_null(model);
    kfe_spec_free(spec);
}

/* Many examples are added up if they are dense; few are not, and sparse ones never are. All must find the same, also where columns depend
 * on each other or lie far from zero. */
static void check_sums(kfe_context *ctx, int64_t rows, double same, double away, double tolerance,
                       const char *says)
{
    enum { WIDE = 6 };
    static const char *const names[] = {"covariance", "alignment"};
    double *x = NULL;
    int *class_of = NULL;
    support_csr arrays = {0};

    support_clouds(21, rows, WIDE, 3, 1, &x, &class_of);
    for (int64_t i = 0; i < rows; i++) {
        x[i * WIDE + 1] = same * x[i * WIDE] + (1 - same) * x[i * WIDE + 1];
        x[i * WIDE + 2] += away;
    }
    kfe_data *dense = support_dense(ctx, rows, WIDE, x, class_of);
    kfe_data *sparse = support_sparse(ctx, rows, WIDE, x, class_of, &arrays);
    char params[32];
    snprintf(params, sizeof params, "scale=none,dim=%d", DIM);
    support_catch_log(ctx);
    kfe_model *a = support_fit(ctx, "pls", params, NULL, dense);
    assert_non_null(strstr(support_log(), says));
    kfe_model *b = support_fit(ctx, "pls", params, NULL, sparse);
    assert_null(strstr(support_log(), "pls: "));
    kfe_matrix za = support_transform(ctx, a, dense);
    kfe_matrix zb = support_transform(ctx, b, dense);
    assert_int_equal(za.cols, zb.cols);
    assert_below(support_distance_up_to_sign(rows, za.cols, za.values, zb.values), tolerance);
    for (int r = 0; r < 2; r++) { /* the regression has the signs of the features */
        int64_t count = 0;
        const double *of_a = kfe_model_record(a, names[r], &count);
        assert_below(support_distance(count, of_a, kfe_model_record(b, names[r], &count)), tolerance);
    }
    kfe_matrix_free(&za);
    kfe_matrix_free(&zb);
    kfe_model_free(a);
    kfe_model_free(b);
    kfe_data_free(dense);
    kfe_data_free(sparse);
    support_csr_free(&arrays);
    free(x);
    free(class_of);
}

enum { MANY_ROWS = 2600, MORE_ROWS = 24000 };

static void test_examples_that_are_read(void **state)
{
    check_sums(*state, MANY_ROWS, 0, 0, 1e-11, "");
    check_sums(*state, MANY_ROWS, 0, 1e3, 1e-9, "");
    check_sums(*state, MANY_ROWS, 1 - 1e-3, 0, 1e-7, "");
    check_sums(*state, MANY_ROWS, 1 - 1e-7, 0, 1e-7, "");
    check_sums(*state, MANY_ROWS, 1, 0, 1e-7, "");
}

static void test_examples_that_are_added_up(void **state)
{
    check_sums(*state, MORE_ROWS, 0, 0, 1e-11, "replace the rows");
    check_sums(*state, MORE_ROWS, 0, 1e3, 1e-9, "replace the rows");
    check_sums(*state, MORE_ROWS, 1 - 1e-3, 0, 1e-7, "replace the rows");
    check_sums(*state, MORE_ROWS, 1, 0, 1e-7, "pls: ");
}

/* Moments from sums are those of the rows, which a fit on sparse data reads. */
static void test_moments_of_examples_that_are_added_up(void **state)
{
    kfe_context *ctx = *state;
    enum { WIDE = 6, CLASSES = 3 };
    double *x = NULL;
    int *class_of = NULL;
    support_csr arrays = {0};

    support_clouds(22, MORE_ROWS, WIDE, CLASSES, 1, &x, &class_of);
    for (int64_t i = 0; i < MORE_ROWS; i++)
        x[i * WIDE + 2] += 10;
    kfe_data *dense = support_dense(ctx, MORE_ROWS, WIDE, x, class_of);
    kfe_data *sparse = support_sparse(ctx, MORE_ROWS, WIDE, x, class_of, &arrays);
    kfe_model *a = support_fit(ctx, "pls", "scale=none,dim=4", NULL, dense);
    kfe_model *b = support_fit(ctx, "pls", "scale=none,dim=4", NULL, sparse);
    assert_int_equal(a->moments.cols, WIDE);
    assert_int_equal(a->moments.targets, CLASSES);
    assert_int_equal(b->moments.targets, CLASSES);
    double size = 1e-9 * MORE_ROWS;
    assert_below(support_distance(WIDE, a->moments.column_means, b->moments.column_means), 1e-9);
    assert_below(support_distance(WIDE, a->moments.column_squares, b->moments.column_squares), size);
    assert_below(support_distance((int64_t)WIDE * 4, a->moments.cross, b->moments.cross), size);
    for (int j = 0; j < 4; j++)
        assert_below(fabs(a->moments.feature_means[j] - b->moments.feature_means[j]), 1e-9);
    assert_below(support_distance(16, a->moments.products, b->moments.products), size);
    assert_below(support_distance(CLASSES, a->moments.target_means, b->moments.target_means), 1e-9);
    assert_below(support_distance(CLASSES, a->moments.target_squares, b->moments.target_squares), size);
    assert_below(support_distance((int64_t)CLASSES * 4, a->moments.target_cross, b->moments.target_cross),
                 size);
    kfe_model_free(a);
    kfe_model_free(b);
    kfe_data_free(dense);
    kfe_data_free(sparse);
    support_csr_free(&arrays);
    free(x);
    free(class_of);
}

static void test_target_that_does_not_vary(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 16, COLS, 1);
    double same[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        same[i] = 0.1;
    assert_ok(ctx, kfe_data_set_targets(ctx, p.data, 1, same));
    for (int m = 0; m < ALL_METHODS; m++)
        assert_fit_fails(ctx, KFE_EINPUT, "same for every example", all_methods[m], p.data);
    deflation_free(&p);
}

static void check_constant_columns(kfe_context *ctx, int64_t cols)
{
    double x[ROWS * 2 * ROWS];
    double y[ROWS];
    kfe_data *data = NULL;

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < cols; j++)
            x[i * cols + j] = j == 1 ? 1e6 : 0.1;
        y[i] = (double)i;
    }
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, cols, cols, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    for (int m = 0; m < 6; m++)
        assert_fit_fails(ctx, KFE_EINPUT, "no direction", all_methods[m], data);
    kfe_data_free(data);
}

static void test_examples_that_do_not_vary(void **state)
{
    check_constant_columns(*state, 2);
    check_constant_columns(*state, 2 * ROWS);
}

/* Every example twice, a class of one example, and two dimensions where four features are requested. */
static void test_little_data(void **state)
{
    kfe_context *ctx = *state;
    double x[12 * 3];
    int class_of[12] = {0, 1, 0, 1, 0, 2, 0, 1, 0, 1, 0, 1};
    uint64_t random = 2;

    for (int64_t i = 0; i < 6; i++) {
        x[3 * i] = support_normal(&random);
        x[3 * i + 1] = support_normal(&random);
        x[3 * i + 2] = x[3 * i] + x[3 * i + 1];
        memcpy(x + 3 * (i + 6), x + 3 * i, 3 * sizeof *x);
    }
    kfe_data *data = support_dense(ctx, 12, 3, x, class_of);
    for (int m = 0; m < ALL_METHODS; m++) {
        support_catch_log(ctx);
        kfe_matrix f =
            support_features(ctx, all_methods[m][0], all_methods[m][1], all_methods[m][2], data, data);
        int fewer = strstr(support_log(), "4 features were asked for") != NULL;
        assert_int_equal(fewer, f.cols < 4);
        if (!all_methods[m][2])
            assert_true(f.cols <= 2);
        for (int64_t i = 0; i < f.rows * f.cols; i++)
            assert_true(isfinite(f.values[i]));
        kfe_matrix_free(&f);
    }
    kfe_data_free(data);
}

static void test_failing_allocations(void **state)
{
    deflation_problem p = deflation_make(*state, 17, COLS, 2);

    for (int m = 0; m < ALL_METHODS; m++) {
        const char *const *one = all_methods[m];
        support_fit_case fit = {one[0], one[1], one[2], ROWS, COLS, p.x, NULL, 2, p.y};
        support_sweep_all(one[0], support_fit_use, &fit, 20);
    }
    deflation_free(&p);
}

static void test_failing_allocations_of_sums(void **state)
{
    enum { WIDE = 6 };
    double *x = NULL;
    int *class_of = NULL;

    (void)state;
    support_clouds(23, MORE_ROWS, WIDE, 3, 1, &x, &class_of);
    support_fit_case fit = {"pls", "dim=4", NULL, MORE_ROWS, WIDE, x, class_of, 0, NULL};
    support_sweep_all("pls", support_fit_use, &fit, 20);
    free(x);
    free(class_of);
}

static void test_iterations_do_not_allocate(void **state)
{
    deflation_problem p = deflation_make(*state, 18, COLS, 2);

    for (int m = 0; m < 4; m++) {
        const char *const *one = all_methods[m];
        support_fit_case few = {one[0], "dim=2", one[2], ROWS, COLS, p.x, NULL, 2, p.y};
        support_fit_case many = few;
        many.params = "dim=4";
        assert_int_equal(support_count_allocations(support_fit_use, &few),
                         support_count_allocations(support_fit_use, &many));
    }
    deflation_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_pls_is_algorithm_1),
        with_context(test_kpls_is_algorithm_2),
        with_context(test_regression_is_the_dual_formula),
        with_context(test_features_are_orthogonal),
        with_context(test_alignment_approaches_one),
        with_context(test_linear_kpls_is_pls),
        with_context(test_many_threads_and_panels),
        with_context(test_examples_that_are_read),
        with_context(test_examples_that_are_added_up),
        with_context(test_moments_of_examples_that_are_added_up),
        with_context(test_target_that_does_not_vary),
        with_context(test_examples_that_do_not_vary),
        with_context(test_little_data),
        with_context(test_failing_allocations),
        with_context(test_failing_allocations_of_sums),
        with_context(test_iterations_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
