/* SPDX-License-Identifier: Apache-2.0 */
/* ls against the pseudo-inverse, on problems with a known solution at condition numbers up to 10¹⁴, and its
 * warnings about the rank. */
#include "support/learn.h"
#include "support/tolerance.h"

enum { ROWS = 70, COLS = 5, CLASSES = 3 };

/* Clouds with some zeros, so that sparse tables have gaps. */
static double *cloud_values(uint64_t seed, double shift, int **class_of)
{
    double *x = NULL;

    support_clouds(seed, ROWS, COLS, CLASSES, 2, &x, class_of);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        x[i] = i % 3 == 0 ? 0 : x[i] + shift;
    return x;
}

/* ---- against the pseudo-inverse ---- */

/* The weights of smallest norm, which are unique, and the outputs at x, from pinv(Xc) by Jacobi rotations. */
static double *expected_ls(int64_t n, int64_t d, const double *x, int64_t k, const double *y, double l2,
                           double **weights)
{
    double *xc = calloc((size_t)(n * d), sizeof *xc);
    double *yc = calloc((size_t)(n * k), sizeof *yc);
    double *values = calloc((size_t)d, sizeof *values);
    double *vectors = calloc((size_t)(d * d), sizeof *vectors);

    memcpy(xc, x, (size_t)(n * d) * sizeof *xc);
    memcpy(yc, y, (size_t)(n * k) * sizeof *yc);
    free(support_centre_columns(n, d, xc));
    double *y_means = support_centre_columns(n, k, yc);
    double *turned = support_transpose(n, d, xc);
    double *product = support_product(d, n, d, turned, xc);
    double *right = support_product(d, n, k, turned, yc);
    support_jacobi(d, product, values, vectors);
    double *basis = support_transpose(d, d, vectors);
    double *along = support_product(d, d, k, basis, right);
    for (int64_t r = 0; r < d; r++)
        for (int64_t j = 0; j < k; j++)
            along[r * k + j] *= values[r] > 1e-9 * values[0] ? 1 / (values[r] + l2) : 0;
    double *w = support_product(d, d, k, vectors, along);
    double *out = support_product(n, d, k, xc, w);
    for (int64_t i = 0; i < n * k; i++)
        out[i] += y_means[i % k];
    free(xc);
    free(yc);
    free(values);
    free(vectors);
    free(y_means);
    free(turned);
    free(product);
    free(right);
    free(basis);
    free(along);
    *weights = w;
    return out;
}

static void check_ls(kfe_context *ctx, int64_t n, int64_t d, const double *x, const char *params, double l2)
{
    int64_t k = 2;
    double *y = support_normals(8, n * k);
    double *weights = NULL;
    double *expected = expected_ls(n, d, x, k, y, l2, &weights);
    kfe_i_target target;
    kfe_i_table tables[2] = {learn_dense(n, d, x), learn_sparse(ctx, n, d, x)};

    assert_ok(ctx, kfe_i_target_from_values(ctx, n, k, y, &target));
    for (int t = 0; t < 2; t++) {
        kfe_i_predictor predictor = learn_fit(ctx, "ls", params, &tables[t], &target);
        double *got = learn_outputs(ctx, &predictor, &tables[t]);
        assert_below(support_distance(n * k, expected, got), 1e-9);
        for (int64_t i = 0; i < d * k; i++)
            assert_below(fabs(predictor.weights[i] - weights[i]),
                         1e-9 * (1 + support_largest(d * k, weights)));
        assert_int_equal(predictor.decision, KFE_DECIDE_VALUE);
        free(got);
        kfe_i_predictor_free(&predictor);
    }
    free(weights);
    kfe_i_table_free(&tables[1]);
    kfe_i_target_free(&target);
    free(expected);
    free(y);
}

static void test_ls_independent_features(void **state)
{
    int *class_of = NULL;
    double *x = cloud_values(5, 1, &class_of);

    check_ls(*state, ROWS, COLS, x, NULL, 0);
    check_ls(*state, ROWS, COLS, x, "l2=2.5", 2.5);
    free(x);
    free(class_of);
}

