/* SPDX-License-Identifier: Apache-2.0 */
/* The landmark operator FFᵀ as a form of the Gram operator: choosing landmarks, making the factor F, and the questions that
 * methods ask. Fits open it when the spec has landmarks (model/fit.c). */
#include "gram/form/landmarks.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/form.h"
#include "gram/form/landmarks_factor.h"
#include "gram/landmark/rpcholesky.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

enum { PANEL = 1024 };
/* The share of the memory that is left which the factor may take; methods need the rest for their vectors. */
#define KFE_FACTOR_SHARE 0.6
/* KFE_NEGATIVE_BEYOND_ROUNDING of a factor in single precision. */
#define KFE_SINGLE_NEGATIVE_BEYOND_ROUNDING (-10 * KFE_SINGLE_RANK_TOLERANCE)

/* ---- what methods ask ---- */

static kfe_i_landmark_factor *factor_of(const kfe_i_gram *gram)
{
    return gram->state;
}

/* out (count × rank) = rows of F at listed examples, or consecutive ones. */
static kfe_status rows_at(const kfe_i_landmark_factor *f, kfe_i_places places, double *out)
{
    kfe_status status = KFE_OK;
    double *panel = NULL;
    double *scratch = NULL;

    KFE_ALLOC(f->ctx, scratch, places.count * f->count);
    if (!places.index) {
        KFE_TRY(kfe_i_factor_rows(f, places.first, places.count, out, scratch));
    } else if (f->source) {
        KFE_ALLOC(f->ctx, panel, places.count * f->count);
        KFE_TRY(kfe_i_gram_entries(f->source, places, kfe_i_listed(f->index, f->count), panel, f->count));
        kfe_i_factor_from_kernel(f, places.count, panel, scratch);
        memcpy(out, panel, (size_t)(places.count * f->rank) * sizeof *out);
    } else {
        for (int64_t j = 0; j < places.count; j++)
            KFE_TRY(kfe_i_factor_rows(f, places.index[j], 1, out + j * f->rank, scratch));
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, scratch);
    return status;
}

/* *out = rows of F, or of C if the factor is not stored, `width` numbers each: where they are, or in `room`. */
static kfe_status left_rows(const kfe_i_landmark_factor *f, kfe_i_places rows, double *room,
                            const double **out)
{
    *out = room;
    if (f->source)
        return rows.index
                   ? kfe_i_gram_entries(f->source, rows, kfe_i_listed(f->index, f->count), room, f->count)
                   : kfe_i_landmark_kernel_rows(f, f->source, rows.first, rows.count, room);
    if (!f->wide || rows.index)
        return rows_at(f, rows, room);
    *out = f->wide + rows.first * f->rank;
    return KFE_OK;
}

/* out (width × cols) = the transpose of rows of F, or T times that if the factor is not stored: with left_rows, it gives FFᵀ. */
static kfe_status right_columns(const kfe_i_landmark_factor *f, kfe_i_places cols, double *out)
{
    kfe_status status = KFE_OK;
    int64_t m = cols.count;
    double *rows = NULL;
    double *transposed = NULL;

    KFE_ALLOC(f->ctx, rows, m * f->rank);
    KFE_ALLOC(f->ctx, transposed, m * f->rank);
    KFE_TRY(rows_at(f, cols, rows));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < f->rank; j++)
            transposed[j * m + i] = rows[i * f->rank + j];
    if (f->source)
        KFE_TRY(kfe_i_factor_map(f, transposed, m, out));
    else
        memcpy(out, transposed, (size_t)(m * f->rank) * sizeof *out);
cleanup:
    kfe_i_free(f->ctx, rows);
    kfe_i_free(f->ctx, transposed);
    return status;
}

