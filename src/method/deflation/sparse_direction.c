/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directions β that are zero on all but ⌈νn⌉ examples, for skpls and skblf.
 *
 * Several targets W are first combined into one, y = Wc, with c the leading eigenvector of WᵀKW, as in kpls and kblf: with
 * balanced classes WᵀW has equal eigenvalues, and only the kernel tells its eigenvectors apart. β takes the values of y on
 * the chosen examples:
 *   mr   those of largest |y_i|. In the first iteration of a classification all members of a class are equal; among equals,
 *        the examples of largest |k_iᵀy| are taken, from at most `cache` of them drawn at random.
 *   mi   those of largest |k_iᵀy| among `cache` examples drawn at random. As y is orthogonal to the features, this is the
 *        covariance of the deflated column with the target.
 * With ν = 1 (and `cache` ≥ n for mi) the direction is that of kpls.
 *
 * With weights, n and the examples of a direction are counted by them: the last example that is chosen may count with a part of its weight only,
 * as if the others of its equal rows were left out. νn is rounded up if all weights are whole numbers. y carries the roots s of
 * the weights, and so do the columns, so that examples are sorted by |y_i|/s_i or |k_iᵀy|/s_i; `cache` counts rows with
 * different content, and their content decides which are drawn. Of rows with equal content those come first whose y agrees most with
 * the sign of k_iᵀy, so that the order of the rows decides nothing.
 *
 * Momma & Bennett (2003); Momma (2005). Time per iteration: the kernel columns of the chosen examples and, for mi, of the
 * candidates; with several targets also one product of K with W. Memory: a block of columns; with several targets the
 * matrix, if it fits.
 */
#include "method/deflation/sparse_direction.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { MOST_COLUMNS = 256, BLOCK_NUMBERS = 1 << 22 };
/* Sizes that differ by less, relative to the largest, count as equal. It is above the error of the multipliers of lad, a few 1e-7. */
#define KFE_EQUAL 1e-5
/* What rounding does to the square of a root, or to a sum of such, relative to it. */
#define KFE_ROUNDED 1e-12

/* The root of the weight of an example. */
static double root_of(const kfe_i_deflation *d, int64_t i)
{
    return d->roots ? d->roots[i] : 1;
}

static double weight_of(const kfe_i_deflation *d, int64_t i)
{
    return root_of(d, i) * root_of(d, i);
}

/* Whether all weights are whole numbers; they are known by their roots, which are rounded. */
static int weights_are_whole(const kfe_i_deflation *d)
{
    for (int64_t i = 0; d->roots && i < d->examples; i++) {
        double weight = weight_of(d, i);
        if (fabs(weight - nearbyint(weight)) > KFE_ROUNDED * weight)
            return 0;
    }
    return 1;
}

/* How many examples a direction rests on, counted by their weights. */
static double support_of(const kfe_i_deflation *d, double nu)
{
    double support = nu * d->mass;

    if (weights_are_whole(d))
        support = fmax(1, ceil(d->roots ? support * (1 - KFE_ROUNDED) : support));
    return fmin(support, d->mass);
}

kfe_status kfe_i_sparse_direction_begin(const kfe_i_deflation *d, const kfe_i_row_key *keys,
                                        const kfe_i_sparse_settings *settings, kfe_i_sparse_direction *out)
{
    kfe_status status = KFE_OK;
    int64_t n = d->examples;
    int64_t fitting = BLOCK_NUMBERS / n > 1 ? BLOCK_NUMBERS / n : 1;

    *out = (kfe_i_sparse_direction){.ctx = d->ctx,
                                    .rule = (kfe_i_sparse_rule)settings->rule,
                                    .support = support_of(d, settings->nu),
                                    .cache = settings->cache < n ? settings->cache : n,
                                    .block = fitting < MOST_COLUMNS ? fitting : MOST_COLUMNS};
    out->block = out->block < n ? out->block : n;
    kfe_i_rng_init(&out->rng, kfe_context_seed(d->ctx), KFE_STREAM_COLUMNS);
    KFE_TRY(kfe_i_distinct_make(d->ctx, n, keys, KFE_STREAM_COLUMNS, &out->different));
    KFE_ALLOC(d->ctx, out->candidates, n);
    KFE_ALLOC(d->ctx, out->drawn, n);
    KFE_ALLOC(d->ctx, out->target, n);
    KFE_ALLOC(d->ctx, out->columns, n * out->block);
    KFE_ALLOC(d->ctx, out->part, out->block);
cleanup:
    return status;
}

