/* SPDX-License-Identifier: Apache-2.0 */
/* Subspaces to start from, for skfe.c and stopping.c: fit another method with its defaults (or draw at random),
 * take its coefficients as candidates, and keep the dimensions that suit the classes best. */
#include "method/subspace/skfe_start.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "kernel/expansion.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* The ridge, relative to the mean diagonal, that expresses synthetic points by examples: a start need not be exact. */
#define KFE_START_RIDGE 1e-8

/* Candidates: coefficients and their images under the operator, rows × count. */
typedef struct candidates {
    int64_t rows, count;
    double *w, *image;
} candidates;

static kfe_status allocate(kfe_context *ctx, int64_t rows, int64_t count, candidates *out)
{
    kfe_status status = KFE_OK;

    out->rows = rows;
    out->count = count;
    KFE_ALLOC(ctx, out->w, rows * count);
    KFE_ALLOC(ctx, out->image, rows * count);
cleanup:
    return status;
}

static void free_candidates(kfe_context *ctx, candidates *from)
{
    kfe_i_free(ctx, from->w);
    kfe_i_free(ctx, from->image);
    memset(from, 0, sizeof *from);
}

/* ---- by a method ---- */

static kfe_status settings_for(kfe_context *ctx, const kfe_i_method *method, kfe_i_start start, int64_t dim,
                               void **out)
{
    kfe_status status = KFE_OK;
    void *settings = NULL;
    char text[32];

    KFE_CHECK_ALLOC_BY(ctx, settings, kfe_i_alloc_zero(ctx, 1, method->params.size));
    *out = settings;
    KFE_TRY(kfe_i_params_default(ctx, &method->params, settings));
    /* centroid methods give one direction per class; the others would stop at ten */
    if (start == KFE_START_KPCA || start == KFE_START_KPLS) {
        snprintf(text, sizeof text, "%lld", (long long)dim);
        KFE_TRY(kfe_i_param_set(ctx, &method->params, method->name, settings, "dim", text));
    }
cleanup:
    return status;
}

/* Synthetic points are not examples: find coefficients on examples that give nearly the same features. */
static kfe_status from_points(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                              const kfe_i_solution *solution, candidates *out)
{
    kfe_status status = KFE_OK;
    double mean = 0;

    KFE_TRY(allocate(ctx, gram->size, solution->dim, out));
    KFE_TRY(kfe_i_expand(ctx, source->kernels, source->views, solution->points, solution->coefficients,
                         solution->dim, out->image));
    for (int64_t i = 0; gram->roots && i < gram->size; i++)
        cblas_dscal((blasint)solution->dim, gram->roots[i], out->image + i * solution->dim, 1);
    KFE_TRY(kfe_i_gram_mean_diagonal(gram, &mean));
    KFE_TRY(kfe_i_gram_solve(gram, KFE_START_RIDGE * mean, out->image, solution->dim, 1e-6, out->w, NULL));
    KFE_TRY(kfe_i_gram_times(gram, out->w, solution->dim, out->image));
cleanup:
    return status;
}

static kfe_status from_solution(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                kfe_i_solution *solution, candidates *out)
{
    kfe_status status = KFE_OK;

    if (solution->kind == KFE_SOLUTION_POINTS)
        return from_points(ctx, source, gram, solution, out);
    KFE_TRY(kfe_i_solution_spread(solution, gram->size));
    KFE_TRY(allocate(ctx, gram->size, solution->dim, out));
    memcpy(out->w, solution->coefficients, (size_t)(gram->size * solution->dim) * sizeof *out->w);
    KFE_TRY(kfe_i_gram_times(gram, out->w, solution->dim, out->image));
cleanup:
    return status;
}

static int has_points(const kfe_i_fit_source *source)
{
    if (!source->views || !source->kernels)
        return 0;
    for (int64_t m = 0; m < source->kernels->count; m++) {
        kfe_i_kernel_base base = source->kernels->items[m].def->base;
        if (base == KFE_BASE_GIVEN || base == KFE_BASE_STRING)
            return 0;
    }
    return 1;
}

static kfe_status by_method(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                            kfe_i_start start, int64_t dim, candidates *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_method *method = NULL;
    kfe_i_fit_source own = *source;
    kfe_i_solution solution = {0};
    void *settings = NULL;
    char name[16];

    kfe_i_word_at(KFE_START_WORDS, (int)start, name, sizeof name);
    KFE_TRY(kfe_i_method_find(ctx, name, &method));
    if (start == KFE_START_AKDA_QR && !has_points(source))
        KFE_FAIL(ctx, KFE_EINVAL,
                 "skfe: {init=akda-qr} needs the data, not only a kernel matrix; use {init=koc}, {init=kpca} "
                 "or {init=kpls}");
    kfe_i_operator op = {.gram = gram};
    own.op = &op;
    KFE_TRY(settings_for(ctx, method, start, dim, &settings));
    KFE_TRY(method->fit(ctx, &own, settings, &solution));
    KFE_TRY(from_solution(ctx, source, gram, &solution, out));
cleanup:
    kfe_i_solution_free(&solution);
    kfe_i_free(ctx, settings);
    return status;
}

/* ---- random and principal directions ---- */

