/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = ⟨x, y⟩. */
#include "kernel/kernel.h"

const kfe_i_kernel_def kfe_i_kernel_linear = {
    .name = "linear",
    .summary = "dot product",
    .formula = "<x,y>",
    .base = KFE_BASE_DOT,
};
