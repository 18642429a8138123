/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cholesky factors, triangular systems and eigenvectors, by cuSOLVER and cuBLAS; the rest of the table's dense algebra.
 *
 * The row-major lower triangle is the column-major upper one: A = LLᵀ = UᵀU with U = Lᵀ. cuSOLVER is faster on the other one
 * (by 7 % at n = 100,000), so potrf turns the matrix over before and after, which takes as long as copying it. Right-hand sides are row-major n × k,
 * column-major k × n. Systems are solved in panels: a small triangle, then a product that updates all rows that are left, which
 * runs at the speed of memory for few right-hand sides.
 */
#include <stdlib.h>

#include "internal.cuh"

enum { PANEL = 1024 };

static cudaDataType data_type(kfe_device_type type)
{
    return type == KFE_DEVICE_F64 ? CUDA_R_64F : CUDA_R_32F;
}

/* Opens cuSOLVER at its first use. */
static kfe_device_status need_solver(kfe_device *device)
{
    if (device->solver_params)
        return KFE_DEVICE_OK;
    const char *missing = kfe_cuda_load_cusolver();
    if (missing)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "%s", missing);
    if (!device->solver)
        KFE_SOLVER(device, cusolverDnCreate, &device->solver);
    KFE_SOLVER(device, cusolverDnSetStream, device->solver, device->stream);
    KFE_SOLVER(device, cusolverDnCreateParams, &device->solver_params);
    return KFE_DEVICE_OK;
}

/* What a routine of cuSOLVER needs beside the matrix. */
typedef struct solver_work {
    size_t device_bytes, host_bytes;
} solver_work;

static kfe_device_status potrf_work(kfe_device *device, int64_t n, int64_t stride, kfe_device_type type,
                                    solver_work *out)
{
    cudaDataType t = data_type(type);

    KFE_CUDA_OK(need_solver(device));
    KFE_SOLVER(device, cusolverDnXpotrf_bufferSize, device->solver, device->solver_params,
               CUBLAS_FILL_MODE_LOWER, n, t, NULL, stride, t, &out->device_bytes, &out->host_bytes);
    return KFE_DEVICE_OK;
}

static kfe_device_status syevd_work(kfe_device *device, int64_t n, int64_t stride, kfe_device_type type,
                                    solver_work *out)
{
    cudaDataType t = data_type(type);

    KFE_CUDA_OK(need_solver(device));
    KFE_SOLVER(device, cusolverDnXsyevd_bufferSize, device->solver, device->solver_params,
               CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n, t, NULL, stride, t, NULL, t,
               &out->device_bytes, &out->host_bytes);
    return KFE_DEVICE_OK;
}

/* Bytes beside the routine's own: its status and the eigenvalues. */
static size_t beside(int64_t n)
{
    return 256 + (size_t)n * 8;
}

uint64_t kfe_cuda_potrf_bytes(kfe_device *device, int64_t n, kfe_device_type type)
{
    solver_work work = {0, 0};

    return potrf_work(device, n, n, type, &work) == KFE_DEVICE_OK ? work.device_bytes + beside(n) : 0;
}

uint64_t kfe_cuda_syevd_bytes(kfe_device *device, int64_t n, kfe_device_type type)
{
    solver_work work = {0, 0};

    return syevd_work(device, n, n, type, &work) == KFE_DEVICE_OK ? work.device_bytes + beside(n) : 0;
}

/* Device and host memory for a call; `info` is its status, `values` are n numbers. */
typedef struct solver_memory {
    void *device, *host;
    int *info;
    void *values;
} solver_memory;

static kfe_device_status get_memory(kfe_device *device, int64_t n, const solver_work *work,
                                    solver_memory *out)
{
    char *memory = NULL;
    size_t size = (work->device_bytes + 255) / 256 * 256;

    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_SOLVER, (int64_t)(size + beside(n)), &memory));
    out->device = memory;
    out->info = (int *)(memory + size);
    out->values = memory + size + 256;
    out->host = malloc(work->host_bytes ? work->host_bytes : 1);
    if (!out->host)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    return KFE_DEVICE_OK;
}

