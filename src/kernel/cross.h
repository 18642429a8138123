/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the kernel matrix between two sets of points, tile by tile, never stored. */
#ifndef KFE_KERNEL_CROSS_H
#define KFE_KERNEL_CROSS_H

#include "kernel/points.h"

/* out (a.rows × k) += weight · κ(a, b) · v (b.rows × k). Deterministic for any number of threads. */
kfe_status kfe_i_cross_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                             const kfe_i_points *b, double weight, const double *v, int64_t k, double *out);
/* out[i·stride + j] = κ(a_{row+i}, b_{col+j}), by all threads; of any size. */
kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a, int64_t row,
                             int64_t rows, const kfe_i_points *b, int64_t col, int64_t cols, double *out,
                             int64_t stride);

#endif
