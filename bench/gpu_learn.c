/* SPDX-License-Identifier: Apache-2.0 */
/* Times the calls of a device plug-in that learn, and kernels of sparse rows; gpu.c calls it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_calls.h"

/* ---- learning ---- */

void bench_svms(bench *b, int64_t n, int64_t d)
{
    enum { CLASSES = 10, COSTS = 8, PROBLEMS = CLASSES * COSTS };
    double *x = normals(b, n * d);
    int32_t *codes = malloc((size_t)n * sizeof *codes);
    double *w = malloc((size_t)(PROBLEMS * (d + 1)) * sizeof *w);
    signed char sides[CLASSES * CLASSES];
    double cost[2 * PROBLEMS];
    int64_t target[PROBLEMS];
    kfe_device_svm out[PROBLEMS];
    kfe_device_matrix rows = matrix(b, n, d, KFE_DEVICE_F64);
    int solved = 0;

    for (int64_t i = 0; i < n; i++) {
        codes[i] = (int32_t)(i % CLASSES);
        x[i * d + codes[i] % d] += 1.5;
    }
    for (int i = 0; i < CLASSES * CLASSES; i++)
        sides[i] = i / CLASSES == i % CLASSES ? 1 : -1;
    for (int p = 0; p < PROBLEMS; p++) {
        target[p] = p % CLASSES;
        cost[2 * p] = cost[2 * p + 1] = pow(10, p / (double)CLASSES - 2);
    }
    CALL(upload, x, d, &rows);
    kfe_device_svms job = {
        .rows = &rows, .bias = 1, .targets = CLASSES, .problems = PROBLEMS, .classes = CLASSES};
    job.codes = codes;
    job.sides = sides;
    job.target = target;
    job.cost = cost;
    job.steps_most = 100;
    job.halvings_most = 40;
    job.decrease = 1e-4;
    job.rounding = 1e-13;
    CALL(linear_svms, &job, w, out);
    double began = seconds();
    CALL(linear_svms, &job, w, out);
    double took = seconds() - began;
    for (int p = 0; p < PROBLEMS; p++)
        solved += out[p].solved != 0;
    printf("%d linear SVMs of %lld rows, %lld columns: %.4f s, %d solved\n", PROBLEMS, (long long)n,
           (long long)d, took, solved);
    release(b, &rows);
    free(x);
    free(codes);
    free(w);
}

void bench_nearest(bench *b, int64_t n, int64_t d, int64_t k)
{
    kfe_device_points *points = random_points(b, n, d);
    kfe_device_range all = {points, 0, n};
    int64_t *numbers = malloc((size_t)(n * k) * sizeof *numbers);
    double *distances = malloc((size_t)(n * k) * sizeof *distances);

    CALL(nearest, all, all, k, numbers, distances);
    double began = seconds();
    CALL(nearest, all, all, k, numbers, distances);
    printf("%lld nearest of n=%lld d=%lld: %.4f s\n", (long long)k, (long long)n, (long long)d,
           seconds() - began);
    b->table->points_free(b->device, points);
    free(numbers);
    free(distances);
}

/* ---- sparse rows ---- */

/* Columns of text: few are frequent, most are rare. */
void bench_sparse(bench *b, int64_t n, int64_t d, int64_t per_row)
{
    int64_t *row_start = malloc((size_t)(n + 1) * sizeof *row_start);
    int32_t *columns = malloc((size_t)(n * per_row) * sizeof *columns);
    double *values = normals(b, n * per_row);
    kfe_device_rows rows = {
        .rows = n, .cols = d, .values = values, .row_start = row_start, .columns = columns};
    kfe_device_points *points = NULL;
    kfe_device_kernel kernel = gaussian(0.01);
    kfe_device_matrix out = matrix(b, n, n, KFE_DEVICE_F64);

    for (int64_t i = 0; i <= n; i++)
        row_start[i] = i * per_row;
    for (int64_t i = 0; i < n; i++) {
        double at = 1;
        for (int64_t p = 0; p < per_row; p++) { /* growing steps: column j has a share like 1/j */
            at *= 1 + (0.5 + fabs(normal(b))) * log((double)d / 2) / (double)per_row / 1.3;
            int64_t column = (int64_t)at - 1 + p;
            columns[i * per_row + p] = (int32_t)(column < d - per_row + p ? column : d - per_row + p);
        }
    }
    CALL(points_new, &rows, KFE_FORMULA_DISTANCE, KFE_DEVICE_F32, &points);
    kfe_device_range all = {points, 0, n};
    for (int half = 0; half < 2; half++) {
        int how = half ? KFE_DEVICE_MIRROR : 0;
        double took = 0;
        for (int turn = 0; turn < 2; turn++) { /* the first is not counted */
            double began = seconds();
            CALL(block, &kernel, all, all, &out, how);
            check(b, b->table->wait(b->device), "wait");
            took = seconds() - began;
        }
        printf("rbf of sparse rows, n=%lld d=%lld, %lld entries in a row%s: %.3f s\n", (long long)n,
               (long long)d, (long long)per_row, half ? ", half of it and its mirror image" : "", took);
    }
    b->table->points_free(b->device, points);
    release(b, &out);
    free(row_start);
    free(columns);
    free(values);
}
