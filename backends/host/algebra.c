/* SPDX-License-Identifier: Apache-2.0 */
/* Dense algebra of the host plug-in, by BLAS and LAPACK; where these need double precision, matrices in single precision are converted. */
#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "backends/host/host.h"

/* A matrix as BLAS takes it: itself, or a packed copy in double precision. */
typedef struct wide {
    double *values, *copy;
    int stride;
} wide;

static int widen(kfe_device *device, const kfe_device_matrix *m, wide *out)
{
    *out = (wide){.values = (double *)(uintptr_t)m->address, .stride = (int)(m->stride > 0 ? m->stride : 1)};
    if (m->type == KFE_DEVICE_F64)
        return 1;
    out->values = out->copy = host_allocate(device, (uint64_t)(m->rows * m->cols + 1) * sizeof(double));
    out->stride = (int)(m->cols > 0 ? m->cols : 1);
    if (out->copy)
        (void)host_download(device, m, out->copy, m->cols);
    return out->copy != NULL;
}

/* Puts the values of a copy where they belong, and frees it. */
static void narrow(kfe_device *device, wide *w, const kfe_device_matrix *m)
{
    if (w->copy && m)
        (void)host_upload(device, w->copy, m->cols, m);
    host_release(device, w->copy);
}

kfe_device_status host_gemm(kfe_device *device, int transpose_a, int transpose_b, double alpha,
                            const kfe_device_matrix *a, const kfe_device_matrix *b, double beta,
                            const kfe_device_matrix *c)
{
    wide left = {0};
    wide right = {0};
    wide sum = {0};
    int inner = (int)(transpose_a ? a->rows : a->cols);
    int ready = widen(device, a, &left) && widen(device, b, &right) && widen(device, c, &sum);

    if (ready && beta == 0)
        (void)host_fill(device, c, 0);
    if (ready && beta == 0 && sum.copy)
        memset(sum.copy, 0, (size_t)(c->rows * c->cols) * sizeof *sum.copy);
    if (ready && c->rows > 0 && c->cols > 0 && inner > 0)
        cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                    transpose_b ? CblasTrans : CblasNoTrans, (int)c->rows, (int)c->cols, inner, alpha,
                    left.values, left.stride, right.values, right.stride, beta, sum.values, sum.stride);
    narrow(device, &left, NULL);
    narrow(device, &right, NULL);
    narrow(device, &sum, ready ? c : NULL);
    return ready ? KFE_DEVICE_OK : KFE_DEVICE_NO_MEMORY;
}

kfe_device_status host_add(kfe_device *device, double alpha, const kfe_device_matrix *from, double beta,
                           const kfe_device_matrix *to)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j, alpha * host_get(from, i, j) + (beta == 0 ? 0 : beta * host_get(to, i, j)));
    return KFE_DEVICE_OK;
}

kfe_device_status host_shift(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                             const double *by_column)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j,
                     host_get(to, i, j) + (by_row ? by_row[i] : 0) + (by_column ? by_column[j] : 0));
    return KFE_DEVICE_OK;
}

kfe_device_status host_scale(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                             const double *by_column)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j,
                     host_get(to, i, j) * (by_row ? by_row[i] : 1) * (by_column ? by_column[j] : 1));
    return KFE_DEVICE_OK;
}

kfe_device_status host_column_dots(kfe_device *device, const kfe_device_matrix *a, const kfe_device_matrix *b,
                                   double *out)
{
    (void)device;
    memset(out, 0, (size_t)a->cols * sizeof *out);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++)
            out[j] += host_get(a, i, j) * (b ? host_get(b, i, j) : 1);
    return KFE_DEVICE_OK;
}

kfe_device_status host_row_dots(kfe_device *device, const kfe_device_matrix *a, const kfe_device_matrix *b,
                                double *out)
{
    (void)device;
    memset(out, 0, (size_t)a->rows * sizeof *out);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++)
            out[i] += host_get(a, i, j) * (b ? host_get(b, i, j) : 1);
    return KFE_DEVICE_OK;
}

/* ---- factorisations ---- */

uint64_t host_no_bytes(kfe_device *device, int64_t n, kfe_device_type type)
{
    (void)device;
    (void)n;
    (void)type;
    return 0;
}

kfe_device_status host_potrf(kfe_device *device, const kfe_device_matrix *a, int *definite)
{
    lapack_int n = (lapack_int)a->rows;
    lapack_int stride = (lapack_int)(a->stride > 0 ? a->stride : 1);
    lapack_int info;

    *definite = 1;
    if (n == 0)
        return KFE_DEVICE_OK;
    if (host_must_stop(device, 0, 0))
        return KFE_DEVICE_STOPPED;
    /* the lower triangle of rows is the upper one of columns */
    if (a->type == KFE_DEVICE_F64)
        info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, (double *)(uintptr_t)a->address, stride);
    else
        info = LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', n, (float *)(uintptr_t)a->address, stride);
    *definite = info == 0;
    return info < 0 ? host_fail(device, KFE_DEVICE_FAILED, "potrf: wrong argument") : KFE_DEVICE_OK;
}

/* A factor in single precision works in single precision. */
static kfe_device_status trsm_f32(kfe_device *device, int transpose, const kfe_device_matrix *l,
                                  const kfe_device_matrix *b)
{
    kfe_device_matrix block = {.rows = b->rows, .cols = b->cols, .stride = b->cols, .type = KFE_DEVICE_F32};
    float *copy = host_allocate(device, (uint64_t)(b->rows * b->cols) * sizeof *copy);

    if (!copy)
        return KFE_DEVICE_NO_MEMORY;
    block.address = (uint64_t)(uintptr_t)copy;
    (void)host_copy(device, b, &block);
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, transpose ? CblasTrans : CblasNoTrans, CblasNonUnit,
                (int)b->rows, (int)b->cols, 1, (const float *)(uintptr_t)l->address, (int)l->stride, copy,
                (int)b->cols);
    (void)host_copy(device, &block, b);
    host_release(device, copy);
    return KFE_DEVICE_OK;
}

kfe_device_status host_trsm(kfe_device *device, int transpose, const kfe_device_matrix *l,
                            const kfe_device_matrix *b)
{
    if (b->rows == 0 || b->cols == 0)
        return KFE_DEVICE_OK;
    if (l->type == KFE_DEVICE_F32)
        return trsm_f32(device, transpose, l, b);
    if (b->type != KFE_DEVICE_F64)
        return host_fail(device, KFE_DEVICE_UNSUPPORTED,
                         "trsm: a factor in double precision needs such a block");
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose ? CblasTrans : CblasNoTrans, CblasNonUnit,
                (int)b->rows, (int)b->cols, 1, (const double *)(uintptr_t)l->address, (int)l->stride,
                (double *)(uintptr_t)b->address, (int)b->stride);
    return KFE_DEVICE_OK;
}

kfe_device_status host_potrs(kfe_device *device, const kfe_device_matrix *l, const kfe_device_matrix *b)
{
    kfe_device_status status = host_trsm(device, 0, l, b);
    return status == KFE_DEVICE_OK ? host_trsm(device, 1, l, b) : status;
}

kfe_device_status host_syevd(kfe_device *device, const kfe_device_matrix *a, double *values)
{
    wide copy = {0};
    lapack_int info = 0;

    if (!widen(device, a, &copy))
        return KFE_DEVICE_NO_MEMORY;
    if (a->rows > 0)
        info =
            LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)a->rows, copy.values, copy.stride, values);
    narrow(device, &copy, a);
    return info == 0 ? KFE_DEVICE_OK : host_fail(device, KFE_DEVICE_FAILED, "syevd did not converge");
}
