/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest neighbours of the host plug-in: all distances of a row, and as many passes over them as neighbours are wanted. */
#include <math.h>

#include "backends/host/host.h"

static double distance(int64_t cols, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* The nearest that has not been taken. Taken ones are marked by −1. */
static int64_t take_nearest(int64_t count, double *distances, double *out)
{
    int64_t best = -1;

    for (int64_t j = 0; j < count; j++)
        if (distances[j] >= 0 && (best < 0 || distances[j] < distances[best]))
            best = j;
    *out = best < 0 ? INFINITY : distances[best];
    if (best >= 0)
        distances[best] = -1;
    return best;
}

kfe_device_status host_nearest(kfe_device *device, kfe_device_range rows, kfe_device_range cols, int64_t k,
                               int64_t *numbers, double *distances)
{
    int64_t d = rows.points->cols;
    double *all = host_allocate(device, (uint64_t)(cols.count + 1) * sizeof *all);

    if (!all)
        return KFE_DEVICE_NO_MEMORY;
    for (int64_t i = 0; i < rows.count; i++) {
        const double *x = rows.points->source + (rows.first + i) * d;
        for (int64_t j = 0; j < cols.count; j++)
            all[j] = distance(d, x, cols.points->source + (cols.first + j) * d);
        for (int64_t r = 0; r < k; r++)
            numbers[i * k + r] = take_nearest(cols.count, all, &distances[i * k + r]);
    }
    host_release(device, all);
    return KFE_DEVICE_OK;
}
