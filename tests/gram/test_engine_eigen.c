/* SPDX-License-Identifier: Apache-2.0 */
/* Leading eigenpairs by the iterative path, against LAPACK on the explicit matrix and by residuals that are
 * computed independently. */
#include "support/support.h"

#include <lapacke.h>
#include <math.h>

#include "core/memory.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/sweep.h"
#include "support/tolerance.h"

/* Above the sizes that go to LAPACK, and no multiples of a block size. */
enum { SIZE = 1003, OTHER_SIZE = 1117, MOST = 200 };

/* A bound on what rounding adds to a residual, in any order of summation. */
static double rounding_of(int64_t n, double norm)
{
    return tolerance_factorisation(n, norm);
}

/* All eigenvalues in descending order. The caller frees them. */
static double *lapack_eigenvalues(int64_t n, const double *matrix)
{
    double *copy = malloc((size_t)(n * n) * sizeof *copy);
    double *values = malloc((size_t)n * sizeof *values);

    assert_true(copy && values);
    memcpy(copy, matrix, (size_t)(n * n) * sizeof *copy);
    assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', (lapack_int)n, copy, (lapack_int)n, values),
                     0);
    for (int64_t i = 0; i < n / 2; i++) {
        double swapped = values[i];
        values[i] = values[n - 1 - i];
        values[n - 1 - i] = swapped;
    }
    free(copy);
    return values;
}

static double norm_of(int64_t n, const double *falling)
{
    return fmax(fabs(falling[0]), fabs(falling[n - 1]));
}

/* The largest norm ‖Gv − λv‖. */
static double largest_residual(int64_t n, const double *matrix, int64_t k, const double *values,
                               const double *vectors)
{
    double *product = engine_product(n, matrix, 0, vectors, k);

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            product[i * k + j] -= values[j] * vectors[i * k + j];
    double largest = engine_largest_column(n, k, product);
    free(product);
    return largest;
}

static double largest_difference(int64_t count, const double *a, const double *b)
{
    double largest = 0;

    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static void check_pairs(const char *name, int64_t n, const double *matrix, const double *expected, int64_t k,
                        const double *values, const double *vectors)
{
    double norm = norm_of(n, expected);
    /* before centring; kernels lie between 0 and 1, and each entry is off by one rounding */
    double largest_entry = 1;
    double allowed = KFE_TOLERANCE * norm + rounding_of(n, norm) + rounding_of(n, largest_entry);
    double residual = largest_residual(n, matrix, k, values, vectors);
    double orthonormality = engine_orthonormality(n, k, vectors);
    double difference = largest_difference(k, values, expected);

    if (!(residual <= allowed))
        fail_msg("%s, k = %d: residual %.2g, allowed %.2g", name, (int)k, residual, allowed);
    if (!(orthonormality <= rounding_of(n, 1)))
        fail_msg("%s, k = %d: vᵀv is off by %.2g", name, (int)k, orthonormality);
    if (!(difference <= allowed))
        fail_msg("%s, k = %d: eigenvalues off by %.2g, allowed %.2g", name, (int)k, difference, allowed);
}

static void check_case(kfe_context *ctx, const engine_case *one, int64_t n, int centred)
{
    static const int64_t counts[] = {1, 10, 60};
    engine_problem p;
    double values[60];
    double *vectors = support_random(1, n * 60);

    assert_ok(ctx, engine_open(ctx, one, n, centred, &p));
    double *matrix = engine_matrix(&p, centred);
    double *expected = lapack_eigenvalues(n, matrix);
    for (int c = 0; c < (centred ? 2 : 3); c++) {
        assert_ok(ctx, kfe_i_gram_eigen(p.gram, counts[c], KFE_TOLERANCE, values, vectors));
        check_pairs(one->name, n, matrix, expected, counts[c], values, vectors);
    }
    engine_close(&p);
    free(matrix);
    free(expected);
    free(vectors);
}

static void test_plain(void **state)
{
    for (const engine_case *one = engine_cases; one->name; one++)
        check_case(*state, one, SIZE, 0);
}

static void test_centred(void **state)
{
    for (const engine_case *one = engine_cases; one->name; one++)
        check_case(*state, one, OTHER_SIZE, 1);
}

/* ---- known spectra ---- */

/* Equal points that are far from all others form a block of ones: the size of a block is an eigenvalue, with
 * the number of such blocks as its multiplicity. */
static void test_multiple_eigenvalues(void **state)
{
    kfe_context *ctx = *state;
    engine_problem p;
    double values[MOST];
    double *vectors = support_random(1, SIZE * MOST);

    assert_ok(ctx, engine_open(ctx, engine_case_named("groups"), SIZE, 0, &p));
    assert_ok(ctx, kfe_i_gram_eigen(p.gram, 10, KFE_TOLERANCE, values, vectors));
    for (int j = 0; j < 10; j++)
        assert_float_equal(values[j], j < 5 ? 40 : 1, 1e-9);
    engine_close(&p);
    assert_ok(ctx, engine_open(ctx, engine_case_named("pairs"), SIZE, 0, &p));
    for (int64_t k = 50; k <= MOST; k += 75) {
        assert_ok(ctx, kfe_i_gram_eigen(p.gram, k, KFE_TOLERANCE, values, vectors));
        for (int64_t j = 0; j < k; j++)
            assert_float_equal(values[j], j < 100 ? 2 : 1, 1e-9);
    }
    engine_close(&p);
    free(vectors);
}

/* More pairs are requested than the rank: the others have the eigenvalue zero and are orthonormal too. */
static void test_more_than_the_rank(void **state)
{
    static const char *const names[] = {"low rank", "zero", "the identity", "nearly constant"};
    static const int64_t counts[] = {40, 100, MOST};
    kfe_context *ctx = *state;
    double values[MOST];
    double *vectors = support_random(1, SIZE * MOST);

    for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
        engine_problem p;
        assert_ok(ctx, engine_open(ctx, engine_case_named(names[c]), SIZE, 0, &p));
        double *matrix = engine_matrix(&p, 0);
        double *expected = lapack_eigenvalues(SIZE, matrix);
        for (int i = 0; i < 3; i++) {
            assert_ok(ctx, kfe_i_gram_eigen(p.gram, counts[i], KFE_TOLERANCE, values, vectors));
            check_pairs(names[c], SIZE, matrix, expected, counts[i], values, vectors);
        }
        engine_close(&p);
        free(matrix);
        free(expected);
    }
    free(vectors);
}

