/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a device's table that operators do not use, against plain loops. */
#include "support/device.h"

enum { ROWS = 83, COLS = 7, VECTORS = 5 };

static kfe_device_matrix put(const kfe_i_device *d, const double *values, int64_t rows, int64_t cols,
                             kfe_device_type type)
{
    kfe_device_matrix m;

    assert_int_equal(kfe_i_device_matrix_new(d, rows, cols, type, &m), KFE_DEVICE_OK);
    assert_int_equal(d->table->upload(d->handle, values, cols, &m), KFE_DEVICE_OK);
    return m;
}

static void take(const kfe_i_device *d, kfe_device_matrix *m, const char *what, const double *expected,
                 double tolerance)
{
    double *got = calloc((size_t)(m->rows * m->cols), sizeof *got);

    assert_int_equal(d->table->download(d->handle, m, got, m->cols), KFE_DEVICE_OK);
    support_assert_all_near(what, got, expected, m->rows * m->cols, tolerance);
    free(got);
    kfe_i_device_matrix_free(d, m);
}

/* c = alpha·op(a)op(b) + beta·c in plain loops; a is ROWS × COLS or its transpose. */
static void check_gemm(const kfe_i_device *d, int transpose_a, int transpose_b, kfe_device_type type_a)
{
    int64_t a_rows = transpose_a ? COLS : ROWS;
    double *a = support_random(21, ROWS * COLS);
    double *b = support_random(22, COLS * VECTORS);
    double *c = support_random(23, ROWS * VECTORS);
    kfe_device_matrix da = put(d, a, a_rows, ROWS * COLS / a_rows, type_a);
    kfe_device_matrix db =
        put(d, b, transpose_b ? VECTORS : COLS, transpose_b ? COLS : VECTORS, KFE_DEVICE_F64);
    kfe_device_matrix dc = put(d, c, ROWS, VECTORS, KFE_DEVICE_F64);

    assert_int_equal(d->table->gemm(d->handle, transpose_a, transpose_b, 0.5, &da, &db, -2, &dc),
                     KFE_DEVICE_OK);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < VECTORS; k++) {
            double sum = 0;
            for (int64_t j = 0; j < COLS; j++) {
                double left = transpose_a ? a[j * ROWS + i] : a[i * COLS + j];
                left = type_a == KFE_DEVICE_F32 ? (double)(float)left : left;
                sum += left * (transpose_b ? b[k * COLS + j] : b[j * VECTORS + k]);
            }
            c[i * VECTORS + k] = 0.5 * sum - 2 * c[i * VECTORS + k];
        }
    take(d, &dc, "gemm", c, tolerance_sum(COLS, 10));
    kfe_i_device_matrix_free(d, &da);
    kfe_i_device_matrix_free(d, &db);
    free(a);
    free(b);
    free(c);
}

static kfe_i_device *open_device(kfe_context *ctx)
{
    assert_ok(ctx, kfe_context_set_device(ctx, support_device_name()));
    return ctx->device;
}

static void test_products_of_matrices(void **state)
{
    kfe_i_device *d = open_device(*state);

    for (int t = 0; t < 4; t++) {
        check_gemm(d, t & 1, t >> 1, KFE_DEVICE_F64);
        check_gemm(d, t & 1, t >> 1, KFE_DEVICE_F32);
    }
}