/* F·Fᵀ in panels of rows and columns. */
static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_factor *f = factor_of(gram);
    int64_t width = f->source ? f->count : f->rank;
    const double *left = NULL;
    double *room = NULL;
    double *right = NULL;

    for (int64_t i = 0; i < rows.count && f->rank == 0; i++)
        memset(out + i * stride, 0, (size_t)cols.count * sizeof *out);
    if (f->rank == 0)
        return KFE_OK;
    KFE_ALLOC(gram->ctx, room, kfe_i_least(PANEL, rows.count) * width);
    KFE_ALLOC(gram->ctx, right, kfe_i_least(PANEL, cols.count) * width);
    for (int64_t j = 0; j < cols.count; j += PANEL) {
        kfe_i_places some_cols = kfe_i_places_part(cols, j, kfe_i_least(PANEL, cols.count - j));
        KFE_TRY(right_columns(f, some_cols, right));
        for (int64_t i = 0; i < rows.count; i += PANEL) {
            kfe_i_places some_rows = kfe_i_places_part(rows, i, kfe_i_least(PANEL, rows.count - i));
            KFE_TRY(left_rows(f, some_rows, room, &left));
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)some_rows.count,
                        (blasint)some_cols.count, (blasint)width, 1, left, (blasint)width, right,
                        (blasint)some_cols.count, 0, out + i * stride + j, (blasint)stride);
        }
    }
cleanup:
    kfe_i_free(gram->ctx, room);
    kfe_i_free(gram->ctx, right);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    return kfe_i_factor_squared_rows(factor_of(gram), out);
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_factor *f = factor_of(gram);
    double *small = kfe_i_gram_workspace(gram, f->rank * k);

    if (!small)
        return kfe_i_lack(gram->ctx);
    KFE_TRY(kfe_i_factor_project(f, v, k, small));
    KFE_TRY(kfe_i_factor_expand(f, small, k, out));
cleanup:
    return status;
}

static int64_t rank_bound(const kfe_i_gram *gram)
{
    return factor_of(gram)->rank;
}

static const int64_t *support(const kfe_i_gram *gram, int64_t *count)
{
    *count = factor_of(gram)->count;
    return factor_of(gram)->index;
}

static double trace_left(const kfe_i_gram *gram)
{
    return factor_of(gram)->left;
}

static void release(kfe_i_gram *gram)
{
    kfe_i_landmark_factor_free(factor_of(gram));
}

static const kfe_i_gram_form form = {
    .name = "approximated by landmarks",
    .entries = entries,
    .diagonal = diagonal,
    .times = times,
    .solve = kfe_i_landmark_solve,
    .eigen = kfe_i_landmark_eigen,
    .least_eigenvalue = kfe_i_gram_no_negative,
    .squared_norm = kfe_i_landmark_squared_norm,
    .rank_bound = rank_bound,
    .centre = kfe_i_landmark_centre,
    .support = support,
    .trace_left = trace_left,
    .release = release,
};

kfe_i_landmark_factor *kfe_i_landmark_factor_of(const kfe_i_gram *gram)
{
    assert(gram->form == &form);
    return factor_of(gram);
}

kfe_status kfe_i_landmark_coefficients(const kfe_i_gram *gram, const int64_t *index, int64_t rows,
                                       const double *a, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_factor *f = kfe_i_landmark_factor_of(gram);
    double *small = NULL;
    double *at = NULL;

    KFE_ALLOC_ZERO(gram->ctx, small, f->rank * k);
    if (!index) {
        KFE_TRY(kfe_i_factor_project(f, a, k, small));
    } else {
        KFE_ALLOC(gram->ctx, at, rows * f->rank);
        KFE_TRY(rows_at(f, kfe_i_listed(index, rows), at));
        if (rows > 0 && f->rank > 0 && k > 0)
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)f->rank, (blasint)k, (blasint)rows,
                        1, at, (blasint)f->rank, a, (blasint)k, 0, small, (blasint)k);
    }
    KFE_TRY(kfe_i_factor_map(f, small, k, out));
cleanup:
    kfe_i_free(gram->ctx, small);
    kfe_i_free(gram->ctx, at);
    return status;
}

kfe_status kfe_i_landmark_map(const kfe_i_gram *gram, const double *z, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    double *identity = NULL;

    if (!z) {
        KFE_ALLOC_ZERO(gram->ctx, identity, k * k);
        kfe_i_add_to_diagonal(k, 1, identity);
    }
    KFE_TRY(kfe_i_factor_map(kfe_i_landmark_factor_of(gram), z ? z : identity, k, out));
cleanup:
    kfe_i_free(gram->ctx, identity);
    return status;
}

