/* SPDX-License-Identifier: Apache-2.0 */
/* kb against a direct implementation on explicit features, with matrices over all pairs and dense generalized
 * eigenproblems. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 30, TEST_ROWS = 12, COLS = 4, ITERATIONS = 6 };

typedef struct problem {
    double *x, *test;
    int class_of[ROWS];
    kfe_data *train, *test_data;
} problem;

/* Two overlapping classes. */
static problem make_problem(kfe_context *ctx, uint64_t seed)
{
    problem p = {.x = support_normals(seed, ROWS * COLS),
                 .test = support_normals(seed + 9, TEST_ROWS * COLS)};

    for (int i = 0; i < ROWS; i++) {
        p.class_of[i] = i % 3 == 0;
        p.x[i * COLS] += p.class_of[i] ? 0.8 : -0.5;
        p.x[i * COLS + 1] += p.class_of[i];
    }
    p.train = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    p.test_data = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    return p;
}

static void free_problem(problem *p)
{
    kfe_data_free(p->train);
    kfe_data_free(p->test_data);
    free(p->x);
    free(p->test);
}

/* ---- the algorithm, implemented again ---- */

typedef struct direct {
    double q[ROWS * ITERATIONS]; /* features of the training examples times √step */
    double t[TEST_ROWS * ITERATIONS];
    double steps[ITERATIONS], losses[ITERATIONS];
    /* the smallest relative gap of the leading eigenvalue, divided by the condition number of the right
     * side */
    double gap;
} direct;

static double same_class(const problem *p, int i, int j)
{
    return p->class_of[i] == p->class_of[j] ? 1 : -1;
}

/* The leading generalized eigenvector w of (FᵀMF, FᵀF + ridge·S) for F (ROWS × k). */
static void leading_vector(int64_t k, const double *f, const double *m, double ridge, const double *s,
                           double *w, double *gap)
{
    double *turned = support_transpose(ROWS, k, f);
    double *mf = support_product(ROWS, ROWS, k, m, f);
    double *left = support_product(k, ROWS, k, turned, mf);
    double *right = support_product(k, ROWS, k, turned, f);
    double *values = calloc((size_t)k, sizeof *values);
    double *vectors = calloc((size_t)(k * k), sizeof *vectors);

    for (int64_t i = 0; i < k * k; i++)
        right[i] += ridge * s[i];
    support_generalized(k, left, right, values, vectors);
    for (int64_t i = 0; i < k; i++)
        w[i] = vectors[i * k];
    *gap = fmin(*gap,
                (values[0] - values[1]) / fmax(values[0], fabs(values[k - 1])) / support_condition(k, right));
    free(turned);
    free(mf);
    free(left);
    free(right);
    free(values);
    free(vectors);
}

/* Boosting on features F (ROWS × k) and, for new points, N (TEST_ROWS × k), with the norm wᵀSw. */
static direct boost(const problem *p, int log_loss, int64_t k, const double *f, const double *n, double ridge,
                    const double *s)
{
    direct d = {.gap = 1};
    double kernel[ROWS * ROWS] = {0};
    double m[ROWS * ROWS];
    double weight[ROWS * ROWS];
    double *w = calloc((size_t)k, sizeof *w);

    for (int t = 0; t < ITERATIONS; t++) {
        double largest = 0;
        double right = 0;
        double wrong = 0;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++) {
                double agreement = same_class(p, i, j) * kernel[i * ROWS + j];
                weight[i * ROWS + j] = log_loss ? 1 / (1 + exp(agreement)) : exp(-agreement);
                m[i * ROWS + j] = weight[i * ROWS + j] * same_class(p, i, j);
            }
        leading_vector(k, f, m, ridge, s, w, &d.gap);
        double *q = support_product(ROWS, k, 1, f, w);
        double *q_test = support_product(TEST_ROWS, k, 1, n, w);
        for (int i = 0; i < ROWS; i++)
            largest = fmax(largest, fabs(q[i]));
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++) {
                double value = q[i] * q[j] / (largest * largest);
                if (value * same_class(p, i, j) > 0)
                    right += weight[i * ROWS + j] * fabs(value);
                else
                    wrong += weight[i * ROWS + j] * fabs(value);
            }
        d.steps[t] = log(right / fmax(wrong, right / (ROWS * ROWS))) / 2;
        for (int i = 0; i < ROWS; i++)
            d.q[i * ITERATIONS + t] = sqrt(d.steps[t]) * q[i] / largest;
        for (int i = 0; i < TEST_ROWS; i++)
            d.t[i * ITERATIONS + t] = sqrt(d.steps[t]) * q_test[i] / largest;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++) {
                kernel[i * ROWS + j] += d.q[i * ITERATIONS + t] * d.q[j * ITERATIONS + t];
                double agreement = same_class(p, i, j) * kernel[i * ROWS + j];
                d.losses[t] += (log_loss ? log(1 + exp(-agreement)) : exp(-agreement)) / (ROWS * ROWS);
            }
        free(q);
        free(q_test);
    }
    free(w);
    return d;
}

