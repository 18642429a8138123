/* SPDX-License-Identifier: Apache-2.0 */
/* hsic and uhsic against the generalized eigenproblems of Chen et al. (2008), theorems 3.1 and 4.1, solved
 * with every matrix formed, and further properties. */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>

#include "support/sample.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 40, COLS = 4, CLASSES = 4 };
#define KERNEL "rbf:gamma=0.2"

/* YYᵀ, or Y(YᵀY)⁻¹Yᵀ. */
static double *label_matrix(const int *class_of, int by_size)
{
    double *h = calloc(ROWS * ROWS, sizeof *h);
    double sizes[CLASSES] = {0};

    for (int i = 0; i < ROWS; i++)
        sizes[class_of[i]] += 1;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            if (class_of[i] == class_of[j])
                h[i * ROWS + j] = by_size ? 1 / sizes[class_of[i]] : 1;
    return h;
}

static support_sample make_problem(kfe_context *ctx, uint64_t seed, int linear, int by_size)
{
    support_sample p = support_sample_make(
        ctx, &(support_shape){.seed = seed, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 1.5});

    if (linear) {
        double *turned = support_transpose(ROWS, COLS, p.x);
        p.k[0] = support_product(ROWS, COLS, ROWS, p.x, turned);
        free(turned);
    } else {
        support_sample_kernels(&p, 1, &(double){0.2});
    }
    support_sample_centre(&p, 1, 0);
    p.label = label_matrix(p.class_of, by_size);
    return p;
}

/* ---- brute force ---- */

static double *g_h_g(const support_sample *p)
{
    double *hg = support_product(ROWS, ROWS, ROWS, p->label, p->k[0]);
    double *ghg = support_product(ROWS, ROWS, ROWS, p->k[0], hg);

    free(hg);
    return ghg;
}

/* Eigenvalues and features GW of max tr(WᵀGHGW) subject to WᵀDW = I, on the range of G: with G = VΓVᵀ and W =
 * Vu, D becomes Γ + λ or Γ² + ξΓ, which avoids divisions by zero. */
static int64_t brute_force(const support_sample *p, int uncorrelated, double ridge, double *values,
                           double *features)
{
    double gamma[ROWS];
    double *v = calloc(ROWS * ROWS, sizeof *v);
    double *ghg = g_h_g(p);
    int64_t r = 0;

    support_jacobi(ROWS, p->k[0], gamma, v);
    while (r < ROWS && gamma[r] > 1e-10 * gamma[0])
        r++;
    double *range = calloc((size_t)(ROWS * r), sizeof *range);
    double *d = calloc((size_t)(r * r), sizeof *d);
    double *vectors = calloc((size_t)(r * r), sizeof *vectors);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < r; j++)
            range[i * r + j] = v[i * ROWS + j];
    for (int64_t j = 0; j < r; j++)
        d[j * r + j] = uncorrelated ? gamma[j] * (gamma[j] + ridge) : gamma[j] + ridge;
    double *turned = support_transpose(ROWS, r, range);
    double *half = support_product(r, ROWS, ROWS, turned, ghg);
    double *small = support_product(r, ROWS, r, half, range);
    support_generalized(r, small, d, values, vectors);
    double *w = support_product(ROWS, r, r, range, vectors);
    double *z = support_product(ROWS, ROWS, r, p->k[0], w);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < CLASSES - 1; j++)
            features[i * (CLASSES - 1) + j] = z[i * r + j];
    free(v);
    free(ghg);
    free(range);
    free(d);
    free(vectors);
    free(turned);
    free(half);
    free(small);
    free(w);
    free(z);
    return r;
}

static void compare(kfe_context *ctx, const char *method, int linear, int by_size, double ridge)
{
    enum { K = CLASSES - 1 };
    support_sample p = make_problem(ctx, 5, linear, by_size);
    int uncorrelated = strcmp(method, "uhsic") == 0;
    double values[ROWS];
    double features[ROWS * K];
    char params[96];
    int64_t count = 0;

    snprintf(params, sizeof params, "%s=%g,label-kernel=%s", uncorrelated ? "xi" : "lambda", ridge,
             by_size ? "h2" : "h1");
    kfe_model *model = support_fit(ctx, method, params, linear ? "linear" : KERNEL, p.data);
    kfe_matrix z = support_transform(ctx, model, p.data);
    const double *criterion = kfe_model_record(model, "criterion", &count);
    brute_force(&p, uncorrelated, ridge, values, features);
    assert_int_equal(z.cols, K);
    assert_int_equal(count, K);
    double condition = support_largest(ROWS * ROWS, p.k[0]) * ROWS / ridge;
    for (int j = 0; j < K; j++)
        assert_below(fabs(criterion[j] - values[j]), tolerance_solve(ROWS, condition) * values[0]);
    /* eigenvalues of such clouds differ by a tenth or more */
    assert_below(support_distance_up_to_sign(ROWS, K, features, z.values),
                 100 * tolerance_solve(ROWS, condition));
    kfe_matrix_free(&z);
    kfe_model_free(model);
    support_sample_free(&p);
}