/* cuSOLVER's own status, after the work is done. */
static kfe_device_status read_info(kfe_device *device, const int *info, int *out)
{
    KFE_CUDA(device, cudaMemcpyAsync(out, info, sizeof *out, cudaMemcpyDeviceToHost, device->stream));
    return kfe_cuda_wait(device);
}

static kfe_device_status factor_with(kfe_device *device, const kfe_device_matrix *a, const solver_work *work,
                                     const solver_memory *memory, int *info)
{
    cudaDataType t = data_type(a->type);

    KFE_CUDA_OK(kfe_cuda_mirror(device, a, 0));
    KFE_SOLVER(device, cusolverDnXpotrf, device->solver, device->solver_params, CUBLAS_FILL_MODE_LOWER,
               a->rows, t, kfe_cuda_at<void>(a), a->stride, t, memory->device, work->device_bytes,
               memory->host, work->host_bytes, memory->info);
    KFE_CUDA_OK(kfe_cuda_mirror(device, a, 1));
    return read_info(device, memory->info, info);
}

kfe_device_status kfe_cuda_potrf(kfe_device *device, const kfe_device_matrix *a, int *definite)
{
    solver_work work = {0, 0};
    solver_memory memory = {};
    int info = 0;

    *definite = 1;
    if (a->rows <= 0)
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(potrf_work(device, a->rows, a->stride, a->type, &work));
    kfe_device_status status = get_memory(device, a->rows, &work, &memory);
    if (status == KFE_DEVICE_OK)
        status = factor_with(device, a, &work, &memory, &info);
    free(memory.host);
    KFE_CUDA_OK(status);
    if (info < 0)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "cusolverDnXpotrf: argument %d", -info);
    *definite = info == 0;
    return KFE_DEVICE_OK;
}

/* ---- triangular systems ---- */

static kfe_device_status blas_trsm(kfe_device *device, cublasOperation_t op, int64_t k, int64_t n,
                                   const double *u, int64_t ldu, double *b, int64_t ldb)
{
    double one = 1;

    KFE_BLAS(device, cublasDtrsm_v2_64, device->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, op,
             CUBLAS_DIAG_NON_UNIT, k, n, &one, u, ldu, b, ldb);
    return KFE_DEVICE_OK;
}

static kfe_device_status blas_trsm(kfe_device *device, cublasOperation_t op, int64_t k, int64_t n,
                                   const float *u, int64_t ldu, float *b, int64_t ldb)
{
    float one = 1;

    KFE_BLAS(device, cublasStrsm_v2_64, device->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, op,
             CUBLAS_DIAG_NON_UNIT, k, n, &one, u, ldu, b, ldb);
    return KFE_DEVICE_OK;
}

/* b ← L⁻¹b: bᵀ ← bᵀU⁻¹ in column-major terms. */
template <class T>
static kfe_device_status solve_forward(kfe_device *device, int64_t n, int64_t k, const T *l, int64_t ldl,
                                       T *b, int64_t ldb)
{
    for (int64_t first = 0; first < n; first += PANEL) {
        int64_t width = kfe_cuda_least(PANEL, n - first);
        int64_t left = n - first - width;
        kfe_cuda_gemm_args g = {0, 0, left, k, width, -1, 1};
        KFE_CUDA_OK(
            blas_trsm(device, CUBLAS_OP_N, k, width, l + first * (ldl + 1), ldl, b + first * ldb, ldb));
        KFE_CUDA_OK(kfe_cuda_gemm(device, &g, l + (first + width) * ldl + first, ldl, b + first * ldb, ldb,
                                  b + (first + width) * ldb, ldb));
    }
    return KFE_DEVICE_OK;
}

/* b ← L⁻ᵀb */
template <class T>
static kfe_device_status solve_backward(kfe_device *device, int64_t n, int64_t k, const T *l, int64_t ldl,
                                        T *b, int64_t ldb)
{
    for (int64_t first = (n - 1) / PANEL * PANEL; first >= 0; first -= PANEL) {
        int64_t width = kfe_cuda_least(PANEL, n - first);
        kfe_cuda_gemm_args g = {1, 0, first, k, width, -1, 1};
        KFE_CUDA_OK(
            blas_trsm(device, CUBLAS_OP_T, k, width, l + first * (ldl + 1), ldl, b + first * ldb, ldb));
        KFE_CUDA_OK(kfe_cuda_gemm(device, &g, l + first * ldl, ldl, b + first * ldb, ldb, b, ldb));
    }
    return KFE_DEVICE_OK;
}

