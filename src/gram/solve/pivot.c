/* SPDX-License-Identifier: Apache-2.0 */
/* Randomly pivoted Cholesky factorisation, in blocks with rejection; the solver takes its preconditioner from it. */
#include "gram/solve/pivot.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"

enum { BLOCK = 64 };

/* An example drawn with probability proportional to the diagonal of the residual. */
static int64_t draw_pivot(kfe_i_low_rank *low_rank)
{
    double goal = kfe_i_rng_uniform(&low_rank->rng) * low_rank->trace;
    int64_t i = 0;

    for (; i < low_rank->rows - 1 && goal >= low_rank->diagonal[i]; i++)
        goal -= low_rank->diagonal[i];
    return i;
}

typedef struct pivot_work {
    double *columns;            /* n × BLOCK */
    double *rows_at_pivots;     /* BLOCK × capacity */
    double core[BLOCK * BLOCK]; /* of the residual, at the pivots */
    int64_t pivots[BLOCK];
} pivot_work;

/* rows_at_pivots ← F[pivots, :] */
static void gather_factor(const kfe_i_low_rank *low_rank, int64_t count, pivot_work *w)
{
    int64_t r = low_rank->rank;

    for (int64_t j = 0; j < count; j++)
        memcpy(w->rows_at_pivots + j * r, low_rank->factor + w->pivots[j] * low_rank->capacity,
               (size_t)r * sizeof *w->rows_at_pivots);
}

/* core (count × count) ← G − FFᵀ among the pivots. */
static kfe_status residual_among(const kfe_i_gram *gram, const kfe_i_low_rank *low_rank, int64_t count,
                                 pivot_work *w)
{
    int64_t r = low_rank->rank;
    kfe_status status = kfe_i_gram_among(gram, w->pivots, count, w->core);

    if (status != KFE_OK || r == 0)
        return status;
    gather_factor(low_rank, count, w);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)count, (blasint)r, -1,
                w->rows_at_pivots, (blasint)r, w->rows_at_pivots, (blasint)r, 1, w->core, (blasint)count);
    return KFE_OK;
}

/* Keeps the proposals that drawing one by one would keep: proposal i with probability (what the accepted ones before
 * it leave of its diagonal entry) / (its entry when it was drawn). Destroys the core; returns the number kept. */
static int64_t accept(kfe_i_low_rank *low_rank, int64_t count, pivot_work *w)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < count; i++) {
        double left = w->core[i * count + i];
        double drawn = low_rank->diagonal[w->pivots[i]];
        if (!(left > KFE_RANK_TOLERANCE * drawn) || !(kfe_i_rng_uniform(&low_rank->rng) * drawn < left))
            continue;
        for (int64_t a = i + 1; a < count; a++) {
            double share = w->core[i * count + a] / left;
            for (int64_t b = a; b < count; b++)
                w->core[a * count + b] -= share * w->core[i * count + b];
        }
        w->pivots[kept++] = w->pivots[i];
    }
    return kept;
}

/* Proposes a block of pivots; *count receives how many were accepted, at most `room`. The proposals do not depend on
 * `room`, so that a factor of more columns begins with the pivots of one of fewer. */
static kfe_status choose_pivots(const kfe_i_gram *gram, kfe_i_low_rank *low_rank, int64_t room, pivot_work *w,
                                int64_t *count)
{
    for (int64_t j = 0; j < BLOCK; j++)
        w->pivots[j] = draw_pivot(low_rank);
    kfe_status status = residual_among(gram, low_rank, BLOCK, w);
    int64_t accepted = status == KFE_OK ? accept(low_rank, BLOCK, w) : 0;
    *count = accepted < room ? accepted : room;
    return status;
}

/* columns (n × count) ← G[:, pivots] − F F[pivots, :]ᵀ, and core (count × count) its rows at the pivots. */
static kfe_status residual_columns(const kfe_i_gram *gram, const kfe_i_low_rank *low_rank, int64_t count,
                                   pivot_work *w)
{
    int64_t r = low_rank->rank;
    kfe_status status = kfe_i_gram_columns(gram, w->pivots, count, w->columns);

    if (status != KFE_OK)
        return status;
    gather_factor(low_rank, count, w);
    if (r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)low_rank->rows, (blasint)count,
                    (blasint)r, -1, low_rank->factor, (blasint)low_rank->capacity, w->rows_at_pivots,
                    (blasint)r, 1, w->columns, (blasint)count);
    for (int64_t j = 0; j < count; j++)
        memcpy(w->core + j * count, w->columns + w->pivots[j] * count, (size_t)count * sizeof *w->core);
    return KFE_OK;
}

