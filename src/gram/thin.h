/* SPDX-License-Identifier: Apache-2.0 */
/* A stored matrix times a few vectors, at the speed of reading the matrix. */
#ifndef KFE_GRAM_THIN_H
#define KFE_GRAM_THIN_H

#include "core/context.h"

/* Vectors that go through the matrix together. */
enum { KFE_THIN = 16 };

/* Doubles of workspace for a matrix of this shape. */
int64_t kfe_i_thin_work(int64_t rows, int64_t cols);
/* out (rows × k) += a·v for a (rows × cols, leading dimension lda) in double (`wide`) or single precision
 * (`narrow`), the other being NULL. The same bits for any number of threads. */
void kfe_i_thin_times(const kfe_context *ctx, int64_t rows, int64_t cols, const double *wide,
                      const float *narrow, int64_t lda, const double *v, int64_t k, double *out,
                      double *work);

#endif
