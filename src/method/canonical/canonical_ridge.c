/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ridge=auto of kcca and kgcca: the ridge whose features of held-out examples correlate most between the views, by three folds of at
 * most 300 training examples. Rows U_v√Λ_v stand for the examples, so that no kernel value is evaluated again.
 *
 * Distinct examples are ordered by the square of the first view's first eigenvector and dealt to the folds in turn, equal rows together:
 * neither the order of the rows nor the sign of an eigenvector decides, and a row of weight 2 counts like two. Time: that of eleven eigenproblems of order 200·V in every fold.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "data/rows/distinct.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
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
    kfe_i_arena memory;
    const kfe_i_canonical_part *parts;
    int64_t count, train_rows, test_rows;
    const int64_t *train, *test; /* numbers of distinct examples, each of which stands for its rows */
    const kfe_i_distinct *distinct;
    const double *roots;              /* of the weights of the rows; NULL: ones */
    double *joined;                   /* those of the distinct examples */
    double *train_roots, *test_roots; /* those of the rows of this fold */
    int64_t *place_of; /* of each distinct example in the part that is copied; −1: not there */
    fold_part *own;
    kfe_i_canonical_part *spectra; /* of the training rows */
    double *cross;
} fold;

static double root_of_row(const fold *f, int64_t i)
{
    return f->roots ? f->roots[i] : 1;
}

static kfe_status join_roots(fold *f)
{
    kfe_status status = KFE_OK;
    const kfe_i_distinct *d = f->distinct;

    KFE_TAKE(&f->memory, f->place_of, d->count);
    KFE_TAKE_ZERO(&f->memory, f->joined, d->count);
    KFE_TAKE(&f->memory, f->train_roots, f->train_rows);
    KFE_TAKE(&f->memory, f->test_roots, f->test_rows);
    for (int64_t i = 0; i < d->rows; i++)
        f->joined[d->of[i]] += root_of_row(f, i) * root_of_row(f, i);
    for (int64_t g = 0; g < d->count; g++)
        f->joined[g] = sqrt(f->joined[g]);
    for (int64_t i = 0; i < f->train_rows; i++)
        f->train_roots[i] = f->joined[f->train[i]];
    for (int64_t i = 0; i < f->test_rows; i++)
        f->test_roots[i] = f->joined[f->test[i]];
cleanup:
    return status;
}

/* The rows of the examples listed, which rows of equal content make together. */
static void copy_points(const fold *f, const kfe_i_canonical_part *part, const int64_t *index, int64_t rows,
                        double *out)
{
    const kfe_i_distinct *d = f->distinct;

    for (int64_t g = 0; g < d->count; g++)
        f->place_of[g] = -1;
    for (int64_t k = 0; k < rows; k++)
        f->place_of[index[k]] = k;
    memset(out, 0, (size_t)(rows * part->rank) * sizeof *out);
    for (int64_t i = 0; i < d->rows; i++) {
        int64_t k = f->place_of[d->of[i]];
        double share = root_of_row(f, i) / f->joined[d->of[i]];
        for (int64_t j = 0; k >= 0 && j < part->rank; j++)
            out[k * part->rank + j] += share * part->vectors[i * part->rank + j] * sqrt(part->values[j]);
    }
}

/* Singular vectors of the training rows (m × r), and the test rows along the right ones. */
static kfe_status decompose(fold *f, int64_t v)
{
    kfe_status status = KFE_OK;
    int64_t m = f->train_rows;
    int64_t r = f->parts[v].rank;
    int64_t most = m < r ? m : r;
    kfe_i_canonical_part *s = &f->spectra[v];
    double *products, *right;

    KFE_TAKE(&f->memory, products, m * m);
    KFE_TAKE(&f->memory, s->values, most);
    KFE_TAKE(&f->memory, s->vectors, m * most);
    kfe_i_times_transpose(m, r, m, f->own[v].train, f->own[v].train, products);
    KFE_TRY(kfe_i_symmetric_eigen(f->ctx, m, products, most, s->values, s->vectors));
    s->rank = kfe_i_count_above(most, s->values, KFE_CANONICAL_RANK * s->values[0]);
    kfe_i_copy_block(m, s->rank, s->vectors, most, s->vectors, s->rank);
    KFE_TAKE(&f->memory, right, r * s->rank);
    KFE_TAKE(&f->memory, f->own[v].place, f->test_rows * s->rank);
    kfe_i_transpose_times(r, m, s->rank, f->own[v].train, s->vectors, right);
    kfe_i_divide_by_roots(r, s->rank, s->values, right);
    kfe_i_times(f->test_rows, r, s->rank, f->own[v].test, right, f->own[v].place);
cleanup:
    return status;
}

