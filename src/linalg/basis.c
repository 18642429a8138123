/* SPDX-License-Identifier: Apache-2.0 */
/* Products of blocks by BLAS, and the loops around them, for the iterative solvers and methods. */
#include "linalg/basis.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"

void kfe_i_inner_products(int64_t n, kfe_i_columns a, kfe_i_columns b, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)a.count, (blasint)b.count, (blasint)n, 1,
                a.values, (blasint)a.stride, b.values, (blasint)b.stride, 0, out, (blasint)b.count);
}

void kfe_i_combine(int64_t n, double alpha, kfe_i_columns a, kfe_i_columns s, double beta, double *c)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)s.count, (blasint)a.count,
                alpha, a.values, (blasint)a.stride, s.values, (blasint)s.stride, beta, c, (blasint)s.count);
}

void kfe_i_copy_block(int64_t n, int64_t k, const double *from, int64_t from_stride, double *to,
                      int64_t to_stride)
{
    assert(from_stride >= k && to_stride >= k);
    for (int64_t i = 0; i < n; i++)
        memmove(to + i * to_stride, from + i * from_stride, (size_t)k * sizeof *to);
}

void kfe_i_times(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)m, (blasint)k, 1, a,
                (blasint)k, b, (blasint)m, 0, out, (blasint)m);
}

void kfe_i_times_transpose(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n, (blasint)m, (blasint)k, 1, a, (blasint)k,
                b, (blasint)k, 0, out, (blasint)m);
}

void kfe_i_transpose_times(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)n, (blasint)m, (blasint)k, 1, a, (blasint)n,
                b, (blasint)m, 0, out, (blasint)m);
}

void kfe_i_scale_rows(int64_t n, int64_t k, const double *factors, double *a)
{
    for (int64_t i = 0; factors && i < n; i++)
        cblas_dscal((blasint)k, factors[i], a + i * k, 1);
}

void kfe_i_divide_by_roots(int64_t n, int64_t k, const double *values, double *a)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            a[i * k + j] /= sqrt(values[j]);
}

void kfe_i_mean_row(int64_t n, int64_t k, const double *a, const double *roots, double mass, double *mean)
{
    memset(mean, 0, (size_t)k * sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        cblas_daxpy((blasint)k, (roots ? roots[i] : 1) / mass, a + i * k, 1, mean, 1);
}

void kfe_i_subtract_row(int64_t n, int64_t k, const double *row, const double *roots, double *a)
{
    for (int64_t i = 0; i < n; i++)
        cblas_daxpy((blasint)k, roots ? -roots[i] : -1, row, 1, a + i * k, 1);
}

double kfe_i_trace(int64_t n, const double *a)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i * (n + 1)];
    return sum;
}

void kfe_i_add_to_diagonal(int64_t n, double value, double *a)
{
    for (int64_t i = 0; i < n; i++)
        a[i * (n + 1)] += value;
}

int64_t kfe_i_count_above(int64_t count, const double *falling, double least)
{
    int64_t found = 0;

    while (found < count && falling[found] > least)
        found++;
    return found;
}
