/* SPDX-License-Identifier: Apache-2.0 */
/* What shared.c fills and subset.c reads: the kernel matrix of a search on a device. */
#ifndef KFE_GRAM_DEVICE_SHARED_MATRIX_H
#define KFE_GRAM_DEVICE_SHARED_MATRIX_H

#include "gram/device/shared.h"

/* What one kernel is mapped from. */
typedef struct kfe_i_shared_term {
    kfe_device_points *points;
    kfe_device_matrix base; /* size × size */
    kfe_i_formula formula;  /* of the kernel that it was made for */
    int view;
} kfe_i_shared_term;

struct kfe_i_device_shared {
    kfe_context *ctx;
    kfe_i_device *device;
    int64_t size;
    kfe_i_shared_term *terms; /* one per kernel */
    int64_t count;
    kfe_device_matrix values; /* size × size, in double precision */
    int gave_up;              /* an operator of a part ran out of memory */
};

#endif
