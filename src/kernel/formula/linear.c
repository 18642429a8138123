/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = ⟨x, y⟩. */
#include "kernel/formula/formula.h"

KFE_KERNEL(linear, 0, {})

#ifdef KFE_KERNEL_FILE
/* 1, the polynomial of degree 0 */
static double slope(const void *settings, kfe_i_formula *out)
{
    (void)settings;
    *out = (kfe_i_formula){.base = KFE_FORMULA_DOT, .map = KFE_KERNEL_poly};
    return 1;
}

const kfe_i_kernel_def kfe_i_kernel_linear = {
    .name = "linear",
    .summary = "dot product",
    .formula = "<x,y>",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DOT,
    .slope = slope,
};
#endif
