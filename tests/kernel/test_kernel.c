/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel values against the formulas, written again in long double. */
#include "support/support.h"

#include <stdio.h>

#include "kernel/tile/cross.h"
#include "support/points.h"
#include "support/tolerance.h"

/* ---- the formulas ----
 * Each gives the value and a bound on the error of a computation in double precision. */

typedef struct value {
    long double exact, bound;
} value;

/* A pair of points and the quantities that the formulas use. */
typedef struct pair {
    const double *x, *y;
    int64_t cols;
    double largest_norm; /* the largest squared norm in the data */
} pair;

static long double dot(const double *x, const double *y, int64_t cols, int absolute)
{
    long double sum = 0;
    for (int64_t j = 0; j < cols; j++)
        sum += absolute ? fabsl((long double)x[j] * y[j]) : (long double)x[j] * y[j];
    return sum;
}

static value linear(const pair *p)
{
    value v = {dot(p->x, p->y, p->cols, 0), tolerance_sum(p->cols, (double)dot(p->x, p->y, p->cols, 1))};
    return v;
}

/* gamma·⟨x, y⟩ + coef0 */
static value affine(const pair *p, double gamma, double coef0)
{
    value s = linear(p);
    value v = {gamma * s.exact + coef0, gamma * s.bound + 4 * DBL_EPSILON * fabs(coef0)};
    return v;
}

static value power(value base, int degree)
{
    long double reach = fabsl(base.exact) + base.bound;
    value v = {powl(base.exact, degree),
               degree * powl(reach, degree - 1) * (base.bound + 2 * DBL_EPSILON * reach)};
    return v;
}

static value poly_cubic(const pair *p)
{
    return power(affine(p, 0.5, 2), 3);
}

static value poly_homogeneous(const pair *p)
{
    return power(affine(p, 1, 0), 2);
}

/* exp(−gamma·sum), where the sum is off by at most `error` and exp by TOLERANCE_EXP_ULP. */
static value exponential(long double gamma, long double sum, long double error)
{
    value v = {expl(-gamma * sum), 0};
    v.bound = v.exact * (expm1l(gamma * error) + DBL_EPSILON * (TOLERANCE_EXP_ULP + gamma * sum));
    return v;
}

static value rbf(const pair *p)
{
    return exponential(0.7L, support_squared_distance(p->x, p->y, p->cols),
                       tolerance_distance(p->cols, p->largest_norm));
}

static value laplacian(const pair *p)
{
    long double sum = 0;
    long double magnitude = 0;

    for (int64_t j = 0; j < p->cols; j++) {
        sum += fabsl((long double)p->x[j] - p->y[j]);
        magnitude += fabsl(p->x[j]) + fabsl(p->y[j]);
    }
    return exponential(0.3L, sum, tolerance_sum(p->cols, (double)magnitude));
}

/* A decreasing function of the squared distance, which is off by at most the smaller of its two error bounds. */
static value radial(const pair *p, long double (*formula)(long double squared))
{
    long double squared = support_squared_distance(p->x, p->y, p->cols);
    long double off =
        fminl(tolerance_distance(p->cols, p->largest_norm), tolerance_distance_relative(p->cols) * squared);
    value v = {formula(squared), 0};

    v.bound = formula(fmaxl(0, squared - off)) - formula(squared + off) +
              DBL_EPSILON * (8 + 4 * sqrtl(squared)) * v.exact;
    return v;
}

static long double exp_formula(long double squared)
{
    return expl(-sqrtl(squared) / 1.5L);
}

static long double exp_power_formula(long double squared)
{
    return expl(-powl(sqrtl(squared) / 1.5L, 1.25L));
}

static long double matern_three_halves(long double squared)
{
    long double t = sqrtl(3) * sqrtl(squared) / 1.5L;
    return (1 + t) * expl(-t);
}

static long double matern_five_halves(long double squared)
{
    long double t = sqrtl(5) * sqrtl(squared) / 1.5L;
    return (1 + t + t * t / 3) * expl(-t);
}

static value exp_kernel(const pair *p)
{
    return radial(p, exp_formula);
}

