/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the scatter of columns (rough_sums.h) that rough_sums.c has made. Called by pls_sums.c.
 *
 * Products in double precision, Z += X_bᵀ(X_bWᵀ), read a block of rows twice while it is in the cache (rough_loops.c). Time O(ndk) for k
 * exact products.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "method/deflation/rough_state.h"

/* A direction that loses more than this by orthogonalisation depends on those before it. */
#define LEAST_NEW 1e-10

/* ---- products in double precision ---- */

/* Tile t of `tiles` (cols × KFE_ROUGH_TILE each) has rows t·KFE_ROUGH_TILE … of w (count × cols) as columns; zeros beyond the last. */
static void make_tiles(int64_t cols, const double *w, int64_t count, double *tiles)
{
    for (int64_t first = 0; first < count; first += KFE_ROUGH_TILE)
        for (int64_t j = 0; j < cols; j++)
            for (int64_t k = first; k < first + KFE_ROUGH_TILE; k++)
                *tiles++ = k < count ? w[k * cols + j] : 0;
}

/* The other way: out (count × cols) += tiles. */
static void add_tiles(int64_t cols, const double *tiles, int64_t count, double *out)
{
    for (int64_t k = 0; k < count; k++) {
        const double *from = tiles + k / KFE_ROUGH_TILE * KFE_ROUGH_TILE * cols + k % KFE_ROUGH_TILE;
        for (int64_t j = 0; j < cols; j++)
            out[k * cols + j] += from[j * KFE_ROUGH_TILE];
    }
}

/* p->along += X_bᵀ(X_b − 1·mean)Wᵀ for the rows of a block; w: one direction, or r->tiles. ahead = W·mean. */
static void multiply_block(const kfe_i_rough *r, int64_t first, int64_t rows, const double *w, int64_t count,
                           const double *ahead, kfe_i_rough_part *p)
{
    const kfe_i_row_block block = kfe_i_rough_rows_at(r->table, first, rows);

    if (count == 1)
        kfe_i_rough_multiply(&block, w, ahead[0], p->along);
    else
        for (int64_t k = 0; k < count; k += KFE_ROUGH_TILE)
            kfe_i_rough_multiply_tile(&block, w + k * block.cols, ahead + k, p->images,
                                      p->along + k * block.cols);
}

/* out (count × cols) = (SWᵀ)ᵀ for w (count × cols), count ≤ KFE_ROUGH_TOGETHER. The images sum to zero, so that the second product needs no
 * mean. */
static void multiply_rows(const kfe_i_rough *r, const double *w, int64_t count, double *out)
{
    int64_t d = r->table->cols;
    int64_t n = r->table->rows;
    int64_t block = kfe_i_rough_block_rows(d);
    int64_t room = count > 1 ? KFE_ROUGH_TOGETHER : 1;
    double ahead[KFE_ROUGH_TOGETHER] = {0};
    int saved = kfe_i_enter_order(0);

    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)count, (blasint)d, 1, w, (blasint)d, r->mean, 1, 0,
                ahead, 1);
    if (count > 1)
        make_tiles(d, w, count, r->tiles);
#pragma omp parallel for num_threads(r->threads) schedule(static, 1)
    for (int t = 0; t < r->threads; t++) {
        kfe_i_rough_part *p = &r->parts[t];
        int64_t end = n * (t + 1) / r->threads;
        memset(p->along, 0, (size_t)(room * d) * sizeof *p->along);
        for (int64_t first = n * t / r->threads; first < end; first += block)
            multiply_block(r, first, kfe_i_least(block, end - first), count > 1 ? r->tiles : w, count, ahead,
                           p);
    }
    kfe_i_leave_order(saved);
    memset(out, 0, (size_t)(count * d) * sizeof *out);
    for (int t = 0; t < r->threads; t++)
        if (count > 1)
            add_tiles(d, r->parts[t].along, count, out);
        else
            cblas_daxpy((blasint)d, 1, r->parts[t].along, 1, out, 1);
}

/* ---- the basis ---- */

