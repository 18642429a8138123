/* SPDX-License-Identifier: Apache-2.0 */
/* Continuum regression at its ends, where it equals other methods, and between them against its criterion. */
#include "support/deflation.h"

#include <math.h>

enum { ROWS = DEFLATION_ROWS, TEST_ROWS = DEFLATION_TEST_ROWS, COLS = 5 };

/* Added to rounding by iterations: each one solves a small eigenproblem and divides by decreasing norms. */
#define TOLERANCE_ITERATIONS 1e-9

static double *copy_of(int64_t count, const double *a)
{
    double *copy = malloc((size_t)count * sizeof *copy);

    memcpy(copy, a, (size_t)count * sizeof *copy);
    return copy;
}

/* ---- the ends ---- */

static void test_continuum_ends(void **state)
{
    kfe_context *ctx = *state;

    for (int64_t cols = 5; cols <= 45; cols += 40) {
        deflation_problem p = deflation_make(ctx, 13, cols, 1);
        kfe_matrix pls = support_features(ctx, "pls", "dim=4", NULL, p.data, p.test_data);
        kfe_matrix half = support_features(ctx, "cr", "dim=4,alpha=0.5", NULL, p.data, p.test_data);
        kfe_matrix pca = support_features(ctx, "pca", "dim=4", NULL, p.data, p.test_data);
        kfe_matrix one = support_features(ctx, "cr", "dim=4,alpha=1", NULL, p.data, p.test_data);
        assert_below(support_distance_up_to_sign(TEST_ROWS, 4, pls.values, half.values),
                     TOLERANCE_ITERATIONS);
        assert_below(support_distance_up_to_sign(TEST_ROWS, 4, pca.values, one.values), TOLERANCE_ITERATIONS);
        /* near the ends, the features are near those at the ends */
        kfe_matrix near_half = support_features(ctx, "cr", "dim=1,alpha=0.5000001", NULL, p.data, p.data);
        kfe_matrix pls_train = support_features(ctx, "pls", "dim=1", NULL, p.data, p.data);
        assert_below(support_distance_up_to_sign(ROWS, 1, pls_train.values, near_half.values), 1e-4);
        kfe_matrix_free(&pls);
        kfe_matrix_free(&half);
        kfe_matrix_free(&pca);
        kfe_matrix_free(&one);
        kfe_matrix_free(&near_half);
        kfe_matrix_free(&pls_train);
        deflation_free(&p);
    }
}

/* α = 0: one feature, the least squares fit; no second one exists. */
static void test_continuum_begins_with_least_squares(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 14, COLS, 1);
    double *x = copy_of(ROWS * COLS, p.x);

    free(support_centre_columns(ROWS, COLS, x));
    double *xt = support_transpose(ROWS, COLS, x);
    double *xx = support_product(COLS, ROWS, COLS, xt, x);
    double *xy = support_product(COLS, ROWS, 1, xt, p.centred);
    double *w = support_solve(COLS, 1, xx, xy);
    double *fitted = support_product(ROWS, COLS, 1, x, w);
    support_catch_log(ctx);
    kfe_matrix f = support_features(ctx, "cr", "dim=3,alpha=0", NULL, p.data, p.data);
    assert_int_equal(f.cols, 1);
    assert_non_null(strstr(support_log(), "3 features were asked for"));
    assert_below(1 - deflation_cosine(ROWS, fitted, 1, f.values, 1), TOLERANCE_ITERATIONS);
    free(x);
    free(xt);
    free(xx);
    free(xy);
    free(w);
    free(fitted);
    kfe_matrix_free(&f);
    deflation_free(&p);
}

/* ---- between the ends ---- */

/* The logarithm of (uᵀXᵀy)²(uᵀXᵀXu)^(γ−1) for u of any norm, computed from its feature t = Xu. */
static double continuum_criterion(const deflation_problem *p, const double *x, const double *u, double gamma)
{
    double along = 0;
    double square = 0;
    double length = 0;

    for (int64_t l = 0; l < p->cols; l++)
        length += u[l] * u[l];
    for (int64_t i = 0; i < ROWS; i++) {
        double t = 0;
        for (int64_t l = 0; l < p->cols; l++)
            t += x[i * p->cols + l] * u[l];
        along += t * p->centred[i];
        square += t * t;
    }
    return 2 * log(fabs(along)) + (gamma - 1) * log(square) - gamma * log(length);
}

