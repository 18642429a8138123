/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply a stored matrix with a few vectors at the speed of reading the matrix. */
#ifndef KFE_LINALG_THIN_H
#define KFE_LINALG_THIN_H

#include "core/context.h"

/* Number of vectors that are multiplied together in one pass over the matrix. */
enum { KFE_THIN = 16 };

/* A matrix in double (`wide`) or single precision (`narrow`); the other is NULL. */
typedef struct kfe_i_thin_matrix {
    int64_t rows, cols, stride;
    const double *wide;
    const float *narrow;
} kfe_i_thin_matrix;

/* Doubles of workspace for a matrix of this shape. */
int64_t kfe_i_thin_work(int64_t rows, int64_t cols);
/* out (rows × k) += a·v for v (cols × k). The same bits for any number of threads. */
void kfe_i_thin_times(const kfe_context *ctx, const kfe_i_thin_matrix *a, const double *v, int64_t k,
                      double *out, double *work);

#endif
