/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The problem of ridge_weights.h inside a subspace, a model of f for ridge_weights_newton.c. f(d) is the maximum
 * over B (n × k) of 2tr(BᵀL) − tr(BᵀMB); with B in the span of the columns of an orthonormal S (n × r) that
 * becomes
 *   f_S(d) = tr(L_Sᵀ(I + Σ dᵢSᵀGᵢS/ξ)⁻¹L_S),   L_S = SᵀL,
 * a problem of the same kind with r rows in place of n, and f_S ≤ f everywhere. For S spanned by U = M⁻¹L and
 * its derivatives −M⁻¹GᵢU/ξ at a point d, the U of any point nearby is in the span up to the square of the
 * distance, and since U maximises, f_S agrees with f up to the fourth power (the reduced basis method of
 * parametrised equations). What earlier iterations have spanned stays.
 *
 * Cost of an iteration: p products of Gᵢ with the k(p + 1) new vectors, and O(nr²) to make S orthonormal.
 */
#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "method/mkl/ridge_weights.h"

/* Norm after orthogonalisation, relative to the norm before, at which a vector adds nothing. */
#define NOTHING_NEW 1e-12

/* Iterations whose vectors span the subspace together. */
enum { ITERATIONS = 3 };

int64_t kfe_i_ridge_reduced_width(const kfe_i_ridge_weights *full)
{
    return full->most * (full->p + 1);
}

/* Matrices of zeros, filled later. */
static kfe_status open_bank(kfe_i_ridge_reduced *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_bank *source = s->full->bank;
    kfe_context *ctx = source->ctx;
    int64_t p = source->count;
    int64_t r = s->r;

    s->bank = (kfe_i_bank){.ctx = ctx, .size = r, .count = p};
    KFE_ALLOC_ZERO(ctx, s->bank.raw, p);
    KFE_ALLOC_ZERO(ctx, s->bank.kept, p);
    KFE_ALLOC_ZERO(ctx, s->bank.tables, p);
    KFE_ALLOC_ZERO(ctx, s->bank.traces, p);
    KFE_ALLOC(ctx, s->bank.means, r);
    for (int64_t m = 0; m < p; m++) {
        kfe_i_table *table = &s->bank.tables[m];
        KFE_TRY(kfe_i_table_new_dense(ctx, r, r, table));
        memset(table->values, 0, (size_t)(r * table->stride) * sizeof *table->values);
        KFE_TRY(kfe_i_gram_precomputed(ctx, table, &s->bank.raw[m]));
        s->bank.kept[m] = (kfe_i_kept){s->bank.raw[m], s->bank.raw[m], table->values, table->stride, NULL};
        s->bank.traces[m] = source->traces[m] > 0;
    }
cleanup:
    return status;
}

kfe_status kfe_i_ridge_reduced_open(const kfe_i_ridge_weights *full, kfe_i_ridge_reduced *out)
{
    kfe_status status = KFE_OK;
    int64_t width = kfe_i_ridge_reduced_width(full);
    int64_t r = ITERATIONS * width;

    *out = (kfe_i_ridge_reduced){.full = full, .r = r};
    KFE_TRY(open_bank(out));
    KFE_TRY(kfe_i_ridge_weights_open(full->ctx, &out->bank, full->most, &out->small));
    KFE_ALLOC(full->ctx, out->span, r * full->n);
    KFE_ALLOC(full->ctx, out->fresh, full->n * width);
    KFE_ALLOC(full->ctx, out->images, full->n * width);
    KFE_ALLOC(full->ctx, out->products, r * width);
cleanup:
    return status;
}

void kfe_i_ridge_reduced_free(kfe_i_ridge_reduced *reduced)
{
    if (!reduced->full)
        return;
    kfe_i_free(reduced->full->ctx, reduced->span);
    kfe_i_free(reduced->full->ctx, reduced->fresh);
    kfe_i_free(reduced->full->ctx, reduced->images);
    kfe_i_free(reduced->full->ctx, reduced->products);
    kfe_i_ridge_weights_free(&reduced->small);
    kfe_i_bank_free(&reduced->bank);
    memset(reduced, 0, sizeof *reduced);
}