static void test_ls_more_features_than_examples(void **state)
{
    double *x = support_normals(6, 12 * 30);

    for (int64_t i = 0; i < 12 * 30; i++)
        x[i] = i % 4 ? x[i] + 2 : 0;
    check_ls(*state, 12, 30, x, NULL, 0);
    check_ls(*state, 12, 30, x, "l2=0.5", 0.5);
    free(x);
}

static void test_ls_dependent_and_constant_features(void **state)
{
    double *x = support_normals(7, ROWS * COLS);

    for (int64_t i = 0; i < ROWS; i++) {
        x[i * COLS + 2] = x[i * COLS] - 2 * x[i * COLS + 1];
        x[i * COLS + 4] = 3;
    }
    check_ls(*state, ROWS, COLS, x, NULL, 0);
    free(x);
}

/* Constant columns whose mean is not exact: the weights are zero and the output is the mean of the targets. */
static void test_ls_without_information(void **state)
{
    kfe_context *ctx = *state;
    double x[40];
    double y[20];
    double mean = 0;

    for (int i = 0; i < 40; i++)
        x[i] = i % 2 ? 1e6 / 3 : 0.1;
    for (int i = 0; i < 20; i++)
        mean += (y[i] = i * i) / 20.0;
    for (int way = 0; way < 4; way++) {
        int64_t n = way & 1 ? 20 : 2;
        kfe_i_target target;
        kfe_i_table table = way & 2 ? learn_sparse(ctx, n, 2, x) : learn_dense(n, 2, x);
        assert_ok(ctx, kfe_i_target_from_values(ctx, n, 1, y, &target));
        kfe_i_predictor predictor = learn_fit(ctx, "ls", NULL, &table, &target);
        for (int64_t j = 0; j < predictor.dim; j++)
            assert_true(predictor.weights[j] == 0);
        assert_below(fabs(predictor.offset[0] + (n == 20 ? mean : 0.5)), 1e-12);
        kfe_i_predictor_free(&predictor);
        kfe_i_target_free(&target);
        kfe_i_table_free(&table);
    }
}

/* Against Gaussian elimination on the system with an explicit column of ones. */
static void test_ls_classes_solve_the_normal_equations(void **state)
{
    kfe_context *ctx = *state;
    int *class_of = NULL;
    double *x = cloud_values(9, 1, &class_of);
    kfe_i_table features = learn_dense(ROWS, COLS, x);
    kfe_i_target target = learn_classes(ctx, ROWS, class_of);
    enum { WIDE = COLS + 1 };
    double z[ROWS * WIDE];
    double y[ROWS * CLASSES];

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < WIDE; j++)
            z[i * WIDE + j] = j < COLS ? x[i * COLS + j] : 1;
        for (int g = 0; g < CLASSES; g++)
            y[i * CLASSES + g] = class_of[i] == g ? 1 : -1;
    }
    double *turned = support_transpose(ROWS, WIDE, z);
    double *product = support_product(WIDE, ROWS, WIDE, turned, z);
    double *right = support_product(WIDE, ROWS, CLASSES, turned, y);
    double *w = support_solve(WIDE, CLASSES, product, right);
    double *expected = support_product(ROWS, WIDE, CLASSES, z, w);
    kfe_i_predictor predictor = learn_fit(ctx, "ls", NULL, &features, &target);
    double *got = learn_outputs(ctx, &predictor, &features);
    assert_int_equal(predictor.decision, KFE_DECIDE_LARGEST);
    assert_below(support_distance(ROWS * CLASSES, expected, got),
                 tolerance_solve(ROWS, support_condition(WIDE, product)));
    free(turned);
    free(product);
    free(right);
    free(w);
    free(expected);
    free(got);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
    free(x);
    free(class_of);
}

