/* SPDX-License-Identifier: Apache-2.0 */
/* Raise many numbers to the same power at once. */
#ifndef KFE_KERNEL_TILE_VPOW_H
#define KFE_KERNEL_TILE_VPOW_H

#include <stdint.h>

/* values[i] = values[i]^power for values of at least 0 and a power above 0 and at most 1, within 4 ulp. Powers 1/4, 1/2 and 3/4 take
 * square roots, which is faster. */
void kfe_i_vpow(double *values, int64_t count, double power);

#endif
