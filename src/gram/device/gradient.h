/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the average gradient outer product of kernel expansions on a device. */
#ifndef KFE_GRAM_DEVICE_GRADIENT_H
#define KFE_GRAM_DEVICE_GRADIENT_H

#include "kernel/tile/gradient.h"

/* Like kfe_i_agop, on the context's device if it has one that can do it, else on the CPU. */
kfe_status kfe_i_agop_anywhere(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows,
                               int diagonal, double *out);

#endif