static kfe_status open_part(fold *f, int64_t v)
{
    kfe_status status = KFE_OK;
    int64_t r = f->parts[v].rank;
    double mass = pow(cblas_dnrm2((blasint)f->train_rows, f->train_roots, 1), 2);
    fold_part *own = &f->own[v];
    double *mean;

    f->spectra[v].plain = f->parts[v].plain;
    KFE_TAKE(&f->memory, own->train, f->train_rows * r);
    KFE_TAKE(&f->memory, own->test, f->test_rows * r);
    KFE_TAKE(&f->memory, mean, r);
    copy_points(f, &f->parts[v], f->train, f->train_rows, own->train);
    copy_points(f, &f->parts[v], f->test, f->test_rows, own->test);
    kfe_i_mean_row(f->train_rows, r, own->train, f->train_roots, mass, mean);
    kfe_i_subtract_row(f->train_rows, r, mean, f->train_roots, own->train);
    kfe_i_subtract_row(f->test_rows, r, mean, f->test_roots, own->test);
    KFE_TRY(decompose(f, v));
cleanup:
    return status;
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
        double root = f->test_roots[i];
        mass += root * root;
        mean_a += root * a[i * stride];
        mean_b += root * b[i * stride];
    }
    for (int64_t i = 0; i < f->test_rows; i++) {
        double root = f->test_roots[i];
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

static kfe_status score_candidates(fold *f, kfe_i_canonical_rule rule, int64_t dim, int64_t total,
                                   double *scores)
{
    kfe_status status = KFE_OK;
    kfe_i_canonical_job job = {.ctx = f->ctx,
                               .rule = rule,
                               .parts = f->spectra,
                               .count = f->count,
                               .total = total,
                               .cross = f->cross};
    double *values, *directions, *features;

    KFE_TAKE(&f->memory, values, dim);
    KFE_TAKE(&f->memory, directions, total * dim);
    KFE_TAKE(&f->memory, features, f->count * f->test_rows * dim);
    for (int c = 0; c < CANDIDATES; c++) {
        const double *own = directions;
        job.ridge = candidate(c);
        KFE_TRY(kfe_i_canonical_solve(&job, dim, values, directions));
        for (int64_t v = 0; v < f->count; own += f->spectra[v++].rank * dim)
            kfe_i_times(f->test_rows, f->spectra[v].rank, dim, f->own[v].place, own,
                        features + v * f->test_rows * dim);
        scores[c] += score_of(f, dim, features);
    }
cleanup:
    return status;
}

static kfe_status run_fold(fold *f, kfe_i_canonical_rule rule, int64_t dim, double *scores)
{
    kfe_status status = KFE_OK;
    int64_t total = 0;

    KFE_TRY(join_roots(f));
    KFE_TAKE_ZERO(&f->memory, f->own, f->count);
    KFE_TAKE_ZERO(&f->memory, f->spectra, f->count);
    for (int64_t v = 0; v < f->count; v++) {
        KFE_TRY(open_part(f, v));
        if (f->spectra[v].rank == 0)
            goto cleanup; /* the view is constant on these rows */
        total += f->spectra[v].rank;
    }
    KFE_TAKE(&f->memory, f->cross, total * total);
    kfe_i_canonical_cross(f->spectra, f->count, f->train_rows, f->cross);
    int64_t most = kfe_i_canonical_most(f->spectra, f->count);
    KFE_TRY(score_candidates(f, rule, dim < most ? dim : most, total, scores));
cleanup:
    kfe_i_arena_free(&f->memory);
    return status;
}

/* Distinct examples of a sample, in the order of the first part's first eigenvector, squared. */
static kfe_status order_examples(kfe_context *ctx, const kfe_i_canonical_part *first,
                                 const kfe_i_distinct *distinct, const double *roots, int64_t count,
                                 int64_t *out)
{
    kfe_status status = KFE_OK;
    int64_t n = distinct->count;
    kfe_i_sorted *items = NULL;

    KFE_ALLOC(ctx, items, n);
    for (int64_t g = 0; g < n; g++) {
        int64_t i = distinct->first[g];
        double value = first->vectors[i * first->rank] / (roots ? roots[i] : 1);
        items[g] = (kfe_i_sorted){.index = g, .value = value * value};
    }
    kfe_i_sort_falling(items, n);
    for (int64_t i = 0; i < count; i++)
        out[i] = items[i * n / count].index;
cleanup:
    kfe_i_free(ctx, items);
    return status;
}

kfe_status kfe_i_canonical_choose_ridge(kfe_context *ctx, kfe_i_canonical_rule rule,
                                        const kfe_i_canonical_part *parts, int64_t count, int64_t n,
                                        const double *roots, const kfe_i_row_key *keys, int64_t dim,
                                        double *out)
{
    kfe_status status = KFE_OK;
    double scores[CANDIDATES] = {0};
    kfe_i_arena memory = {.ctx = ctx};
    int64_t *order, *train, *test;
    int best = CANDIDATES - 1;
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_distinct_make(ctx, n, keys, KFE_STREAM_LOO, &distinct));
    int64_t sample = distinct.count < SAMPLE ? distinct.count : SAMPLE;
    KFE_TAKE(&memory, order, sample);
    KFE_TAKE(&memory, train, sample);
    KFE_TAKE(&memory, test, sample);
    KFE_TRY(order_examples(ctx, &parts[0], &distinct, roots, sample, order));
    for (int64_t k = 0; k < FOLDS; k++) {
        KFE_TRY(kfe_i_progress(ctx, "choosing the ridge", k, FOLDS));
        fold f = {.ctx = ctx,
                  .memory = {.ctx = ctx},
                  .parts = parts,
                  .count = count,
                  .train = train,
                  .test = test,
                  .roots = roots,
                  .distinct = &distinct};
        for (int64_t i = 0; i < sample; i++)
            if (i % FOLDS == k)
                test[f.test_rows++] = order[i];
            else
                train[f.train_rows++] = order[i];
        KFE_TRY(run_fold(&f, rule, dim, scores));
    }
    for (int c = CANDIDATES - 1; c >= 0; c--)
        if (scores[c] > scores[best])
            best = c;
    *out = candidate(best);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_arena_free(&memory);
    return status;
}
