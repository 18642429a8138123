/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cholesky factors in single precision, in LAPACK's rectangular full packed form (Gustavson, Waśniewski, Dongarra &
 * Langou, 2010); solve.c takes them as preconditioners.
 *
 * With h = ⌈n/2⌉, the first h columns of the lower triangle and the transpose of its last triangle fill a rectangle that is
 * stored by columns. For n = 6 and n = 5 (ij stands for entry i, j):
 *
 *     33 43 53        00 33 43
 *     00 44 54        10 11 44
 *     10 11 55        20 21 22
 *     20 21 22        30 31 32
 *     30 31 32        40 41 42
 *     40 41 42
 *     50 51 52
 */
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/solve/precondition.h"
#include "linalg/cholesky.h"

enum { MOST_PANEL_ROWS = 256, PANEL_ENTRIES = 1 << 22 };
/* A failed factorisation is tried again with a shift that is larger by this. */
#define SHIFT_GROWTH 8

/* ---- filling ---- */

typedef struct packed_layout {
    int64_t n, half, height; /* the rectangle has `height` rows and `half` columns */
    int64_t odd;
} packed_layout;

static packed_layout layout_of(int64_t n)
{
    int64_t odd = n % 2;
    return (packed_layout){.n = n, .half = (n + 1) / 2, .height = n + 1 - odd, .odd = odd};
}

static int64_t panel_rows(int64_t n)
{
    int64_t rows = PANEL_ENTRIES / n;

    if (rows > MOST_PANEL_ROWS)
        rows = MOST_PANEL_ROWS;
    return rows < 16 ? 16 : rows;
}

/* Rows row … row + rows − 1 of the lower triangle, from `panel` (rows × (row + rows)). */
static void pack_panel(const kfe_i_single_factor *f, const double *panel, int64_t row, int64_t rows)
{
    packed_layout p = layout_of(f->n);
    int64_t cols = row + rows;
    int64_t left = cols < p.half ? cols : p.half;

#pragma omp parallel num_threads(kfe_context_threads(f->ctx))
    {
#pragma omp for schedule(static) nowait
        for (int64_t j = 0; j < left; j++) {
            float *column = f->values + j * p.height + 1 - p.odd;
            for (int64_t i = j > row ? j - row : 0; i < rows; i++)
                column[row + i] = (float)(f->scale * panel[i * cols + j]);
        }
#pragma omp for schedule(static)
        for (int64_t i = row > p.half ? row : p.half; i < cols; i++) {
            float *column = f->values + (i - p.half + p.odd) * p.height;
            for (int64_t j = p.half; j <= i; j++)
                column[j - p.half] = (float)(f->scale * panel[(i - row) * cols + j]);
        }
    }
}

static void add_to_diagonal(const kfe_i_single_factor *f, double value)
{
    packed_layout p = layout_of(f->n);

    for (int64_t i = 0; i < p.half; i++)
        f->values[i * p.height + i + 1 - p.odd] += (float)value;
    for (int64_t i = p.half; i < p.n; i++)
        f->values[(i - p.half + p.odd) * p.height + i - p.half] += (float)value;
}

static kfe_status fill(const kfe_i_gram *gram, double ridge, kfe_i_single_factor *f)
{
    kfe_status status = KFE_OK;
    int64_t n = f->n;
    int64_t step = panel_rows(n);
    double *panel = NULL;

    KFE_ALLOC(f->ctx, panel, step * n);
    for (int64_t row = 0; row < n; row += step) {
        int64_t rows = n - row < step ? n - row : step;
        KFE_TRY(kfe_i_progress(f->ctx, "computing the kernel matrix", row, n));
        KFE_TRY(kfe_i_gram_block(gram, row, rows, 0, row + rows, panel, row + rows));
        pack_panel(f, panel, row, rows);
    }
    add_to_diagonal(f, f->scale * (ridge + f->shift));
cleanup:
    kfe_i_free(f->ctx, panel);
    return status;
}

/* ---- factorising ---- */

double kfe_i_single_factor_bytes(int64_t n, int64_t k)
{
    double order = (double)n;
    return 2 * order * (order + 1) + 4 * order * (double)k + 8 * order * (double)panel_rows(n);
}

