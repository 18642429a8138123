/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers of many numbers; the kernel exp takes powers of squared distances. The loops are compiled for AVX2 and the baseline.
 *
 * Powers 1/4, 1/2 and 3/4 are products of square roots. Others are exp(p·log x). With x = 2ᵏm, m between √½ and √2, and
 * s = (m − 1)/(m + 1),
 *     log x = k ln 2 + 2s + s³q(s²),
 * q of degree 7, which interpolates in the Chebyshev nodes: log m has a relative error below 1e-19 before rounding. An error of p·log x is a
 * relative error of the power, so the product is kept as a sum of two numbers, and xᵖ = exp(high)·(1 + low).
 */
#include "kernel/tile/vpow.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/instructions.h"
#include "kernel/tile/vexp.h"

#define KFE_BODY static inline __attribute__((always_inline))
/* ln 2 in two parts; products of the first with k are exact. */
#define KFE_LN2_HIGH 0x1.62e42fefa38p-1
#define KFE_LN2_LOW 0x1.ef35793c7673p-45

enum { CHUNK = 128 };

/* ---- square roots ---- */

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

/* ---- logarithms ---- */

/* q, the highest power first. */
static const double log_series[] = {0.13086626147840102, 0.13268773138656886, 0.15386239702814658,
                                    0.18181795640132906, 0.22222222391713917, 0.28571428570803614,
                                    0.4000000000000088,  0.6666666666666666};
enum { TERMS = sizeof log_series / sizeof *log_series };

KFE_BODY double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

KFE_BODY uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* high + low = power·log x for normal numbers x; the others give some finite number. */
KFE_BODY void logs_body(const double *restrict x, int64_t count, double power, double *restrict high,
                        double *restrict low)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdu;
    const uint64_t bias = 1024;
    const uint64_t two_52 = 0x4330000000000000u;

#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = bits_of(x[i]);
        uint64_t biased = (bits - root_half + (bias << 52)) >> 52; /* k + bias */
        double k = from_bits(two_52 | biased) - (0x1p52 + (double)bias);
        double m = from_bits(bits - ((biased - bias) << 52));
        double s = (m - 1) / (m + 1);
        double square = s * s;
        double sum = log_series[0];
        for (int t = 1; t < TERMS; t++)
            sum = sum * square + log_series[t];
        double whole = power * (k * KFE_LN2_HIGH);
        double lost = fma(power, k * KFE_LN2_HIGH, -whole);
        double part = power * (2 * s + (s * square * sum + k * KFE_LN2_LOW));
        high[i] = whole + part;
        low[i] = lost + (fabs(whole) >= fabs(part) ? (whole - high[i]) + part : (part - high[i]) + whole);
    }
}

/* ---- for each instruction set ---- */

typedef void (*logs_fn)(const double *x, int64_t count, double power, double *high, double *low);

static void pow_chunk(logs_fn logs, double *values, int64_t count, double power)
{
    double high[CHUNK];
    double low[CHUNK];

    logs(values, count, power, high, low);
    kfe_i_vexp_scaled(high, count, 1);
    for (int64_t i = 0; i < count; i++)
        values[i] =
            values[i] >= DBL_MIN && values[i] <= DBL_MAX ? high[i] + high[i] * low[i] : pow(values[i], power);
}

static void pow_chunks(logs_fn logs, double *values, int64_t count, double power)
{
    for (int64_t i = 0; i < count; i += CHUNK)
        pow_chunk(logs, values + i, count - i < CHUNK ? count - i : CHUNK, power);
}

static void roots_plain(double *values, int64_t count, double power)
{
    roots_body(values, count, power);
}

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

#define KFE_AVX2 __attribute__((target("avx2,fma")))

KFE_AVX2 static void roots_avx2(double *values, int64_t count, double power)
{
    roots_body(values, count, power);
}

KFE_AVX2 static void logs_avx2(const double *x, int64_t count, double power, double *high, double *low)
{
    logs_body(x, count, power, high, low);
}

static void roots(double *values, int64_t count, double power)
{
    (kfe_i_has_avx2() ? roots_avx2 : roots_plain)(values, count, power);
}

/* Without instructions for fused operations, the C library's pow is faster. */
static void pow_any(double *values, int64_t count, double power)
{
    if (kfe_i_has_avx2())
        pow_chunks(logs_avx2, values, count, power);
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = pow(values[i], power);
}

#else

static void logs_plain(const double *x, int64_t count, double power, double *high, double *low)
{
    logs_body(x, count, power, high, low);
}

static void roots(double *values, int64_t count, double power)
{
    roots_plain(values, count, power);
}

static void pow_any(double *values, int64_t count, double power)
{
    pow_chunks(logs_plain, values, count, power);
}

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