/* Appends columns·L⁻ᵀ with core = LLᵀ, for the independent columns, and updates the diagonal of the residual. */
static kfe_status append_columns(kfe_i_low_rank *low_rank, double *columns, int64_t count, double *core)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = low_rank->ctx;
    int64_t n = low_rank->rows;
    int64_t kept[BLOCK];
    int64_t rank = 0;

    KFE_TRY(kfe_i_independent(ctx, count, core, KFE_RANK_TOLERANCE, kept, &rank));
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++)
            core[i * rank + j] = core[kept[i] * count + kept[j]];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rank; j++)
            columns[i * rank + j] = columns[i * count + kept[j]];
    if (rank == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_cholesky(ctx, rank, core, "the residual of the kernel matrix"));
    kfe_i_solve_lower_transposed(n, rank, core, columns);
    kfe_i_copy_block(n, rank, columns, rank, low_rank->factor + low_rank->rank, low_rank->capacity);
    low_rank->rank += rank;
    low_rank->trace = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < rank; j++)
            low_rank->diagonal[i] -= columns[i * rank + j] * columns[i * rank + j];
        low_rank->diagonal[i] = fmax(0, low_rank->diagonal[i]);
        low_rank->trace += low_rank->diagonal[i];
    }
cleanup:
    return status;
}

static kfe_status begin(const kfe_i_gram *gram, kfe_i_low_rank *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = gram->ctx;
    out->rows = gram->size;
    kfe_i_rng_init(&out->rng, kfe_context_seed(gram->ctx), KFE_STREAM_PIVOT);
    KFE_ALLOC(gram->ctx, out->diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, out->diagonal));
    for (int64_t i = 0; i < gram->size; i++) {
        out->diagonal[i] = fmax(0, out->diagonal[i]);
        out->trace += out->diagonal[i];
    }
    out->whole = out->trace;
cleanup:
    return status;
}

/* Makes room for `most` columns. */
static kfe_status widen(kfe_i_low_rank *low_rank, int64_t most)
{
    kfe_status status = KFE_OK;
    double *factor = NULL;

    if (most <= low_rank->capacity)
        return KFE_OK;
    KFE_ALLOC(low_rank->ctx, factor, low_rank->rows * most);
    if (low_rank->rank > 0)
        kfe_i_copy_block(low_rank->rows, low_rank->rank, low_rank->factor, low_rank->capacity, factor, most);
    kfe_i_free(low_rank->ctx, low_rank->factor);
    low_rank->factor = factor;
    low_rank->capacity = most;
cleanup:
    return status;
}

kfe_status kfe_i_low_rank_grow(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_low_rank *low_rank)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    pivot_work *w = NULL;
    int64_t before = -1;

    KFE_TRY(widen(low_rank, most));
    KFE_ALLOC_ZERO(ctx, w, 1);
    KFE_ALLOC(ctx, w->columns, gram->size * BLOCK);
    KFE_ALLOC(ctx, w->rows_at_pivots, BLOCK * most);
    while (low_rank->rank < most && low_rank->trace > enough && low_rank->rank > before) {
        int64_t count = 0;
        before = low_rank->rank;
        KFE_TRY(kfe_i_checkpoint(ctx, "preparing the solver", low_rank->rank, most));
        KFE_TRY(choose_pivots(gram, low_rank, most - low_rank->rank, w, &count));
        if (count == 0)
            break;
        KFE_TRY(residual_columns(gram, low_rank, count, w));
        KFE_TRY(append_columns(low_rank, w->columns, count, w->core));
    }
cleanup:
    if (w) {
        kfe_i_free(ctx, w->columns);
        kfe_i_free(ctx, w->rows_at_pivots);
        kfe_i_free(ctx, w);
    }
    return status;
}

kfe_status kfe_i_pivoted_cholesky(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_low_rank *out)
{
    kfe_status status = begin(gram, out);
    return status == KFE_OK ? kfe_i_low_rank_grow(gram, most, enough, out) : status;
}

void kfe_i_low_rank_free(kfe_i_low_rank *low_rank)
{
    if (low_rank->ctx) {
        kfe_i_free(low_rank->ctx, low_rank->factor);
        kfe_i_free(low_rank->ctx, low_rank->diagonal);
    }
    memset(low_rank, 0, sizeof *low_rank);
}
