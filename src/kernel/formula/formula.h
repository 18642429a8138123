/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin the file of a kernel: include this first, then write its formula once,
 *
 *     KFE_KERNEL(name, term, { … })
 *
 * and the rest of the file below #ifdef KFE_KERNEL_FILE. The block turns `count` base values, at most KFE_CHUNK, into values of the kernel.
 * It is compiled for rows of tiles here, and for single values in both precisions in formulas.h, so that devices compute the same.
 * It sees KFE_NUMBER *values, int64_t count, the squared norms row_norm and col_norms[], and params[] from `describe`;
 * KFE_EXP(values, count, factor) and KFE_POWER(values, count, power) replace numbers, and KFE_F(sqrt)(x) is a function of math.h. The
 * term is one of a sum over coordinates x and y, or 0. No include guard, on purpose: kernels.def includes the files of kernels.
 */
#ifndef KFE_KERNEL
#include <math.h>

#include "kernel/formula/gamma.h"
#include "kernel/kernel.h"
#include "kernel/tile/vexp.h"
#include "kernel/tile/vpow.h"

#define KFE_KERNEL_FILE
#define KFE_NUMBER double
#define KFE_F(function) function
#define KFE_EXP kfe_i_vexp_scaled
#define KFE_POWER kfe_i_vpow
#define KFE_CHUNK KFE_FORMULA_CHUNK

#define KFE_KERNEL(name, term, ...)                                                                          \
    kfe_i_formula_fn kfe_i_formula_##name;                                                                   \
    void kfe_i_formula_##name(double *values, int64_t count, double row_norm, const double *col_norms,       \
                              const double *params)                                                          \
    {                                                                                                        \
        (void)values, (void)count, (void)row_norm, (void)col_norms, (void)params;                            \
        __VA_ARGS__                                                                                          \
    }                                                                                                        \
    static inline double term_of(double x, double y)                                                         \
    {                                                                                                        \
        (void)x, (void)y;                                                                                    \
        return term;                                                                                         \
    }                                                                                                        \
    __attribute__((unused)) static double pair_sum(const double *x, const double *y, int64_t count)          \
    {                                                                                                        \
        double sum = 0;                                                                                      \
        _Pragma("omp simd reduction(+ : sum)") for (int64_t j = 0; j < count; j++) sum +=                    \
            term_of(x[j], y ? y[j] : 0);                                                                     \
        return sum;                                                                                          \
    }
#endif
