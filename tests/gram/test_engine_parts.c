/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the Gram engine: the low-rank factor, the operator stored in part, products and matrices tile
 * by tile, and the cache of columns, each against the explicit matrix. */
#include "support/support.h"

#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "gram/landmark/rpcholesky.h"
#include "kernel/tile/cross.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/sweep.h"
#include "support/tolerance.h"

/* ---- the low-rank factor ---- */

/* The largest difference between the diagonal of G and the sum of the diagonals of FFᵀ and of the remainder. */
static double diagonal_off(int64_t n, const double *matrix, const kfe_i_rpcholesky *f)
{
    double largest = 0;
    double trace = 0;

    for (int64_t i = 0; i < n; i++) {
        double sum = f->diagonal[i];
        for (int64_t j = 0; j < f->rank; j++)
            sum += f->factor[i * f->capacity + j] * f->factor[i * f->capacity + j];
        largest = fmax(largest, fabs(sum - matrix[i * n + i]));
        trace += f->diagonal[i];
        assert_true(f->diagonal[i] >= 0);
    }
    assert_below(fabs(trace - f->left), tolerance_sum(n, trace));
    return largest;
}

/* The remainder is positive semidefinite: an entry is at most the geometric mean of its diagonal entries.
 * Returns the largest excess. */
static double most_above_bound(int64_t n, const double *matrix, const kfe_i_rpcholesky *f)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double left = matrix[i * n + j];
            for (int64_t l = 0; l < f->rank; l++)
                left -= f->factor[i * f->capacity + l] * f->factor[j * f->capacity + l];
            largest = fmax(largest, fabs(left) - sqrt(f->diagonal[i] * f->diagonal[j]));
        }
    return largest;
}

static void test_factor(void **state)
{
    enum { N = 401 };
    static const int64_t ranks[] = {1, 10, 64, 65, 150};
    static const char *const names[] = {"ordinary", "duplicates",      "nearly the identity",
                                        "far away", "nearly constant", "groups"};

    for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
        engine_problem p;
        double before = INFINITY;
        assert_ok(*state, engine_open(*state, engine_case_named(names[c]), N, 0, &p));
        double *matrix = engine_matrix(&p, 0);
        for (int r = 0; r < 5; r++) {
            kfe_i_rpcholesky f = {0};
            assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, ranks[r], 0, &f));
            assert_in_range(f.rank, 1, ranks[r]);
            assert_below(diagonal_off(N, matrix, &f), 1e-10);
            assert_below(most_above_bound(N, matrix, &f), 1e-7);
            assert_true(f.left < before || f.left < 1e-10);
            before = f.left;
            kfe_i_rpcholesky_free(&f);
            assert_null(f.factor);
        }
        engine_close(&p);
        free(matrix);
    }
}

/* A matrix of rank 7 is reproduced by 7 columns, however many are allowed; equal points count once. */
static void test_factor_of_low_rank(void **state)
{
    enum { N = 301 };
    engine_problem p;
    kfe_i_rpcholesky f = {0};

    assert_ok(*state, engine_open(*state, engine_case_named("low rank"), N, 0, &p));
    double *matrix = engine_matrix(&p, 0);
    double largest = support_largest(N * N, matrix);
    assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, 100, 1e-9 * largest, &f));
    assert_int_equal(f.rank, 7);
    assert_below(f.left, 1e-9 * largest);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t l = 0; l < 7; l++)
                sum += f.factor[i * f.capacity + l] * f.factor[j * f.capacity + l];
            assert_below(fabs(sum - matrix[i * N + j]), 1e-10 * largest);
        }
    kfe_i_rpcholesky_free(&f);
    engine_close(&p);
    free(matrix);
    assert_ok(*state, engine_open(*state, engine_case_named("pairs"), 150, 0, &p));
    assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, 150, 1e-9, &f));
    assert_int_equal(f.rank, 75);
    kfe_i_rpcholesky_free(&f);
    engine_close(&p);
}

