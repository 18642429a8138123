/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Randomly pivoted Cholesky with rejection. Landmarks are chosen by it unless given otherwise, and the solver takes its low-rank
 * preconditioner from it.
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
 *
 * Processes of a cluster divide the rows of R[:, S] L⁻ᵀ, which takes nearly all the time, and gather it; the rest is done by all.
 */
#include "gram/landmark/rpcholesky.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/landmark/landmark.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"

/* Larger blocks multiply faster and reject more proposals. */
enum { BLOCK_LEAST = 8, BLOCK_MOST = 160, BLOCK_SHARE = 4 };
/* Of a factor that may grow: the block cannot depend on a final size that is not known. */
enum { GROWING_BLOCK = 64 };

typedef struct pivoting {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    const int64_t *rows;  /* NULL: all */
    const int64_t *draws; /* places in `rows` that are drawn from; NULL: all, in their order */
    const double *mass;   /* of each place that is drawn from; NULL: 1 */
    int64_t draw_count;
    kfe_i_rpcholesky *made;
    int64_t block;
    double threshold; /* diagonal entries up to this are rounding */
    /* Per place drawn from: mass times diagonal summed up to here, of entries above the threshold */
    double *cumulative;
    int64_t *proposed;    /* places in `rows`; block */
    int64_t *examples;    /* the examples at these places; block */
    double *core;         /* block × block */
    double *at_proposals; /* rows of F at the proposals, block × capacity */
    double *columns;      /* rows × block */
    int64_t first, own;   /* the rows that this process computes, at least one */
} pivoting;

static int64_t example_at(const pivoting *p, int64_t place)
{
    return p->rows ? p->rows[place] : place;
}

/* ---- proposals ---- */

static int64_t place_of(const pivoting *p, int64_t draw)
{
    return p->draws ? p->draws[draw] : draw;
}

/* Returns the sum of the diagonal entries that may be drawn. */
static double accumulate(pivoting *p)
{
    double sum = 0;

    for (int64_t i = 0; i < p->draw_count; i++) {
        double left = p->made->diagonal[place_of(p, i)];
        sum += left > p->threshold ? (p->mass ? p->mass[i] : 1) * left : 0;
        p->cumulative[i] = sum;
    }
    return sum;
}

/* The place of the first candidate whose cumulative sum exceeds `goal`. */
static int64_t find_place(const pivoting *p, double goal)
{
    int64_t low = 0;
    int64_t high = p->draw_count - 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->cumulative[middle] > goal)
            high = middle;
        else
            low = middle + 1;
    }
    return place_of(p, low);
}

static void draw_proposals(pivoting *p, double sum, int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        p->proposed[j] = find_place(p, kfe_i_rng_uniform(&p->made->rng) * sum);
        p->examples[j] = example_at(p, p->proposed[j]);
    }
}

/* core (count × count) −= F[proposals, :] F[proposals, :]ᵀ; keeps these rows of F. */
static void subtract_from_core(pivoting *p, int64_t count)
{
    const kfe_i_rpcholesky *made = p->made;
    blasint rank = (blasint)made->rank;

    for (int64_t j = 0; j < count; j++)
        memcpy(p->at_proposals + j * made->rank, made->factor + p->proposed[j] * made->capacity,
               (size_t)made->rank * sizeof *p->at_proposals);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)count, rank, -1,
                p->at_proposals, rank, p->at_proposals, rank, 1, p->core, (blasint)count);
}