template <class T>
static kfe_device_status solve(kfe_device *device, int forward, int backward, const kfe_device_matrix *l,
                               T *b, int64_t k, int64_t ldb)
{
    const T *factor = kfe_cuda_at<T>(l);

    if (forward)
        KFE_CUDA_OK(solve_forward(device, l->rows, k, factor, l->stride, b, ldb));
    if (backward)
        KFE_CUDA_OK(solve_backward(device, l->rows, k, factor, l->stride, b, ldb));
    return KFE_DEVICE_OK;
}

/* The factor is in single precision, b in double: b is rounded on the way. */
static kfe_device_status solve_rounded(kfe_device *device, int forward, int backward,
                                       const kfe_device_matrix *l, const kfe_device_matrix *b)
{
    float *narrow = NULL;

    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_VECTORS, b->rows * b->cols, &narrow));
    kfe_device_matrix copy = kfe_cuda_matrix(narrow, b->rows, b->cols, KFE_DEVICE_F32);
    KFE_CUDA_OK(kfe_cuda_convert(device, b, &copy));
    KFE_CUDA_OK(solve(device, forward, backward, l, narrow, b->cols, b->cols));
    return kfe_cuda_convert(device, &copy, b);
}

static kfe_device_status solve_any(kfe_device *device, int forward, int backward, const kfe_device_matrix *l,
                                   const kfe_device_matrix *b)
{
    if (b->rows <= 0 || b->cols <= 0)
        return KFE_DEVICE_OK;
    if (l->type == KFE_DEVICE_F64 && b->type == KFE_DEVICE_F64)
        return solve(device, forward, backward, l, kfe_cuda_at<double>(b), b->cols, b->stride);
    if (l->type == KFE_DEVICE_F32 && b->type == KFE_DEVICE_F32)
        return solve(device, forward, backward, l, kfe_cuda_at<float>(b), b->cols, b->stride);
    if (l->type == KFE_DEVICE_F32)
        return solve_rounded(device, forward, backward, l, b);
    return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED,
                         "a factor in double precision for numbers in single precision");
}

kfe_device_status kfe_cuda_potrs(kfe_device *device, const kfe_device_matrix *l, const kfe_device_matrix *b)
{
    return solve_any(device, 1, 1, l, b);
}

kfe_device_status kfe_cuda_trsm(kfe_device *device, int transpose, const kfe_device_matrix *l,
                                const kfe_device_matrix *b)
{
    return solve_any(device, !transpose, transpose, l, b);
}

/* ---- eigenvectors ---- */

static kfe_device_status eigen_with(kfe_device *device, const kfe_device_matrix *a, const solver_work *work,
                                    const solver_memory *memory, int *info)
{
    cudaDataType t = data_type(a->type);

    KFE_SOLVER(device, cusolverDnXsyevd, device->solver, device->solver_params, CUSOLVER_EIG_MODE_VECTOR,
               CUBLAS_FILL_MODE_UPPER, a->rows, t, kfe_cuda_at<void>(a), a->stride, t, memory->values, t,
               memory->device, work->device_bytes, memory->host, work->host_bytes, memory->info);
    return read_info(device, memory->info, info);
}

/* Column-major eigenvectors are columns, so that row i of the row-major matrix is the i-th. */
kfe_device_status kfe_cuda_syevd(kfe_device *device, const kfe_device_matrix *a, double *values)
{
    solver_work work = {0, 0};
    solver_memory memory = {};
    int info = 0;

    if (a->rows <= 0)
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(syevd_work(device, a->rows, a->stride, a->type, &work));
    kfe_device_status status = get_memory(device, a->rows, &work, &memory);
    if (status == KFE_DEVICE_OK)
        status = eigen_with(device, a, &work, &memory, &info);
    free(memory.host);
    KFE_CUDA_OK(status);
    if (info != 0)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "cusolverDnXsyevd: info %d", info);
    kfe_device_matrix from = kfe_cuda_matrix(memory.values, 1, a->rows, a->type);
    return kfe_cuda_download(device, &from, values, a->rows);
}
