/* SPDX-License-Identifier: Apache-2.0 */
/* oc and koc against each other, against explicit feature maps, and against what Park & Park (2002) prove and
 * show. */
#include "support/fit.h"

#include <math.h>

#include "support/sample.h"
#include "support/tolerance.h"

enum { ROWS = 60, TEST_ROWS = 20, CLASSES = 4 };

static support_sample make_problem(kfe_context *ctx, uint64_t seed, int64_t cols)
{
    return support_sample_make(ctx, &(support_shape){.seed = seed,
                                                     .rows = ROWS,
                                                     .cols = cols,
                                                     .classes = CLASSES,
                                                     .apart = 2,
                                                     .test_rows = TEST_ROWS,
                                                     .test_seed = seed + 100});
}

/* The class means, classes × cols. */
static double *class_means(int64_t rows, int64_t cols, const double *x, const int *class_of, int classes)
{
    double *means = calloc((size_t)(classes * cols), sizeof *means);
    int64_t *sizes = calloc((size_t)classes, sizeof *sizes);

    for (int64_t i = 0; i < rows; i++)
        sizes[class_of[i]]++;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            means[class_of[i] * cols + j] += x[i * cols + j] / (double)sizes[class_of[i]];
    free(sizes);
    return means;
}

/* The condition number of the centroids' dot products, which bounds the rounding error of the basis. */
static double centroid_condition(const double *means, int64_t cols)
{
    double *turned = support_transpose(CLASSES, cols, means);
    double *inner = support_product(CLASSES, cols, CLASSES, means, turned);
    double condition = support_condition(CLASSES, inner);

    free(turned);
    free(inner);
    return condition;
}

/* ---- the two solvers ---- */

static void test_cholesky_equals_mgs(void **state)
{
    kfe_context *ctx = *state;
    static const char *const kernels[] = {"rbf:gamma=0.1", "poly:degree=3,gamma=0.2,coef0=1", "laplacian"};
    support_sample p = make_problem(ctx, 1, 5);

    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        kfe_matrix a = support_features(ctx, "koc", "solver=cholesky", kernels[k], p.data, p.test_data);
        kfe_matrix b = support_features(ctx, "koc", "solver=mgs", kernels[k], p.data, p.test_data);
        kfe_matrix means = support_features(ctx, "koc", NULL, kernels[k], p.data, p.data);
        double *centroids = class_means(ROWS, CLASSES, means.values, p.class_of, CLASSES);
        assert_int_equal(a.cols, CLASSES);
        assert_below(support_distance(a.rows * a.cols, a.values, b.values),
                     tolerance_solve(CLASSES, centroid_condition(centroids, CLASSES)));
        free(centroids);
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
        kfe_matrix_free(&means);
    }
    support_sample_free(&p);
}

/* ---- the linear kernel ---- */

static void compare_koc_with_oc(kfe_context *ctx, int64_t cols, int sparse)
{
    support_sample p = make_problem(ctx, 20 + (uint64_t)cols, cols);
    support_csr arrays = {0};
    kfe_data *train = p.data;
    double *means = class_means(ROWS, cols, p.x, p.class_of, CLASSES);
    int64_t rank = cols < CLASSES ? cols : CLASSES;

    if (sparse)
        train = support_sparse(ctx, ROWS, cols, p.x, p.class_of, &arrays);
    support_catch_log(ctx);
    kfe_matrix oc = support_features(ctx, "oc", NULL, NULL, train, p.test_data);
    assert_int_equal(strstr(support_log(), "oc: ") != NULL, rank < CLASSES);
    kfe_matrix koc = support_features(ctx, "koc", NULL, "linear", train, p.test_data);
    assert_int_equal(strstr(support_log(), "linearly dependent") != NULL, rank < CLASSES);
    assert_int_equal(oc.cols, rank);
    assert_int_equal(koc.cols, rank);
    if (rank == CLASSES)
        assert_below(support_distance(oc.rows * oc.cols, oc.values, koc.values),
                     tolerance_solve(cols, centroid_condition(means, cols)));
    else /* the whole space: any orthonormal basis preserves every dot product */
        assert_below(support_distance_up_to_rotation(TEST_ROWS, cols, p.test, koc.cols, koc.values),
                     tolerance_solve(cols, 1 / sqrt(DBL_EPSILON)));
    assert_below(
        support_distance_up_to_rotation(TEST_ROWS, rank, oc.values, rank, koc.values),
        tolerance_solve(cols, rank == CLASSES ? centroid_condition(means, cols) : 1 / sqrt(DBL_EPSILON)));
    kfe_matrix_free(&oc);
    kfe_matrix_free(&koc);
    if (sparse)
        kfe_data_free(train);
    support_csr_free(&arrays);
    free(means);
    support_sample_free(&p);
}