/* core (count × count) = R[proposals, proposals] */
static kfe_status residual_at_proposals(pivoting *p, int64_t count)
{
    const kfe_i_rpcholesky *made = p->made;
    kfe_status status = kfe_i_gram_among(p->gram, p->examples, count, p->core);

    if (status != KFE_OK || made->rank == 0)
        return status;
    subtract_from_core(p, count);
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

/* Keeps the accepted proposals at the front of `proposed`; returns their number. */
static int64_t accept_proposals(pivoting *p, int64_t count)
{
    int64_t accepted = 0;

    for (int64_t i = 0; i < count; i++) {
        double now = p->core[i * count + i];
        double drawn = p->made->diagonal[p->proposed[i]];
        if (!(now > p->threshold) || kfe_i_rng_uniform(&p->made->rng) * drawn >= now)
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
    return kfe_i_gram_entries(p->gram, kfe_i_listed(p->rows, p->made->rows), kfe_i_listed(p->examples, count),
                              p->columns, count);
}

/* columns (rows × count) = R[:, accepted], in the rows of this process, and core = R[accepted, accepted]. */
static kfe_status residual_columns(pivoting *p, int64_t count)
{
    const kfe_i_rpcholesky *made = p->made;
    kfe_status status = fetch_columns(p, count);

    if (status != KFE_OK)
        return status;
    for (int64_t j = 0; j < count; j++)
        memcpy(p->core + j * count, p->columns + p->proposed[j] * count, (size_t)count * sizeof *p->core);
    if (made->rank == 0)
        return KFE_OK;
    subtract_from_core(p, count);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)p->own, (blasint)count, (blasint)made->rank,
                -1, made->factor + p->first * made->capacity, (blasint)made->capacity, p->at_proposals,
                (blasint)made->rank, 1, p->columns + p->first * count, (blasint)count);
    return KFE_OK;
}

static void update_diagonal(pivoting *p, int64_t count)
{
    kfe_i_rpcholesky *made = p->made;

    for (int64_t i = 0; i < made->rows; i++) {
        for (int64_t j = 0; j < count; j++)
            made->diagonal[i] -= p->columns[i * count + j] * p->columns[i * count + j];
        made->negative = fmin(made->negative, made->diagonal[i]);
        made->diagonal[i] = fmax(0, made->diagonal[i]);
    }
    for (int64_t j = 0; j < count; j++)
        made->diagonal[p->proposed[j]] = 0;
    made->left = 0;
    for (int64_t i = 0; i < made->rows; i++)
        made->left += made->diagonal[i];
}

/* columns = R[:, accepted], and core its Cholesky factor at the accepted. Rounding may make the core indefinite: then only the first half
 * of the accepted is used, *count of them. */
static kfe_status factor_accepted(pivoting *p, int64_t *count)
{
    for (;;) {
        kfe_status status = residual_columns(p, *count);
        if (status != KFE_OK)
            return status;
        status = kfe_i_cholesky(p->ctx, *count, p->core, "the residual of the kernel matrix");
        if (status != KFE_ENUMERIC || *count == 1)
            return status;
        *count /= 2;
    }
}

/* Appends the columns of the accepted proposals to the factor. */
static kfe_status append(pivoting *p, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;

    KFE_TRY(factor_accepted(p, &count));
    kfe_i_solve_lower_transposed(p->own, count, p->core, p->columns + p->first * count);
    if (p->own < made->rows)
        KFE_TRY(kfe_i_cluster_gather_rows(p->ctx, p->columns, made->rows, count));
    kfe_i_copy_block(made->rows, count, p->columns, count, made->factor + made->rank, made->capacity);
    memcpy(made->pivots + made->rank, p->examples, (size_t)count * sizeof *made->pivots);
    made->rank += count;
    update_diagonal(p, count);
cleanup:
    return status;
}

/* ---- beginning and end ---- */

static kfe_status begin_diagonal(const pivoting *p)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;
    double *whole = NULL;

    KFE_ALLOC(p->ctx, made->diagonal, made->rows);
    KFE_ALLOC(p->ctx, whole, p->gram->size);
    KFE_TRY(kfe_i_gram_diagonal(p->gram, whole));
    for (int64_t i = 0; i < made->rows; i++) {
        double value = whole[example_at(p, i)];
        made->largest = fmax(made->largest, fabs(value));
        made->negative = fmin(made->negative, value);
        made->diagonal[i] = fmax(0, value);
        made->trace += made->diagonal[i];
    }
    made->left = made->trace;
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

/* Makes room for `most` columns. */
static kfe_status widen(kfe_i_rpcholesky *made, int64_t most)
{
    kfe_status status = KFE_OK;
    double *factor = NULL;
    int64_t *pivots = NULL;

    if (most <= made->capacity)
        return KFE_OK;
    KFE_ALLOC(made->ctx, pivots, most);
    KFE_ALLOC(made->ctx, factor, made->rows * most);
    if (made->rank > 0) {
        kfe_i_copy_block(made->rows, made->rank, made->factor, made->capacity, factor, most);
        memcpy(pivots, made->pivots, (size_t)made->rank * sizeof *pivots);
    }
    kfe_i_free(made->ctx, made->factor);
    kfe_i_free(made->ctx, made->pivots);
    made->factor = factor;
    made->pivots = pivots;
    made->capacity = most;
    return KFE_OK;
cleanup:
    kfe_i_free(made->ctx, pivots);
    return status;
}

