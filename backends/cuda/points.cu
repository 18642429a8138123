/* SPDX-License-Identifier: Apache-2.0 */
/* Brings examples to the device and prepares them for kernels: centred rows, squared norms, single precision. Used by the kernel
 * files (block.cu, times.cu, stream.cu). */
#include <stdlib.h>
#include <string.h>

#include "internal.cuh"

enum { THREADS = 256, WARP = 32 };

/* ---- preparing ---- */

/* centred = given − centre */
static __global__ void subtract_centre(const double *given, const double *centre, double *centred,
                                       int64_t count, int64_t cols)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;

    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += step)
        centred[e] = given[e] - centre[e % cols];
}

static __device__ double warp_sum(double value)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

/* One warp per row; a row is dense (row_start NULL) or compressed. */
static __global__ void square_rows(const double *values, const int64_t *row_start, int64_t rows, int64_t cols,
                                   double *norms, float *narrow_norms)
{
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    int lane = threadIdx.x % WARP;
    double sum = 0;

    if (i >= rows)
        return;
    int64_t begin = row_start ? row_start[i] : i * cols;
    int64_t end = row_start ? row_start[i + 1] : (i + 1) * cols;
    for (int64_t p = begin + lane; p < end; p += WARP)
        sum += values[p] * values[p];
    sum = warp_sum(sum);
    if (lane == 0) {
        norms[i] = sum;
        if (narrow_norms)
            narrow_norms[i] = (float)sum;
    }
}

static kfe_device_status measure_rows(kfe_device *device, kfe_device_points *p)
{
    const double *values = p->row_start ? p->values : p->centred;

    if (p->rows == 0)
        return KFE_DEVICE_OK;
    square_rows<<<kfe_cuda_blocks(p->rows, THREADS / WARP), THREADS, 0, device->stream>>>(
        values, p->row_start, p->rows, p->cols, p->norms, p->narrow_norms);
    KFE_LAUNCHED(device, "square_rows");
    return KFE_DEVICE_OK;
}

/* centre: in device memory; NULL: none. */
kfe_device_status kfe_cuda_points_prepare(kfe_device *device, kfe_device_points *p, const double *centre)
{
    int64_t count = p->rows * p->cols;

    if (p->given && p->centred != p->given && count > 0) {
        subtract_centre<<<(unsigned)(device->processors * 16), THREADS, 0, device->stream>>>(
            p->given, centre, p->centred, count, p->cols);
        KFE_LAUNCHED(device, "subtract_centre");
    }
    if (p->narrow) {
        kfe_device_matrix from = kfe_cuda_matrix(p->centred, p->rows, p->cols, KFE_DEVICE_F64);
        kfe_device_matrix to = kfe_cuda_matrix(p->narrow, p->rows, p->cols, KFE_DEVICE_F32);
        KFE_CUDA_OK(kfe_cuda_convert(device, &from, &to));
    }
    return p->norms ? measure_rows(device, p) : KFE_DEVICE_OK;
}

/* ---- memory ---- */

static kfe_device_status allocate_norms(kfe_device *device, kfe_device_points *p)
{
    if (p->base == KFE_FORMULA_COORDINATE)
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(kfe_cuda_array(device, p->rows, &p->norms));
    if (p->precision == KFE_DEVICE_F32)
        KFE_CUDA_OK(kfe_cuda_array(device, p->rows, &p->narrow_norms));
    return KFE_DEVICE_OK;
}

static kfe_device_status allocate_dense(kfe_device *device, kfe_device_points *p, int has_centre)
{
    KFE_CUDA_OK(kfe_cuda_array(device, p->rows * p->cols, &p->given));
    p->centred = p->given;
    if (has_centre) {
        p->centred = NULL;
        KFE_CUDA_OK(kfe_cuda_array(device, p->rows * p->cols, &p->centred));
    }
    if (p->precision == KFE_DEVICE_F32)
        KFE_CUDA_OK(kfe_cuda_array(device, p->rows * p->cols, &p->narrow));
    return allocate_norms(device, p);
}

static kfe_device_status allocate_sparse(kfe_device *device, kfe_device_points *p, int64_t entries)
{
    KFE_CUDA_OK(kfe_cuda_array(device, p->rows + 1, &p->row_start));
    KFE_CUDA_OK(kfe_cuda_array(device, entries, &p->columns));
    KFE_CUDA_OK(kfe_cuda_array(device, entries, &p->values));
    return allocate_norms(device, p);
}

static kfe_device_points *new_points(kfe_device *device, int64_t rows, int64_t cols, int32_t base,
                                     kfe_device_type precision)
{
    kfe_device_points *p = (kfe_device_points *)calloc(1, sizeof *p);

    if (!p) {
        kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
        return NULL;
    }
    p->device = device;
    p->rows = rows;
    p->cols = cols;
    p->base = base;
    p->precision = precision;
    p->split.gamma = -1;
    p->next = device->points;
    device->points = p;
    return p;
}

