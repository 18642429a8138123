/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate any kernel of numbers in double or single precision, on the CPU or inside CUDA code: this header has the formula of
 * each kernel as a small inline function, made from the kernel's own header (rbf.h beside rbf.c).
 *
 *     kfe_i_map_rbf_f64(base, row_norm, col_norm, params)    from ⟨x, y⟩, ‖x − y‖² or Σ term to κ(x, y)
 *     kfe_i_term_chi2_f64(x, y)                              one term of a sum over coordinates
 *     kfe_i_map_f64(map, …), kfe_i_term_f64(map, …)          the same, chosen by a number
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

/* Kernels with a map, and a derivative that is not a kernel; KFE_MAP_NONE leaves the base value as it is. Numbers are part of the device ABI: append only. */
#define KFE_MAP_LIST(X)                                                                                      \
    X(1, RBF, rbf)                                                                                           \
    X(2, POLY, poly)                                                                                         \
    X(3, COSINE, cosine)                                                                                     \
    X(4, SIGMOID, sigmoid)                                                                                   \
    X(5, LAPLACIAN, laplacian)                                                                               \
    X(6, CHI2, chi2)                                                                                         \
    X(7, EXP, exp)                                                                                           \
    X(8, MATERN, matern)                                                                                     \
    X(9, EXP_SLOPE, exp_slope)
/* Kernels that are sums over coordinates. */
#define KFE_TERM_LIST(X)                                                                                     \
    X(1, CITY_BLOCK, laplacian)                                                                              \
    X(2, CHI_SQUARE, chi2)                                                                                   \
    X(3, OVERLAP, intersection)

enum {
    KFE_MAP_NONE = 0,
#define KFE_MAP_NUMBER(number, NAME, name) KFE_MAP_##NAME = number,
    KFE_MAP_LIST(KFE_MAP_NUMBER)
#undef KFE_MAP_NUMBER
        KFE_TERM_NONE = 0,
#define KFE_TERM_NUMBER(number, NAME, name) KFE_TERM_##NAME = number,
    KFE_TERM_LIST(KFE_TERM_NUMBER)
#undef KFE_TERM_NUMBER
};

enum { KFE_FORMULA_PARAMS = 4 };

/* For derivatives, squared distances below this share of the squared norms count as 0. */
#define KFE_SAME_POINT 1e-18

/* A kernel with its parameters, as plain numbers. */
typedef struct kfe_i_formula {
    int32_t base; /* KFE_FORMULA_DOT, … */
    int32_t map;  /* KFE_MAP_… */
    int32_t term; /* KFE_TERM_…, if the base is a sum over coordinates */
    int32_t reserved;
    double params[KFE_FORMULA_PARAMS]; /* as the kernel's header says */
} kfe_i_formula;

#define KFE_NUMBER double
#define KFE_MAP(name) kfe_i_map_##name##_f64
#define KFE_TERM(name) kfe_i_term_##name##_f64
#define KFE_F(function) function
#include "kernel/formula/formulas.inc"
#undef KFE_NUMBER
#undef KFE_MAP
#undef KFE_TERM
#undef KFE_F

#define KFE_NUMBER float
#define KFE_MAP(name) kfe_i_map_##name##_f32
#define KFE_TERM(name) kfe_i_term_##name##_f32
#define KFE_F(function) function##f
#include "kernel/formula/formulas.inc"
#undef KFE_NUMBER
#undef KFE_MAP
#undef KFE_TERM
#undef KFE_F

#define KFE_MAP_CASE_F64(number, NAME, name)                                                                 \
    case number:                                                                                             \
        return kfe_i_map_##name##_f64(base, row_norm, col_norm, params);
#define KFE_MAP_CASE_F32(number, NAME, name)                                                                 \
    case number:                                                                                             \
        return kfe_i_map_##name##_f32(base, row_norm, col_norm, params);
#define KFE_TERM_CASE_F64(number, NAME, name)                                                                \
    case number:                                                                                             \
        return kfe_i_term_##name##_f64(x, y);
#define KFE_TERM_CASE_F32(number, NAME, name)                                                                \
    case number:                                                                                             \
        return kfe_i_term_##name##_f32(x, y);

KFE_FORMULA double kfe_i_map_f64(int32_t map, double base, double row_norm, double col_norm,
                                 const double *params)
{
    switch (map) {
        KFE_MAP_LIST(KFE_MAP_CASE_F64)
    default:
        return base;
    }
}

KFE_FORMULA float kfe_i_map_f32(int32_t map, float base, float row_norm, float col_norm, const float *params)
{
    switch (map) {
        KFE_MAP_LIST(KFE_MAP_CASE_F32)
    default:
        return base;
    }
}

KFE_FORMULA double kfe_i_term_f64(int32_t term, double x, double y)
{
    switch (term) {
        KFE_TERM_LIST(KFE_TERM_CASE_F64)
    default:
        return 0;
    }
}

KFE_FORMULA float kfe_i_term_f32(int32_t term, float x, float y)
{
    switch (term) {
        KFE_TERM_LIST(KFE_TERM_CASE_F32)
    default:
        return 0;
    }
}

#undef KFE_MAP_CASE_F64
#undef KFE_MAP_CASE_F32
#undef KFE_TERM_CASE_F64
#undef KFE_TERM_CASE_F32

#endif