kfe_status kfe_i_landmark_rows(const kfe_i_gram *gram, int64_t first, int64_t rows, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_factor *f = kfe_i_landmark_factor_of(gram);
    double *scratch = NULL;

    KFE_ALLOC(gram->ctx, scratch, PANEL * f->count);
    for (int64_t i = 0; i < rows; i += PANEL)
        KFE_TRY(
            kfe_i_factor_rows(f, first + i, rows - i < PANEL ? rows - i : PANEL, out + i * f->rank, scratch));
cleanup:
    kfe_i_free(gram->ctx, scratch);
    return status;
}

/* ---- making the factor ---- */

/* How the factor is kept. */
static kfe_status choose_storage(const kfe_i_gram *source, int64_t count, kfe_i_gram_storage *storage)
{
    kfe_context *ctx = source->ctx;
    double entries = (double)source->size * (double)count;
    double budget = KFE_FACTOR_SHARE * (double)kfe_i_memory_left(ctx);

    if (*storage == KFE_GRAM_AUTO)
        *storage = 8 * entries <= budget   ? KFE_GRAM_F64
                   : 4 * entries <= budget ? KFE_GRAM_F32
                                           : KFE_GRAM_TILED;
    if (*storage == KFE_GRAM_TILED)
        return KFE_OK;
    return kfe_i_check_memory(ctx, (*storage == KFE_GRAM_F64 ? 8 : 4) * entries,
                              "the factor of the landmarks",
                              "raise {memory}, use fewer {landmarks}, or {gram=tiled}, which keeps nothing");
}

/* T from the positive eigenvalues of W (count × count), which is overwritten. */
static kfe_status map_by_eigenvectors(kfe_i_landmark_factor *f, double *w, double rounding)
{
    kfe_status status = KFE_OK;
    int64_t m = f->count;
    double *values = NULL;
    double *vectors = NULL;

    KFE_ALLOC(f->ctx, values, m);
    KFE_ALLOC(f->ctx, vectors, m * m);
    KFE_TRY(kfe_i_symmetric_eigen(f->ctx, m, w, m, values, vectors));
    double smallest = fmax(rounding, KFE_RANK_TOLERANCE * values[0]);
    while (f->rank < m && values[f->rank] > smallest)
        f->rank++;
    KFE_ALLOC(f->ctx, f->spread, m * f->rank);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < f->rank; j++)
            f->spread[i * f->rank + j] = vectors[i * m + j] / sqrt(values[j]);
cleanup:
    kfe_i_free(f->ctx, values);
    kfe_i_free(f->ctx, vectors);
    return status;
}

/* L from W (count × count), which is overwritten; leaves out landmarks that depend on others. */
static kfe_status map_by_cholesky(kfe_i_landmark_factor *f, double *w)
{
    kfe_status status = KFE_OK;
    int64_t m = f->count;
    int64_t *kept = NULL;

    KFE_ALLOC(f->ctx, kept, m);
    KFE_TRY(kfe_i_independent(f->ctx, m, w, KFE_RANK_TOLERANCE, kept, &f->rank));
    KFE_ALLOC(f->ctx, f->lower, f->rank * f->rank);
    for (int64_t i = 0; i < f->rank; i++) {
        for (int64_t j = 0; j < f->rank; j++)
            f->lower[i * f->rank + j] = w[kept[i] * m + kept[j]];
        f->index[i] = f->index[kept[i]];
    }
    f->count = f->rank;
    if (f->rank > 0)
        KFE_TRY(kfe_i_cholesky(f->ctx, f->rank, f->lower, "the kernel matrix of the landmarks"));
cleanup:
    kfe_i_free(f->ctx, kept);
    return status;
}

static kfe_status make_map(kfe_i_landmark_factor *f, const kfe_i_gram *source, int indefinite)
{
    kfe_status status = KFE_OK;
    double *w = NULL;
    double rounding = 0;

    f->rank = 0;
    KFE_ALLOC(f->ctx, w, f->count * f->count);
    KFE_TRY(kfe_i_gram_among(source, f->index, f->count, w));
    if (indefinite) {
        KFE_TRY(kfe_i_gram_rounding(source, &rounding));
        KFE_TRY(map_by_eigenvectors(f, w, rounding));
    } else {
        KFE_TRY(map_by_cholesky(f, w));
    }
    KFE_TRY(kfe_i_gram_prepare(source, f->index, f->count, &f->chosen));
cleanup:
    kfe_i_free(f->ctx, w);
    return status;
}

