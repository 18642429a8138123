/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the average gradient outer product of kernel expansions on a device. */
#ifndef KFE_GRAM_DEVICE_GRADIENT_H
#define KFE_GRAM_DEVICE_GRADIENT_H

#include "gram/device/session.h"
#include "kernel/tile/gradient.h"

/* What kfe_i_agop computes, of kernels with slopes and one base, and of dense rows. *done 0: the CPU has to do it. */
kfe_status kfe_i_device_agop(kfe_i_device *device, const kfe_i_expansion_sum *f, const kfe_i_table *rows,
                             int diagonal, double *out, int *done);

#endif
