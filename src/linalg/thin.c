/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix times a few vectors, for the stored operators and the candidate pool of the pursuit methods.
 *
 * GEMM copies the large matrix into its own order before it multiplies; for sixteen vectors the copy takes as
 * long as the product. This code reads the matrix once, in place: four rows at a time against a block of
 * vectors that stays in cache, with the sums in registers (strip.h).
 */
#include "linalg/thin.h"

#include <string.h>

#include "core/invariant.h"
#include "linalg/strip.h"

enum { PANEL = 64 };
/* Smaller matrices are multiplied by one thread: starting others would take longer. */
enum { SERIAL_ENTRIES = 1 << 14 };

int64_t kfe_i_thin_work(int64_t rows, int64_t cols)
{
    return KFE_THIN * (rows + cols);
}

/* Vectors in groups of one or two registers (strip.h): group g of the `rows` rows begins at number rows·width·g. */
typedef struct grouping {
    kfe_i_strip_way way;
    int registers;
    int64_t width, groups, count;
} grouping;

static grouping group_vectors(int64_t count)
{
    grouping g = {.way = kfe_i_best_strip(0), .count = count};

    g.registers = count <= g.way.lanes ? 1 : 2;
    g.width = g.way.lanes * g.registers;
    g.groups = (count + g.width - 1) / g.width;
    return g;
}

/* Copies `count` of the k columns, from `first` on, into groups; what is left of the last group is zero. `scatter` copies them
 * back. */
static void gather(const grouping *g, int64_t n, int64_t k, int64_t first, const double *from, double *block)
{
    memset(block, 0, (size_t)(n * g->width * g->groups) * sizeof *block);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < g->count; j++)
            block[(n * (j / g->width) + i) * g->width + j % g->width] = from[i * k + first + j];
}

static void scatter(const grouping *g, int64_t n, int64_t k, int64_t first, const double *block, double *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < g->count; j++)
            to[i * k + first + j] = block[(n * (j / g->width) + i) * g->width + j % g->width];
}

/* One panel of rows: block_out += a·block_v. */
static void multiply_panel(const kfe_i_thin_matrix *a, const grouping *g, int64_t row, const double *block_v,
                           double *block_out)
{
    for (int64_t col = 0; col < a->cols; col += KFE_STRIP_COLS) {
        int64_t at = row * a->stride + col;
        kfe_i_strip s = {.wide = a->wide ? a->wide + at : NULL,
                         .narrow = a->narrow ? a->narrow + at : NULL,
                         .stride = a->stride,
                         .rows = a->rows - row < PANEL ? a->rows - row : PANEL,
                         .cols = a->cols - col < KFE_STRIP_COLS ? a->cols - col : KFE_STRIP_COLS};
        for (int64_t i = 0; i < g->groups; i++) {
            s.v = block_v + (a->cols * i + col) * g->width;
            s.own_out = block_out + (a->rows * i + row) * g->width;
            g->way.multiply(g->registers, 0, &s);
        }
    }
}

static void multiply_block(const kfe_context *ctx, const kfe_i_thin_matrix *a, const grouping *g,
                           const double *block_v, double *block_out)
{
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) if (a->rows * a->cols >= SERIAL_ENTRIES)      \
    schedule(dynamic, 1)
    for (int64_t row = 0; row < a->rows; row += PANEL)
        multiply_panel(a, g, row, block_v, block_out);
}

void kfe_i_thin_times(const kfe_context *ctx, const kfe_i_thin_matrix *a, const double *v, int64_t k,
                      double *out, double *work)
{
    double *block_v = work;
    double *block_out = work + KFE_THIN * a->cols;

    assert(k >= 0 && v != out);
    for (int64_t first = 0; first < k; first += KFE_THIN) {
        grouping g = group_vectors(k - first < KFE_THIN ? k - first : KFE_THIN);
        gather(&g, a->cols, k, first, v, block_v);
        gather(&g, a->rows, k, first, out, block_out);
        multiply_block(ctx, a, &g, block_v, block_out);
        scatter(&g, a->rows, k, first, block_out, out);
    }
}
