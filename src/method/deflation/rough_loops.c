/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over a block of rows for rough_sums.c and rough_products.c, compiled for two instruction sets. Rows are taken four at a time, so
 * that sums over rows are read and written a quarter as often. */
#include "method/deflation/rough_loops.h"
#include "core/instructions.h"

#define KFE_BODY static inline __attribute__((always_inline))

/* Four numbers that lie anywhere in memory. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

enum { GROUP = 4 };                   /* rows, or columns, that are taken together */
enum { HALVES = KFE_ROUGH_TILE / 4 }; /* vectors of four in a row of a tile */

/* ---- sums ---- */

KFE_BODY void add_group(const double *restrict x, int64_t stride, int count, int64_t cols,
                        const double *restrict base, double *restrict sum, double *restrict square)
{
#pragma omp simd
    for (int64_t j = 0; j < cols; j++) {
        double total = 0;
        double squares = 0;
        for (int i = 0; i < count; i++) {
            double v = x[i * stride + j] - base[j];
            total += v;
            squares += v * v;
        }
        sum[j] += total;
        square[j] += squares;
    }
}

KFE_BODY void narrow_row(const double *restrict x, int64_t cols, const double *restrict base, double scale,
                         float *restrict single)
{
#pragma omp simd
    for (int64_t j = 0; j < cols; j++)
        single[j] = (float)((x[j] - base[j]) * scale);
}

KFE_BODY void add_body(const kfe_i_row_block *x, const double *base, double scale, double *sum,
                       double *square, float *singles)
{
    int64_t i = 0;

    for (; i + GROUP <= x->rows; i += GROUP)
        add_group(x->values + i * x->stride, x->stride, GROUP, x->cols, base, sum, square);
    for (; i < x->rows; i++)
        add_group(x->values + i * x->stride, x->stride, 1, x->cols, base, sum, square);
    for (i = 0; singles && i < x->rows; i++)
        narrow_row(x->values + i * x->stride, x->cols, base, scale, singles + i * x->cols);
}

/* ---- one direction ---- */

KFE_BODY void multiply_group(const double *restrict x, int64_t stride, int64_t cols, const double *restrict w,
                             double ahead, double *restrict along)
{
    const double *restrict y = x + stride;
    const double *restrict z = y + stride;
    const double *restrict u = z + stride;
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;

#pragma omp simd reduction(+ : a, b, c, d)
    for (int64_t j = 0; j < cols; j++) {
        a += x[j] * w[j];
        b += y[j] * w[j];
        c += z[j] * w[j];
        d += u[j] * w[j];
    }
    a -= ahead;
    b -= ahead;
    c -= ahead;
    d -= ahead;
#pragma omp simd
    for (int64_t j = 0; j < cols; j++)
        along[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * u[j]);
}

KFE_BODY void multiply_row(const double *restrict x, int64_t cols, const double *restrict w, double ahead,
                           double *restrict along)
{
    double image = 0;

#pragma omp simd reduction(+ : image)
    for (int64_t j = 0; j < cols; j++)
        image += x[j] * w[j];
    image -= ahead;
#pragma omp simd
    for (int64_t j = 0; j < cols; j++)
        along[j] += image * x[j];
}

KFE_BODY void multiply_body(const kfe_i_row_block *x, const double *w, double ahead, double *along)
{
    int64_t i = 0;

    for (; i + GROUP <= x->rows; i += GROUP)
        multiply_group(x->values + i * x->stride, x->stride, x->cols, w, ahead, along);
    for (; i < x->rows; i++)
        multiply_row(x->values + i * x->stride, x->cols, w, ahead, along);
}

/* ---- a tile of directions ---- */

