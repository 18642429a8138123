/* SPDX-License-Identifier: Apache-2.0 */
/* Data that searches share: parts of a matrix in memory (test_gram.c tests their calls as one more form), and
 * the dot products and distances from which kernel matrices are computed. */
#include "support/support.h"

#include "core/memory.h"
#include "gram/base.h"
#include "gram/gram.h"
#include "kernel/tile/cross.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/sweep.h"
#include "support/tolerance.h"

/* ---- parts of a matrix ---- */

enum { ALL = 37, PART = 20, WIDTH = 3 };

/* Products also for the rows outside the part, against the explicit sum. Twice, with different widths,
 * because the workspace is reused. */
static void test_products_reach_the_other_rows(void **state)
{
    kfe_context *ctx = *state;
    double *half = support_random(1, ALL * ALL);
    double *matrix = support_random(1, ALL * ALL);
    int64_t index[PART];
    kfe_i_gram *part = NULL;

    for (int64_t i = 0; i < ALL * ALL; i++)
        matrix[i] = half[i] + half[i % ALL * ALL + i / ALL];
    for (int64_t i = 0; i < PART; i++)
        index[i] = (i * 11 + 5) % ALL;
    assert_ok(ctx, kfe_i_gram_subset(ctx, ALL, matrix, index, PART, &part));
    for (int64_t k = 1; k <= 2 * WIDTH; k += WIDTH) {
        double *v = support_random(2, PART * k);
        double *out = support_random(3, ALL * k);
        assert_ok(ctx, kfe_i_gram_subset_expand(part, v, k, out));
        for (int64_t i = 0; i < ALL * k; i++) {
            long double expected = 0;
            for (int64_t j = 0; j < PART; j++)
                expected += (long double)matrix[i / k * ALL + index[j]] * v[j * k + i % k];
            assert_below(fabs(out[i] - (double)expected), tolerance_sum(ALL, 2 * ALL));
        }
        free(v);
        free(out);
    }
    kfe_i_gram_free(part);
    free(half);
    free(matrix);
}

/* ---- bases ---- */

enum { ROWS = 45, COLS = 7, LONGEST = 12 };

typedef struct samples {
    support_points points; /* nonnegative, so that every kernel accepts them */
    char bytes[ROWS * LONGEST];
    int64_t starts[ROWS + 1];
    double *given;
} samples;

static void make_samples(samples *s)
{
    uint64_t random = 9;

    support_points_make(&s->points, 5, ROWS, COLS, 1);
    s->starts[0] = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        s->starts[i + 1] = s->starts[i] + i % LONGEST;
        for (int64_t k = s->starts[i]; k < s->starts[i + 1]; k++)
            s->bytes[k] = "ab"[support_uniform(&random) < 0.5];
    }
    s->given = support_rbf(ROWS, s->points.values, ROWS, s->points.values, 1, 0.5);
}

static void free_samples(samples *s)
{
    support_points_free(&s->points);
    free(s->given);
}

static kfe_i_table text_table(samples *s)
{
    return (kfe_i_table){
        .kind = KFE_TABLE_TEXT, .rows = ROWS, .cols = 1, .row_start = s->starts, .bytes = s->bytes};
}

static kfe_i_kernel kernel_on(kfe_context *ctx, const char *text, const kfe_i_table *table)
{
    kfe_i_kernel kernel;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, kfe_i_kernel_prepare(ctx, &kernel, table));
    return kernel;
}

/* The matrix without a shared base. The caller frees it. */
static double *ordinary(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table)
{
    double *matrix = support_random(1, ROWS * ROWS);
    kfe_i_points points;

    assert_ok(ctx, kfe_i_points_prepare(ctx, kernel, table, NULL, &points));
    assert_ok(ctx, kfe_i_self_matrix(ctx, kernel, &points, matrix));
    kfe_i_points_free(&points);
    return matrix;
}

static void assert_maps(kfe_context *ctx, const kfe_i_base *base, const char *text, const kfe_i_table *table)
{
    kfe_i_kernel kernel = kernel_on(ctx, text, table);
    double *expected = ordinary(ctx, &kernel, table);
    double *got = support_random(2, ROWS * ROWS);
    double largest = support_largest(ROWS * ROWS, expected);

    assert_true(kfe_i_base_serves(base, &kernel));
    assert_ok(ctx, kfe_i_base_map(ctx, base, &kernel, 0, got));
    for (int64_t i = 0; i < ROWS * ROWS; i++)
        if (!(fabs(got[i] - expected[i] * kernel.common.weight) <= tolerance_sum(COLS, 8 * largest)))
            fail_msg("%s: entry %lld is %.17g instead of %.17g", text, (long long)i, got[i],
                     expected[i] * kernel.common.weight);
    free(expected);
    free(got);
    kfe_i_kernel_free(&kernel);
}

