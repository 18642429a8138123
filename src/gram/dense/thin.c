/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix times a few vectors, for the stored operators and the candidate pool of the pursuit methods.
 *
 * GEMM copies the large matrix into its own order before it multiplies; for sixteen vectors the copy takes as
 * long as the product. This code reads the matrix once, in place: four rows at a time against a block of
 * vectors that stays in cache, with the sums in registers. A block of columns is as large as lets its vectors
 * fill a quarter of the second-level cache.
 */
#include "gram/dense/thin.h"

#include <omp.h>
#include <string.h>

#include "core/invariant.h"

enum { ROWS = 4, PANEL = 64, BLOCK = 2048 };
/* Smaller matrices are multiplied by one thread: starting others would take longer. */
enum { SERIAL_ENTRIES = 1 << 14 };

/* Eight of the sixteen vectors: one register of AVX-512, two of AVX2. */
typedef double half __attribute__((vector_size(64)));

#define KFE_BODY static inline __attribute__((always_inline))

/* out (count × 16) += rows·v for `count` ≤ 4 rows of `cols` entries, in `wide` or `narrow`. With one half, the first
 * eight vectors only. */
KFE_BODY void multiply_rows(int count, int halves, int64_t cols, const double *wide, const float *narrow,
                            int64_t lda, const double *v, double *out)
{
    half sums[ROWS][2];
    half part[2];

    for (int r = 0; r < count; r++)
        memcpy(sums[r], out + r * KFE_THIN, (size_t)halves * sizeof(half));
    for (int64_t j = 0; j < cols; j++) {
        memcpy(part, v + j * KFE_THIN, (size_t)halves * sizeof(half));
        for (int r = 0; r < count; r++) {
            double entry = wide ? wide[r * lda + j] : (double)narrow[r * lda + j];
            for (int h = 0; h < halves; h++)
                sums[r][h] += entry * part[h];
        }
    }
    for (int r = 0; r < count; r++)
        memcpy(out + r * KFE_THIN, sums[r], (size_t)halves * sizeof(half));
}

KFE_BODY void multiply_halves(int halves, int64_t rows, int64_t cols, const double *wide, const float *narrow,
                              int64_t lda, const double *v, double *out)
{
    int64_t r = 0;

    for (; r + ROWS <= rows; r += ROWS) {
        if (wide)
            multiply_rows(ROWS, halves, cols, wide + r * lda, NULL, lda, v, out + r * KFE_THIN);
        else
            multiply_rows(ROWS, halves, cols, NULL, narrow + r * lda, lda, v, out + r * KFE_THIN);
    }
    for (; r < rows; r++)
        multiply_rows(1, halves, cols, wide ? wide + r * lda : NULL, wide ? NULL : narrow + r * lda, lda, v,
                      out + r * KFE_THIN);
}

/* out += panel·v for a panel of rows and one block of columns; `count` of the vectors are in use. */
KFE_BODY void multiply_panel(int64_t count, int64_t rows, int64_t cols, const double *wide,
                             const float *narrow, int64_t lda, const double *v, double *out)
{
    if (count <= KFE_THIN / 2)
        multiply_halves(1, rows, cols, wide, narrow, lda, v, out);
    else
        multiply_halves(2, rows, cols, wide, narrow, lda, v, out);
}

typedef void (*panel_fn)(int64_t count, int64_t rows, int64_t cols, const double *wide, const float *narrow,
                         int64_t lda, const double *v, double *out);

static void panel_plain(int64_t count, int64_t rows, int64_t cols, const double *wide, const float *narrow,
                        int64_t lda, const double *v, double *out)
{
    multiply_panel(count, rows, cols, wide, narrow, lda, v, out);
}

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

__attribute__((target("avx512f,avx512vl,fma"))) static void panel_avx512(int64_t count, int64_t rows,
                                                                         int64_t cols, const double *wide,
                                                                         const float *narrow, int64_t lda,
                                                                         const double *v, double *out)
{
    multiply_panel(count, rows, cols, wide, narrow, lda, v, out);
}

__attribute__((target("avx2,fma"))) static void panel_avx2(int64_t count, int64_t rows, int64_t cols,
                                                           const double *wide, const float *narrow,
                                                           int64_t lda, const double *v, double *out)
{
    multiply_panel(count, rows, cols, wide, narrow, lda, v, out);
}

static panel_fn best_panel(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return panel_avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? panel_avx2 : panel_plain;
}

#else

static panel_fn best_panel(void)
{
    return panel_plain;
}

#endif

int64_t kfe_i_thin_work(int64_t rows, int64_t cols)
{
    return KFE_THIN * (rows + cols);
}

/* Copies `count` of the k columns, from `first` on, into a block of 16 columns; the other columns are zero.
 * `scatter` copies them back. */
static void gather(int64_t n, int64_t k, int64_t first, int64_t count, const double *from, double *block)
{
    memset(block, 0, (size_t)(n * KFE_THIN) * sizeof *block);
    for (int64_t i = 0; i < n; i++)
        memcpy(block + i * KFE_THIN, from + i * k + first, (size_t)count * sizeof *block);
}

static void scatter(int64_t n, int64_t k, int64_t first, int64_t count, const double *block, double *to)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * k + first, block + i * KFE_THIN, (size_t)count * sizeof *block);
}

/* block_out (rows × 16) += a·block_v (cols × 16), of which the first `count` columns are in use */
static void multiply_block(const kfe_context *ctx, const kfe_i_thin_matrix *a, int64_t count,
                           const double *block_v, double *block_out)
{
    panel_fn multiply = best_panel();
    int64_t lda = a->stride;

#pragma omp parallel for num_threads(kfe_context_threads(ctx)) if (a->rows * a->cols >= SERIAL_ENTRIES)      \
    schedule(dynamic, 1)
    for (int64_t row = 0; row < a->rows; row += PANEL)
        for (int64_t col = 0; col < a->cols; col += BLOCK)
            multiply(count, a->rows - row < PANEL ? a->rows - row : PANEL,
                     a->cols - col < BLOCK ? a->cols - col : BLOCK,
                     a->wide ? a->wide + row * lda + col : NULL,
                     a->narrow ? a->narrow + row * lda + col : NULL, lda, block_v + col * KFE_THIN,
                     block_out + row * KFE_THIN);
}

void kfe_i_thin_times(const kfe_context *ctx, const kfe_i_thin_matrix *a, const double *v, int64_t k,
                      double *out, double *work)
{
    double *block_v = work;
    double *block_out = work + KFE_THIN * a->cols;

    assert(k >= 0 && v != out);
    for (int64_t first = 0; first < k; first += KFE_THIN) {
        int64_t count = k - first < KFE_THIN ? k - first : KFE_THIN;
        gather(a->cols, k, first, count, v, block_v);
        gather(a->rows, k, first, count, out, block_out);
        multiply_block(ctx, a, count, block_v, block_out);
        scatter(a->rows, k, first, count, block_out, out);
    }
}
