/* SPDX-License-Identifier: Apache-2.0 */
/* Do something for every entry of a matrix: a struct with `__device__ void operator()(int64_t i, int64_t j) const`. Wide matrices are
 * walked row by row, narrow ones entry by entry, so that neighbouring threads have neighbouring entries. */
#ifndef KFE_CUDA_EACH_CUH
#define KFE_CUDA_EACH_CUH

#include "internal.cuh"

enum { KFE_EACH_THREADS = 256, KFE_EACH_WIDE = 192 };

template <class F> static __global__ void kfe_cuda_each_wide(const F f, int64_t rows, int64_t cols)
{
    for (int64_t i = blockIdx.x; i < rows; i += gridDim.x)
        for (int64_t j = (int64_t)blockIdx.y * blockDim.x + threadIdx.x; j < cols;
             j += (int64_t)gridDim.y * blockDim.x)
            f(i, j);
}

template <class F> static __global__ void kfe_cuda_each_narrow(const F f, int64_t rows, int64_t cols)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;

    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < rows * cols; e += step) {
        int64_t i = e / cols;
        f(i, e - i * cols);
    }
}

template <class F>
static kfe_device_status kfe_cuda_each(kfe_device *device, const F &f, int64_t rows, int64_t cols,
                                       const char *name)
{
    int64_t most = (int64_t)device->processors * 16;

    if (rows <= 0 || cols <= 0)
        return KFE_DEVICE_OK;
    if (cols >= KFE_EACH_WIDE) {
        int64_t down = kfe_cuda_least(rows, most);
        int64_t across = (cols + KFE_EACH_THREADS - 1) / KFE_EACH_THREADS;
        across = kfe_cuda_least(across, (most + down - 1) / down);
        kfe_cuda_each_wide<<<dim3((unsigned)down, (unsigned)across), KFE_EACH_THREADS, 0, device->stream>>>(
            f, rows, cols);
    } else {
        int64_t blocks = kfe_cuda_least(most, (rows * cols + KFE_EACH_THREADS - 1) / KFE_EACH_THREADS);
        kfe_cuda_each_narrow<<<(unsigned)blocks, KFE_EACH_THREADS, 0, device->stream>>>(f, rows, cols);
    }
    return kfe_cuda_check(device, cudaGetLastError(), name);
}

/* Calls launch<A, B>(…) for the types of two matrices. */
#define KFE_EACH_TYPES(from, to, launch, ...)                                                                \
    ((from)->type == KFE_DEVICE_F64 ? ((to)->type == KFE_DEVICE_F64 ? launch<double, double>(__VA_ARGS__)    \
                                                                    : launch<double, float>(__VA_ARGS__))    \
                                    : ((to)->type == KFE_DEVICE_F64 ? launch<float, double>(__VA_ARGS__)     \
                                                                    : launch<float, float>(__VA_ARGS__)))

#endif
