/* SPDX-License-Identifier: Apache-2.0 */
/* Least squares where LAPACK's divide and conquer does not converge, which happens with nearly dependent
 * features. The program contains its own dgesdd, which overwrites its arguments and fails. */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/least_squares.h"
#include "support/fit.h"
#include "support/support.h"

static int failures;

lapack_int LAPACKE_dgesdd_work(int layout, char job, lapack_int m, lapack_int n, double *a, lapack_int lda,
                               double *s, double *u, lapack_int ldu, double *vt, lapack_int ldvt,
                               double *work, lapack_int lwork, lapack_int *iwork)
{
    (void)layout, (void)job, (void)s, (void)u, (void)ldu, (void)vt, (void)ldvt, (void)iwork;
    if (lwork == -1) {
        *work = 1;
        return 0;
    }
    for (lapack_int i = 0; i < m * n; i++)
        a[(i / m) * lda + i % m] = 1e300;
    failures++;
    return 1;
}

/* Fits y = Xw for a known w; returns the largest error of the outputs and, where w is unique, of w. */
static double error_of(kfe_context *ctx, int64_t rows, int64_t cols)
{
    double *x = support_normals(3, rows * cols);
    double *w = support_normals(4, cols);
    double *copy = calloc((size_t)(rows * cols), sizeof *copy);
    double *y = calloc((size_t)rows, sizeof *y);
    double *found = calloc((size_t)cols, sizeof *found);
    kfe_i_least_squares_result result = {0};
    double worst = 0;

    memcpy(copy, x, (size_t)(rows * cols) * sizeof *copy);
    for (int64_t i = 0; i < rows * cols; i++)
        y[i / cols] += x[i] * w[i % cols];
    const kfe_i_least_squares_problem problem = {.rows = rows, .cols = cols, .targets = 1, .x = copy, .y = y};
    double *target = calloc((size_t)rows, sizeof *target);
    memcpy(target, y, (size_t)rows * sizeof *target);
    assert_ok(ctx, kfe_i_least_squares(ctx, &problem, found, &result));
    assert_int_equal(result.rank, rows < cols ? rows : cols);
    for (int64_t i = 0; i < rows; i++) {
        double output = 0;
        for (int64_t j = 0; j < cols; j++)
            output += x[i * cols + j] * found[j];
        worst = fmax(worst, fabs(output - target[i]));
    }
    for (int64_t j = 0; rows >= cols && j < cols; j++)
        worst = fmax(worst, fabs(found[j] - w[j]));
    free(x);
    free(w);
    free(copy);
    free(y);
    free(found);
    free(target);
    return worst;
}

static void test_failure_of_divide_and_conquer(void **state)
{
    kfe_context *ctx = *state;

    failures = 0;
    assert_true(error_of(ctx, 40, 7) < 1e-12);
    assert_true(error_of(ctx, 7, 40) < 1e-12);
    assert_int_equal(failures, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_failure_of_divide_and_conquer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
