/* SPDX-License-Identifier: Apache-2.0 */
/* Keep the α of the SVMs at a point of the search, and go back to them. */
#ifndef KFE_METHOD_LOCAL_LOCAL_COPY_H
#define KFE_METHOD_LOCAL_LOCAL_COPY_H

#include "core/resume.h"
#include "method/shared/onevsrest.h"

typedef struct kfe_i_svms_copy {
    double *alpha, *weights, *offset;
    double alpha_sum, objective, gap;
} kfe_i_svms_copy;

/* Room for a copy. Free it also after a failure. */
kfe_status kfe_i_svms_copy_open(kfe_context *ctx, const kfe_i_onevsrest *svms, kfe_i_svms_copy *copy);
void kfe_i_svms_copy_free(kfe_context *ctx, kfe_i_svms_copy *copy);
void kfe_i_svms_keep(const kfe_i_onevsrest *from, kfe_i_svms_copy *to);
void kfe_i_svms_restore(const kfe_i_svms_copy *from, kfe_i_onevsrest *to);
/* Adds the copy to what a checkpoint keeps. */
void kfe_i_svms_copy_list(const kfe_i_onevsrest *svms, kfe_i_svms_copy *copy, kfe_i_loop *loop);

#endif