/* The first direction of a linear model: the change of the first feature by a unit step along each column. */
static void first_direction(kfe_context *ctx, const kfe_model *model, int64_t cols, double *u)
{
    double *steps = calloc((size_t)((cols + 1) * cols), sizeof *steps);
    kfe_data *data = NULL;

    for (int64_t l = 0; l < cols; l++)
        steps[l * cols + l] = 1;
    assert_ok(ctx, kfe_data_wrap_dense(ctx, cols + 1, cols, cols, steps, &data));
    kfe_matrix f = support_transform(ctx, model, data);
    for (int64_t l = 0; l < cols; l++)
        u[l] = f.values[l * f.cols] - f.values[cols * f.cols];
    kfe_matrix_free(&f);
    kfe_data_free(data);
    free(steps);
}

static void check_continuum_maximum(kfe_context *ctx, const char *params, double alpha, int64_t cols)
{
    deflation_problem p = deflation_make(ctx, 15, cols, 1);
    double *x = copy_of(ROWS * cols, p.x);
    double *u = calloc((size_t)cols, sizeof *u);
    double *other = calloc((size_t)cols, sizeof *other);
    double gamma = alpha / (1 - alpha);
    uint64_t random = 4;

    free(support_centre_columns(ROWS, cols, x));
    kfe_model *model = support_fit(ctx, "cr", params, NULL, p.data);
    first_direction(ctx, model, cols, u);
    double best = continuum_criterion(&p, x, u, gamma);
    for (int trial = 0; trial < 300; trial++) {
        double size = pow(10, -(trial % 5));
        for (int64_t l = 0; l < cols; l++)
            other[l] = u[l] + size * support_normal(&random);
        assert_true(continuum_criterion(&p, x, other, gamma) <= best + 1e-9);
    }
    free(x);
    free(u);
    free(other);
    kfe_model_free(model);
    deflation_free(&p);
}

static void test_continuum_maximises_its_criterion(void **state)
{
    static const char *const params[] = {"dim=2,alpha=0.1", "dim=2,alpha=0.35", "dim=2,alpha=0.6",
                                         "dim=2,alpha=0.9"};
    static const double alphas[] = {0.1, 0.35, 0.6, 0.9};

    for (int i = 0; i < 4; i++) {
        check_continuum_maximum(*state, params[i], alphas[i], 5);
        check_continuum_maximum(*state, params[i], alphas[i], 40);
    }
}

/* Several targets: neither the direction nor the combination of targets alone can be improved. */
static void test_several_targets_meet(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 16, COLS, 3);
    deflation_problem combined = deflation_make(ctx, 16, COLS, 1);
    double u[COLS];
    double c[3] = {0};
    double y[ROWS] = {0};

    kfe_model *model = support_fit(ctx, "cr", "dim=1,alpha=0.7", NULL, p.data);
    kfe_matrix f = support_transform(ctx, model, p.data);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t t = 0; t < 3; t++)
            c[t] += f.values[i] * p.centred[3 * i + t];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t t = 0; t < 3; t++)
            y[i] += c[t] * p.y[3 * i + t];
    assert_ok(ctx, kfe_data_set_targets(ctx, combined.data, 1, y));
    kfe_matrix g = support_features(ctx, "cr", "dim=1,alpha=0.7", NULL, combined.data, combined.data);
    assert_below(1 - deflation_cosine(ROWS, f.values, 1, g.values, 1), 1e-6);
    first_direction(ctx, model, COLS, u);
    double length = 0;
    for (int64_t l = 0; l < COLS; l++)
        length += u[l] * u[l];
    assert_below(fabs(length - 1), TOLERANCE_ITERATIONS);
    kfe_matrix_free(&f);
    kfe_matrix_free(&g);
    kfe_model_free(model);
    deflation_free(&p);
    deflation_free(&combined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_continuum_ends),
        with_context(test_continuum_begins_with_least_squares),
        with_context(test_continuum_maximises_its_criterion),
        with_context(test_several_targets_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
