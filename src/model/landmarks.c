/* SPDX-License-Identifier: Apache-2.0 */
/* Landmarks in a fit: opening their operator, and moving the coefficients of a solution onto them; used by fit.c. */
#include "model/landmarks.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

kfe_status kfe_i_put_on_landmarks(const kfe_i_gram *gram, double **moved, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    const int64_t *landmarks = kfe_i_gram_support(gram, &count);

    kfe_i_free(solution->ctx, solution->coefficients);
    kfe_i_free(solution->ctx, solution->index);
    solution->kind = KFE_SOLUTION_DUAL;
    solution->rows = count;
    solution->coefficients = *moved;
    solution->index = NULL;
    *moved = NULL;
    KFE_ALLOC(solution->ctx, solution->index, count);
    memcpy(solution->index, landmarks, (size_t)count * sizeof *solution->index);
cleanup:
    return status;
}

kfe_status kfe_i_landmark_features(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t rank = kfe_i_gram_rank_bound(gram);
    int64_t count = 0;
    double *map = NULL;

    kfe_i_gram_support(gram, &count);
    if (rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "the kernel is zero on the landmarks; choose another kernel");
    KFE_ALLOC(ctx, map, count * rank);
    KFE_TRY(kfe_i_landmark_map(gram, NULL, rank, map));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, 0, rank, out));
    KFE_TRY(kfe_i_put_on_landmarks(gram, &map, out));
cleanup:
    kfe_i_free(ctx, map);
    return status;
}

/* out += factor · G̃_m A for kernel m of the source */
static kfe_status add_features(kfe_context *ctx, const kfe_i_fit_source *source, int64_t m, double factor,
                               const kfe_i_solution *solution, double *out)
{
    kfe_status status = KFE_OK;
    int64_t size = source->target->rows * solution->dim;
    kfe_i_gram *gram = NULL;
    double *part = NULL;

    KFE_ALLOC(ctx, part, size);
    KFE_TRY(kfe_i_ask_kernel(ctx, source, m, &gram));
    KFE_TRY(kfe_i_gram_times(gram, solution->coefficients, solution->dim, part));
    for (int64_t i = 0; i < size; i++)
        out[i] += factor * part[i];
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_free(ctx, part);
    return status;
}

kfe_status kfe_i_weighted_features(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_solution *solution,
                                   double **features)
{
    kfe_status status = KFE_OK;
    int64_t n = source->target->rows;

    *features = NULL;
    KFE_TRY(kfe_i_solution_spread(solution, n));
    KFE_ALLOC_ZERO(ctx, *features, n * solution->dim);
    for (int64_t m = 0; m < source->kernels->count; m++)
        if (solution->kernel_weights[m] > 0)
            KFE_TRY(add_features(ctx, source, m, solution->kernel_weights[m], solution, *features));
cleanup:
    return status;
}

/* ---- least squares by weight ---- */

enum { PANEL = 1024, FIT_PASSES = 2 };

/* The fit Fu of features Φ that minimises Σ wᵢ‖Φᵢ − (Fu)ᵢ‖², by the eigenvectors of FᵀWF. */
typedef struct weighted_fit {
    kfe_i_arena memory; /* of the arrays */
    const kfe_i_gram *gram;
    const double *weights;
    int64_t rank, k, kept;
    double *rows;             /* of F, PANEL × rank, and of W^½F */
    double *rest;             /* PANEL × k */
    double *products;         /* FᵀWF */
    double *values, *vectors; /* of it */
    double *right, *u;        /* rank × k: FᵀW(Φ − Fu), and u */
    double *turned;           /* kept × k */
} weighted_fit;

static kfe_status begin_fit(weighted_fit *f)
{
    kfe_status status = KFE_OK;
    int64_t r = f->rank;

    KFE_TAKE(&f->memory, f->rows, 2 * PANEL * r);
    KFE_TAKE(&f->memory, f->rest, PANEL * f->k);
    KFE_TAKE_ZERO(&f->memory, f->products, r * r);
    KFE_TAKE(&f->memory, f->values, r);
    KFE_TAKE(&f->memory, f->vectors, r * r);
    KFE_TAKE(&f->memory, f->right, r * f->k);
    KFE_TAKE_ZERO(&f->memory, f->u, r * f->k);
    KFE_TAKE(&f->memory, f->turned, r * f->k);
cleanup:
    return status;
}

/* rows = those of F from `first` on, and behind them the same times the roots of the weights. */
static kfe_status read_panel(const weighted_fit *f, int64_t first, int64_t count)
{
    kfe_status status = kfe_i_landmark_rows(f->gram, first, count, f->rows);
    double *weighed = f->rows + PANEL * f->rank;

    for (int64_t i = 0; status == KFE_OK && i < count; i++)
        for (int64_t j = 0; j < f->rank; j++)
            weighed[i * f->rank + j] = sqrt(f->weights[first + i]) * f->rows[i * f->rank + j];
    return status;
}

static kfe_status find_spectrum(weighted_fit *f)
{
    kfe_status status = KFE_OK;
    blasint r = (blasint)f->rank;

    for (int64_t first = 0; first < f->gram->size; first += PANEL) {
        int64_t count = kfe_i_least(PANEL, f->gram->size - first);
        KFE_TRY(read_panel(f, first, count));
        const double *weighed = f->rows + PANEL * f->rank;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, r, (blasint)count, 1, weighed, r, weighed, r,
                    1, f->products, r);
    }
    KFE_TRY(kfe_i_symmetric_eigen(f->memory.ctx, f->rank, f->products, f->rank, f->values, f->vectors));
    while (f->kept < f->rank && f->values[f->kept] > KFE_RANK_TOLERANCE * f->values[0])
        f->kept++;
