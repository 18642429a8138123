/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expand a few dense rows at once. kfe_i_expand prepares all support examples (centres them, computes norms), which pays
 * off for many rows and costs several times the work itself for one. A few rows are compared with the support as it is,
 * which is read once: distances come from differences, so they need no centre and lose no digits. Nothing is allocated,
 * and small work stays on the calling thread.
 */
#ifndef KFE_KERNEL_FEW_H
#define KFE_KERNEL_FEW_H

#include "kernel/kernel.h"

/* Beyond this number of rows, the products of prepared points are faster. */
enum { KFE_FEW_ROWS = 8 };

/* Whether these rows are few, and dense like the support, and all kernels compare coordinates. */
int kfe_i_few_suits(const kfe_i_kernel_list *kernels, const kfe_i_table *views, const kfe_i_table *supports);
/* What kfe_i_expand computes (expansion.h), where it suits. */
kfe_status kfe_i_expand_few(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                            const kfe_i_table *supports, const double *v, int64_t k, double *out);

#endif
