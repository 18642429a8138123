/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block Krylov space of eigen.c: new vectors, Ritz pairs, restarts, and corrections of products in single precision (krylov.h).
 *
 * New blocks are made orthonormal by the eigenvectors of their own Gram matrix (Stathopoulos & Wu, 2002), whose
 * eigenvalues also show which directions are only rounding error; this is done twice, because once is not enough.
 */
#include "gram/solve/krylov.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/share.h"
#include "linalg/basis.h"

/* Inner products of an image with the basis that are below this share of the largest are rounding. */
#define KFE_COUPLING_ROUNDING 1e-11
/* A correction shows the error of products anew if vectors with such products have at least this part in the Ritz vectors. */
#define KFE_TELLING_SHARE 0.1

/* ---- the basis ---- */

static kfe_i_span basis_of(const kfe_i_krylov *s)
{
    return kfe_i_span_of(&s->basis, s->size, s->capacity);
}

static kfe_i_span image_of(const kfe_i_krylov *s)
{
    return kfe_i_span_of(&s->image, s->size, s->capacity);
}

/* The first `count` vectors of memory that is packed. */
static kfe_i_span packed(const kfe_i_long *memory, int64_t count)
{
    return kfe_i_span_of(memory, count, count);
}

/* candidate (n × count) ← its part orthogonal to the basis. */
static kfe_status project_out(kfe_i_krylov *s, int64_t count)
{
    kfe_status status = KFE_OK;

    if (s->size == 0)
        return KFE_OK;
    KFE_TRY(s->space.calls->inner(&s->space, basis_of(s), packed(&s->candidate, count), s->small));
    KFE_TRY(s->space.calls->combine(&s->space, -1, basis_of(s), s->small, count, 1,
                                    packed(&s->candidate, count)));
cleanup:
    return status;
}

/* The first vector of the basis whose inner product with the image of the last `count` vectors is more than rounding. By symmetry it
 * belongs to the block before the last one, unless that one came from a restart. */
static int64_t first_coupled(const kfe_i_krylov *s, int64_t count)
{
    int64_t first = 0;
    double largest = 0;

    for (int64_t i = 0; i < s->size; i++)
        for (int64_t j = s->size - count; j < s->size; j++)
            largest = fmax(largest, fabs(s->inner[i * s->capacity + j]));
    for (; first < s->size; first++)
        for (int64_t j = s->size - count; j < s->size; j++)
            if (!(fabs(s->inner[first * s->capacity + j]) <= KFE_COUPLING_ROUNDING * largest))
                return first;
    return first;
}

/* The same for the image of the last `count` vectors of the basis: VᵀGV already has the inner products, and those that are rounding
 * are left to the second pass. */
static kfe_status project_out_image(kfe_i_krylov *s, int64_t count)
{
    int64_t first = first_coupled(s, count);
    kfe_i_span coupled = {
        .memory = &s->basis, .first = first, .count = s->size - first, .stride = s->capacity};

    if (coupled.count == 0)
        return KFE_OK;
    return s->space.calls->combine(&s->space, -1, coupled, s->inner + first * s->capacity + s->size - count,
                                   s->capacity, 1, packed(&s->candidate, count));
}

/* The leading eigenpairs of a small matrix, of which the upper half is destroyed. LAPACK's fast routine may miss some of many equal
 * eigenvalues; the other one allocates. */
static kfe_status small_eigen(kfe_i_krylov *s, int64_t order, double *a, int64_t count, double *values,
                              double *vectors)
{
    kfe_i_copy_block(order, order, a, order, s->projected, order);
    kfe_status status =
        kfe_i_symmetric_eigen_with(s->ctx, order, s->projected, count, values, vectors, s->work);

    return status == KFE_ENUMERIC ? kfe_i_symmetric_eigen(s->ctx, order, a, count, values, vectors) : status;
}

/* candidate (n × count) ← an orthonormal basis of its columns, as many as are independent. The columns are
 * first brought to unit length, so that small directions are not mistaken for rounding. */
