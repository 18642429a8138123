/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the scatter of columns (rough_sums.h) that rough_sums.c has made. Called by kfe_i_sums_times.
 *
 * Products in double precision, Z += X_bᵀ(X_bWᵀ), read a block of rows twice while it is in the cache (rough_loops.c). Time O(ndk) for k
 * exact products.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/serial.h"
#include "data/rough_state.h"

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
    KFE_ALLOC(r->ctx, r->share, count * KFE_ROUGH_TOGETHER);
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
        KFE_TRY(kfe_i_checkpoint(r->ctx, "multiplying the columns", first, kept));
        multiply_rows(r, r->basis + first * d, kfe_i_least(KFE_ROUGH_TOGETHER, kept - first),
                      r->image + first * d);
    }
    r->count = kept;
cleanup:
    return status;
}

kfe_status kfe_i_rough_remember(kfe_i_rough *r, const double *w, const double *image, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t numbers = count * r->table->cols;

    r->known = 0;
    kfe_i_free(r->ctx, r->known_w);
    kfe_i_free(r->ctx, r->known_image);
    r->known_w = r->known_image = NULL;
    KFE_ALLOC(r->ctx, r->known_w, numbers);
    KFE_ALLOC(r->ctx, r->known_image, numbers);
    memcpy(r->known_w, w, (size_t)numbers * sizeof *w);
    memcpy(r->known_image, image, (size_t)numbers * sizeof *image);
    r->known = count;
cleanup:
    return status;
}

/* Whether v (cols × k) are the directions whose products are remembered. */
static int is_known(const kfe_i_rough *r, const double *v, int64_t k)
{
    return k == r->known && memcmp(v, r->known_w, (size_t)(k * r->table->cols) * sizeof *v) == 0;
}

double kfe_i_rough_distance(const kfe_i_sums *s)
{
    return s->rough->form == KFE_ROUGH_ROWS ? 0 : s->rough->distance;
}

/* ---- products with the matrix ---- */

/* r->rest (k × cols) less its part in the basis, r->share = that part; returns the largest share that is left. */
static double split(kfe_i_rough *r, int64_t k)
{
    blasint d = (blasint)r->table->cols;
    blasint m = (blasint)r->count;
    double distance = 0;

    for (int64_t i = 0; i < k; i++) {
        double *row = r->rest + i * r->table->cols;
        double before = cblas_dnrm2(d, row, 1);
        if (m > 0) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, m, d, 1, r->basis, d, row, 1, 0, r->share + i * m, 1);
            cblas_dgemv(CblasRowMajor, CblasTrans, m, d, -1, r->basis, d, r->share + i * m, 1, 1, row, 1);
        }
        if (before > 0)
            distance = fmax(distance, cblas_dnrm2(d, row, 1) / before);
    }
    return distance;
}

/* out (k × cols) = S̃·rest, by products in single precision of rows of length one. */
static void multiply_matrix(const kfe_i_rough *r, int64_t k, double *out)
{
    int64_t d = r->table->cols;
    double lengths[KFE_ROUGH_TOGETHER];

    for (int64_t i = 0; i < k; i++) {
        double length = cblas_dnrm2((blasint)d, r->rest + i * d, 1);
        for (int64_t j = 0; j < d; j++)
            r->single[i * d + j] = length > 0 ? (float)(r->rest[i * d + j] / length) : 0;
        lengths[i] = length * r->unit * r->unit;
    }
    if (k == 1)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (blasint)d, (blasint)d, 1, r->matrix, (blasint)d, r->single,
                    1, 0, r->single_image, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)k, (blasint)d, (blasint)d, 1,
                    r->single, (blasint)d, r->matrix, (blasint)d, 0, r->single_image, (blasint)d);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < d; j++)
            out[i * d + j] = lengths[i] * (double)r->single_image[i * d + j];
}

/* r->turned (k × cols) = the products of r->rest, k ≤ KFE_ROUGH_TOGETHER. */
static void multiply(kfe_i_rough *r, int64_t k)
{
    blasint d = (blasint)r->table->cols;

    if (r->form == KFE_ROUGH_ROWS) {
        multiply_rows(r, r->rest, k, r->turned);
        return;
    }
    r->distance = fmax(r->distance, split(r, k));
    multiply_matrix(r, k, r->turned);
    if (r->count > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)k, d, (blasint)r->count, 1, r->share,
                    (blasint)r->count, r->image, d, 1, r->turned, d);
}

void kfe_i_rough_times(kfe_i_rough *r, const double *v, int64_t k, double *out)
{
    int64_t d = r->table->cols;

    if (is_known(r, v, k)) {
        memcpy(out, r->known_image, (size_t)(k * d) * sizeof *out);
        return;
    }
    for (int64_t first = 0; first < k; first += KFE_ROUGH_TOGETHER) {
        int64_t count = kfe_i_least(KFE_ROUGH_TOGETHER, k - first);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < d; j++)
                r->rest[i * d + j] = v[j * k + first + i];
        multiply(r, count);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < d; j++)
                out[j * k + first + i] = r->turned[i * d + j];
    }
}

double kfe_i_rough_square(const kfe_i_rough *r, int64_t j)
{
    return r->squares[j];
}
