/* SPDX-License-Identifier: Apache-2.0 */
/* Cholesky factorisations in pieces, compared with LAPACK's in one call, and how soon they can be stopped. */
#include "support/support.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "linalg/cholesky.h"
#include "linalg/linalg.h"

/* Around the borders of tasks (128), panels (256) and of the pieces of the packed form (twice that). */
static const int64_t orders[] = {1, 2, 3, 127, 129, 255, 256, 257, 511, 512, 513, 1024, 1025, 1100, 1101};
enum { ORDERS = sizeof orders / sizeof *orders };

/* A positive definite matrix: exp(−|i − j|/20), with some ridge. */
static double *definite_matrix(int64_t n)
{
    double *a = malloc((size_t)(n * n) * sizeof *a);

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = exp(-(double)llabs(i - j) / 20) + (i == j ? 0.01 : 0);
    return a;
}

static float *packed_matrix(int64_t n, const double *a)
{
    float *full = malloc((size_t)(n * n) * sizeof *full);
    float *out = malloc((size_t)(n * (n + 1) / 2) * sizeof *out);

    for (int64_t i = 0; i < n * n; i++)
        full[i] = (float)a[i];
    assert_int_equal(LAPACKE_strttf_work(LAPACK_COL_MAJOR, 'N', 'L', (lapack_int)n, full, (lapack_int)n, out),
                     0);
    free(full);
    return out;
}

static void test_pieces_give_the_factor(void **state)
{
    for (int i = 0; i < ORDERS; i++) {
        int64_t n = orders[i];
        double *a = definite_matrix(n), *b = definite_matrix(n);
        int definite = 0;

        assert_ok(*state, kfe_i_factorise(*state, n, a, &definite));
        assert_true(definite);
        assert_int_equal(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, b, (lapack_int)n), 0);
        for (int64_t p = 0; p < n * n; p++) /* above the diagonal, both left the matrix as it was */
            if (p % n > p / n ? a[p] != b[p] : !(fabs(a[p] - b[p]) < 1e-12))
                fail_msg("order %lld, entry %lld: %.17g instead of %.17g", (long long)n, (long long)p, a[p],
                         b[p]);
        free(a);
        free(b);
    }
}

static void test_packed_pieces_give_the_factor(void **state)
{
    for (int i = 0; i < ORDERS; i++) {
        int64_t n = orders[i];
        double *matrix = definite_matrix(n);
        float *a = packed_matrix(n, matrix), *b = packed_matrix(n, matrix);
        int definite = 0;

        assert_ok(*state, kfe_i_factorise_packed(*state, n, a, &definite));
        assert_true(definite);
        assert_int_equal(LAPACKE_spftrf_work(LAPACK_COL_MAJOR, 'N', 'L', (lapack_int)n, b), 0);
        for (int64_t p = 0; p < n * (n + 1) / 2; p++)
            if (!(fabsf(a[p] - b[p]) < 1e-4F))
                fail_msg("order %lld, entry %lld: %g instead of %g", (long long)n, (long long)p, (double)a[p],
                         (double)b[p]);
        free(matrix);
        free(a);
        free(b);
    }
}

static void test_matrices_that_are_not_definite(void **state)
{
    static const int64_t places[] = {0, 511, 512, 700, 1099};
    enum { N = 1100 };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double *a = definite_matrix(N);
        int definite = 1;

        a[places[i] * N + places[i]] = -1;
        float *packed = packed_matrix(N, a);
        assert_ok(*state, kfe_i_factorise(*state, N, a, &definite));
        assert_false(definite);
        definite = 1;
        assert_ok(*state, kfe_i_factorise_packed(*state, N, packed, &definite));
        assert_false(definite);
        free(a);
        free(packed);
    }
}

/* Also in panels of 512, which matrices of more than 6,000 rows have. */
static void test_threads_do_not_change_bits(void **state)
{
    static const int64_t sizes[] = {700, 6101};
    kfe_context *ctx = *state;

    for (int i = 0; i < 2; i++) {
        int64_t n = sizes[i];
        double *matrix = definite_matrix(n);
        float *single[2] = {packed_matrix(n, matrix), packed_matrix(n, matrix)};
        double *whole[2] = {matrix, definite_matrix(n)};
        for (int t = 0; t < 2; t++) {
            int definite = 0;
            assert_ok(ctx, kfe_context_set_threads(ctx, t == 0 ? 1 : 3));
            assert_ok(ctx, kfe_i_factorise(ctx, n, whole[t], &definite));
            assert_ok(ctx, kfe_i_factorise_packed(ctx, n, single[t], &definite));
            assert_true(definite);
        }
        assert_memory_equal(whole[0], whole[1], (size_t)(n * n) * sizeof *matrix);
        assert_memory_equal(single[0], single[1], (size_t)(n * (n + 1) / 2) * sizeof **single);
        /* a few rows against the matrix itself */
        for (int64_t row = 0; row < n; row += n / 7) {
            double sum = 0;
            for (int64_t k = 0; k <= row; k++)
                sum += whole[0][row * n + k] * whole[0][(n - 1) * n + k];
            assert_true(fabs(sum - exp(-(double)(n - 1 - row) / 20) - (row == n - 1 ? 0.01 : 0)) < 1e-12);
        }
        for (int t = 0; t < 2; t++) {
            free(whole[t]);
            free(single[t]);
        }
    }
}

static int stop_at_zero(void *user)
{
    int *left = user;
    return (*left)-- == 0;
}

/* Every question may be answered with yes; there is one in each piece of work. */
static void test_each_question_stops(void **state)
{
    enum { N = 1100 };
    kfe_context *ctx = *state;
    double *matrix = definite_matrix(N);
    int stops[2] = {0, 0};

    for (int packed = 0; packed < 2; packed++)
        for (kfe_status status = KFE_ECANCEL; status == KFE_ECANCEL; stops[packed]++) {
            double *a = definite_matrix(N);
            float *narrow = packed_matrix(N, matrix);
            int left = stops[packed], definite;

            kfe_context_on_cancel(ctx, stop_at_zero, &left);
            status = packed ? kfe_i_factorise_packed(ctx, N, narrow, &definite)
                            : kfe_i_factorise(ctx, N, a, &definite);
            free(a);
            free(narrow);
        }
    kfe_context_on_cancel(ctx, NULL, NULL);
    free(matrix);
    /* Five panels: products with the columns to their left, except for the first, and solves below the diagonal block, except for the last. */
    assert_int_equal(stops[0] - 1, 8);
    /* Three panels in each triangle, and two each of A21 and A21 A21ᵀ. */
    assert_int_equal(stops[1] - 1, 4 + 2 + 2 + 4);
}

/* Large matrices are factorised in pieces, wherever they come from. */
static void test_a_large_matrix_can_be_stopped(void **state)
{
    enum { N = 2100 };
    kfe_context *ctx = *state;
    double *a = definite_matrix(N), b[1] = {1};
    int left = 2;

    kfe_context_on_cancel(ctx, stop_at_zero, &left);
    assert_int_equal(kfe_i_cholesky(ctx, N, a, "the matrix"), KFE_ECANCEL);
    free(a);
    a = definite_matrix(N);
    left = 2;
    assert_int_equal(kfe_i_cholesky_solve(ctx, N, a, 0, b, "the matrix"), KFE_ECANCEL);
    kfe_context_on_cancel(ctx, NULL, NULL);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_pieces_give_the_factor),     with_context(test_packed_pieces_give_the_factor),
        with_context(test_threads_do_not_change_bits), with_context(test_matrices_that_are_not_definite),
        with_context(test_each_question_stops),        with_context(test_a_large_matrix_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
