/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices: cuBLAS, thin.cu for vectors, and a kernel of our own for few long rows times few vectors in double precision.
 * cuBLAS does not have it for rows in single precision, and leaves most processors idle where rows are few. Used by the table and by
 * all files that multiply.
 *
 * Row-major C = op(A)·op(B) is column-major Cᵀ = op(B)ᵀ·op(A)ᵀ, so operands change places.
 */
#include "internal.cuh"

/* Where a product has few long sums. */
enum { LONG_INNER = 65536, FEW_ROWS = 1024, FEW_COLS = 32, FEW_SUMS = 128 };
/* Where a product has many short ones. */
enum { FEW_TERMS = 4, SHORT_COLS = 512, MANY_ROWS = 4096 };

static cublasOperation_t operation(int transpose)
{
    return transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static kfe_device_status blas_gemm(kfe_device *device, const kfe_cuda_gemm_args *g, const double *a,
                                   int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc)
{
    KFE_BLAS(device, cublasDgemm_v2_64, device->blas, operation(g->transpose_b), operation(g->transpose_a),
             g->cols, g->rows, g->inner, &g->alpha, b, ldb, a, lda, &g->beta, c, ldc);
    return KFE_DEVICE_OK;
}

static kfe_device_status blas_gemm(kfe_device *device, const kfe_cuda_gemm_args *g, const float *a,
                                   int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc)
{
    float alpha = (float)g->alpha;
    float beta = (float)g->beta;

    KFE_BLAS(device, cublasSgemm_v2_64, device->blas, operation(g->transpose_b), operation(g->transpose_a),
             g->cols, g->rows, g->inner, &alpha, b, ldb, a, lda, &beta, c, ldc);
    return KFE_DEVICE_OK;
}

static kfe_device_status blas_gemv(kfe_device *device, const kfe_cuda_gemv_args *g, const double *m,
                                   int64_t ld, const double *x, int64_t step_x, double *y, int64_t step_y)
{
    KFE_BLAS(device, cublasDgemv_v2_64, device->blas, operation(!g->transpose), g->cols, g->rows, &g->alpha,
             m, ld, x, step_x, &g->beta, y, step_y);
    return KFE_DEVICE_OK;
}

static kfe_device_status blas_gemv(kfe_device *device, const kfe_cuda_gemv_args *g, const float *m,
                                   int64_t ld, const float *x, int64_t step_x, float *y, int64_t step_y)
{
    float alpha = (float)g->alpha;
    float beta = (float)g->beta;

    KFE_BLAS(device, cublasSgemv_v2_64, device->blas, operation(!g->transpose), g->cols, g->rows, &alpha, m,
             ld, x, step_x, &beta, y, step_y);
    return KFE_DEVICE_OK;
}

template <class T>
static kfe_device_status times_vector(kfe_device *device, const kfe_cuda_gemv_args *g, const T *m, int64_t ld,
                                      const T *x, int64_t step_x, T *y, int64_t step_y)
{
    if (!g->transpose && g->cols <= SHORT_COLS && g->rows >= MANY_ROWS)
        return kfe_cuda_short_rows(device, g, m, ld, x, step_x, y, step_y);
    return blas_gemv(device, g, m, ld, x, step_x, y, step_y);
}

/* A product with one column or one row is a product with a vector, which has faster routines. */
template <class T>
static kfe_device_status product(kfe_device *device, const kfe_cuda_gemm_args *g, const T *a, int64_t lda,
                                 const T *b, int64_t ldb, T *c, int64_t ldc)
{
    if (g->inner <= FEW_TERMS)
        return kfe_cuda_few_terms(device, g, a, lda, b, ldb, c, ldc);
    if (g->cols == 1) {
        kfe_cuda_gemv_args v = {g->transpose_a, g->transpose_a ? g->inner : g->rows,
                                g->transpose_a ? g->rows : g->inner, g->alpha, g->beta};
        return times_vector(device, &v, a, lda, b, g->transpose_b ? 1 : ldb, c, ldc);
    }
    if (g->rows == 1) {
        kfe_cuda_gemv_args v = {!g->transpose_b, g->transpose_b ? g->cols : g->inner,
                                g->transpose_b ? g->inner : g->cols, g->alpha, g->beta};
        return times_vector(device, &v, b, ldb, a, g->transpose_a ? lda : 1, c, 1);
    }
    return blas_gemm(device, g, a, lda, b, ldb, c, ldc);
}

template <class T>
static kfe_device_status mixed_rows(kfe_device *device, const kfe_cuda_gemm_args *g, const T *a, int64_t lda,
                                    const double *b, int64_t ldb, double *c, int64_t ldc);

/* Whether there are so few sums, each so long, that they must be divided over the processors. With one vector and many rows cuBLAS
 * reaches the memory's rate. */
static int has_long_rows(const kfe_cuda_gemm_args *g)
{
    return !g->transpose_a && g->inner >= LONG_INNER && g->rows <= FEW_ROWS && g->cols <= FEW_COLS &&
           (g->cols > 1 || g->rows < FEW_SUMS);
}

template <class T>
static kfe_device_status checked_product(kfe_device *device, const kfe_cuda_gemm_args *g, const T *a,
                                         int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc)
{
    if (g->rows <= 0 || g->cols <= 0)
        return KFE_DEVICE_OK;
    if (g->inner > 0)
        return product(device, g, a, lda, b, ldb, c, ldc);
    kfe_device_matrix m = {(uint64_t)(uintptr_t)c, g->rows, g->cols, ldc,
                           sizeof(T) == 8 ? KFE_DEVICE_F64 : KFE_DEVICE_F32};
    return g->beta == 0 ? kfe_cuda_fill(device, &m, 0) : kfe_cuda_add(device, 0, &m, g->beta, &m);
}

kfe_device_status kfe_cuda_gemm(kfe_device *device, const kfe_cuda_gemm_args *g, const double *a, int64_t lda,
                                const double *b, int64_t ldb, double *c, int64_t ldc)
{
    if (g->rows > 0 && g->cols > 0 && has_long_rows(g))
        return mixed_rows(device, g, a, lda, b, ldb, c, ldc);
    return checked_product(device, g, a, lda, b, ldb, c, ldc);
}

kfe_device_status kfe_cuda_gemm(kfe_device *device, const kfe_cuda_gemm_args *g, const float *a, int64_t lda,
                                const float *b, int64_t ldb, float *c, int64_t ldc)
{
    return checked_product(device, g, a, lda, b, ldb, c, ldc);
}

/* ---- long rows times vectors in double precision ---- */

enum {
    WARPS = 8,
    INNER = 64,        /* rows of b in shared memory at a time */
    PIECE = 16,        /* of which a thread loads four numbers of each of its rows */
    SLICE_LEAST = 2048 /* rows of b that a slice has at least */
};

/* Groups of eight rows that a warp owns: with more columns fewer, since their sums are in registers. */
static constexpr __host__ __device__ int groups_for(int columns)
{
    return columns > 16 ? 2 : 4;
}

/* Rows of a block. */
static constexpr __host__ __device__ int rows_for(int columns)
{
    return WARPS * groups_for(columns) * 8;
}

/* One tensor instruction in double precision: c (8 × 8) += a (8 × 4)·b (4 × 8). */
static __device__ __forceinline__ void multiply(double (&c)[2], double a, double b)
{
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
}

/* T: the type of a. */
template <class T> struct mixed_args {
    const T *a;
    int64_t lda, rows, inner;
    const double *b; /* row and column step */
    int64_t b_row, b_col;
    int cols;
    double *out;   /* slices × rows × cols */
    int64_t slice; /* rows of b per slice, a multiple of INNER */
};

/* Numbers that are loaded together. */
template <class T> struct four {
    T v[4];
};

/* Rows of b from `first` on into shared memory, zeros beyond. Neighbouring threads load neighbouring numbers, whichever way b
 * lies. */
template <class T, int NV>
static __device__ __forceinline__ void stage_b(const mixed_args<T> &p, int64_t first, int64_t end,
                                               double (*shared)[NV * 8 + 2])
{
    for (int e = threadIdx.x; e < INNER * NV * 8; e += WARPS * 32) {
        int k = p.b_row == 1 ? e % INNER : e / (NV * 8);
        int j = p.b_row == 1 ? e / INNER : e % (NV * 8);
        shared[k][j] = first + k < end && j < p.cols ? p.b[(first + k) * p.b_row + j * p.b_col] : 0;
    }
}

static __device__ __forceinline__ void load_aligned(const float *at, four<float> *out)
{
    float4 all = *reinterpret_cast<const float4 *>(at);

    out->v[0] = all.x;
    out->v[1] = all.y;
    out->v[2] = all.z;
    out->v[3] = all.w;
}

static __device__ __forceinline__ void load_aligned(const double *at, four<double> *out)
{
    double2 first = *reinterpret_cast<const double2 *>(at);
    double2 second = *reinterpret_cast<const double2 *>(at + 2);

    out->v[0] = first.x;
    out->v[1] = first.y;
    out->v[2] = second.x;
    out->v[3] = second.y;
}

/* Four numbers of a row; VECTOR: rows are aligned to 16 bytes. */
template <class T, bool VECTOR>
static __device__ __forceinline__ four<T> load_four(const mixed_args<T> &p, int64_t row, int64_t k,
                                                    int64_t end)
{
    const T *at = p.a + row * p.lda + k;
    four<T> out = {};

    if (row >= p.rows)
        return out;
    if (VECTOR && k + 4 <= end) {
        load_aligned(at, &out);
        return out;
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        out.v[e] = k + e < end ? at[e] : 0;
    return out;
}

/* Block (x, y): rows_for(8·NV) rows of a times the y-th slice of b, for 8·NV columns. Lane (g, t) loads numbers 4t … 4t + 3 of row g; the
 * s-th of them is its entry in the s-th instruction, so rows 4t + s of b go with it. */
template <class T, int NV, bool VECTOR>
static __global__ void mixed_product(const __grid_constant__ mixed_args<T> p)
{
    constexpr int GROUPS = groups_for(NV * 8);
    __shared__ double shared[INNER][NV * 8 + 2];
    int lane = threadIdx.x % 32;
    int64_t row = (int64_t)blockIdx.x * rows_for(NV * 8) + threadIdx.x / 32 * (GROUPS * 8) + lane / 4;
    int64_t begin = p.slice * blockIdx.y;
    int64_t end = begin + p.slice < p.inner ? begin + p.slice : p.inner;
    double sums[GROUPS][NV][2] = {};

    for (int64_t first = begin; first < end; first += INNER) {
        __syncthreads();
        stage_b<T, NV>(p, first, end, shared);
        __syncthreads();
#pragma unroll
        for (int piece = 0; piece < INNER; piece += PIECE) {
            four<T> a[GROUPS];
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                a[g] = load_four<T, VECTOR>(p, row + 8 * g, first + piece + lane % 4 * 4, end);
#pragma unroll
            for (int s = 0; s < 4; s++)
#pragma unroll
                for (int v = 0; v < NV; v++) {
                    double b = shared[piece + lane % 4 * 4 + s][v * 8 + lane / 4];
#pragma unroll
                    for (int g = 0; g < GROUPS; g++)
                        multiply(sums[g][v], (double)a[g].v[s], b);
                }
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
        for (int v = 0; v < NV; v++)
#pragma unroll
            for (int r = 0; r < 2; r++) {
                int j = v * 8 + lane % 4 * 2 + r;
                if (row + 8 * g < p.rows && j < p.cols)
                    p.out[((int64_t)blockIdx.y * p.rows + row + 8 * g) * p.cols + j] = sums[g][v][r];
            }
}

template <class T, int NV>
static void launch_mixed(const kfe_device *device, const mixed_args<T> *p, int64_t slices)
{
    dim3 grid(kfe_cuda_blocks(p->rows, rows_for(NV * 8)), (unsigned)slices);

    if (p->lda * (int64_t)sizeof(T) % 16 == 0 && (uintptr_t)p->a % 16 == 0)
        mixed_product<T, NV, true><<<grid, WARPS * 32, 0, device->stream>>>(*p);
    else
        mixed_product<T, NV, false><<<grid, WARPS * 32, 0, device->stream>>>(*p);
}

/* Slices such that all processors have several blocks. */
template <class T> static int64_t choose_slices(const kfe_device *device, mixed_args<T> *p)
{
    int64_t blocks = (p->rows + rows_for(p->cols) - 1) / rows_for(p->cols);
    int64_t wanted = ((int64_t)device->processors * 8 + blocks - 1) / blocks;
    int64_t most = (p->inner + SLICE_LEAST - 1) / SLICE_LEAST;
    int64_t slices = wanted > most ? most : wanted;

    slices = slices < 1 ? 1 : slices;
    p->slice = ((p->inner + slices - 1) / slices + INNER - 1) / INNER * INNER;
    return (p->inner + p->slice - 1) / p->slice;
}

/* c = alpha·a·op(b) + beta·c, at most FEW_COLS columns at a time. */
template <class T>
static kfe_device_status mixed_rows(kfe_device *device, const kfe_cuda_gemm_args *g, const T *a, int64_t lda,
                                    const double *b, int64_t ldb, double *c, int64_t ldc)
{
    int64_t b_row = g->transpose_b ? 1 : ldb;
    int64_t b_col = g->transpose_b ? ldb : 1;
    kfe_cuda_gemm_args part = *g;

    if (g->cols == 1)
        return kfe_cuda_long_rows(device, g, a, lda, b, b_row, c, ldc);
    for (int64_t first = 0; first < g->cols; first += FEW_COLS) {
        part.cols = kfe_cuda_least(FEW_COLS, g->cols - first);
        mixed_args<T> p = {a,     lda,   g->rows,        g->inner, b + first * b_col,
                           b_row, b_col, (int)part.cols, NULL,     0};
        int64_t slices = choose_slices(device, &p);
        KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PARTIAL, slices * g->rows * part.cols, &p.out));
        if (part.cols <= 8)
            launch_mixed<T, 1>(device, &p, slices);
        else if (part.cols <= 16)
            launch_mixed<T, 2>(device, &p, slices);
        else
            launch_mixed<T, 4>(device, &p, slices);
        KFE_LAUNCHED(device, "mixed_product");
        KFE_CUDA_OK(kfe_cuda_combine(device, &part, p.out, slices, c + first, ldc));
    }
    return KFE_DEVICE_OK;
}

/* c = alpha·aᵀ·op(b) + beta·c: rows of a are converted in pieces, for cuBLAS. */
static kfe_device_status mixed_columns(kfe_device *device, const kfe_cuda_gemm_args *g,
                                       const kfe_device_matrix *a, const double *b, int64_t ldb, double *c,
                                       int64_t ldc)
{
    int64_t rows = ((int64_t)4 << 20) / (a->cols > 0 ? a->cols : 1);
    double *wide = NULL;
    kfe_cuda_gemm_args part = *g;

    rows = rows < 64 ? 64 : rows;
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_STAGE, kfe_cuda_least(rows, a->rows) * a->cols, &wide));
    for (int64_t first = 0; first < g->inner; first += rows) {
        part.inner = kfe_cuda_least(rows, g->inner - first);
        kfe_device_matrix from = kfe_device_part(*a, first, part.inner, 0, a->cols);
        kfe_device_matrix to = kfe_cuda_matrix(wide, part.inner, a->cols, KFE_DEVICE_F64);
        KFE_CUDA_OK(kfe_cuda_convert(device, &from, &to));
        KFE_CUDA_OK(
            kfe_cuda_gemm(device, &part, wide, a->cols, b + first * (g->transpose_b ? 1 : ldb), ldb, c, ldc));
        part.beta = 1;
    }
    return KFE_DEVICE_OK;
}

