/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symmetric matrix times a few vectors, for the stored operators.
 *
 * Like thin.c, but each entry below the diagonal block is used twice while it is in a register: a_ij·v_j is added to
 * out_i, and a_ij·v_i to out_j. So half of the matrix is read, and the arithmetic is the same. Every thread adds to an out of
 * its own; they are combined in the order of the threads.
 */
#include "gram/dense/symmetric.h"

#include <string.h>

#include "core/invariant.h"
#include "gram/dense/thin.h"

enum { ROWS = 4, PANEL = KFE_SYMMETRIC_PANEL, BLOCK = 1024 };
/* Smaller matrices are multiplied by one thread: starting others would take longer. */
enum { SERIAL_ORDER = 128 };

/* Eight of the sixteen vectors: one register of AVX-512, two of AVX2. */
typedef double half __attribute__((vector_size(64)));

#define KFE_BODY static inline __attribute__((always_inline))

/* Part of one panel: `cols` columns of `count` ≤ 4 rows. v and out are those of the columns, own_v and own_out those of the
 * rows; all have 8·halves numbers per row. `mirrored`: the columns get their share too. */
typedef struct strip {
    const double *wide;
    const float *narrow;
    int64_t stride, cols;
    const double *v, *own_v;
    double *out, *own_out;
} strip;

/* Constants of a loop, known at compile time. */
typedef struct shape {
    int halves, mirrored, is_wide;
} shape;

/* Each half is a variable of its own: arrays would pass through memory. */
KFE_BODY void multiply_rows(int count, shape is, const strip *s)
{
    half sums[ROWS][2];
    half own[ROWS][2];
    int width = 8 * is.halves;
    int second = is.halves > 1 ? 8 : 0; /* where the second half begins, if there is one */

    for (int r = 0; r < count; r++)
        for (int h = 0; h < is.halves; h++) {
            memcpy(&sums[r][h], s->own_out + r * width + 8 * h, sizeof(half));
            memcpy(&own[r][h], s->own_v + r * width + 8 * h, sizeof(half));
        }
    for (int64_t j = 0; j < s->cols; j++) {
        half v0;
        half v1;
        half out0;
        half out1;
        memcpy(&v0, s->v + j * width, sizeof v0);
        memcpy(&v1, s->v + j * width + second, sizeof v1);
        memcpy(&out0, s->out + j * width, sizeof out0);
        memcpy(&out1, s->out + j * width + second, sizeof out1);
        for (int r = 0; r < count; r++) {
            double entry = is.is_wide ? s->wide[r * s->stride + j] : (double)s->narrow[r * s->stride + j];
            sums[r][0] += entry * v0;
            if (second)
                sums[r][1] += entry * v1;
            if (is.mirrored)
                out0 += entry * own[r][0];
            if (is.mirrored && second)
                out1 += entry * own[r][1];
        }
        if (is.mirrored)
            memcpy(s->out + j * width, &out0, sizeof out0);
        if (is.mirrored && second)
            memcpy(s->out + j * width + second, &out1, sizeof out1);
    }
    for (int r = 0; r < count; r++)
        for (int h = 0; h < is.halves; h++)
            memcpy(s->own_out + r * width + 8 * h, &sums[r][h], sizeof(half));
}

KFE_BODY void skip_rows(int64_t count, shape is, strip *s)
{
    if (is.is_wide)
        s->wide += count * s->stride;
    else
        s->narrow += count * s->stride;
    s->own_v += count * 8 * is.halves;
    s->own_out += count * 8 * is.halves;
}

/* `rows` rows of a panel and one block of its columns. */
KFE_BODY void multiply_strip(int64_t rows, shape is, strip s)
{
    int64_t r = 0;

    for (; r + ROWS <= rows; r += ROWS) {
        multiply_rows(ROWS, is, &s);
        skip_rows(ROWS, is, &s);
    }
    for (; r < rows; r++) {
        multiply_rows(1, is, &s);
        skip_rows(1, is, &s);
    }
}

KFE_BODY void multiply_halves(int64_t rows, int halves, int mirrored, const strip *s)
{
    if (s->wide && mirrored)
        multiply_strip(rows, (shape){halves, 1, 1}, *s);
    else if (s->wide)
        multiply_strip(rows, (shape){halves, 0, 1}, *s);
    else if (mirrored)
        multiply_strip(rows, (shape){halves, 1, 0}, *s);
    else
        multiply_strip(rows, (shape){halves, 0, 0}, *s);
}

KFE_BODY void multiply_any(int64_t rows, int halves, int mirrored, const strip *s)
{
    if (halves == 1)
        multiply_halves(rows, 1, mirrored, s);
    else
        multiply_halves(rows, 2, mirrored, s);
}

typedef void (*strip_fn)(int64_t rows, int halves, int mirrored, const strip *s);

static void strip_plain(int64_t rows, int halves, int mirrored, const strip *s)
{
    multiply_any(rows, halves, mirrored, s);
}

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

