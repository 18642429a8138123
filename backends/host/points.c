/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of the host plug-in: dense copies of the rows, centred ones, and squared norms. */
#include <string.h>

#include "backends/host/host.h"

static void copy_row(const kfe_device_rows *rows, int64_t i, double *out)
{
    if (!rows->row_start) {
        memcpy(out, rows->values + i * rows->stride, (size_t)rows->cols * sizeof *out);
        return;
    }
    memset(out, 0, (size_t)rows->cols * sizeof *out);
    for (int64_t p = rows->row_start[i]; p < rows->row_start[i + 1]; p++)
        out[rows->columns[p]] = rows->values[p];
}

static void measure_norms(kfe_device_points *points)
{
    for (int64_t i = 0; i < points->rows; i++) {
        const double *row = points->centred + i * points->cols;
        double sum = 0;
        for (int64_t j = 0; j < points->cols; j++)
            sum += row[j] * row[j];
        points->norms[i] = sum;
    }
}

void host_points_free(kfe_device *device, kfe_device_points *points)
{
    if (!points)
        return;
    if (points->centred != points->source)
        host_release(device, points->centred);
    host_release(device, points->source);
    host_release(device, points->norms);
    host_release(device, points);
}

/* Empty points of this shape; `apart`: with centred rows of their own. */
static kfe_device_points *make(kfe_device *device, int64_t rows, int64_t cols, int apart)
{
    kfe_device_points *points = host_allocate(device, sizeof *points);
    uint64_t bytes = (uint64_t)(rows * cols) * sizeof(double);

    if (!points)
        return NULL;
    points->rows = rows;
    points->cols = cols;
    points->source = host_allocate(device, bytes);
    points->centred = apart ? host_allocate(device, bytes) : points->source;
    points->norms = host_allocate(device, (uint64_t)rows * sizeof(double));
    if (points->source && points->centred && points->norms)
        return points;
    host_points_free(device, points);
    return NULL;
}

kfe_device_status host_points_new(kfe_device *device, const kfe_device_rows *rows, int32_t base,
                                  kfe_device_type precision, kfe_device_points **out)
{
    int apart = rows->centre != NULL && !rows->row_start;

    (void)precision;
    *out = make(device, rows->rows, rows->cols, apart);
    if (!*out)
        return KFE_DEVICE_NO_MEMORY;
    (*out)->base = base;
    for (int64_t i = 0; i < rows->rows; i++) {
        double *row = (*out)->source + i * rows->cols;
        copy_row(rows, i, row);
        for (int64_t j = 0; apart && j < rows->cols; j++)
            (*out)->centred[i * rows->cols + j] = row[j] - rows->centre[j];
    }
    measure_norms(*out);
    return KFE_DEVICE_OK;
}

kfe_device_status host_points_gather(kfe_device *device, const kfe_device_points *points,
                                     const int64_t *index, int64_t count, kfe_device_points **out)
{
    size_t bytes = (size_t)points->cols * sizeof(double);
    int apart = points->centred != points->source;

    *out = make(device, count, points->cols, apart);
    if (!*out)
        return KFE_DEVICE_NO_MEMORY;
    (*out)->base = points->base;
    for (int64_t i = 0; i < count; i++) {
        memcpy((*out)->source + i * points->cols, points->source + index[i] * points->cols, bytes);
        if (apart)
            memcpy((*out)->centred + i * points->cols, points->centred + index[i] * points->cols, bytes);
        (*out)->norms[i] = points->norms[index[i]];
    }
    return KFE_DEVICE_OK;
}