static void check_base(kfe_context *ctx, const char *made_for, const char *const *kernels,
                       const kfe_i_table *table)
{
    kfe_i_kernel kernel = kernel_on(ctx, made_for, table);
    kfe_i_base base;

    assert_ok(ctx, kfe_i_base_make(ctx, &kernel, table, &base));
    kfe_i_kernel_free(&kernel); /* the base no longer needs the kernel */
    for (; *kernels; kernels++)
        assert_maps(ctx, &base, *kernels, table);
    kfe_i_base_free(&base);
    kfe_i_base_free(&base);
}

/* Every row of the table of kernels, with default parameters. */
static void test_every_kernel_is_a_map_of_its_base(void **state)
{
    kfe_context *ctx = *state;
    samples s;
    const kfe_i_kernel_def *def;

    make_samples(&s);
    for (int k = 0; (def = kfe_i_kernel_def_at(k)); k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            const char *const itself[] = {def->name, NULL};
            kfe_i_table strings = text_table(&s);
            kfe_i_table numbers = support_points_table(&s.points, sparse);
            if (def->base != KFE_BASE_GIVEN && def->base != KFE_BASE_USER)
                check_base(ctx, def->name, itself, def->base == KFE_BASE_STRING ? &strings : &numbers);
        }
    free_samples(&s);
}

static void test_one_base_serves_a_grid(void **state)
{
    static const char *const distances[] = {"rbf:gamma=0.01", "rbf:gamma=1", "rbf:gamma=30,weight=2.5",
                                            "rbf:gamma=scale", NULL};
    static const char *const products[] = {"linear", "poly:degree=2",     "poly:degree=5,weight=0.5",
                                           "cosine", "sigmoid:gamma=0.1", NULL};
    static const char *const sums[] = {"laplacian:gamma=0.1", "laplacian:gamma=2,weight=3", NULL};
    kfe_context *ctx = *state;
    samples s;

    make_samples(&s);
    for (int sparse = 0; sparse < 2; sparse++) {
        kfe_i_table table = support_points_table(&s.points, sparse);
        check_base(ctx, "rbf:gamma=0.7", distances, &table);
        check_base(ctx, "poly:degree=3,weight=9", products, &table);
        check_base(ctx, "laplacian:gamma=0.7", sums, &table);
    }
    free_samples(&s);
}

/* Columns beyond the number of rows are not part of the matrix. */
static void test_given_matrix_is_copied(void **state)
{
    kfe_context *ctx = *state;
    samples s;
    kfe_i_kernel kernel = {0};
    kfe_i_base base;
    double *out = support_random(1, (ROWS - 1) * (ROWS - 1));

    make_samples(&s);
    kfe_i_table table = {
        .kind = KFE_TABLE_DENSE, .rows = ROWS - 1, .cols = ROWS - 1, .stride = ROWS, .values = s.given};
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "precomputed:weight=2", &kernel));
    assert_ok(ctx, kfe_i_base_make(ctx, &kernel, &table, &base));
    assert_ok(ctx, kfe_i_base_map(ctx, &base, &kernel, 0, out));
    for (int64_t i = 0; i < (ROWS - 1) * (ROWS - 1); i++)
        assert_true(out[i] == 2 * s.given[i / (ROWS - 1) * ROWS + i % (ROWS - 1)]);
    kfe_i_base_free(&base);
    kfe_i_kernel_free(&kernel);
    free_samples(&s);
    free(out);
}

/* Σ weight·κ with several threads, also in place of the base itself. */
static void test_sums_of_kernels(void **state)
{
    static const char *const texts[] = {"rbf:gamma=0.3,weight=0.5", "poly:degree=2,weight=2", "linear"};
    static const double weights[] = {0.5, 2, 1};
    kfe_context *ctx = *state;
    samples s;
    double *sum = support_random(7, ROWS * ROWS);
    double *expected = calloc(ROWS * ROWS, sizeof *expected);

    make_samples(&s);
    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    kfe_i_table table = support_points_table(&s.points, 0);
    for (int m = 0; m < 3; m++) {
        kfe_i_base base;
        kfe_i_kernel kernel = kernel_on(ctx, texts[m], &table);
        double *one = ordinary(ctx, &kernel, &table);
        assert_ok(ctx, kfe_i_base_make(ctx, &kernel, &table, &base));
        assert_ok(ctx, kfe_i_base_map(ctx, &base, &kernel, m > 0, sum));
        assert_ok(ctx, kfe_i_base_map(ctx, &base, &kernel, 0, base.values));
        for (int64_t i = 0; i < ROWS * ROWS; i++) {
            expected[i] += weights[m] * one[i];
            assert_below(fabs(base.values[i] - weights[m] * one[i]), 1e-13 * fmax(1, fabs(one[i])));
        }
        free(one);
        kfe_i_base_free(&base);
        kfe_i_kernel_free(&kernel);
    }
    assert_below(support_distance(ROWS * ROWS, expected, sum), 1e-13);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    free_samples(&s);
    free(sum);
    free(expected);
}

