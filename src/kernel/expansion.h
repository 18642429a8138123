/* SPDX-License-Identifier: Apache-2.0 */
/* The sum that every kernel model ends in: Σ over kernels of weight · κ(x, support) · coefficients. */
#ifndef KFE_KERNEL_EXPANSION_H
#define KFE_KERNEL_EXPANSION_H

#include "kernel/kernel.h"

/*
 * out (rows × k) = Σ_m weight_m · κ_m(views[m's view], supports[m's view]) · v. Rows go through in chunks, so
 * that memory does not grow with them. For a precomputed kernel the support table holds, as one column of
 * numbers, which columns of the view's table belong to the support.
 */
kfe_status kfe_i_expand(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                        const kfe_i_table *supports, const double *v, int64_t k, double *out);

#endif
