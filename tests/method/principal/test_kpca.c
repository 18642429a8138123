/* SPDX-License-Identifier: Apache-2.0 */
/* pca and kpca against the eigenproblem solved independently, against an explicit feature map, and against
 * each other. */
#include "support/fit.h"

#include <math.h>

#include "support/tolerance.h"

enum { ROWS = 24, TEST_ROWS = 9 };

/* Columns with decreasing spread, so that eigenvalues are well separated. */
static double *stretched(uint64_t seed, int64_t rows, int64_t cols, double offset)
{
    double *x = support_normals(seed, rows * cols);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            x[i * cols + j] = offset + x[i * cols + j] * pow(0.6, (double)(j < 8 ? j : 8));
    return x;
}

static double smallest_gap(int64_t k, const double *values)
{
    double gap = values[0];

    for (int64_t j = 0; j < k; j++)
        gap = fmin(gap, values[j] - values[j + 1]);
    return gap / values[0];
}

/* ---- the eigenproblem ---- */

static void check_eigenpairs(kfe_context *ctx, int centre)
{
    enum { COLS = 3, DIM = 5 };
    double *x = stretched(1, ROWS, COLS, 0);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
    double *g = support_rbf(ROWS, x, ROWS, x, COLS, 0.3);
    double values[ROWS];
    double vectors[ROWS * ROWS];
    double expected[ROWS * DIM];
    int64_t count = 0;
    kfe_model *model = support_fit(ctx, "kpca", centre ? "dim=5" : "dim=5,center=no", "rbf:gamma=0.3", data);
    kfe_matrix f = support_transform(ctx, model, data);
    const double *recorded = kfe_model_record(model, "eigenvalues", &count);

    if (centre)
        support_centre_kernel(ROWS, g);
    support_jacobi(ROWS, g, values, vectors);
    assert_int_equal(count, DIM);
    assert_int_equal(f.cols, DIM);
    assert_below(support_distance(DIM, values, recorded), tolerance_factorisation(ROWS, 1));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < DIM; j++)
            expected[i * DIM + j] = vectors[i * ROWS + j] * sqrt(values[j]);
    assert_below(support_distance_up_to_sign(ROWS, DIM, expected, f.values),
                 tolerance_eigenvector(ROWS, smallest_gap(DIM, values)));

    double *image = support_product(ROWS, ROWS, DIM, g, f.values);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < DIM; j++)
            image[i * DIM + j] -= recorded[j] * f.values[i * DIM + j];
    assert_below(support_largest(ROWS * DIM, image),
                 tolerance_factorisation(ROWS, values[0] * sqrt(values[0])));
    free(image);
    free(g);
    free(x);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    kfe_data_free(data);
}

static void test_features_solve_the_centred_eigenproblem(void **state)
{
    check_eigenpairs(*state, 1);
}

static void test_features_without_centring_solve_the_plain_one(void **state)
{
    check_eigenpairs(*state, 0);
}

/* ---- linear: pca equals kpca ---- */

typedef struct shape {
    int64_t rows, cols;
    double offset;
    int sparse;
} shape;

/* PCA by Jacobi rotations on the scatter of explicitly centred data. */
static double *expected_components(const shape *s, const double *x, const double *test, int64_t test_rows,
                                   int64_t dim, double *values)
{
    double *centred = calloc((size_t)(s->rows * s->cols), sizeof *centred);
    double *vectors = calloc((size_t)(s->cols * s->cols), sizeof *vectors);
    double *all_values = calloc((size_t)s->cols + 1, sizeof *all_values);
    double *out = calloc((size_t)(test_rows * dim), sizeof *out);

    memcpy(centred, x, (size_t)(s->rows * s->cols) * sizeof *centred);
    double *means = support_centre_columns(s->rows, s->cols, centred);
    double *turned = support_transpose(s->rows, s->cols, centred);
    double *scatter = support_product(s->cols, s->rows, s->cols, turned, centred);
    support_jacobi(s->cols, scatter, all_values, vectors);
    memcpy(values, all_values, (size_t)(dim + 1) * sizeof *values);
    for (int64_t i = 0; i < test_rows; i++)
        for (int64_t j = 0; j < dim; j++)
            for (int64_t l = 0; l < s->cols; l++)
                out[i * dim + j] += (test[i * s->cols + l] - means[l]) * vectors[l * s->cols + j];
    free(centred);
    free(vectors);
    free(all_values);
    free(means);
    free(turned);
    free(scatter);
    return out;
}