/* ---- cost ---- */

/* A linear kernel has no more eigenvalues than there are columns: those of XᵀX, of which the bound tells. */
static void test_rank_of_a_linear_kernel(void **state)
{
    enum { COLS = 7 };
    kfe_context *ctx = *state;
    support_points points;
    kfe_i_kernel_list kernels;
    kfe_i_kernel kernel;
    kfe_i_gram *gram = NULL;
    double row[COLS], squares[COLS * COLS] = {0}, expected[COLS], values[COLS];
    double *vectors = malloc(sizeof *vectors * SIZE * COLS);

    support_points_make(&points, 9, SIZE, COLS, 0);
    kfe_i_table table = support_points_table(&points, 0);
    for (int64_t i = 0; i < SIZE; i++) {
        kfe_i_table_dense_row(&table, i, row);
        for (int a = 0; a < COLS; a++)
            for (int b = 0; b < COLS; b++)
                squares[a * COLS + b] += row[a] * row[b];
    }
    assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', COLS, squares, COLS, expected), 0);
    kfe_i_kernel_list_init(ctx, &kernels);
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "linear", &kernel));
    assert_ok(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    assert_ok(ctx, kfe_i_gram_open(ctx, &kernels, &table, KFE_GRAM_AUTO, &gram));
    assert_int_equal(kfe_i_gram_rank_bound(gram), COLS);
    assert_ok(ctx, kfe_i_gram_eigen(gram, COLS, KFE_TOLERANCE, values, vectors));
    for (int j = 0; j < COLS; j++)
        assert_true(fabs(values[j] - expected[COLS - 1 - j]) <= rounding_of(SIZE, expected[COLS - 1]));
    assert_true(engine_orthonormality(SIZE, COLS, vectors) <= rounding_of(SIZE, 1));
    kfe_i_gram_free(gram);
    kfe_i_kernel_list_free(&kernels);
    support_points_free(&points);
    free(vectors);
}

static void test_looser_tolerance_takes_fewer_products(void **state)
{
    kfe_context *ctx = *state;
    engine_problem p;
    double values[10];
    double *vectors = support_random(1, SIZE * 10);
    double before = 1e9;

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), SIZE, 1, &p));
    double *matrix = engine_matrix(&p, 1);
    support_catch_log(ctx);
    for (double tolerance = 1e-12; tolerance < 1e-1; tolerance *= 1e5) {
        assert_ok(ctx, kfe_i_gram_eigen(p.gram, 10, tolerance, values, vectors));
        double products = engine_number_after(support_log(), "eigenvectors: ");
        assert_true(products > 0 && products < before);
        assert_below(largest_residual(SIZE, matrix, 10, values, vectors),
                     (tolerance + rounding_of(SIZE, 1)) * values[0]);
        before = products;
    }
    kfe_context_on_log(ctx, NULL, NULL);
    engine_close(&p);
    free(matrix);
    free(vectors);
}

