/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kda-qr and akda-qr: the directions V in the span of the centroids are recovered from the features. They
 * must solve the generalized eigenproblem S_b V = (S + εI)VΛ with scatters computed here, for ridges over
 * six decades. Special cases must coincide with other methods.
 */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "support/tolerance.h"

enum { ROWS = 60, TEST_ROWS = 12, COLS = 5, CLASSES = 3 };
#define KERNEL "rbf:gamma=0.1"

typedef struct problem {
    double *x, *test;
    int *class_of;
    kfe_data *train, *test_data, *means; /* means: one point per class */
} problem;

static problem make_problem(kfe_context *ctx, uint64_t seed)
{
    static const int one_each[CLASSES] = {0, 1, 2};
    static double means[CLASSES * COLS];
    double sizes[CLASSES] = {0};
    problem p = {0};

    support_clouds(seed, ROWS, COLS, CLASSES, 1, &p.x, &p.class_of);
    p.test = support_normals(seed + 50, TEST_ROWS * COLS);
    p.train = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    p.test_data = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    memset(means, 0, sizeof means);
    for (int64_t i = 0; i < ROWS; i++)
        sizes[p.class_of[i]] += 1;
    for (int64_t i = 0; i < ROWS * COLS; i++)
        means[p.class_of[i / COLS] * COLS + i % COLS] += p.x[i] / sizes[p.class_of[i / COLS]];
    p.means = support_dense(ctx, CLASSES, COLS, means, one_each);
    return p;
}

static void free_problem(problem *p)
{
    kfe_data_free(p->train);
    kfe_data_free(p->test_data);
    kfe_data_free(p->means);
    free(p->x);
    free(p->test);
    free(p->class_of);
}

/* The coordinates in which a method discriminates: those of koc on the examples or, for akda-qr, on the class
 * means. */
static kfe_matrix coordinates(kfe_context *ctx, const char *method, const problem *p, const kfe_data *data)
{
    return support_features(ctx, "koc", NULL, KERNEL, method[0] == 'a' ? p->means : p->train, data);
}

/* ---- the optimum ---- */

typedef struct setting {
    const char *scatter;
    double ridge;
    int whiten;
} setting;

/* Both scatters of z; the ridge is added to S. */
static void own_scatters(const problem *p, const double *z, const setting *s, double **between,
                         double **against)
{
    double trace = 0;

    support_scatters(ROWS, CLASSES, z, p->class_of, CLASSES, between, against);
    for (int64_t i = 0; strcmp(s->scatter, "total") == 0 && i < CLASSES * CLASSES; i++)
        (*against)[i] += (*between)[i];
    for (int64_t i = 0; i < CLASSES; i++)
        trace += (*against)[i * (CLASSES + 1)];
    for (int64_t i = 0; i < CLASSES; i++)
        (*against)[i * (CLASSES + 1)] += s->ridge * trace / CLASSES;
}

/* The solution V of zV = f, by the normal equations. */
static double *directions_of(const double *z, const double *f)
{
    double *zt = support_transpose(ROWS, CLASSES, z);
    double *zz = support_product(CLASSES, ROWS, CLASSES, zt, z);
    double *zf = support_product(CLASSES, ROWS, CLASSES, zt, f);
    double *v = support_solve(CLASSES, CLASSES, zz, zf);

    free(zt);
    free(zz);
    free(zf);
    return v;
}

/* The largest entry of S_b V − (S + εI)VΛ and of the off-diagonal of Vᵀ(S + εI)V, relative to its diagonal,
 * and the largest error in the scale of a column of V. */
