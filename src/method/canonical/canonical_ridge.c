/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ridge=auto of kcca and kgcca: the ridge whose features of held-out examples correlate most between the views, by three folds of at
 * most 300 training examples. Rows U_v√Λ_v stand for the examples, so that no kernel value is evaluated again.
 *
 * Examples are ordered by the square of the first view's first eigenvector and dealt to the folds in turn: neither the order of
 * the rows nor the sign of an eigenvector decides. Time: that of eleven eigenproblems of order 200·V in every fold.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rank.h"
#include "gram/dense/linalg.h"
#include "method/canonical/canonical.h"

enum { SAMPLE = 300, FOLDS = 3, CANDIDATES = 11 };
/* Eigenvalues below this share of the largest are rounding. */
#define KFE_CANONICAL_RANK 1e-10

static double candidate(int c)
{
    return 1e-5 * pow(10, 0.5 * c);
}

/* One view, or the target, in one fold. */
typedef struct fold_part {
    double *train, *test; /* rows of U√Λ, centred on the training rows */
    double *place;        /* test rows along the right singular vectors of the training rows */
} fold_part;

typedef struct fold {
    kfe_context *ctx;
    const kfe_i_canonical_part *parts;
    int64_t count, train_rows, test_rows;
    const int64_t *train, *test; /* examples */
    const double *roots;
    fold_part *own;
    kfe_i_canonical_part *spectra; /* of the training rows */
    double *cross;
} fold;

static double root_of(const fold *f, int64_t example)
{
    return f->roots ? f->roots[example] : 1;
}

static void copy_points(const kfe_i_canonical_part *part, const int64_t *index, int64_t rows, double *out)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < part->rank; j++)
            out[i * part->rank + j] = part->vectors[index[i] * part->rank + j] * sqrt(part->values[j]);
}

static kfe_status centre_points(const fold *f, int64_t v)
{
    kfe_status status = KFE_OK;
    int64_t r = f->parts[v].rank;
    double *means = NULL;
    double mass = 0;

    KFE_ALLOC_ZERO(f->ctx, means, r);
    for (int64_t i = 0; i < f->train_rows; i++) {
        double root = root_of(f, f->train[i]);
        mass += root * root;
        cblas_daxpy((blasint)r, root, f->own[v].train + i * r, 1, means, 1);
    }
    for (int64_t i = 0; i < f->train_rows; i++)
        cblas_daxpy((blasint)r, -root_of(f, f->train[i]) / mass, means, 1, f->own[v].train + i * r, 1);
    for (int64_t i = 0; i < f->test_rows; i++)
        cblas_daxpy((blasint)r, -root_of(f, f->test[i]) / mass, means, 1, f->own[v].test + i * r, 1);
cleanup:
    kfe_i_free(f->ctx, means);
    return status;
}

/* Singular vectors of the training rows, and the test rows along the right ones. */
static kfe_status decompose(const fold *f, int64_t v)
{
    kfe_status status = KFE_OK;
    int64_t m = f->train_rows;
    int64_t r = f->parts[v].rank;
    int64_t most = m < r ? m : r;
    kfe_i_canonical_part *s = &f->spectra[v];
    double *products = NULL;
    double *right = NULL;

    KFE_ALLOC(f->ctx, products, m * m);
    KFE_ALLOC(f->ctx, s->values, most);
    KFE_ALLOC(f->ctx, s->vectors, m * most);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)m, (blasint)r, 1,
                f->own[v].train, (blasint)r, f->own[v].train, (blasint)r, 0, products, (blasint)m);
    KFE_TRY(kfe_i_symmetric_eigen(f->ctx, m, products, most, s->values, s->vectors));
    while (s->rank < most && s->values[s->rank] > KFE_CANONICAL_RANK * s->values[0])
        s->rank++;
    for (int64_t i = 0; i < m; i++)
        memmove(s->vectors + i * s->rank, s->vectors + i * most, (size_t)s->rank * sizeof *s->vectors);
    if (s->rank == 0)
        goto cleanup;
    KFE_ALLOC(f->ctx, right, r * s->rank);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)r, (blasint)s->rank, (blasint)m, 1,
                f->own[v].train, (blasint)r, s->vectors, (blasint)s->rank, 0, right, (blasint)s->rank);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < s->rank; j++)
            right[i * s->rank + j] /= sqrt(s->values[j]);
    KFE_ALLOC(f->ctx, f->own[v].place, f->test_rows * s->rank);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)f->test_rows, (blasint)s->rank,
                (blasint)r, 1, f->own[v].test, (blasint)r, right, (blasint)s->rank, 0, f->own[v].place,
                (blasint)s->rank);
