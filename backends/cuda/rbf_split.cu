/* SPDX-License-Identifier: Apache-2.0 */
/* Splits points and vectors into halves for the product with the Gaussian kernel (rbf_times.cu). */
#include <math.h>
#include <stdlib.h>

#include "rbf.cuh"

static const int VECTOR_EXPONENT = 13; /* the largest number of a vector becomes about 2^13 */

/* ---- preparing ---- */

/* Halves of scale·x, zeros beyond; h = scale²·‖x‖²/2. One warp per padded row. */
static __global__ void split_rows(const double *x, const double *norms, int64_t rows, int64_t padded,
                                  int64_t dim, int depth, double scale, __half *high, __half *low, float *h)
{
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;

    if (i >= padded)
        return;
    for (int j = threadIdx.x % 32; j < depth; j += 32) {
        double value = i < rows && j < dim ? scale * x[i * dim + j] : 0;
        __half first = __double2half(value);
        high[i * depth + j] = first;
        low[i * depth + j] = __double2half(value - (double)__half2float(first));
    }
    if (threadIdx.x % 32 == 0)
        h[i] = i < rows ? (float)(scale * scale / 2 * norms[i]) : 0;
}

static __global__ void tile_largest(const float *h, int64_t tiles, float *largest)
{
    int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float most = 0;

    if (t >= tiles)
        return;
    for (int j = 0; j < KFE_RBF_TILE; j++)
        most = h[t * KFE_RBF_TILE + j] <= most ? most : h[t * KFE_RBF_TILE + j]; /* keeps NaN */
    largest[t] = most;
}

/* One block per vector: the power of two that brings its largest number to about 2^13, or 1. */
static __global__ void vector_scales(const double *v, int64_t stride, int64_t rows, int vectors,
                                     double out_factor, float *to_half, float *from_half)
{
    __shared__ double most[256];
    int j = blockIdx.x;
    double mine = 0;

    for (int64_t i = threadIdx.x; j < vectors && i < rows; i += blockDim.x)
        mine = fmax(mine, fabs(v[i * stride + j]));
    most[threadIdx.x] = mine;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            most[threadIdx.x] = fmax(most[threadIdx.x], most[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) {
        int exponent = 0;
        if (most[0] > 0 && most[0] < INFINITY)
            frexp(most[0], &exponent);
        exponent = exponent > 100 ? 100 : exponent < -100 ? -100 : exponent;
        to_half[j] = (float)ldexp(1.0, VECTOR_EXPONENT - exponent);
        from_half[j] = (float)(ldexp(1.0, exponent - VECTOR_EXPONENT) * out_factor);
    }
}

/* Halves of the vectors, transposed and padded with zeros. */
static __global__ void split_vectors(const double *v, int64_t stride, int64_t rows, int vectors,
                                     int64_t padded, const float *to_half, __half *high, __half *low)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y;

    if (i >= padded)
        return;
    double value = i < rows && j < vectors ? v[i * stride + j] * (double)to_half[j] : 0;
    __half first = __double2half(value);
    high[j * padded + i] = first;
    low[j * padded + i] = __double2half(value - (double)__half2float(first));
}

void kfe_cuda_split_free(kfe_device *device, kfe_cuda_split *split)
{
    kfe_cuda_put(device, split->high);
    kfe_cuda_put(device, split->low);
    kfe_cuda_put(device, split->exponents);
    kfe_cuda_put(device, split->largest);
    *split = kfe_cuda_split{-1, 0, NULL, NULL, NULL, NULL, 0, 0};
}

static kfe_device_status allocate_split(kfe_device *device, const kfe_device_points *p, kfe_cuda_split *s)
{
    s->depth = (int)((p->cols + KFE_RBF_STEP - 1) / KFE_RBF_STEP * KFE_RBF_STEP);
    s->depth = s->depth > 64 ? (s->depth + 31) / 32 * 32 : s->depth;
    s->rows = (p->rows + KFE_RBF_ROWS - 1) / KFE_RBF_ROWS * KFE_RBF_ROWS;
    KFE_CUDA_OK(kfe_cuda_array(device, s->rows * s->depth, &s->high));
    KFE_CUDA_OK(kfe_cuda_array(device, s->rows * s->depth, &s->low));
    KFE_CUDA_OK(kfe_cuda_array(device, s->rows, &s->exponents));
    return kfe_cuda_array(device, s->rows / KFE_RBF_TILE, &s->largest);
}

