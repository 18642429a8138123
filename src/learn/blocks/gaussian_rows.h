/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluate rows of a Gaussian kernel matrix in single precision throughout, for kernel_rows.c. */
#ifndef KFE_LEARN_BLOCKS_GAUSSIAN_ROWS_H
#define KFE_LEARN_BLOCKS_GAUSSIAN_ROWS_H

#include "gram/gram.h"

/* The points in the order in which rows are kept. */
typedef struct kfe_i_gaussian_points {
    int64_t count, cols;
    float *values;           /* count × cols; NULL: single precision does not suit */
    float *norms;            /* squared */
    const int64_t *position; /* where each example is; NULL: in order */
    float gamma;
} kfe_i_gaussian_points;

/* Leaves `values` NULL unless the kernel is a Gaussian, the points are dense, and errors are small: those of
 * gamma·‖x − y‖² are about ε·gamma·(‖x‖² + ‖y‖²). */
kfe_status kfe_i_gaussian_points_make(const kfe_i_kernel *kernel, const kfe_i_points *points,
                                      const int64_t *position, kfe_i_gaussian_points *out);
void kfe_i_gaussian_points_free(kfe_context *ctx, kfe_i_gaussian_points *points);

/* Rows of which some parts are wanted: entries from part·part_size on, for every part whose bit is set. */
typedef struct kfe_i_wanted_rows {
    const int64_t *example;
    const uint64_t *parts;
    int64_t count;
    int64_t part_size; /* a multiple of KFE_TILE_SIDE */
    float *const *out; /* the rows */
} kfe_i_wanted_rows;

kfe_status kfe_i_gaussian_rows(kfe_context *ctx, const kfe_i_gaussian_points *points,
                               const kfe_i_wanted_rows *wanted);

/* out[a·stride + b] = the kernel of example[a] and example[b]. `work`: count × (cols + 1). */
void kfe_i_gaussian_block(const kfe_i_gaussian_points *points, const int64_t *example, int64_t count,
                          float *work, float *out, int64_t stride);

#endif
