/* SPDX-License-Identifier: Apache-2.0 */
/* Dense algebra of the host plug-in, by LAPACK in double precision; matrices in single precision are converted before and after. */
#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "backends/host/host.h"

/* A packed copy in double precision; NULL: out of memory. */
static double *widen(kfe_device *device, const kfe_device_matrix *m)
{
    double *copy = host_allocate(device, (uint64_t)(m->rows * m->cols + 1) * sizeof *copy);

    if (copy)
        (void)host_download(device, m, copy, m->cols);
    return copy;
}

kfe_device_status host_gemm(kfe_device *device, int transpose_a, int transpose_b, double alpha,
                            const kfe_device_matrix *a, const kfe_device_matrix *b, double beta,
                            const kfe_device_matrix *c)
{
    kfe_device_status status = KFE_DEVICE_NO_MEMORY;
    double *left = widen(device, a);
    double *right = widen(device, b);
    double *sum = widen(device, c);
    int inner = (int)(transpose_a ? a->rows : a->cols);

    if (left && right && sum) {
        if (beta == 0)
            memset(sum, 0, (size_t)(c->rows * c->cols) * sizeof *sum);
        if (c->rows > 0 && c->cols > 0 && inner > 0)
            cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                        transpose_b ? CblasTrans : CblasNoTrans, (int)c->rows, (int)c->cols, inner, alpha,
                        left, (int)a->cols, right, (int)b->cols, beta, sum, (int)c->cols);
        status = host_upload(device, sum, c->cols, c);
    }
    host_release(device, left);
    host_release(device, right);
    host_release(device, sum);
    return status;
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

kfe_device_status host_trsm(kfe_device *device, int transpose, const kfe_device_matrix *l,
                            const kfe_device_matrix *b)
{
    kfe_device_status status = KFE_DEVICE_NO_MEMORY;
    double *factor = widen(device, l);
    double *block = widen(device, b);

    if (factor && block) {
        if (b->rows > 0 && b->cols > 0)
            cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose ? CblasTrans : CblasNoTrans,
                        CblasNonUnit, (int)b->rows, (int)b->cols, 1, factor, (int)l->cols, block,
                        (int)b->cols);
        status = host_upload(device, block, b->cols, b);
    }
    host_release(device, factor);
    host_release(device, block);
    return status;
}

kfe_device_status host_potrs(kfe_device *device, const kfe_device_matrix *l, const kfe_device_matrix *b)
{
    kfe_device_status status = host_trsm(device, 0, l, b);
    return status == KFE_DEVICE_OK ? host_trsm(device, 1, l, b) : status;
}

kfe_device_status host_syevd(kfe_device *device, const kfe_device_matrix *a, double *values)
{
    kfe_device_status status = KFE_DEVICE_NO_MEMORY;
    double *copy = widen(device, a);
    lapack_int n = (lapack_int)a->rows;

    if (copy) {
        status = KFE_DEVICE_OK;
        if (n > 0 && LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', n, copy, n, values) != 0)
            status = host_fail(device, KFE_DEVICE_FAILED, "syevd did not converge");
        if (status == KFE_DEVICE_OK)
            status = host_upload(device, copy, n, a);
    }
    host_release(device, copy);
    return status;
}
