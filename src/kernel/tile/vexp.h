/* SPDX-License-Identifier: Apache-2.0 */
/* Compute exp of many numbers at once. */
#ifndef KFE_KERNEL_TILE_VEXP_H
#define KFE_KERNEL_TILE_VEXP_H

#include <stdint.h>

/* values[i] = exp(factor · values[i]), within 2 ulp; results below about 3e-308 become 0. */
void kfe_i_vexp_scaled(double *values, int64_t count, double factor);

#endif