cleanup:
    kfe_i_free(f->ctx, products);
    kfe_i_free(f->ctx, right);
    return status;
}

static kfe_status open_part(fold *f, int64_t v)
{
    kfe_status status = KFE_OK;
    int64_t r = f->parts[v].rank;

    f->spectra[v].plain = f->parts[v].plain;
    KFE_ALLOC(f->ctx, f->own[v].train, f->train_rows * r);
    KFE_ALLOC(f->ctx, f->own[v].test, f->test_rows * r);
    copy_points(&f->parts[v], f->train, f->train_rows, f->own[v].train);
    copy_points(&f->parts[v], f->test, f->test_rows, f->own[v].test);
    KFE_TRY(centre_points(f, v));
    KFE_TRY(decompose(f, v));
cleanup:
    return status;
}

static void fold_free(fold *f)
{
    for (int64_t v = 0; f->own && f->spectra && v < f->count; v++) {
        kfe_i_free(f->ctx, f->own[v].train);
        kfe_i_free(f->ctx, f->own[v].test);
        kfe_i_free(f->ctx, f->own[v].place);
        kfe_i_free(f->ctx, f->spectra[v].values);
        kfe_i_free(f->ctx, f->spectra[v].vectors);
    }
    kfe_i_free(f->ctx, f->own);
    kfe_i_free(f->ctx, f->spectra);
    kfe_i_free(f->ctx, f->cross);
}

/* ---- scores ---- */

/* The correlation of two features of the test rows, about their own means. */
static double correlation(const fold *f, const double *a, const double *b, int64_t stride)
{
    double mass = 0;
    double mean_a = 0;
    double mean_b = 0;
    double aa = 0;
    double bb = 0;
    double ab = 0;

    for (int64_t i = 0; i < f->test_rows; i++) {
        double root = root_of(f, f->test[i]);
        mass += root * root;
        mean_a += root * a[i * stride];
        mean_b += root * b[i * stride];
    }
    for (int64_t i = 0; i < f->test_rows; i++) {
        double root = root_of(f, f->test[i]);
        double x = a[i * stride] - root * mean_a / mass;
        double y = b[i * stride] - root * mean_b / mass;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* features (parts × test rows × dim) → the mean correlation over pairs of parts and features. */
static double score_of(const fold *f, int64_t dim, const double *features)
{
    double sum = 0;
    int64_t size = f->test_rows * dim;

    for (int64_t j = 0; j < dim; j++)
        for (int64_t u = 0; u < f->count; u++)
            for (int64_t v = 0; v < u; v++)
                sum += correlation(f, features + u * size + j, features + v * size + j, dim);
    return sum / (double)dim;
}

static kfe_status score_candidates(const fold *f, kfe_i_canonical_rule rule, int64_t dim, double *scores)
{
    kfe_status status = KFE_OK;
    kfe_i_canonical_job job = {
        .ctx = f->ctx, .rule = rule, .parts = f->spectra, .count = f->count, .cross = f->cross};
    double *values = NULL;
    double *directions = NULL;
    double *features = NULL;

    for (int64_t v = 0; v < f->count; v++)
        job.total += f->spectra[v].rank;
    KFE_ALLOC(f->ctx, values, dim);
    KFE_ALLOC(f->ctx, directions, job.total * dim);
    KFE_ALLOC(f->ctx, features, f->count * f->test_rows * dim);
    for (int c = 0; c < CANDIDATES; c++) {
        const double *own = directions;
        job.ridge = candidate(c);
        KFE_TRY(kfe_i_canonical_solve(&job, dim, values, directions));
        for (int64_t v = 0; v < f->count; own += f->spectra[v++].rank * dim)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)f->test_rows, (blasint)dim,
                        (blasint)f->spectra[v].rank, 1, f->own[v].place, (blasint)f->spectra[v].rank, own,
                        (blasint)dim, 0, features + v * f->test_rows * dim, (blasint)dim);
        scores[c] += score_of(f, dim, features);
    }
cleanup:
    kfe_i_free(f->ctx, values);
    kfe_i_free(f->ctx, directions);
    kfe_i_free(f->ctx, features);
    return status;
}

