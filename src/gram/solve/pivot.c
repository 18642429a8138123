/* SPDX-License-Identifier: Apache-2.0 */
/* Randomly pivoted Cholesky factorisation; the solver takes its preconditioner from it. */
#include "gram/solve/pivot.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"

enum { BLOCK = 64 };

/* Draws up to `count` different pivots; returns their number. */
static int64_t draw_pivots(kfe_i_rng *rng, const kfe_i_low_rank *low_rank, int64_t count, int64_t *pivots)
{
    int64_t found = 0;

    for (int64_t attempt = 0; attempt < 4 * count && found < count; attempt++) {
        double goal = kfe_i_rng_uniform(rng) * low_rank->trace;
        int64_t i = 0;
        int known = 0;
        for (; i < low_rank->rows - 1 && goal >= low_rank->diagonal[i]; i++)
            goal -= low_rank->diagonal[i];
        for (int64_t j = 0; j < found; j++)
            known |= pivots[j] == i;
        if (!known && low_rank->diagonal[i] > 0)
            pivots[found++] = i;
    }
    return found;
}

/* columns (n × count) ← G[:, pivots] − F F[pivots, :]ᵀ, and core (count × count) its rows at the pivots. */
static kfe_status residual_columns(const kfe_i_gram *gram, const kfe_i_low_rank *low_rank,
                                   const int64_t *pivots, int64_t count, double *columns,
                                   double *rows_at_pivots, double *core)
{
    int64_t r = low_rank->rank;
    kfe_status status = kfe_i_gram_columns(gram, pivots, count, columns);

    if (status != KFE_OK)
        return status;
    for (int64_t j = 0; j < count; j++)
        memcpy(rows_at_pivots + j * r, low_rank->factor + pivots[j] * low_rank->capacity,
               (size_t)r * sizeof *columns);
    if (r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)low_rank->rows, (blasint)count,
                    (blasint)r, -1, low_rank->factor, (blasint)low_rank->capacity, rows_at_pivots, (blasint)r,
                    1, columns, (blasint)count);
    for (int64_t j = 0; j < count; j++)
        memcpy(core + j * count, columns + pivots[j] * count, (size_t)count * sizeof *core);
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

static kfe_status begin(const kfe_i_gram *gram, int64_t most, kfe_i_low_rank *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = gram->ctx;
    out->rows = gram->size;
    out->capacity = most;
    KFE_ALLOC(gram->ctx, out->factor, gram->size * most);
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

kfe_status kfe_i_pivoted_cholesky(const kfe_i_gram *gram, int64_t most, double enough, kfe_i_low_rank *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    double *columns = NULL;
    double *rows_at_pivots = NULL;
    double core[BLOCK * BLOCK];
    int64_t pivots[BLOCK];
    int64_t before = -1;
    kfe_i_rng rng;

    KFE_TRY(begin(gram, most, out));
    KFE_ALLOC(ctx, columns, gram->size * BLOCK);
    KFE_ALLOC(ctx, rows_at_pivots, BLOCK * most);
    kfe_i_rng_init(&rng, kfe_context_seed(ctx), KFE_STREAM_PIVOT);
    while (out->rank < most && out->trace > enough && out->rank > before) {
        int64_t room = most - out->rank < BLOCK ? most - out->rank : BLOCK;
        int64_t count = draw_pivots(&rng, out, room, pivots);
        before = out->rank;
        KFE_TRY(kfe_i_checkpoint(ctx, "preparing the solver", out->rank, most));
        if (count == 0)
            break;
        KFE_TRY(residual_columns(gram, out, pivots, count, columns, rows_at_pivots, core));
        KFE_TRY(append_columns(out, columns, count, core));
    }
cleanup:
    kfe_i_free(ctx, columns);
    kfe_i_free(ctx, rows_at_pivots);
    return status;
}

void kfe_i_low_rank_free(kfe_i_low_rank *low_rank)
{
    if (low_rank->ctx) {
        kfe_i_free(low_rank->ctx, low_rank->factor);
        kfe_i_free(low_rank->ctx, low_rank->diagonal);
    }
    memset(low_rank, 0, sizeof *low_rank);
}
