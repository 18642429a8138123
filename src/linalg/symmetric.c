/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symmetric matrix times a few vectors, for the stored operators.
 *
 * Like thin.c, but each entry below the diagonal block is used twice while it is in a register: a_ij·v_j is added to
 * out_i, and a_ij·v_i to out_j. So half of the matrix is read, and the arithmetic is the same. Every thread adds to an out of
 * its own; they are combined in the order of the threads.
 *
 * In single precision twice as many numbers fit in a register. Sums of at most 256 products are then in single precision, and
 * sums of these in double precision, so that rounding of the entries and vectors is most of the error.
 */
#include "linalg/symmetric.h"

#include <string.h>

#include "core/invariant.h"
#include "linalg/strip.h"
#include "linalg/thin.h"

enum { PANEL = KFE_SYMMETRIC_PANEL, BLOCK = KFE_STRIP_COLS };
/* Smaller matrices are multiplied by one thread: starting others would take longer. */
enum { SERIAL_ORDER = 128 };

/* ---- the stored half ---- */

int64_t kfe_i_symmetric_entries(int64_t n)
{
    int64_t whole = n / PANEL;
    int64_t rest = n % PANEL;

    return kfe_i_symmetric_offset(whole) + rest * n;
}

int64_t kfe_i_symmetric_dealt_entries(int64_t n, int processes)
{
    int64_t panels = (n + PANEL - 1) / PANEL;
    int64_t most = 0;

    for (int process = 0; process < processes; process++) {
        kfe_i_share share = {process, processes};
        int64_t own = kfe_i_symmetric_dealt_offset(share, kfe_i_dealt_count(share, panels));
        most = own > most ? own : most;
    }
    return most;
}

int64_t kfe_i_symmetric_work(const kfe_context *ctx, int64_t n)
{
    return KFE_THIN * n * (1 + (int64_t)kfe_context_threads(ctx));
}

/* ---- products ---- */

/* `count` ≤ 16 vectors, in groups of `width` numbers: group g of v and of the sums begins at number n·width·g. */
typedef struct product {
    const kfe_i_symmetric *matrix;
    kfe_i_strip_way way;
    int single;
    int registers, threads;
    int64_t width, groups, count;
    const double *from; /* n × stride, the vectors as they were given */
    double *to;         /* the same of the result */
    int64_t stride;
    void *v;      /* in groups, in the precision of the product */
    double *sums; /* in groups, for each thread */
} product;

/* Adds sums in single precision to those in double precision. */
static void add_widened(int64_t count, const float *from, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += (double)from[i];
}

/* The strip with sums in single precision of its own. */
static void multiply_single(const product *p, int mirrored, kfe_i_strip s, double *out, double *own_out)
{
    enum { MOST = 16 }; /* numbers of a group */
    float columns[BLOCK * MOST];
    float rows[PANEL * MOST];
    int64_t width = p->width;

    memset(columns, 0, (size_t)(s.cols * width) * sizeof *columns);
    memset(rows, 0, (size_t)(s.rows * width) * sizeof *rows);
    s.out = columns;
    s.own_out = rows;
    p->way.multiply(p->registers, mirrored, &s);
    if (mirrored)
        add_widened(s.cols * width, columns, out);
    add_widened(s.rows * width, rows, own_out);
}

/* One group: sums (n × width) += the products with the columns of a strip from `col` on. */
static void multiply_group(const product *p, int64_t group, int64_t row, int64_t col, kfe_i_strip s,
                           double *sums)
{
    int64_t first = p->matrix->n * p->width * group;
    double *out = sums + first + col * p->width;
    double *own_out = sums + first + row * p->width;
    int mirrored = col < row;

    if (p->single) {
        s.v = (const float *)p->v + first + col * p->width;
        s.own_v = (const float *)p->v + first + row * p->width;
        multiply_single(p, mirrored, s, out, own_out);
        return;
    }
    s.v = (const double *)p->v + first + col * p->width;
    s.own_v = (const double *)p->v + first + row * p->width;
    s.out = out;
    s.own_out = own_out;
    p->way.multiply(p->registers, mirrored, &s);
}