void kfe_i_sparse_direction_free(kfe_i_sparse_direction *sparse)
{
    if (!sparse->ctx)
        return;
    kfe_i_distinct_free(&sparse->different);
    kfe_i_free(sparse->ctx, sparse->candidates);
    kfe_i_free(sparse->ctx, sparse->drawn);
    kfe_i_free(sparse->ctx, sparse->target);
    kfe_i_free(sparse->ctx, sparse->columns);
    kfe_i_free(sparse->ctx, sparse->part);
    memset(sparse, 0, sizeof *sparse);
}

/* ---- which examples ---- */

static int by_falling_size(const void *a, const void *b)
{
    const kfe_i_candidate *x = a;
    const kfe_i_candidate *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    if (x->residual != y->residual)
        return x->residual < y->residual ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void sort_candidates(kfe_i_candidate *candidates, int64_t count)
{
    qsort(candidates, (size_t)count, sizeof *candidates, by_falling_size);
}

/* Evaluates the columns of the next candidates, at most a block of them; *count: how many. */
static kfe_status evaluate(kfe_i_sparse_direction *s, const kfe_i_deflation *d,
                           const kfe_i_candidate *candidates, int64_t left, int64_t *count)
{
    *count = left < s->block ? left : s->block;
    for (int64_t i = 0; i < *count; i++)
        s->drawn[i] = candidates[i].index;
    return kfe_i_gram_columns(d->data.gram, s->drawn, *count, s->columns);
}

/* Rows of equal content, which are side by side, have the same covariance; their residuals decide which of them is chosen. */
static void set_covariances(const kfe_i_sparse_direction *s, const kfe_i_deflation *d, const double *products,
                            int64_t first, int64_t count, kfe_i_candidate *candidates)
{
    for (int64_t c = first; c < first + count; c++) {
        int64_t i = candidates[c].index;
        double product = products[c - first] / root_of(d, i);
        candidates[c].size = fabs(product);
        candidates[c].residual = copysign(s->target[i] / root_of(d, i), s->target[i] * product);
        if (c > 0 && s->different.of[i] == s->different.of[candidates[c - 1].index])
            candidates[c].size = candidates[c - 1].size;
    }
}

/* Sets the sizes of the candidates to |k_iᵀy| and sorts by them. */
static kfe_status rank_by_covariance(kfe_i_sparse_direction *s, const kfe_i_deflation *d,
                                     kfe_i_candidate *candidates, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t done = 0;

    for (int64_t first = 0; first < count; first += done) {
        KFE_TRY(evaluate(s, d, candidates + first, count - first, &done));
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->examples, (blasint)done, 1, s->columns,
                    (blasint)done, s->target, 1, 0, s->part, 1);
        set_covariances(s, d, s->part, first, done, candidates);
    }
    sort_candidates(candidates, count);
cleanup:
    return status;
}

/* Shuffles the candidates, rows of equal content side by side. Returns the number of those at the front that have one of `cache` contents. */
static int64_t draw_candidates(kfe_i_sparse_direction *s, kfe_i_candidate *candidates, int64_t count)
{
    uint64_t salt = kfe_i_rng_bits(&s->rng);
    int64_t contents = 0;
    int64_t drawn = 0;

    for (int64_t i = 0; i < count; i++) {
        uint64_t content = (uint64_t)s->different.of[candidates[i].index];
        candidates[i].size = (double)(kfe_i_scramble(content ^ salt) >> 11);
    }
    sort_candidates(candidates, count);
    for (; drawn < count; drawn++) {
        contents += drawn == 0 ||
                    s->different.of[candidates[drawn].index] != s->different.of[candidates[drawn - 1].index];
        if (contents > s->cache)
            break;
    }
    return drawn;
}

static double weight_of_candidates(const kfe_i_deflation *d, const kfe_i_candidate *candidates, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += weight_of(d, candidates[i].index);
    return sum;
}

/* How many of the first `most` candidates a direction rests on; *last: the share of the last one's weight that counts. */
static int64_t count_support(const kfe_i_sparse_direction *s, const kfe_i_deflation *d, int64_t most,
                             double *last)
{
    double left = s->support;
    int64_t count = 0;

    *last = 1;
    while (count < most && left > KFE_ROUNDED * s->support) {
        double weight = weight_of(d, s->candidates[count].index);
        *last = left < weight * (1 - KFE_ROUNDED) ? left / weight : 1;
        left -= weight;
        count++;
    }
    return count;
}

/* Orders the candidates from `begin` to `end`, which are equal and more than are needed, by covariance: those that are drawn if they are
 * enough, else all. */
static kfe_status choose_among_equals(kfe_i_sparse_direction *s, const kfe_i_deflation *d, int64_t begin,
                                      int64_t end)
{
    kfe_i_candidate *equal = s->candidates + begin;
    int64_t drawn = draw_candidates(s, equal, end - begin);
    double enough = s->support - weight_of_candidates(d, s->candidates, begin);

    if (weight_of_candidates(d, equal, drawn) < enough * (1 - KFE_ROUNDED))
        drawn = end - begin;
    return rank_by_covariance(s, d, equal, drawn);
}

