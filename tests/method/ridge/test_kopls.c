/* SPDX-License-Identifier: Apache-2.0 */
/* kopls and rkopls against dense generalized eigenproblems, least squares, kfd and each other. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "support/sample.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 40, TEST_ROWS = 15, COLS = 5, CLASSES = 4, LANDMARKS = 9 };

static support_sample make_problem(kfe_context *ctx, uint64_t seed)
{
    support_sample p = support_sample_make(ctx, &(support_shape){.seed = seed,
                                                                 .rows = ROWS,
                                                                 .cols = COLS,
                                                                 .classes = CLASSES,
                                                                 .apart = 1.5,
                                                                 .test_rows = TEST_ROWS,
                                                                 .test_seed = seed + 50});
    double *y = support_normals(seed + 60, ROWS * 2);

    for (int64_t i = 0; i < ROWS; i++) {
        y[2 * i] = 0.3 * y[2 * i] + p.x[i * COLS] + 5;
        y[2 * i + 1] = 0.3 * y[2 * i + 1] + 2 * p.x[i * COLS + 1] * p.x[i * COLS + 2];
    }
    support_sample_set_targets(ctx, &p, 2, y);
    return p;
}

static double *copy_of(int64_t count, const double *values)
{
    double *copy = calloc((size_t)count, sizeof *copy);

    memcpy(copy, values, (size_t)count * sizeof *copy);
    return copy;
}

static double *indicator(const int *class_of)
{
    double *y = calloc(ROWS * CLASSES, sizeof *y);

    for (int64_t i = 0; i < ROWS; i++)
        y[i * CLASSES + class_of[i]] = 1;
    return y;
}

/* A generalized eigenproblem: (cᵀy)(cᵀy)ᵀu = λ(cᵀc + ridge·s)u. */
typedef struct eigenproblem {
    int64_t k, m;
    const double *c, *y; /* ROWS × k, ROWS × m */
    double ridge;
    const double *s; /* k × k */
} eigenproblem;

static void scatter_and_covariance(const eigenproblem *p, double **scatter, double **covariance)
{
    int64_t k = p->k;
    double *turned = support_transpose(ROWS, k, p->c);
    double *products = support_product(k, ROWS, p->m, turned, p->y);
    double *products_turned = support_transpose(k, p->m, products);

    *scatter = support_product(k, ROWS, k, turned, p->c);
    *covariance = support_product(k, p->m, k, products, products_turned);
    for (int64_t i = 0; i < k * k; i++)
        (*scatter)[i] += p->ridge * p->s[i];
    free(turned);
    free(products);
    free(products_turned);
}

/* The features of `new_points` (rows × k, in the coordinates of c and centred like c) along the first `dim`
 * generalized eigenvectors. */
static double *expected_features(const eigenproblem *p, int64_t rows, const double *new_points, int64_t dim,
                                 double *gap)
{
    int64_t k = p->k;
    double *scatter, *covariance;
    double *values = calloc((size_t)k, sizeof *values);
    double *vectors = calloc((size_t)(k * k), sizeof *vectors);
    double *features = calloc((size_t)(rows * dim), sizeof *features);

    scatter_and_covariance(p, &scatter, &covariance);
    support_generalized(k, covariance, scatter, values, vectors);
    double *all = support_product(rows, k, k, new_points, vectors);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < dim; j++)
            features[i * dim + j] = all[i * k + j];
    *gap = 1;
    for (int64_t j = 0; j < dim; j++)
        *gap = fmin(*gap, (values[j] - values[j + 1]) / values[0]);
    *gap /= support_condition(k, scatter);
    free(scatter);
    free(covariance);
    free(values);
    free(vectors);
    free(all);
    return features;
}

static double *identity(int64_t n)
{
    double *s = calloc((size_t)(n * n), sizeof *s);

    for (int64_t i = 0; i < n; i++)
        s[i * n + i] = 1;
    return s;
}

/* ---- kopls ---- */