/* sums += the products with one panel. */
static void multiply_panel(const product *p, int64_t turn, double *sums)
{
    const kfe_i_symmetric *a = p->matrix;
    int64_t panel = kfe_i_dealt(a->share, turn);
    int64_t row = panel * PANEL;
    int64_t stride = kfe_i_symmetric_stride(a->n, panel);
    int64_t offset = kfe_i_symmetric_dealt_offset(a->share, turn);

    for (int64_t col = 0; col < stride;) { /* blocks end at the diagonal block, which is not mirrored */
        int64_t limit = col < row ? row : stride;
        kfe_i_strip s = {.wide = a->wide ? a->wide + offset + col : NULL,
                         .narrow = a->narrow ? a->narrow + offset + col : NULL,
                         .stride = stride,
                         .rows = stride - row,
                         .cols = limit - col < BLOCK ? limit - col : BLOCK};
        for (int64_t g = 0; g < p->groups; g++)
            multiply_group(p, g, row, col, s, sums);
        col += s.cols;
    }
}

/* Row i of the vectors, in groups. */
static void gather_row(const product *p, int64_t i)
{
    int64_t n = p->matrix->n;

    for (int64_t j = 0; j < p->width * p->groups; j++) {
        double value = j < p->count ? p->from[i * p->stride + j] : 0;
        int64_t at = (n * (j / p->width) + i) * p->width + j % p->width;
        if (p->single)
            ((float *)p->v)[at] = (float)value;
        else
            ((double *)p->v)[at] = value;
    }
}

/* Row i of the result: the sums of all threads, in their order. */
static void scatter_row(const product *p, int64_t i)
{
    int64_t n = p->matrix->n;
    int64_t size = n * p->width * p->groups;

    for (int64_t j = 0; j < p->count; j++) {
        const double *at = p->sums + (n * (j / p->width) + i) * p->width + j % p->width;
        double sum = at[0];
        for (int t = 1; t < p->threads; t++)
            sum += at[t * size];
        p->to[i * p->stride + j] = sum;
    }
}

/* Panels grow with their number, so that they are dealt to threads forwards and backwards. */
static void multiply_share(const product *p, int thread)
{
    int64_t panels = kfe_i_dealt_count(p->matrix->share, (p->matrix->n + PANEL - 1) / PANEL);
    int64_t size = p->matrix->n * p->width * p->groups;
    double *sums = p->sums + thread * size;
    kfe_i_share share = {thread, p->threads};

    memset(sums, 0, (size_t)size * sizeof *sums);
    for (int64_t turn = 0; turn < kfe_i_dealt_count(share, panels); turn++)
        multiply_panel(p, kfe_i_dealt(share, turn), sums);
}

static void multiply_block(const product *p)
{
    int64_t n = p->matrix->n;

#pragma omp parallel num_threads(p->threads) if (p->threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            gather_row(p, i);
#pragma omp for schedule(static, 1)
        for (int t = 0; t < p->threads; t++)
            multiply_share(p, t);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            scatter_row(p, i);
    }
}

static void multiply(const kfe_context *ctx, const kfe_i_symmetric *a, int single, const double *v, int64_t k,
                     double *out, double *work)
{
    int64_t n = a->n;
    product p = {.matrix = a, .way = kfe_i_best_strip(single), .single = single, .stride = k};

    assert(k >= 0 && v != out);
    p.threads = n < SERIAL_ORDER ? 1 : kfe_context_threads(ctx);
    p.v = work;
    p.sums = work + KFE_THIN * n;
    for (int64_t first = 0; first < k; first += KFE_THIN) {
        p.count = k - first < KFE_THIN ? k - first : KFE_THIN;
        p.registers = p.count <= p.way.lanes ? 1 : 2;
        p.width = p.way.lanes * p.registers;
        p.groups = (p.count + p.width - 1) / p.width;
        p.from = v + first;
        p.to = out + first;
        multiply_block(&p);
    }
}

void kfe_i_symmetric_times(const kfe_context *ctx, const kfe_i_symmetric *a, const double *v, int64_t k,
                           double *out, double *work)
{
    multiply(ctx, a, 0, v, k, out, work);
}

void kfe_i_symmetric_times_single(const kfe_context *ctx, const kfe_i_symmetric *a, const double *v,
                                  int64_t k, double *out, double *work)
{
    multiply(ctx, a, 1, v, k, out, work);
}
