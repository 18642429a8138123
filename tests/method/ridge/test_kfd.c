/* SPDX-License-Identifier: Apache-2.0 */
/* kfd against brute force: an explicit feature map whose generalized eigenproblem is solved independently. */
#include "support/fit.h"

#include <math.h>

#include "support/tolerance.h"

enum { ROWS = 40, TEST_ROWS = 15, COLS = 2, CLASSES = 3 };
#define RIDGE 0.5
#define RIDGE_TEXT "0.5"
#define SQUARE_KERNEL "poly:degree=2,gamma=0.25,coef0=1"
#define SQUARE_GAMMA 0.25

typedef struct problem {
    int classes;
    double *train, *test;
    int *class_of;
    kfe_data *train_data, *test_data;
    int64_t width;
    double *mapped, *mapped_test; /* monomials, centred by the means of the training points */
    double *kernel, *test_kernel; /* the kernel itself, not centred */
} problem;

static void centre_like(int64_t rows, int64_t cols, double *x, const double *means)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            x[i * cols + j] -= means[j];
}

static problem make_problem(kfe_context *ctx, uint64_t seed, int classes)
{
    problem p = {.classes = classes, .width = support_square_map_width(COLS)};

    support_clouds(seed, ROWS, COLS, classes, 1, &p.train, &p.class_of);
    p.test = support_normals(seed + 50, TEST_ROWS * COLS);
    p.train_data = support_dense(ctx, ROWS, COLS, p.train, p.class_of);
    p.test_data = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    p.mapped = support_square_map(ROWS, COLS, p.train, SQUARE_GAMMA);
    p.mapped_test = support_square_map(TEST_ROWS, COLS, p.test, SQUARE_GAMMA);
    double *turned = support_transpose(ROWS, p.width, p.mapped);
    p.kernel = support_product(ROWS, p.width, ROWS, p.mapped, turned);
    p.test_kernel = support_product(TEST_ROWS, p.width, ROWS, p.mapped_test, turned);
    double *means = support_centre_columns(ROWS, p.width, p.mapped);
    centre_like(TEST_ROWS, p.width, p.mapped_test, means);
    free(turned);
    free(means);
    return p;
}

static void free_problem(problem *p)
{
    kfe_data_free(p->train_data);
    kfe_data_free(p->test_data);
    free(p->train);
    free(p->test);
    free(p->class_of);
    free(p->mapped);
    free(p->mapped_test);
    free(p->kernel);
    free(p->test_kernel);
}

static void add_to_diagonal(int64_t n, double value, double *a)
{
    for (int64_t i = 0; i < n; i++)
        a[i * n + i] += value;
}

/* The first k columns of a (rows × cols). */
static double *first_columns(int64_t rows, int64_t cols, int64_t k, const double *a)
{
    double *out = calloc((size_t)(rows * k), sizeof *out);

    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * k, a + i * cols, (size_t)k * sizeof *out);
    return out;
}

static double largest_condition(int64_t k, const double *values, double condition)
{
    double gap = values[0];

    for (int64_t j = 0; j < k; j++)
        gap = fmin(gap, values[j] - values[j + 1]);
    return condition * values[0] / gap;
}

/* ---- kfd ---- */

/* w maximises wᵀS_b w relative to wᵀ(S_b + S_w)w + μ‖w‖² in the six dimensions of the monomials. */
static void test_ridge_on_norm_equals_brute_force(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 1, CLASSES);
    int64_t k = CLASSES - 1;
    int64_t count = 0;
    double *between, *total;
    double values[16], vectors[16 * 16];
    kfe_model *model = support_fit(ctx, "kfd", "ridge=" RIDGE_TEXT, SQUARE_KERNEL, p.train_data);
    kfe_matrix got = support_transform(ctx, model, p.test_data);
    const double *criterion = kfe_model_record(model, "criterion", &count);

    support_scatters(ROWS, p.width, p.mapped, p.class_of, CLASSES, &between, &total);
    for (int64_t i = 0; i < p.width * p.width; i++)
        total[i] += between[i];
    add_to_diagonal(p.width, RIDGE, total);
    support_generalized(p.width, between, total, values, vectors);
    double *directions = first_columns(p.width, p.width, k, vectors);
    double *expected = support_product(TEST_ROWS, p.width, k, p.mapped_test, directions);
    double condition = largest_condition(k, values, support_condition(p.width, total));

    assert_int_equal(got.cols, k);
    assert_int_equal(count, k);
    assert_below(support_distance(k, values, criterion), tolerance_solve(ROWS, condition));
    assert_below(support_distance_up_to_sign(TEST_ROWS, k, expected, got.values),
                 tolerance_solve(ROWS, condition));
    free(between);
    free(total);
    free(directions);
    free(expected);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    free_problem(&p);
}