static kfe_status orthonormalise(kfe_i_krylov *s, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t c = *count;
    int64_t kept = 0;
    double *inner = s->small;
    double *values = s->ritz_values;
    double *vectors = s->small + c * c;
    double *lengths = s->residuals;

    KFE_TRY(s->space.calls->inner(&s->space, packed(&s->candidate, c), packed(&s->candidate, c), inner));
    for (int64_t j = 0; j < c; j++)
        lengths[j] = inner[j * c + j] > 0 ? 1 / sqrt(inner[j * c + j]) : 0;
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < c; j++)
            inner[i * c + j] *= lengths[i] * lengths[j];
    KFE_TRY(small_eigen(s, c, inner, c, values, vectors));
    while (kept < c && values[kept] > (double)c * 1e-14 * values[0] && values[kept] > 0)
        kept++;
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < kept; j++)
            vectors[i * c + j] *= lengths[i] / sqrt(values[j]);
    *count = kept;
    if (kept == 0)
        return KFE_OK;
    KFE_TRY(s->space.calls->combine(&s->space, 1, packed(&s->candidate, c), vectors, c, 0,
                                    packed(&s->swap, kept)));
    KFE_TRY(s->space.calls->copy(&s->space, packed(&s->swap, kept), packed(&s->candidate, kept)));
cleanup:
    return status;
}

/* ---- products ---- */

/* difference (n × count, packed) = product − difference; *largest is the largest norm. */
static kfe_status subtract_from_product(kfe_i_krylov *s, int64_t count, kfe_i_span difference,
                                        double *largest)
{
    kfe_status status = KFE_OK;
    double *identity = s->small;

    memset(identity, 0, (size_t)(count * count) * sizeof *identity);
    for (int64_t i = 0; i < count; i++)
        identity[i * count + i] = 1;
    KFE_TRY(
        s->space.calls->combine(&s->space, 1, packed(&s->product, count), identity, count, -1, difference));
    KFE_TRY(s->space.calls->squares(&s->space, difference, s->residuals));
    *largest = 0;
    for (int64_t j = 0; j < count; j++)
        *largest = fmax(*largest, sqrt(s->residuals[j]));
cleanup:
    return status;
}

/* product = G·candidate. The first block is multiplied in both precisions, to see how much they differ. */
static kfe_status multiply(kfe_i_krylov *s, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_i_span candidate = packed(&s->candidate, count);

    s->fast_products += s->fast;
    if (!s->fast || s->size > 0)
        return s->space.calls->times(&s->space, s->fast, candidate, packed(&s->product, count));
    KFE_TRY(s->space.calls->times(&s->space, 0, candidate, packed(&s->product, count)));
    KFE_TRY(s->space.calls->times(&s->space, 1, candidate, packed(&s->swap, count)));
    KFE_TRY(subtract_from_product(s, count, packed(&s->swap, count), &s->fast_error));
cleanup:
    return status;
}

/* The last `count` rows and columns of VᵀW, from the images of all vectors: the images of the leading Ritz vectors are the most exact
 * ones, and an error here would not become smaller than that of the new products. */
static kfe_status extend_inner(kfe_i_krylov *s, int64_t count)
{
    int64_t first = s->size - count;
    int64_t stride = s->capacity;
    kfe_status status = s->space.calls->inner(&s->space, image_of(s), packed(&s->candidate, count), s->small);

    for (int64_t i = 0; status == KFE_OK && i < s->size; i++)
        for (int64_t j = 0; j < count; j++) {
            double value = s->small[i * count + j];
            if (i >= first) /* the new block on the diagonal is symmetric only up to rounding */
                value = (value + s->small[(first + j) * count + i - first]) / 2;
            s->inner[i * stride + first + j] = s->inner[(first + j) * stride + i] = value;
        }
    return status;
}

/* A gains a row and column for each of the last `count` vectors. */
static void extend_inexact(kfe_i_krylov *s, int64_t count)
{
    int exact = !s->fast || s->size == count;

    for (int64_t i = s->size - count; i < s->size; i++) {
        for (int64_t j = 0; j < s->size; j++)
            s->inexact[i * s->capacity + j] = s->inexact[j * s->capacity + i] = 0;
        s->inexact[i * s->capacity + i] = exact ? 0 : 1;
    }
}