static void compare_with_jacobi(kfe_context *ctx, const char *method, const char *kernel, const shape *s)
{
    enum { DIM = 3 };
    double *x = stretched(5, s->rows, s->cols, s->offset);
    double *test = stretched(6, TEST_ROWS, s->cols, s->offset);
    support_csr arrays = {0};
    kfe_data *train = s->sparse ? support_sparse(ctx, s->rows, s->cols, x, NULL, &arrays)
                                : support_dense(ctx, s->rows, s->cols, x, NULL);
    kfe_data *test_data = support_dense(ctx, TEST_ROWS, s->cols, test, NULL);
    double values[DIM + 1];
    int64_t count = 0;
    double *expected = expected_components(s, x, test, TEST_ROWS, DIM, values);
    kfe_model *model = support_fit(ctx, method, "dim=3", kernel, train);
    kfe_matrix f = support_transform(ctx, model, test_data);
    const double *recorded = kfe_model_record(model, "eigenvalues", &count);
    /* Dot products of the original points are larger than those of centred points by this factor, which
     * cancellation loses. Dense pca centres first and loses only the rounding error of the mean. */
    int centres_first = strcmp(method, "pca") == 0 && !s->sparse && s->cols <= s->rows;
    double lost = pow(s->offset, centres_first ? 1 : 2) * (double)(s->cols * s->rows) / values[0] + 1;

    assert_int_equal(f.cols, DIM);
    assert_int_equal(count, DIM);
    assert_below(support_distance(DIM, values, recorded), tolerance_factorisation(s->rows + s->cols, lost));
    assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, expected, f.values),
                 tolerance_eigenvector(s->rows + s->cols, smallest_gap(DIM, values) / lost));
    free(expected);
    free(x);
    free(test);
    support_csr_free(&arrays);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test_data);
}

static void check_shapes(kfe_context *ctx, const char *method, const char *kernel)
{
    const shape shapes[] = {
        {ROWS, 6, 0, 0},  {ROWS, 6, 0, 1},   {10, 18, 0, 0},   {10, 18, 0, 1}, {ROWS, 6, 100, 1},
        {10, 18, 100, 1}, {ROWS, 6, 1e6, 0}, {10, 18, 1e4, 0}, {12, 12, 0, 0},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare_with_jacobi(ctx, method, kernel, &shapes[i]);
}

static void test_pca_equals_jacobi(void **state)
{
    check_shapes(*state, "pca", NULL);
}

static void test_linear_kpca_equals_jacobi(void **state)
{
    check_shapes(*state, "kpca", "linear");
}

/* Ten points in eighteen dimensions vary in nine directions, wherever the points lie. */
static void test_components_are_never_noise(void **state)
{
    kfe_context *ctx = *state;
    enum { SEEDS = 8 };
    const double offsets[] = {0, 1, 1e3, 1e6};

    for (size_t i = 0; i < 4 * SEEDS; i++)
        for (int kernel = 0; kernel < 2; kernel++) {
            double *x = stretched(9 + i, 10, 18, offsets[i % 4]);
            kfe_data *data = support_dense(ctx, 10, 18, x, NULL);
            support_catch_log(ctx);
            kfe_matrix f = support_features(ctx, kernel ? "kpca" : "pca", "dim=100", kernel ? "linear" : NULL,
                                            data, data);
            assert_non_null(strstr(support_log(), "100 features were asked for"));
            if (f.cols > 9)
                fail_msg("%s: %d components of points %g from the origin", kernel ? "kpca" : "pca",
                         (int)f.cols, offsets[i % 4]);
            kfe_matrix_free(&f);
            kfe_data_free(data);
            free(x);
        }
}

/* ---- new points ---- */

/* kpca with (⟨x,y⟩ + 1)² is pca of the monomials, including the centring of new points. */
static void test_new_points_are_centred_in_feature_space(void **state)
{
    enum { COLS = 3, DIM = 4 };
    kfe_context *ctx = *state;
    double *x = stretched(12, ROWS, COLS, 0.5);
    double *test = stretched(13, TEST_ROWS, COLS, 0.5);
    const shape mapped = {ROWS, support_square_map_width(COLS), 0, 0};
    double *mapped_x = support_square_map(ROWS, COLS, x, 1);
    double *mapped_test = support_square_map(TEST_ROWS, COLS, test, 1);
    double values[DIM + 1];
    double *expected = expected_components(&mapped, mapped_x, mapped_test, TEST_ROWS, DIM, values);
    kfe_data *train = support_dense(ctx, ROWS, COLS, x, NULL);
    kfe_data *test_data = support_dense(ctx, TEST_ROWS, COLS, test, NULL);
    kfe_matrix f = support_features(ctx, "kpca", "dim=4", "poly:degree=2,gamma=1,coef0=1", train, test_data);

    assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, expected, f.values),
                 tolerance_eigenvector(ROWS, smallest_gap(DIM, values) * values[DIM - 1] / values[0]));
    kfe_matrix_free(&f);
    kfe_data_free(train);
    kfe_data_free(test_data);
    free(x);
    free(test);
    free(mapped_x);
    free(mapped_test);
    free(expected);
}

