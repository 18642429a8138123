/* SPDX-License-Identifier: Apache-2.0 */
#include "method/subspace/subspace.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/basis.h"
#include "gram/linalg.h"

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

/* Subtracts from the last vector its parts along those before it; its squared length in feature space. */
static double remove_known(kfe_i_span *span)
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

static kfe_status negative_length(kfe_context *ctx)
{
    return kfe_i_fail(
        ctx, KFE_ENUMERIC,
        "the kernel is not positive definite on this data; change its parameters or take another");
}

/* The squared length that rounding can make of none for the last vector. */
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
        double after = before > 0 ? remove_known(span) : before;
        double noise = noise_of_last(span);
        if (after < -fmax(sqrt(tolerance) * fabs(before), noise))
            return negative_length(span->ctx);
        if (after <= fmax(tolerance * before, noise / KFE_UNSURE))
            continue;
        /* once more: what is left of nearly dependent vectors is not orthogonal after one pass */
        after = remove_known(span);
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

/* basis and features ← theirs times m (dim × dim). */
static kfe_status turn(kfe_i_subspace *subspace, const double *m)
{
    kfe_status status = KFE_OK;
    int64_t n = subspace->rows;
    int64_t d = subspace->dim;
    double *copy = NULL;

    KFE_ALLOC(subspace->ctx, copy, n * d);
    memcpy(copy, subspace->basis, (size_t)(n * d) * sizeof *copy);
    kfe_i_combine(n, d, d, 1, copy, d, m, d, 0, subspace->basis, d);
    memcpy(copy, subspace->features, (size_t)(n * d) * sizeof *copy);
    kfe_i_combine(n, d, d, 1, copy, d, m, d, 0, subspace->features, d);
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
    kfe_i_inner_products(n, d, subspace->basis, d, d, subspace->features, d, small);
    symmetrise(d, small);
    double *root = small + 2 * d * d;
    KFE_TRY(kfe_i_inverse_root(ctx, d, small, small + 3 * d * d, small + d * d, root, work));
    KFE_TRY(turn(subspace, root));
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
    kfe_i_inner_products(subspace->rows, d, subspace->features, d, d, subspace->features, d, small);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, small, d, small + 2 * d * d, small + d * d));
    KFE_TRY(turn(subspace, small + d * d));
cleanup:
    kfe_i_free(ctx, small);
    return status;
}

void kfe_i_subspace_gradient(int64_t rows, int64_t dim, const double *w, const double *x, const double *e,
                             double *horizontal, double *small)
{
    kfe_i_inner_products(rows, dim, x, dim, dim, e, dim, small);
    memcpy(horizontal, e, (size_t)(rows * dim) * sizeof *horizontal);
    kfe_i_combine(rows, dim, dim, -1, w, dim, small, dim, 1, horizontal, dim);
}

/* ---- alignment ---- */

kfe_status kfe_i_alignment_begin(kfe_context *ctx, const kfe_i_target *target, int64_t most,
                                 kfe_i_alignment *out)
{
    kfe_status status = KFE_OK;
    int64_t *counts = NULL;
    double sum = 0;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = target->rows;
    out->classes = target->class_count;
    out->class_of = target->codes;
    KFE_ALLOC(ctx, counts, target->class_count);
    KFE_ALLOC(ctx, out->sums, target->class_count * most);
    KFE_ALLOC(ctx, out->scatter, most * most);
    kfe_i_target_count(target, counts);
    for (int64_t g = 0; g < target->class_count; g++)
        sum += (double)counts[g] * (double)counts[g];
    out->label_norm = sqrt(sum);
cleanup:
    kfe_i_free(ctx, counts);
    return status;
}

void kfe_i_alignment_free(kfe_i_alignment *alignment)
{
    if (alignment->ctx) {
        kfe_i_free(alignment->ctx, alignment->sums);
        kfe_i_free(alignment->ctx, alignment->scatter);
    }
    memset(alignment, 0, sizeof *alignment);
}

/* YᵀX and XᵀX. */
static void moments(kfe_i_alignment *a, const double *x, int64_t dim)
{
    memset(a->sums, 0, (size_t)(a->classes * dim) * sizeof *a->sums);
    for (int64_t i = 0; i < a->rows; i++)
        cblas_daxpy((blasint)dim, 1, x + i * dim, 1, a->sums + a->class_of[i] * dim, 1);
    kfe_i_inner_products(a->rows, dim, x, dim, dim, x, dim, a->scatter);
}

double kfe_i_alignment_of(kfe_i_alignment *alignment, const double *x, int64_t dim, double *gradient)
{
    int64_t n = alignment->rows;

    moments(alignment, x, dim);
    double length = cblas_dnrm2((blasint)(alignment->classes * dim), alignment->sums, 1);
    double norm = cblas_dnrm2((blasint)(dim * dim), alignment->scatter, 1);
    if (norm == 0) {
        if (gradient)
            memset(gradient, 0, (size_t)(n * dim) * sizeof *gradient);
        return 0;
    }
    double value = length / norm * (length / alignment->label_norm);
    if (!gradient)
        return value;
    double factor = 2 / norm / alignment->label_norm;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            gradient[i * dim + j] = factor * alignment->sums[alignment->class_of[i] * dim + j];
    kfe_i_combine(n, dim, dim, -2 * value / norm / norm, x, dim, alignment->scatter, dim, 1, gradient, dim);
    return value;
}