/* ---- problems with a known solution, at any condition number ---- */

/* X = UΣVᵀ (n × d) with s = min(n − 1, d) singular values that fall from 1 to 1/condition. The columns of U
 * are cosines that sum to zero, so that X is centred; those of V are cosines too. */
typedef struct known {
    int64_t n, d, s;
    double *x, *u, *v, *values;
} known;

static double cosine(int64_t size, int64_t row, int64_t wave)
{
    double scale = sqrt((wave == 0 ? 1.0 : 2.0) / (double)size);
    return scale * cos(acos(-1) * ((double)row + 0.5) * (double)wave / (double)size);
}

static known make_known(int64_t n, int64_t d, double condition)
{
    known k = {.n = n, .d = d, .s = n - 1 < d ? n - 1 : d};

    k.x = calloc((size_t)(n * d), sizeof *k.x);
    k.u = calloc((size_t)(n * k.s), sizeof *k.u);
    k.v = calloc((size_t)(d * k.s), sizeof *k.v);
    k.values = calloc((size_t)k.s, sizeof *k.values);
    for (int64_t r = 0; r < k.s; r++) {
        k.values[r] = pow(condition, -(double)r / (double)(k.s - 1));
        for (int64_t i = 0; i < n; i++)
            k.u[i * k.s + r] = cosine(n, i, r + 1);
        for (int64_t j = 0; j < d; j++)
            k.v[j * k.s + r] = cosine(d, j, r);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            for (int64_t r = 0; r < k.s; r++)
                k.x[i * d + j] += k.u[i * k.s + r] * k.values[r] * k.v[j * k.s + r];
    return k;
}

static void free_known(known *k)
{
    free(k->x);
    free(k->u);
    free(k->v);
    free(k->values);
}

/* Targets along singular vector r: Y = u_r, hence W = v_r/σ_r. */
static void known_answer(const known *k, int64_t r, double *y, double *w)
{
    for (int64_t i = 0; i < k->n; i++)
        y[i] = k->u[i * k->s + r];
    for (int64_t j = 0; j < k->d; j++)
        w[j] = k->v[j * k->s + r] / k->values[r];
}

static double norm(int64_t count, const double *values)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sqrt(sum);
}

/* Checks ‖XW − Y‖ and ‖W − expected‖/‖expected‖ of a fit to the targets along singular vector r. */
static void check_along(kfe_context *ctx, const known *k, const kfe_i_table *x, int64_t r, double tolerance)
{
    double *y = calloc((size_t)k->n, sizeof *y);
    double *w = calloc((size_t)k->d, sizeof *w);
    kfe_i_target target;

    known_answer(k, r, y, w);
    assert_ok(ctx, kfe_i_target_from_values(ctx, k->n, 1, y, &target));
    kfe_i_predictor predictor = learn_fit(ctx, "ls", NULL, x, &target);
    double *got = learn_outputs(ctx, &predictor, x);
    double length = norm(k->d, w);
    for (int64_t i = 0; i < k->n; i++)
        got[i] -= y[i];
    for (int64_t j = 0; j < k->d; j++)
        w[j] -= predictor.weights[j];
    assert_below(norm(k->n, got), tolerance);
    assert_below(norm(k->d, w) / length, tolerance);
    assert_string_equal(predictor.records[0].name, "rank");
    assert_int_equal(predictor.records[0].value, k->s);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
    free(got);
    free(w);
    free(y);
}

/* The errors of residual and weights are at most rounding times the condition number; forming XᵀX would
 * square it, unless refinement makes up for that, as it does for many examples and condition numbers up to 10⁴. Sparse
 * features of this size are made dense. */