/* s->most = the largest h of all rows; NaN and overflow count as infinite. */
static kfe_device_status find_largest(kfe_device *device, kfe_cuda_split *s)
{
    int64_t tiles = s->rows / KFE_RBF_TILE;
    float *values = (float *)malloc((size_t)tiles * sizeof *values + 1);

    if (!values)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    cudaError_t error = cudaMemcpyAsync(values, s->largest, (size_t)tiles * sizeof *values,
                                        cudaMemcpyDeviceToHost, device->stream);
    error = error == cudaSuccess ? cudaStreamSynchronize(device->stream) : error;
    s->most = 0;
    for (int64_t t = 0; error == cudaSuccess && t < tiles; t++)
        s->most = values[t] <= s->most ? s->most : values[t] <= 1e30f ? values[t] : INFINITY;
    free(values);
    return kfe_cuda_check(device, error, "cudaMemcpyAsync");
}

/* Makes the split of these points for this width, unless it is there. */
kfe_device_status kfe_cuda_split_points(kfe_device *device, const kfe_device_points *points, double gamma)
{
    kfe_device_points *p = (kfe_device_points *)points; /* the split is a cache */
    kfe_cuda_split *s = &p->split;

    if (s->gamma == gamma)
        return KFE_DEVICE_OK;
    if (!s->largest) {
        kfe_device_status status = allocate_split(device, p, s);
        if (status != KFE_DEVICE_OK) {
            kfe_cuda_split_free(device, s);
            return status;
        }
    }
    double scale = sqrt(2 * gamma * 1.4426950408889634);
    split_rows<<<kfe_cuda_blocks(s->rows, 8), 256, 0, device->stream>>>(
        p->centred, p->norms, p->rows, s->rows, p->cols, s->depth, scale, s->high, s->low, s->exponents);
    KFE_LAUNCHED(device, "split_rows");
    int64_t tiles = s->rows / KFE_RBF_TILE;
    tile_largest<<<kfe_cuda_blocks(tiles, 256), 256, 0, device->stream>>>(s->exponents, tiles, s->largest);
    KFE_LAUNCHED(device, "tile_largest");
    KFE_CUDA_OK(find_largest(device, s));
    s->gamma = gamma;
    return KFE_DEVICE_OK;
}

int kfe_cuda_rbf_width(int vectors)
{
    return vectors <= 8 ? 8 : vectors <= 16 ? 16 : KFE_RBF_VECTORS_MOST;
}

/* Splits `vectors` columns of v from `first` on into halves. */
kfe_device_status kfe_cuda_split_vectors(kfe_device *device, const kfe_device_matrix *v, int64_t first,
                                         int vectors, int64_t padded, kfe_cuda_rbf_args *p)
{
    int width = kfe_cuda_rbf_width(vectors);
    __half *halves = NULL;
    const double *from = kfe_cuda_at<double>(v) + first;

    KFE_CUDA_OK(
        kfe_cuda_scratch(device, KFE_SLOT_VECTORS, 2 * width * padded + 4 * KFE_RBF_VECTORS_MOST, &halves));
    float *to_half = reinterpret_cast<float *>(halves + 2 * width * padded);
    float *from_half = to_half + KFE_RBF_VECTORS_MOST;
    vector_scales<<<(unsigned)width, 256, 0, device->stream>>>(
        from, v->stride, v->rows, vectors, 1 / (double)KFE_RBF_VALUE_SCALE, to_half, from_half);
    KFE_LAUNCHED(device, "vector_scales");
    dim3 grid(kfe_cuda_blocks(padded, 256), (unsigned)width);
    split_vectors<<<grid, 256, 0, device->stream>>>(from, v->stride, v->rows, vectors, padded, to_half,
                                                    halves, halves + width * padded);
    KFE_LAUNCHED(device, "split_vectors");
    p->v_high = halves;
    p->v_low = halves + width * padded;
    p->v_scale = from_half;
    p->v_stride = padded;
    return KFE_DEVICE_OK;
}