static void test_linear_koc_equals_oc(void **state)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        compare_koc_with_oc(*state, 6, sparse);
        compare_koc_with_oc(*state, 90, sparse);
        compare_koc_with_oc(*state, CLASSES, sparse);
        compare_koc_with_oc(*state, 2, sparse);
        compare_koc_with_oc(*state, 1, sparse);
    }
}

/* Section 2: the centroids lie in the span, so the projection preserves the difference between a point's
 * squared distances to two centroids, and dot products with centroids. */
static void test_oc_keeps_what_centroids_see(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 3, 9);
    kfe_matrix z = support_features(ctx, "oc", NULL, NULL, p.data, p.test_data);
    kfe_matrix z_train = support_features(ctx, "oc", NULL, NULL, p.data, p.data);
    double *means = class_means(ROWS, p.cols, p.x, p.class_of, CLASSES);
    double *z_means = class_means(ROWS, CLASSES, z_train.values, p.class_of, CLASSES);

    for (int64_t i = 0; i < TEST_ROWS; i++) {
        double first = 0;
        double z_first = 0;
        for (int g = 0; g < CLASSES; g++) {
            double inner = 0, z_inner = 0, distance = 0, z_distance = 0;
            for (int64_t j = 0; j < p.cols; j++) {
                double x = p.test[i * p.cols + j];
                inner += x * means[g * p.cols + j];
                distance += pow(x - means[g * p.cols + j], 2);
            }
            for (int64_t j = 0; j < CLASSES; j++) {
                z_inner += z.values[i * CLASSES + j] * z_means[g * CLASSES + j];
                z_distance += pow(z.values[i * CLASSES + j] - z_means[g * CLASSES + j], 2);
            }
            first = g == 0 ? distance : first;
            z_first = g == 0 ? z_distance : z_first;
            assert_below(fabs(inner - z_inner), tolerance_sum(p.cols + ROWS, 100));
            assert_below(fabs(distance - first - z_distance + z_first), tolerance_sum(p.cols + ROWS, 100));
            assert_true(z_distance <= distance * (1 + tolerance_sum(p.cols + ROWS, 1)));
        }
    }
    free(means);
    free(z_means);
    kfe_matrix_free(&z);
    kfe_matrix_free(&z_train);
    support_sample_free(&p);
}

/* ---- kernels ---- */

/* ⟨Qᵀφ(x), Qᵀc⟩ = ⟨φ(x), c⟩, the mean kernel value with a class, computed from the kernel's formula. */
static void test_koc_keeps_products_with_centroids(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 4, 3);
    kfe_matrix z = support_features(ctx, "koc", NULL, "rbf:gamma=0.25", p.data, p.test_data);
    kfe_matrix z_train = support_features(ctx, "koc", NULL, "rbf:gamma=0.25", p.data, p.data);
    double *kernel = support_rbf(TEST_ROWS, p.test, ROWS, p.x, p.cols, 0.25);
    double *kernel_turned = support_transpose(TEST_ROWS, ROWS, kernel);
    double *mean_kernel = class_means(ROWS, TEST_ROWS, kernel_turned, p.class_of, CLASSES);
    double *z_means = class_means(ROWS, CLASSES, z_train.values, p.class_of, CLASSES);
    double *z_turned = support_transpose(TEST_ROWS, CLASSES, z.values);
    double *products = support_product(CLASSES, CLASSES, TEST_ROWS, z_means, z_turned);

    assert_below(support_distance(CLASSES * TEST_ROWS, mean_kernel, products),
                 tolerance_solve(ROWS, centroid_condition(z_means, CLASSES)));
    free(kernel);
    free(kernel_turned);
    free(mean_kernel);
    free(z_means);
    free(z_turned);
    free(products);
    kfe_matrix_free(&z);
    kfe_matrix_free(&z_train);
    support_sample_free(&p);
}

