/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, shifts, scales and dot products of matrices: the part of the table's dense algebra that cuBLAS does not have. Sums are made
 * in an order that depends on the sizes only. */
#include "each.cuh"

enum {
    THREADS = 256,
    WARP = 32,
    CHUNK_ROWS = 512,
    LONG_ROW = 2048,
    ROW_SLICE = 16384 /* columns of a row that a block sums */
};

static int is_empty(const kfe_device_matrix *m)
{
    return m->rows <= 0 || m->cols <= 0;
}

/* ---- entry by entry ---- */

template <class A, class B> struct add_entry {
    double alpha;
    const A *from;
    int64_t from_stride;
    double beta;
    B *to;
    int64_t stride;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        double value = alpha * (double)from[i * from_stride + j];
        to[i * stride + j] = (B)(beta == 0 ? value : value + beta * (double)to[i * stride + j]);
    }
};

template <class A, class B>
static kfe_device_status add(kfe_device *device, double alpha, const kfe_device_matrix *from, double beta,
                             const kfe_device_matrix *to)
{
    add_entry<A, B> f = {alpha, kfe_cuda_at<A>(from), from->stride, beta, kfe_cuda_at<B>(to), to->stride};

    return kfe_cuda_each(device, f, to->rows, to->cols, "add");
}

kfe_device_status kfe_cuda_add(kfe_device *device, double alpha, const kfe_device_matrix *from, double beta,
                               const kfe_device_matrix *to)
{
    return KFE_EACH_TYPES(from, to, add, device, alpha, from, beta, to);
}

/* MULTIPLY: to *= by_row·by_column, else to += by_row + by_column; NULL leaves one out. */
template <class T, bool MULTIPLY> struct apply_entry {
    T *to;
    int64_t stride;
    const double *by_row, *by_column;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        double value = (double)to[i * stride + j];
        if (MULTIPLY)
            value *= (by_row ? by_row[i] : 1) * (by_column ? by_column[j] : 1);
        else
            value += (by_row ? by_row[i] : 0) + (by_column ? by_column[j] : 0);
        to[i * stride + j] = (T)value;
    }
};

/* Brings both vectors to the device; *by_row and *by_column become device addresses. */
static kfe_device_status upload_both(kfe_device *device, const kfe_device_matrix *to, const double **by_row,
                                     const double **by_column)
{
    double *memory = NULL;

    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_INDEX, to->rows + to->cols, &memory));
    if (*by_row) {
        KFE_CUDA(device, cudaMemcpyAsync(memory, *by_row, (size_t)to->rows * 8, cudaMemcpyHostToDevice,
                                         device->stream));
        *by_row = memory;
    }
    if (*by_column) {
        KFE_CUDA(device, cudaMemcpyAsync(memory + to->rows, *by_column, (size_t)to->cols * 8,
                                         cudaMemcpyHostToDevice, device->stream));
        *by_column = memory + to->rows;
    }
    return kfe_cuda_wait(device);
}

template <bool MULTIPLY>
static kfe_device_status apply_both(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                                    const double *by_column)
{
    if (is_empty(to))
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(upload_both(device, to, &by_row, &by_column));
    apply_entry<double, MULTIPLY> wide = {kfe_cuda_at<double>(to), to->stride, by_row, by_column};
    apply_entry<float, MULTIPLY> narrow = {kfe_cuda_at<float>(to), to->stride, by_row, by_column};
    return to->type == KFE_DEVICE_F64 ? kfe_cuda_each(device, wide, to->rows, to->cols, "apply")
                                      : kfe_cuda_each(device, narrow, to->rows, to->cols, "apply");
}

kfe_device_status kfe_cuda_shift(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                                 const double *by_column)
{
    return apply_both<false>(device, to, by_row, by_column);
}

kfe_device_status kfe_cuda_scale(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                                 const double *by_column)
{
    return apply_both<true>(device, to, by_row, by_column);
}

/* ---- dot products ---- */

/* A matrix of either type, to read from. */
typedef struct reader {
    const void *numbers; /* NULL: ones */
    int64_t stride;
    int wide;
} reader;

static reader reader_of(const kfe_device_matrix *m)
{
    reader r = {NULL, 0, 1};

    if (m)
        r = reader{kfe_cuda_at<void>(m), m->stride, m->type == KFE_DEVICE_F64};
    return r;
}

static __device__ __forceinline__ double read(const reader &r, int64_t i, int64_t j)
{
    if (!r.numbers)
        return 1;
    return r.wide ? ((const double *)r.numbers)[i * r.stride + j]
                  : (double)((const float *)r.numbers)[i * r.stride + j];
}

