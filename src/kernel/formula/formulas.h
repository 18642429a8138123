/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate any kernel of numbers in double or single precision, on the CPU or inside CUDA code, one value at a time. The
 * formulas are those of the kernels' own files, which kernels.def includes.
 *
 *     kfe_i_map_f64(map, base, row_norm, col_norm, params)    from ⟨x, y⟩, ‖x − y‖² or Σ term to κ(x, y)
 *     kfe_i_term_f64(term, x, y)                              one term of a sum over coordinates
 *
 * The functions _f32 do the same in single precision. C11 and CUDA C++ may include it; it needs only math.h and stdint.h.
 */
#ifndef KFE_KERNEL_FORMULA_FORMULAS_H
#define KFE_KERNEL_FORMULA_FORMULAS_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define KFE_FORMULA static __host__ __device__ __forceinline__
#else
#define KFE_FORMULA static inline
#endif

/* What a formula starts from; the first values of kfe_i_kernel_base. */
enum { KFE_FORMULA_DOT = 0, KFE_FORMULA_DISTANCE = 1, KFE_FORMULA_COORDINATE = 2 };

/* Numbers of kernels, by their place in kernels.def. */
#define KFE_KERNEL(name, term, ...) KFE_KERNEL_##name,
enum {
    KFE_KERNEL_NONE, /* the base value as it is */
#include "kernel/kernels.def"
    KFE_KERNEL_COUNT
};
#undef KFE_KERNEL

enum { KFE_FORMULA_PARAMS = 4 };

/* For derivatives, squared distances below this share of the squared norms count as 0. */
#define KFE_SAME_POINT 1e-18

/* A kernel with its parameters, as plain numbers. */
typedef struct kfe_i_formula {
    int32_t base; /* KFE_FORMULA_DOT, … */
    int32_t map;  /* KFE_KERNEL_… */
    int32_t term; /* KFE_KERNEL_…, if the base is a sum over coordinates */
    int32_t reserved;
    double params[KFE_FORMULA_PARAMS]; /* as the kernel's `describe` says */
} kfe_i_formula;

#define KFE_NUMBER double
#define KFE_NAME(name) name##_f64
#define KFE_F(function) function
#include "kernel/formula/formulas.inc"

#define KFE_NUMBER float
#define KFE_NAME(name) name##_f32
#define KFE_F(function) function##f
#include "kernel/formula/formulas.inc"

#endif