static void test_brute_force(void **state)
{
    static const double ridges[] = {1e-3, 0.1, 10};

    for (int r = 0; r < 3; r++)
        for (int by_size = 0; by_size < 2; by_size++)
            for (int linear = 0; linear < 2; linear++) { /* linear: G is singular, with rank COLS */
                compare(*state, "hsic", linear, by_size, ridges[r]);
                compare(*state, "uhsic", linear, by_size, ridges[r]);
            }
}

/* ---- properties ---- */

/* With a negligible ridge, the features of uhsic are uncorrelated and have norm one. */
static void test_features_are_uncorrelated(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 6, 1, 1);
    kfe_matrix z = support_features(ctx, "uhsic", "xi=1e-6", "linear", p.data, p.data);

    for (int64_t a = 0; a < z.cols; a++)
        for (int64_t b = 0; b < z.cols; b++) {
            double sum = 0;
            for (int64_t i = 0; i < ROWS; i++)
                sum += z.values[i * z.cols + a] * z.values[i * z.cols + b];
            assert_below(fabs(sum - (a == b)), 1e-5);
        }
    kfe_matrix_free(&z);
    support_sample_free(&p);
}

static void test_uhsic_is_kfd(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 7, 0, 1);
    kfe_matrix z = support_features(ctx, "uhsic", "xi=0.3,label-kernel=h2", KERNEL, p.data, p.data);
    kfe_matrix kfd = support_features(ctx, "kfd", "ridge=0.3,ridge-on=norm", KERNEL, p.data, p.data);

    assert_int_equal(z.cols, kfd.cols);
    assert_below(support_distance_up_to_sign(ROWS, z.cols, kfd.values, z.values), tolerance_solve(ROWS, 1e3));
    kfe_matrix_free(&z);
    kfe_matrix_free(&kfd);
    support_sample_free(&p);
}

static void test_eigenvalues_fall_with_lambda(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 8, 0, 1);
    double before[CLASSES] = {INFINITY, INFINITY, INFINITY};

    for (double lambda = 1e-4; lambda < 1e3; lambda *= 10) {
        char params[64];
        int64_t count = 0;
        snprintf(params, sizeof params, "lambda=%g", lambda);
        kfe_model *model = support_fit(ctx, "hsic", params, KERNEL, p.data);
        const double *criterion = kfe_model_record(model, "criterion", &count);
        assert_int_equal(count, CLASSES - 1);
        for (int64_t j = 0; j < count; j++) {
            assert_true(criterion[j] <= before[j] * (1 + 1e-9));
            before[j] = criterion[j];
        }
        kfe_model_free(model);
    }
    assert_true(before[0] < 1);
    support_sample_free(&p);
}

static void test_more_features_than_rank(void **state)
{
    static const char *const methods[] = {"hsic", "uhsic"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 9, 0, 1);

    for (int m = 0; m < 2; m++) {
        support_catch_log(ctx);
        kfe_matrix z = support_features(ctx, methods[m], "dim=10", KERNEL, p.data, p.data);
        assert_int_equal(z.cols, CLASSES - 1);
        assert_non_null(strstr(support_log(), "10 features were asked for"));
        kfe_matrix_free(&z);
    }
    support_sample_free(&p);
}

/* One column of data: the centred kernel has rank one for any classes. */
static void test_rank_of_the_data_limits(void **state)
{
    static const char *const methods[] = {"hsic", "uhsic"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 10, 0, 1);
    kfe_data *one = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, 1, COLS, p.x, &one));
    support_label(ctx, one, ROWS, p.class_of);
    for (int m = 0; m < 2; m++) {
        kfe_matrix z = support_features(ctx, methods[m], NULL, "linear", one, one);
        assert_int_equal(z.cols, 1);
        kfe_matrix_free(&z);
    }
    kfe_data_free(one);
    support_sample_free(&p);
}

/* ---- kinds of operators, targets ---- */