static void test_factor_stops(void **state)
{
    enum { N = 301 };
    engine_problem p;
    kfe_i_rpcholesky f = {0};

    assert_ok(*state, engine_open(*state, engine_case_named("zero"), N, 0, &p));
    assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, 50, 0, &f));
    assert_int_equal(f.rank, 0);
    assert_true(f.left == 0);
    kfe_i_rpcholesky_free(&f);
    engine_close(&p);
    assert_ok(*state, engine_open(*state, engine_case_named("ordinary"), N, 0, &p));
    assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, N, N + 1, &f));
    assert_int_equal(f.rank, 0);
    kfe_i_rpcholesky_free(&f);
    assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, N, 0.9 * N, &f));
    assert_in_range(f.rank, 1, 64);
    assert_below(f.left, 0.9 * N);
    kfe_i_rpcholesky_free(&f);
    engine_close(&p);
}

static void test_factor_is_repeatable(void **state)
{
    enum { N = 301 };
    engine_problem p;
    kfe_i_rpcholesky f[2] = {{0}, {0}};

    assert_ok(*state, engine_open(*state, engine_case_named("ordinary"), N, 1, &p));
    for (int i = 0; i < 2; i++)
        assert_ok(*state, kfe_i_rpcholesky_grow(p.gram, 90, 0, &f[i]));
    assert_int_equal(f[0].rank, f[1].rank);
    assert_memory_equal(f[0].factor, f[1].factor, N * 90 * sizeof(double));
    for (int i = 0; i < 2; i++)
        kfe_i_rpcholesky_free(&f[i]);
    engine_close(&p);
}

/* ---- the operator stored in part ---- */

enum { PARTIAL = 517 };

static void check_partial_products(kfe_context *ctx, const kfe_i_gram *gram, const double *matrix)
{
    static const int64_t counts[] = {1, 3, 70};
    int32_t group[PARTIAL];
    double sums[4];
    double expected[4] = {0};
    double each = TOLERANCE_SINGLE + 1e-12;

    for (int c = 0; c < 3; c++) {
        double *v = support_random(3, PARTIAL * counts[c]);
        double *out = support_random(4, PARTIAL * counts[c]);
        double *product = engine_product(PARTIAL, matrix, 0, v, counts[c]);
        assert_ok(ctx, kfe_i_gram_times(gram, v, counts[c], out));
        for (int64_t i = 0; i < PARTIAL * counts[c]; i++)
            assert_below(fabs(out[i] - product[i]), PARTIAL * each);
        free(v);
        free(out);
        free(product);
    }
    for (int64_t i = 0; i < PARTIAL; i++)
        group[i] = i % 3 == 0;
    for (int64_t i = 0; i < PARTIAL; i++)
        for (int64_t j = 0; j < PARTIAL; j++)
            expected[group[i] * 2 + group[j]] += matrix[i * PARTIAL + j];
    assert_ok(ctx, kfe_i_gram_group_sums(gram, group, 2, sums));
    for (int g = 0; g < 4; g++)
        assert_below(fabs(sums[g] - expected[g]), (double)PARTIAL * PARTIAL * each);
}

