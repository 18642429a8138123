/* SPDX-License-Identifier: Apache-2.0 */
/* Compute features of many rows on a device: kernel values with the support examples times coefficients. */
#ifndef KFE_GRAM_DEVICE_EXPAND_H
#define KFE_GRAM_DEVICE_EXPAND_H

#include "gram/device/session.h"
#include "kernel/kernel.h"

/* What kfe_i_expand computes (kernel/expansion.h), of kernels with formulas. *done 0: the CPU has to do it. */
kfe_status kfe_i_device_expand(kfe_i_device *device, const kfe_i_kernel_list *kernels,
                               const kfe_i_table *views, const kfe_i_table *supports, const double *v,
                               int64_t k, double *out, int *done);

#endif
