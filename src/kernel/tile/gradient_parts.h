/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Share one average gradient outer product between gradient.c, which chooses how to compute it, and the two ways:
 *
 *     gradient_rows.c    forms the gradients of a panel of rows, then their outer products
 *     gradient_pairs.c   forms the weights of all pairs of support examples instead, for many outputs or columns
 */
#ifndef KFE_KERNEL_TILE_GRADIENT_PARTS_H
#define KFE_KERNEL_TILE_GRADIENT_PARTS_H

#include "core/share.h"
#include "kernel/tile/gradient.h"
#include "kernel/tile/tile.h"

/* The derivative of one kernel, and both sets of points prepared for it. */
typedef struct kfe_i_slope_term {
    kfe_i_kernel kernel;
    kfe_i_points rows, support;
    double weight; /* of φ' in the gradients: −2w for distances, w for dot products */
} kfe_i_slope_term;

typedef struct kfe_i_agop_job {
    kfe_context *ctx;
    const kfe_i_expansion_sum *f;
    kfe_i_slope_term *terms;
    int64_t n, d;
    int diagonal;
    const double *weights; /* of the rows; NULL: ones */
    kfe_i_share share;     /* of the panels of rows */
} kfe_i_agop_job;

/* Doubles of the result: d × d, or d for the diagonal. */
static inline int64_t kfe_i_agop_size(const kfe_i_agop_job *job)
{
    return job->diagonal ? job->d : job->d * job->d;
}
/* Doubles of scratch for tiles of any term. */
int64_t kfe_i_agop_scratch(const kfe_i_agop_job *job);
/* A dense copy of `count` points from `first` on, as the kernel of the term sees them. */
void kfe_i_agop_points(const kfe_i_points *points, int64_t first, int64_t count, double *out);

/* out = the sums over the rows of this process's share, of a matrix the lower triangle. */
kfe_status kfe_i_agop_by_rows(const kfe_i_agop_job *job, double *out);
/* The same. All kernels depend on the distance, or all on the dot product. *scale receives the sum of the squares that add up to the trace
 * of the result and partly cancel: a smaller trace has lost digits. */
kfe_status kfe_i_agop_by_pairs(const kfe_i_agop_job *job, double *out, double *scale);
/* Bytes that it takes. */
double kfe_i_agop_pairs_bytes(const kfe_i_agop_job *job);

#endif
