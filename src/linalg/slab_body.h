/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of slabs.c for one instruction set. slabs.c includes this file once for each, with
 *     KFE_BYTES    of a register,
 *     KFE_TARGET   the attribute that allows the instructions, or nothing,
 *     KFE_NAME(f)  the name of f for this set.
 * Numbers of rows are multiples of eight. No include guard: it is included several times. */

typedef double KFE_NAME(lanes) __attribute__((vector_size(KFE_BYTES)));
/* The same where they lie in memory, and in single precision. */
typedef double KFE_NAME(lanes_at) __attribute__((vector_size(KFE_BYTES), aligned(8), may_alias));
typedef float KFE_NAME(singles_at) __attribute__((vector_size(KFE_BYTES / 2), aligned(4), may_alias));

#define KFE_LANES (KFE_BYTES / 8)
#define KFE_AT(pointer) (*(const KFE_NAME(lanes_at) *)(pointer))

/* Columns that are read together are that many streams, more than the processor foresees: reads ahead, row i of the columns that
 * follow, `bytes` each, as one stream. */
KFE_TARGET static inline __attribute__((always_inline)) void KFE_NAME(read_ahead)(const void *next, int64_t i,
                                                                                  int many, int bytes)
{
    for (int line = 0; line < many * bytes * KFE_LANES; line += LINE)
        __builtin_prefetch((const char *)next + i * many * bytes + line);
}

KFE_TARGET static inline double KFE_NAME(total)(KFE_NAME(lanes) v)
{
    double sum = 0;

    for (int l = 0; l < KFE_LANES; l++)
        sum += v[l];
    return sum;
}

/* out += the products of `many` columns of a with `few` of b, whose sums are in registers. */
KFE_TARGET static inline __attribute__((always_inline)) void KFE_NAME(multiply)(int64_t rows, int many,
                                                                                int few, const double *a,
                                                                                const double *b, double *out,
                                                                                int64_t stride)
{
    KFE_NAME(lanes) sums[MANY][FEW] = {{{0}}};
    KFE_NAME(lanes) right[FEW];

    for (int64_t i = 0; i < rows; i += KFE_LANES) {
        if (few == 1)
            KFE_NAME(read_ahead)(a + many * rows, i, many, (int)sizeof *a);
        for (int c = 0; c < few; c++)
            right[c] = KFE_AT(b + c * rows + i);
        for (int r = 0; r < many; r++) {
            KFE_NAME(lanes) left = KFE_AT(a + r * rows + i);
            for (int c = 0; c < few; c++)
                sums[r][c] += left * right[c];
        }
    }
    for (int r = 0; r < many; r++)
        for (int c = 0; c < few; c++)
            out[r * stride + c] += KFE_NAME(total)(sums[r][c]);
}

KFE_TARGET static void KFE_NAME(products)(int64_t rows, int64_t a_count, const double *a, int64_t b_count,
                                          const double *b, double *out, int64_t stride)
{
    int64_t i = 0;

    for (; i + MANY <= a_count; i += MANY) {
        int64_t j = 0;
        for (; j + FEW <= b_count; j += FEW)
            KFE_NAME(multiply)(rows, MANY, FEW, a + i * rows, b + j * rows, out + i * stride + j, stride);
        for (; j < b_count; j++)
            KFE_NAME(multiply)(rows, MANY, 1, a + i * rows, b + j * rows, out + i * stride + j, stride);
    }
    for (; i < a_count; i++)
        for (int64_t j = 0; j < b_count; j++)
            KFE_NAME(multiply)(rows, 1, 1, a + i * rows, b + j * rows, out + i * stride + j, stride);
}

/* v −= Σ weights[r]·(column r of a), `many` columns */
KFE_TARGET static inline __attribute__((always_inline)) void
KFE_NAME(take)(int64_t rows, int many, const double *a, const double *weights, double *v)
{
    for (int64_t i = 0; i < rows; i += KFE_LANES) {
        KFE_NAME(lanes) left = KFE_AT(v + i);
        KFE_NAME(read_ahead)(a + many * rows, i, many, (int)sizeof *a);
        for (int r = 0; r < many; r++)
            left -= weights[r] * KFE_AT(a + r * rows + i);
        *(KFE_NAME(lanes_at) *)(v + i) = left;
    }
}

KFE_TARGET static void KFE_NAME(subtract)(int64_t rows, int64_t count, const double *a, const double *weights,
                                          double *v)
{
    int64_t j = 0;

    for (; j + MANY <= count; j += MANY)
        KFE_NAME(take)(rows, MANY, a + j * rows, weights + j, v);
    for (; j < count; j++)
        KFE_NAME(take)(rows, 1, a + j * rows, weights + j, v);
}

/* out[r] += (column r of a)·v, `many` columns */
KFE_TARGET static inline __attribute__((always_inline)) void
KFE_NAME(multiply_singles)(int64_t rows, int many, const float *a, const double *v, double *out)
{
    KFE_NAME(lanes) sums[MANY] = {{0}};

    for (int64_t i = 0; i < rows; i += KFE_LANES) {
        KFE_NAME(lanes) right = KFE_AT(v + i);
        KFE_NAME(read_ahead)(a + many * rows, i, many, (int)sizeof *a);
        for (int r = 0; r < many; r++)
            sums[r] += right * __builtin_convertvector(*(const KFE_NAME(singles_at) *)(a + r * rows + i),
                                                       KFE_NAME(lanes));
    }
    for (int r = 0; r < many; r++)
        out[r] += KFE_NAME(total)(sums[r]);
}

KFE_TARGET static void KFE_NAME(dots)(int64_t rows, int64_t count, const float *a, const double *v,
                                      double *out)
{
    int64_t j = 0;

    for (; j + MANY <= count; j += MANY)
        KFE_NAME(multiply_singles)(rows, MANY, a + j * rows, v, out + j);
    for (; j < count; j++)
        KFE_NAME(multiply_singles)(rows, 1, a + j * rows, v, out + j);
}

KFE_TARGET static double KFE_NAME(narrow)(int64_t rows, const double *v, float *out)
{
    KFE_NAME(lanes) sum = {0};

    for (int64_t i = 0; i < rows; i += KFE_LANES) {
        KFE_NAME(singles_at) kept = __builtin_convertvector(KFE_AT(v + i), KFE_NAME(singles_at));
        KFE_NAME(lanes) wide = __builtin_convertvector(kept, KFE_NAME(lanes));
        *(KFE_NAME(singles_at) *)(out + i) = kept;
        sum += wide * wide;
    }
    return KFE_NAME(total)(sum);
}

#undef KFE_AT
#undef KFE_LANES
#undef KFE_BYTES
#undef KFE_TARGET
#undef KFE_NAME