/* ---- the table ---- */

kfe_device_status kfe_cuda_gemm_any(kfe_device *device, int transpose_a, int transpose_b, double alpha,
                                    const kfe_device_matrix *a, const kfe_device_matrix *b, double beta,
                                    const kfe_device_matrix *c)
{
    kfe_cuda_gemm_args g = {transpose_a, transpose_b, c->rows, c->cols, transpose_a ? a->rows : a->cols,
                            alpha,       beta};

    if (g.rows <= 0 || g.cols <= 0)
        return KFE_DEVICE_OK;
    if (a->type == KFE_DEVICE_F64 && b->type == KFE_DEVICE_F64 && c->type == KFE_DEVICE_F64)
        return kfe_cuda_gemm(device, &g, kfe_cuda_at<double>(a), a->stride, kfe_cuda_at<double>(b), b->stride,
                             kfe_cuda_at<double>(c), c->stride);
    if (a->type == KFE_DEVICE_F32 && b->type == KFE_DEVICE_F32 && c->type == KFE_DEVICE_F32)
        return kfe_cuda_gemm(device, &g, kfe_cuda_at<float>(a), a->stride, kfe_cuda_at<float>(b), b->stride,
                             kfe_cuda_at<float>(c), c->stride);
    if (a->type != KFE_DEVICE_F32 || b->type != KFE_DEVICE_F64 || c->type != KFE_DEVICE_F64 || g.inner <= 0)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "a product of these types");
    if (transpose_a)
        return mixed_columns(device, &g, a, kfe_cuda_at<double>(b), b->stride, kfe_cuda_at<double>(c),
                             c->stride);
    return mixed_rows(device, &g, kfe_cuda_at<float>(a), a->stride, kfe_cuda_at<double>(b), b->stride,
                      kfe_cuda_at<double>(c), c->stride);
}
