/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: a kernel between two sets of points, or of one set with itself, tile by tile: GEMM, map, and
 * (for products) GEMM with a block of vectors while the tile is in cache. Threads share row panels
 * statically, so that the same number of threads gives the same bits.
 */
#ifndef KFE_KERNEL_CROSS_H
#define KFE_KERNEL_CROSS_H

#include "kernel/points.h"

/* Doubles of workspace for the products below; the caller keeps it from call to call. */
int64_t kfe_i_cross_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                               const kfe_i_points *b);
int64_t kfe_i_self_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                              int64_t first, int64_t k);

/* out (a.rows × k) += weight · κ(a, b) · v (b.rows × k) */
kfe_status kfe_i_cross_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                             const kfe_i_points *b, double weight, const double *v, int64_t k, double *out,
                             double *work);
/* The same for the points from `first` on with themselves, v and out being the rows from `first` on: every
 * tile below the diagonal is evaluated once and used twice. */
kfe_status kfe_i_self_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                            int64_t first, const double *v, int64_t k, double *out, double *work);

/* out[i·stride + j] = κ(a_{row+i}, b_{col+j}) */
kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a, int64_t row,
                             int64_t rows, const kfe_i_points *b, int64_t col, int64_t cols, double *out,
                             int64_t stride);
/* The whole symmetric matrix, evaluated below the diagonal and mirrored; `wide` or `narrow` is n × n. */
kfe_status kfe_i_self_matrix(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                             double *wide, float *narrow);

#endif
