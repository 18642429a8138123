/* SPDX-License-Identifier: Apache-2.0 */
/* rfm against its definition, computed with plain loops, and on planted data. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "support/sweep.h"

enum { ROWS = 40, TEST_ROWS = 9, COLS = 3 };

/* ---- the definition ---- */

typedef struct oracle {
    int64_t n, d;
    const double *x, *y; /* y: standardised */
    double ridge;
    double map[COLS * COLS]; /* T, symmetric */
    double *alpha;
} oracle;

#define ORACLE_SIGMA 2.0

static double kernel(double r)
{
    double t = sqrt(3) * r / ORACLE_SIGMA;
    return (1 + t) * exp(-t);
}

/* k'(r) / r */
static double kernel_pull(double r)
{
    return -3 / (ORACLE_SIGMA * ORACLE_SIGMA) * exp(-sqrt(3) * r / ORACLE_SIGMA);
}

static double distance(const oracle *o, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t i = 0; i < o->d; i++) {
        double z = 0;
        for (int64_t j = 0; j < o->d; j++)
            z += o->map[i * o->d + j] * (a[j] - b[j]);
        sum += z * z;
    }
    return sqrt(sum);
}

static void oracle_solve(oracle *o)
{
    double *k = calloc((size_t)(o->n * o->n), sizeof *k);

    for (int64_t i = 0; i < o->n; i++)
        for (int64_t j = 0; j < o->n; j++)
            k[i * o->n + j] = kernel(distance(o, o->x + i * o->d, o->x + j * o->d)) + (i == j ? o->ridge : 0);
    free(o->alpha);
    o->alpha = support_solve(o->n, 1, k, o->y);
    free(k);
}

static double oracle_predict(const oracle *o, const double *point)
{
    double sum = 0;

    for (int64_t i = 0; i < o->n; i++)
        sum += o->alpha[i] * kernel(distance(o, point, o->x + i * o->d));
    return sum;
}

/* g (d × d) = the mean of ∇f∇fᵀ, with ∇f(x) = M Σ α_i k'(r_i)/r_i (x − x_i) */
static void oracle_gradients(const oracle *o, double *g)
{
    double *m = support_product(o->d, o->d, o->d, o->map, o->map);

    memset(g, 0, (size_t)(o->d * o->d) * sizeof *g);
    for (int64_t p = 0; p < o->n; p++) {
        double pulled[COLS] = {0};
        double gradient[COLS] = {0};
        for (int64_t i = 0; i < o->n; i++) {
            double pull = o->alpha[i] * kernel_pull(distance(o, o->x + p * o->d, o->x + i * o->d));
            for (int64_t j = 0; j < o->d; j++)
                pulled[j] += pull * (o->x[p * o->d + j] - o->x[i * o->d + j]);
        }
        for (int64_t i = 0; i < o->d; i++)
            for (int64_t j = 0; j < o->d; j++)
                gradient[i] += m[i * o->d + j] * pulled[j];
        for (int64_t i = 0; i < o->d; i++)
            for (int64_t j = 0; j < o->d; j++)
                g[i * o->d + j] += gradient[i] * gradient[j] / (double)o->n;
    }
    free(m);
}

/* tr(TᵀCT) with the covariance C */
static double oracle_variance(const oracle *o, const double *map)
{
    double total = 0;

    for (int64_t c = 0; c < o->d; c++) {
        double mean = 0;
        double square = 0;
        for (int64_t i = 0; i < o->n; i++) {
            double z = 0;
            for (int64_t j = 0; j < o->d; j++)
                z += o->x[i * o->d + j] * map[j * o->d + c];
            mean += z / (double)o->n;
            square += z * z / (double)o->n;
        }
        total += square - mean * mean;
    }
    return total;
}

static void oracle_update(oracle *o, int diagonal, double power)
{
    double g[COLS * COLS];
    double values[COLS];
    double vectors[COLS * COLS];
    static const double identity[COLS * COLS] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

    oracle_gradients(o, g);
    if (diagonal)
        for (int i = 0; i < COLS * COLS; i++)
            g[i] *= i % (COLS + 1) == 0;
    support_jacobi(COLS, g, values, vectors);
    for (int i = 0; i < COLS; i++)
        for (int j = 0; j < COLS; j++) {
            o->map[i * COLS + j] = 0;
            for (int r = 0; r < COLS; r++)
                o->map[i * COLS + j] +=
                    vectors[i * COLS + r] * pow(fmax(values[r], 0), power / 2) * vectors[j * COLS + r];
        }
    double factor = sqrt(oracle_variance(o, identity) / oracle_variance(o, o->map));
    for (int p = 0; p < COLS * COLS; p++)
        o->map[p] *= factor;
}

