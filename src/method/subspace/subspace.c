/* SPDX-License-Identifier: Apache-2.0 */
/* Subspaces of feature space: spanning one by Gram-Schmidt, keeping its basis orthonormal, and the gradient of
 * a criterion on it. Used by the search, by skfe and by the choice of where to start and stop. */
#include "method/subspace/subspace.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* ---- spanning ---- */

kfe_status kfe_i_span_begin(kfe_context *ctx, int64_t rows, int64_t most, kfe_i_span *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = rows;
    out->most = most;
    KFE_ALLOC(ctx, out->coefficients, most * rows);
    KFE_ALLOC(ctx, out->images, most * rows);
cleanup:
    return status;
}

void kfe_i_span_free(kfe_i_span *span)
{
    if (span->ctx) {
        kfe_i_free(span->ctx, span->coefficients);
        kfe_i_free(span->ctx, span->images);
    }
    memset(span, 0, sizeof *span);
}

/* Makes the last vector orthogonal to those before it; returns its squared length in feature space. */
static double orthogonalise_last(kfe_i_span *span)
{
    blasint n = (blasint)span->rows;
    double *w = span->coefficients + span->count * span->rows;
    double *image = span->images + span->count * span->rows;

    for (int64_t j = 0; j < span->count; j++) {
        double along = cblas_ddot(n, span->images + j * span->rows, 1, w, 1);
        cblas_daxpy(n, -along, span->coefficients + j * span->rows, 1, w, 1);
        cblas_daxpy(n, -along, span->images + j * span->rows, 1, image, 1);
    }
    return cblas_ddot(n, w, 1, image, 1);
}

kfe_status kfe_i_negative_length(kfe_context *ctx)
{
    return kfe_i_fail(
        ctx, KFE_ENUMERIC,
        "the kernel is not positive definite on this data; change its parameters or use another kernel");
}

/* The squared length that rounding alone may give the last vector. */
static double noise_of_last(const kfe_i_span *span)
{
    const double *w = span->coefficients + span->count * span->rows;

    return span->rounding * cblas_ddot((blasint)span->rows, w, 1, w, 1);
}

kfe_status kfe_i_span_add(kfe_i_span *span, int64_t k, const double *w, const double *image, double tolerance)
{
    blasint n = (blasint)span->rows;

    for (int64_t j = 0; j < k && span->count < span->most; j++) {
        double *own = span->coefficients + span->count * span->rows;
        double *own_image = span->images + span->count * span->rows;
        cblas_dcopy(n, w + j, (blasint)k, own, 1);
        cblas_dcopy(n, image + j, (blasint)k, own_image, 1);
        double before = cblas_ddot(n, own, 1, own_image, 1);
        double after = before > 0 ? orthogonalise_last(span) : before;
        double unsure = noise_of_last(span) / KFE_UNSURE;
        if (after < -fmax(sqrt(tolerance) * fabs(before), unsure))
            return kfe_i_negative_length(span->ctx);
        if (after <= fmax(tolerance * before, unsure))
            continue;
        /* a second pass: nearly dependent vectors are not orthogonal to rounding after one */
        after = orthogonalise_last(span);
        if (after <= tolerance * before)
            continue;
        cblas_dscal(n, 1 / sqrt(after), own, 1);
        cblas_dscal(n, 1 / sqrt(after), own_image, 1);
        span->count++;
    }
    return KFE_OK;
}

/* ---- subspaces ---- */

kfe_status kfe_i_subspace_from_span(const kfe_i_span *span, const kfe_i_gram *gram, kfe_i_subspace *out)
{
    kfe_status status = KFE_OK;
    int64_t d = span->count;

    memset(out, 0, sizeof *out);
    out->ctx = span->ctx;
    out->gram = gram;
    out->rows = span->rows;
    out->dim = d;
    KFE_ALLOC(span->ctx, out->basis, span->rows * d);
    KFE_ALLOC(span->ctx, out->features, span->rows * d);
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = 0; i < span->rows; i++)
            out->basis[i * d + j] = span->coefficients[j * span->rows + i];
    KFE_TRY(kfe_i_subspace_refresh(out));
cleanup:
    return status;
}

void kfe_i_subspace_free(kfe_i_subspace *subspace)
{
    if (subspace->ctx) {
        kfe_i_free(subspace->ctx, subspace->basis);
        kfe_i_free(subspace->ctx, subspace->features);
    }
    memset(subspace, 0, sizeof *subspace);
}

/* W ← Wm and X ← Xm for m (dim × dim). */
static kfe_status multiply(kfe_i_subspace *subspace, const double *m)
{
    kfe_status status = KFE_OK;
    int64_t n = subspace->rows;
    int64_t d = subspace->dim;
    double *copy = NULL;

    KFE_ALLOC(subspace->ctx, copy, n * d);
    memcpy(copy, subspace->basis, (size_t)(n * d) * sizeof *copy);
    kfe_i_combine(n, 1, kfe_i_packed(copy, d), kfe_i_packed(m, d), 0, subspace->basis);
    memcpy(copy, subspace->features, (size_t)(n * d) * sizeof *copy);
    kfe_i_combine(n, 1, kfe_i_packed(copy, d), kfe_i_packed(m, d), 0, subspace->features);
cleanup:
    kfe_i_free(subspace->ctx, copy);
    return status;
}

static void symmetrise(int64_t d, double *a)
{
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++)
            a[i * d + j] = a[j * d + i] = (a[i * d + j] + a[j * d + i]) / 2;
}

kfe_status kfe_i_subspace_refresh(kfe_i_subspace *subspace)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = subspace->ctx;
    int64_t n = subspace->rows;
    int64_t d = subspace->dim;
    kfe_i_eigen_work *work = NULL;
    double *small = NULL;

    KFE_ALLOC(ctx, small, 3 * d * d + d);
    KFE_TRY(kfe_i_eigen_work_new(ctx, d, &work));
    KFE_TRY(kfe_i_gram_times(subspace->gram, subspace->basis, d, subspace->features));
    kfe_i_inner_products(n, kfe_i_packed(subspace->basis, d), kfe_i_packed(subspace->features, d), small);
    symmetrise(d, small);
    double *root = small + 2 * d * d;
    KFE_TRY(kfe_i_inverse_root(ctx, d, small, small + 3 * d * d, small + d * d, root, work));
    KFE_TRY(multiply(subspace, root));
cleanup:
    kfe_i_eigen_work_free(work);
    kfe_i_free(ctx, small);
    return status;
}

kfe_status kfe_i_subspace_principal(kfe_i_subspace *subspace)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = subspace->ctx;
    int64_t d = subspace->dim;
    double *small = NULL;

    KFE_ALLOC(ctx, small, 2 * d * d + d);
    kfe_i_inner_products(subspace->rows, kfe_i_packed(subspace->features, d),
                         kfe_i_packed(subspace->features, d), small);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, small, d, small + 2 * d * d, small + d * d));
    KFE_TRY(multiply(subspace, small + d * d));
cleanup:
    kfe_i_free(ctx, small);
    return status;
}

void kfe_i_subspace_gradient(int64_t rows, int64_t dim, const double *w, const double *x, const double *e,
                             double *horizontal, double *small)
{
    kfe_i_inner_products(rows, kfe_i_packed(x, dim), kfe_i_packed(e, dim), small);
    memcpy(horizontal, e, (size_t)(rows * dim) * sizeof *horizontal);
    kfe_i_combine(rows, -1, kfe_i_packed(w, dim), kfe_i_packed(small, dim), 1, horizontal);
}