void kfe_cuda_points_free(kfe_device *device, kfe_device_points *points)
{
    if (!points)
        return;
    for (kfe_device_points **at = &device->points; *at; at = &(*at)->next)
        if (*at == points) {
            *at = points->next;
            break;
        }
    kfe_cuda_split_free(device, &points->split);
    if (points->centred != points->given)
        kfe_cuda_put(device, points->centred);
    kfe_cuda_put(device, points->given);
    kfe_cuda_put(device, points->norms);
    kfe_cuda_put(device, points->narrow);
    kfe_cuda_put(device, points->narrow_norms);
    kfe_cuda_put(device, points->row_start);
    kfe_cuda_put(device, points->columns);
    kfe_cuda_put(device, points->values);
    free(points);
}

/* ---- from the host ---- */

static kfe_device_status upload_dense(kfe_device *device, const kfe_device_rows *rows, kfe_device_points *p)
{
    double *centre = NULL;
    int has_centre = rows->centre && p->base != KFE_FORMULA_COORDINATE;

    KFE_CUDA_OK(allocate_dense(device, p, has_centre));
    kfe_device_matrix to = kfe_cuda_matrix(p->given, p->rows, p->cols, KFE_DEVICE_F64);
    KFE_CUDA_OK(kfe_cuda_upload(device, rows->values, rows->stride, &to));
    if (has_centre) {
        KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_INDEX, p->cols, &centre));
        KFE_CUDA(device, cudaMemcpyAsync(centre, rows->centre, (size_t)p->cols * 8, cudaMemcpyHostToDevice,
                                         device->stream));
    }
    KFE_CUDA_OK(kfe_cuda_points_prepare(device, p, centre));
    return kfe_cuda_wait(device);
}

/* Row starts count from 0 on the device. */
static kfe_device_status upload_starts(kfe_device *device, const kfe_device_rows *rows, kfe_device_points *p)
{
    int64_t *starts = (int64_t *)malloc((size_t)(p->rows + 1) * sizeof *starts);

    if (!starts)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    for (int64_t i = 0; i <= p->rows; i++)
        starts[i] = rows->row_start[i] - rows->row_start[0];
    cudaError_t error = cudaMemcpyAsync(p->row_start, starts, (size_t)(p->rows + 1) * sizeof *starts,
                                        cudaMemcpyHostToDevice, device->stream);
    error = error == cudaSuccess ? cudaStreamSynchronize(device->stream) : error;
    free(starts);
    return kfe_cuda_check(device, error, "cudaMemcpyAsync");
}

static kfe_device_status upload_sparse(kfe_device *device, const kfe_device_rows *rows, kfe_device_points *p)
{
    int64_t first = rows->row_start[0];
    int64_t entries = rows->row_start[p->rows] - first;

    KFE_CUDA_OK(allocate_sparse(device, p, entries));
    KFE_CUDA_OK(upload_starts(device, rows, p));
    if (entries > 0) {
        KFE_CUDA(device, cudaMemcpyAsync(p->columns, rows->columns + first, (size_t)entries * 4,
                                         cudaMemcpyHostToDevice, device->stream));
        KFE_CUDA(device, cudaMemcpyAsync(p->values, rows->values + first, (size_t)entries * 8,
                                         cudaMemcpyHostToDevice, device->stream));
    }
    KFE_CUDA_OK(kfe_cuda_points_prepare(device, p, NULL));
    return kfe_cuda_wait(device);
}

kfe_device_status kfe_cuda_points_new(kfe_device *device, const kfe_device_rows *rows, int32_t base,
                                      kfe_device_type precision, kfe_device_points **out)
{
    *out = NULL;
    if (rows->row_start && base == KFE_FORMULA_COORDINATE)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "sums over coordinates of sparse rows");
    kfe_device_points *p = new_points(device, rows->rows, rows->cols, base, precision);
    if (!p)
        return KFE_DEVICE_FAILED;
    kfe_device_status status =
        rows->row_start ? upload_sparse(device, rows, p) : upload_dense(device, rows, p);
    if (status != KFE_DEVICE_OK) {
        kfe_cuda_points_free(device, p);
        return status;
    }
    *out = p;
    return KFE_DEVICE_OK;
}

/* ---- copies ---- */

/* `index` is on the device. */
template <class T>
static kfe_device_status gather_rows(kfe_device *device, const T *from, int64_t rows, int64_t cols,
                                     const int64_t *index, int64_t count, T *to)
{
    kfe_device_type type = sizeof(T) == 8 ? KFE_DEVICE_F64 : KFE_DEVICE_F32;
    kfe_device_matrix source = kfe_cuda_matrix(from, rows, cols, type);
    kfe_device_matrix target = kfe_cuda_matrix(to, count, cols, type);

    if (!from)
        return KFE_DEVICE_OK;
    return kfe_cuda_gather_rows(device, &source, index, &target);
}

