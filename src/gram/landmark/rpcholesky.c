/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Randomly pivoted Cholesky with rejection; landmarks are chosen by it unless given otherwise.
 *
 * One iteration draws a block of proposals with probability proportional to the diagonal of the residual
 * R = G − FFᵀ, and walks through H = R[proposals, proposals]:
 *
 *     accept proposal i with probability H_ii / (its value when it was drawn); if accepted,
 *     eliminate it from H, as Cholesky does.
 *
 * The accepted ones S get their columns, which are appended to the factor:
 *
 *     F ← [F, R[:, S] L⁻ᵀ],   R[S, S] = LLᵀ.
 *
 * Rejection makes the block as good as proposals drawn one by one (Epperly, Tropp & Webber, "Embrace rejection", 2024).
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/landmark/landmark.h"

/* Larger blocks multiply faster and reject more proposals. */
enum { BLOCK_LEAST = 8, BLOCK_MOST = 160, BLOCK_SHARE = 4 };

typedef struct pivoting {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    const int64_t *rows; /* NULL: all */
    kfe_i_rpcholesky *made;
    int64_t block;
    double largest;   /* diagonal entry of G */
    double threshold; /* diagonal entries up to this are rounding */
    kfe_i_rng rng;
    double *cumulative;   /* per row: the diagonal summed up to here, of entries above the threshold */
    int64_t *proposed;    /* places in `rows`; block */
    int64_t *examples;    /* the examples at these places; block */
    double *core;         /* block × block */
    double *at_proposals; /* rows of F at the proposals, block × capacity */
    double *columns;      /* rows × block */
} pivoting;

static int64_t example_at(const pivoting *p, int64_t place)
{
    return p->rows ? p->rows[place] : place;
}

/* ---- proposals ---- */

/* Returns the sum of the diagonal entries that may be drawn. */
static double accumulate(pivoting *p)
{
    double sum = 0;

    for (int64_t i = 0; i < p->made->rows; i++) {
        sum += p->made->diagonal[i] > p->threshold ? p->made->diagonal[i] : 0;
        p->cumulative[i] = sum;
    }
    return sum;
}

/* The first row whose cumulative sum exceeds `goal`. */
static int64_t find_row(const pivoting *p, double goal)
{
    int64_t low = 0;
    int64_t high = p->made->rows - 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->cumulative[middle] > goal)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void draw_proposals(pivoting *p, double sum, int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        p->proposed[j] = find_row(p, kfe_i_rng_uniform(&p->rng) * sum);
        p->examples[j] = example_at(p, p->proposed[j]);
    }
}

/* core (count × count) = R[proposals, proposals] */
static kfe_status residual_at_proposals(pivoting *p, int64_t count)
{
    const kfe_i_rpcholesky *made = p->made;
    kfe_status status = kfe_i_gram_among(p->gram, p->examples, count, p->core);

    if (status != KFE_OK || made->rank == 0)
        return status;
    for (int64_t j = 0; j < count; j++)
        memcpy(p->at_proposals + j * made->rank, made->factor + p->proposed[j] * made->capacity,
               (size_t)made->rank * sizeof *p->at_proposals);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)count, (blasint)made->rank,
                -1, p->at_proposals, (blasint)made->rank, p->at_proposals, (blasint)made->rank, 1, p->core,
                (blasint)count);
    return KFE_OK;
}

/* Eliminates proposal `pivot` from the part of H behind it. */
static void eliminate(double *h, int64_t count, int64_t pivot)
{
    const double *row = h + pivot * count;

    for (int64_t i = pivot + 1; i < count; i++) {
        double factor = h[i * count + pivot] / row[pivot];
        for (int64_t j = pivot + 1; j < count; j++)
            h[i * count + j] -= factor * row[j];
    }
}

/* Keeps the accepted proposals at the front of `proposed`; returns their number, at most `room`. */
static int64_t accept_proposals(pivoting *p, int64_t count, int64_t room)
{
    int64_t accepted = 0;

    for (int64_t i = 0; i < count && accepted < room; i++) {
        double now = p->core[i * count + i];
        double drawn = p->made->diagonal[p->proposed[i]];
        if (!(now > p->threshold) || kfe_i_rng_uniform(&p->rng) * drawn >= now)
            continue;
        eliminate(p->core, count, i);
        p->proposed[accepted] = p->proposed[i];
        p->examples[accepted++] = p->examples[i];
    }
    return accepted;
}

/* ---- columns ---- */

static kfe_status fetch_columns(const pivoting *p, int64_t count)
{
    if (!p->rows)
        return kfe_i_gram_columns(p->gram, p->examples, count, p->columns);
    return kfe_i_gram_entries(p->gram, p->rows, p->made->rows, p->examples, count, p->columns);
}

/* columns (rows × count) = R[:, accepted] */
static kfe_status residual_columns(pivoting *p, int64_t count)
{
    const kfe_i_rpcholesky *made = p->made;
    kfe_status status = fetch_columns(p, count);

    if (status != KFE_OK || made->rank == 0)
        return status;
    for (int64_t j = 0; j < count; j++)
        memcpy(p->at_proposals + j * made->rank, made->factor + p->proposed[j] * made->capacity,
               (size_t)made->rank * sizeof *p->at_proposals);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)made->rows, (blasint)count,
                (blasint)made->rank, -1, made->factor, (blasint)made->capacity, p->at_proposals,
                (blasint)made->rank, 1, p->columns, (blasint)count);
    return KFE_OK;
}

