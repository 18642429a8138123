/* SPDX-License-Identifier: Apache-2.0 */
/* Eigenvectors in pieces: they are orthonormal and fulfil A v = λ v, the eigenvalues are LAPACK's, and each question stops. */
#include "support/support.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>

#include "linalg/eigen_pieces.h"
#include "support/points.h"

enum { MOST = 700 };

static double *symmetric(int64_t n)
{
    double *a = support_random(5, n * n);

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i];
    return a;
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Some of the pairs; all of them would take long. */
static void check_pairs(int64_t n, int64_t k, const double *matrix, const double *rising,
                        const double *columns)
{
    for (int64_t j = 0; j < k; j += 1 + k / 9) {
        const double *v = columns + j * n;
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(dot(n, matrix + i * n, v) - rising[j] * v[i]) < 1e-10);
        for (int64_t h = 0; h < k; h += 1 + k / 31)
            assert_true(fabs(dot(n, v, columns + h * n) - (h == j)) < 1e-12);
    }
}

static void check(kfe_context *ctx, int64_t n, int64_t k)
{
    double *matrix = symmetric(n), *a = symmetric(n), *values = malloc((size_t)n * sizeof *values);
    double *rising = malloc((size_t)n * sizeof *rising), *columns = malloc((size_t)(n * k) * sizeof *columns);
    int found = 0;

    assert_ok(ctx, kfe_i_eigen_in_pieces(ctx, n, a, k, rising, columns, &found));
    assert_true(found);
    check_pairs(n, k, matrix, rising, columns);
    assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', (lapack_int)n, matrix, (lapack_int)n, values),
                     0);
    for (int64_t j = 0; j < k; j++)
        assert_true(fabs(rising[j] - values[n - k + j]) < 1e-10);
    free(matrix);
    free(a);
    free(values);
    free(rising);
    free(columns);
}

static void test_pairs(void **state)
{
    static const int64_t orders[] = {1, 5, 288, 289, 320, 321, MOST};

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        check(*state, orders[i], orders[i]);
        check(*state, orders[i], (orders[i] + 2) / 3);
    }
}

static int stop_at_zero(void *user)
{
    int *left = user;
    return (*left)-- == 0;
}

static void test_each_question_stops(void **state)
{
    enum { N = 400 };
    double *rising = malloc(N * sizeof *rising), *columns = malloc((size_t)N * N * sizeof *columns);
    int stops = 0, found = 0;

    for (kfe_status status = KFE_ECANCEL; status == KFE_ECANCEL; stops++) {
        double *a = symmetric(N);
        int left = stops;

        kfe_context_on_cancel(*state, stop_at_zero, &left);
        status = kfe_i_eigen_in_pieces(*state, N, a, N, rising, columns, &found);
        free(a);
    }
    kfe_context_on_cancel(*state, NULL, NULL);
    assert_int_equal(stops - 1, 4 + 4); /* panels down to an order of 272, and blocks of 128 eigenvectors */
    free(rising);
    free(columns);
}

int main(void)
{
    omp_set_num_threads(1); /* small products, and two threads would wait for each other */
    const struct CMUnitTest tests[] = {with_context(test_pairs), with_context(test_each_question_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
