/* SPDX-License-Identifier: Apache-2.0 */
/* Compute features of many rows on a device: kernel values with the support examples times coefficients. */
#ifndef KFE_GRAM_DEVICE_EXPAND_H
#define KFE_GRAM_DEVICE_EXPAND_H

#include "kernel/kernel.h"

/* Like kfe_i_expand (kernel/expansion.h), on the context's device if it has one that can do it, else on the CPU. */
kfe_status kfe_i_expand_anywhere(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                 const kfe_i_table *supports, const double *v, int64_t k, double *out);
/* The same with coefficients of their own for each view: those of view u are block u of v, whose blocks have as many rows as the supports.
 * Kernels are listed in the order of the views. */
kfe_status kfe_i_expand_by_view(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                const kfe_i_table *supports, const double *v, int64_t k, double *out);

#endif