/* ---- problems ---- */

/* The target depends on x₀ + x₁ only; its mean and standard deviation are 5 and 2 in the sample. */
static void make_problem(int64_t rows, double *x, double *y, double *standard)
{
    uint64_t random = 21;
    double mean = 0;
    double square = 0;

    for (int64_t i = 0; i < rows * COLS; i++)
        x[i] = support_normal(&random);
    for (int64_t i = 0; i < rows; i++) {
        standard[i] = sin(x[i * COLS] + x[i * COLS + 1]) + 0.1 * support_normal(&random);
        mean += standard[i] / (double)rows;
        square += standard[i] * standard[i] / (double)rows;
    }
    for (int64_t i = 0; i < rows; i++) {
        standard[i] = (standard[i] - mean) / sqrt(square - mean * mean);
        y[i] = 5 + 2 * standard[i];
    }
}

static void check_definition(kfe_context *ctx, int diagonal, double power, double ridge)
{
    double x[ROWS * COLS];
    double y[ROWS];
    double standard[ROWS];
    double *test = support_normals(22, TEST_ROWS * COLS);
    oracle o = {ROWS, COLS, x, standard, ridge, {1, 0, 0, 0, 1, 0, 0, 0, 1}, NULL};
    char params[96];

    make_problem(ROWS, x, y, standard);
    oracle_solve(&o);
    for (int t = 0; t < 2; t++) {
        oracle_update(&o, diagonal, power);
        oracle_solve(&o);
    }
    kfe_data *train = support_dense(ctx, ROWS, COLS, x, NULL);
    kfe_data *points = support_dense(ctx, TEST_ROWS, COLS, test, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    snprintf(params, sizeof params, "held-out=0,iterations=2,ridge=%g,distance=%s,power=%g,scale=none", ridge,
             diagonal ? "diagonal" : "full", power);
    kfe_matrix f = support_features(ctx, "rfm", params, "matern:sigma=2", train, points);
    for (int i = 0; i < TEST_ROWS; i++) {
        double expected = 5 + 2 * oracle_predict(&o, test + i * COLS);
        if (!(fabs(f.values[i] - expected) <= 1e-9 * fabs(expected)))
            fail_msg("%s, power %g: %.15g, the definition gives %.15g", params, power, f.values[i], expected);
    }
    kfe_matrix_free(&f);
    kfe_data_free(train);
    kfe_data_free(points);
    free(test);
    free(o.alpha);
}

static void test_definition(void **state)
{
    for (double ridge = 1e-3; ridge < 2e3; ridge *= 10) {
        check_definition(*state, 0, 1, ridge);
        check_definition(*state, 0, 0.5, ridge);
        check_definition(*state, 1, 1, ridge);
        check_definition(*state, 1, 0.5, ridge);
    }
}

/* ---- whose gradients ---- */

/* How far the matrices M of two fits are apart, relative to the largest entry. */
static double metrics_apart(const kfe_model *a, const kfe_model *b)
{
    int64_t count = 0;
    int64_t same = 0;
    const double *p = kfe_model_record(a, "distance", &count);
    const double *q = kfe_model_record(b, "distance", &same);

    assert_int_equal(count, same);
    return support_distance(count, p, q);
}

/* With ridge=auto the first M is that of a regression with the ridge that {gradient-ridge} allows, and the last regression has
 * the ridge of leave-one-out. `given`: that ridge, a ten-thousandth of the mean weight. */
static void check_gradient_ridge(kfe_context *ctx, const kfe_data *train, const char *given, const char *more,
                                 double tolerance)
{
    const char *const ways[] = {"gradient-ridge=0.0001", given, "gradient-ridge=0"};
    kfe_model *models[3];
    char params[160];
    int64_t count = 0;

    for (int w = 0; w < 3; w++) {
        snprintf(params, sizeof params, "iterations=1,held-out=0,distance=full,%s%s", ways[w], more);
        models[w] = support_fit(ctx, "rfm", params, "rbf:gamma=0.5", train);
    }
    assert_true(*kfe_model_record(models[0], "ridge", &count) > 1e-3);
    assert_below(metrics_apart(models[0], models[1]), tolerance);
    assert_true(metrics_apart(models[0], models[2]) > 1e-2);
    for (int w = 0; w < 3; w++)
        kfe_model_free(models[w]);
}

static void test_gradients_take_a_small_ridge(void **state)
{
    kfe_context *ctx = *state;
    enum { N = 120 };
    double x[N * COLS];
    double y[N];
    double standard[N];
    double weights[N];
    uint64_t random = 5;

    make_problem(N, x, y, standard);
    for (int64_t i = 0; i < N; i++) {
        y[i] += 0.5 * support_normal(&random);
        weights[i] = (double)(1 + i % 3);
    }
    kfe_data *train = support_dense(ctx, N, COLS, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    check_gradient_ridge(ctx, train, "ridge=0.0001", "", 1e-9);
    check_gradient_ridge(ctx, train, "ridge=0.0001", ",landmarks=40",
                         1e-4); /* the landmarks' diagonal is not quite one */
    assert_ok(ctx, kfe_data_set_weights(ctx, train, weights));
    check_gradient_ridge(ctx, train, "ridge=0.0002", "", 1e-9);
    kfe_data_free(train);
}

/* ---- landmarks ---- */

/* More than twenty examples for each landmark: sums over kernel values give what the factor does that gram=f64 keeps. */
static void test_landmarks_of_many_examples(void **state)
{
    kfe_context *ctx = *state;
    enum { N = 500, LANDMARKS = 20 };
    static const char *const ways[] = {"ridge=0.01", "ridge=thousandth", "ridge=auto"};
    double x[N * COLS];
    double y[N];
    double standard[N];
    char params[120];
    kfe_matrix found[2];
    int64_t count = 0;

    make_problem(N, x, y, standard);
    kfe_data *train = support_dense(ctx, N, COLS, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        double left[2];
        for (int kept = 0; kept < 2; kept++) {
            snprintf(params, sizeof params, "iterations=2,held-out=0.1,distance=full,landmarks=%d,%s%s",
                     LANDMARKS, ways[w], kept ? ",gram=f64" : "");
            kfe_model *model = support_fit(ctx, "rfm", params, "rbf:gamma=0.5", train);
            left[kept] = *kfe_model_record(model, "landmark-trace-left", &count);
            assert_true(*kfe_model_record(model, "residual", &count) <= 1e-8);
            assert_ok(ctx, kfe_transform(ctx, model, train, &found[kept]));
            kfe_model_free(model);
        }
        assert_true(left[1] > 0 && fabs(left[0] - left[1]) <= 1e-9);
        assert_below(support_distance(N, found[0].values, found[1].values), 1e-7);
        kfe_matrix_free(&found[0]);
        kfe_matrix_free(&found[1]);
    }
    kfe_data_free(train);
}

/* ---- what is kept ---- */

static void test_best_iteration_is_kept(void **state)
{
    kfe_context *ctx = *state;
    enum { N = 150 };
    double x[N * COLS];
    double y[N];
    double standard[N];
    int64_t diagonal = 0;
    int64_t full = 0;
    int64_t count = 0;

    make_problem(N, x, y, standard);
    kfe_data *train = support_dense(ctx, N, COLS, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    kfe_model *model = support_fit(ctx, "rfm", "iterations=4", NULL, train);
    const double *d = kfe_model_record(model, "errors-diagonal", &diagonal);
    const double *f = kfe_model_record(model, "errors-full", &full);
    assert_int_equal(diagonal, 5);
    assert_int_equal(full, 5);
    assert_true(d[0] == f[0]);
    int is_full = *kfe_model_record(model, "full", &count) > 0;
    double best = (is_full ? f : d)[(int64_t)*kfe_model_record(model, "iteration", &count)];
    for (int t = 0; t < 5; t++)
        assert_true(best <= d[t] && best <= f[t]);
    const double *importance = kfe_model_record(model, "importance", &count);
    assert_int_equal(count, COLS);
    assert_true(fabs(importance[0] + importance[1] + importance[2] - 1) < 1e-12);
    assert_true(importance[2] < 0.1 * importance[0] && importance[2] < 0.1 * importance[1]);
    const double *distance = kfe_model_record(model, "distance", &count);
    const kfe_i_map *map = &model->views[0].scaler.map;
    assert_int_equal(count, COLS * COLS);
    for (int64_t i = 0; i < COLS; i++)
        for (int64_t j = 0; j < COLS; j++) { /* M = TTᵀ */
            double expected = map->diagonal && i == j ? pow(map->values[i], 2) : 0;
            for (int64_t r = 0; !map->diagonal && r < map->cols; r++)
                expected += map->values[i * map->cols + r] * map->values[j * map->cols + r];
            assert_true(fabs(distance[i * COLS + j] - expected) <= 1e-12);
        }
    kfe_model_free(model);
    kfe_data_free(train);
}

/* ---- planted directions ---- */

enum { PLANTED_ROWS = 400, PLANTED_COLS = 8 };

/* Classes or values that depend on two directions, (1, 1, 0, …) and (0, 0, 1, −1, 0, …), only. */
static double *plant(uint64_t seed, double *y, int *class_of)
{
    double *x = support_normals(seed, (int64_t)PLANTED_ROWS * PLANTED_COLS);

    for (int64_t i = 0; i < PLANTED_ROWS; i++) {
        const double *row = x + i * PLANTED_COLS;
        double a = (row[0] + row[1]) / sqrt(2);
        double b = (row[2] - row[3]) / sqrt(2);
        y[i] = a * b + sin(a);
        class_of[i] = (a * b > 0.3) + (a * b > -0.3);
    }
    return x;
}

/* The sine of the largest angle between the planted plane and the span of the columns of W (PLANTED_COLS × 2). */
static double sine_of_angle(const double *w)
{
    double planted[PLANTED_COLS * 2] = {0};
    double q[PLANTED_COLS * 2];
    double norm;
    double inner;
    double cosines[4];
    double values[2];
    double vectors[4];

    planted[0] = planted[2] = planted[5] = sqrt(0.5);
    planted[7] = -sqrt(0.5);
    memcpy(q, w, sizeof q);
    for (int c = 0; c < 2; c++) {
        inner = norm = 0;
        for (int i = 0; i < PLANTED_COLS; i++)
            inner += c * q[2 * i] * q[2 * i + 1];
        for (int i = 0; c == 1 && i < PLANTED_COLS; i++)
            q[2 * i + 1] -= inner * q[2 * i];
        for (int i = 0; i < PLANTED_COLS; i++)
            norm += q[2 * i + c] * q[2 * i + c];
        for (int i = 0; i < PLANTED_COLS; i++)
            q[2 * i + c] /= sqrt(norm);
    }
    double *qt = support_transpose(PLANTED_COLS, 2, q);
    double *product = support_product(2, PLANTED_COLS, 2, qt, planted);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            cosines[2 * i + j] = product[i] * product[j] + product[2 + i] * product[2 + j];
    support_jacobi(2, cosines, values, vectors);
    free(qt);
    free(product);
    return sqrt(fmax(0, 1 - values[1]));
}

static void test_planted_directions(void **state)
{
    kfe_context *ctx = *state;
    double y[PLANTED_ROWS];
    int class_of[PLANTED_ROWS];
    double *x = plant(31, y, class_of);
    int64_t rows = 0;
    kfe_data *train = support_dense(ctx, PLANTED_ROWS, PLANTED_COLS, x, NULL);
    kfe_matrix predicted;

    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    kfe_model *model = support_fit(ctx, "rfm", "directions=2,distance=full", "rbf", train);
    assert_int_equal(kfe_model_dim(model), 2);
    double sine = sine_of_angle(kfe_model_coefficients(model, &rows));
    if (!(sine < sin(5 * acos(-1) / 180)))
        fail_msg("the planted plane is missed by %g degrees", asin(sine) * 180 / acos(-1));
    /* the regression on the directions predicts: its residual is far below the variance */
    assert_ok(ctx, kfe_predict(ctx, model, train, &predicted, NULL));
    double squares = 0;
    double variance = 0;
    for (int i = 0; i < PLANTED_ROWS; i++) {
        squares += pow(predicted.values[i] - y[i], 2);
        variance += y[i] * y[i];
    }
    assert_true(squares < 0.05 * variance);
    kfe_matrix_free(&predicted);
    kfe_model_free(model);
    kfe_data_free(train);
    free(x);
}

static void check_classes(kfe_context *ctx, int classes, const char *params)
{
    double y[PLANTED_ROWS];
    int class_of[PLANTED_ROWS];
    double *x = plant(32, y, class_of);
    kfe_matrix predicted;
    int wrong = 0;

    for (int i = 0; i < PLANTED_ROWS; i++)
        class_of[i] = class_of[i] < classes ? class_of[i] : classes - 1;
    kfe_data *train = support_dense(ctx, PLANTED_ROWS, PLANTED_COLS, x, class_of);
    kfe_model *model = support_fit(ctx, "rfm", params, NULL, train);
    assert_ok(ctx, kfe_predict(ctx, model, train, &predicted, NULL));
    for (int i = 0; i < PLANTED_ROWS; i++) {
        const char *name = kfe_model_class_name(model, (int64_t)predicted.values[i]);
        wrong += name[1] - '0' != class_of[i];
    }
    if (wrong > PLANTED_ROWS / 10)
        fail_msg("%d classes, %s: %d of %d training examples are predicted wrong", classes, params, wrong,
                 PLANTED_ROWS);
    kfe_matrix_free(&predicted);
    kfe_model_free(model);
    kfe_data_free(train);
    free(x);
}

static void test_classes_are_predicted(void **state)
{
    check_classes(*state, 2, "iterations=3,distance=full");
    check_classes(*state, 2, "iterations=3,distance=full,directions=2");
    check_classes(*state, 3, "iterations=3,distance=full");
    check_classes(*state, 3, "iterations=3,distance=full,directions=2");
}

/* ---- refusals ---- */

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * COLS];
    double y[ROWS];
    double standard[ROWS];
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    make_problem(ROWS, x, y, standard);
    kfe_data *train = support_dense(ctx, ROWS, COLS, x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    assert_ok(ctx, kfe_spec_parse(ctx, "rfm", NULL, "laplacian", &spec));
    assert_fails(ctx, KFE_EINVAL, "needs the derivative of the kernel", kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    memset(y, 0, sizeof y);
    assert_ok(ctx, kfe_data_set_targets(ctx, train, 1, y));
    assert_ok(ctx, kfe_spec_parse(ctx, "rfm", NULL, NULL, &spec));
    assert_fails(ctx, KFE_EINPUT, "the same for every example", kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    kfe_data_free(train);
}

/* A file that maps the columns of a kernel matrix would make the model read beyond its rows: it is not loaded. */
static void test_map_of_a_kernel_matrix_is_refused(void **state)
{
    kfe_context *ctx = *state;
    static const double matrix[] = {2, 1, 0, 1, 2, 0, 0, 0, 2};
    static const int class_of[] = {0, 1, 1};
    char *bytes = NULL;
    size_t size = 0;
    kfe_data *train = support_dense(ctx, 3, 3, matrix, class_of);
    kfe_model *model = support_fit(ctx, "koc", NULL, "precomputed", train);

    assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes, &size));
    kfe_string_free(ctx, bytes);
    assert_ok(ctx, kfe_i_map_new(ctx, 3, 1, 0, &model->views[0].scaler.map));
    memset(model->views[0].scaler.map.values, 0, 3 * sizeof(double));
    assert_fails(ctx, KFE_EMODEL, "kernels", kfe_model_save_bytes(ctx, model, &bytes, &size));
    kfe_model_free(model);
    kfe_data_free(train);
}

static void test_allocations_that_fail(void **state)
{
    double x[ROWS * COLS];
    double y[ROWS];
    double standard[ROWS];

    (void)state;
    make_problem(ROWS, x, y, standard);
    support_fit_case outputs = {"rfm", "iterations=1", NULL, ROWS, COLS, x, NULL, 1, y};
    support_fit_case directions = {
        "rfm", "iterations=1,directions=1,distance=full", "rbf", ROWS, COLS, x, NULL, 1, y};
    support_fit_case landmarks = {"rfm", "iterations=1,held-out=0,landmarks=1", "rbf", ROWS, COLS, x, NULL, 1,
                                  y};
    support_sweep_all("rfm", support_fit_use, &outputs, 60);
    support_sweep_all("rfm directions", support_fit_use, &directions, 60);
    support_sweep_all("rfm landmarks", support_fit_use, &landmarks, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_definition),
        with_context(test_gradients_take_a_small_ridge),
        with_context(test_landmarks_of_many_examples),
        with_context(test_best_iteration_is_kept),
        with_context(test_planted_directions),
        with_context(test_classes_are_predicted),
        with_context(test_refusals),
        with_context(test_map_of_a_kernel_matrix_is_refused),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