void kfe_i_ridge_reduced_clear(kfe_i_ridge_reduced *s)
{
    s->used = 0;
    for (int64_t m = 0; m < s->bank.count; m++)
        memset(s->bank.tables[m].values, 0, (size_t)(s->r * s->r) * sizeof(double));
    memset(s->small.labels, 0, (size_t)(s->r * s->small.most) * sizeof *s->small.labels);
}

/* ---- the subspace ---- */

/* U and the answers as rows of `span`, from row `used` on. */
static void gather_span(kfe_i_ridge_reduced *s, const double *answers)
{
    int64_t n = s->full->n;
    int64_t k = s->full->k;
    int64_t width = s->full->p * k;
    double *to = s->span + s->used * n;

    for (int64_t c = 0; c < k; c++)
        cblas_dcopy((blasint)n, s->full->at.u + c, (blasint)k, to + c * n, 1);
    for (int64_t c = 0; c < width; c++)
        cblas_dcopy((blasint)n, answers + c, (blasint)width, to + (k + c) * n, 1);
}

/* Makes row j orthogonal to those before it: Gram-Schmidt, twice. A dependent row becomes zero, which leaves its
 * row and column of the small matrices zero and f_S unchanged. */
static void orthonormalise(kfe_i_ridge_reduced *s, int64_t j)
{
    blasint n = (blasint)s->full->n;
    double *own = s->span + j * n;
    double *along = s->products;
    double before = cblas_dnrm2(n, own, 1);

    for (int pass = 0; pass < 2 && j > 0; pass++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)j, n, 1, s->span, n, own, 1, 0, along, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)j, n, -1, s->span, n, along, 1, 1, own, 1);
    }
    double after = cblas_dnrm2(n, own, 1);
    if (after > NOTHING_NEW * before)
        cblas_dscal(n, 1 / after, own, 1);
    else
        memset(own, 0, (size_t)n * sizeof *own);
}

/* ---- the problem in it ---- */

/* The last `width` rows and columns of SᵀGᵢS, symmetric to the last bit. */
static kfe_status reduce_kernel(kfe_i_ridge_reduced *s, int64_t kernel, int64_t width)
{
    kfe_status status = KFE_OK;
    double *small = s->bank.tables[kernel].values;
    int64_t r = s->r;
    blasint n = (blasint)s->full->n;

    KFE_TRY(kfe_i_bank_times(s->full->bank, kernel, s->fresh, width, s->images));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->used, (blasint)width, n, 1, s->span, n,
                s->images, (blasint)width, 0, s->products, (blasint)width);
    for (int64_t i = 0; i < s->used; i++)
        for (int64_t j = 0; j < width; j++) {
            int64_t column = s->used - width + j;
            if (i <= column)
                small[i * r + column] = small[column * r + i] = s->products[i * width + j];
        }
cleanup:
    return status;
}

static void set_problem(kfe_i_ridge_reduced *s, const double *d)
{
    const kfe_i_ridge_weights *full = s->full;
    kfe_i_ridge_weights *small = &s->small;
    blasint n = (blasint)full->n;
    blasint k = (blasint)full->k;

    small->method = full->method;
    small->xi = full->xi;
    small->k = full->k;
    small->problem.max_iterations = full->problem.max_iterations;
    small->result.iterations = 0;
    small->result.bound = 0;
    small->factor.xi = 0; /* the kernels are others now */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->used, k, n, 1, s->span, n,
                full->labels, k, 0, small->labels, k);
    memcpy(small->result.d, d, (size_t)full->p * sizeof *d);
}

kfe_status kfe_i_ridge_reduce(kfe_i_ridge_reduced *s, const double *answers, const double *d)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_weights *full = s->full;
    int64_t width = full->k * (full->p + 1);

    if (s->used + width > s->r)
        kfe_i_ridge_reduced_clear(s);
    gather_span(s, answers);
    for (int64_t j = 0; j < width; j++) {
        orthonormalise(s, s->used + j);
        cblas_dcopy((blasint)full->n, s->span + (s->used + j) * full->n, 1, s->fresh + j, (blasint)width);
    }
    s->used += width;
    for (int64_t i = 0; i < full->p; i++)
        if (full->bank->traces[i] > 0)
            KFE_TRY(reduce_kernel(s, i, width));
    set_problem(s, d);
cleanup:
    return status;
}
