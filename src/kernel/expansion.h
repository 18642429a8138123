/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the features of new examples: the sum over kernels of weight · κ(x, support) · coefficients. */
#ifndef KFE_KERNEL_EXPANSION_H
#define KFE_KERNEL_EXPANSION_H

#include "kernel/kernel.h"

/*
 * out (rows × k) = Σ_m weight_m · κ_m(views[m's view], supports[m's view]) · v. Rows are processed in chunks, so that
 * memory does not grow with their number. For a precomputed kernel the support table has one column: the numbers of
 * the columns of the view's table that belong to the support.
 */
kfe_status kfe_i_expand(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                        const kfe_i_table *supports, const double *v, int64_t k, double *out);

#endif