cleanup:
    return status;
}

/* u += (FᵀWF)⁺FᵀW(Φ − Fu) */
static kfe_status improve(weighted_fit *f, const double *features)
{
    kfe_status status = KFE_OK;
    int64_t r = f->rank;
    kfe_i_columns vectors = kfe_i_strided(f->vectors, f->kept, r);

    memset(f->right, 0, (size_t)(r * f->k) * sizeof *f->right);
    for (int64_t first = 0; first < f->gram->size; first += PANEL) {
        int64_t count = kfe_i_least(PANEL, f->gram->size - first);
        KFE_TRY(read_panel(f, first, count));
        kfe_i_times(count, r, f->k, f->rows, f->u, f->rest);
        for (int64_t i = 0; i < count * f->k; i++)
            f->rest[i] = sqrt(f->weights[first + i / f->k]) * (features[first * f->k + i] - f->rest[i]);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)r, (blasint)f->k, (blasint)count, 1,
                    f->rows + PANEL * r, (blasint)r, f->rest, (blasint)f->k, 1, f->right, (blasint)f->k);
    }
    kfe_i_inner_products(r, vectors, kfe_i_packed(f->right, f->k), f->turned);
    for (int64_t i = 0; i < f->kept * f->k; i++)
        f->turned[i] /= f->values[i / f->k];
    kfe_i_combine(r, 1, vectors, kfe_i_packed(f->turned, f->k), 1, f->u);
cleanup:
    return status;
}

/* The features become their fit. */
static kfe_status fit_by_weight(const kfe_i_gram *gram, const double *weights, int64_t k, double *features)
{
    kfe_status status = KFE_OK;
    weighted_fit f = {.memory.ctx = gram->ctx,
                      .gram = gram,
                      .weights = weights,
                      .rank = kfe_i_gram_rank_bound(gram),
                      .k = k};

    if (f.rank == 0)
        return KFE_OK;
    KFE_TRY(begin_fit(&f));
    KFE_TRY(find_spectrum(&f));
    for (int pass = 0; pass < FIT_PASSES; pass++)
        KFE_TRY(improve(&f, features));
    for (int64_t first = 0; first < gram->size; first += PANEL) {
        int64_t count = kfe_i_least(PANEL, gram->size - first);
        KFE_TRY(read_panel(&f, first, count));
        kfe_i_times(count, f.rank, k, f.rows, f.u, features + first * k);
    }
cleanup:
    kfe_i_arena_free(&f.memory);
    return status;
}

kfe_status kfe_i_approximate_features(const kfe_i_gram *gram, const double *weights, double *features,
                                      kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;

    if (weights)
        KFE_TRY(fit_by_weight(gram, weights, solution->dim, features));
    KFE_TRY(kfe_i_gram_solve(gram, 0, features, solution->dim, KFE_TOLERANCE, solution->coefficients, NULL));
cleanup:
    return status;
}

/* ---- the support ---- */

static int row_is_zero(const kfe_i_solution *solution, int64_t i)
{
    for (int64_t j = 0; j < solution->dim; j++)
        if (solution->coefficients[i * solution->dim + j] != 0)
            return 0;
    return 1;
}

/* Whether all examples with coefficients are landmarks, and the operator is exact there: the solution may stay as it is. */
static kfe_status is_on_landmarks(const kfe_i_gram *gram, const kfe_i_solution *solution, int *out)
{
    kfe_status status = KFE_OK;
    unsigned char *is_landmark = NULL;
    int64_t count = 0;
    const int64_t *landmarks = kfe_i_gram_support(gram, &count);

    *out = count == kfe_i_gram_rank_bound(gram);
    KFE_ALLOC_ZERO(solution->ctx, is_landmark, gram->size);
    for (int64_t j = 0; j < count; j++)
        is_landmark[landmarks[j]] = 1;
    for (int64_t i = 0; i < solution->rows && *out; i++)
        *out = is_landmark[solution->index ? solution->index[i] : i] || row_is_zero(solution, i);
cleanup:
    kfe_i_free(solution->ctx, is_landmark);
    return status;
}

static kfe_status move_coefficients(const kfe_i_gram *gram, int64_t count, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double *moved = NULL;

    KFE_ALLOC(solution->ctx, moved, count * solution->dim);
    KFE_TRY(kfe_i_landmark_coefficients(gram, solution->index, solution->rows, solution->coefficients,
                                        solution->dim, moved));
    KFE_TRY(kfe_i_put_on_landmarks(gram, &moved, solution));
cleanup:
    kfe_i_free(solution->ctx, moved);
    return status;
}

kfe_status kfe_i_solution_to_landmarks(const kfe_i_gram *gram, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    int done = 1;

    kfe_i_gram_support(gram, &count);
    if (solution->kind == KFE_SOLUTION_DUAL)
        KFE_TRY(is_on_landmarks(gram, solution, &done));
    if (!done)
        KFE_TRY(move_coefficients(gram, count, solution));
    KFE_TRY(kfe_i_solution_record_landmarks(solution, count, kfe_i_gram_rank_bound(gram),
                                            kfe_i_gram_trace_left(gram)));
cleanup:
    return status;
}