static void update_diagonal(pivoting *p, int64_t count)
{
    kfe_i_rpcholesky *made = p->made;

    made->left = 0;
    for (int64_t i = 0; i < made->rows; i++) {
        for (int64_t j = 0; j < count; j++)
            made->diagonal[i] -= p->columns[i * count + j] * p->columns[i * count + j];
        made->negative = fmin(made->negative, made->diagonal[i]);
        made->diagonal[i] = fmax(0, made->diagonal[i]);
        made->left += made->diagonal[i];
    }
}

/* Appends the columns of the accepted proposals to the factor. */
static kfe_status append(pivoting *p, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;

    KFE_TRY(residual_columns(p, count));
    for (int64_t j = 0; j < count; j++)
        memcpy(p->core + j * count, p->columns + p->proposed[j] * count, (size_t)count * sizeof *p->core);
    KFE_TRY(kfe_i_cholesky(p->ctx, count, p->core, "the residual of the kernel matrix"));
    kfe_i_solve_lower_transposed(made->rows, count, p->core, p->columns);
    kfe_i_copy_block(made->rows, count, p->columns, count, made->factor + made->rank, made->capacity);
    memcpy(made->pivots + made->rank, p->examples, (size_t)count * sizeof *made->pivots);
    made->rank += count;
    update_diagonal(p, count);
    for (int64_t j = 0; j < count; j++)
        made->diagonal[p->proposed[j]] = 0;
cleanup:
    return status;
}

/* ---- beginning and end ---- */

static kfe_status begin_diagonal(pivoting *p)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;
    double *whole = NULL;

    KFE_ALLOC(p->ctx, whole, p->gram->size);
    KFE_TRY(kfe_i_gram_diagonal(p->gram, whole));
    for (int64_t i = 0; i < made->rows; i++) {
        double value = whole[example_at(p, i)];
        made->negative = fmin(made->negative, value);
        made->diagonal[i] = fmax(0, value);
        made->trace += made->diagonal[i];
        p->largest = fmax(p->largest, fabs(value));
    }
    made->left = made->trace;
    p->threshold = KFE_RANK_TOLERANCE * p->largest;
cleanup:
    kfe_i_free(p->ctx, whole);
    return status;
}

static int64_t block_size(int64_t most)
{
    int64_t size = most / BLOCK_SHARE;

    size = size < BLOCK_LEAST ? BLOCK_LEAST : size;
    return size > BLOCK_MOST ? BLOCK_MOST : size;
}

static kfe_status begin(pivoting *p, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;

    p->block = block_size(most);
    KFE_ALLOC(p->ctx, made->factor, made->rows * most);
    KFE_ALLOC(p->ctx, made->diagonal, made->rows);
    KFE_ALLOC(p->ctx, made->pivots, most);
    KFE_ALLOC(p->ctx, p->cumulative, made->rows);
    KFE_ALLOC(p->ctx, p->proposed, p->block);
    KFE_ALLOC(p->ctx, p->examples, p->block);
    KFE_ALLOC(p->ctx, p->core, p->block * p->block);
    KFE_ALLOC(p->ctx, p->at_proposals, p->block * most);
    KFE_ALLOC(p->ctx, p->columns, made->rows * p->block);
    KFE_TRY(begin_diagonal(p));
    kfe_i_rng_init(&p->rng, kfe_context_seed(p->ctx), KFE_STREAM_GRAM_LANDMARKS);
cleanup:
    return status;
}

static void release(pivoting *p)
{
    kfe_i_free(p->ctx, p->cumulative);
    kfe_i_free(p->ctx, p->proposed);
    kfe_i_free(p->ctx, p->examples);
    kfe_i_free(p->ctx, p->core);
    kfe_i_free(p->ctx, p->at_proposals);
    kfe_i_free(p->ctx, p->columns);
}

/* The first proposal of a block is always accepted, unless rounding took it below the threshold: its entry is then
 * set to zero, so that every iteration makes progress. */
static kfe_status run_block(pivoting *p, double sum)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;
    int64_t first = 0;

    draw_proposals(p, sum, p->block);
    first = p->proposed[0];
    KFE_TRY(residual_at_proposals(p, p->block));
    int64_t accepted = accept_proposals(p, p->block, made->capacity - made->rank);
    if (accepted > 0)
        KFE_TRY(append(p, accepted));
    made->diagonal[first] = accepted > 0 ? made->diagonal[first] : 0;
cleanup:
    return status;
}

kfe_status kfe_i_rpcholesky_run(const kfe_i_gram *gram, const int64_t *rows, int64_t count, int64_t most,
                                kfe_i_rpcholesky *out)
{
    kfe_status status = KFE_OK;
    pivoting p = {.ctx = gram->ctx, .gram = gram, .rows = rows, .made = out};
    double sum = 0;

    *out = (kfe_i_rpcholesky){.ctx = gram->ctx, .rows = count, .capacity = most};
    KFE_TRY(begin(&p, most));
    while (out->rank < most && (sum = accumulate(&p)) > 0) {
        KFE_TRY(kfe_i_checkpoint(p.ctx, "choosing landmarks", out->rank, most));
        KFE_TRY(run_block(&p, sum));
    }
    out->negative = p.largest > 0 ? out->negative / p.largest : 0;
cleanup:
    release(&p);
    return status;
}

void kfe_i_rpcholesky_free(kfe_i_rpcholesky *made)
{
    if (made->ctx) {
        kfe_i_free(made->ctx, made->factor);
        kfe_i_free(made->ctx, made->diagonal);
        kfe_i_free(made->ctx, made->pivots);
    }
    memset(made, 0, sizeof *made);
}