static void check_partial_entries(kfe_context *ctx, const kfe_i_gram *gram, const double *matrix)
{
    static const int64_t index[] = {PARTIAL - 1, 0, 100, 100};
    double *out = support_random(5, PARTIAL * PARTIAL);
    double each = TOLERANCE_SINGLE + 1e-12;
    double squared = 0;
    double expected = 0;

    assert_ok(ctx, kfe_i_gram_block(gram, 3, PARTIAL - 3, 11, PARTIAL - 11, out, PARTIAL));
    for (int64_t i = 3; i < PARTIAL; i++)
        for (int64_t j = 11; j < PARTIAL; j++)
            assert_below(fabs(out[(i - 3) * PARTIAL + j - 11] - matrix[i * PARTIAL + j]), each);
    assert_ok(ctx, kfe_i_gram_columns(gram, index, 4, out));
    for (int64_t i = 0; i < PARTIAL; i++)
        for (int64_t j = 0; j < 4; j++)
            assert_below(fabs(out[i * 4 + j] - matrix[i * PARTIAL + index[j]]), each);
    assert_ok(ctx, kfe_i_gram_diagonal(gram, out));
    for (int64_t i = 0; i < PARTIAL; i++)
        assert_below(fabs(out[i] - matrix[i * PARTIAL + i]), each);
    for (int64_t i = 0; i < PARTIAL * PARTIAL; i++)
        expected += matrix[i] * matrix[i];
    assert_ok(ctx, kfe_i_gram_squared_norm(gram, &squared));
    assert_below(fabs(squared - expected), 2 * each * PARTIAL * PARTIAL);
    free(out);
}

static void test_partial(void **state)
{
    static const int64_t rows[] = {0, 1, PARTIAL / 3, 256, PARTIAL - 1, PARTIAL, PARTIAL + 5};
    kfe_context *ctx = *state;
    engine_problem p;

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), PARTIAL, 0, &p));
    double *matrix = engine_matrix(&p, 0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int threads = 1; threads <= 2; threads++) {
            kfe_i_gram *partial = NULL;
            assert_ok(ctx, kfe_context_set_threads(ctx, threads));
            assert_ok(ctx, kfe_i_gram_partial(p.gram, rows[r], &partial));
            assert_true(partial->precision == &kfe_i_single);
            check_partial_products(ctx, partial, matrix);
            check_partial_entries(ctx, partial, matrix);
            kfe_i_gram_free(partial);
        }
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    engine_close(&p);
    free(matrix);
}

static void test_partial_of_something_else(void **state)
{
    engine_problem p;
    kfe_i_gram *partial = NULL;

    assert_ok(*state, engine_open(*state, engine_case_named("low rank"), 20, 0, &p));
    assert_fails(*state, KFE_EINVAL, "only a tiled operator", kfe_i_gram_partial(p.gram, 3, &partial));
    assert_null(partial);
    engine_close(&p);
}

/* ---- tiles ---- */

typedef struct tile_case {
    kfe_context *ctx;
    kfe_i_kernel kernel;
    support_points points;
    kfe_i_table table;
    kfe_i_points prepared;
    double *matrix; /* by the formula */
    double slack;   /* allowed error of an entry */
} tile_case;

#define TILE_GAMMA 0.4

static void tile_case_open(kfe_context *ctx, int64_t rows, int64_t cols, int sparse, tile_case *out)
{
    double norm = 0;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "rbf:gamma=0.4", &out->kernel));
    support_points_make(&out->points, (uint64_t)rows, rows, cols, 0);
    out->table = support_points_table(&out->points, sparse);
    assert_ok(ctx, kfe_i_points_prepare(ctx, &out->kernel, &out->table, NULL, &out->prepared));
    out->matrix = support_random(1, rows * rows);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++) {
            double distance = 0;
            double own = 0;
            for (int64_t l = 0; l < cols; l++) {
                double x = support_points_row(&out->points, i)[l];
                distance += pow(x - support_points_row(&out->points, j)[l], 2);
                own += x * x;
            }
            norm = fmax(norm, own);
            out->matrix[i * rows + j] = exp(-TILE_GAMMA * distance);
        }
    out->slack = TILE_GAMMA * tolerance_distance(cols, 4 * norm) + 8 * DBL_EPSILON;
}

static void tile_case_close(tile_case *c)
{
    kfe_i_points_free(&c->prepared);
    kfe_i_kernel_free(&c->kernel);
    support_points_free(&c->points);
    free(c->matrix);
}

