/* SPDX-License-Identifier: Apache-2.0 */
/* Compute what a device may take over, where it is faster: on the context's device, or on the CPU. */
#ifndef KFE_GRAM_PLACE_H
#define KFE_GRAM_PLACE_H

#include "gram/device/session.h"
#include "kernel/kernel.h"
#include "kernel/tile/gradient.h"

/* *out NULL: so much work stays on the CPU. `work` is in kernel values, or what takes as long. */
kfe_status kfe_i_choose_device(kfe_context *ctx, double work, kfe_i_device **out);

/* Like kfe_i_expand (kernel/expansion.h). */
kfe_status kfe_i_expand_anywhere(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                 const kfe_i_table *supports, const double *v, int64_t k, double *out);
/* The same with coefficients of their own for each view: those of view u are block u of v, whose blocks have as many rows as the supports.
 * Kernels are listed in the order of the views. */
kfe_status kfe_i_expand_by_view(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                const kfe_i_table *supports, const double *v, int64_t k, double *out);

/* Like kfe_i_agop (kernel/tile/gradient.h). */
kfe_status kfe_i_agop_anywhere(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows,
                               int diagonal, double *out);

#endif