/* With a linear kernel the problem has COLS dimensions: XᵀYYᵀX u = λ (XᵀX + μI) u. */
static void compare_with_primal(kfe_context *ctx, const support_sample *p, int real, double ridge,
                                const char *method)
{
    char params[64];
    double gap = 0;
    int64_t dim = real ? 2 : CLASSES - 1;
    int64_t m = real ? 2 : CLASSES;
    double *y = real ? copy_of(ROWS * 2, p->y) : indicator(p->class_of);
    double *x = copy_of(ROWS * COLS, p->x);
    double *test = copy_of(TEST_ROWS * COLS, p->test);
    double *unit = identity(COLS);
    double *means = support_centre_columns(ROWS, COLS, x);

    free(support_centre_columns(ROWS, m, y));
    for (int64_t i = 0; i < TEST_ROWS * COLS; i++)
        test[i] -= means[i % COLS];
    snprintf(params, sizeof params, "ridge=%.17g", ridge);
    double *expected =
        expected_features(&(eigenproblem){COLS, m, x, y, ridge, unit}, TEST_ROWS, test, dim, &gap);
    kfe_matrix got = support_features(ctx, method, params, "linear", real ? p->real : p->data, p->test_data);
    assert_int_equal(got.cols, dim);
    assert_below(support_distance_up_to_sign(TEST_ROWS, dim, expected, got.values),
                 tolerance_eigenvector(ROWS, gap));
    free(y);
    free(x);
    free(test);
    free(unit);
    free(means);
    free(expected);
    kfe_matrix_free(&got);
}

static void test_directions_solve_the_eigenproblem(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 1);

    for (int real = 0; real < 2; real++) {
        compare_with_primal(ctx, &p, real, 3, "kopls");
        compare_with_primal(ctx, &p, real, 0.01, "kopls");
        compare_with_primal(ctx, &p, real, 0.5, "rkopls");
    }
    support_sample_free(&p);
}

/* Eq. (2) itself: with a negligible ridge, features of the training examples are orthonormal, and the
 * criterion of one target is the R² of least squares. */
static void test_features_are_orthonormal_and_explain(void **state)
{
    static const char *const methods[] = {"kopls", "rkopls"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 2);
    double ridge = 1e-6;
    double *x = copy_of(ROWS * COLS, p.x);
    double y[ROWS];
    double left = 0;
    double all = 0;
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++)
        y[i] = p.y[2 * i];
    free(support_centre_columns(ROWS, COLS, x));
    free(support_centre_columns(ROWS, 1, y));
    double *turned = support_transpose(ROWS, COLS, x);
    double *scatter = support_product(COLS, ROWS, COLS, turned, x);
    double *right = support_product(COLS, ROWS, 1, turned, y);
    double *slope = support_solve(COLS, 1, scatter, right);
    double *fitted = support_product(ROWS, COLS, 1, x, slope);
    for (int64_t i = 0; i < ROWS; i++) {
        left += (y[i] - fitted[i]) * (y[i] - fitted[i]);
        all += y[i] * y[i];
    }
    for (int k = 0; k < 2; k++) {
        kfe_data *one = support_dense(ctx, ROWS, COLS, p.x, NULL);
        assert_ok(ctx, kfe_data_set_targets(ctx, one, 1, y));
        kfe_model *model = support_fit(ctx, methods[k], "ridge=1e-6", "linear", one);
        const double *criterion = kfe_model_record(model, "criterion", &count);
        assert_int_equal(count, 1);
        assert_below(fabs(criterion[0] - (1 - left / all)), 10 * ridge);
        kfe_matrix z = support_features(ctx, methods[k], "ridge=1e-6", "linear", p.data, p.data);
        double *z_turned = support_transpose(ROWS, z.cols, z.values);
        double *products = support_product(z.cols, ROWS, z.cols, z_turned, z.values);
        double *unit = identity(z.cols);
        assert_int_equal(z.cols, CLASSES - 1);
        assert_below(support_distance(z.cols * z.cols, unit, products), 10 * ridge);
        free(z_turned);
        free(products);
        free(unit);
        kfe_matrix_free(&z);
        kfe_model_free(model);
        kfe_data_free(one);
    }
    free(x);
    free(turned);
    free(scatter);
    free(right);
    free(slope);
    free(fitted);
    support_sample_free(&p);
}

static void test_classes_give_the_space_of_kfd(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.2", "poly:degree=2,gamma=0.5,coef0=1"};
    static const char *const ridges[] = {NULL, "ridge=0.2"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 3);

    for (int k = 0; k < 2; k++)
        for (int r = 0; r < 2; r++) {
            kfe_matrix a = support_features(ctx, "kopls", ridges[r], kernels[k], p.data, p.test_data);
            kfe_matrix b = support_features(ctx, "kfd", ridges[r], kernels[k], p.data, p.test_data);
            assert_int_equal(a.cols, CLASSES - 1);
            assert_int_equal(b.cols, CLASSES - 1);
            assert_below(support_outside_span(TEST_ROWS, a.cols, a.values, b.cols, b.values), 1e-9);
            assert_below(support_outside_span(TEST_ROWS, b.cols, b.values, a.cols, a.values), 1e-9);
            kfe_matrix_free(&a);
            kfe_matrix_free(&b);
        }
    support_sample_free(&p);
}