/* ---- properties of components ---- */

static void test_variance_is_the_eigenvalue_and_distances_stay(void **state)
{
    enum { COLS = 5 };
    kfe_context *ctx = *state;
    double *x = stretched(14, ROWS, COLS, 2);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
    kfe_model *model = support_fit(ctx, "pca", NULL, NULL, data);
    kfe_matrix f = support_transform(ctx, model, data);
    int64_t count = 0;
    const double *values = kfe_model_record(model, "eigenvalues", &count);
    double total = 0;
    double explained = 0;

    assert_int_equal(f.cols, COLS);
    free(support_centre_columns(ROWS, COLS, x));
    for (int64_t i = 0; i < ROWS * COLS; i++)
        total += x[i] * x[i];
    for (int64_t j = 0; j < COLS; j++) {
        double sum = 0;
        for (int64_t i = 0; i < ROWS; i++)
            sum += f.values[i * COLS + j] * f.values[i * COLS + j];
        explained += values[j];
        assert_below(fabs(sum - values[j]), tolerance_factorisation(ROWS, total));
    }
    assert_below(fabs(explained - total), tolerance_factorisation(ROWS, total));
    /* all components together are a rotation of the centred points */
    assert_below(support_distance_up_to_rotation(ROWS, COLS, x, COLS, f.values), tolerance_solve(ROWS, 1));
    free(x);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* ---- signs ---- */

/* For symmetric points the first point determines the sign, whatever the rounding. */
static void test_rounding_does_not_decide_signs(void **state)
{
    enum { POINTS = 6 };
    kfe_context *ctx = *state;
    uint64_t random = 4;

    for (int step = 0; step < 20; step++) {
        double x[POINTS] = {-3, 1, 3, -1, 2, -2};
        for (int i = 0; i < POINTS; i++)
            x[i] *= 1 + 1e-12 * support_normal(&random);
        kfe_data *data = support_dense(ctx, POINTS, 1, x, NULL);
        kfe_matrix f = support_features(ctx, "kpca", "dim=1", "linear", data, data);
        assert_below(fabs(f.values[0] - 3), 1e-9);
        kfe_matrix_free(&f);
        kfe_data_free(data);
    }
}

/* ---- data without variation ---- */

static void check_refused(kfe_context *ctx, const char *method, const char *kernel, const char *params,
                          const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, kernel, &spec));
    assert_fails(ctx, KFE_EINPUT, "do not vary", kfe_fit(ctx, spec, data, &model));
    assert_null(model);
    kfe_spec_free(spec);
}

static void test_constant_data_is_refused(void **state)
{
    enum { COLS = 3 };
    kfe_context *ctx = *state;
    const double constants[] = {0, 1, 0.1, 1e6 / 3, 1e-9 / 7};

    for (size_t c = 0; c < sizeof constants / sizeof *constants; c++)
        for (int64_t rows = 1; rows < 8; rows += 2) {
            double x[7 * COLS];
            for (int64_t i = 0; i < 7 * COLS; i++)
                x[i] = constants[c] * (double)(1 + i % COLS);
            kfe_data *data = support_dense(ctx, rows, COLS, x, NULL);
            check_refused(ctx, "pca", NULL, NULL, data);
            check_refused(ctx, "kpca", "linear", NULL, data);
            check_refused(ctx, "kpca", "rbf:gamma=1", NULL, data);
            check_refused(ctx, "kpca", "poly:gamma=0.3", NULL, data);
            kfe_data_free(data);
        }
}

static void test_gamma_of_constant_data_is_refused(void **state)
{
    kfe_context *ctx = *state;
    double x[4] = {2, 2, 2, 2};
    kfe_data *data = support_dense(ctx, 4, 1, x, NULL);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "kpca", NULL, "rbf:gamma=scale", &spec));
    assert_fails(ctx, KFE_EINPUT, "give gamma a number", kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_features_solve_the_centred_eigenproblem),
        with_context(test_features_without_centring_solve_the_plain_one),
        with_context(test_pca_equals_jacobi),
        with_context(test_linear_kpca_equals_jacobi),
        with_context(test_components_are_never_noise),
        with_context(test_new_points_are_centred_in_feature_space),
        with_context(test_variance_is_the_eigenvalue_and_distances_stay),
        with_context(test_rounding_does_not_decide_signs),
        with_context(test_constant_data_is_refused),
        with_context(test_gamma_of_constant_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
