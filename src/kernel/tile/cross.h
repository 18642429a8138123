/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate a kernel between two sets of points, or within one set, and multiply it with vectors, on all
 * threads. The matrix is visited tile by tile: GEMM makes dot products, the kernel's map makes values of them,
 * and for products a second GEMM multiplies the tile with the vectors while it is in cache. Threads share
 * panels of rows in a fixed way, so that the same number of threads gives the same bits.
 */
#ifndef KFE_KERNEL_TILE_CROSS_H
#define KFE_KERNEL_TILE_CROSS_H

#include "core/share.h"
#include "kernel/tile/points.h"

/* A block of k vectors, row-major. */
typedef struct kfe_i_vectors {
    const double *values;
    int64_t k;
} kfe_i_vectors;

/* out += weight · κ · v */
typedef struct kfe_i_product {
    double weight;
    const double *v; /* columns of κ × k */
    int64_t k;
    double *out; /* rows of κ × k */
} kfe_i_product;

/* Doubles of workspace that the products below need; callers keep it from call to call. */
int64_t kfe_i_cross_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                               const kfe_i_points *b);
int64_t kfe_i_self_times_work(const kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                              int64_t k);

/* The product with κ(a, b). */
kfe_status kfe_i_cross_times(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *a,
                             const kfe_i_points *b, const kfe_i_product *product, double *work);
/* A share of the product κ(p, p)·v with all points p: panels of KFE_TILE_SIDE rows are dealt, beginning with row `from`. All shares add up to
 * the product without the square of the rows and columns before `from`. */
typedef struct kfe_i_self_product {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    kfe_i_share share;
    int64_t from;
    kfe_i_vectors v;
} kfe_i_self_product;
/* out += weight · the product. A tile below the diagonal is evaluated once and used twice. */
kfe_status kfe_i_self_times(kfe_context *ctx, const kfe_i_self_product *product, double weight, double *out,
                            double *work);

/* out[i·stride + j] = κ(x, y) with x the i-th point of `rows` and y the j-th of `cols` */
kfe_status kfe_i_cross_block(kfe_context *ctx, const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols,
                             double *out, int64_t stride);
/* out (n × n) = the whole symmetric matrix. Only tiles on and below the diagonal are evaluated. */
kfe_status kfe_i_self_matrix(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                             double *out);

#endif