/* ---- rkopls ---- */

static void test_all_landmarks_give_kopls(void **state)
{
    static const char *const params[] = {NULL, "ridge=0.1,center=no", "ridge=1e-6"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 4);

    for (int real = 0; real < 2; real++)
        for (int k = 0; k < 3; k++) {
            const kfe_data *train = real ? p.real : p.data;
            kfe_matrix a = support_features(ctx, "kopls", params[k], "rbf:gamma=0.3", train, p.test_data);
            kfe_matrix b = support_features(ctx, "rkopls", params[k], "rbf:gamma=0.3", train, p.test_data);
            assert_int_equal(a.cols, b.cols);
            assert_below(support_distance_up_to_sign(TEST_ROWS, a.cols, a.values, b.values), 1e-7);
            kfe_matrix_free(&a);
            kfe_matrix_free(&b);
        }
    support_sample_free(&p);
}

/* Rows of rbf values with the landmarks, minus the means over the training examples. */
static double *landmark_values(int64_t rows, const double *x, const double *landmarks, const double *means)
{
    double *c = support_rbf(rows, x, LANDMARKS, landmarks, COLS, 0.3);

    for (int64_t i = 0; means && i < rows * LANDMARKS; i++)
        c[i] -= means[i % LANDMARKS];
    return c;
}

static void test_few_landmarks_against_the_dense_problem(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 5);
    double landmarks[LANDMARKS * COLS];
    double gap = 0;

    kfe_model *any =
        support_fit(ctx, "rkopls", "support=9", "rbf:gamma=0.3", p.real); /* with the same support */
    assert_int_equal(kfe_model_support_size(any), LANDMARKS);
    for (int64_t s = 0; s < LANDMARKS; s++)
        memcpy(landmarks + s * COLS, p.x + kfe_model_support_index(any)[s] * COLS, COLS * sizeof *landmarks);
    kfe_model_free(any);
    double *inner = support_rbf(LANDMARKS, landmarks, LANDMARKS, landmarks, COLS, 0.3);
    double *y = copy_of(ROWS * 2, p.y);
    free(support_centre_columns(ROWS, 2, y));
    for (int center = 0; center < 2; center++) {
        const char *params = center ? "support=9,ridge=0.05" : "support=9,ridge=0.05,center=no";
        double *c = landmark_values(ROWS, p.x, landmarks, NULL);
        double *means = center ? support_centre_columns(ROWS, LANDMARKS, c) : NULL;
        double *test = landmark_values(TEST_ROWS, p.test, landmarks, means);
        double *expected =
            expected_features(&(eigenproblem){LANDMARKS, 2, c, y, 0.05, inner}, TEST_ROWS, test, 2, &gap);
        kfe_model *model = support_fit(ctx, "rkopls", params, "rbf:gamma=0.3", p.real);
        kfe_matrix got = support_transform(ctx, model, p.test_data);
        assert_int_equal(kfe_model_support_size(model), LANDMARKS);
        assert_int_equal(got.cols, 2);
        assert_below(support_distance_up_to_sign(TEST_ROWS, 2, expected, got.values),
                     tolerance_eigenvector(ROWS, gap));
        free(c);
        free(means);
        free(test);
        free(expected);
        kfe_matrix_free(&got);
        kfe_model_free(model);
    }
    free(inner);
    free(y);
    support_sample_free(&p);
}

static void test_the_seed_chooses_the_landmarks(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 6);
    size_t bytes = TEST_ROWS * (CLASSES - 1) * sizeof(double);
    kfe_matrix z[3];

    for (int k = 0; k < 3; k++) {
        kfe_context_set_seed(ctx, k == 2 ? 8 : 7);
        z[k] = support_features(ctx, "rkopls", "support=9", "rbf:gamma=0.3", p.data, p.test_data);
        assert_int_equal(z[k].cols, CLASSES - 1);
    }
    assert_memory_equal(z[0].values, z[1].values, bytes);
    assert_memory_not_equal(z[0].values, z[2].values, bytes);
    for (int k = 0; k < 3; k++)
        kfe_matrix_free(&z[k]);
    support_sample_free(&p);
}

/* ---- unusual data ---- */