/* An unreachable tolerance: a warning names the residual, and the pairs are as exact as rounding allows. */
static void test_warning_when_not_reached(void **state)
{
    kfe_context *ctx = *state;
    engine_problem p;
    double values[10];
    double *vectors = support_random(1, SIZE * 10);

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), SIZE, 0, &p));
    double *matrix = engine_matrix(&p, 0);
    double *expected = lapack_eigenvalues(SIZE, matrix);
    support_catch_log(ctx);
    assert_ok(ctx, kfe_i_gram_eigen(p.gram, 10, 1e-18, values, vectors));
    const char *log = support_log();
    assert_non_null(strstr(log, "the relative residual is"));
    assert_non_null(strstr(log, "not 1.0e-18"));
    check_pairs("after all products", SIZE, matrix, expected, 10, values, vectors);
    kfe_context_on_log(ctx, NULL, NULL);
    engine_close(&p);
    free(matrix);
    free(expected);
    free(vectors);
}

/* ---- storage ---- */

/* Half of the matrix takes 5 MB in double precision, the vectors 4 MB. However the matrix is kept, the pairs are those of the
 * operator itself: a copy in single precision would leave residuals of 1e-7. */
static void check_storage(kfe_context *ctx, int centred, int64_t memory, const char *form)
{
    engine_problem p;
    double values[10];
    double *vectors = support_random(1, OTHER_SIZE * 10);

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), OTHER_SIZE, centred, &p));
    double *matrix = engine_matrix(&p, centred);
    double *expected = lapack_eigenvalues(OTHER_SIZE, matrix);
    assert_ok(ctx, kfe_context_set_memory(ctx, memory));
    support_catch_log(ctx);
    assert_ok(ctx, kfe_i_gram_eigen(p.gram, 10, KFE_TOLERANCE, values, vectors));
    assert_non_null(strstr(support_log(), form));
    assert_below(largest_residual(OTHER_SIZE, matrix, 10, values, vectors),
                 1.1 * KFE_TOLERANCE * expected[0]);
    assert_below(largest_difference(10, values, expected), 10 * rounding_of(OTHER_SIZE, expected[0]));
    assert_below(engine_orthonormality(OTHER_SIZE, 10, vectors), rounding_of(OTHER_SIZE, 1));
    kfe_context_on_log(ctx, NULL, NULL);
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    engine_close(&p);
    free(matrix);
    free(expected);
    free(vectors);
}

static void test_storage(void **state)
{
    for (int centred = 0; centred < 2; centred++) {
        check_storage(*state, centred, 11500000, "stored in double precision");
        check_storage(*state, centred, 8500000, "stored in single precision");
        check_storage(*state, centred, 6000000, "partly stored in single precision");
    }
}

/* Most products are in single precision, and the residual that counts is not. */
static void test_single_products(void **state)
{
    static const char *const names[] = {"ordinary", "nearly the identity", "far away"};
    kfe_context *ctx = *state;
    double values[10];
    double *vectors = support_random(1, OTHER_SIZE * 10);

    for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
        engine_problem p;
        assert_ok(ctx, engine_open(ctx, engine_case_named(names[c]), OTHER_SIZE, 1, &p));
        double *matrix = engine_matrix(&p, 1);
        support_catch_log(ctx);
        assert_ok(ctx, kfe_context_set_memory(ctx, 8500000)); /* for half of the matrix in single precision */
        assert_ok(ctx, kfe_i_gram_eigen(p.gram, 10, KFE_TOLERANCE, values, vectors));
        assert_ok(ctx, kfe_context_set_memory(ctx, 0));
        const char *log = support_log();
        double all = engine_number_after(log, "eigenvectors: ");
        double single = engine_number_after(log, "blocks of 16, ");
        if (!(single > 0 && single >= 0.5 * all))
            fail_msg("%s: %g of %g products in single precision", names[c], single, all);
        kfe_context_on_log(ctx, NULL, NULL);
        assert_below(largest_residual(OTHER_SIZE, matrix, 10, values, vectors),
                     1.1 * KFE_TOLERANCE * values[0]);
        engine_close(&p);
        free(matrix);
    }
    free(vectors);
}

