/* SPDX-License-Identifier: Apache-2.0 */
/* A stored matrix times a few vectors, against three plain loops. */
#include "support/support.h"

#include <math.h>

#include "core/context.h"
#include "linalg/thin.h"
#include "support/points.h"
#include "support/tolerance.h"

static void check(kfe_context *ctx, int64_t rows, int64_t cols, int64_t lda, int64_t k, int single)
{
    double *a = support_random(1, rows * lda);
    double *v = support_random(2, cols * k);
    double *before = support_random(3, rows * k);
    double *out = support_random(3, rows * k);
    double *work = malloc((size_t)kfe_i_thin_work(rows, cols) * sizeof *work);
    float *narrow = malloc((size_t)(rows * lda) * sizeof *narrow);

    assert_non_null(work);
    assert_non_null(narrow);
    for (int64_t i = 0; i < rows * lda; i++) {
        narrow[i] = (float)a[i];
        a[i] = single ? (double)narrow[i] : a[i];
    }
    kfe_i_thin_times(ctx, &(kfe_i_thin_matrix){rows, cols, lda, single ? NULL : a, single ? narrow : NULL}, v,
                     k, out, work);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < k; j++) {
            long double sum = before[i * k + j];
            double magnitude = fabs(before[i * k + j]);
            for (int64_t l = 0; l < cols; l++) {
                sum += (long double)a[i * lda + l] * v[l * k + j];
                magnitude += fabs(a[i * lda + l] * v[l * k + j]);
            }
            assert_true(fabs((double)(sum - out[i * k + j])) <= tolerance_sum(cols, magnitude));
        }
    free(a);
    free(v);
    free(before);
    free(out);
    free(work);
    free(narrow);
}

/* Numbers of rows that are no multiple of four or of a panel, columns beyond one block, numbers of vectors
 * other than sixteen. */
static void test_shapes(void **state)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 1},       {3, 5, 7, 2},         {4, 16, 16, 16},
                                        {65, 130, 131, 17}, {67, 2049, 2050, 15}, {5, 4100, 4100, 16},
                                        {130, 64, 64, 33},  {64, 2048, 2048, 1}};

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int single = 0; single < 2; single++)
            check(*state, shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], single);
}

static void test_threads(void **state)
{
    kfe_context *ctx = *state;
    enum { ROWS = 301, COLS = 2500, VECTORS = 10 };
    double *a = support_random(1, ROWS * COLS);
    double *v = support_random(2, COLS * VECTORS);
    double *one = calloc(ROWS * VECTORS, sizeof *one);
    double *two = calloc(ROWS * VECTORS, sizeof *two);
    double *work = malloc((size_t)kfe_i_thin_work(ROWS, COLS) * sizeof *work);

    assert_non_null(work);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    kfe_i_thin_times(ctx, &(kfe_i_thin_matrix){ROWS, COLS, COLS, a, NULL}, v, VECTORS, one, work);
    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    kfe_i_thin_times(ctx, &(kfe_i_thin_matrix){ROWS, COLS, COLS, a, NULL}, v, VECTORS, two, work);
    assert_memory_equal(one, two, ROWS * VECTORS * sizeof *one);
    free(a);
    free(v);
    free(one);
    free(two);
    free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_shapes),
        with_context(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
