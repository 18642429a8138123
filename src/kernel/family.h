/* SPDX-License-Identifier: Apache-2.0 */
/* Write several kernels in one text: "rbf:gamma=0.001..10/8" means eight widths from 0.001 to 10, evenly spaced on a
 * logarithmic scale. */
#ifndef KFE_KERNEL_FAMILY_H
#define KFE_KERNEL_FAMILY_H

#include "kernel/kernel.h"

/* Appends the kernel, or each kernel of the family, that the text names; on failure the list is as it was. */
kfe_status kfe_i_kernel_list_add_family(kfe_context *ctx, const char *text, kfe_i_kernel_list *list);

#endif
