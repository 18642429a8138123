/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the dot products or distances of all pairs once, and map them to the matrix of every kernel of a grid. */
#ifndef KFE_GRAM_BASE_H
#define KFE_GRAM_BASE_H

#include "kernel/tile/points.h"

typedef struct kfe_i_base {
    kfe_context *ctx;
    const kfe_i_kernel_def *def; /* of the kernel it was made for */
    int64_t substring;           /* on strings */
    int view;
    kfe_i_points points;
    int64_t size;
    double *values; /* size × size */
} kfe_i_base;

/* The table must outlive it. */
kfe_status kfe_i_base_make(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                           kfe_i_base *out);
void kfe_i_base_free(kfe_i_base *base);
/* Whether the matrix of this kernel can be mapped from the base. */
int kfe_i_base_serves(const kfe_i_base *base, const kfe_i_kernel *kernel);
/* out (size × size) = weight·κ, or += weight·κ if `add`. `out` may be base->values, which are then lost. */
kfe_status kfe_i_base_map(kfe_context *ctx, const kfe_i_base *base, const kfe_i_kernel *kernel, int add,
                          double *out);

#endif
