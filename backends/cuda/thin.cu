/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of shapes for which cuBLAS leaves most of the memory's rate unused: sums of few terms, many short rows times a vector, few
 * long rows times a vector. gemm.cu sends them here. Sums are made in an order that depends on the sizes only.
 */
#include "each.cuh"

/* ---- sums of few terms ---- */

/* c = alpha·Σ a[i, k]·b[k, j] + beta·c over a few k */
template <class T> struct few_terms_entry {
    const T *a;
    int64_t a_row, a_term;
    const T *b;
    int64_t b_term, b_col;
    T *c;
    int64_t ldc;
    int64_t terms;
    T alpha, beta;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        T sum = 0;
        T *to = c + i * ldc + j;
        for (int64_t k = 0; k < terms; k++)
            sum += a[i * a_row + k * a_term] * b[k * b_term + j * b_col];
        *to = alpha * sum + (beta == 0 ? 0 : beta * *to);
    }
};

template <class T>
static kfe_device_status few_terms(kfe_device *device, const kfe_cuda_gemm_args *g, const T *a, int64_t lda,
                                   const T *b, int64_t ldb, T *c, int64_t ldc)
{
    few_terms_entry<T> f = {a,
                            g->transpose_a ? 1 : lda,
                            g->transpose_a ? lda : 1,
                            b,
                            g->transpose_b ? 1 : ldb,
                            g->transpose_b ? ldb : 1,
                            c,
                            ldc,
                            g->inner,
                            (T)g->alpha,
                            (T)g->beta};

    return kfe_cuda_each(device, f, g->rows, g->cols, "few_terms");
}

kfe_device_status kfe_cuda_few_terms(kfe_device *device, const kfe_cuda_gemm_args *g, const double *a,
                                     int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc)
{
    return few_terms(device, g, a, lda, b, ldb, c, ldc);
}

kfe_device_status kfe_cuda_few_terms(kfe_device *device, const kfe_cuda_gemm_args *g, const float *a,
                                     int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc)
{
    return few_terms(device, g, a, lda, b, ldb, c, ldc);
}

/* ---- many short rows times a vector ---- */

enum { SHORT_THREADS = 256, SHORT_LANES = 8 }; /* threads of a block; threads that share a row */

template <class T>
static __global__ void short_rows(const T *m, int64_t ld, int64_t rows, int64_t cols, const T *x,
                                  int64_t step_x, T alpha, T beta, T *y, int64_t step_y)
{
    int64_t row = ((int64_t)blockIdx.x * SHORT_THREADS + threadIdx.x) / SHORT_LANES;
    int lane = threadIdx.x % SHORT_LANES;
    T sum = 0;

    if (row < rows)
#pragma unroll 8
        for (int64_t j = lane; j < cols; j += SHORT_LANES)
            sum += m[row * ld + j] * x[j * step_x];
    for (int offset = SHORT_LANES / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (row < rows && lane == 0)
        y[row * step_y] = alpha * sum + (beta == 0 ? 0 : beta * y[row * step_y]);
}

template <class T>
static kfe_device_status launch_short(kfe_device *device, const kfe_cuda_gemv_args *g, const T *m, int64_t ld,
                                      const T *x, int64_t step_x, T *y, int64_t step_y)
{
    short_rows<<<kfe_cuda_blocks(g->rows, SHORT_THREADS / SHORT_LANES), SHORT_THREADS, 0, device->stream>>>(
        m, ld, g->rows, g->cols, x, step_x, (T)g->alpha, (T)g->beta, y, step_y);
    KFE_LAUNCHED(device, "short_rows");
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_short_rows(kfe_device *device, const kfe_cuda_gemv_args *g, const double *m,
                                      int64_t ld, const double *x, int64_t step_x, double *y, int64_t step_y)
{
    return launch_short(device, g, m, ld, x, step_x, y, step_y);
}

kfe_device_status kfe_cuda_short_rows(kfe_device *device, const kfe_cuda_gemv_args *g, const float *m,
                                      int64_t ld, const float *x, int64_t step_x, float *y, int64_t step_y)
{
    return launch_short(device, g, m, ld, x, step_x, y, step_y);
}

/* ---- few long rows times a vector ---- */

enum {
    LONG_WARPS = 4,      /* of a block, each with a slice of its own */
    LONG_ROWS = 8,       /* that a warp sums, so that it reads the vector once for all of them */
    LONG_DEPTH = 4,      /* numbers of each row that a thread loads at a time */
    LONG_LEAST = 2048,   /* columns that a slice has at least */
    LONG_OCCUPANCY = 48, /* slices that every processor should have */
    WARP = 32
};

/* Warp (x, y): the sums of LONG_ROWS rows over a slice; out[slice·rows + row]. */
template <class T>
static __global__ void long_sums(const T *a, int64_t lda, int64_t rows, int64_t inner, const double *x,
                                 int64_t step, int64_t slice, int64_t slices, double *out)
{
    int64_t number = (int64_t)blockIdx.y * LONG_WARPS + threadIdx.x / WARP;
    int64_t first = (int64_t)blockIdx.x * LONG_ROWS;
    int lane = threadIdx.x % WARP;
    int64_t end = (number + 1) * slice < inner ? (number + 1) * slice : inner;
    double sums[LONG_ROWS] = {};

    if (number >= slices)
        return;
    for (int64_t at = number * slice + lane; at < end; at += WARP * LONG_DEPTH) {
        double v[LONG_DEPTH];
#pragma unroll
        for (int e = 0; e < LONG_DEPTH; e++)
            v[e] = at + e * WARP < end ? x[(at + e * WARP) * step] : 0;
#pragma unroll
        for (int r = 0; r < LONG_ROWS; r++) {
            /* rows beyond the last are those of the last, whose sums are not written twice */
            const T *row = a + (first + r < rows ? first + r : rows - 1) * lda;
#pragma unroll
            for (int e = 0; e < LONG_DEPTH; e++)
                sums[r] += at + e * WARP < end ? (double)row[at + e * WARP] * v[e] : 0;
        }
    }
#pragma unroll
    for (int r = 0; r < LONG_ROWS; r++) {
        for (int offset = WARP / 2; offset > 0; offset /= 2)
            sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], offset);
        if (lane == 0 && first + r < rows)
            out[number * rows + first + r] = sums[r];
    }
}

