/* SPDX-License-Identifier: Apache-2.0 */
/* Random data on a device, for the benchmarks that call its plug-in (gpu_calls.h). */
#include "gpu_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void check(bench *b, kfe_device_status status, const char *call)
{
    if (status == KFE_DEVICE_OK)
        return;
    printf("%s: status %d, %s\n", call, (int)status, b->table->message(b->device));
    exit(1);
}

double normal(bench *b)
{
    double sum = 0;

    for (int i = 0; i < 4; i++) {
        b->random ^= b->random << 13;
        b->random ^= b->random >> 7;
        b->random ^= b->random << 17;
        sum += (double)(b->random >> 11) / 9007199254740992.0 - 0.5;
    }
    return sum * 1.7320508;
}

double *normals(bench *b, int64_t count)
{
    double *out = malloc((size_t)count * sizeof *out);

    if (!out) {
        printf("out of memory\n");
        exit(1);
    }
    for (int64_t i = 0; i < count; i++)
        out[i] =
            i < 4000000 ? normal(b) : out[i - 3999971]; /* fresh numbers would take longer than the bench */
    return out;
}

kfe_device_matrix matrix(bench *b, int64_t rows, int64_t cols, kfe_device_type type)
{
    kfe_device_matrix m = {0, rows, cols, cols, type};

    CALL(allocate, (uint64_t)(rows * cols) * (uint64_t)type, &m.address);
    return m;
}

kfe_device_matrix random_matrix(bench *b, int64_t rows, int64_t cols, kfe_device_type type)
{
    kfe_device_matrix m = matrix(b, rows, cols, type);
    double *numbers = normals(b, rows * cols);

    CALL(upload, numbers, cols, &m);
    free(numbers);
    return m;
}

void release(bench *b, kfe_device_matrix *m)
{
    b->table->release(b->device, m->address);
}

kfe_device_points *random_points(bench *b, int64_t n, int64_t d)
{
    double *values = normals(b, n * d);
    double *centre = calloc((size_t)d, sizeof *centre);
    kfe_device_rows rows = {.rows = n, .cols = d, .values = values, .stride = d, .centre = centre};
    kfe_device_points *points = NULL;

    CALL(points_new, &rows, KFE_FORMULA_DISTANCE, KFE_DEVICE_F32, &points);
    free(values);
    free(centre);
    return points;
}

kfe_device_kernel gaussian(double gamma)
{
    kfe_device_kernel kernel = {{.base = KFE_FORMULA_DISTANCE, .map = KFE_KERNEL_rbf, .params = {gamma}}, 1};

    return kernel;
}
