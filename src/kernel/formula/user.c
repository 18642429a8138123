/* SPDX-License-Identifier: Apache-2.0 */
/* A function of the user's. Not in kernels.def: it has no name that could be written down. */
#include "kernel/kernel.h"

const kfe_i_kernel_def kfe_i_kernel_user = {
    .name = "user",
    .summary = "a function given through the C interface",
    .formula = "f(x,y)",
    .base = KFE_BASE_USER,
};
