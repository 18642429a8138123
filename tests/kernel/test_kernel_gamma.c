/* SPDX-License-Identifier: Apache-2.0 */
/* The named values of gamma: scale, median and auto, against their definitions. */
#include "support/support.h"

#include <stdio.h>

#include "kernel/tile/cross.h"
#include "support/points.h"
#include "support/tolerance.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double direct_gamma(const support_points *points, const char *name)
{
    int64_t n = points->rows;
    int64_t pairs = 0;
    long double variance = 0; /* of all columns together */

    if (strcmp(name, "auto") == 0)
        return 1 / (double)points->cols;
    if (strcmp(name, "scale") == 0) {
        for (int64_t j = 0; j < points->cols; j++) {
            long double mean = 0;
            for (int64_t i = 0; i < n; i++)
                mean += support_points_row(points, i)[j] / (long double)n;
            for (int64_t i = 0; i < n; i++)
                variance += powl(support_points_row(points, i)[j] - mean, 2) / (long double)n;
        }
        return (double)(1 / variance);
    }
    double *distances = calloc((size_t)(n * n), sizeof *distances);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            distances[pairs] = (double)support_squared_distance(support_points_row(points, i),
                                                                support_points_row(points, j), points->cols);
            pairs += distances[pairs] > 0; /* equal examples say nothing about a width */
        }
    qsort(distances, (size_t)pairs, sizeof *distances, compare_doubles);
    double median = (distances[(pairs - 1) / 2] + distances[pairs / 2]) / 2;
    free(distances);
    return 1 / median;
}

/* If κ is the value for two points at unit distance in a data set of their own, gamma = −log κ. Names are
 * resolved on the data of the columns, so the points are the rows. */
static void test_gamma_names(void **state)
{
    static const char *const names[] = {"auto", "scale", "median"};
    kfe_context *ctx = *state;

    for (size_t g = 0; g < 3; g++)
        for (int sparse = 0; sparse < 2; sparse++) {
            support_points points;
            kfe_matrix by_name;
            kfe_matrix by_number;
            char text[64];
            support_points_make(&points, 9, sparse ? 60 : 62, 5, 0); /* an even and an odd number of pairs */
            snprintf(text, sizeof text, "rbf:gamma=%s", names[g]);
            support_points_kernel(ctx, text, &points, sparse, &by_name);
            double gamma = direct_gamma(&points, names[g]);
            snprintf(text, sizeof text, "rbf:gamma=%.17g", gamma);
            support_points_kernel(ctx, text, &points, sparse, &by_number);
            for (int64_t i = 0; i < by_name.rows * by_name.cols; i++)
                if (!(fabs(by_name.values[i] - by_number.values[i]) <= tolerance_sum(points.rows * 5, 1)))
                    fail_msg("gamma=%s is not %.17g", names[g], gamma);
            kfe_matrix_free(&by_name);
            kfe_matrix_free(&by_number);
            support_points_free(&points);
        }
}

static void test_gamma_is_resolved_on_the_columns(void **state)
{
    kfe_context *ctx = *state;
    double narrow[] = {0, 1};
    double wide[] = {0, 4}; /* variance 4: gamma = 1/4; squared distance 16 */
    kfe_data *rows = NULL;
    kfe_data *columns = NULL;
    kfe_matrix k;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 1, 1, narrow, &rows));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 1, 1, wide, &columns));
    assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=scale", rows, columns, &k));
    assert_true(fabs(k.values[1] - exp(-4)) < 4 * DBL_EPSILON);
    kfe_matrix_free(&k);
    assert_ok(ctx, kfe_kernel_matrix(ctx, "rbf:gamma=median", rows, columns, &k));
    assert_true(fabs(k.values[1] - exp(-1)) < 4 * DBL_EPSILON);
    kfe_matrix_free(&k);
    kfe_data_free(rows);
    kfe_data_free(columns);
}

/* ---- what must not matter ---- */

/* Few rows, of which all pairs are used, and more than the median takes. */
enum { FEW = 40, MANY = 1500, WIDE = 4 };

static double gamma_of(kfe_context *ctx, const char *text, const kfe_i_table *table)
{
    kfe_i_kernel kernel = {0};

    assert_ok(ctx, kfe_i_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, kfe_i_kernel_prepare(ctx, &kernel, table));
    double gamma = *(const double *)kernel.settings;
    kfe_i_kernel_free(&kernel);
    return gamma;
}

/* A table that is changed in one way. */
typedef struct variant {
    const char *what;
    int reversed, mirrored, twice, heavy; /* rows, columns, rows, weights of 2 */
    double added;                         /* to the second column */
    int padded;                           /* a constant column is added */
    double absent;                        /* a row of weight 0 with this value; 0: none */
} variant;

/* Continuous values, or counts, which many rows share. */
static double value_at(int64_t i, int64_t j, int counts)
{
    double u = fmod((double)((i + 1) * (2 * j + 3)) * 0.6180339887498949 + (double)((i * i) % 89) * 0.137, 1);

    return counts ? floor(3 * u) : (double)(j + 1) * u + 100 * (double)j;
}