static kfe_device_status gather_dense(kfe_device *device, const kfe_device_points *from, const int64_t *index,
                                      kfe_device_points *to)
{
    int64_t n = from->rows;
    int64_t d = from->cols;
    int64_t *places = NULL;

    KFE_CUDA_OK(allocate_dense(device, to, from->centred != from->given));
    if (to->rows == 0)
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(kfe_cuda_upload_index(device, index, to->rows, &places));
    KFE_CUDA_OK(gather_rows(device, from->given, n, d, places, to->rows, to->given));
    if (to->centred != to->given)
        KFE_CUDA_OK(gather_rows(device, from->centred, n, d, places, to->rows, to->centred));
    KFE_CUDA_OK(gather_rows(device, from->norms, n, 1, places, to->rows, to->norms));
    KFE_CUDA_OK(gather_rows(device, from->narrow, n, d, places, to->rows, to->narrow));
    return gather_rows(device, from->narrow_norms, n, 1, places, to->rows, to->narrow_norms);
}

/* One block per row of the copy. */
static __global__ void gather_entries(const int64_t *from_start, const int32_t *from_columns,
                                      const double *from_values, const int64_t *index,
                                      const int64_t *to_start, int32_t *to_columns, double *to_values)
{
    int64_t i = blockIdx.x;
    int64_t begin = from_start[index[i]];
    int64_t count = from_start[index[i] + 1] - begin;

    for (int64_t p = threadIdx.x; p < count; p += blockDim.x) {
        to_columns[to_start[i] + p] = from_columns[begin + p];
        to_values[to_start[i] + p] = from_values[begin + p];
    }
}

/* starts[count + 1] of the rows listed, from those of all rows, in host memory. */
static void new_starts(const int64_t *all, const int64_t *index, int64_t count, int64_t *starts)
{
    starts[0] = 0;
    for (int64_t i = 0; i < count; i++)
        starts[i + 1] = starts[i] + all[index[i] + 1] - all[index[i]];
}

static kfe_device_status gather_sparse_with(kfe_device *device, const kfe_device_points *from,
                                            const int64_t *index, kfe_device_points *to, int64_t *all,
                                            int64_t *starts)
{
    int64_t *places = NULL;

    KFE_CUDA(device, cudaMemcpyAsync(all, from->row_start, (size_t)(from->rows + 1) * 8,
                                     cudaMemcpyDeviceToHost, device->stream));
    KFE_CUDA_OK(kfe_cuda_wait(device));
    new_starts(all, index, to->rows, starts);
    KFE_CUDA_OK(allocate_sparse(device, to, starts[to->rows]));
    KFE_CUDA_OK(kfe_cuda_upload_index(device, index, to->rows, &places));
    KFE_CUDA(device, cudaMemcpyAsync(to->row_start, starts, (size_t)(to->rows + 1) * 8,
                                     cudaMemcpyHostToDevice, device->stream));
    if (to->rows > 0) {
        gather_entries<<<(unsigned)to->rows, WARP, 0, device->stream>>>(
            from->row_start, from->columns, from->values, places, to->row_start, to->columns, to->values);
        KFE_LAUNCHED(device, "gather_entries");
    }
    KFE_CUDA_OK(kfe_cuda_points_prepare(device, to, NULL));
    return kfe_cuda_wait(device);
}

static kfe_device_status gather_sparse(kfe_device *device, const kfe_device_points *from,
                                       const int64_t *index, kfe_device_points *to)
{
    int64_t *all = (int64_t *)malloc((size_t)(from->rows + 1) * sizeof *all);
    int64_t *starts = (int64_t *)malloc((size_t)(to->rows + 1) * sizeof *starts);
    kfe_device_status status = KFE_DEVICE_FAILED;

    if (all && starts)
        status = gather_sparse_with(device, from, index, to, all, starts);
    else
        kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    free(all);
    free(starts);
    return status;
}

kfe_device_status kfe_cuda_points_gather(kfe_device *device, const kfe_device_points *points,
                                         const int64_t *index, int64_t count, kfe_device_points **out)
{
    kfe_device_points *p = new_points(device, count, points->cols, points->base, points->precision);

    *out = NULL;
    if (!p)
        return KFE_DEVICE_FAILED;
    kfe_device_status status =
        points->row_start ? gather_sparse(device, points, index, p) : gather_dense(device, points, index, p);
    if (status != KFE_DEVICE_OK) {
        kfe_cuda_points_free(device, p);
        return status;
    }
    *out = p;
    return KFE_DEVICE_OK;
}
