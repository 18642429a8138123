/* SPDX-License-Identifier: Apache-2.0 */
/* The data is the kernel: a square matrix for training, rows of test × training values afterwards. */
#include "kernel/formula/formula.h"

KFE_KERNEL(precomputed, 0, {})

#ifdef KFE_KERNEL_FILE
const kfe_i_kernel_def kfe_i_kernel_precomputed = {
    .name = "precomputed",
    .summary = "the data is a kernel matrix already",
    .formula = "K[x,y]: train x train to fit, test x train to transform",
    .base = KFE_BASE_GIVEN,
};
#endif
