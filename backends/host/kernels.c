/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel blocks, products and sums of the host plug-in, a panel of rows at a time. */
#include <cblas.h>
#include <string.h>

#include "backends/host/host.h"

enum { PANEL = 16, CHUNK = 4096 };
/* As src/kernel/tile/tile.c has it. */
#define CANCELLATION 1e-5

/* ---- one panel in double precision ---- */

static double difference(const double *x, const double *y, int64_t count)
{
    double sum = 0;

    for (int64_t j = 0; j < count; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

static double sum_terms(int32_t term, const double *x, const double *y, int64_t count)
{
    double sum = 0;

    for (int64_t j = 0; j < count; j++)
        sum += kfe_i_term_f64(term, x[j], y[j]);
    return sum;
}

static void base_values(const kfe_i_formula *formula, kfe_device_range rows, kfe_device_range cols,
                        double *out)
{
    const kfe_device_points *a = rows.points;
    const kfe_device_points *b = cols.points;
    int64_t d = a->cols;

    if (formula->base != KFE_FORMULA_COORDINATE)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows.count, (int)cols.count, (int)d, 1,
                    a->centred + rows.first * d, (int)d, b->centred + cols.first * d, (int)d, 0, out,
                    (int)cols.count);
    for (int64_t i = 0; i < rows.count; i++) {
        const double *x = a->source + (rows.first + i) * d;
        for (int64_t j = 0; j < cols.count; j++) {
            double *value = out + i * cols.count + j;
            const double *y = b->source + (cols.first + j) * d;
            double norms = a->norms[rows.first + i] + b->norms[cols.first + j];
            if (formula->base == KFE_FORMULA_COORDINATE)
                *value = sum_terms(formula->term, x, y, d);
            if (formula->base == KFE_FORMULA_DISTANCE)
                *value = norms - 2 * *value;
            if (formula->base == KFE_FORMULA_DISTANCE && !(*value >= CANCELLATION * norms))
                *value = difference(x, y, d);
        }
    }
}

static double map_value(const kfe_device_kernel *kernel, double base, kfe_device_range rows, int64_t i,
                        kfe_device_range cols, int64_t j)
{
    return kernel->weight * kfe_i_map_f64(kernel->formula.map, base, rows.points->norms[rows.first + i],
                                          cols.points->norms[cols.first + j], kernel->formula.params);
}

static void panel_values(const kfe_device_kernel *kernel, kfe_device_range rows, kfe_device_range cols,
                         double *out)
{
    base_values(&kernel->formula, rows, cols, out);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t j = 0; j < cols.count; j++)
            out[i * cols.count + j] = map_value(kernel, out[i * cols.count + j], rows, i, cols, j);
}

/* Calls `use` with one panel of values after the other. */
typedef void (*use_fn)(void *job, int64_t first, int64_t rows, const double *values);

static kfe_device_status each_panel(kfe_device *device, const kfe_device_kernel *kernel,
                                    kfe_device_range rows, kfe_device_range cols, use_fn use, void *job)
{
    kfe_device_status status = KFE_DEVICE_OK;
    double *values = host_allocate(device, (uint64_t)(PANEL * cols.count + 1) * sizeof(double));

    if (!values)
        return KFE_DEVICE_NO_MEMORY;
    for (int64_t first = 0; first < rows.count && status == KFE_DEVICE_OK; first += PANEL) {
        int64_t count = rows.count - first < PANEL ? rows.count - first : PANEL;
        if (host_must_stop(device, first, rows.count))
            status = KFE_DEVICE_STOPPED;
        if (cols.count == 0 || status != KFE_DEVICE_OK)
            continue;
        panel_values(kernel, (kfe_device_range){rows.points, rows.first + first, count}, cols, values);
        use(job, first, count, values);
    }
    host_release(device, values);
    return status;
}

/* ---- blocks ---- */

typedef struct block_job {
    const kfe_device_matrix *out;
    int how;
} block_job;