/* Candidates that do not fit in the basis any more are left out. */
static kfe_status cut_candidates(kfe_i_krylov *s, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t all = *count;

    if (all <= s->capacity - s->size)
        return KFE_OK;
    *count = s->capacity - s->size; /* fewer columns, packed again */
    KFE_TRY(
        s->space.calls->copy(&s->space, kfe_i_span_of(&s->candidate, *count, all), packed(&s->swap, *count)));
    KFE_TRY(s->space.calls->copy(&s->space, packed(&s->swap, *count), packed(&s->candidate, *count)));
cleanup:
    return status;
}

kfe_status kfe_i_krylov_extend(kfe_i_krylov *s, int64_t *count)
{
    kfe_status status = KFE_OK;

    for (int pass = 0; pass < 2 && *count > 0; pass++) {
        if (pass == 0 && s->is_image && !s->fast)
            KFE_TRY(project_out_image(s, *count));
        else
            KFE_TRY(project_out(s, *count));
        KFE_TRY(orthonormalise(s, count));
    }
    KFE_TRY(cut_candidates(s, count));
    s->newest = *count;
    if (*count == 0)
        return KFE_OK;
    KFE_TRY(multiply(s, *count));
    kfe_i_span place = {.memory = &s->basis, .first = s->size, .count = *count, .stride = s->capacity};
    KFE_TRY(s->space.calls->copy(&s->space, packed(&s->candidate, *count), place));
    place.memory = &s->image;
    KFE_TRY(s->space.calls->copy(&s->space, packed(&s->product, *count), place));
    s->size += *count;
    KFE_TRY(extend_inner(s, *count));
    extend_inexact(s, *count);
cleanup:
    return status;
}

/* ---- Rayleigh-Ritz ---- */

/* swap (n × count) = W s_j − θ_j V s_j for the leading Ritz pairs; *largest is the largest norm of the first k. */
static kfe_status find_residuals(kfe_i_krylov *s, int64_t count, double *largest)
{
    kfe_status status = KFE_OK;
    int64_t m = s->size;
    kfe_i_span swap = packed(&s->swap, count);

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < count; j++)
            s->small[i * count + j] = -s->ritz_values[j] * s->ritz[i * s->found + j];
    KFE_TRY(s->space.calls->combine(&s->space, 1, image_of(s), s->ritz, s->found, 0, swap));
    KFE_TRY(s->space.calls->combine(&s->space, 1, basis_of(s), s->small, count, 1, swap));
    KFE_TRY(s->space.calls->squares(&s->space, swap, s->residuals));
    *largest = 0;
    for (int64_t j = 0; j < kfe_i_least(s->k, count); j++)
        *largest = fmax(*largest, sqrt(s->residuals[j]));
cleanup:
    return status;
}

/* The largest √(sᵀAs) of the wanted pairs. */
static double largest_share(const kfe_i_krylov *s, int64_t count)
{
    double largest = 0;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->size, (blasint)count, (blasint)s->size,
                1, s->inexact, (blasint)s->capacity, s->ritz, (blasint)s->found, 0, s->small, (blasint)count);
    for (int64_t j = 0; j < count; j++) {
        double form = 0;
        for (int64_t i = 0; i < s->size; i++)
            form += s->ritz[i * s->found + j] * s->small[i * count + j];
        largest = fmax(largest, form);
    }
    return sqrt(largest);
}

/* Rayleigh quotients stand for negative eigenvalues. */
static double norm_of(const kfe_i_krylov *s)
{
    double norm = fabs(s->ritz_values[0]);

    for (int64_t i = 0; i < s->size; i++)
        norm = fmax(norm, fabs(s->inner[i * s->capacity + i]));
    return norm;
}

kfe_status kfe_i_krylov_ritz(kfe_i_krylov *s, kfe_i_ritz_error *out)
{
    kfe_status status = KFE_OK;

    s->found = kfe_i_least(s->size, s->k + s->block);
    kfe_i_copy_block(s->size, s->size, s->inner, s->capacity, s->small, s->size);
    KFE_TRY(small_eigen(s, s->size, s->small, s->found, s->ritz_values, s->ritz));
    *out = (kfe_i_ritz_error){.residual = INFINITY, .norm = norm_of(s)};
    if (s->size < s->k)
        return KFE_OK;
    KFE_TRY(find_residuals(s, s->k, &out->residual));
    out->doubt = s->fast_error * largest_share(s, s->k);
    out->bound = out->doubt * sqrt((double)s->n);
cleanup:
    return status;
}

/* ---- corrections ---- */