static void assert_refused(kfe_context *ctx, const char *method, const char *kernel, const kfe_data *data,
                           const char *text)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, NULL, kernel, &spec));
    assert_fails(ctx, KFE_EINPUT, text, kfe_fit(ctx, spec, data, &model));
    assert_null(model);
    kfe_spec_free(spec);
}

static void test_what_cannot_be_explained_is_refused(void **state)
{
    static const char *const methods[] = {"kopls", "rkopls"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 7);
    double constant[ROWS];
    double zeros[ROWS * COLS] = {0};
    kfe_data *same = support_dense(ctx, ROWS, COLS, zeros, p.class_of);

    for (int64_t i = 0; i < ROWS; i++)
        constant[i] = 0.1;
    assert_ok(ctx, kfe_data_set_targets(ctx, p.real, 1, constant));
    for (int k = 0; k < 2; k++)
        assert_refused(ctx, methods[k], "rbf:gamma=1", p.real, "the same for every example");
    assert_refused(ctx, "kopls", "rbf:gamma=1", same, "all examples are the same");
    assert_refused(ctx, "rkopls", "rbf:gamma=1", same, "does not depend on the target");
    assert_refused(ctx, "rkopls", "linear", same, "is zero");
    kfe_data_free(same);
    support_sample_free(&p);
}

/* Every example twice doubles the scatter and the covariance, so twice the ridge gives the same
 * features divided by √2. */
static void test_duplicates_count_twice(void **state)
{
    static const char *const methods[] = {"kopls", "rkopls"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 8);
    double twice[2 * ROWS * COLS];
    int class_of[2 * ROWS];

    for (int64_t i = 0; i < 2 * ROWS; i++) {
        memcpy(twice + i * COLS, p.x + i % ROWS * COLS, COLS * sizeof *twice);
        class_of[i] = p.class_of[i % ROWS];
    }
    kfe_data *data = support_dense(ctx, 2 * ROWS, COLS, twice, class_of);
    for (int k = 0; k < 2; k++) {
        kfe_matrix a = support_features(ctx, methods[k], "ridge=0.1", "rbf:gamma=0.3", p.data, p.test_data);
        kfe_matrix b = support_features(ctx, methods[k], "ridge=0.2", "rbf:gamma=0.3", data, p.test_data);
        for (int64_t i = 0; i < TEST_ROWS * b.cols; i++)
            b.values[i] *= sqrt(2);
        assert_int_equal(a.cols, b.cols);
        assert_below(support_distance_up_to_sign(TEST_ROWS, a.cols, a.values, b.values), 1e-9);
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
    }
    kfe_data_free(data);
    support_sample_free(&p);
}

static void test_two_examples_and_fewer_features(void **state)
{
    static const char *const methods[] = {"kopls", "rkopls"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 9);
    int two[2] = {0, 1};
    kfe_data *pair = support_dense(ctx, 2, COLS, p.x, two);

    for (int k = 0; k < 2; k++) {
        kfe_matrix z = support_features(ctx, methods[k], NULL, "rbf:gamma=0.3", pair, pair);
        assert_int_equal(z.cols, 1);
        assert_below(fabs(z.values[0] + z.values[1]), 1e-12);
        assert_true(fabs(z.values[0]) > 0.1);
        kfe_matrix all = support_features(ctx, methods[k], NULL, "rbf:gamma=0.3", p.data, p.test_data);
        kfe_matrix one = support_features(ctx, methods[k], "dim=1", "rbf:gamma=0.3", p.data, p.test_data);
        assert_int_equal(one.cols, 1);
        for (int64_t i = 0; i < TEST_ROWS; i++)
            assert_below(fabs(all.values[i * all.cols] - one.values[i]), 1e-13);
        kfe_matrix_free(&z);
        kfe_matrix_free(&all);
        kfe_matrix_free(&one);
    }
    kfe_data_free(pair);
    support_sample_free(&p);
}

/* ---- ill-conditioned data ---- */

/* The least-squares fit of v (ROWS) by two columns, which are made orthonormal. */
static void explained_by(double *first, double *second, const double *v, double *out)
{
    double *const basis[] = {first, second};

    for (int64_t i = 0; i < ROWS; i++)
        out[i] = 0;
    for (int b = 0; b < 2; b++) {
        double length = 0;
        double inner = 0;
        for (int previous = 0; previous < 2 * b; previous++) { /* two passes suffice */
            inner = 0;
            for (int64_t i = 0; i < ROWS; i++)
                inner += basis[0][i] * basis[b][i];
            for (int64_t i = 0; i < ROWS; i++)
                basis[b][i] -= inner * basis[0][i];
        }
        for (int64_t i = 0; i < ROWS; i++)
            length += basis[b][i] * basis[b][i];
        inner = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            basis[b][i] /= sqrt(length);
            inner += basis[b][i] * v[i];
        }
        for (int64_t i = 0; i < ROWS; i++)
            out[i] += inner * basis[b][i];
    }
}

