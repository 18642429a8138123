/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector exponentials within 1 ulp, chosen at run time by what the processor has.
 *
 * AVX-512: SLEEF's. glibc's libmvec is a quarter faster (0.77 against 1.01 ns per value), but off by up to 3.1 ulp. SLEEF's
 * prototype is written out because its header shows it only to files compiled for that instruction set as a whole.
 *
 * AVX2: exp(x) = 2ᵏ eʳ with k = x / ln 2 rounded and r = x − k ln 2, |r| ≤ ln 2 / 2, and
 *     eʳ = 1 + r (1 + r (1/2 + r q(r))),
 * q of degree 9, which interpolates in the Chebyshev nodes: eʳ has a relative error below 1e-18 before rounding. Four vectors
 * are computed side by side, because each is a chain of dependent operations.
 */
#include "kernel/tile/vexp.h"

#include <math.h>

#define KFE_EXP_UNDERFLOW (-708.0)

static void exp_scalar(double *values, int64_t count, double factor)
{
    for (int64_t i = 0; i < count; i++) {
        double x = factor * values[i];
        values[i] = x < KFE_EXP_UNDERFLOW ? 0 : exp(x);
    }
}

#if defined(__x86_64__) && !defined(KFE_PORTABLE)
#include <immintrin.h>
#include <string.h>

#define KFE_AVX2 __attribute__((target("avx2,fma")))

/* For larger arguments 2ᵏ may overflow. */
#define KFE_EXP_LARGEST 709.0
/* ln 2 in two parts; products of the first with k are exact. */
#define KFE_LN2_HIGH 0x1.62e42fefa38p-1
#define KFE_LN2_LOW 0x1.ef35793c7673p-45
#define KFE_LOG2_E 0x1.71547652b82fep+0

enum { LANES = 4, VECTORS = 4, BLOCK = LANES * VECTORS };

/* 1 + r (1 + r (1/2 + r q(r))), the highest power first. */
static const double exp_series[] = {2.0911236630261545e-09,
                                    2.510038549551032e-08,
                                    2.755728296954995e-07,
                                    2.7557268459997064e-06,
                                    2.4801587317144498e-05,
                                    0.00019841269863053618,
                                    0.0013888888888886552,
                                    0.008333333333330062,
                                    0.041666666666666664,
                                    0.16666666666666669,
                                    0.5,
                                    1,
                                    1};
enum { TERMS = sizeof exp_series / sizeof *exp_series };

/* Loops over the vectors must be unrolled, or the vectors lie in memory; -O2 does not do it unasked. */
#ifdef __clang__
#define KFE_UNROLL _Pragma("unroll")
#else
#define KFE_UNROLL _Pragma("GCC unroll 16")
#endif

/* exp of a block of arguments between KFE_EXP_UNDERFLOW and KFE_EXP_LARGEST. */
KFE_AVX2 static inline void exp_vectors(__m256d x[VECTORS])
{
    __m256d k[VECTORS];
    __m256d sum[VECTORS];

    KFE_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        k[v] = _mm256_round_pd(_mm256_mul_pd(x[v], _mm256_set1_pd(KFE_LOG2_E)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        x[v] = _mm256_fnmadd_pd(k[v], _mm256_set1_pd(KFE_LN2_HIGH), x[v]);
        x[v] = _mm256_fnmadd_pd(k[v], _mm256_set1_pd(KFE_LN2_LOW), x[v]);
        sum[v] = _mm256_set1_pd(exp_series[0]);
    }
    for (int t = 1; t < TERMS; t++) {
        KFE_UNROLL
        for (int v = 0; v < VECTORS; v++)
            sum[v] = _mm256_fmadd_pd(sum[v], x[v], _mm256_set1_pd(exp_series[t]));
    }
    KFE_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        /* k + 1023 in the exponent's place: 2ᵏ */
        __m256i exponent = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(k[v]));
        exponent = _mm256_slli_epi64(_mm256_add_epi64(exponent, _mm256_set1_epi64x(1023)), 52);
        x[v] = _mm256_mul_pd(sum[v], _mm256_castsi256_pd(exponent));
    }
}

/* The C library computes the rare blocks with an argument that is NaN or above KFE_EXP_LARGEST. */
KFE_AVX2 static inline void exp_block(double *values, double factor)
{
    const __m256d least = _mm256_set1_pd(KFE_EXP_UNDERFLOW);
    const __m256d largest = _mm256_set1_pd(KFE_EXP_LARGEST);
    __m256d x[VECTORS];
    __m256d tiny[VECTORS];
    __m256d beyond = _mm256_setzero_pd();

    KFE_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        x[v] = _mm256_mul_pd(_mm256_set1_pd(factor), _mm256_loadu_pd(values + LANES * v));
        tiny[v] = _mm256_cmp_pd(x[v], least, _CMP_LT_OQ);
        beyond = _mm256_or_pd(beyond, _mm256_cmp_pd(x[v], largest, _CMP_NLE_UQ));
        x[v] = _mm256_max_pd(x[v], least);
    }
    if (_mm256_movemask_pd(beyond)) {
        exp_scalar(values, BLOCK, factor);
        return;
    }
    exp_vectors(x);
    KFE_UNROLL
    for (int v = 0; v < VECTORS; v++)
        _mm256_storeu_pd(values + LANES * v, _mm256_andnot_pd(tiny[v], x[v]));
}

KFE_AVX2 static void exp_avx2(double *values, int64_t count, double factor)
{
    double last[BLOCK] = {0};
    int64_t i = 0;

    for (; i + BLOCK <= count; i += BLOCK)
        exp_block(values + i, factor);
    memcpy(last, values + i, (size_t)(count - i) * sizeof *values);
    exp_block(last, factor);
    memcpy(values + i, last, (size_t)(count - i) * sizeof *values);
}

/* clang passes 512 bits in memory unless the whole file is compiled for AVX-512; SLEEF expects them in a register. */
#if !defined(KFE_NO_SLEEF) && !defined(__clang__)
#define KFE_AVX512 __attribute__((target("avx512f")))

KFE_AVX512 __m512d Sleef_expd8_u10avx512f(__m512d x);

KFE_AVX512 static void exp_avx512(double *values, int64_t count, double factor)
{
    const __m512d scale = _mm512_set1_pd(factor);
    const __m512d least = _mm512_set1_pd(KFE_EXP_UNDERFLOW);
    int64_t i = 0;

    for (; i + 8 <= count; i += 8) {
        __m512d x = _mm512_mul_pd(scale, _mm512_loadu_pd(values + i));
        __mmask8 tiny = _mm512_cmp_pd_mask(x, least, _CMP_LT_OQ);
        __m512d result = Sleef_expd8_u10avx512f(x);
        _mm512_storeu_pd(values + i, _mm512_mask_blend_pd(tiny, result, _mm512_setzero_pd()));
    }
    exp_scalar(values + i, count - i, factor);
}

#else

static void exp_avx512(double *values, int64_t count, double factor)
{
    exp_avx2(values, count, factor);
}

#endif

void kfe_i_vexp_scaled(double *values, int64_t count, double factor)
{
    if (__builtin_cpu_supports("avx512f"))
        exp_avx512(values, count, factor);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        exp_avx2(values, count, factor);
    else
        exp_scalar(values, count, factor);
}

#else

void kfe_i_vexp_scaled(double *values, int64_t count, double factor)
{
    exp_scalar(values, count, factor);
}

#endif