kfe_status kfe_i_single_scale(const kfe_i_gram *gram, double ridge, double *scale, double *rounding)
{
    kfe_status status = KFE_OK;
    double largest = 0;
    double *diagonal = NULL;

    KFE_ALLOC(gram->ctx, diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, diagonal));
    for (int64_t i = 0; i < gram->size; i++)
        largest = fmax(largest, fabs(diagonal[i]));
    *scale = 1 / (largest + ridge);
    *rounding = (double)FLT_EPSILON * sqrt((double)gram->size) * (largest + ridge);
cleanup:
    kfe_i_free(gram->ctx, diagonal);
    return status;
}

double kfe_i_next_shift(double shift, double rounding)
{
    return fmax(SHIFT_GROWTH * shift, rounding);
}

static kfe_status factorise(const kfe_i_gram *gram, double ridge, kfe_i_single_factor *f, int *definite)
{
    kfe_status status = KFE_OK;
    double rounding = 0;

    *definite = 0;
    KFE_TRY(kfe_i_single_scale(gram, ridge, &f->scale, &rounding));
    f->shift = 0; /* a factorisation that fails, fails early: where the numerical rank ends */
    for (int attempt = 0; attempt < KFE_SHIFT_TRIES && !*definite; attempt++) {
        KFE_TRY(fill(gram, ridge, f));
        KFE_TRY(kfe_i_progress(f->ctx, "factorising the kernel matrix", 0, 0));
        KFE_TRY(kfe_i_factorise_packed(f->ctx, f->n, f->values, definite));
        if (!*definite)
            f->shift = kfe_i_next_shift(f->shift, rounding);
    }
cleanup:
    return status;
}

kfe_status kfe_i_single_factor_new(const kfe_i_gram *gram, double ridge, int64_t k, kfe_i_single_factor *out,
                                   int *definite)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_single_factor){.ctx = gram->ctx, .n = gram->size};
    *definite = 0;
    if (gram->size > INT_MAX / 2)
        KFE_FAIL(gram->ctx, KFE_EUNSUPPORTED, "a matrix of order %lld is beyond LAPACK's integers",
                 (long long)gram->size);
    KFE_ALLOC(out->ctx, out->values, out->n * (out->n + 1) / 2);
    KFE_ALLOC(out->ctx, out->block, out->n * k);
    KFE_TRY(factorise(gram, ridge, out, definite));
cleanup:
    if (status != KFE_OK || !*definite)
        kfe_i_single_factor_free(out);
    return status;
}

void kfe_i_single_factor_free(kfe_i_single_factor *factor)
{
    if (factor->ctx) {
        kfe_i_free(factor->ctx, factor->values);
        kfe_i_free(factor->ctx, factor->block);
    }
    memset(factor, 0, sizeof *factor);
}

/* ---- using the factor ---- */

static double largest_of(int64_t n, int64_t k, const double *x)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i * k]));
    return largest;
}

/* Every column is scaled to entries of at most 1, far from the limits of single precision. */
static kfe_status apply(void *state, int64_t k, const double *x, double *z)
{
    kfe_i_single_factor *f = state;
    int64_t n = f->n;

    for (int64_t j = 0; j < k; j++) {
        double largest = largest_of(n, k, x + j);
        double scale = largest > 0 ? 1 / largest : 0;
        for (int64_t i = 0; i < n; i++)
            f->block[j * n + i] = (float)(scale * x[i * k + j]);
        z[j] = largest; /* until the solution takes its place */
    }
    LAPACKE_spftrs_work(LAPACK_COL_MAJOR, 'N', 'L', (lapack_int)n, (lapack_int)k, f->values, f->block,
                        (lapack_int)n);
    for (int64_t j = 0; j < k; j++) {
        double scale = f->scale * z[j];
        for (int64_t i = 0; i < n; i++)
            z[i * k + j] = scale * (double)f->block[j * n + i];
    }
    return KFE_OK;
}

kfe_i_preconditioner kfe_i_single_preconditioner(kfe_i_single_factor *factor)
{
    return (kfe_i_preconditioner){.apply = apply, .state = factor};
}