/* out += weight·κ·v without the square of the first points, by plain loops. */
static void multiply_plainly(const tile_case *c, int64_t first, double weight, const double *v, int64_t k,
                             double *out)
{
    int64_t n = c->points.rows;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i < first ? first : 0; j < n; j++)
            for (int64_t l = 0; l < k; l++)
                out[i * k + l] += weight * c->matrix[i * n + j] * v[j * k + l];
}

static void check_self_times(const tile_case *c, int64_t first, int64_t k)
{
    int64_t n = c->points.rows;
    double *v = support_random(2, n * k);
    double *out = support_random(3, n * k);
    double *expected = support_random(3, n * k);
    double *work = support_random(4, kfe_i_self_times_work(c->ctx, &c->kernel, &c->prepared, k));
    double allowed = 2 * (double)n * (c->slack + tolerance_sum(n, 1)) + DBL_EPSILON;
    kfe_i_self_product product = {&c->kernel, &c->prepared, {0, 1}, first, {v, k}};

    multiply_plainly(c, first, -1.5, v, k, expected);
    assert_ok(c->ctx, kfe_i_self_times(c->ctx, &product, -1.5, out, work));
    for (int64_t i = 0; i < n * k; i++)
        assert_below(fabs(out[i] - expected[i]), allowed);
    free(v);
    free(out);
    free(expected);
    free(work);
}

static void check_cross_times(const tile_case *c, int64_t k)
{
    int64_t n = c->points.rows;
    double *v = support_random(2, n * k);
    double *out = support_random(3, n * k);
    double *expected = support_random(3, n * k);
    double *work = support_random(4, kfe_i_cross_times_work(c->ctx, &c->kernel, &c->prepared, &c->prepared));
    double allowed = 3 * (double)n * (c->slack + tolerance_sum(n, 1)) + DBL_EPSILON;

    multiply_plainly(c, 0, -2.5, v, k, expected);
    assert_ok(c->ctx, kfe_i_cross_times(c->ctx, &c->kernel, &c->prepared, &c->prepared,
                                        &(kfe_i_product){-2.5, v, k, out}, work));
    for (int64_t i = 0; i < n * k; i++)
        assert_below(fabs(out[i] - expected[i]), allowed);
    free(v);
    free(out);
    free(expected);
    free(work);
}

static void check_self_matrix(const tile_case *c)
{
    int64_t n = c->points.rows;
    double *wide = support_random(5, n * n);

    assert_ok(c->ctx, kfe_i_self_matrix(c->ctx, &c->kernel, &c->prepared, wide));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            assert_below(fabs(wide[i * n + j] - c->matrix[i * n + j]), c->slack);
            assert_true(wide[i * n + j] == wide[j * n + i]);
        }
    free(wide);
}

static void test_tiles(void **state)
{
    static const int64_t sizes[] = {1, 2, 255, 256, 257, 515};
    kfe_context *ctx = *state;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int sparse = 0; sparse < 2; sparse++) {
            tile_case c;
            int64_t n = sizes[s];
            assert_ok(ctx, kfe_context_set_threads(ctx, 1 + (int)s % 3));
            tile_case_open(ctx, n, s % 2 ? 1 : 6, sparse, &c);
            check_self_times(&c, 0, 1);
            check_self_times(&c, 0, 7);
            check_self_times(&c, n / 2, 3);
            check_self_times(&c, n - 1, 2);
            check_self_times(&c, n, 2);
            check_cross_times(&c, 5);
            check_self_matrix(&c);
            tile_case_close(&c);
        }
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
}