/* a ← a + QSᵀ + SQᵀ for the leading `count` columns of `ritz` S and Q (size × count). */
static void update_symmetric(const kfe_i_krylov *s, int64_t count, const double *q, double *a)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)s->size, (blasint)s->size, (blasint)count,
                1, q, (blasint)count, s->ritz, (blasint)s->found, 1, a, (blasint)s->capacity);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)s->size, (blasint)s->size, (blasint)count,
                1, s->ritz, (blasint)s->found, q, (blasint)count, 1, a, (blasint)s->capacity);
}

/* d ← d − S(Sᵀd)/2, with room for count × count numbers. Then dSᵀ + Sdᵀ maps S to the former d. */
static void halve_own_part(const kfe_i_krylov *s, int64_t count, double *d, double *room)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)count, (blasint)count, (blasint)s->size, 1,
                s->ritz, (blasint)s->found, d, (blasint)count, 0, room, (blasint)count);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            room[i * count + j] = room[j * count + i] = (room[i * count + j] + room[j * count + i]) / 2;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->size, (blasint)count, (blasint)count,
                -0.5, s->ritz, (blasint)s->found, room, (blasint)count, 1, d, (blasint)count);
}

/* A ← (I − SSᵀ)A(I − SSᵀ). */
static void correct_inexact(kfe_i_krylov *s, int64_t count)
{
    double *d = s->small;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->size, (blasint)count, (blasint)s->size,
                -1, s->inexact, (blasint)s->capacity, s->ritz, (blasint)s->found, 0, d, (blasint)count);
    halve_own_part(s, count, d, d + s->size * count);
    update_symmetric(s, count, d, s->inexact);
}

/* With Δ = GX − WS in `swap`: W ← W + ΔSᵀ. VᵀW becomes the nearest symmetric matrix that maps S to VᵀGX; before, it maps S to SΘ. */
static kfe_status correct_image(kfe_i_krylov *s, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_i_span delta = packed(&s->swap, count);

    for (int64_t i = 0; i < s->size; i++)
        for (int64_t j = 0; j < count; j++)
            s->small[j * s->size + i] = s->ritz[i * s->found + j];
    KFE_TRY(s->space.calls->combine(&s->space, 1, delta, s->small, s->size, 1, image_of(s)));
    KFE_TRY(s->space.calls->inner(&s->space, basis_of(s), packed(&s->product, count), s->small));
    for (int64_t i = 0; i < s->size; i++)
        for (int64_t j = 0; j < count; j++)
            s->small[i * count + j] -= s->ritz[i * s->found + j] * s->ritz_values[j];
    halve_own_part(s, count, s->small, s->small + s->size * count);
    update_symmetric(s, count, s->small, s->inner);
cleanup:
    return status;
}

kfe_status kfe_i_krylov_correct(kfe_i_krylov *s, kfe_i_ritz_error *out)
{
    kfe_status status = KFE_OK;
    int64_t count = kfe_i_least(s->block, s->found);
    double share = largest_share(s, count);
    double error = 0;

    KFE_TRY(s->space.calls->combine(&s->space, 1, basis_of(s), s->ritz, s->found, 0,
                                    packed(&s->candidate, count)));
    KFE_TRY(s->space.calls->times(&s->space, 0, packed(&s->candidate, count), packed(&s->product, count)));
    KFE_TRY(
        s->space.calls->combine(&s->space, 1, image_of(s), s->ritz, s->found, 0, packed(&s->swap, count)));
    KFE_TRY(subtract_from_product(s, count, packed(&s->swap, count), &error));
    s->corrected = 1;
    if (share > KFE_TELLING_SHARE)
        s->fast_error = fmax(s->fast_error, error / share);
    KFE_TRY(correct_image(s, count));
    correct_inexact(s, count);
    KFE_TRY(kfe_i_krylov_ritz(s, out));
cleanup:
    return status;
}