static void write_panel(void *user, int64_t first, int64_t rows, const double *values)
{
    const block_job *job = user;
    int64_t cols = job->out->cols;

    for (int64_t i = 0; i < rows; i++) {
        int64_t end = job->how & (KFE_DEVICE_LOWER | KFE_DEVICE_MIRROR) ? first + i + 1 : cols;
        for (int64_t j = 0; j < end; j++) {
            double before = job->how & KFE_DEVICE_ADD ? host_get(job->out, first + i, j) : 0;
            host_set(job->out, first + i, j, before + values[i * cols + j]);
            if (job->how & KFE_DEVICE_MIRROR)
                host_set(job->out, j, first + i, host_get(job->out, first + i, j));
        }
    }
}

kfe_device_status host_block(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                             kfe_device_range cols, const kfe_device_matrix *out, int how)
{
    return each_panel(device, kernel, rows, cols, write_panel, &(block_job){out, how});
}

kfe_device_status host_map(kfe_device *device, const kfe_device_kernel *kernel, const kfe_device_matrix *base,
                           kfe_device_range rows, kfe_device_range cols, const kfe_device_matrix *out)
{
    (void)device;
    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++)
            host_set(out, i, j, map_value(kernel, host_get(base, i, j), rows, i, cols, j));
    return KFE_DEVICE_OK;
}

/* ---- products ---- */

typedef struct times_job {
    const kfe_device_matrix *v;
    double *out;
    int64_t stride, cols;
    int add, single;
} times_job;

/* Single precision rounds the values. */
static void multiply_panel(void *user, int64_t first, int64_t rows, const double *values)
{
    const times_job *job = user;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < job->v->cols; k++) {
            double *out = job->out + (first + i) * job->stride + k;
            double sum = 0;
            for (int64_t j = 0; j < job->cols; j++) {
                double value = values[i * job->cols + j];
                sum += (job->single ? (double)(float)value : value) * host_get(job->v, j, k);
            }
            *out = job->add ? *out + sum : sum;
        }
}

kfe_device_status host_times(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                             kfe_device_range cols, const kfe_device_product *product)
{
    times_job job = {.v = product->v,
                     .out = (double *)(uintptr_t)product->out->address,
                     .stride = product->out->stride,
                     .cols = cols.count,
                     .add = product->add,
                     .single = product->precision == KFE_DEVICE_F32};

    return each_panel(device, kernel, rows, cols, multiply_panel, &job);
}

/* The rows pass through the device in chunks. */
kfe_device_status host_stream(kfe_device *device, const kfe_device_kernel *kernel,
                              const kfe_device_rows *rows, const kfe_device_points *support,
                              const kfe_device_matrix *v, kfe_device_type precision,
                              const kfe_device_output *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t first = 0; first < rows->rows && status == KFE_DEVICE_OK; first += CHUNK) {
        kfe_device_points *points = NULL;
        kfe_device_rows chunk = *rows;
        chunk.rows = rows->rows - first < CHUNK ? rows->rows - first : CHUNK;
        if (rows->row_start)
            chunk.row_start += first;
        else
            chunk.values += first * rows->stride;
        times_job job = {.v = v,
                         .out = out->values + first * out->stride,
                         .stride = out->stride,
                         .cols = support->rows,
                         .add = out->add,
                         .single = precision == KFE_DEVICE_F32};
        status = host_points_new(device, &chunk, support->base, precision, &points);
        if (status == KFE_DEVICE_OK)
            status = each_panel(device, kernel, (kfe_device_range){points, 0, chunk.rows},
                                (kfe_device_range){support, 0, support->rows}, multiply_panel, &job);
        host_points_free(device, points);
    }
    return status;
}

/* ---- sums over groups ---- */

typedef struct group_job {
    const int32_t *group;
    int64_t groups, n;
    double *out;
} group_job;

static void add_groups(void *user, int64_t first, int64_t rows, const double *values)
{
    const group_job *job = user;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < job->n; j++)
            job->out[job->group[first + i] * job->groups + job->group[j]] += values[i * job->n + j];
}

kfe_device_status host_group_sums(kfe_device *device, const kfe_device_kernel *kernel,
                                  const kfe_device_points *points, const int32_t *group, int64_t groups,
                                  kfe_device_type precision, double *out)
{
    kfe_device_range all = {points, 0, points->rows};
    group_job job = {group, groups, points->rows, out};

    (void)precision;
    memset(out, 0, (size_t)(groups * groups) * sizeof *out);
    return each_panel(device, kernel, all, all, add_groups, &job);
}
