/* SPDX-License-Identifier: Apache-2.0 */
/* Copy rows of doubles with several threads: host memory that is not pinned is copied to pinned memory faster than one thread can. */
#ifndef KFE_CUDA_COPIER_H
#define KFE_CUDA_COPIER_H

#include <stdint.h>

typedef struct kfe_cuda_copier kfe_cuda_copier;

/* Rows of `cols` numbers; `add`: to what is there. */
typedef struct kfe_cuda_copy_job {
    const double *from;
    int64_t from_stride;
    double *to;
    int64_t to_stride;
    int64_t rows, cols;
    int add;
} kfe_cuda_copy_job;

/* Starts threads for about this number of bytes in all: none if they are few. Works with fewer if not all can be started; NULL: out of memory. */
kfe_cuda_copier *kfe_cuda_copier_new(double bytes);
/* Returns when the rows are copied. */
void kfe_cuda_copier_run(kfe_cuda_copier *copier, const kfe_cuda_copy_job *job);
void kfe_cuda_copier_free(kfe_cuda_copier *copier);

#endif