__attribute__((target("avx512f,avx512vl,fma"))) static void strip_avx512(int64_t rows, int halves,
                                                                         int mirrored, const strip *s)
{
    multiply_any(rows, halves, mirrored, s);
}

__attribute__((target("avx2,fma"))) static void strip_avx2(int64_t rows, int halves, int mirrored,
                                                           const strip *s)
{
    multiply_any(rows, halves, mirrored, s);
}

static strip_fn best_strip(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return strip_avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? strip_avx2 : strip_plain;
}

#else

static strip_fn best_strip(void)
{
    return strip_plain;
}

#endif

int64_t kfe_i_symmetric_entries(int64_t n)
{
    int64_t whole = n / PANEL;
    int64_t rest = n % PANEL;

    return kfe_i_symmetric_offset(whole) + rest * n;
}

int64_t kfe_i_symmetric_dealt_entries(int64_t n, int ranks)
{
    int64_t panels = (n + PANEL - 1) / PANEL;
    int64_t most = 0;

    for (int rank = 0; rank < ranks; rank++) {
        kfe_i_share share = {rank, ranks};
        int64_t own = kfe_i_symmetric_dealt_offset(share, kfe_i_dealt_count(share, panels));
        most = own > most ? own : most;
    }
    return most;
}

int64_t kfe_i_symmetric_work(const kfe_context *ctx, int64_t n)
{
    return KFE_THIN * n * (1 + (int64_t)kfe_context_threads(ctx));
}

typedef struct product {
    const kfe_i_symmetric *matrix;
    strip_fn multiply;
    int halves;
} product;

/* The panels that are here. */
static kfe_i_share share_of(const kfe_i_symmetric *a)
{
    return a->share.ranks > 0 ? a->share : (kfe_i_share){0, 1};
}

/* out (n × 8·halves) += the products with one panel. */
static void multiply_panel(const product *p, int64_t turn, const double *v, double *out)
{
    const kfe_i_symmetric *a = p->matrix;
    int64_t width = 8 * p->halves;
    int64_t panel = kfe_i_dealt(share_of(a), turn);
    int64_t row = panel * PANEL;
    int64_t stride = kfe_i_symmetric_stride(a->n, panel);
    int64_t offset = kfe_i_symmetric_dealt_offset(share_of(a), turn);

    for (int64_t col = 0; col < stride;) { /* blocks end at the diagonal block, which is not mirrored */
        int mirrored = col < row;
        int64_t limit = mirrored ? row : stride;
        strip s = {.wide = a->wide ? a->wide + offset + col : NULL,
                   .narrow = a->narrow ? a->narrow + offset + col : NULL,
                   .stride = stride,
                   .cols = limit - col < BLOCK ? limit - col : BLOCK,
                   .v = v + col * width,
                   .out = out + col * width,
                   .own_v = v + row * width,
                   .own_out = out + row * width};
        p->multiply(stride - row, p->halves, mirrored, &s);
        col += s.cols;
    }
}

/* block_out (n × 8·halves for each thread) = a·block_v; the sum over the threads ends in the first. */
static void multiply_block(const product *p, int threads, const double *block_v, double *block_out)
{
    int64_t panels = kfe_i_dealt_count(share_of(p->matrix), (p->matrix->n + PANEL - 1) / PANEL);
    int64_t size = p->matrix->n * 8 * p->halves;

#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            double *out = block_out + t * size;
            memset(out, 0, (size_t)size * sizeof *out);
            for (int64_t panel = t; panel < panels; panel += threads)
                multiply_panel(p, panel, block_v, out);
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < size; i++)
            for (int t = 1; t < threads; t++)
                block_out[i] += block_out[t * size + i];
    }
}

void kfe_i_symmetric_times(const kfe_context *ctx, const kfe_i_symmetric *a, const double *v, int64_t k,
                           double *out, double *work)
{
    int64_t n = a->n;
    int threads = n < SERIAL_ORDER ? 1 : kfe_context_threads(ctx);
    double *block_v = work;
    double *block_out = work + KFE_THIN * n;

    assert(k >= 0 && v != out);
    for (int64_t first = 0; first < k; first += KFE_THIN) {
        int64_t count = k - first < KFE_THIN ? k - first : KFE_THIN;
        product p = {.matrix = a, .multiply = best_strip(), .halves = count <= 8 ? 1 : 2};
        int64_t width = 8 * p.halves;
        memset(block_v, 0, (size_t)(n * width) * sizeof *block_v);
        for (int64_t i = 0; i < n; i++)
            memcpy(block_v + i * width, v + i * k + first, (size_t)count * sizeof *v);
        multiply_block(&p, threads, block_v, block_out);
        for (int64_t i = 0; i < n; i++)
            memcpy(out + i * k + first, block_out + i * width, (size_t)count * sizeof *out);
    }
}