kfe_status kfe_i_krylov_leave_single(kfe_i_krylov *s, kfe_i_ritz_error *out)
{
    kfe_status status = KFE_OK;
    int64_t count = kfe_i_least(s->block, s->found);
    kfe_i_span candidate = packed(&s->candidate, count);

    KFE_TRY(s->space.calls->combine(&s->space, 1, basis_of(s), s->ritz, s->found, 0, candidate));
    KFE_TRY(s->space.calls->times(&s->space, 0, candidate, packed(&s->product, count)));
    s->size = s->newest = count;
    s->fast = s->corrected = 0;
    KFE_TRY(s->space.calls->copy(&s->space, candidate, basis_of(s)));
    KFE_TRY(s->space.calls->copy(&s->space, packed(&s->product, count), image_of(s)));
    KFE_TRY(extend_inner(s, count));
    extend_inexact(s, count);
    KFE_TRY(kfe_i_krylov_ritz(s, out));
cleanup:
    return status;
}

/* ---- the next block ---- */

/* A ← SᵀAS for the leading `keep` columns of `ritz`. */
static void restart_inexact(kfe_i_krylov *s, int64_t keep)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->size, (blasint)keep, (blasint)s->size,
                1, s->inexact, (blasint)s->capacity, s->ritz, (blasint)s->found, 0, s->small, (blasint)keep);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)keep, (blasint)keep, (blasint)s->size, 1,
                s->ritz, (blasint)s->found, s->small, (blasint)keep, 0, s->inexact, (blasint)s->capacity);
}

/* Replaces the basis by its leading Ritz vectors, and the image by theirs. */
static kfe_status restart(kfe_i_krylov *s, int64_t keep)
{
    kfe_status status = KFE_OK;
    kfe_i_span swap = packed(&s->swap, keep);

    KFE_TRY(s->space.calls->combine(&s->space, 1, basis_of(s), s->ritz, s->found, 0, swap));
    KFE_TRY(s->space.calls->copy(&s->space, swap, kfe_i_span_of(&s->basis, keep, s->capacity)));
    KFE_TRY(s->space.calls->combine(&s->space, 1, image_of(s), s->ritz, s->found, 0, swap));
    KFE_TRY(s->space.calls->copy(&s->space, swap, kfe_i_span_of(&s->image, keep, s->capacity)));
    restart_inexact(s, keep);
    s->size = keep;
    for (int64_t i = 0; i < keep; i++)
        for (int64_t j = 0; j < keep; j++)
            s->inner[i * s->capacity + j] = i == j ? s->ritz_values[i] : 0;
cleanup:
    return status;
}

kfe_status kfe_i_krylov_random(kfe_i_krylov *s)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    kfe_i_rng rng;

    KFE_ALLOC(s->ctx, values, s->n * s->block);
    kfe_i_rng_init(&rng, kfe_context_seed(s->ctx), KFE_STREAM_EIGEN);
    for (int64_t i = 0; i < s->n * s->block; i++)
        values[i] = kfe_i_rng_normal(&rng);
    KFE_TRY(s->space.calls->put(&s->space, values, packed(&s->candidate, s->block)));
cleanup:
    kfe_i_free(s->ctx, values);
    return status;
}

kfe_status kfe_i_krylov_next(kfe_i_krylov *s, int64_t *count)
{
    kfe_status status = KFE_OK;
    int full = s->size + s->block > s->capacity;
    double largest = 0;

    s->is_image = !full && !s->corrected;
    *count = s->is_image ? s->newest : kfe_i_least(s->block, s->found);
    if (s->is_image)
        return s->space.calls->copy(&s->space, packed(&s->product, *count), packed(&s->candidate, *count));
    KFE_TRY(find_residuals(s, *count, &largest));
    KFE_TRY(s->space.calls->copy(&s->space, packed(&s->swap, *count), packed(&s->candidate, *count)));
    if (full)
        KFE_TRY(restart(s, kfe_i_least(s->k + s->block, s->size - s->block)));
cleanup:
    return status;
}

kfe_status kfe_i_krylov_vectors(kfe_i_krylov *s, double *vectors)
{
    kfe_status status = KFE_OK;

    KFE_TRY(s->space.calls->combine(&s->space, 1, basis_of(s), s->ritz, s->found, 0, packed(&s->swap, s->k)));
    KFE_TRY(s->space.calls->get(&s->space, packed(&s->swap, s->k), vectors));
cleanup:
    return status;
}

/* ---- memory ---- */