/* Coefficients that the content of the examples decides, by the roots of their weights. */
static kfe_status random_directions(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                    int64_t dim, uint64_t draw, candidates *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = source->target;
    kfe_i_rng rng;

    KFE_TRY(allocate(ctx, gram->size, dim, out));
    kfe_i_rng_init(&rng, kfe_context_seed(ctx) + draw, KFE_STREAM_SUBSPACE);
    for (int64_t j = 0; j < dim; j++) {
        uint64_t salt = kfe_i_rng_bits(&rng);
        for (int64_t i = 0; i < gram->size; i++)
            out->w[i * dim + j] =
                sqrt(kfe_i_weight_of(target, i)) *
                (target->keys ? kfe_i_key_normal(&target->keys[i], salt) : kfe_i_rng_normal(&rng));
    }
    KFE_TRY(kfe_i_gram_times(gram, out->w, dim, out->image));
cleanup:
    return status;
}

/* The leading eigenvectors, as unit vectors of feature space. */
static kfe_status principal_directions(kfe_context *ctx, const kfe_i_gram *gram, int64_t dim, candidates *out)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    double rounding = 0;

    KFE_ALLOC(ctx, values, dim);
    KFE_TRY(allocate(ctx, gram->size, dim, out));
    KFE_TRY(kfe_i_gram_eigen(gram, dim, KFE_TOLERANCE, values, out->image));
    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    double smallest = fmax(rounding / KFE_UNSURE, kfe_i_gram_rank_tolerance(gram) * values[0]);
    for (int64_t j = 0; j < dim; j++) {
        double root = values[j] > smallest ? sqrt(values[j]) : 0;
        for (int64_t i = 0; i < gram->size; i++) {
            double v = out->image[i * dim + j];
            out->w[i * dim + j] = root > 0 ? v / root : 0;
            out->image[i * dim + j] = v * root;
        }
    }
cleanup:
    kfe_i_free(ctx, values);
    return status;
}

/* ---- choosing dimensions ---- */

/* Rotates a subspace so that the directions with the longest class sums come first. */
static kfe_status turn_to_classes(kfe_context *ctx, const kfe_i_target *target, const kfe_i_subspace *from,
                                  candidates *out)
{
    kfe_status status = KFE_OK;
    int64_t d = from->dim;
    double *sums = NULL;
    double *small = NULL;

    KFE_TRY(allocate(ctx, from->rows, d, out));
    KFE_ALLOC_ZERO(ctx, sums, target->class_count * d);
    KFE_ALLOC(ctx, small, 2 * d * d + d);
    for (int64_t i = 0; i < from->rows; i++)
        cblas_daxpy((blasint)d, sqrt(kfe_i_weight_of(target, i)), from->features + i * d, 1,
                    sums + target->codes[i] * d, 1);
    kfe_i_inner_products(target->class_count, kfe_i_packed(sums, d), kfe_i_packed(sums, d), small);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, small, d, small + 2 * d * d, small + d * d));
    kfe_i_combine(from->rows, 1, kfe_i_packed(from->basis, d), kfe_i_packed(small + d * d, d), 0, out->w);
    kfe_i_combine(from->rows, 1, kfe_i_packed(from->features, d), kfe_i_packed(small + d * d, d), 0,
                  out->image);
cleanup:
    kfe_i_free(ctx, sums);
    kfe_i_free(ctx, small);
    return status;
}

/* Adds the candidates to `span`, best directions first. */
static kfe_status add_candidates(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                 const candidates *from, kfe_i_span *span)
{
    kfe_status status = KFE_OK;
    double tolerance = kfe_i_gram_rank_tolerance(gram);
    kfe_i_span whole = {0};
    kfe_i_subspace subspace = {0};
    candidates turned = {0};

    KFE_TRY(kfe_i_span_begin(ctx, from->rows, from->count, &whole));
    whole.rounding = span->rounding;
    KFE_TRY(kfe_i_span_add(&whole, from->count, from->w, from->image, tolerance));
    if (whole.count > 0) {
        KFE_TRY(kfe_i_subspace_from_span(&whole, gram, &subspace));
        KFE_TRY(turn_to_classes(ctx, source->target, &subspace, &turned));
        KFE_TRY(kfe_i_span_add(span, turned.count, turned.w, turned.image, tolerance));
    }
cleanup:
    kfe_i_span_free(&whole);
    kfe_i_subspace_free(&subspace);
    free_candidates(ctx, &turned);
    return status;
}

kfe_status kfe_i_start_subspace(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                kfe_i_start start, int64_t dim, uint64_t draw, kfe_i_subspace *out)
{
    kfe_status status = KFE_OK;
    kfe_i_span span = {0};
    candidates first = {0};
    candidates rest = {0};

    KFE_TRY(kfe_i_span_begin(ctx, gram->size, dim, &span));
    KFE_TRY(kfe_i_gram_rounding(gram, &span.rounding));
    if (start == KFE_START_RANDOM)
        KFE_TRY(random_directions(ctx, source, gram, dim, draw, &first));
    else
        KFE_TRY(by_method(ctx, source, gram, start, dim, &first));
    KFE_TRY(add_candidates(ctx, source, gram, &first, &span));
    if (span.count < dim) {
        KFE_TRY(principal_directions(ctx, gram, dim, &rest));
        KFE_TRY(kfe_i_span_add(&span, dim, rest.w, rest.image, kfe_i_gram_rank_tolerance(gram)));
    }
    if (span.count == 0)
        KFE_FAIL(ctx, KFE_ENUMERIC, "skfe: the kernel is zero, or not positive definite, on this data");
    KFE_TRY(kfe_i_subspace_from_span(&span, gram, out));
cleanup:
    kfe_i_span_free(&span);
    free_candidates(ctx, &first);
    free_candidates(ctx, &rest);
    return status;
}