static void test_limit(void **state)
{
    kfe_context *ctx = *state;
    engine_problem p;
    double values[10];
    double *vectors = support_random(1, SIZE * 10);

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), SIZE, 0, &p));
    assert_ok(ctx, kfe_context_set_memory(ctx, 1000000));
    assert_fails(ctx, KFE_ELIMIT, "the block of eigenvectors needs",
                 kfe_i_gram_eigen(p.gram, 10, KFE_TOLERANCE, values, vectors));
    assert_non_null(strstr(kfe_error_message(ctx), "but the limit is 1.0 MB"));
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    engine_close(&p);
    free(vectors);
}

/* ---- repeatability ---- */

static void run_with(kfe_context *ctx, int threads, uint64_t seed, double *values, double *vectors)
{
    engine_problem p;

    assert_ok(ctx, kfe_context_set_threads(ctx, threads));
    kfe_context_set_seed(ctx, seed);
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);
    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), SIZE, 1, &p));
    assert_ok(ctx, kfe_i_gram_eigen(p.gram, 10, KFE_TOLERANCE, values, vectors));
    engine_close(&p);
    kfe_i_threads_leave(saved);
    kfe_context_set_seed(ctx, 0);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
}

static void test_repeated(void **state)
{
    double values[2][10];
    double *vectors[2] = {support_random(1, SIZE * 10), support_random(2, SIZE * 10)};

    for (int threads = 1; threads <= 2; threads++) {
        run_with(*state, threads, 7, values[0], vectors[0]);
        run_with(*state, threads, 7, values[1], vectors[1]);
        assert_memory_equal(values[0], values[1], sizeof values[0]);
        assert_memory_equal(vectors[0], vectors[1], SIZE * 10 * sizeof(double));
    }
    run_with(*state, 1, 7, values[1], vectors[1]);
    assert_below(largest_difference(10, values[0], values[1]), KFE_TOLERANCE * values[0][0]);
    run_with(*state, 1, 8, values[1], vectors[1]);
    assert_memory_not_equal(vectors[0], vectors[1], SIZE * 10 * sizeof(double));
    assert_below(largest_difference(10, values[0], values[1]), KFE_TOLERANCE * values[0][0]);
    free(vectors[0]);
    free(vectors[1]);
}

/* ---- cancellation and failing allocations ---- */

/* One run in a context whose allocator may fail and whose user may cancel. */
static kfe_status run_watched(kfe_context *ctx, void *user)
{
    const engine_watched *w = user;
    engine_problem p;
    double values[10];

    double *vectors = support_random(1, SIZE * 10);
    assert_ok(ctx, kfe_context_set_memory(ctx, w->memory));
    kfe_context_on_cancel(ctx, engine_stop_asked, w->stop);
    kfe_status status = engine_open(ctx, engine_case_named("ordinary"), SIZE, 1, &p);
    if (status == KFE_OK)
        status = kfe_i_gram_eigen(p.gram, 10, w->tolerance, values, vectors);
    if (status == KFE_ENOMEM)
        assert_non_null(strstr(kfe_error_message(ctx), "memory"));
    engine_close(&p);
    free(vectors);
    return status;
}

/* double precision, single precision, part of the rows */
static const int64_t memories[] = {0, 7500000, 4500000};

static void test_cancel(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++) {
        support_allocator allocator = {0};
        engine_stop whole = {0};
        assert_int_equal(engine_run_watched(run_watched, &allocator, &whole, memories[m], KFE_TOLERANCE),
                         KFE_OK);
        assert_true(whole.asked > 5);
        for (int64_t at = 1; at <= whole.asked; at += 1 + whole.asked / 8) {
            engine_stop stop = {.stop_at = at};
            assert_int_equal(engine_run_watched(run_watched, &allocator, &stop, memories[m], KFE_TOLERANCE),
                             KFE_ECANCEL);
            assert_int_equal(stop.asked, at);
        }
    }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++) {
        engine_stop never = {0};
        support_sweep_all("eigenvectors", run_watched, &(engine_watched){&never, memories[m], KFE_TOLERANCE},
                          20);
    }
}

/* More iterations make no more allocations. */
static void test_iterations_do_not_allocate(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++)
        engine_check_iterations_do_not_allocate(run_watched, memories[m], 1e-1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_centred),
        cmocka_unit_test(test_multiple_eigenvalues),
        cmocka_unit_test(test_more_than_the_rank),
        cmocka_unit_test(test_rank_of_a_linear_kernel),
        cmocka_unit_test(test_looser_tolerance_takes_fewer_products),
        cmocka_unit_test(test_warning_when_not_reached),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_single_products),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_iterations_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
