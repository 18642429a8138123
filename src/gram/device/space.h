/* SPDX-License-Identifier: Apache-2.0 */
/* Compute with long vectors on a device. */
#ifndef KFE_GRAM_DEVICE_SPACE_H
#define KFE_GRAM_DEVICE_SPACE_H

#include "gram/device/form.h"
#include "gram/solve/space.h"

/* Vectors on the device of these operators, both centred or neither; in host memory if they are not on one in all processes. `small` is the
 * size of the largest small matrix, `most` the number of vectors that are multiplied at once. Close the space also after a failure. */
kfe_status kfe_i_device_space_open(const kfe_i_gram *gram, const kfe_i_gram *exact, int centred,
                                   int64_t small, int64_t most, kfe_i_space *out);

#endif
