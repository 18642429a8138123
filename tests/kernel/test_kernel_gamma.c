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
    long double count = (long double)(n * points->cols);
    long double mean = 0;
    long double variance = 0;

    if (strcmp(name, "auto") == 0)
        return 1 / (double)points->cols;
    if (strcmp(name, "scale") == 0) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < points->cols; j++)
                mean += support_points_row(points, i)[j] / count;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < points->cols; j++)
                variance += powl(support_points_row(points, i)[j] - mean, 2) / count;
        return (double)(1 / (points->cols * variance));
    }
    double *distances = calloc((size_t)(n * n), sizeof *distances);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            distances[pairs++] = (double)support_squared_distance(
                support_points_row(points, i), support_points_row(points, j), points->cols);
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

static void test_gamma_of_constant_data(void **state)
{
    kfe_context *ctx = *state;
    double same[] = {3, 3, 3, 3};
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
        with_context(test_gamma_of_constant_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