/* Dot products in single precision: each entry is off by the rounding of the coordinates. */
static void test_narrow_points(void **state)
{
    enum { N = 300, COLS = 9 };
    kfe_context *ctx = *state;
    tile_case c;
    double *wide = support_random(5, N * N);
    double norm = 0;
    double largest = 0;

    tile_case_open(ctx, N, COLS, 0, &c);
    assert_ok(ctx, kfe_i_points_narrow(&c.kernel, &c.prepared));
    assert_non_null(c.prepared.narrow);
    for (int64_t i = 0; i < N; i++)
        norm = fmax(norm, c.prepared.norms[i]);
    assert_ok(ctx, kfe_i_self_matrix(ctx, &c.kernel, &c.prepared, wide));
    for (int64_t i = 0; i < N * N; i++)
        largest = fmax(largest, fabs(wide[i] - c.matrix[i]));
    assert_below(largest, TILE_GAMMA * 4 * norm * (COLS + 4) * TOLERANCE_SINGLE);
    assert_true(largest > 1e-12); /* the values were computed in single precision */
    tile_case_close(&c);
    free(wide);
    tile_case_open(ctx, 20, COLS, 1, &c);
    assert_ok(ctx, kfe_i_points_narrow(&c.kernel, &c.prepared));
    assert_null(c.prepared.narrow); /* sparse points are not converted */
    tile_case_close(&c);
}

/* ---- sums over groups without memory to sort the points ---- */

/* The points take more than the slack of the limit, so that a copy of them is refused; the sums are the same. */
static void test_group_sums_without_a_copy(void **state)
{
    enum { ROWS = 600, COLS = 4000 };
    kfe_context *ctx = *state;
    double *values = support_random(6, (int64_t)ROWS * COLS);
    kfe_i_table table = {
        .ctx = ctx, .kind = KFE_TABLE_DENSE, .rows = ROWS, .cols = COLS, .stride = COLS, .values = values};
    kfe_i_kernel kernel = {0};
    kfe_i_gram *gram = NULL;
    int32_t group[ROWS];
    double sorted[9];
    double given[9];

    for (int i = 0; i < ROWS; i++)
        group[i] = i * i % 3;
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "rbf:gamma=0.0001", &kernel));
    assert_ok(ctx, kfe_i_gram_tiled(ctx, &kernel, &table, &gram));
    assert_ok(ctx, kfe_i_gram_group_sums(gram, group, 3, sorted));
    assert_ok(ctx, kfe_context_set_memory(ctx, ctx->in_use));
    assert_true((double)ROWS * COLS * 8 > KFE_MEMORY_UNCOUNTED + KFE_MEMORY_SLACK);
    assert_ok(ctx, kfe_i_gram_group_sums(gram, group, 3, given));
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
    for (int g = 0; g < 9; g++)
        assert_below(fabs(given[g] - sorted[g]), tolerance_sum((int64_t)ROWS * ROWS, sorted[g]));
    kfe_i_gram_free(gram);
    kfe_i_kernel_free(&kernel);
    free(values);
}

/* ---- failing allocations ---- */

static kfe_status use_parts(kfe_context *ctx, void *user)
{
    enum { ROWS = 61 };
    engine_problem p;
    kfe_i_rpcholesky f = {0};
    kfe_i_gram *partial = NULL;
    double v[ROWS] = {1};
    double out[ROWS];

    (void)user;
    kfe_status status = engine_open(ctx, engine_case_named("ordinary"), ROWS, 0, &p);
    if (status == KFE_OK)
        status = kfe_i_rpcholesky_grow(p.gram, 20, 0, &f);
    if (status == KFE_OK)
        status = kfe_i_gram_partial(p.gram, 20, &partial);
    if (status == KFE_OK)
        status = kfe_i_gram_times(partial, v, 1, out);
    kfe_i_rpcholesky_free(&f);
    kfe_i_gram_free(partial);
    engine_close(&p);
    return status;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    support_sweep_all("parts of the engine", use_parts, NULL, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_factor_of_low_rank),
        cmocka_unit_test(test_factor_stops),
        cmocka_unit_test(test_factor_is_repeatable),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_partial_of_something_else),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_narrow_points),
        cmocka_unit_test(test_group_sums_without_a_copy),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