static void compare(kfe_context *ctx, const problem *p, const char *params, const char *kernel,
                    const direct *expected)
{
    kfe_model *model = support_fit(ctx, "kb", params, kernel, p->train);
    kfe_matrix train = support_transform(ctx, model, p->train);
    kfe_matrix test = support_transform(ctx, model, p->test_data);
    /* a difference in one iteration changes all later ones */
    double bound = ITERATIONS * tolerance_eigenvector(ROWS, expected->gap);
    int64_t count = 0;

    const double *steps = kfe_model_record(model, "steps", &count);
    assert_int_equal(count, ITERATIONS);
    assert_below(support_distance(ITERATIONS, expected->steps, steps), bound);
    const double *losses = kfe_model_record(model, "losses", &count);
    assert_int_equal(count, ITERATIONS);
    assert_below(support_distance(ITERATIONS, expected->losses, losses), bound);
    assert_below(support_distance_up_to_sign(ROWS, ITERATIONS, expected->q, train.values), bound);
    assert_below(support_distance_up_to_sign(TEST_ROWS, ITERATIONS, expected->t, test.values), bound);
    kfe_matrix_free(&train);
    kfe_matrix_free(&test);
    kfe_model_free(model);
}

static const char *const loss_names[] = {"exp", "log"};

/* With a linear kernel, in COLS dimensions; without a ridge it is the paper's problem. */
static void test_linear_boosting_equals_the_direct_one(void **state)
{
    static const double ridges[] = {0, 5};
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 1);
    double unit[COLS * COLS] = {0};
    char params[64];

    for (int j = 0; j < COLS; j++)
        unit[j * COLS + j] = 1;
    for (int loss = 0; loss < 2; loss++)
        for (int r = 0; r < 2; r++) {
            direct expected = boost(&p, loss, COLS, p.x, p.test, ridges[r], unit);
            snprintf(params, sizeof params, "dim=%d,ridge=%g,loss=%s", ITERATIONS, ridges[r],
                     loss_names[loss]);
            compare(ctx, &p, params, "linear", &expected);
        }
    free_problem(&p);
}

/* In the dual, KMKα = λ(KK + μK)α, by the kernel's formula. */
static void test_kernel_boosting_equals_the_direct_one(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 2);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    double *k_test = support_rbf(TEST_ROWS, p.test, ROWS, p.x, COLS, 0.3);
    char params[64];

    for (int loss = 0; loss < 2; loss++) {
        direct expected = boost(&p, loss, ROWS, k, k_test, 20, k);
        snprintf(params, sizeof params, "dim=%d,ridge=20,loss=%s", ITERATIONS, loss_names[loss]);
        compare(ctx, &p, params, "rbf:gamma=0.3", &expected);
    }
    free(k);
    free(k_test);
    free_problem(&p);
}

static void test_centred_kernel_equals_centred_data(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 3);
    double moved[ROWS * COLS];

    memcpy(moved, p.x, sizeof moved);
    free(support_centre_columns(ROWS, COLS, moved));
    kfe_data *centred = support_dense(ctx, ROWS, COLS, moved, p.class_of);
    kfe_matrix a = support_features(ctx, "kb", "dim=4,center=yes,ridge=1", "linear", p.train, p.train);
    kfe_matrix b = support_features(ctx, "kb", "dim=4,ridge=1", "linear", centred, centred);
    assert_int_equal(a.cols, b.cols);
    assert_below(support_distance_up_to_sign(ROWS, a.cols, a.values, b.values), 1e-10);
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_data_free(centred);
    free_problem(&p);
}

/* ---- properties of boosting ---- */