static void test_entries_of_matrices(void **state)
{
    kfe_i_device *d = open_device(*state);
    const int64_t rows[] = {4, 0, 4};
    const int64_t cols[] = {1, 2};
    double *a = support_random(31, 5 * 3);
    double expected[5 * 3];
    double dots[5];
    double by_row[] = {1, 2, 3, 4, 5};
    double by_col[] = {10, 20, 30};
    kfe_device_matrix m = put(d, a, 5, 3, KFE_DEVICE_F64);
    kfe_device_matrix diagonal = kfe_device_diagonal(kfe_device_part(m, 0, 3, 0, 3));
    kfe_device_matrix picked;

    assert_int_equal(d->table->column_dots(d->handle, &m, &m, dots), KFE_DEVICE_OK);
    for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int i = 0; i < 5; i++)
            sum += a[i * 3 + j] * a[i * 3 + j];
        support_assert_near("column_dots", dots[j], sum, tolerance_sum(5, 5));
    }
    assert_int_equal(d->table->row_dots(d->handle, &m, NULL, dots), KFE_DEVICE_OK);
    for (int i = 0; i < 5; i++)
        support_assert_near("row_dots", dots[i], a[i * 3] + a[i * 3 + 1] + a[i * 3 + 2], tolerance_sum(3, 3));
    assert_int_equal(d->table->shift(d->handle, &m, by_row, by_col), KFE_DEVICE_OK);
    assert_int_equal(d->table->scale(d->handle, &m, by_row, by_col), KFE_DEVICE_OK);
    assert_int_equal(d->table->shift(d->handle, &diagonal, NULL, by_col), KFE_DEVICE_OK);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            expected[i * 3 + j] =
                (a[i * 3 + j] + by_row[i] + by_col[j]) * by_row[i] * by_col[j] + (i == j ? 10 : 0);
    assert_int_equal(kfe_i_device_matrix_new(d, 3, 2, KFE_DEVICE_F32, &picked), KFE_DEVICE_OK);
    assert_int_equal(d->table->gather(d->handle, &m, rows, cols, &picked), KFE_DEVICE_OK);
    double chosen[] = {expected[13], expected[14], expected[1], expected[2], expected[13], expected[14]};
    take(d, &picked, "gather", chosen, 1e4 * TOLERANCE_SINGLE);
    take(d, &m, "shift and scale", expected, 1e4 * 8 * DBL_EPSILON);
    free(a);
}

/* Distances once, and several kernels mapped from them. */
static void test_kernels_are_mapped_from_distances(void **state)
{
    kfe_i_device *d = open_device(*state);
    support_points points;
    kfe_device_points *prepared = NULL;
    kfe_device_kernel plain = {.weight = 1, .formula = {.base = KFE_FORMULA_DISTANCE}};
    kfe_device_kernel rbf = {
        .weight = 0.5, .formula = {.base = KFE_FORMULA_DISTANCE, .map = KFE_KERNEL_rbf, .params = {0.3}}};
    kfe_device_matrix base;
    kfe_device_matrix direct;
    double *expected = calloc(ROWS * ROWS, sizeof *expected);

    support_points_make(&points, 5, ROWS, COLS, 0);
    kfe_i_table table = support_points_table(&points, 0);
    kfe_device_rows rows = kfe_i_device_rows(&table);
    assert_int_equal(d->table->points_new(d->handle, &rows, KFE_FORMULA_DISTANCE, KFE_DEVICE_F64, &prepared),
                     KFE_DEVICE_OK);
    kfe_device_range all = {prepared, 0, ROWS};
    assert_int_equal(kfe_i_device_matrix_new(d, ROWS, ROWS, KFE_DEVICE_F64, &base), KFE_DEVICE_OK);
    assert_int_equal(kfe_i_device_matrix_new(d, ROWS, ROWS, KFE_DEVICE_F64, &direct), KFE_DEVICE_OK);
    assert_int_equal(d->table->block(d->handle, &plain, all, all, &base, KFE_DEVICE_MIRROR), KFE_DEVICE_OK);
    assert_int_equal(d->table->map(d->handle, &rbf, &base, all, all, &base), KFE_DEVICE_OK);
    assert_int_equal(d->table->block(d->handle, &rbf, all, all, &direct, KFE_DEVICE_MIRROR), KFE_DEVICE_OK);
    assert_int_equal(d->table->download(d->handle, &direct, expected, ROWS), KFE_DEVICE_OK);
    take(d, &base, "map", expected, 4 * DBL_EPSILON);
    kfe_i_device_matrix_free(d, &direct);
    d->table->points_free(d->handle, prepared);
    free(expected);
    support_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_products_of_matrices),
        with_context(test_entries_of_matrices),
        with_context(test_kernels_are_mapped_from_distances),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