static void test_condition_numbers(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t shapes[][2] = {{60, 8}, {12, 40}, {400, 8}};

    support_catch_log(ctx);
    for (int e = 0; e <= 14; e += 2)
        for (int shape = 0; shape < 3; shape++) {
            known k = make_known(shapes[shape][0], shapes[shape][1], pow(10, e));
            kfe_i_table tables[2] = {learn_dense(k.n, k.d, k.x), learn_sparse(ctx, k.n, k.d, k.x)};
            for (int t = 0; t < 2; t++)
                for (int64_t r = 0; r < k.s; r++)
                    check_along(ctx, &k, &tables[t], r, tolerance_solve(k.s, 1 / k.values[k.s - 1]));
            kfe_i_table_free(&tables[1]);
            free_known(&k);
        }
    assert_string_equal(support_log(), ""); /* the rank is full for every condition number */
}

/* If memory does not allow a dense copy, products are used, and refinement corrects them. */
static void test_large_sparse_features(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t shapes[][2] = {{4000, 6}, {24, 1200}};

    assert_ok(ctx, kfe_context_set_memory(ctx, 640000));
    for (int e = 0; e <= 4; e++)
        for (int shape = 0; shape < 2; shape++) {
            known k = make_known(shapes[shape][0], shapes[shape][1], pow(10, e));
            kfe_i_table sparse = learn_sparse(ctx, k.n, k.d, k.x);
            for (int64_t r = 0; r < k.s; r += 5)
                check_along(ctx, &k, &sparse, r, tolerance_solve(k.n, 16 / k.values[k.s - 1]));
            kfe_i_table_free(&sparse);
            free_known(&k);
        }
}

/* ---- the rank ---- */

static void test_a_deficient_rank_is_reported(void **state)
{
    kfe_context *ctx = *state;
    int *class_of = NULL;
    double *x = cloud_values(3, 1, &class_of);
    kfe_i_target target = learn_classes(ctx, ROWS, class_of);
    kfe_i_table features = learn_dense(ROWS, COLS, x);

    for (int64_t i = 0; i < ROWS; i++)
        x[i * COLS + 3] = 2 * x[i * COLS] - x[i * COLS + 1];
    support_catch_log(ctx);
    kfe_i_predictor predictor = learn_fit(ctx, "ls", NULL, &features, &target);
    assert_non_null(strstr(support_log(), "rank 4 instead of 5"));
    assert_int_equal(predictor.records[0].value, 4);
    kfe_i_predictor_free(&predictor);
    predictor = learn_fit(ctx, "ls", "l2=0.1", &features, &target);
    assert_string_equal(support_log(), ""); /* with a penalty the solution is unique */
    assert_int_equal(predictor.records[0].value, 4);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
    free(x);
    free(class_of);
}

/* Data in large and in small units gives the same predictions. */
static void test_units_do_not_matter(void **state)
{
    kfe_context *ctx = *state;
    int *class_of = NULL;
    double *x = cloud_values(4, 1, &class_of);
    kfe_i_target target = learn_classes(ctx, ROWS, class_of);
    kfe_i_table features = learn_dense(ROWS, COLS, x);
    double *expected = learn_fit_outputs(ctx, "ls", NULL, &features, &target, &features);

    for (int e = -140; e <= 140; e += 70) {
        double *scaled = calloc((size_t)(ROWS * COLS), sizeof *scaled);
        for (int64_t i = 0; i < ROWS * COLS; i++)
            scaled[i] = x[i] * pow(10, e);
        features = learn_dense(ROWS, COLS, scaled);
        double *got = learn_fit_outputs(ctx, "ls", NULL, &features, &target, &features);
        assert_below(support_distance(ROWS * CLASSES, expected, got), 1e-12);
        free(got);
        free(scaled);
    }
    free(expected);
    kfe_i_target_free(&target);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_ls_independent_features),
        with_context(test_ls_more_features_than_examples),
        with_context(test_ls_dependent_and_constant_features),
        with_context(test_ls_without_information),
        with_context(test_ls_classes_solve_the_normal_equations),
        with_context(test_condition_numbers),
        with_context(test_large_sparse_features),
        with_context(test_a_deficient_rank_is_reported),
        with_context(test_units_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