/* images (count × KFE_ROUGH_TILE) = Xw − ahead of some rows. */
KFE_BODY void tile_images(const double *restrict x, int64_t stride, int count, int64_t cols,
                          const double *restrict w, const double *restrict ahead, double *restrict images)
{
    four sums[GROUP][HALVES];

    for (int i = 0; i < count; i++)
        for (int h = 0; h < HALVES; h++)
            sums[i][h] = -((const four *)ahead)[h];
    for (int64_t j = 0; j < cols; j++) {
        const four *row = (const four *)(w + j * KFE_ROUGH_TILE);
        for (int i = 0; i < count; i++)
            for (int h = 0; h < HALVES; h++)
                sums[i][h] += x[i * stride + j] * row[h];
    }
    for (int i = 0; i < count; i++)
        for (int h = 0; h < HALVES; h++)
            ((four *)images)[i * HALVES + h] = sums[i][h];
}

/* along (count × KFE_ROUGH_TILE) += Xᵀ·images for `count` columns of all rows. */
KFE_BODY void tile_sums(const kfe_i_row_block *x, int64_t column, int count, const double *restrict images,
                        double *restrict along)
{
    four sums[GROUP][HALVES];
    four *out = (four *)(along + column * KFE_ROUGH_TILE);

    for (int j = 0; j < count; j++)
        for (int h = 0; h < HALVES; h++)
            sums[j][h] = out[j * HALVES + h];
    for (int64_t i = 0; i < x->rows; i++) {
        const double *values = x->values + i * x->stride + column;
        const four *image = (const four *)(images + i * KFE_ROUGH_TILE);
        for (int j = 0; j < count; j++)
            for (int h = 0; h < HALVES; h++)
                sums[j][h] += values[j] * image[h];
    }
    for (int j = 0; j < count; j++)
        for (int h = 0; h < HALVES; h++)
            out[j * HALVES + h] = sums[j][h];
}

KFE_BODY void multiply_tile_body(const kfe_i_row_block *x, const double *w, const double *ahead,
                                 double *images, double *along)
{
    int64_t i = 0;
    int64_t j = 0;

    for (; i + GROUP <= x->rows; i += GROUP)
        tile_images(x->values + i * x->stride, x->stride, GROUP, x->cols, w, ahead,
                    images + i * KFE_ROUGH_TILE);
    for (; i < x->rows; i++)
        tile_images(x->values + i * x->stride, x->stride, 1, x->cols, w, ahead, images + i * KFE_ROUGH_TILE);
    for (; j + GROUP <= x->cols; j += GROUP)
        tile_sums(x, j, GROUP, images, along);
    for (; j < x->cols; j++)
        tile_sums(x, j, 1, images, along);
}

/* ---- for each instruction set ---- */

#define KFE_LOOPS(name, target)                                                                              \
    target static void add_##name(const kfe_i_row_block *x, const double *base, double scale, double *sum,   \
                                  double *square, float *singles)                                            \
    {                                                                                                        \
        add_body(x, base, scale, sum, square, singles);                                                      \
    }                                                                                                        \
    target static void multiply_##name(const kfe_i_row_block *x, const double *w, double ahead,              \
                                       double *along)                                                        \
    {                                                                                                        \
        multiply_body(x, w, ahead, along);                                                                   \
    }                                                                                                        \
    target static void tile_##name(const kfe_i_row_block *x, const double *w, const double *ahead,           \
                                   double *images, double *along)                                            \
    {                                                                                                        \
        multiply_tile_body(x, w, ahead, images, along);                                                      \
    }

KFE_LOOPS(plain, )

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

KFE_LOOPS(avx2, __attribute__((target("avx2,fma"))))

#define KFE_BEST(f) (kfe_i_has_avx2() ? f##_avx2 : f##_plain)

#else

#define KFE_BEST(f) f##_plain

#endif

void kfe_i_rough_add(const kfe_i_row_block *x, const double *base, double scale, double *sum, double *square,
                     float *singles)
{
    KFE_BEST(add)(x, base, scale, sum, square, singles);
}

void kfe_i_rough_multiply(const kfe_i_row_block *x, const double *w, double ahead, double *along)
{
    KFE_BEST(multiply)(x, w, ahead, along);
}

void kfe_i_rough_multiply_tile(const kfe_i_row_block *x, const double *w, const double *ahead, double *images,
                               double *along)
{
    KFE_BEST(tile)(x, w, ahead, images, along);
}