/* Evaluates C panel by panel and keeps F. */
static kfe_status fill_factor(kfe_i_landmark_factor *f, const kfe_i_gram *source, kfe_i_gram_storage storage)
{
    kfe_status status = KFE_OK;
    int64_t size = f->rows * f->rank;
    double *panel = NULL;
    double *scratch = NULL;

    if (storage == KFE_GRAM_F64)
        KFE_ALLOC(f->ctx, f->wide, size);
    else
        KFE_ALLOC(f->ctx, f->narrow, size);
    KFE_ALLOC(f->ctx, panel, PANEL * f->count);
    KFE_ALLOC(f->ctx, scratch, PANEL * f->count);
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = f->rows - first < PANEL ? f->rows - first : PANEL;
        double *target = f->wide && f->lower ? f->wide + first * f->rank : panel; /* then rank = count */
        KFE_TRY(kfe_i_progress(f->ctx, "computing the kernel with the landmarks", first, f->rows));
        KFE_TRY(kfe_i_landmark_kernel_rows(f, source, first, rows, target));
        kfe_i_factor_from_kernel(f, rows, target, scratch);
        if (f->wide && target == panel)
            memcpy(f->wide + first * f->rank, panel, (size_t)(rows * f->rank) * sizeof *panel);
        for (int64_t i = 0; i < rows * f->rank && f->narrow; i++)
            f->narrow[first * f->rank + i] = (float)panel[i];
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, scratch);
    return status;
}

/* Starts again from the landmarks alone. */
static void drop_factor(kfe_i_landmark_factor *f)
{
    kfe_i_free(f->ctx, f->lower);
    kfe_i_free(f->ctx, f->spread);
    kfe_i_free(f->ctx, f->wide);
    kfe_i_free(f->ctx, f->narrow);
    kfe_i_free(f->ctx, f->products);
    kfe_i_free(f->ctx, f->sums);
    kfe_i_points_free(&f->chosen);
    f->lower = f->spread = f->wide = f->products = f->sums = NULL;
    f->narrow = NULL;
    f->source = NULL; /* which the caller owns */
    f->rank = 0;
}

static kfe_status make_factor(kfe_i_landmark_factor *f, kfe_i_gram *source, kfe_i_gram_storage storage,
                              int indefinite)
{
    kfe_status status = KFE_OK;

    KFE_TRY(make_map(f, source, indefinite));
    if (storage == KFE_GRAM_TILED)
        f->source = source;
    else
        KFE_TRY(fill_factor(f, source, storage));
cleanup:
    return status;
}

/* Takes the factor that randomly pivoted Cholesky made, without the columns that it did not use. */
static kfe_status take_pivots(kfe_i_landmark_factor *f, kfe_i_rpcholesky *made)
{
    kfe_status status = KFE_OK;
    int64_t r = made->rank;

    for (int64_t i = 0; i < made->rows && r < made->capacity; i++)
        memmove(made->factor + i * r, made->factor + i * made->capacity, (size_t)r * sizeof *made->factor);
    KFE_ALLOC_ZERO(f->ctx, f->lower, r * r);
    for (int64_t i = 0; i < r; i++)
        memcpy(f->lower + i * r, made->factor + made->pivots[i] * r, (size_t)(i + 1) * sizeof *f->lower);
    memcpy(f->index, made->pivots, (size_t)r * sizeof *f->index);
    f->count = f->rank = r;
    f->wide = made->factor;
    made->factor = NULL;
    f->left = made->trace > 0 ? made->left / made->trace : 0;
cleanup:
    return status;
}

/* Adds candidates that are not landmarks yet, up to the number planned: an indefinite kernel needs its negative part too, which
 * pivoting passes over. */