static kfe_status make_workspace(pivoting *p, int64_t most)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(p->ctx, p->cumulative, p->draw_count);
    KFE_ALLOC(p->ctx, p->proposed, p->block);
    KFE_ALLOC(p->ctx, p->examples, p->block);
    KFE_ALLOC(p->ctx, p->core, p->block * p->block);
    KFE_ALLOC(p->ctx, p->at_proposals, p->block * most);
    KFE_ALLOC(p->ctx, p->columns, p->made->rows * p->block);
cleanup:
    return status;
}

/* All rows, or this process's share of them. Operators that are not dealt may be used by one process alone. */
static void divide_rows(pivoting *p)
{
    kfe_i_share share = kfe_i_own_share(p->ctx);

    if (p->rows || p->gram->processes == 1 || p->made->rows < share.parts)
        share = (kfe_i_share){0, 1};
    p->first = kfe_i_share_begin(p->made->rows, share.part, share.parts);
    p->own = kfe_i_share_begin(p->made->rows, share.part + 1, share.parts) - p->first;
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

/* Accepted proposals beyond `most` are dropped. The first proposal of a block is always accepted, unless rounding took it below the
 * threshold: its entry is then set to zero, so that every iteration makes progress. */
static kfe_status run_block(pivoting *p, double sum, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;
    int64_t first = 0;

    draw_proposals(p, sum, p->block);
    first = p->proposed[0];
    KFE_TRY(residual_at_proposals(p, p->block));
    int64_t accepted = kfe_i_least(accept_proposals(p, p->block), most - made->rank);
    if (accepted > 0)
        KFE_TRY(append(p, accepted));
    made->diagonal[first] = accepted > 0 ? made->diagonal[first] : 0;
cleanup:
    return status;
}

/* Adds columns up to `most`, while the trace of the residual is above `enough`. */
static kfe_status extend(pivoting *p, int64_t most, double enough, const char *stage)
{
    kfe_status status = KFE_OK;
    kfe_i_rpcholesky *made = p->made;
    double sum = 0;

    p->threshold = KFE_RANK_TOLERANCE * made->largest;
    divide_rows(p);
    KFE_TRY(widen(made, most));
    KFE_TRY(make_workspace(p, most));
    while (made->rank < most && made->left > enough && (sum = accumulate(p)) > 0) {
        KFE_TRY(kfe_i_progress(p->ctx, stage, made->rank, most));
        KFE_TRY(run_block(p, sum, most));
    }
cleanup:
    release(p);
    return status;
}

static kfe_status begin(const pivoting *p, int64_t count, uint64_t stream)
{
    *p->made = (kfe_i_rpcholesky){.ctx = p->ctx, .rows = count};
    kfe_i_rng_init(&p->made->rng, kfe_context_seed(p->ctx), stream);
    return begin_diagonal(p);
}

kfe_status kfe_i_rpcholesky_run(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from, int64_t sample,
                                int64_t most, kfe_i_rpcholesky *out)
{
    kfe_status status = KFE_OK;
    pivoting p = {.ctx = gram->ctx,
                  .gram = gram,
                  .rows = sample > 0 ? from->index : NULL,
                  .draws = sample > 0 ? NULL : from->index,
                  .mass = from->mass,
                  .draw_count = sample > 0 ? sample : from->count,
                  .made = out,
                  .block = block_size(most)};

    KFE_TRY(begin(&p, sample > 0 ? sample : gram->size, KFE_STREAM_GRAM_LANDMARKS));
    KFE_TRY(extend(&p, most, 0, "choosing landmarks"));
cleanup:
    return status;
}

kfe_status kfe_i_rpcholesky_grow(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_rpcholesky *made)
{
    kfe_status status = KFE_OK;
    pivoting p = {
        .ctx = gram->ctx, .gram = gram, .draw_count = gram->size, .made = made, .block = GROWING_BLOCK};

    if (!made->ctx)
        KFE_TRY(begin(&p, gram->size, KFE_STREAM_PIVOT));
    KFE_TRY(extend(&p, most, enough, "preparing the solver"));
cleanup:
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