static void test_koc_equals_oc_on_mapped_data(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 5, 3);
    int64_t width = support_square_map_width(p.cols);
    double *train = support_square_map(ROWS, p.cols, p.x, 0.5);
    double *test = support_square_map(TEST_ROWS, p.cols, p.test, 0.5);
    kfe_data *train_data = support_dense(ctx, ROWS, width, train, p.class_of);
    kfe_data *test_data = support_dense(ctx, TEST_ROWS, width, test, NULL);
    double *means = class_means(ROWS, width, train, p.class_of, CLASSES);
    kfe_matrix expected = support_features(ctx, "oc", NULL, NULL, train_data, test_data);
    kfe_matrix got =
        support_features(ctx, "koc", NULL, "poly:degree=2,gamma=0.5,coef0=1", p.data, p.test_data);

    assert_below(support_distance(TEST_ROWS * CLASSES, expected.values, got.values),
                 tolerance_solve(ROWS, centroid_condition(means, width)));
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_data_free(train_data);
    kfe_data_free(test_data);
    free(means);
    free(train);
    free(test);
    support_sample_free(&p);
}

/* A sum of kernels uses their weights. */
static void test_weighted_sum_equals_the_given_matrix(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 6, 3);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, p.cols, 0.25);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++) {
            double dot = 0;
            for (int64_t l = 0; l < p.cols; l++)
                dot += p.x[i * p.cols + l] * p.x[j * p.cols + l];
            k[i * ROWS + j] = 3 * k[i * ROWS + j] + 0.5 * dot;
        }
    kfe_data *matrix = support_dense(ctx, ROWS, ROWS, k, p.class_of);
    kfe_matrix expected = support_features(ctx, "koc", NULL, "precomputed", matrix, matrix);
    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf:gamma=0.25,weight=3", &spec));
    assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, "linear:weight=0.5"));
    assert_ok(ctx, kfe_fit(ctx, spec, p.data, &model));
    kfe_matrix got = support_transform(ctx, model, p.data);
    double *means = class_means(ROWS, CLASSES, expected.values, p.class_of, CLASSES);
    assert_below(support_distance(ROWS * CLASSES, expected.values, got.values),
                 tolerance_solve(ROWS, centroid_condition(means, CLASSES)));
    free(means);
    free(k);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_data_free(matrix);
    kfe_model_free(model);
    kfe_spec_free(spec);
    support_sample_free(&p);
}

/* ---- the paper's figures ---- */

static int *classes_of(const kfe_data *data)
{
    int *class_of = calloc((size_t)kfe_data_rows(data), sizeof *class_of);

    for (int64_t i = 0; i < kfe_data_rows(data); i++)
        class_of[i] = (int)kfe_data_class_of(data, i);
    return class_of;
}

static double squared_distance(int64_t k, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t j = 0; j < k; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* The share of rows that are nearest to the mean of their own class. */
static double nearest_mean_accuracy(int64_t rows, int64_t k, const double *x, const int *class_of,
                                    int classes)
{
    double *means = class_means(rows, k, x, class_of, classes);
    int64_t right = 0;

    for (int64_t i = 0; i < rows; i++) {
        int nearest = 0;
        for (int g = 1; g < classes; g++)
            if (squared_distance(k, x + i * k, means + g * k) <
                squared_distance(k, x + i * k, means + nearest * k))
                nearest = g;
        right += nearest == class_of[i];
    }
    free(means);
    return (double)right / (double)rows;
}

/* Figure 1: with sigma = 0.01 the three species are separated. Along its own coordinate, every class exceeds
 * the others, so a plane across that axis separates it. */
static void test_iris_comes_apart(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *iris = NULL;

    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &iris));
    kfe_matrix z = support_features(ctx, "koc", NULL, "rbf:gamma=100", iris, iris);
    kfe_matrix linear = support_features(ctx, "koc", NULL, "linear", iris, iris);
    int *class_of = classes_of(iris);
    assert_int_equal(z.cols, 3);
    for (int64_t g = 0; g < 3; g++) {
        double lowest_own = INFINITY;
        double highest_other = -INFINITY;
        for (int64_t i = 0; i < z.rows; i++) {
            double value = z.values[i * 3 + g];
            if (class_of[i] == g)
                lowest_own = fmin(lowest_own, value);
            else
                highest_other = fmax(highest_other, value);
        }
        assert_true(lowest_own > highest_other);
    }
    assert_true(nearest_mean_accuracy(z.rows, 3, z.values, class_of, 3) == 1);
    assert_true(nearest_mean_accuracy(linear.rows, 3, linear.values, class_of, 3) < 1);
    free(class_of);
    kfe_matrix_free(&z);
    kfe_matrix_free(&linear);
    kfe_data_free(iris);
}

