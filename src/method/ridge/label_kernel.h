/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel on labels, H(y) = LLᵀ, as its centred factor PL (n × rank): all that methods which measure
 * dependence on the target need of it. By name:
 *   h1      YYᵀ for the class indicator Y               (Chen et al. 2008, definition 1)
 *   h2      Y(YᵀY)⁻¹Yᵀ: classes count the same, whatever their size
 *   linear  the given targets as they are; for classes the same as h1
 *   other   any kernel on the targets, such as rbf:gamma=0.5; L by pivoted Cholesky
 *   auto    h2 for classes, linear for real targets
 */
#ifndef KFE_METHOD_RIDGE_LABEL_KERNEL_H
#define KFE_METHOD_RIDGE_LABEL_KERNEL_H

#include "core/param.h"
#include "data/target.h"

#define KFE_LABEL_KERNEL_ROW(type, field)                                                                    \
    KFE_TEXT(type, field, "label-kernel", "auto",                                                            \
             "kernel on the targets: h1, h2 (classes); linear, rbf:gamma=1 or another; auto: h2 for "        \
             "classes, linear for real targets")

typedef struct kfe_i_label_factor {
    kfe_context *ctx;
    int64_t rows, rank;
    double *values;      /* PL, rows × rank */
    double squared_norm; /* Σ of its squares: the trace of PHP */
    int64_t most;        /* directions that can depend on it: its rank, or one fewer than classes */
} kfe_i_label_factor;

/* KFE_EINPUT if the target does not vary, KFE_EINVAL if the kernel is none for it; both in the name of
 * `method`. Free it also after a failure. */
kfe_status kfe_i_label_factor_make(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                   const char *kernel, kfe_i_label_factor *out);
void kfe_i_label_factor_free(kfe_i_label_factor *factor);

#endif
