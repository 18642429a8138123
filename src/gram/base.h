/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of one kind share: the dot products or distances of all pairs, computed once, from which each
 * kernel matrix of a grid or family is one map away. */
#ifndef KFE_GRAM_BASE_H
#define KFE_GRAM_BASE_H

#include "kernel/points.h"

typedef struct kfe_i_base {
    kfe_context *ctx;
    kfe_i_kernel_def def; /* of the kernel it was made for, without its map */
    int64_t substring;    /* on strings */
    int view;
    kfe_i_points points;
    int64_t size;
    double *values; /* size × size */
} kfe_i_base;

/* The table must outlive it. */
kfe_status kfe_i_base_make(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                           kfe_i_base *out);
void kfe_i_base_free(kfe_i_base *base);
/* Whether this kernel is a map of it. */
int kfe_i_base_serves(const kfe_i_base *base, const kfe_i_kernel *kernel);
/* out (size × size) = weight·κ, or += that if `add`. `out` may be base->values themselves, if that is the
 * last use of them. */
kfe_status kfe_i_base_map(kfe_context *ctx, const kfe_i_base *base, const kfe_i_kernel *kernel, int add,
                          double *out);

#endif