static value exp_power_kernel(const pair *p)
{
    return radial(p, exp_power_formula);
}

static value matern_kernel(const pair *p)
{
    return radial(p, matern_three_halves);
}

static value matern_smooth_kernel(const pair *p)
{
    return radial(p, matern_five_halves);
}

static value cosine(const pair *p)
{
    long double norms = sqrtl(dot(p->x, p->x, p->cols, 0)) * sqrtl(dot(p->y, p->y, p->cols, 0));
    value v = {norms > 0 ? dot(p->x, p->y, p->cols, 0) / norms : 0, tolerance_sum(2 * p->cols, 1)};
    return v;
}

static value sigmoid(const pair *p)
{
    value v = affine(p, 0.4, -0.5);
    v.exact = tanhl(v.exact);
    v.bound += 4 * DBL_EPSILON;
    return v;
}

static value chi2(const pair *p)
{
    long double sum = 0;
    long double magnitude = 0;

    for (int64_t j = 0; j < p->cols; j++) {
        long double total = (long double)p->x[j] + p->y[j];
        long double difference = (long double)p->x[j] - p->y[j];
        sum += total > 0 ? difference * difference / total : 0;
        magnitude += total;
    }
    return exponential(0.6L, sum, tolerance_sum(p->cols, (double)magnitude));
}

static value intersection(const pair *p)
{
    value v = {0, 0};

    for (int64_t j = 0; j < p->cols; j++)
        v.exact += p->x[j] < p->y[j] ? p->x[j] : p->y[j];
    v.bound = tolerance_sum(p->cols, (double)v.exact);
    return v;
}

static const struct kernel_case {
    const char *text;
    value (*formula)(const pair *p);
    int nonnegative;
} cases[] = {
    {"linear", linear, 0},
    {"poly:degree=3,gamma=0.5,coef0=2", poly_cubic, 0},
    {"poly:degree=2,gamma=1,coef0=0", poly_homogeneous, 0},
    {"rbf:gamma=0.7", rbf, 0},
    {"laplacian:gamma=0.3", laplacian, 0},
    {"exp:sigma=1.5", exp_kernel, 0},
    {"exp:sigma=1.5,power=1.25", exp_power_kernel, 0},
    {"matern:sigma=1.5", matern_kernel, 0},
    {"matern:sigma=1.5,nu=2.5", matern_smooth_kernel, 0},
    {"cosine", cosine, 0},
    {"sigmoid:gamma=0.4,coef0=-0.5", sigmoid, 0},
    {"chi2:gamma=0.6", chi2, 1},
    {"intersection", intersection, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- all kernels, shapes and kinds of data ---- */

static double largest_norm(const support_points *a, const support_points *b)
{
    double largest = 0;

    for (int64_t i = 0; i < a->rows; i++)
        largest = fmax(largest, (double)dot(support_points_row(a, i), support_points_row(a, i), a->cols, 0));
    for (int64_t i = 0; i < b->rows; i++)
        largest = fmax(largest, (double)dot(support_points_row(b, i), support_points_row(b, i), b->cols, 0));
    return largest;
}

static value *reference(const struct kernel_case *kernel, const support_points *a, const support_points *b)
{
    value *all = calloc((size_t)(a->rows * b->rows), sizeof *all);
    pair p = {.cols = a->cols, .largest_norm = largest_norm(a, b)};

    assert_non_null(all);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->rows; j++) {
            p.x = support_points_row(a, i);
            p.y = support_points_row(b, j);
            all[i * b->rows + j] = kernel->formula(&p);
        }
    return all;
}

static void compare(const struct kernel_case *kernel, const char *kinds, const kfe_matrix *got,
                    const value *expected)
{
    for (int64_t i = 0; i < got->rows; i++)
        for (int64_t j = 0; j < got->cols; j++) {
            const value *v = &expected[i * got->cols + j];
            double k = got->values[i * got->stride + j];
            if (!(fabsl(k - v->exact) <= v->bound))
                fail_msg("%s, %s, (%d, %d): %.17g, expected %.17Lg, off by %.3Lg, allowed %.3Lg",
                         kernel->text, kinds, (int)i, (int)j, k, v->exact, k - v->exact, v->bound);
        }
}

static void check_kinds(kfe_context *ctx, const struct kernel_case *kernel, const support_points *a,
                        const support_points *b)
{
    static const char *const names[] = {"dense x dense", "dense x csr", "csr x dense", "csr x csr"};
    value *expected = reference(kernel, a, b);

    for (int kinds = 0; kinds < 4; kinds++) {
        kfe_data *rows = support_points_data(ctx, a, kinds >> 1);
        kfe_data *columns = support_points_data(ctx, b, kinds & 1);
        kfe_matrix matrix;
        assert_ok(ctx, kfe_kernel_matrix(ctx, kernel->text, rows, columns, &matrix));
        assert_int_equal(matrix.rows, a->rows);
        assert_int_equal(matrix.cols, b->rows);
        compare(kernel, names[kinds], &matrix, expected);
        kfe_matrix_free(&matrix);
        kfe_data_free(rows);
        kfe_data_free(columns);
    }
    free(expected);
}

static void test_values(void **state)
{
    static const int64_t shapes[][3] = {{1, 1, 1},      {3, 129, 2},   {127, 3, 7},
                                        {129, 513, 50}, {700, 127, 7}, {513, 700, 1}};

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int c = 0; c < CASES; c++) {
            support_points a;
            support_points b;
            support_points_make(&a, 10 * s + 1, shapes[s][0], shapes[s][2], cases[c].nonnegative);
            support_points_make(&b, 10 * s + 2, shapes[s][1], shapes[s][2], cases[c].nonnegative);
            check_kinds(*state, &cases[c], &a, &b);
            support_points_free(&a);
            support_points_free(&b);
        }
}