/* N = K(I − Y(YᵀY)⁻¹Yᵀ)K and M = KLLᵀK: the scatters of the rows of K. */
static void test_ridge_on_coefficients_equals_brute_force(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 2, CLASSES);
    int64_t k = CLASSES - 1;
    int64_t count = 0;
    double *between, *within;
    double values[ROWS];
    double vectors[ROWS * ROWS];
    kfe_model *model =
        support_fit(ctx, "kfd", "ridge=" RIDGE_TEXT ",ridge-on=coefficients", SQUARE_KERNEL, p.train_data);
    kfe_matrix got = support_transform(ctx, model, p.test_data);
    const double *criterion = kfe_model_record(model, "criterion", &count);

    support_scatters(ROWS, ROWS, p.kernel, p.class_of, CLASSES, &between, &within);
    add_to_diagonal(ROWS, RIDGE, within);
    support_generalized(ROWS, between, within, values, vectors);
    double *directions = first_columns(ROWS, ROWS, k, vectors);
    double *means = support_centre_columns(ROWS, ROWS, p.kernel);
    centre_like(TEST_ROWS, ROWS, p.test_kernel, means);
    double *expected = support_product(TEST_ROWS, ROWS, k, p.test_kernel, directions);
    double condition = largest_condition(k, values, support_condition(ROWS, within));

    assert_int_equal(got.cols, k);
    assert_int_equal(count, k);
    assert_below(support_distance(k, values, criterion), tolerance_solve(ROWS, condition));
    assert_below(support_distance_up_to_sign(TEST_ROWS, k, expected, got.values),
                 tolerance_solve(ROWS, condition));
    free(between);
    free(within);
    free(directions);
    free(means);
    free(expected);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    free_problem(&p);
}

/* Centred kernel values of new points: κ(x, x_i) − row means − mean of κ(x, ·) + overall mean. */
static double *centred_test_kernel(const problem *p)
{
    double *turned = support_transpose(ROWS, p->width, p->mapped);
    double *k = support_product(TEST_ROWS, p->width, ROWS, p->mapped_test, turned);

    free(turned);
    return k;
}

static double *solve_with_ridge(const problem *p, int64_t k, const double *right, double *condition)
{
    double *g = calloc(ROWS * ROWS, sizeof *g);

    memcpy(g, p->kernel, ROWS * ROWS * sizeof *g);
    support_centre_kernel(ROWS, g);
    add_to_diagonal(ROWS, RIDGE, g);
    double *solution = support_solve(ROWS, k, g, right);
    *condition = support_condition(ROWS, g);
    free(g);
    return solution;
}

/* The span of (G + μI)⁻¹L, which is that of uncorrelated HSIC features. */
static void test_ridge_on_norm_spans_the_regularised_indicator(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 3, CLASSES);
    double indicator[ROWS * CLASSES] = {0};
    double condition = 0;
    kfe_matrix got =
        support_features(ctx, "kfd", "ridge=" RIDGE_TEXT, SQUARE_KERNEL, p.train_data, p.test_data);

    for (int64_t i = 0; i < ROWS; i++)
        indicator[i * CLASSES + p.class_of[i]] = 1;
    free(support_centre_columns(ROWS, CLASSES, indicator));
    double *b = solve_with_ridge(&p, CLASSES, indicator, &condition);
    double *kernel = centred_test_kernel(&p);
    double *expected = support_product(TEST_ROWS, ROWS, CLASSES, kernel, b);
    assert_int_equal(got.cols, CLASSES - 1);
    assert_below(support_outside_span(TEST_ROWS, got.cols, got.values, CLASSES, expected),
                 tolerance_solve(ROWS, condition * condition));
    free(b);
    free(kernel);
    free(expected);
    kfe_matrix_free(&got);
    free_problem(&p);
}

