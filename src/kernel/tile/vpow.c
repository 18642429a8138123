/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers of many numbers; the kernel exp takes powers of squared distances.
 *
 * Powers that are multiples of 1/4 are products of square roots, which every processor has as vector instructions. For other powers SLEEF's
 * pow takes a fifth of the time of the C library's. Its prototypes are written out because its header shows them only to files
 * compiled for those instruction sets as a whole.
 */
#include "kernel/tile/vpow.h"

#include <math.h>

#define KFE_BODY static inline __attribute__((always_inline))

static void pow_scalar(double *values, int64_t count, double power)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = pow(values[i], power);
}

KFE_BODY void roots_body(double *values, int64_t count, double power)
{
    if (power == 0.5)
        for (int64_t i = 0; i < count; i++)
            values[i] = sqrt(values[i]);
    else if (power == 0.25)
        for (int64_t i = 0; i < count; i++)
            values[i] = sqrt(sqrt(values[i]));
    else
        for (int64_t i = 0; i < count; i++) {
            double root = sqrt(values[i]);
            values[i] = root * sqrt(root);
        }
}

#if defined(__x86_64__) && !defined(KFE_PORTABLE)
#include <immintrin.h>

#define KFE_AVX2 __attribute__((target("avx2,fma")))
#define KFE_AVX512 __attribute__((target("avx512f")))

KFE_AVX2 static void roots_avx2(double *values, int64_t count, double power)
{
    roots_body(values, count, power);
}

static void roots_plain(double *values, int64_t count, double power)
{
    roots_body(values, count, power);
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static void roots(double *values, int64_t count, double power)
{
    (has_avx2() ? roots_avx2 : roots_plain)(values, count, power);
}

#ifndef KFE_NO_SLEEF

KFE_AVX2 __m256d Sleef_powd4_u10avx2(__m256d x, __m256d y);
KFE_AVX512 __m512d Sleef_powd8_u10avx512f(__m512d x, __m512d y);

KFE_AVX2 static void pow_avx2(double *values, int64_t count, double power)
{
    int64_t i = 0;

    for (; i + 4 <= count; i += 4)
        _mm256_storeu_pd(values + i, Sleef_powd4_u10avx2(_mm256_loadu_pd(values + i), _mm256_set1_pd(power)));
    pow_scalar(values + i, count - i, power);
}

KFE_AVX512 static void pow_avx512(double *values, int64_t count, double power)
{
    int64_t i = 0;

    for (; i + 8 <= count; i += 8)
        _mm512_storeu_pd(values + i,
                         Sleef_powd8_u10avx512f(_mm512_loadu_pd(values + i), _mm512_set1_pd(power)));
    pow_scalar(values + i, count - i, power);
}

static void pow_any(double *values, int64_t count, double power)
{
    (__builtin_cpu_supports("avx512f") ? pow_avx512
     : has_avx2()                      ? pow_avx2
                                       : pow_scalar)(values, count, power);
}

#else
#define pow_any pow_scalar
#endif

#else
#define roots roots_body
#define pow_any pow_scalar
#endif

void kfe_i_vpow(double *values, int64_t count, double power)
{
    if (power == 1)
        return;
    if (power == 0.25 || power == 0.5 || power == 0.75)
        roots(values, count, power);
    else
        pow_any(values, count, power);
}
