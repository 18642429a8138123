/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a function to the CUDA plug-in with what this header offers: the open device, how a failing call becomes a status with its
 * name, memory of the device, and the libraries that are loaded at run time. Used by the files of this folder only.
 *
 * Nothing here throws or uses the C++ library: the plug-in links the static CUDA runtime and the C library.
 */
#ifndef KFE_CUDA_INTERNAL_CUH
#define KFE_CUDA_INTERNAL_CUH

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include "plugin/device.h"

/* ---- libraries ---- */

/* What the plug-in calls in cuBLAS and cuSOLVER; the addresses are found at run time. */
#define KFE_CUBLAS_LIST(X)                                                                                   \
    X(cublasCreate_v2)                                                                                       \
    X(cublasDestroy_v2)                                                                                      \
    X(cublasSetStream_v2)                                                                                    \
    X(cublasSetWorkspace_v2)                                                                                 \
    X(cublasSgemm_v2_64)                                                                                     \
    X(cublasDgemm_v2_64)                                                                                     \
    X(cublasSgemv_v2_64)                                                                                     \
    X(cublasDgemv_v2_64)                                                                                     \
    X(cublasStrsm_v2_64)                                                                                     \
    X(cublasDtrsm_v2_64)                                                                                     \
    X(cublasGetStatusString)
#define KFE_CUSOLVER_LIST(X)                                                                                 \
    X(cusolverDnCreate)                                                                                      \
    X(cusolverDnDestroy)                                                                                     \
    X(cusolverDnSetStream)                                                                                   \
    X(cusolverDnCreateParams)                                                                                \
    X(cusolverDnDestroyParams)                                                                               \
    X(cusolverDnXpotrf_bufferSize)                                                                           \
    X(cusolverDnXpotrf)                                                                                      \
    X(cusolverDnXpotrs)                                                                                      \
    X(cusolverDnXsyevd_bufferSize)                                                                           \
    X(cusolverDnXsyevd)

/* kfe_cuda_lib.cublasDgemm_v2_64(…) and so on. */
typedef struct kfe_cuda_library {
#define KFE_POINTER(function) decltype(&::function) function;
    KFE_CUBLAS_LIST(KFE_POINTER)
    KFE_CUSOLVER_LIST(KFE_POINTER)
#undef KFE_POINTER
} kfe_cuda_library;
extern kfe_cuda_library kfe_cuda_lib;

/* Loads the libraries at the first call; NULL or the text of what is missing. */
const char *kfe_cuda_load_cublas(void);
const char *kfe_cuda_load_cusolver(void);

/* ---- the device ---- */

/* Memory that a kind of call keeps for the next one. */
enum {
    KFE_SLOT_TILE,    /* kernel values that are multiplied at once */
    KFE_SLOT_BASE,    /* base values of a tile that is added to another */
    KFE_SLOT_PRODUCT, /* their product */
    KFE_SLOT_VECTORS, /* vectors in single precision, or split into halves */
    KFE_SLOT_STAGE,   /* numbers from the host before they are converted */
    KFE_SLOT_INDEX,   /* indices and short vectors from the host */
    KFE_SLOT_PARTIAL, /* partial sums */
    KFE_SLOT_PANEL,   /* sparse columns made dense */
    KFE_SLOT_SOLVER,  /* what cuSOLVER asks for */
    KFE_SLOT_LIBRARY, /* what cuBLAS works in */
    KFE_SLOT_STREAM,  /* rows that pass through */
    KFE_SLOTS
};

typedef struct kfe_cuda_slot {
    void *memory;
    size_t bytes;
} kfe_cuda_slot;

typedef struct kfe_cuda_memory {
    void *address;
    size_t bytes;
    struct kfe_cuda_memory *next;
} kfe_cuda_memory;

struct kfe_device {
    int index, processors;
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cusolverDnParams_t solver_params;
    kfe_cuda_slot slots[KFE_SLOTS];
    kfe_cuda_memory *memory; /* in use */
    kfe_cuda_memory *idle;   /* given back, kept for the next call that asks for as many bytes */
    size_t idle_bytes;
    char name[128];
    long fail_at, allocations; /* tests: the allocation that fails, 0: none */
    uint64_t limit;            /* tests: bytes that the device pretends to have, 0: all */
    uint64_t used;             /* bytes that were allocated */
    kfe_cuda_slot pinned;      /* host memory that the device copies from and to (stream.cu) */
    kfe_device_points *points;
    kfe_device_watch watch;
    void *watch_user;
    char text[512];
};

