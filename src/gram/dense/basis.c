/* SPDX-License-Identifier: Apache-2.0 */
/* Products of tall blocks of vectors by BLAS, for the iterative solvers and methods. */
#include "gram/dense/basis.h"

#include <cblas.h>
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
        memcpy(to + i * to_stride, from + i * from_stride, (size_t)k * sizeof *to);
}