/* partial[chunk·cols + j]: threads (32 columns, 8 rows) of a block sum CHUNK_ROWS rows. */
static __global__ void column_sums(const reader a, const reader b, int64_t rows, int64_t cols,
                                   double *partial)
{
    __shared__ double sums[8][WARP];
    int64_t j = (int64_t)blockIdx.x * WARP + threadIdx.x;
    int64_t first = (int64_t)blockIdx.y * CHUNK_ROWS;
    double sum = 0;

    for (int64_t i = first + threadIdx.y; i < rows && i < first + CHUNK_ROWS; i += 8)
        if (j < cols)
            sum += read(a, i, j) * read(b, i, j);
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && j < cols) {
        for (int k = 1; k < 8; k++)
            sum += sums[k][threadIdx.x];
        partial[blockIdx.y * cols + j] = sum;
    }
}

/* One block per column: the chunks' sums, then a tree. */
static __global__ void add_chunks(const double *partial, int64_t chunks, int64_t cols, double *out)
{
    __shared__ double sums[THREADS];
    int64_t j = blockIdx.x;
    double sum = 0;

    for (int64_t c = threadIdx.x; c < chunks; c += THREADS)
        sum += partial[c * cols + j];
    sums[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[j] = sums[0];
}

static kfe_device_status fetch(kfe_device *device, const double *from, int64_t count, double *to)
{
    KFE_CUDA(device, cudaMemcpyAsync(to, from, (size_t)count * 8, cudaMemcpyDeviceToHost, device->stream));
    return kfe_cuda_wait(device);
}

kfe_device_status kfe_cuda_column_dots(kfe_device *device, const kfe_device_matrix *a,
                                       const kfe_device_matrix *b, double *out)
{
    int64_t chunks = (a->rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    double *partial = NULL;

    for (int64_t j = 0; a->rows <= 0 && j < a->cols; j++)
        out[j] = 0;
    if (is_empty(a))
        return KFE_DEVICE_OK;
    if (chunks > 65535)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "dot products of so many rows");
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PARTIAL, (chunks + 1) * a->cols, &partial));
    dim3 blocks(kfe_cuda_blocks(a->cols, WARP), (unsigned)chunks);
    column_sums<<<blocks, dim3(WARP, 8), 0, device->stream>>>(reader_of(a), reader_of(b), a->rows, a->cols,
                                                              partial);
    KFE_LAUNCHED(device, "column_sums");
    double *sums = partial + chunks * a->cols;
    add_chunks<<<(unsigned)a->cols, THREADS, 0, device->stream>>>(partial, chunks, a->cols, sums);
    KFE_LAUNCHED(device, "add_chunks");
    return fetch(device, sums, a->cols, out);
}

/* One block of THREADS, or one warp, for ROW_SLICE columns of a row: partial[slice·rows + i]. */
static __global__ void row_sums(const reader a, const reader b, int64_t cols, double *partial)
{
    __shared__ double sums[THREADS];
    int64_t i = blockIdx.x;
    int64_t first = (int64_t)blockIdx.y * ROW_SLICE;
    int64_t last = first + ROW_SLICE < cols ? first + ROW_SLICE : cols;
    double sum = 0;

    for (int64_t j = first + threadIdx.x; j < last; j += blockDim.x)
        sum += read(a, i, j) * read(b, i, j);
    sums[threadIdx.x] = sum;
    for (int half = (int)blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        partial[blockIdx.y * (int64_t)gridDim.x + i] = sums[0];
}

kfe_device_status kfe_cuda_row_dots(kfe_device *device, const kfe_device_matrix *a,
                                    const kfe_device_matrix *b, double *out)
{
    int64_t slices = (a->cols + ROW_SLICE - 1) / ROW_SLICE;
    double *partial = NULL;

    for (int64_t i = 0; a->cols <= 0 && i < a->rows; i++)
        out[i] = 0;
    if (is_empty(a))
        return KFE_DEVICE_OK;
    if (slices > 65535)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "dot products of rows of so many columns");
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PARTIAL, (slices + 1) * a->rows, &partial));
    int threads = a->cols < LONG_ROW ? WARP : THREADS;
    row_sums<<<dim3((unsigned)a->rows, (unsigned)slices), threads, 0, device->stream>>>(
        reader_of(a), reader_of(b), a->cols, partial);
    KFE_LAUNCHED(device, "row_sums");
    if (slices == 1)
        return fetch(device, partial, a->rows, out);
    double *sums = partial + slices * a->rows;
    add_chunks<<<(unsigned)a->rows, THREADS, 0, device->stream>>>(partial, slices, a->rows, sums);
    KFE_LAUNCHED(device, "add_chunks");
    return fetch(device, sums, a->rows, out);
}