static double pair_loss(const problem *p, int log_loss, const kfe_matrix *z, int64_t features)
{
    double total = 0;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double kernel = 0;
            for (int64_t t = 0; t < features; t++)
                kernel += z->values[i * z->cols + t] * z->values[j * z->cols + t];
            double agreement = same_class(p, i, j) * kernel;
            total += log_loss ? log(1 + exp(-agreement)) : exp(-agreement);
        }
    return total / (ROWS * ROWS);
}

static void test_the_loss_falls_in_every_iteration(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.5", "linear", "poly:degree=2", "laplacian"};
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 4);
    char params[64];

    for (int loss = 0; loss < 2; loss++)
        for (int k = 0; k < 4; k++) {
            int64_t count = 0;
            snprintf(params, sizeof params, "dim=12,loss=%s", loss_names[loss]);
            kfe_model *model = support_fit(ctx, "kb", params, kernels[k], p.train);
            kfe_matrix z = support_transform(ctx, model, p.train);
            const double *losses = kfe_model_record(model, "losses", &count);
            double before = pair_loss(&p, loss, &z, 0);
            assert_int_equal(count, 12);
            for (int64_t t = 0; t < count; t++) {
                double after = pair_loss(&p, loss, &z, t + 1);
                assert_true(after < before);
                assert_below(fabs(after - losses[t]), 1e-11);
                before = after;
            }
            kfe_matrix_free(&z);
            kfe_model_free(model);
        }
    free_problem(&p);
}

/* ---- unusual data ---- */

/* Without a ridge and with a kernel matrix of full rank, the first feature is the class itself. */
static void test_a_perfect_feature_ends_it(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 5);

    support_catch_log(ctx);
    kfe_matrix z = support_features(ctx, "kb", "ridge=0", "rbf:gamma=2", p.train, p.train);
    assert_non_null(strstr(support_log(), "equals the class"));
    assert_int_equal(z.cols, 1);
    for (int i = 0; i < ROWS; i++)
        assert_below(fabs(z.values[i] * z.values[0] - same_class(&p, i, 0) * log(ROWS)), 1e-9);
    kfe_matrix_free(&z);
    free_problem(&p);
}

/* Features do not depend on the unit of the data, however small, and the model can be used. */
static void test_tiny_data_gives_the_same_features(void **state)
{
    static const double units[] = {1e-60, 1e-90, 1e-120, 1e60, 1e90};
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 6);
    double scaled[ROWS * COLS];
    kfe_matrix expected = support_features(ctx, "kb", "dim=4", "linear", p.train, p.train);

    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        for (int i = 0; i < ROWS * COLS; i++)
            scaled[i] = units[u] * p.x[i];
        kfe_data *data = support_dense(ctx, ROWS, COLS, scaled, p.class_of);
        kfe_matrix z = support_features(ctx, "kb", "dim=4", "linear", data, data);
        assert_int_equal(z.cols, expected.cols);
        assert_below(support_distance_up_to_sign(ROWS, z.cols, expected.values, z.values), 1e-9);
        kfe_matrix_free(&z);
        kfe_data_free(data);
    }
    kfe_matrix_free(&expected);
    free_problem(&p);
}

/* If coefficients would overflow, the fit fails with a message and writes no model. */
static void test_data_too_small_for_doubles_is_refused(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 6);
    double scaled[ROWS * COLS];
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    for (int i = 0; i < ROWS * COLS; i++)
        scaled[i] = 1e-158 * p.x[i];
    kfe_data *data = support_dense(ctx, ROWS, COLS, scaled, p.class_of);
    assert_ok(ctx, kfe_spec_parse(ctx, "kb", "dim=4", "linear", &spec));
    assert_int_not_equal(kfe_fit(ctx, spec, data, &model), KFE_OK);
    assert_null(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    free_problem(&p);
}

/* One column of ±1: after one step, right and wrong pairs have the same weight. */
static void test_no_positive_step_ends_it(void **state)
{
    kfe_context *ctx = *state;
    double x[8] = {1, 1, 1, -1, -1, -1, -1, 1};
    int class_of[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    kfe_data *data = support_dense(ctx, 8, 1, x, class_of);

    support_catch_log(ctx);
    kfe_matrix z = support_features(ctx, "kb", "dim=5", "linear", data, data);
    assert_non_null(strstr(support_log(), "no feature has a positive step"));
    assert_int_equal(z.cols, 1);
    /* 40 of the 64 pairs are ordered correctly */
    for (int i = 0; i < 8; i++)
        assert_below(fabs(z.values[i] * z.values[0] - x[i] * log(40.0 / 24) / 2), 1e-14);
    kfe_matrix_free(&z);
    kfe_data_free(data);
}

static void assert_refused(kfe_context *ctx, int64_t rows, const double *x, const int *class_of,
                           const char *kernel, const char *text)
{
    kfe_data *data = support_dense(ctx, rows, 1, x, class_of);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "kb", NULL, kernel, &spec));
    assert_fails(ctx, KFE_EINPUT, text, kfe_fit(ctx, spec, data, &model));
    assert_null(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
}