static void test_two_classes_are_ridge_regression(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 4, 2);
    double target[ROWS];
    double condition = 0;
    kfe_matrix got =
        support_features(ctx, "kfd", "ridge=" RIDGE_TEXT, SQUARE_KERNEL, p.train_data, p.test_data);

    for (int64_t i = 0; i < ROWS; i++)
        target[i] = p.class_of[i] ? -1 : 1;
    free(support_centre_columns(ROWS, 1, target));
    double *alpha = solve_with_ridge(&p, 1, target, &condition);
    double *kernel = centred_test_kernel(&p);
    double *expected = support_product(TEST_ROWS, ROWS, 1, kernel, alpha);
    assert_int_equal(got.cols, 1);
    assert_below(support_outside_span(TEST_ROWS, 1, got.values, 1, expected),
                 tolerance_solve(ROWS, condition));
    free(alpha);
    free(kernel);
    free(expected);
    kfe_matrix_free(&got);
    free_problem(&p);
}

/* The features of the training examples have mean zero with both ridges. */
static void test_features_are_centred(void **state)
{
    static const char *const params[] = {"ridge=1e-3", "ridge=1e-3,ridge-on=coefficients"};
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 5, CLASSES);

    for (int m = 0; m < 2; m++) {
        kfe_matrix f = support_features(ctx, "kfd", params[m], SQUARE_KERNEL, p.train_data, p.train_data);
        double largest = support_largest(f.rows * f.cols, f.values);
        double *means = support_centre_columns(f.rows, f.cols, f.values);
        assert_below(support_largest(f.cols, means) / largest,
                     tolerance_solve(ROWS, support_largest(ROWS * ROWS, p.kernel) * ROWS / 1e-3));
        free(means);
        kfe_matrix_free(&f);
    }
    free_problem(&p);
}

static void test_thousandth_of_the_diagonal(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 6, CLASSES);
    kfe_model *model = support_fit(ctx, "kfd", "ridge=thousandth", SQUARE_KERNEL, p.train_data);
    int64_t count = 0;
    const double *ridge = kfe_model_record(model, "ridge", &count);
    double trace = 0;

    for (int64_t i = 0; i < ROWS * p.width; i++)
        trace += p.mapped[i] * p.mapped[i];
    assert_int_equal(count, 1);
    assert_below(fabs(*ridge - 1e-3 * trace / ROWS), tolerance_sum(ROWS * p.width, *ridge * 10));
    kfe_model_free(model);
    free_problem(&p);
}

/* ---- data without class differences ---- */

static void test_equal_classes_are_refused(void **state)
{
    static const char *const methods[][2] = {
        {"kfd", NULL}, {"kfd", "ridge-on=coefficients"}, {"kda-qr", NULL}, {"akda-qr", NULL}};
    kfe_context *ctx = *state;
    double *x = support_normals(11, 12 * COLS);
    int class_of[12];

    memcpy(x + 6 * COLS, x, 6 * COLS * sizeof *x);
    for (int i = 0; i < 12; i++)
        class_of[i] = i / 6;
    kfe_data *data = support_dense(ctx, 12, COLS, x, class_of);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        kfe_spec *spec = NULL;
        kfe_model *model = NULL;
        assert_ok(ctx, kfe_spec_parse(ctx, methods[m][0], methods[m][1], "rbf:gamma=0.7", &spec));
        assert_fails(ctx, KFE_EINPUT, "same centroid", kfe_fit(ctx, spec, data, &model));
        kfe_spec_free(spec);
    }
    kfe_data_free(data);
    free(x);
}

/* Four classes on a line differ in one direction, for every method. */
static void test_directions_are_never_noise(void **state)
{
    static const char *const methods[][2] = {{"kfd", NULL},          {"kfd", "ridge-on=coefficients"},
                                             {"kfd", "gram=f32"},    {"kda-qr", NULL},
                                             {"kda-qr", "gram=f32"}, {"akda-qr", NULL}};
    kfe_context *ctx = *state;
    double *x;
    int *class_of;

    support_clouds(12, ROWS, 1, 4, 3, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, 1, x, class_of);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        kfe_matrix f = support_features(ctx, methods[m][0], methods[m][1], "linear", data, data);
        if (f.cols != 1)
            fail_msg("%s %s: %d features", methods[m][0], methods[m][1] ? methods[m][1] : "", (int)f.cols);
        kfe_matrix_free(&f);
    }
    kfe_data_free(data);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_ridge_on_norm_equals_brute_force),
        with_context(test_ridge_on_coefficients_equals_brute_force),
        with_context(test_ridge_on_norm_spans_the_regularised_indicator),
        with_context(test_two_classes_are_ridge_regression),
        with_context(test_features_are_centred),
        with_context(test_thousandth_of_the_diagonal),
        with_context(test_equal_classes_are_refused),
        with_context(test_directions_are_never_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
