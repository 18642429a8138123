/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn a kernel on the labels, H(y) = LLᵀ, into its centred factor PL (n × rank), which is all that hsic, uhsic,
 * rkopls and gkdr need of it. Label kernels by name:
 *
 *     h1       YYᵀ for the class indicator Y (Chen et al. 2008, definition 1)
 *     h2       Y(YᵀY)⁻¹Yᵀ: every class counts the same, whatever its size
 *     linear   the targets as given; for classes the same as h1
 *     other    any kernel on the targets, such as rbf:gamma=0.5; L by pivoted Cholesky
 *     auto     h2 for classes, linear for real targets
 */
#ifndef KFE_METHOD_RIDGE_LABEL_KERNEL_H
#define KFE_METHOD_RIDGE_LABEL_KERNEL_H

#include "core/param.h"
#include "data/sums/sums.h"
#include "data/target/target.h"

#define KFE_LABEL_KERNEL_ROW(type, field)                                                                    \
    KFE_TEXT(type, field, "label-kernel", "auto",                                                            \
             "kernel on the targets: h1, h2 (classes); linear, rbf:gamma=1 or another; auto: h2 for "        \
             "classes, linear for real targets")

typedef struct kfe_i_label_factor {
    kfe_context *ctx;
    int64_t rows, rank;
    double *values; /* PL, rows × rank */
    double norm;    /* ‖PL‖; its square is the trace of PHP */
    int64_t most;   /* upper bound on the number of directions that depend on it */
} kfe_i_label_factor;

/* `weighed`: rows are multiplied by the root of their weight, as a weighted operator asks for. KFE_EINPUT if the target does not vary,
 * KFE_EINVAL if the kernel does not apply to it; messages begin with `method`. Free it also after a failure. */
kfe_status kfe_i_label_factor_make(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                   const char *kernel, int weighed, kfe_i_label_factor *out);
/* From sums: L are the targets (method/shared/targets.h), column k of `columns` times scales[k]. KFE_EUNSUPPORTED for kernels that need all
 * targets. */
kfe_status kfe_i_label_scales(kfe_context *ctx, const char *method, const kfe_i_sums *sums,
                              const char *kernel, int64_t columns, double *scales);
void kfe_i_label_factor_free(kfe_i_label_factor *factor);

#endif