static kfe_status choose_by_residual(kfe_i_sparse_direction *s, const kfe_i_deflation *d)
{
    int64_t n = d->examples;
    double last = 1;

    for (int64_t i = 0; i < n; i++)
        s->candidates[i] = (kfe_i_candidate){.size = fabs(s->target[i]) / root_of(d, i), .index = i};
    sort_candidates(s->candidates, n);
    int64_t support = count_support(s, d, n, &last);
    int64_t begin = support - 1;
    int64_t end = support;
    double cut = s->candidates[begin].size;
    double equal = KFE_EQUAL * s->candidates[0].size;
    while (begin > 0 && s->candidates[begin - 1].size - cut <= equal)
        begin--;
    while (end < n && cut - s->candidates[end].size <= equal)
        end++;
    return end > support || last < 1 ? choose_among_equals(s, d, begin, end) : KFE_OK;
}

static kfe_status choose_by_covariance(kfe_i_sparse_direction *s, const kfe_i_deflation *d, int64_t *drawn)
{
    for (int64_t i = 0; i < d->examples; i++)
        s->candidates[i] = (kfe_i_candidate){.index = i};
    *drawn = draw_candidates(s, s->candidates, d->examples);
    return rank_by_covariance(s, d, s->candidates, *drawn);
}

/* ---- the direction ---- */

/* out = Wc and *size = √(cᵀWᵀKWc) for the unit combination c of targets that covaries most with the data. One target
 * needs no combination, and its size is ‖w‖, so that no product with the whole operator is taken. */
static kfe_status combine_targets(kfe_i_deflation *d, const double *w, double *out, double *size)
{
    kfe_status status = KFE_OK;
    blasint n = (blasint)d->examples;
    blasint t = (blasint)d->targets;
    double square = 0;

    if (t == 1) {
        cblas_dcopy(n, w, 1, out, 1);
        *size = cblas_dnrm2(n, w, 1);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_deflation_times(d, w, t, d->work.image));
    kfe_i_deflation_inner(d, d->examples, w, d->work.image);
    KFE_TRY(kfe_i_deflation_leading(d, d->work.inner, &square));
    kfe_i_deflation_combine(d, d->examples, w, out);
    *size = square > d->limits.rounding * pow(cblas_dnrm2(n * t, w, 1), 2) ? sqrt(square) : 0;
cleanup:
    return status;
}

/* product = Kβ from the columns of the first `count` candidates. */
static kfe_status multiply(kfe_i_sparse_direction *s, const kfe_i_deflation *d, int64_t count,
                           const double *direction, double *product)
{
    kfe_status status = KFE_OK;
    int64_t done = 0;

    if (count == d->examples)
        return kfe_i_gram_times(d->data.gram, direction, 1, product);
    memset(product, 0, (size_t)d->examples * sizeof *product);
    for (int64_t first = 0; first < count; first += done) {
        KFE_TRY(evaluate(s, d, s->candidates + first, count - first, &done));
        for (int64_t i = 0; i < done; i++)
            s->part[i] = direction[s->drawn[i]];
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)d->examples, (blasint)done, 1, s->columns,
                    (blasint)done, s->part, 1, 1, product, 1);
    }
cleanup:
    return status;
}

kfe_status kfe_i_sparse_direction_choose(kfe_i_deflation *d, kfe_i_sparse_direction *s, const double *w,
                                         double *direction, double *product)
{
    kfe_status status = KFE_OK;
    int64_t n = d->examples;
    int64_t most = n;
    double size = 0;
    double last = 1;

    memset(direction, 0, (size_t)n * sizeof *direction);
    KFE_TRY(combine_targets(d, w, s->target, &size));
    if (kfe_i_deflation_is_spent(d, size))
        goto cleanup;
    KFE_TRY(s->rule == KFE_SPARSE_MR ? choose_by_residual(s, d) : choose_by_covariance(s, d, &most));
    int64_t count = count_support(s, d, most, &last);
    for (int64_t i = 0; i < count; i++)
        direction[s->candidates[i].index] = s->target[s->candidates[i].index];
    direction[s->candidates[count - 1].index] *= last;
    KFE_TRY(multiply(s, d, count, direction, product));
    double square = fabs(cblas_ddot((blasint)n, direction, 1, product, 1));
    double scale =
        square > d->limits.rounding * pow(cblas_dnrm2((blasint)n, direction, 1), 2) ? 1 / sqrt(square) : 0;
    cblas_dscal((blasint)n, scale, direction, 1);
    cblas_dscal((blasint)n, scale, product, 1);
cleanup:
    return status;
}
