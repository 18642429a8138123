/* SPDX-License-Identifier: Apache-2.0 */
/* Give a kernel a width parameter, gamma or sigma, whose value may be a number, auto, scale or median. */
#ifndef KFE_KERNEL_FORMULA_GAMMA_H
#define KFE_KERNEL_FORMULA_GAMMA_H

#include "core/param.h"
#include "data/table/table.h"

#define KFE_GAMMA_ROW(type, field, initial)                                                                  \
    KFE_REAL_OR(type, field, "gamma", initial, KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto|scale|median",         \
                "auto=-1|scale=-2|median=-3",                                                                \
                "width: a number, auto (1/d), scale (1/total variance of the columns) or median (1/median "  \
                "squared distance)")

/* The width of kernels of the distance itself, sigma² = 1/gamma. */
#define KFE_SIGMA_ROW(type, field, initial)                                                                  \
    KFE_REAL_OR(                                                                                             \
        type, field, "sigma", initial, KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto|scale|median",                 \
        "auto=-1|scale=-2|median=-3",                                                                        \
        "width: a number, auto (√d), scale (√(total variance of the columns)) or median (median distance)")

/* Replaces a name by its number for this data; numbers stay as they are. */
kfe_status kfe_i_gamma_resolve(kfe_context *ctx, double *gamma, const kfe_i_table *train);
kfe_status kfe_i_sigma_resolve(kfe_context *ctx, double *sigma, const kfe_i_table *train);

#endif
