/* SPDX-License-Identifier: Apache-2.0 */
/* Products of tall blocks of vectors by BLAS, for the iterative solvers and methods. */
#include "gram/basis.h"

#include <cblas.h>
#include <string.h>

void kfe_i_inner_products(int64_t n, int64_t p, const double *a, int64_t lda, int64_t q, const double *b,
                          int64_t ldb, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)p, (blasint)q, (blasint)n, 1, a,
                (blasint)lda, b, (blasint)ldb, 0, out, (blasint)q);
}

void kfe_i_combine(int64_t n, int64_t p, int64_t q, double alpha, const double *a, int64_t lda,
                   const double *s, int64_t lds, double beta, double *c, int64_t ldc)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)q, (blasint)p, alpha, a,
                (blasint)lda, s, (blasint)lds, beta, c, (blasint)ldc);
}

void kfe_i_copy_block(int64_t n, int64_t k, const double *from, int64_t from_stride, double *to,
                      int64_t to_stride)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_stride, from + i * from_stride, (size_t)k * sizeof *to);
}