static kfe_status run_fold(fold *f, kfe_i_canonical_rule rule, int64_t dim, double *scores)
{
    kfe_status status = KFE_OK;
    int64_t total = 0;

    KFE_ALLOC_ZERO(f->ctx, f->own, f->count);
    KFE_ALLOC_ZERO(f->ctx, f->spectra, f->count);
    for (int64_t v = 0; v < f->count; v++) {
        KFE_TRY(open_part(f, v));
        if (f->spectra[v].rank == 0)
            goto cleanup; /* the view is constant on these rows */
        total += f->spectra[v].rank;
    }
    KFE_ALLOC(f->ctx, f->cross, total * total);
    kfe_i_canonical_cross(f->spectra, f->count, f->train_rows, f->cross);
    int64_t most = kfe_i_canonical_most(f->spectra, f->count);
    KFE_TRY(score_candidates(f, rule, dim < most ? dim : most, scores));
cleanup:
    return status;
}

/* Every example of a sample, in the order of the first part's first eigenvector, squared. */
static kfe_status order_examples(kfe_context *ctx, const kfe_i_canonical_part *first, int64_t n,
                                 int64_t count, int64_t *out)
{
    kfe_status status = KFE_OK;
    kfe_i_ranked *items = NULL;

    KFE_ALLOC(ctx, items, n);
    for (int64_t i = 0; i < n; i++) {
        double value = first->vectors[i * first->rank];
        items[i] = (kfe_i_ranked){.index = i, .value = value * value};
    }
    kfe_i_rank_falling(items, n);
    for (int64_t i = 0; i < count; i++)
        out[i] = items[i * n / count].index;
cleanup:
    kfe_i_free(ctx, items);
    return status;
}

kfe_status kfe_i_canonical_choose_ridge(kfe_context *ctx, kfe_i_canonical_rule rule,
                                        const kfe_i_canonical_part *parts, int64_t count, int64_t n,
                                        const double *roots, int64_t dim, double *out)
{
    kfe_status status = KFE_OK;
    int64_t sample = n < SAMPLE ? n : SAMPLE;
    double scores[CANDIDATES] = {0};
    int64_t *order = NULL;
    int64_t *train = NULL;
    int64_t *test = NULL;
    int best = CANDIDATES - 1;
    fold f = {0};

    KFE_ALLOC(ctx, order, sample);
    KFE_ALLOC(ctx, train, sample);
    KFE_ALLOC(ctx, test, sample);
    KFE_TRY(order_examples(ctx, &parts[0], n, sample, order));
    for (int64_t k = 0; k < FOLDS; k++) {
        KFE_TRY(kfe_i_checkpoint(ctx, "choosing the ridge", k, FOLDS));
        f = (fold){.ctx = ctx, .parts = parts, .count = count, .train = train, .test = test, .roots = roots};
        for (int64_t i = 0; i < sample; i++)
            if (i % FOLDS == k)
                test[f.test_rows++] = order[i];
            else
                train[f.train_rows++] = order[i];
        KFE_TRY(run_fold(&f, rule, dim, scores));
        fold_free(&f);
        f = (fold){.ctx = ctx};
    }
    for (int c = CANDIDATES - 1; c >= 0; c--)
        if (scores[c] > scores[best])
            best = c;
    *out = candidate(best);
cleanup:
    if (f.ctx)
        fold_free(&f);
    kfe_i_free(ctx, order);
    kfe_i_free(ctx, train);
    kfe_i_free(ctx, test);
    return status;
}