/* Fails for a new kernel without a formula here. */
static void test_every_kernel_has_a_case(void **state)
{
    const kfe_entry_info *info;
    (void)state;

    for (int i = 0; (info = kfe_kernel(i)); i++) {
        int found = strcmp(info->name, "spectrum") == 0 || strcmp(info->name, "precomputed") == 0;
        for (int c = 0; c < CASES; c++)
            found |= strncmp(cases[c].text, info->name, strlen(info->name)) == 0;
        if (!found)
            fail_msg("kernel %s is not tested", info->name);
    }
}

/* ---- exact values ---- */

static int same_row(const support_points *points, int64_t i, int64_t j)
{
    return support_squared_distance(support_points_row(points, i), support_points_row(points, j),
                                    points->cols) == 0;
}

/* K = 1 where the rows are equal; elsewhere 0 with a huge gamma and 1 with a tiny one. */
static void check_exact(kfe_context *ctx, const char *kernel, const support_points *points, int sparse,
                        double elsewhere)
{
    kfe_matrix k;

    support_points_kernel(ctx, kernel, points, sparse, &k);
    for (int64_t i = 0; i < k.rows; i++)
        for (int64_t j = 0; j < k.cols; j++) {
            double got = k.values[i * k.stride + j];
            double expected = same_row(points, i, j) ? 1 : elsewhere;
            if (!isnan(expected) && got != expected)
                fail_msg("%s, %s, (%d, %d): %.17g instead of %g", kernel, sparse ? "csr" : "dense", (int)i,
                         (int)j, got, expected);
        }
    kfe_matrix_free(&k);
}

/* Also with many columns, because sums over sparse rows are computed in pieces. */
static void test_equal_rows_are_exactly_one(void **state)
{
    static const char *const names[] = {"rbf", "laplacian", "chi2"};
    static const int64_t widths[] = {40, 1500};
    char text[64];

    for (size_t k = 0; k < 6; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            support_points points;
            support_points_make(&points, 5, k % 2 ? 30 : 300, widths[k % 2], 1);
            snprintf(text, sizeof text, "%s:gamma=0.37", names[k / 2]);
            check_exact(*state, text, &points, sparse, NAN);
            snprintf(text, sizeof text, "%s:gamma=1e300", names[k / 2]);
            check_exact(*state, text, &points, sparse, 0);
            snprintf(text, sizeof text, "%s:gamma=1e-300", names[k / 2]);
            check_exact(*state, text, &points, sparse, 1);
            support_points_free(&points);
        }
}