/* Figure 2: the slabs cross and their centroids nearly coincide; the features separate them. */
static void test_slabs_come_apart(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *slabs = NULL;

    assert_ok(ctx, kfe_data_generate(ctx, "slabs", NULL, &slabs));
    kfe_matrix z = support_features(ctx, "koc", NULL, "rbf:gamma=0.5", slabs, slabs);
    kfe_matrix linear = support_features(ctx, "oc", NULL, NULL, slabs, slabs);
    int *class_of = classes_of(slabs);
    assert_true(nearest_mean_accuracy(z.rows, z.cols, z.values, class_of, 3) > 0.9);
    assert_true(nearest_mean_accuracy(z.rows, linear.cols, linear.values, class_of, 3) < 0.6);
    free(class_of);
    kfe_matrix_free(&z);
    kfe_matrix_free(&linear);
    kfe_data_free(slabs);
}

/* ---- clusters, dependent centroids, fewer features ---- */

enum { PLANTED = 6, PLANTED_COLS = 8 };

static void plant_clusters(double *x, int *cluster_of, int *class_of)
{
    uint64_t random = 7;

    for (int64_t i = 0; i < ROWS; i++) {
        int cluster = i % 9 == 8 ? 1 : (int)(i % PLANTED);
        cluster_of[i] = cluster;
        class_of[i] = cluster % 2;
        for (int64_t j = 0; j < PLANTED_COLS; j++)
            x[i * PLANTED_COLS + j] = 10 * (j == cluster) + 0.1 * support_normal(&random);
    }
}

static void test_planted_clusters_are_found(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * PLANTED_COLS];
    int cluster_of[ROWS];
    int class_of[ROWS];

    plant_clusters(x, cluster_of, class_of);
    kfe_data *by_class = support_dense(ctx, ROWS, PLANTED_COLS, x, class_of);
    kfe_data *by_cluster = support_dense(ctx, ROWS, PLANTED_COLS, x, cluster_of);
    kfe_matrix expected = support_features(ctx, "oc", NULL, NULL, by_cluster, by_cluster);
    for (uint64_t seed = 0; seed < 4; seed++) {
        int64_t count = 0;
        double total = 0;
        kfe_context_set_seed(ctx, seed);
        kfe_model *model = support_fit(ctx, "koc", "clusters-per-class=3", "linear", by_class);
        kfe_matrix got = support_transform(ctx, model, by_class);
        const double *sizes = kfe_model_record(model, "centroid-sizes", &count);
        assert_int_equal(count, PLANTED);
        for (int64_t g = 0; g < count; g++)
            total += sizes[g];
        assert_true(total == ROWS);
        assert_int_equal(got.cols, PLANTED);
        assert_below(support_distance_up_to_rotation(ROWS, PLANTED, expected.values, PLANTED, got.values),
                     tolerance_solve(ROWS, 2));
        kfe_matrix_free(&got);
        kfe_model_free(model);
    }
    kfe_matrix_free(&expected);
    kfe_data_free(by_class);
    kfe_data_free(by_cluster);
}

/* Also if there are no clusters to find, neither the seed nor the order of the rows has a part in the choice, and a weight counts like
 * repeated rows. */
static void test_seed_and_order_do_not_matter(void **state)
{
    kfe_context *ctx = *state;
    const char *params = "clusters-per-class=4";
    double *x = support_normals(9, ROWS * PLANTED_COLS);
    double other[2 * ROWS * PLANTED_COLS];
    double weights[ROWS];
    int class_of[ROWS];
    int other_class[2 * ROWS];
    int64_t copies = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        class_of[i] = (int)(i % 3);
        weights[i] = (double)(1 + i % 2);
    }
    for (int64_t i = ROWS - 1; i >= 0; i--)
        for (int copy = 0; copy < (int)weights[i]; copy++) {
            memcpy(other + copies * PLANTED_COLS, x + i * PLANTED_COLS, PLANTED_COLS * sizeof *x);
            other_class[copies++] = class_of[i];
        }
    kfe_data *weighted = support_dense(ctx, ROWS, PLANTED_COLS, x, class_of);
    kfe_data *repeated = support_dense(ctx, copies, PLANTED_COLS, other, other_class);
    assert_ok(ctx, kfe_data_set_weights(ctx, weighted, weights));
    kfe_matrix first = support_features(ctx, "koc", params, "rbf:gamma=0.1", weighted, weighted);
    kfe_context_set_seed(ctx, 5);
    kfe_matrix second = support_features(ctx, "koc", params, "rbf:gamma=0.1", repeated, weighted);
    assert_int_equal(first.cols, second.cols);
    assert_below(support_distance_up_to_rotation(ROWS, first.cols, first.values, second.cols, second.values),
                 tolerance_solve(ROWS, 1e3));
    kfe_matrix_free(&first);
    kfe_matrix_free(&second);
    kfe_data_free(weighted);
    kfe_data_free(repeated);
    free(x);
}