static void test_what_cannot_be_boosted_is_refused(void **state)
{
    kfe_context *ctx = *state;
    const double x[6] = {1, 2, 3, 4, 5, 6};
    const double same[6] = {1, 1, 1, 1, 1, 1};
    const double zeros[6] = {0};

    assert_refused(ctx, 6, x, (int[]){0, 1, 2, 0, 1, 2}, "rbf:gamma=1", "two classes");
    assert_refused(ctx, 6, x, (int[]){0, 0, 0, 0, 0, 0}, "rbf:gamma=1", "two classes");
    assert_refused(ctx, 6, same, (int[]){0, 1, 0, 1, 0, 1}, "rbf:gamma=1", "no feature of this kernel");
    assert_refused(ctx, 6, zeros, (int[]){0, 1, 0, 1, 0, 1}, "linear", "is zero");
}

static void test_small_and_repeated_data_is_accepted(void **state)
{
    kfe_context *ctx = *state;
    const double repeated[6] = {1, 1, 1, 2, 2, 2};
    const struct {
        int64_t rows;
        const double *x;
        int class_of[6];
    } cases[] = {{2, (const double[]){1, -1}, {0, 1}},
                 {6, repeated, {0, 0, 1, 1, 1, 0}},
                 {5, (const double[]){3, 3, 3, 3, 3}, {0, 1, 1, 1, 1}}};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kfe_data *data = support_dense(ctx, cases[c].rows, 1, cases[c].x, cases[c].class_of);
        kfe_matrix z = support_features(ctx, "kb", NULL, "rbf:gamma=1", data, data);
        assert_true(z.cols >= 1);
        for (int64_t i = 0; i < z.rows * z.cols; i++)
            assert_true(isfinite(z.values[i]) && z.values[i] != 0);
        kfe_matrix_free(&z);
        kfe_data_free(data);
    }
}

static void test_memory_limit_is_respected(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 6);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_context_set_memory(ctx, 20000));
    assert_ok(ctx, kfe_spec_parse(ctx, "kb", NULL, "rbf:gamma=1", &spec));
    assert_fails(ctx, KFE_ELIMIT, "kb", kfe_fit(ctx, spec, p.train, &model));
    kfe_spec_free(spec);
    free_problem(&p);
}

/* ---- failing allocations ---- */

static support_fit_case boosting(const problem *p, const char *params)
{
    return (support_fit_case){"kb", params, "rbf:gamma=0.3", ROWS, COLS, p->x, p->class_of, 0, NULL};
}

static void test_allocations_that_fail(void **state)
{
    static const char *const requests[] = {"dim=3", "dim=3,loss=log,center=yes"};
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 7);

    for (int r = 0; r < 2; r++) {
        support_fit_case one = boosting(&p, requests[r]);
        support_sweep_all(requests[r], support_fit_use, &one, 20);
    }
    free_problem(&p);
}

/* More iterations make no more allocations. */
static void test_iterations_do_not_allocate(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 8);
    support_fit_case few = boosting(&p, "dim=2");
    support_fit_case many = boosting(&p, "dim=9");

    assert_int_equal(support_count_allocations(support_fit_use, &few),
                     support_count_allocations(support_fit_use, &many));
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_linear_boosting_equals_the_direct_one),
        with_context(test_kernel_boosting_equals_the_direct_one),
        with_context(test_centred_kernel_equals_centred_data),
        with_context(test_the_loss_falls_in_every_iteration),
        with_context(test_a_perfect_feature_ends_it),
        with_context(test_tiny_data_gives_the_same_features),
        with_context(test_data_too_small_for_doubles_is_refused),
        with_context(test_no_positive_step_ends_it),
        with_context(test_what_cannot_be_boosted_is_refused),
        with_context(test_small_and_repeated_data_is_accepted),
        with_context(test_memory_limit_is_respected),
        with_context(test_allocations_that_fail),
        with_context(test_iterations_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