static void test_operators_agree(void **state)
{
    static const char *const methods[] = {"hsic", "uhsic"};
    static const char *const forms[] = {"gram=tiled", "gram=f64"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 11, 1, 1);
    support_csr arrays = {0};
    kfe_data *sparse = support_sparse(ctx, ROWS, COLS, p.x, p.class_of, &arrays);
    kfe_data *given = support_dense(ctx, ROWS, ROWS, p.k[0], p.class_of);

    for (int m = 0; m < 2; m++) {
        kfe_matrix expected = support_features(ctx, methods[m], NULL, "linear", p.data, p.data);
        double *values[4] = {0};
        kfe_matrix z[4] = {
            support_features(ctx, methods[m], forms[0], "linear", p.data, p.data),
            support_features(ctx, methods[m], forms[1], "linear", p.data, p.data),
            support_features(ctx, methods[m], NULL, "linear", sparse, sparse),
            support_features(ctx, methods[m], NULL, "precomputed", given, given),
        };
        for (int f = 0; f < 4; f++) {
            values[f] = z[f].values;
            assert_below(support_distance_up_to_sign(ROWS, expected.cols, expected.values, values[f]),
                         tolerance_solve(ROWS, 1e5));
            kfe_matrix_free(&z[f]);
        }
        kfe_matrix_free(&expected);
    }
    kfe_data_free(sparse);
    kfe_data_free(given);
    support_csr_free(&arrays);
    support_sample_free(&p);
}

/* One real target with the linear label kernel: one direction, (G + λI)⁻¹Gy and (G + ξI)⁻¹y. */
static void test_regression_is_ridge_regression(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 3, 3, 1);
    double *k = support_rbf(DEFLATION_ROWS, p.x, DEFLATION_ROWS, p.x, 3, 0.1);
    double g[DEFLATION_ROWS * DEFLATION_ROWS];

    support_centre_kernel(DEFLATION_ROWS, k);
    memcpy(g, k, sizeof g);
    for (int i = 0; i < DEFLATION_ROWS; i++)
        g[i * DEFLATION_ROWS + i] += 0.5;
    double *b = support_solve(DEFLATION_ROWS, 1, g, p.centred);
    double *expected = support_product(DEFLATION_ROWS, DEFLATION_ROWS, 1, k, b);
    kfe_matrix z = support_features(ctx, "uhsic", "xi=0.5", "rbf:gamma=0.1", p.data, p.data);
    assert_int_equal(z.cols, 1);
    assert_below(1 - fabs(deflation_cosine(DEFLATION_ROWS, expected, 1, z.values, 1)), 1e-10);
    kfe_matrix_free(&z);
    double *gy = support_product(DEFLATION_ROWS, DEFLATION_ROWS, 1, k, p.centred);
    free(b);
    b = support_solve(DEFLATION_ROWS, 1, g, gy);
    free(expected);
    expected = support_product(DEFLATION_ROWS, DEFLATION_ROWS, 1, k, b);
    z = support_features(ctx, "hsic", "lambda=0.5", "rbf:gamma=0.1", p.data, p.data);
    assert_below(1 - fabs(deflation_cosine(DEFLATION_ROWS, expected, 1, z.values, 1)), 1e-10);
    kfe_matrix_free(&z);
    free(b);
    free(gy);
    free(expected);
    free(k);
    deflation_free(&p);
}

/* The eigenvalues of uhsic sum to tr((I − (I + G/ξ)⁻¹)PHP) for any label kernel. */
static void test_kernel_on_targets(void **state)
{
    enum { N = DEFLATION_ROWS };
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 4, 3, 2);
    double *k = support_rbf(N, p.x, N, p.x, 3, 0.1);
    double *h = support_rbf(N, p.y, N, p.y, 2, 0.05);
    double trace = 0;
    double total = 0;
    int64_t count = 0;

    support_centre_kernel(N, k);
    support_centre_kernel(N, h);
    double *left = calloc(N * N, sizeof *left);
    memcpy(left, k, N * N * sizeof *left);
    for (int i = 0; i < N; i++)
        left[i * N + i] += 0.5;
    double *gh = support_product(N, N, N, k, h);
    double *solved = support_solve(N, N, left, gh);
    for (int i = 0; i < N; i++)
        trace += solved[i * N + i];
    kfe_model *model =
        support_fit(ctx, "uhsic", "xi=0.5,label-kernel=rbf:gamma=0.05", "rbf:gamma=0.1", p.data);
    const double *criterion = kfe_model_record(model, "criterion", &count);
    for (int64_t j = 0; j < count; j++)
        total += criterion[j];
    assert_true(count > 2);
    assert_below(fabs(total - trace), 1e-7 * trace);
    kfe_model_free(model);
    free(k);
    free(h);
    free(left);
    free(gh);
    free(solved);
    deflation_free(&p);
}