/* Rows split for tensor cores (rbf_times.cu). */
typedef struct kfe_cuda_split {
    double gamma;       /* it was made for; < 0: not made */
    float most;         /* the largest exponent */
    __half *high, *low; /* padded rows × depth */
    float *exponents;   /* per padded row: γ·log2(e)·‖x‖² */
    float *largest;     /* per tile of columns: the largest of them */
    int64_t rows;       /* padded */
    int depth;          /* columns, padded to a multiple of 16 */
} kfe_cuda_split;

struct kfe_device_points {
    kfe_device *device;
    kfe_device_points *next;
    int64_t rows, cols;
    int32_t base;
    kfe_device_type precision;
    double *given;   /* rows × cols; NULL: compressed rows */
    double *centred; /* the same array if there is no centre */
    double *norms;   /* NULL for sums over coordinates */
    float *narrow;   /* centred, in single precision; NULL: double precision only */
    float *narrow_norms;
    int64_t *row_start; /* compressed rows */
    int32_t *columns;
    double *values;
    kfe_cuda_split split;
};

/* Records the text and returns the status. */
kfe_device_status kfe_cuda_fail(kfe_device *device, kfe_device_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kfe_device_status kfe_cuda_check(kfe_device *device, cudaError_t error, const char *call);
kfe_device_status kfe_cuda_check_blas(kfe_device *device, cublasStatus_t status, const char *call);
kfe_device_status kfe_cuda_check_solver(kfe_device *device, cusolverStatus_t status, const char *call);

#define KFE_CUDA_OK(call)                                                                                    \
    do {                                                                                                     \
        kfe_device_status kfe_status_ = (call);                                                              \
        if (kfe_status_ != KFE_DEVICE_OK)                                                                    \
            return kfe_status_;                                                                              \
    } while (0)
/* These return from the function with the name of the call. */
#define KFE_CUDA(device, call) KFE_CUDA_OK(kfe_cuda_check(device, call, #call))
#define KFE_BLAS(device, function, ...)                                                                      \
    KFE_CUDA_OK(kfe_cuda_check_blas(device, kfe_cuda_lib.function(__VA_ARGS__), #function))
#define KFE_SOLVER(device, function, ...)                                                                    \
    KFE_CUDA_OK(kfe_cuda_check_solver(device, kfe_cuda_lib.function(__VA_ARGS__), #function))
/* After a launch. */
#define KFE_LAUNCHED(device, kernel) KFE_CUDA_OK(kfe_cuda_check(device, cudaGetLastError(), kernel))

/* Asks the watch function; KFE_DEVICE_STOPPED if the caller shall stop. */
kfe_device_status kfe_cuda_ask(kfe_device *device, int64_t done, int64_t total);

/* Device memory that lasts until it is given back, or until the device is closed. Memory that was given back may be handed out again
 * while work on the device's stream still uses it, so that only that stream may touch it. */
kfe_device_status kfe_cuda_get(kfe_device *device, size_t bytes, void **out);
void kfe_cuda_put(kfe_device *device, void *memory);
/* At least `bytes` of a slot, until the next call with that slot. */
kfe_device_status kfe_cuda_slot_get(kfe_device *device, int slot, size_t bytes, void **out);
/* Gives back what calls keep for the next one. */
void kfe_cuda_spare_free(kfe_device *device);

template <class T> kfe_device_status kfe_cuda_array(kfe_device *device, int64_t count, T **out)
{
    void *memory = NULL;
    kfe_device_status status = kfe_cuda_get(device, (size_t)count * sizeof(T), &memory);

    *out = (T *)memory;
    return status;
}

template <class T> kfe_device_status kfe_cuda_scratch(kfe_device *device, int slot, int64_t count, T **out)
{
    void *memory = NULL;
    kfe_device_status status = kfe_cuda_slot_get(device, slot, (size_t)count * sizeof(T), &memory);

    *out = (T *)memory;
    return status;
}

/* ---- across files ---- */

static inline int64_t kfe_cuda_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline unsigned kfe_cuda_blocks(int64_t count, int64_t per_block)
{
    return (unsigned)((count + per_block - 1) / per_block);
}

template <class T> static inline T *kfe_cuda_at(const kfe_device_matrix *m)
{
    return (T *)(uintptr_t)m->address;
}

static inline kfe_device_matrix kfe_cuda_matrix(const void *memory, int64_t rows, int64_t cols,
                                                kfe_device_type type)
{
    return kfe_device_matrix{(uint64_t)(uintptr_t)memory, rows, cols, cols, type};
}

/* c = alpha·op(a)·op(b) + beta·c, row-major, all of one type. */
typedef struct kfe_cuda_gemm_args {
    int transpose_a, transpose_b;
    int64_t rows, cols, inner;
    double alpha, beta;
} kfe_cuda_gemm_args;
kfe_device_status kfe_cuda_gemm(kfe_device *device, const kfe_cuda_gemm_args *args, const double *a,
                                int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc);
kfe_device_status kfe_cuda_gemm(kfe_device *device, const kfe_cuda_gemm_args *args, const float *a,
                                int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc);

/* y = alpha·op(M)·x + beta·y for row-major M (rows × cols as stored). */
typedef struct kfe_cuda_gemv_args {
    int transpose;
    int64_t rows, cols;
    double alpha, beta;
} kfe_cuda_gemv_args;

/* Shapes that cuBLAS is slow at (thin.cu). Products whose sums have few terms. */
kfe_device_status kfe_cuda_few_terms(kfe_device *device, const kfe_cuda_gemm_args *args, const double *a,
                                     int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc);
kfe_device_status kfe_cuda_few_terms(kfe_device *device, const kfe_cuda_gemm_args *args, const float *a,
                                     int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc);
/* Many short rows, not transposed, times a vector. */
kfe_device_status kfe_cuda_short_rows(kfe_device *device, const kfe_cuda_gemv_args *args, const double *m,
                                      int64_t ld, const double *x, int64_t step_x, double *y, int64_t step_y);
kfe_device_status kfe_cuda_short_rows(kfe_device *device, const kfe_cuda_gemv_args *args, const float *m,
                                      int64_t ld, const float *x, int64_t step_x, float *y, int64_t step_y);
/* Rows of either type, not transposed, times one vector, with sums in double precision; best if they are long and few. */
kfe_device_status kfe_cuda_long_rows(kfe_device *device, const kfe_cuda_gemm_args *args, const double *a,
                                     int64_t lda, const double *x, int64_t step, double *y, int64_t step_y);
kfe_device_status kfe_cuda_long_rows(kfe_device *device, const kfe_cuda_gemm_args *args, const float *a,
                                     int64_t lda, const double *x, int64_t step, double *y, int64_t step_y);
/* c = alpha·Σ slices + beta·c, for `count` slices of rows × cols numbers. */
kfe_device_status kfe_cuda_combine(kfe_device *device, const kfe_cuda_gemm_args *args, const double *slices,
                                   int64_t count, double *c, int64_t ldc);

/* Converts between types; strides in numbers. */
kfe_device_status kfe_cuda_convert(kfe_device *device, const kfe_device_matrix *from,
                                   const kfe_device_matrix *to);

/* Brings indices to the device, where the next call that needs indices overwrites them (copy.cu). */
kfe_device_status kfe_cuda_upload_index(kfe_device *device, const int64_t *index, int64_t count,
                                        int64_t **out);
/* to[i, j] = from[rows[i], j]; the indices are on the device. */
kfe_device_status kfe_cuda_gather_rows(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                                       const kfe_device_matrix *to);

/* Entries of one block (block.cu): weight·κ into out, or added to it. */
kfe_device_status kfe_cuda_tile(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                kfe_device_range cols, const kfe_device_matrix *out, int add);
/* Copies the part of a square matrix below the diagonal above it, or, with `upper`, the reverse (block.cu). */
kfe_device_status kfe_cuda_mirror(kfe_device *device, const kfe_device_matrix *m, int upper);
/* Fills points from rows that are on the device already (points.cu). */
kfe_device_status kfe_cuda_points_prepare(kfe_device *device, kfe_device_points *points,
                                          const double *centre);

/* The product with a Gaussian kernel by tensor cores (rbf_times.cu). Does not do what kfe_cuda_rbf_applies refuses. */
int kfe_cuda_rbf_applies(const kfe_device_kernel *kernel, kfe_device_range rows, kfe_device_range cols);
kfe_device_status kfe_cuda_rbf_times(kfe_device *device, const kfe_device_kernel *kernel,
                                     kfe_device_range rows, kfe_device_range cols,
                                     const kfe_device_product *product);
void kfe_cuda_split_free(kfe_device *device, kfe_cuda_split *split);

/* ---- the table ---- */

kfe_device_status kfe_cuda_count(int *devices, kfe_device_error *error);
kfe_device_status kfe_cuda_open(int index, kfe_device **out, kfe_device_error *error);
void kfe_cuda_close(kfe_device *device);
kfe_device_status kfe_cuda_info(kfe_device *device, kfe_device_info *out);
const char *kfe_cuda_message(const kfe_device *device);
void kfe_cuda_set_watch(kfe_device *device, kfe_device_watch watch, void *user);

kfe_device_status kfe_cuda_allocate(kfe_device *device, uint64_t bytes, uint64_t *address);
void kfe_cuda_release(kfe_device *device, uint64_t address);
kfe_device_status kfe_cuda_upload(kfe_device *device, const double *from, int64_t stride,
                                  const kfe_device_matrix *to);
kfe_device_status kfe_cuda_download(kfe_device *device, const kfe_device_matrix *from, double *to,
                                    int64_t stride);
kfe_device_status kfe_cuda_copy(kfe_device *device, const kfe_device_matrix *from,
                                const kfe_device_matrix *to);
kfe_device_status kfe_cuda_fill(kfe_device *device, const kfe_device_matrix *to, double value);
kfe_device_status kfe_cuda_gather(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                                  const int64_t *cols, const kfe_device_matrix *to);
kfe_device_status kfe_cuda_wait(kfe_device *device);

kfe_device_status kfe_cuda_points_new(kfe_device *device, const kfe_device_rows *rows, int32_t base,
                                      kfe_device_type precision, kfe_device_points **out);
kfe_device_status kfe_cuda_points_gather(kfe_device *device, const kfe_device_points *points,
                                         const int64_t *index, int64_t count, kfe_device_points **out);
void kfe_cuda_points_free(kfe_device *device, kfe_device_points *points);

kfe_device_status kfe_cuda_block(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                 kfe_device_range cols, const kfe_device_matrix *out, int how);
kfe_device_status kfe_cuda_map(kfe_device *device, const kfe_device_kernel *kernel,
                               const kfe_device_matrix *base, kfe_device_range rows, kfe_device_range cols,
                               const kfe_device_matrix *out);
kfe_device_status kfe_cuda_times(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                 kfe_device_range cols, const kfe_device_product *product);
kfe_device_status kfe_cuda_group_sums(kfe_device *device, const kfe_device_kernel *kernel,
                                      const kfe_device_points *points, const int32_t *group, int64_t groups,
                                      kfe_device_type precision, double *out);
kfe_device_status kfe_cuda_stream(kfe_device *device, const kfe_device_kernel *kernel,
                                  const kfe_device_rows *rows, const kfe_device_points *support,
                                  const kfe_device_matrix *v, kfe_device_type precision,
                                  const kfe_device_output *out);

kfe_device_status kfe_cuda_linear_svms(kfe_device *device, const kfe_device_svms *svms, double *w,
                                       kfe_device_svm *out);
kfe_device_status kfe_cuda_nearest(kfe_device *device, kfe_device_range rows, kfe_device_range cols, int64_t k,
                                   int64_t *numbers, double *distances);

kfe_device_status kfe_cuda_gemm_any(kfe_device *device, int transpose_a, int transpose_b, double alpha,
                                    const kfe_device_matrix *a, const kfe_device_matrix *b, double beta,
                                    const kfe_device_matrix *c);
kfe_device_status kfe_cuda_add(kfe_device *device, double alpha, const kfe_device_matrix *from, double beta,
                               const kfe_device_matrix *to);
kfe_device_status kfe_cuda_shift(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                                 const double *by_column);
kfe_device_status kfe_cuda_scale(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                                 const double *by_column);
kfe_device_status kfe_cuda_column_dots(kfe_device *device, const kfe_device_matrix *a,
                                       const kfe_device_matrix *b, double *out);
kfe_device_status kfe_cuda_row_dots(kfe_device *device, const kfe_device_matrix *a,
                                    const kfe_device_matrix *b, double *out);
uint64_t kfe_cuda_potrf_bytes(kfe_device *device, int64_t n, kfe_device_type type);
uint64_t kfe_cuda_syevd_bytes(kfe_device *device, int64_t n, kfe_device_type type);
kfe_device_status kfe_cuda_potrf(kfe_device *device, const kfe_device_matrix *a, int *definite);
kfe_device_status kfe_cuda_potrs(kfe_device *device, const kfe_device_matrix *l, const kfe_device_matrix *b);
kfe_device_status kfe_cuda_trsm(kfe_device *device, int transpose, const kfe_device_matrix *l,
                                const kfe_device_matrix *b);
kfe_device_status kfe_cuda_syevd(kfe_device *device, const kfe_device_matrix *a, double *values);

#endif