static double gamma_of_variant(kfe_context *ctx, const char *text, int64_t n, int counts, const variant *v)
{
    int64_t cols = WIDE + v->padded;
    int64_t base = v->twice ? 2 * n : n;
    int64_t rows = base + (v->absent != 0);
    double *x = calloc((size_t)(rows * cols), sizeof *x);
    double *weights = calloc((size_t)rows, sizeof *weights);

    for (int64_t i = 0; i < base; i++) {
        int64_t from = (v->reversed ? base - 1 - i : i) % n;
        weights[i] = v->heavy ? 2 : 1;
        for (int64_t j = 0; j < WIDE; j++)
            x[i * cols + (v->mirrored ? WIDE - 1 - j : j)] =
                value_at(from, j, counts) + (j == 1 ? v->added : 0);
        if (v->padded)
            x[i * cols + WIDE] = 7;
    }
    for (int64_t j = 0; v->absent != 0 && j < cols; j++)
        x[base * cols + j] = v->absent;
    const kfe_i_table table = {.rows = rows,
                               .cols = cols,
                               .stride = cols,
                               .values = x,
                               .weights = v->absent != 0 || v->heavy ? weights : NULL};
    double gamma = gamma_of(ctx, text, &table);
    free(x);
    free(weights);
    return gamma;
}

/* The pooled variance of all entries made a width of column means; a median of random rows made one of their order. */
static void test_gamma_does_not_depend_on_what_the_kernel_does_not(void **state)
{
    kfe_context *ctx = *state;
    static const char *const names[] = {"rbf:gamma=scale", "rbf:gamma=median", "exp:sigma=scale",
                                        "exp:sigma=median"};
    static const variant variants[] = {
        {.what = "rows in another order", .reversed = 1},
        {.what = "columns in another order", .mirrored = 1},
        {.what = "all rows twice", .twice = 1},
        {.what = "weights of 2", .heavy = 1},
        {.what = "a constant added to a column", .added = 1000},
        {.what = "a constant column", .padded = 1},
        {.what = "a row of weight 0", .absent = 1e6},
    };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int many = 0; many < 2; many++)
            for (int counts = 0; counts < 2; counts++) {
                int64_t n = many ? MANY : FEW;
                double plain = gamma_of_variant(ctx, names[k], n, counts, &(variant){0});
                for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
                    double changed = gamma_of_variant(ctx, names[k], n, counts, &variants[v]);
                    if (!(fabs(changed - plain) <= 1e-9 * plain))
                        fail_msg("%s of %d rows: %.15g, with %s %.15g", names[k], (int)n, plain,
                                 variants[v].what, changed);
                }
            }
}

/* The median of all 1,124,250 pairs, and that of the rows that are drawn. */
static void test_the_median_of_a_sample_is_near_that_of_all(void **state)
{
    kfe_context *ctx = *state;
    double *x = calloc((size_t)MANY * WIDE, sizeof *x);
    double *distances = calloc((size_t)MANY * (MANY - 1) / 2, sizeof *distances);
    int64_t pairs = 0;

    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t j = 0; j < WIDE; j++)
            x[i * WIDE + j] = value_at(i, j, 0);
        for (int64_t k = 0; k < i; k++)
            distances[pairs++] = (double)support_squared_distance(x + i * WIDE, x + k * WIDE, WIDE);
    }
    qsort(distances, (size_t)pairs, sizeof *distances, compare_doubles);
    const kfe_i_table table = {.rows = MANY, .cols = WIDE, .stride = WIDE, .values = x};
    double exact = 2 / (distances[(pairs - 1) / 2] + distances[pairs / 2]);
    double drawn = gamma_of(ctx, "rbf:gamma=median", &table);
    assert_true(drawn != exact && fabs(drawn - exact) < 0.05 * exact);
    free(x);
    free(distances);
}

/* Sparse rows are drawn and measured without a dense copy, and give what dense ones give. */
static void test_gamma_of_sparse_rows(void **state)
{
    kfe_context *ctx = *state;
    double *x = calloc((size_t)MANY * WIDE, sizeof *x);
    double *values = calloc((size_t)MANY * WIDE, sizeof *values);
    int32_t *columns = calloc((size_t)MANY * WIDE, sizeof *columns);
    int64_t starts[MANY + 1] = {0};
    int64_t entries = 0;

    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t j = 0; j < WIDE; j++)
            if ((i + j) % 3) {
                x[i * WIDE + j] = values[entries] = value_at(i, j, 0);
                columns[entries++] = (int32_t)j;
            }
        starts[i + 1] = entries;
    }
    const kfe_i_table dense = {.rows = MANY, .cols = WIDE, .stride = WIDE, .values = x};
    const kfe_i_table sparse = {.kind = KFE_TABLE_CSR,
                                .rows = MANY,
                                .cols = WIDE,
                                .values = values,
                                .row_start = starts,
                                .columns = columns};
    static const char *const names[] = {"rbf:gamma=scale", "rbf:gamma=median"};
    for (int k = 0; k < 2; k++) {
        double expected = gamma_of(ctx, names[k], &dense);
        assert_true(fabs(gamma_of(ctx, names[k], &sparse) - expected) < 1e-12 * expected);
    }
    free(x);
    free(values);
    free(columns);
}

static void test_gamma_of_constant_data(void **state)
{
    kfe_context *ctx = *state;
    double same[] = {3, 0.1, 3, 0.1};
    kfe_data *data = NULL;
    kfe_matrix k;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 2, 2, same, &data));
    assert_fails(ctx, KFE_EINPUT, "give gamma a number",
                 kfe_kernel_matrix(ctx, "rbf:gamma=scale", data, NULL, &k));
    assert_fails(ctx, KFE_EINPUT, "give gamma a number",
                 kfe_kernel_matrix(ctx, "rbf:gamma=median", data, NULL, &k));
    assert_null(k.values);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_gamma_names),
        with_context(test_gamma_is_resolved_on_the_columns),
        with_context(test_gamma_does_not_depend_on_what_the_kernel_does_not),
        with_context(test_the_median_of_a_sample_is_near_that_of_all),
        with_context(test_gamma_of_sparse_rows),
        with_context(test_gamma_of_constant_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
