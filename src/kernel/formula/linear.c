/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = ⟨x, y⟩. */
#include "kernel/kernel.h"

static void slope(const void *settings, kfe_i_tile *tile)
{
    (void)settings;
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j++)
            tile->values[i * tile->stride + j] = 1;
}

static void describe(const void *settings, kfe_i_formula *out)
{
    (void)settings;
    *out = (kfe_i_formula){.base = KFE_FORMULA_DOT};
}

/* 1, the polynomial of degree 0 */
static double describe_slope(const void *settings, kfe_i_formula *out)
{
    (void)settings;
    *out = (kfe_i_formula){.base = KFE_FORMULA_DOT, .map = KFE_MAP_POLY};
    return 1;
}

const kfe_i_kernel_def kfe_i_kernel_linear = {
    .name = "linear",
    .summary = "dot product",
    .formula = "<x,y>",
    .flags = KFE_HAS_DERIVATIVE,
    .base = KFE_BASE_DOT,
    .slope = slope,
    .describe = describe,
    .describe_slope = describe_slope,
};
