/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loops over rows, compiled for AVX-512, AVX2 and the baseline, and chosen at run time. */
#include "kernel/tile/rows.h"

#include "core/instructions.h"

/* A cache line of doubles. */
enum { KFE_SQUARE = 8 };

KFE_LOOP int distances(double *restrict values, int64_t count, double norm, const double *restrict norms,
                       double share)
{
    int64_t close = 0;

    for (int64_t j = 0; j < count; j++) {
        double reach = norm + norms[j];
        values[j] = reach - 2 * values[j];
        close += !(values[j] >= share * reach);
    }
    return close > 0;
}

KFE_LOOP double sum(const double *values, int64_t count)
{
    double total = 0;

#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < count; j++)
        total += values[j];
    return total;
}

KFE_LOOP void times_panel(const int32_t *columns, const double *values, int64_t count, const int32_t *place,
                          const double *panel, double *restrict sums)
{
    for (int64_t p = 0; p < count; p++) {
        int64_t row = place[columns[p]];
        if (row == 0)
            continue;
        const double *lanes = panel + (row - 1) * KFE_LANES;
        double value = values[p];
        for (int l = 0; l < KFE_LANES; l++)
            sums[l] += value * lanes[l];
    }
}

KFE_LOOP double distance(const double *x, const double *y, int64_t count)
{
    double total = 0;

#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < count; j++)
        total += (x[j] - y[j]) * (x[j] - y[j]);
    return total;
}

KFE_LOOP double dot_and_square(const double *x, const double *y, int64_t count, double *square)
{
    double dot = 0;
    double own = 0;

#pragma omp simd reduction(+ : dot, own)
    for (int64_t j = 0; j < count; j++) {
        dot += x[j] * y[j];
        own += y[j] * y[j];
    }
    *square = own;
    return dot;
}

KFE_LOOP void add_rows(const double *weights, int64_t count, const double *rows, int64_t k,
                       double *restrict out)
{
    for (int64_t j = 0; j < count; j++)
        for (int64_t c = 0; c < k; c++)
            out[c] += weights[j] * rows[j * k + c];
}

KFE_LOOP int64_t find_reaching(const float *values, const float *levels, float threshold, int64_t from,
                               int64_t count)
{
    enum { BLOCK = 64 };

    for (int64_t first = from; first < count; first += BLOCK) {
        int64_t last = first + BLOCK < count ? first + BLOCK : count;
        int found = 0;
#pragma omp simd reduction(| : found)
        for (int64_t j = first; j < last; j++)
            found |= values[j] - levels[j] >= threshold;
        for (int64_t j = first; found && j < last; j++)
            if (values[j] - levels[j] >= threshold)
                return j;
    }
    return count;
}

KFE_CHOOSE_LOOP(int, return, kfe_i_row_distances, distances,
                (double *values, int64_t count, double norm, const double *norms, double share),
                (values, count, norm, norms, share))
KFE_CHOOSE_LOOP(double, return, kfe_i_row_sum, sum, (const double *values, int64_t count), (values, count))
KFE_CHOOSE_LOOP(void, , kfe_i_row_times_panel, times_panel,
                (const int32_t *columns, const double *values, int64_t count, const int32_t *place,
                 const double *panel, double *sums),
                (columns, values, count, place, panel, sums))
KFE_CHOOSE_LOOP(double, return, kfe_i_row_distance, distance,
                (const double *x, const double *y, int64_t count), (x, y, count))
KFE_CHOOSE_LOOP(double, return, kfe_i_row_dot, dot_and_square,
                (const double *x, const double *y, int64_t count, double *square), (x, y, count, square))
KFE_CHOOSE_LOOP(void, , kfe_i_add_rows, add_rows,
                (const double *weights, int64_t count, const double *rows, int64_t k, double *out),
                (weights, count, rows, k, out))
KFE_CHOOSE_LOOP(int64_t, return, kfe_i_row_find_reaching, find_reaching,
                (const float *values, const float *levels, float threshold, int64_t from, int64_t count),
                (values, levels, threshold, from, count))

/* ---- transposes ---- */

static void transpose_part(const double *from, int64_t from_stride, int64_t rows, int64_t cols, double *to,
                           int64_t to_stride)
{
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            to[j * to_stride + i] = from[i * from_stride + j];
}

/* By squares that fill whole cache lines of both. */
KFE_LOOP void transpose(const double *from, int64_t from_stride, int64_t rows, int64_t cols, double *to,
                        int64_t to_stride, void (*square)(const double *, int64_t, double *, int64_t))
{
    for (int64_t j = 0; j < cols; j += KFE_SQUARE)
        for (int64_t i = 0; i < rows; i += KFE_SQUARE) {
            const double *here = from + i * from_stride + j;
            double *there = to + j * to_stride + i;
            int64_t high = rows - i < KFE_SQUARE ? rows - i : KFE_SQUARE;
            int64_t wide = cols - j < KFE_SQUARE ? cols - j : KFE_SQUARE;
            if (high == KFE_SQUARE && wide == KFE_SQUARE)
                square(here, from_stride, there, to_stride);
            else
                transpose_part(here, from_stride, high, wide, there, to_stride);
        }
}

static void square_plain(const double *from, int64_t from_stride, double *to, int64_t to_stride)
{
    transpose_part(from, from_stride, KFE_SQUARE, KFE_SQUARE, to, to_stride);
}

#if defined(__x86_64__) && !defined(KFE_PORTABLE)
#include <immintrin.h>

/* Transposes four rows of four. */
KFE_AVX2_LOOP static inline void quarter_avx2(const double *from, int64_t from_stride, double *to,
                                              int64_t to_stride)
{
    __m256d row0 = _mm256_loadu_pd(from);
    __m256d row1 = _mm256_loadu_pd(from + from_stride);
    __m256d row2 = _mm256_loadu_pd(from + 2 * from_stride);
    __m256d row3 = _mm256_loadu_pd(from + 3 * from_stride);
    __m256d even01 = _mm256_unpacklo_pd(row0, row1);
    __m256d odd01 = _mm256_unpackhi_pd(row0, row1);
    __m256d even23 = _mm256_unpacklo_pd(row2, row3);
    __m256d odd23 = _mm256_unpackhi_pd(row2, row3);

    _mm256_storeu_pd(to, _mm256_permute2f128_pd(even01, even23, 0x20));
    _mm256_storeu_pd(to + to_stride, _mm256_permute2f128_pd(odd01, odd23, 0x20));
    _mm256_storeu_pd(to + 2 * to_stride, _mm256_permute2f128_pd(even01, even23, 0x31));
    _mm256_storeu_pd(to + 3 * to_stride, _mm256_permute2f128_pd(odd01, odd23, 0x31));
}

KFE_AVX2_LOOP static void square_avx2(const double *from, int64_t from_stride, double *to, int64_t to_stride)
{
    quarter_avx2(from, from_stride, to, to_stride);
    quarter_avx2(from + 4 * from_stride, from_stride, to + 4, to_stride);
    quarter_avx2(from + 4, from_stride, to + 4 * to_stride, to_stride);
    quarter_avx2(from + 4 * from_stride + 4, from_stride, to + 4 * to_stride + 4, to_stride);
}

#define KFE_BEST_SQUARE (kfe_i_has_avx2() ? square_avx2 : square_plain)
#else
#define KFE_BEST_SQUARE square_plain
#endif

void kfe_i_transpose(const double *from, int64_t from_stride, int64_t rows, int64_t cols, double *to,
                     int64_t to_stride)
{
    transpose(from, from_stride, rows, cols, to, to_stride, KFE_BEST_SQUARE);
}
