/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the scatter of columns (rough_sums.h), on what rough_sums.c has made; called through kfe_i_sums_times.
 *
 * Products in double precision, Z += X_bᵀ(X_bWᵀ), read a block of rows twice while it is in the cache. Time O(ndk) for k exact products.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/rough_state.h"

/* A direction that loses more than this by orthogonalisation depends on those before it. */
#define LEAST_NEW 1e-10
/* Directions at this distance from those whose products are remembered have no part of their own. */
#define NO_DISTANCE 1e-10

/* ---- products in double precision ---- */

/* p->along (count × cols) += (X_b(X_b − 1·mean)Wᵀ)ᵀ for the rows of a block; ahead[count] = Wᵀ·mean. */
static void multiply_block(const kfe_i_rough *r, int64_t first, int64_t rows, const double *w, int64_t count,
                           const double *ahead, kfe_i_rough_part *p)
{
    blasint d = (blasint)r->table->cols;
    blasint stride = (blasint)r->table->stride;
    const double *x = kfe_i_rough_row(r->table, first);

    if (count == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)rows, d, 1, x, stride, w, 1, 0, p->images, 1);
        for (int64_t i = 0; i < rows; i++)
            p->images[i] -= ahead[0];
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)rows, d, 1, x, stride, p->images, 1, 1, p->along, 1);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)count, d, 1, x, stride, w, d,
                0, p->images, (blasint)count);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < count; k++)
            p->images[i * count + k] -= ahead[k];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)count, d, (blasint)rows, 1, p->images,
                (blasint)count, x, stride, 1, p->along, d);
}

/* out (count × cols) = (SWᵀ)ᵀ for w (count × cols), count ≤ KFE_ROUGH_TOGETHER. The images sum to zero, so that the second product needs no
 * mean. */
static void multiply_rows(const kfe_i_rough *r, const double *w, int64_t count, double *out)
{
    int64_t d = r->table->cols;
    int64_t n = r->table->rows;
    int64_t block = kfe_i_rough_block(d, count > 1 ? KFE_ROUGH_WIDE_BLOCK : KFE_ROUGH_BLOCK);
    double ahead[KFE_ROUGH_TOGETHER];

    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)count, (blasint)d, 1, w, (blasint)d, r->mean, 1, 0,
                ahead, 1);
#pragma omp parallel for num_threads(r->threads) schedule(static, 1)
    for (int t = 0; t < r->threads; t++) {
        kfe_i_rough_part *p = &r->parts[t];
        int64_t end = n * (t + 1) / r->threads;
        memset(p->along, 0, (size_t)(count * d) * sizeof *p->along);
        for (int64_t first = n * t / r->threads; first < end; first += block)
            multiply_block(r, first, kfe_i_least(block, end - first), w, count, ahead, p);
    }
    memcpy(out, r->parts[0].along, (size_t)(count * d) * sizeof *out);
    for (int t = 1; t < r->threads; t++)
        cblas_daxpy((blasint)(count * d), 1, r->parts[t].along, 1, out, 1);
}

/* ---- the basis ---- */

/* Rows `left` − the same multiples of earlier rows; both are count × cols. */
static void subtract_earlier(blasint cols, int64_t earlier, const double *rows, const double *multiples,
                             double *left)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)earlier, cols, -1, rows, cols, multiples, 1, 1, left, 1);
}

/* Makes the rows of r->basis (count × cols) orthonormal, by Gram-Schmidt, twice; returns how many are left. Those of `image` (NULL:
 * none) go through the same steps. */
static int64_t make_orthonormal(kfe_i_rough *r, int64_t count, double *image)
{
    int64_t d = r->table->cols;
    blasint cols = (blasint)d;
    int64_t kept = 0;

    for (int64_t i = 0; i < count; i++) {
        double *row = r->basis + kept * d;
        memmove(row, r->basis + i * d, (size_t)d * sizeof *row);
        if (image)
            memmove(image + kept * d, image + i * d, (size_t)d * sizeof *row);
        double before = cblas_dnrm2(cols, row, 1);
        for (int pass = 0; pass < 2 && kept > 0; pass++) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)kept, cols, 1, r->basis, cols, row, 1, 0,
                        r->share, 1);
            subtract_earlier(cols, kept, r->basis, r->share, row);
            if (image)
                subtract_earlier(cols, kept, image, r->share, image + kept * d);
        }
        double after = cblas_dnrm2(cols, row, 1);
        if (!(after > LEAST_NEW * before))
            continue;
        cblas_dscal(cols, 1 / after, row, 1);
        if (image)
            cblas_dscal(cols, 1 / after, image + kept * d, 1);
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
    int64_t kept = make_orthonormal(r, count, NULL);
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

    if (r->form != KFE_ROUGH_ROWS)
        return KFE_OK;
    KFE_TRY(begin_basis(r, w, count));
    memcpy(r->image, image, (size_t)(count * r->table->cols) * sizeof *image);
    r->count = make_orthonormal(r, count, r->image);
cleanup:
    return status;
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
    double distance = r->form == KFE_ROUGH_ROWS && r->count == 0 ? 1 : split(r, k);

    if (r->form == KFE_ROUGH_MATRIX) {
        multiply_matrix(r, k, r->turned);
        r->distance = fmax(r->distance, distance);
    } else if (distance > NO_DISTANCE) {
        multiply_rows(r, r->rest, k, r->turned);
    } else {
        memset(r->turned, 0, (size_t)(k * r->table->cols) * sizeof *r->turned);
    }
    if (r->count > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)k, d, (blasint)r->count, 1, r->share,
                    (blasint)r->count, r->image, d, 1, r->turned, d);
}

void kfe_i_rough_times(kfe_i_rough *r, const double *v, int64_t k, double *out)
{
    int64_t d = r->table->cols;

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