/* ---- refused and accepted input ---- */

static void fit_fails(kfe_context *ctx, const char *method, const char *params, const kfe_data *data,
                      kfe_status expected, const char *text)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, KERNEL, &spec));
    assert_fails(ctx, expected, text, kfe_fit(ctx, spec, data, &model));
    assert_null(model);
    kfe_spec_free(spec);
}

static void test_bad_input(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 12, 0, 1);
    deflation_problem real = deflation_make(ctx, 4, 3, 1);
    kfe_spec *spec = NULL;
    double same[ROWS] = {0};

    assert_fails(ctx, KFE_EINVAL, "lambda", kfe_spec_parse(ctx, "hsic", "lambda=0", KERNEL, &spec));
    assert_fails(ctx, KFE_EINVAL, "lambda", kfe_spec_parse(ctx, "hsic", "lambda=-1", KERNEL, &spec));
    assert_fails(ctx, KFE_EINVAL, "xi", kfe_spec_parse(ctx, "uhsic", "xi=0", KERNEL, &spec));
    assert_fails(ctx, KFE_EINVAL, "xi", kfe_spec_parse(ctx, "uhsic", "xi=-1", KERNEL, &spec));
    fit_fails(ctx, "hsic", "label-kernel=nonsense", p.data, KFE_EINVAL, "nonsense");
    fit_fails(ctx, "hsic", "label-kernel=precomputed", p.data, KFE_EINVAL, "cannot be a label kernel");
    fit_fails(ctx, "uhsic", "label-kernel=h1", real.data, KFE_EINVAL, "for classes");
    assert_ok(ctx, kfe_data_set_targets(ctx, p.data, 1, same));
    fit_fails(ctx, "hsic", NULL, p.data, KFE_EINPUT, "the same for every example");
    kfe_data *constant = support_dense(ctx, ROWS, 1, same, p.class_of);
    fit_fails(ctx, "hsic", NULL, constant, KFE_EINPUT, "the same to the kernel");
    fit_fails(ctx, "uhsic", NULL, constant, KFE_EINPUT, "the same to the kernel");
    kfe_data_free(constant);
    memset(p.class_of, 0, ROWS * sizeof *p.class_of);
    kfe_data *one_class = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    fit_fails(ctx, "hsic", NULL, one_class, KFE_EINPUT, "two classes");
    fit_fails(ctx, "uhsic", NULL, one_class, KFE_EINPUT, "two classes");
    kfe_data_free(one_class);
    deflation_free(&real);
    support_sample_free(&p);
}

static void test_classes_of_one_member(void **state)
{
    static const char *const methods[] = {"hsic", "uhsic"};
    kfe_context *ctx = *state;
    double *x = support_normals(13, 6 * 3);
    int class_of[6] = {0, 1, 2, 3, 4, 5};
    kfe_data *data = support_dense(ctx, 6, 3, x, class_of);

    for (int m = 0; m < 2; m++) {
        kfe_matrix z = support_features(ctx, methods[m], NULL, "rbf:gamma=0.5", data, data);
        assert_int_equal(z.cols, 5);
        for (int64_t i = 0; i < z.rows * z.cols; i++)
            assert_true(isfinite(z.values[i]));
        kfe_matrix_free(&z);
    }
    kfe_data_free(data);
    free(x);
}

/* Every method with a ridge follows one rule: a matrix with a large negative eigenvalue is replaced by its
 * positive part, with a warning. */