static double eigen_residual(const double *between, const double *against, const double *v,
                             const double *ratios, int whiten)
{
    double *left = support_product(CLASSES, CLASSES, CLASSES, between, v);
    double *right = support_product(CLASSES, CLASSES, CLASSES, against, v);
    double *vt = support_transpose(CLASSES, CLASSES, v);
    double *inner = support_product(CLASSES, CLASSES, CLASSES, vt, right);
    double scale = support_largest(CLASSES * CLASSES, left);
    double worst = 0;

    for (int64_t j = 0; j < CLASSES; j++) {
        double length = 0;
        for (int64_t i = 0; i < CLASSES; i++) {
            worst = fmax(worst, fabs(left[i * CLASSES + j] - ratios[j] * right[i * CLASSES + j]) / scale);
            length += v[i * CLASSES + j] * v[i * CLASSES + j];
            if (i != j)
                worst = fmax(worst, fabs(inner[i * CLASSES + j]) /
                                        sqrt(inner[i * (CLASSES + 1)] * inner[j * (CLASSES + 1)]));
        }
        worst = fmax(worst, fabs((whiten ? inner[j * (CLASSES + 1)] : length) - 1));
    }
    free(left);
    free(right);
    free(vt);
    free(inner);
    return worst;
}

static void check_optimum(kfe_context *ctx, const char *method, const problem *p, const setting *s)
{
    char params[96];
    int64_t count = 0;
    kfe_matrix z = coordinates(ctx, method, p, p->train);
    double *between, *against;
    double values[CLASSES];
    double vectors[CLASSES * CLASSES];

    snprintf(params, sizeof params, "scatter=%s,ridge=%.17g,whiten=%s", s->scatter, s->ridge,
             s->whiten ? "yes" : "no");
    kfe_model *model = support_fit(ctx, method, params, KERNEL, p->train);
    kfe_matrix f = support_transform(ctx, model, p->train);
    const double *ratios = kfe_model_record(model, "scatter-ratios", &count);
    assert_int_equal(f.cols, CLASSES);
    assert_int_equal(count, CLASSES);
    own_scatters(p, z.values, s, &between, &against);
    double *v = directions_of(z.values, f.values);
    double tolerance = tolerance_solve(ROWS, 1e4 * support_condition(CLASSES, against));
    assert_below(eigen_residual(between, against, v, ratios, s->whiten), tolerance);
    support_generalized(CLASSES, between, against, values, vectors);
    assert_below(support_distance(CLASSES, values, ratios), tolerance);
    assert_below(fabs(ratios[CLASSES - 1]), tolerance); /* orthogonal to all differences of class means */
    free(v);
    free(between);
    free(against);
    kfe_matrix_free(&z);
    kfe_matrix_free(&f);
    kfe_model_free(model);
}

static void test_directions_solve_the_eigenproblem(void **state)
{
    static const char *const methods[] = {"kda-qr", "akda-qr"};
    problem p = make_problem(*state, 7);

    for (int m = 0; m < 2; m++)
        for (int total = 0; total < 2; total++)
            for (int whiten = 0; whiten < 2; whiten++) {
                setting s = {total ? "total" : "within", 0, whiten};
                check_optimum(*state, methods[m], &p, &s);
                for (s.ridge = 1e-5; s.ridge < 20; s.ridge *= 10)
                    check_optimum(*state, methods[m], &p, &s);
            }
    free_problem(&p);
}

/* ---- special cases ---- */

/* S_b v = λ S_w v is equivalent to S_b v = λ/(1 + λ) (S_w + S_b) v: the directions are the same, and so are
 * features of unit length. */
static void test_total_scatter_gives_the_same_directions(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 8);
    kfe_model *within = support_fit(ctx, "kda-qr", "ridge=0", KERNEL, p.train);
    kfe_model *total = support_fit(ctx, "kda-qr", "ridge=0,scatter=total", KERNEL, p.train);
    kfe_matrix a = support_transform(ctx, within, p.test_data);
    kfe_matrix b = support_transform(ctx, total, p.test_data);
    int64_t count = 0;
    const double *lambda = kfe_model_record(within, "scatter-ratios", &count);
    const double *share = kfe_model_record(total, "scatter-ratios", &count);

    assert_below(support_distance_up_to_sign(TEST_ROWS, CLASSES, a.values, b.values),
                 tolerance_solve(ROWS, 1e5));
    for (int64_t j = 0; j < CLASSES; j++)
        assert_below(fabs(share[j] - lambda[j] / (1 + lambda[j])), tolerance_solve(ROWS, 1e3));
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_model_free(within);
    kfe_model_free(total);
    free_problem(&p);
}