static void centre(double *v)
{
    double mean = 0;

    for (int64_t i = 0; i < ROWS; i++)
        mean += v[i] / ROWS;
    for (int64_t i = 0; i < ROWS; i++)
        v[i] -= mean;
}

static void normalise(double *v)
{
    double length = 0;

    for (int64_t i = 0; i < ROWS; i++)
        length += v[i] * v[i];
    for (int64_t i = 0; i < ROWS; i++)
        v[i] /= sqrt(length);
}

/* Rounds to a multiple of 1/1024, so that the sums and differences below are exact. */
static double rounded(double value)
{
    return round(1024 * value) / 1024;
}

/* The support is random: the model of the first seed for which it is the examples 0 and 1. */
static kfe_model *fit_on_first_two(kfe_context *ctx, const kfe_data *data)
{
    for (uint64_t seed = 0; seed < 20000; seed++) {
        kfe_context_set_seed(ctx, seed);
        kfe_model *model =
            support_fit(ctx, "rkopls", "support=2,ridge=1e-300,center=no", "precomputed", data);
        const int64_t *index = kfe_model_support_index(model);
        if (index[0] + index[1] == 1)
            return model;
        kfe_model_free(model);
    }
    fail_msg("no seed draws the examples 0 and 1");
    return NULL;
}

/* Two landmarks with κ = 1 for themselves and 0 for each other, whose kernel columns are 131072·g and
 * 131072·g + h: the condition number of the scatter matrix is at least 1e10. With a negligible ridge the
 * feature is the target's projection onto both columns, which least squares on the first column and the
 * difference gives exactly. Cholesky factors alone would be off by 1e-7 or more. */
static void test_the_solution_is_refined(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 11);
    double *g = support_normals(71, ROWS);
    double *h = support_normals(72, ROWS);
    double *y = support_normals(73, ROWS);
    double *k = calloc(ROWS * ROWS, sizeof *k);
    double expected[ROWS];
    kfe_data *data = NULL;

    for (int64_t i = 0; i < ROWS; i++) {
        int landmark = i < 2;
        g[i] = landmark ? (i == 0) : 131072 * rounded(g[i]);
        h[i] = landmark ? (i == 1) - (i == 0) : rounded(h[i]);
        y[i] += h[i];
        k[i * ROWS + i] = 1;
        k[i * ROWS] = k[i] = g[i];
        k[i * ROWS + 1] = k[ROWS + i] = g[i] + h[i];
    }
    centre(y);
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, ROWS, ROWS, k, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    kfe_model *model = fit_on_first_two(ctx, data);
    kfe_matrix z = support_transform(ctx, model, data);
    explained_by(g, h, y, expected);
    normalise(expected);
    normalise(z.values);
    assert_int_equal(z.cols, 1);
    assert_below(support_distance_up_to_sign(ROWS, 1, expected, z.values), 1e-9);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    kfe_data_free(data);
    support_sample_free(&p);
    free(g);
    free(h);
    free(y);
    free(k);
}

/* ---- failing allocations ---- */

static void test_allocations_that_fail(void **state)
{
    static const char *const requests[][2] = {
        {"kopls", NULL}, {"kopls", "center=no,dim=1"}, {"rkopls", "support=5"}, {"rkopls", "center=no"}};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 10);

    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
        support_fit_case one = {.method = requests[r][0],
                                .params = requests[r][1],
                                .kernel = "rbf:gamma=0.3",
                                .rows = ROWS,
                                .cols = COLS,
                                .x = p.x,
                                .targets = 2,
                                .y = p.y};
        support_sweep_all(requests[r][0], support_fit_use, &one, 20);
    }
    support_sample_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_directions_solve_the_eigenproblem),
        with_context(test_features_are_orthonormal_and_explain),
        with_context(test_classes_give_the_space_of_kfd),
        with_context(test_all_landmarks_give_kopls),
        with_context(test_few_landmarks_against_the_dense_problem),
        with_context(test_the_seed_chooses_the_landmarks),
        with_context(test_what_cannot_be_explained_is_refused),
        with_context(test_duplicates_count_twice),
        with_context(test_two_examples_and_fewer_features),
        with_context(test_the_solution_is_refined),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