static void test_indefinite_kernel(void **state)
{
    static const char *const methods[] = {"hsic", "uhsic", "kfd", "kopls"};
    static const char *const params[] = {"lambda=0.1", "xi=0.1", "ridge=0.1", "ridge=0.1"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 14, 0, 1);
    double values[ROWS];
    double *v = calloc(ROWS * ROWS, sizeof *v);
    double *bad = calloc(ROWS * ROWS, sizeof *bad);

    support_jacobi(ROWS, p.k[0], values, v);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            bad[i * ROWS + j] = p.k[0][i * ROWS + j] - (values[1] + 1) * v[i * ROWS + 1] * v[j * ROWS + 1];
            p.k[0][i * ROWS + j] -= values[1] * v[i * ROWS + 1] * v[j * ROWS + 1];
        }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < i; j++) {
            bad[j * ROWS + i] = bad[i * ROWS + j];
            p.k[0][j * ROWS + i] = p.k[0][i * ROWS + j];
        }
    kfe_data *good_data = support_dense(ctx, ROWS, ROWS, p.k[0], p.class_of);
    kfe_data *bad_data = support_dense(ctx, ROWS, ROWS, bad, p.class_of);
    for (int m = 0; m < 4; m++) {
        kfe_matrix expected =
            support_features(ctx, methods[m], params[m], "precomputed", good_data, good_data);
        support_catch_log(ctx);
        kfe_matrix z = support_features(ctx, methods[m], params[m], "precomputed", bad_data, good_data);
        assert_non_null(strstr(support_log(), "not positive definite"));
        assert_below(support_distance_up_to_sign(ROWS, expected.cols, expected.values, z.values), 1e-8);
        kfe_matrix_free(&expected);
        kfe_matrix_free(&z);
    }
    kfe_data_free(good_data);
    kfe_data_free(bad_data);
    free(v);
    free(bad);
    support_sample_free(&p);
}

/* All of them accept a sigmoid kernel, with the same warning. */
static void test_sigmoid_kernel_is_accepted(void **state)
{
    static const char *const methods[] = {"hsic", "uhsic", "kfd", "kopls", "rkopls", "kb"};
    kfe_context *ctx = *state;
    double *x = support_normals(21, ROWS * COLS);
    int class_of[ROWS];

    for (int i = 0; i < ROWS; i++)
        class_of[i] = i % 2;
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        support_catch_log(ctx);
        kfe_matrix z = support_features(ctx, methods[m], "dim=1", "sigmoid:gamma=1,coef0=-1", data, data);
        const char *log = support_log();
        assert_non_null(strstr(log, methods[m]));
        assert_non_null(strstr(log, "the kernel is not positive definite on this data"));
        for (int64_t i = 0; i < z.rows * z.cols; i++)
            assert_true(isfinite(z.values[i]));
        kfe_matrix_free(&z);
    }
    kfe_data_free(data);
    free(x);
}

/* A matrix of negative trace is indefinite; the message must not claim that all examples are equal. */
static void test_negative_trace_is_not_equal_examples(void **state)
{
    kfe_context *ctx = *state;
    int class_of[ROWS];
    double *k = calloc(ROWS * ROWS, sizeof *k);

    for (int i = 0; i < ROWS; i++)
        class_of[i] = i % 2;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            k[i * ROWS + j] = (i % 2 ? 1.0 : -1.0) * (j % 2 ? 1.0 : -1.0) - 3 * (i == j);
    kfe_data *data = support_dense(ctx, ROWS, ROWS, k, class_of);
    support_catch_log(ctx);
    kfe_matrix z = support_features(ctx, "hsic", NULL, "precomputed", data, data);
    assert_non_null(strstr(support_log(), "not positive definite"));
    for (int i = 2; i < ROWS; i++) /* one feature: the class */
        assert_below(fabs(z.values[i] - z.values[i - 2]), 1e-9 * fabs(z.values[0]));
    assert_true(z.values[0] * z.values[1] < 0);
    kfe_matrix_free(&z);
    kfe_data_free(data);
    free(k);
}

static void test_failing_allocations(void **state)
{
    static const char *const cases[][3] = {
        {"hsic", NULL, "rbf:gamma=1"},
        {"uhsic", "label-kernel=rbf:gamma=1", "rbf:gamma=1"},
        {"hsic", "lambda=1e-6", "sigmoid:gamma=3,coef0=-1"},
    };
    static const int class_of[] = {0, 1, 2, 0, 1, 2, 0, 1};
    double *x = support_normals(2, 24);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_fit_case fit = {cases[i][0], cases[i][1], cases[i][2], 8, 3, x, class_of, 0, NULL};
        support_sweep_all(cases[i][0], support_fit_use, &fit, 20);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_brute_force),
        with_context(test_features_are_uncorrelated),
        with_context(test_uhsic_is_kfd),
        with_context(test_eigenvalues_fall_with_lambda),
        with_context(test_more_features_than_rank),
        with_context(test_rank_of_the_data_limits),
        with_context(test_operators_agree),
        with_context(test_regression_is_ridge_regression),
        with_context(test_kernel_on_targets),
        with_context(test_bad_input),
        with_context(test_classes_of_one_member),
        with_context(test_indefinite_kernel),
        with_context(test_sigmoid_kernel_is_accepted),
        with_context(test_negative_trace_is_not_equal_examples),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
