/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the Gaussian product share: sizes, its arguments, and numbers split into halves. */
#ifndef KFE_CUDA_RBF_CUH
#define KFE_CUDA_RBF_CUH

#include "internal.cuh"

enum {
    KFE_RBF_TILE = 64, /* columns in shared memory at a time */
    KFE_RBF_STEP = 16, /* columns of z that one tensor instruction takes */
    KFE_RBF_DEPTH_MOST = 128,
    KFE_RBF_VECTORS_MOST = 32,
    KFE_RBF_ROWS = 128 /* splits have a multiple of this many rows: a block owns at most so many */
};
static const float KFE_RBF_VALUE_SCALE = 32768; /* kernel values are multiplied with it */

typedef struct kfe_cuda_rbf_args {
    const __half *row_high, *row_low; /* padded rows × depth */
    const float *row_h;
    const __half *col_high, *col_low;
    const float *col_h, *col_largest;
    const __half *v_high, *v_low; /* vectors (8·NV) × padded columns */
    const float *v_scale;         /* per vector: what its sums are multiplied with */
    const double *row_given, *col_given;
    int64_t rows, cols, dim;
    int64_t col_tiles; /* all of them */
    int64_t v_stride;
    double minus_gamma; /* −γ·log2(e) */
    double *out;        /* slices × rows × vectors */
} kfe_cuda_rbf_args;

/* Makes the split of these points for this width, unless it is there. */
kfe_device_status kfe_cuda_split_points(kfe_device *device, const kfe_device_points *points, double gamma);
/* Splits `vectors` columns of v from `first` on into halves, with zeros for rows from v->rows to `padded`; sets v_… of p. */
kfe_device_status kfe_cuda_split_vectors(kfe_device *device, const kfe_device_matrix *v, int64_t first,
                                         int vectors, int64_t padded, kfe_cuda_rbf_args *p);
/* 8, 16 or 32: the number to which this number of vectors is padded. */
int kfe_cuda_rbf_width(int vectors);

#endif