/* The squares of these values overflow: the distance between points is infinite, but the distance to
 * themselves is 0. */
static void test_huge_values(void **state)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        support_points points;
        support_points_make(&points, 6, 140, 5, 0);
        for (int64_t i = 0; i < points.rows * points.stride; i++)
            points.values[i] *= i % points.stride < points.cols ? 1e200 : 1;
        support_points_update(&points);
        check_exact(*state, "rbf:gamma=1", &points, sparse, 0);
        support_points_free(&points);
    }
}

/* ---- cancellation ---- */

/* The exponent −log K relative to the exact one, for all pairs; gamma makes it neither tiny nor large. */
static void check_exponents(kfe_context *ctx, const support_points *points, int sparse, double gamma)
{
    char text[64];
    kfe_matrix k;
    long double allowed = tolerance_distance_relative(points->cols);

    snprintf(text, sizeof text, "rbf:gamma=%.17g", gamma);
    support_points_kernel(ctx, text, points, sparse, &k);
    for (int64_t i = 0; i < k.rows; i++)
        for (int64_t j = 0; j < k.cols; j++) {
            long double exact = gamma * support_squared_distance(support_points_row(points, i),
                                                                 support_points_row(points, j), points->cols);
            double got = k.values[i * k.stride + j];
            if (exact > 700)
                assert_true(got == 0 || exact < 710);
            else if (!(fabsl(got - expl(-exact)) <=
                       expl(-exact) * (allowed * exact + TOLERANCE_EXP_ULP * DBL_EPSILON)))
                fail_msg("%s, (%d, %d): exponent %.17Lg instead of %.17Lg", sparse ? "csr" : "dense", (int)i,
                         (int)j, -logl(got), exact);
        }
    kfe_matrix_free(&k);
}

static void test_far_from_the_origin(void **state)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        support_points points;
        support_points_make(&points, 7, 200, 6, 0);
        for (int64_t i = 0; i < points.rows; i++)
            for (int64_t j = 0; j < points.cols; j++)
                points.values[i * points.stride + j] += 1e6;
        support_points_update(&points);
        check_exponents(*state, &points, sparse, 0.5);
        support_points_free(&points);
    }
}

/* No centre suits both clusters. The tighter one lies at the origin; its coordinates have digits that the
 * distance to the other cluster would lose. */
static void test_two_tight_clusters(void **state)
{
    static const double widths[] = {1000, 100, 10, 1, 1e-3, 1e-6};

    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int sparse = 0; sparse < 2; sparse++) {
            support_points points;
            support_points_make(&points, 8, 200, 6, 0);
            for (int64_t i = 0; i < points.rows; i++)
                for (int64_t j = 0; j < points.cols; j++) {
                    double *entry = &points.values[i * points.stride + j];
                    *entry = widths[w] * *entry + (i % 2 ? 1e6 : 0);
                }
            support_points_update(&points);
            check_exponents(*state, &points, sparse, 0.5 / (widths[w] * widths[w]));
            support_points_free(&points);
        }
}

/* ---- products ---- */

typedef struct cross {
    kfe_i_kernel kernel;
    kfe_i_points a, b;
} cross;

static void times(kfe_context *ctx, const cross *c, int threads, const double *v, int64_t k, double *out)
{
    assert_ok(ctx, kfe_context_set_threads(ctx, threads));
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);
    memset(out, 0, (size_t)(c->a.table.rows * k) * sizeof *out);
    double *work = malloc((size_t)kfe_i_cross_times_work(ctx, &c->kernel, &c->a, &c->b) * sizeof *work);
    assert_ok(ctx, kfe_i_cross_times(ctx, &c->kernel, &c->a, &c->b, &(kfe_i_product){1.5, v, k, out}, work));
    free(work);
    kfe_i_threads_leave(saved);
}

