/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of which the lower half is stored: entries and products against the whole matrix. */
#include "support/support.h"

#include <math.h>

#include "gram/gram.h"
#include "linalg/symmetric.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/tolerance.h"

/* Products of plain loops. */
static void check_times(kfe_context *ctx, const kfe_i_gram *gram, int single, const double *matrix, int64_t k,
                        double precision)
{
    int64_t n = gram->size;
    double *v = support_random(31, n * k);
    double *out = support_random(32, n * k);

    assert_ok(ctx, (single ? kfe_i_gram_times_single : kfe_i_gram_times)(gram, v, k, out));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            double sum = 0;
            for (int64_t l = 0; l < n; l++)
                sum += matrix[i * n + l] * v[l * k + j];
            if (!(fabs(out[i * k + j] - sum) <= precision))
                fail_msg("order %d, %d vectors, row %d, column %d: %g, expected %g", (int)n, (int)k, (int)i,
                         (int)j, out[i * k + j], sum);
        }
    free(v);
    free(out);
}

/* The whole matrix, and blocks that lie below, above and across the diagonal. */
static void check_entries(kfe_context *ctx, const kfe_i_gram *gram, const double *matrix, double precision)
{
    int64_t n = gram->size;
    double *out = support_random(33, n * n + 3 * n);

    for (int64_t row = 0; row < n; row += 1 + n / 3)
        for (int64_t col = 0; col < n; col += 1 + n / 4) {
            int64_t rows = n - row < 70 ? n - row : 70;
            int64_t cols = n - col < 90 ? n - col : 90;
            assert_ok(ctx, kfe_i_gram_block(gram, row, rows, col, cols, out, cols));
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++)
                    assert_below(fabs(out[i * cols + j] - matrix[(row + i) * n + col + j]), precision);
        }
    assert_ok(ctx, kfe_i_gram_columns(gram, (const int64_t[]){n - 1, 0, n / 2}, 3, out));
    for (int64_t i = 0; i < n; i++) {
        assert_below(fabs(out[3 * i] - matrix[i * n + n - 1]), precision);
        assert_below(fabs(out[3 * i + 1] - matrix[i * n]), precision);
        assert_below(fabs(out[3 * i + 2] - matrix[i * n + n / 2]), precision);
    }
    free(out);
}

/* Orders around one panel, two panels and a tile; from a tiled operator and, panel by panel, from a centred one. */
static void test_packed(void **state)
{
    static const int64_t orders[] = {1, 2, 63, 64, 65, 128, 131, 515};
    kfe_context *ctx = *state;

    for (size_t c = 0; c < sizeof orders / sizeof *orders; c++)
        for (int kind = 0; kind < 4; kind++) {
            int centred = kind % 2;
            int single = kind / 2;
            engine_problem p;
            kfe_i_gram *packed = NULL;
            double precision = single ? 2e-6 : 1e-12;
            assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), orders[c], centred, &p));
            double *matrix = engine_matrix(&p, centred);
            assert_ok(ctx, kfe_i_gram_packed(ctx, p.gram, single, &packed));
            check_entries(ctx, packed, matrix, precision);
            for (int64_t k = 1; k <= 37; k = 2 * k + 3) /* 1, 5, 13, 29 */
            {
                check_times(ctx, packed, 0, matrix, k, precision * (double)orders[c]);
                check_times(ctx, packed, 1, matrix, k, 2e-6 * sqrt((double)orders[c]));
            }
            kfe_i_gram_free(packed);
            engine_close(&p);
            free(matrix);
        }
}

/* Half of the matrix, not the whole. */
static void test_memory(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 5000; n = 3 * n + 1) {
        double whole = (double)n * (double)n;
        assert_true(kfe_i_gram_packed_bytes(n, 0) <= 8 * (whole / 2 + 32.5 * (double)n));
        assert_true(kfe_i_gram_packed_bytes(n, 0) >= 8 * whole / 2);
        assert_true(kfe_i_gram_packed_bytes(n, 1) == kfe_i_gram_packed_bytes(n, 0) / 2);
    }
}

/* The same bits again, with one thread and with two. */
static void test_repeated(void **state)
{
    enum { N = 300, K = 9 };
    kfe_context *ctx = *state;
    engine_problem p;
    kfe_i_gram *packed = NULL;
    double *v = support_random(34, N * K);
    double *first = support_random(35, N * K);
    double *second = support_random(36, N * K);

    assert_ok(ctx, engine_open(ctx, engine_case_named("ordinary"), N, 0, &p));
    assert_ok(ctx, kfe_i_gram_packed(ctx, p.gram, 0, &packed));
    for (int threads = 1; threads <= 2; threads++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, threads));
        assert_ok(ctx, kfe_i_gram_times(packed, v, K, first));
        assert_ok(ctx, kfe_i_gram_times(packed, v, K, second));
        assert_memory_equal(first, second, N * K * sizeof *first);
        assert_ok(ctx, kfe_i_gram_times_single(packed, v, K, first));
        assert_memory_not_equal(first, second, N * K * sizeof *first);
        assert_ok(ctx, kfe_i_gram_times_single(packed, v, K, second));
        assert_memory_equal(first, second, N * K * sizeof *first);
    }
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    kfe_i_gram_free(packed);
    engine_close(&p);
    free(v);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_repeated),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
