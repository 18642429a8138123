/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply tall blocks of vectors (row-major n × k) with each other. Nothing here allocates. */
#ifndef KFE_GRAM_BASIS_H
#define KFE_GRAM_BASIS_H

#include "core/context.h"

/* out (p × q) = aᵀb for a (n × p, leading dimension lda), b (n × q, ldb). */
void kfe_i_inner_products(int64_t n, int64_t p, const double *a, int64_t lda, int64_t q, const double *b,
                          int64_t ldb, double *out);
/* c (n × q, ldc) = beta·c + alpha·a·s for a (n × p, lda), s (p × q, lds). */
void kfe_i_combine(int64_t n, int64_t p, int64_t q, double alpha, const double *a, int64_t lda,
                   const double *s, int64_t lds, double beta, double *c, int64_t ldc);
/* Copies n × k between leading dimensions. */
void kfe_i_copy_block(int64_t n, int64_t k, const double *from, int64_t from_stride, double *to,
                      int64_t to_stride);

#endif