/* A ridge far above the scatter leaves the eigenvectors of S_b: principal components of the class means. The
 * feature space is not shrunk, so distances inside the span are those of koc. */
static void test_unit_length_keeps_distances_under_a_large_ridge(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem(ctx, 9);
    kfe_matrix z = support_features(ctx, "koc", NULL, KERNEL, p.train, p.test_data);
    kfe_matrix f = support_features(ctx, "kda-qr", "ridge=1e9", KERNEL, p.train, p.test_data);

    assert_int_equal(f.cols, z.cols);
    assert_below(support_distance_up_to_rotation(TEST_ROWS, z.cols, z.values, f.cols, f.values), 1e-7);
    kfe_matrix_free(&z);
    kfe_matrix_free(&f);
    free_problem(&p);
}

static void test_linear_akda_qr_equals_kda_qr(void **state)
{
    static const char *const settings[] = {NULL, "whiten=yes", "scatter=total,ridge=0.03"};
    kfe_context *ctx = *state;
    support_csr arrays = {0};
    problem p = make_problem(ctx, 10);
    kfe_data *sparse = support_sparse(ctx, ROWS, COLS, p.x, p.class_of, &arrays);

    for (int i = 0; i < 3; i++)
        for (int s = 0; s < 2; s++) {
            kfe_matrix a = support_features(ctx, "kda-qr", settings[i], "linear", p.train, p.test_data);
            kfe_matrix b =
                support_features(ctx, "akda-qr", settings[i], "linear", s ? sparse : p.train, p.test_data);
            assert_int_equal(a.cols, b.cols);
            assert_below(support_distance_up_to_sign(TEST_ROWS, a.cols, a.values, b.values),
                         tolerance_solve(ROWS, 1e3));
            kfe_matrix_free(&a);
            kfe_matrix_free(&b);
        }
    kfe_data_free(sparse);
    support_csr_free(&arrays);
    free_problem(&p);
}

static void test_akda_qr_keeps_one_point_per_class(void **state)
{
    problem p = make_problem(*state, 11);
    kfe_model *model = support_fit(*state, "akda-qr", NULL, KERNEL, p.train);

    assert_int_equal(kfe_model_support_size(model), CLASSES);
    kfe_model_free(model);
    free_problem(&p);
}

/* Four classes whose means lie on a line that misses the origin: the between-class scatter has rank one.
 * Directions with ratio zero are not unique, so there is only one feature. */
static void test_directions_that_are_not_unique_are_left_out(void **state)
{
    enum { EACH = 4 };
    kfe_context *ctx = *state;
    double x[4 * EACH * 5];
    int class_of[4 * EACH];

    for (int i = 0; i < 4 * EACH; i++) {
        double side = i % 2 ? 1 : -1;
        class_of[i] = i / EACH;
        for (int j = 0; j < 5; j++)
            x[i * 5 + j] = (j == 0 ? class_of[i] : j == 4) + (i % EACH / 2 == j - 1 ? side : 0);
    }
    kfe_data *data = support_dense(ctx, 4 * EACH, 5, x, class_of);
    support_catch_log(ctx);
    kfe_matrix f = support_features(ctx, "kda-qr", "dim=3", "linear", data, data);
    assert_true(f.cols <= 2);
    assert_non_null(strstr(support_log(), "3 features were asked for"));
    kfe_matrix_free(&f);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_directions_solve_the_eigenproblem),
        with_context(test_total_scatter_gives_the_same_directions),
        with_context(test_unit_length_keeps_distances_under_a_large_ridge),
        with_context(test_linear_akda_qr_equals_kda_qr),
        with_context(test_akda_qr_keeps_one_point_per_class),
        with_context(test_directions_that_are_not_unique_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