/* Makes the rows of r->basis (count × cols) orthonormal, by Gram-Schmidt, twice; returns how many are left. */
static int64_t make_orthonormal(kfe_i_rough *r, int64_t count)
{
    int64_t d = r->table->cols;
    blasint cols = (blasint)d;
    int64_t kept = 0;

    for (int64_t i = 0; i < count; i++) {
        double *row = r->basis + kept * d;
        memmove(row, r->basis + i * d, (size_t)d * sizeof *row);
        double before = cblas_dnrm2(cols, row, 1);
        for (int pass = 0; pass < 2 && kept > 0; pass++) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)kept, cols, 1, r->basis, cols, row, 1, 0,
                        r->share, 1);
            cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)kept, cols, -1, r->basis, cols, r->share, 1, 1,
                        row, 1);
        }
        double after = cblas_dnrm2(cols, row, 1);
        if (!(after > LEAST_NEW * before))
            continue;
        cblas_dscal(cols, 1 / after, row, 1);
        kept++;
    }
    return kept;
}

/* Room for a basis of `count` directions, the rows of w. */
static kfe_status begin_basis(kfe_i_rough *r, const double *w, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t d = r->table->cols;

    r->count = 0;
    kfe_i_free(r->ctx, r->basis);
    kfe_i_free(r->ctx, r->image);
    kfe_i_free(r->ctx, r->share);
    r->basis = r->image = r->share = NULL;
    KFE_ALLOC(r->ctx, r->basis, count * d);
    KFE_ALLOC(r->ctx, r->image, count * d);
    KFE_ALLOC(r->ctx, r->share, count);
    memcpy(r->basis, w, (size_t)(count * d) * sizeof *w);
    r->distance = 0;
cleanup:
    return status;
}

kfe_status kfe_i_rough_sharpen(kfe_i_rough *r, const double *w, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t d = r->table->cols;

    KFE_TRY(begin_basis(r, w, count));
    int64_t kept = make_orthonormal(r, count);
    for (int64_t first = 0; first < kept; first += KFE_ROUGH_TOGETHER) {
        KFE_TRY(kfe_i_progress(r->ctx, "multiplying the columns", first, kept));
        multiply_rows(r, r->basis + first * d, kfe_i_least(KFE_ROUGH_TOGETHER, kept - first),
                      r->image + first * d);
    }
    r->count = kept;
cleanup:
    return status;
}

double kfe_i_rough_distance(const kfe_i_rough *r)
{
    return r->form == KFE_ROUGH_ROWS ? 0 : r->distance;
}

const double *kfe_i_rough_squares(const kfe_i_rough *r)
{
    return r->squares;
}

/* ---- products with the matrix ---- */

/* out = S̃v in single precision for v of any length. */
static void multiply_matrix(const kfe_i_rough *r, const double *v, double *out)
{
    blasint d = (blasint)r->table->cols;
    double length = cblas_dnrm2(d, v, 1);

    for (blasint j = 0; j < d; j++)
        r->single[j] = length > 0 ? (float)(v[j] / length) : 0;
    cblas_sgemv(CblasRowMajor, CblasNoTrans, d, d, 1, r->matrix, d, r->single, 1, 0, r->single_image, 1);
    for (blasint j = 0; j < d; j++)
        out[j] = length * r->unit * r->unit * (double)r->single_image[j];
}

void kfe_i_rough_times(kfe_i_rough *r, const double *v, double *out)
{
    blasint d = (blasint)r->table->cols;
    blasint m = (blasint)r->count;
    double length = cblas_dnrm2(d, v, 1);

    if (r->form == KFE_ROUGH_ROWS) {
        multiply_rows(r, v, 1, out);
        return;
    }
    memcpy(r->rest, v, (size_t)d * sizeof *v);
    if (m > 0) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, m, d, 1, r->basis, d, v, 1, 0, r->share, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, m, d, -1, r->basis, d, r->share, 1, 1, r->rest, 1);
    }
    if (length > 0)
        r->distance = fmax(r->distance, cblas_dnrm2(d, r->rest, 1) / length);
    multiply_matrix(r, r->rest, out);
    if (m > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, m, d, 1, r->image, d, r->share, 1, 1, out, 1);
}