/* More clusters than a class has examples: one cluster per example. */
static void test_more_clusters_than_members(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(11, 5 * 8);
    int class_of[5] = {0, 0, 1, 1, 1};
    kfe_data *data = support_dense(ctx, 5, 8, x, class_of);
    kfe_matrix z = support_features(ctx, "koc", "clusters-per-class=10", "linear", data, data);

    assert_int_equal(z.cols, 5);
    assert_below(support_distance_up_to_rotation(5, 8, x, 5, z.values), tolerance_solve(8, 1e3));
    kfe_matrix_free(&z);
    kfe_data_free(data);
    free(x);
}

static void test_classes_with_one_centroid_count_once(void **state)
{
    static const char *const methods[][2] = {{"oc", NULL}, {"koc", "linear"}, {"koc", "rbf:gamma=1"}};
    kfe_context *ctx = *state;
    double x[8 * 4] = {1, 0, 0, 2, 0, 1, 3, 0, 1, 0, 0, 2, 0, 1, 3, 0,
                       5, 4, 0, 0, 5, 0, 4, 1, 0, 7, 7, 0, 2, 7, 0, 1};
    int class_of[8] = {0, 0, 1, 1, 2, 2, 3, 3};
    kfe_data *data = support_dense(ctx, 8, 4, x, class_of);

    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        support_catch_log(ctx);
        kfe_matrix z = support_features(ctx, methods[m][0], NULL, methods[m][1], data, data);
        const char *log = support_log();
        assert_int_equal(z.cols, 3);
        assert_non_null(strstr(log, "1 of 4 centroids"));
        kfe_matrix_free(&z);
    }
    kfe_data_free(data);
}

static void test_zero_centroids_are_an_error(void **state)
{
    kfe_context *ctx = *state;
    double x[4] = {1, -1, 2, -2};
    int class_of[4] = {0, 0, 1, 1};
    kfe_data *data = support_dense(ctx, 4, 1, x, class_of);
    static const char *const methods[][2] = {{"oc", NULL}, {"koc", "linear"}};

    for (size_t m = 0; m < 2; m++) {
        kfe_spec *spec = NULL;
        kfe_model *model = NULL;
        assert_ok(ctx, kfe_spec_parse(ctx, methods[m][0], NULL, methods[m][1], &spec));
        assert_fails(ctx, KFE_EINPUT, "centroids are zero", kfe_fit(ctx, spec, data, &model));
        assert_null(model);
        kfe_spec_free(spec);
    }
    kfe_data_free(data);
}

static void test_fewer_features_are_the_first_ones(void **state)
{
    static const char *const methods[][2] = {{"oc", NULL}, {"koc", "rbf:gamma=0.1"}};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx, 8, 6);

    for (size_t m = 0; m < 2; m++) {
        kfe_matrix all = support_features(ctx, methods[m][0], NULL, methods[m][1], p.data, p.test_data);
        kfe_matrix two = support_features(ctx, methods[m][0], "dim=2", methods[m][1], p.data, p.test_data);
        assert_int_equal(two.cols, 2);
        for (int64_t i = 0; i < TEST_ROWS; i++)
            for (int64_t j = 0; j < 2; j++)
                assert_below(fabs(all.values[i * all.cols + j] - two.values[i * 2 + j]),
                             tolerance_sum(ROWS, support_largest(TEST_ROWS * all.cols, all.values)));
        kfe_matrix_free(&all);
        kfe_matrix_free(&two);
    }
    support_sample_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_cholesky_equals_mgs),
        with_context(test_linear_koc_equals_oc),
        with_context(test_oc_keeps_what_centroids_see),
        with_context(test_koc_keeps_products_with_centroids),
        with_context(test_koc_equals_oc_on_mapped_data),
        with_context(test_weighted_sum_equals_the_given_matrix),
        with_context(test_iris_comes_apart),
        with_context(test_slabs_come_apart),
        with_context(test_planted_clusters_are_found),
        with_context(test_seed_and_order_do_not_matter),
        with_context(test_more_clusters_than_members),
        with_context(test_classes_with_one_centroid_count_once),
        with_context(test_zero_centroids_are_an_error),
        with_context(test_fewer_features_are_the_first_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