static void check_product(const support_points *a, const support_points *b, const double *v, int64_t k,
                          const double *out)
{
    pair p = {.cols = a->cols, .largest_norm = largest_norm(a, b)};

    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t l = 0; l < k; l++) {
            value sum = {0, 0};
            for (int64_t j = 0; j < b->rows; j++) {
                p.x = support_points_row(a, i);
                p.y = support_points_row(b, j);
                value entry = rbf(&p);
                sum.exact += 1.5L * entry.exact * v[j * k + l];
                sum.bound += 1.5L * entry.bound + tolerance_sum(b->rows, 2 * (double)entry.exact);
            }
            assert_true(fabsl(out[i * k + l] - sum.exact) <= sum.bound);
        }
}

static void test_products_do_not_depend_on_threads(void **state)
{
    enum { ROWS = 700, COLS = 600, K = 3 };
    kfe_context *ctx = *state;

    for (int sparse = 0; sparse < 2; sparse++) {
        support_points a;
        support_points b;
        cross c;
        double *v = support_random(3, COLS * K);
        double *one = support_random(4, ROWS * K);
        double *two = support_random(5, ROWS * K);
        support_points_make(&a, 11, ROWS, 9, 0);
        support_points_make(&b, 12, COLS, 9, 0);
        kfe_i_table a_table = support_points_table(&a, sparse);
        kfe_i_table b_table = support_points_table(&b, sparse);
        assert_ok(ctx, kfe_i_kernel_parse(ctx, "rbf:gamma=0.7", &c.kernel));
        assert_ok(ctx, kfe_i_points_prepare(ctx, &c.kernel, &b_table, NULL, &c.b));
        assert_ok(ctx, kfe_i_points_prepare(ctx, &c.kernel, &a_table, &c.b, &c.a));
        times(ctx, &c, 1, v, K, one);
        times(ctx, &c, 2, v, K, two);
        assert_memory_equal(one, two, ROWS * K * sizeof *one);
        check_product(&a, &b, v, K, one);
        kfe_i_points_free(&c.a);
        kfe_i_points_free(&c.b);
        kfe_i_kernel_free(&c.kernel);
        support_points_free(&a);
        support_points_free(&b);
        free(v);
        free(one);
        free(two);
    }
}

/* Sizes that are no multiple of a square of the transposition, of the rows that are evaluated at once on the diagonal, and of a tile. */
static void test_whole_matrix_is_symmetric_and_right(void **state)
{
    const int64_t sizes[] = {1, 7, 131, 515, 1030};
    kfe_context *ctx = *state;

    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        int64_t n = sizes[z];
        support_points points;
        cross c;
        double *matrix = support_random(3, n * n);
        double *entries = support_random(4, n * n);
        support_points_make(&points, 11, n, 9, 0);
        kfe_i_table table = support_points_table(&points, 0);
        assert_ok(ctx, kfe_i_kernel_parse(ctx, "rbf:gamma=0.7", &c.kernel));
        assert_ok(ctx, kfe_i_points_prepare(ctx, &c.kernel, &table, NULL, &c.a));
        assert_ok(ctx, kfe_i_self_matrix(ctx, &c.kernel, &c.a, matrix));
        assert_ok(ctx, kfe_i_cross_block(ctx, &c.kernel, (kfe_i_range){&c.a, 0, n}, (kfe_i_range){&c.a, 0, n},
                                         entries, n));
        pair p = {.cols = points.cols, .largest_norm = largest_norm(&points, &points)};
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                p.x = support_points_row(&points, i);
                p.y = support_points_row(&points, j);
                assert_true(matrix[i * n + j] == matrix[j * n + i]);
                assert_true(fabs(matrix[i * n + j] - entries[i * n + j]) <= 2 * (double)rbf(&p).bound);
            }
        kfe_i_points_free(&c.a);
        kfe_i_kernel_free(&c.kernel);
        support_points_free(&points);
        free(matrix);
        free(entries);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_every_kernel_has_a_case),
        cmocka_unit_test(test_equal_rows_are_exactly_one),
        cmocka_unit_test(test_huge_values),
        cmocka_unit_test(test_far_from_the_origin),
        cmocka_unit_test(test_two_tight_clusters),
        cmocka_unit_test(test_products_do_not_depend_on_threads),
        cmocka_unit_test(test_whole_matrix_is_symmetric_and_right),
    };
    return cmocka_run_group_tests(tests, support_context_setup, support_context_teardown);
}
