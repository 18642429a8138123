/* SPDX-License-Identifier: Apache-2.0 */
/* Inverses of shifted matrices from a tridiagonal reduction, against Cholesky inverses of each shifted matrix. */
#include "support/support.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "linalg/tridiagonal.h"
#include "support/sweep.h"

/* Around the borders of the strips (32) and of LAPACK's blocks. */
static const int64_t orders[] = {1, 2, 3, 31, 32, 33, 65, 130};
static const double shifts[] = {1e-4, 0.3, 20};
enum { ORDERS = sizeof orders / sizeof *orders, SHIFTS = 3, COLUMNS = 2, MOST = 130 };

/* exp(−(i − j)²/50): singular up to rounding. */
static double entry(int64_t i, int64_t j)
{
    return exp(-(double)((i - j) * (i - j)) / 50);
}

static double *make_matrix(int64_t n)
{
    double *a = malloc((size_t)(n * n) * sizeof *a);

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = entry(i, j);
    return a;
}

static double *inverse_of(kfe_context *ctx, int64_t n, double shift)
{
    double *a = make_matrix(n);

    for (int64_t i = 0; i < n; i++)
        a[i * n + i] += shift;
    assert_ok(ctx, kfe_i_cholesky(ctx, n, a, "the matrix"));
    assert_ok(ctx, kfe_i_invert_cholesky(ctx, n, a));
    return a;
}

static void factor_all(const kfe_i_tridiagonal *t, double *pivots, double *ratios)
{
    for (int s = 0; s < SHIFTS; s++)
        assert_true(kfe_i_tridiagonal_factor(t, shifts[s], pivots + s * t->n, ratios + s * t->n));
}

static void check_diagonals(kfe_context *ctx, int64_t n, const double *found)
{
    for (int s = 0; s < SHIFTS; s++) {
        double *inverse = inverse_of(ctx, n, shifts[s]);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(found[s * n + i] - inverse[i * n + i]) < 1e-9 * inverse[i * n + i]);
        free(inverse);
    }
}

/* Q(T + ρI)⁻¹Qᵀ of unit vectors is a column of the inverse. */
static void check_solve(kfe_context *ctx, const kfe_i_tridiagonal *t, const double *pivots,
                        const double *ratios)
{
    double b[MOST * COLUMNS];
    int64_t n = t->n;
    double *inverse = inverse_of(ctx, n, shifts[0]);

    for (int64_t k = 0; k < n; k++)
        for (int64_t c = 0; c < COLUMNS; c++)
            b[k * COLUMNS + c] = t->q[k * n + (c == 0 ? 0 : n - 1)];
    kfe_i_tridiagonal_solve(n, pivots, ratios, COLUMNS, b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < COLUMNS; c++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += t->q[k * n + i] * b[k * COLUMNS + c];
            assert_true(fabs(sum - inverse[i * n + (c == 0 ? 0 : n - 1)]) < 1e-8 / shifts[0]);
        }
    free(inverse);
}

static void test_inverses(void **state)
{
    kfe_context *ctx = *state;
    double pivots[SHIFTS * MOST];
    double ratios[SHIFTS * MOST];
    double found[SHIFTS * MOST];

    for (int o = 0; o < ORDERS; o++) {
        int64_t n = orders[o];
        double *a = make_matrix(n);
        kfe_i_tridiagonal t = {0};
        assert_ok(ctx, kfe_i_tridiagonal_new(ctx, n, a, &t));
        factor_all(&t, pivots, ratios);
        assert_ok(ctx, kfe_i_tridiagonal_inverse_diagonals(&t, SHIFTS, pivots, ratios, found));
        check_diagonals(ctx, n, found);
        check_solve(ctx, &t, pivots, ratios);
        kfe_i_tridiagonal_free(&t);
        free(a);
    }
}

/* diag(2, −1) turned by 45 degrees has the eigenvalues 2 and −1. */
static void test_indefinite_matrix_is_refused(void **state)
{
    kfe_context *ctx = *state;
    double a[] = {0.5, 1.5, 1.5, 0.5};
    double pivots[2];
    double ratios[2];
    kfe_i_tridiagonal t = {0};

    assert_ok(ctx, kfe_i_tridiagonal_new(ctx, 2, a, &t));
    assert_false(kfe_i_tridiagonal_factor(&t, 0, pivots, ratios));
    assert_false(kfe_i_tridiagonal_factor(&t, 0.999, pivots, ratios));
    assert_true(kfe_i_tridiagonal_factor(&t, 1.001, pivots, ratios));
    kfe_i_tridiagonal_free(&t);
}

static kfe_status reduce_once(kfe_context *ctx, void *user)
{
    kfe_status status;
    kfe_i_tridiagonal t = {0};
    double pivots[MOST];
    double ratios[MOST];
    double found[MOST];
    double *a = make_matrix(MOST);
    (void)user;

    status = kfe_i_tridiagonal_new(ctx, MOST, a, &t);
    if (status == KFE_OK && kfe_i_tridiagonal_factor(&t, 1, pivots, ratios))
        status = kfe_i_tridiagonal_inverse_diagonals(&t, 1, pivots, ratios, found);
    kfe_i_tridiagonal_free(&t);
    free(a);
    return status;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    support_sweep_all("tridiagonal", reduce_once, NULL, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_inverses),
        with_context(test_indefinite_matrix_is_refused),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