static void assert_serves(kfe_context *ctx, const char *made_for, const char *asked, int view,
                          const kfe_i_table *table, int expected)
{
    kfe_i_kernel first = kernel_on(ctx, made_for, table);
    kfe_i_kernel second = {0};
    kfe_i_base base;

    assert_ok(ctx, kfe_i_kernel_parse(ctx, asked, &second));
    second.view = view;
    assert_ok(ctx, kfe_i_base_make(ctx, &first, table, &base));
    if (kfe_i_base_serves(&base, &second) != expected)
        fail_msg("the base of %s and kernel %s on view %d", made_for, asked, view);
    kfe_i_base_free(&base);
    kfe_i_kernel_free(&first);
    kfe_i_kernel_free(&second);
}

static void test_what_a_base_does_not_serve(void **state)
{
    kfe_context *ctx = *state;
    samples s;
    kfe_i_base nothing = {0};

    make_samples(&s);
    kfe_i_table numbers = support_points_table(&s.points, 0);
    kfe_i_table strings = text_table(&s);
    assert_serves(ctx, "rbf", "rbf:gamma=2", 0, &numbers, 1);
    assert_serves(ctx, "rbf", "rbf:gamma=2", 1, &numbers, 0);
    assert_serves(ctx, "rbf", "poly", 0, &numbers, 0);
    assert_serves(ctx, "rbf", "laplacian", 0, &numbers, 0);
    assert_serves(ctx, "linear", "rbf", 0, &numbers, 0);
    assert_serves(ctx, "linear", "precomputed", 0, &numbers, 0);
    assert_serves(ctx, "chi2", "laplacian", 0, &numbers, 0);
    assert_serves(ctx, "intersection", "chi2", 0, &numbers, 0);
    assert_serves(ctx, "linear", "spectrum:length=2", 0, &numbers, 0);
    assert_serves(ctx, "spectrum:length=2", "spectrum:length=2", 0, &strings, 1);
    assert_serves(ctx, "spectrum:length=2", "spectrum:length=3", 0, &strings, 0);
    kfe_i_kernel kernel = kernel_on(ctx, "rbf", &numbers);
    assert_false(kfe_i_base_serves(&nothing, &kernel));
    kfe_i_kernel_free(&kernel);
    free_samples(&s);
}

/* ---- failing allocations ---- */

static kfe_status walk(kfe_context *ctx, void *user)
{
    const samples *s = user;
    kfe_i_table table = support_points_table(&s->points, 0);
    static double out[ROWS * ROWS];
    int64_t index[] = {3, 1, 2};
    double v[] = {1, 2, 3};
    kfe_i_kernel kernel = {0};
    kfe_i_base base = {0};
    kfe_i_gram *part = NULL;
    kfe_status status;

    if ((status = kfe_i_kernel_parse(ctx, "rbf:gamma=1", &kernel)) == KFE_OK &&
        (status = kfe_i_base_make(ctx, &kernel, &table, &base)) == KFE_OK &&
        (status = kfe_i_base_map(ctx, &base, &kernel, 1, out)) == KFE_OK &&
        (status = kfe_i_gram_subset(ctx, ROWS, out, index, 3, &part)) == KFE_OK &&
        (status = kfe_i_gram_subset_expand(part, v, 1, out)) == KFE_OK)
        status = kfe_i_gram_times(part, v, 1, out);
    kfe_i_gram_free(part);
    kfe_i_base_free(&base);
    kfe_i_kernel_free(&kernel);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    samples s;

    (void)state;
    make_samples(&s);
    support_sweep_all("part of a matrix", walk, &s, 6);
    free_samples(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_reach_the_other_rows),
        cmocka_unit_test(test_every_kernel_is_a_map_of_its_base),
        cmocka_unit_test(test_one_base_serves_a_grid),
        cmocka_unit_test(test_given_matrix_is_copied),
        cmocka_unit_test(test_sums_of_kernels),
        cmocka_unit_test(test_what_a_base_does_not_serve),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