enum { COMBINE_ENTRIES = 32, COMBINE_SHARES = 8 };

/* Threads (32 entries, 8 shares of the slices). */
static __global__ void combine(const double *slices, int64_t count, int64_t rows, int64_t cols, double alpha,
                               double beta, double *c, int64_t ldc)
{
    __shared__ double sums[COMBINE_SHARES][COMBINE_ENTRIES];
    int64_t e = (int64_t)blockIdx.x * COMBINE_ENTRIES + threadIdx.x;
    double sum = 0;

    if (e < rows * cols)
#pragma unroll 4
        for (int64_t s = threadIdx.y; s < count; s += COMBINE_SHARES)
            sum += slices[s * rows * cols + e];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || e >= rows * cols)
        return;
    for (int share = 1; share < COMBINE_SHARES; share++)
        sum += sums[share][threadIdx.x];
    double *to = c + e / cols * ldc + e % cols;
    *to = alpha * sum + (beta == 0 ? 0 : beta * *to);
}

kfe_device_status kfe_cuda_combine(kfe_device *device, const kfe_cuda_gemm_args *g, const double *slices,
                                   int64_t count, double *c, int64_t ldc)
{
    combine<<<kfe_cuda_blocks(g->rows * g->cols, COMBINE_ENTRIES), dim3(COMBINE_ENTRIES, COMBINE_SHARES), 0,
              device->stream>>>(slices, count, g->rows, g->cols, g->alpha, g->beta, c, ldc);
    KFE_LAUNCHED(device, "combine");
    return KFE_DEVICE_OK;
}

template <class T>
static kfe_device_status long_rows(kfe_device *device, const kfe_cuda_gemm_args *g, const T *a, int64_t lda,
                                   const double *x, int64_t step, double *y, int64_t step_y)
{
    int64_t groups = (g->rows + LONG_ROWS - 1) / LONG_ROWS;
    int64_t wanted = ((int64_t)device->processors * LONG_OCCUPANCY + groups - 1) / groups;
    int64_t slices = kfe_cuda_least(wanted, (g->inner + LONG_LEAST - 1) / LONG_LEAST);
    int64_t slice = (g->inner + slices - 1) / slices;
    double *partial = NULL;

    slice = (slice + WARP * LONG_DEPTH - 1) / (WARP * LONG_DEPTH) * (WARP * LONG_DEPTH);
    slices = (g->inner + slice - 1) / slice;
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PARTIAL, slices * g->rows, &partial));
    long_sums<<<dim3((unsigned)groups, kfe_cuda_blocks(slices, LONG_WARPS)), LONG_WARPS * WARP, 0,
                device->stream>>>(a, lda, g->rows, g->inner, x, step, slice, slices, partial);
    KFE_LAUNCHED(device, "long_sums");
    return kfe_cuda_combine(device, g, partial, slices, y, step_y);
}

kfe_device_status kfe_cuda_long_rows(kfe_device *device, const kfe_cuda_gemm_args *g, const double *a,
                                     int64_t lda, const double *x, int64_t step, double *y, int64_t step_y)
{
    return long_rows(device, g, a, lda, x, step, y, step_y);
}

kfe_device_status kfe_cuda_long_rows(kfe_device *device, const kfe_cuda_gemm_args *g, const float *a,
                                     int64_t lda, const double *x, int64_t step, double *y, int64_t step_y)
{
    return long_rows(device, g, a, lda, x, step, y, step_y);
}