kfe_status kfe_i_krylov_allocate(kfe_i_krylov *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->ctx;

    KFE_TRY(s->space.calls->allocate(&s->space, s->capacity, &s->basis));
    KFE_TRY(s->space.calls->allocate(&s->space, s->capacity, &s->image));
    KFE_TRY(s->space.calls->allocate(&s->space, s->block, &s->candidate));
    KFE_TRY(s->space.calls->allocate(&s->space, s->block, &s->product));
    KFE_TRY(s->space.calls->allocate(&s->space, s->k + s->block, &s->swap));
    KFE_ALLOC_ZERO(ctx, s->inner, s->capacity * s->capacity);
    KFE_ALLOC_ZERO(ctx, s->inexact, s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->projected, s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->ritz, s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->small, 2 * s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->ritz_values, s->capacity);
    KFE_ALLOC(ctx, s->residuals, s->k + s->block);
    KFE_TRY(kfe_i_eigen_work_new(ctx, s->capacity, &s->work));
cleanup:
    return status;
}

void kfe_i_krylov_free(kfe_i_krylov *s)
{
    kfe_i_long *vectors[] = {&s->basis, &s->image, &s->candidate, &s->product, &s->swap};
    double **small[] = {&s->inner, &s->inexact,   &s->ritz,       &s->projected,
                        &s->small, &s->residuals, &s->ritz_values};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        kfe_i_long_free(&s->space, vectors[i]);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        kfe_i_free(s->ctx, *small[i]);
        *small[i] = NULL;
    }
    kfe_i_eigen_work_free(s->work);
    s->work = NULL;
    kfe_i_space_close(&s->space);
}

/* ---- checkpoints ---- */

kfe_status kfe_i_krylov_list(kfe_i_krylov *s, kfe_i_loop *loop, kfe_i_krylov_copy *copy)
{
    kfe_status status = KFE_OK;

    if (loop->number < 0)
        return KFE_OK;
    KFE_ALLOC_ZERO(s->ctx, copy->basis, s->n * s->capacity);
    KFE_ALLOC_ZERO(s->ctx, copy->image, s->n * s->capacity);
    KFE_ALLOC_ZERO(s->ctx, copy->candidate, s->n * s->block);
    KFE_LOOP_VALUE(loop, s->size);
    KFE_LOOP_VALUE(loop, s->is_image);
    KFE_LOOP_VALUE(loop, s->fast);
    KFE_LOOP_VALUE(loop, s->fast_products);
    KFE_LOOP_VALUE(loop, s->corrected);
    KFE_LOOP_VALUE(loop, s->fast_error);
    KFE_LOOP_ARRAY(loop, s->inner, s->capacity * s->capacity);
    KFE_LOOP_ARRAY(loop, s->inexact, s->capacity * s->capacity);
    KFE_LOOP_ARRAY(loop, copy->basis, s->n * s->capacity);
    KFE_LOOP_ARRAY(loop, copy->image, s->n * s->capacity);
    KFE_LOOP_ARRAY(loop, copy->candidate, s->n * s->block);
cleanup:
    return status;
}

kfe_status kfe_i_krylov_save(kfe_i_krylov *s, int64_t count, const kfe_i_krylov_copy *copy, kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;

    if (s->size == 0 || !kfe_i_loop_is_due(loop))
        return KFE_OK;
    KFE_TRY(s->space.calls->get(&s->space, basis_of(s), copy->basis));
    KFE_TRY(s->space.calls->get(&s->space, image_of(s), copy->image));
    KFE_TRY(s->space.calls->get(&s->space, packed(&s->candidate, count), copy->candidate));
    KFE_TRY(kfe_i_loop_save(loop));
cleanup:
    return status;
}

kfe_status kfe_i_krylov_restore(kfe_i_krylov *s, int64_t count, const kfe_i_krylov_copy *copy)
{
    kfe_status status = KFE_OK;

    KFE_TRY(s->space.calls->put(&s->space, copy->basis, basis_of(s)));
    KFE_TRY(s->space.calls->put(&s->space, copy->image, image_of(s)));
    KFE_TRY(s->space.calls->put(&s->space, copy->candidate, packed(&s->candidate, count)));
cleanup:
    return status;
}

void kfe_i_krylov_copy_free(kfe_context *ctx, kfe_i_krylov_copy *copy)
{
    kfe_i_free(ctx, copy->basis);
    kfe_i_free(ctx, copy->image);
    kfe_i_free(ctx, copy->candidate);
}