static kfe_status fill_up(kfe_i_landmark_factor *f, const kfe_i_landmark_plan *plan)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_candidates from = {0};
    unsigned char *taken = NULL;

    KFE_TRY(kfe_i_landmark_candidates_make(f->ctx, f->rows, plan, &from));
    KFE_ALLOC_ZERO(f->ctx, taken, f->rows);
    for (int64_t j = 0; j < f->count; j++)
        taken[f->index[j]] = 1;
    for (int64_t i = 0; i < from.count && f->count < plan->count; i++)
        if (!taken[from.index[i]])
            f->index[f->count++] = from.index[i];
cleanup:
    kfe_i_landmark_candidates_free(&from);
    kfe_i_free(f->ctx, taken);
    return status;
}

static kfe_status make_by_pivots(kfe_i_landmark_factor *f, const kfe_i_gram *source,
                                 const kfe_i_landmark_plan *plan, double *negative)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_candidates from = {0};
    kfe_i_rpcholesky made = {0};

    KFE_TRY(kfe_i_landmark_candidates_make(source->ctx, source->size, plan, &from));
    KFE_TRY(kfe_i_rpcholesky_run(source, &from, 0, plan->count, &made));
    *negative = made.largest > 0 ? made.negative / made.largest : 0;
    KFE_TRY(take_pivots(f, &made));
cleanup:
    kfe_i_landmark_candidates_free(&from);
    kfe_i_rpcholesky_free(&made);
    return status;
}

static kfe_status make(kfe_i_landmark_factor *f, kfe_i_gram *source, const kfe_i_landmark_plan *plan,
                       kfe_i_gram_storage storage)
{
    kfe_status status = KFE_OK;
    double negative = 0;

    if (plan->streamed)
        storage = KFE_GRAM_TILED;
    if (storage == KFE_GRAM_F64 && plan->rule == KFE_LANDMARKS_RPCHOLESKY && !plan->index &&
        !kfe_i_landmarks_are_sampled(source->size, plan->count)) {
        KFE_TRY(make_by_pivots(f, source, plan, &negative));
    } else {
        KFE_TRY(kfe_i_landmarks_choose(source, plan, f->index, &f->count));
        KFE_TRY(make_factor(f, source, storage, 0));
        if (plan->streamed)
            return KFE_OK;
        KFE_TRY(kfe_i_factor_left(f, source, &f->left, &negative));
    }
    if (negative >= (f->narrow ? KFE_SINGLE_NEGATIVE_BEYOND_ROUNDING : KFE_NEGATIVE_BEYOND_ROUNDING))
        return KFE_OK;
    kfe_i_log(f->ctx, KFE_LOG_WARNING,
              "the kernel is not positive definite on this data; directions of negative length are left "
              "out of the approximation by landmarks");
    drop_factor(f);
    KFE_TRY(fill_up(f, plan));
    KFE_TRY(make_factor(f, source, storage, 1));
    KFE_TRY(kfe_i_factor_left(f, source, &f->left, &negative));
cleanup:
    return status;
}

static int64_t clamp_count(const kfe_i_gram *source, int64_t asked)
{
    if (asked <= source->size)
        return asked;
    kfe_i_log(source->ctx, KFE_LOG_NOTICE,
              "{landmarks=%lld} is more than the %lld examples: using all of them", (long long)asked,
              (long long)source->size);
    return source->size;
}

kfe_status kfe_i_gram_landmarks(kfe_context *ctx, kfe_i_gram *source, const kfe_i_landmark_plan *plan,
                                kfe_i_gram_storage storage, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_plan clamped = *plan;

    *out = NULL;
    clamped.count = clamp_count(source, plan->count);
    int pinned = storage == KFE_GRAM_TILED;
    KFE_TRY(choose_storage(source, clamped.count, &storage));
    KFE_TRY(kfe_i_gram_new(ctx, &form, source->size, sizeof(kfe_i_landmark_factor), out));
    (*out)->pinned = pinned;
    kfe_i_landmark_factor *f = (*out)->state;
    f->ctx = ctx;
    f->rows = source->size;
    KFE_ALLOC(ctx, f->index, clamped.count);
    KFE_TRY(make(f, source, &clamped, storage));
    if (!plan->streamed)
        kfe_i_landmarks_log(f);
    if (f->source)
        source = NULL;
cleanup:
    if (status != KFE_OK && *out) {
        factor_of(*out)->source = NULL;
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    kfe_i_gram_free(source);
    return status;
}
