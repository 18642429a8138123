/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator with part of the matrix in memory: the first p rows, in single precision. The remaining square is
 * evaluated tile by tile at every pass. policy.c chooses it when the whole matrix does not fit.
 *
 *        p    n−p
 *   p  [ S11  S12 ]     S = [S11 S12] is kept. out₁ = S v and out₂ = S12ᵀ v₁ + K22 v₂.
 *  n−p [ S12ᵀ K22 ]
 */
#include <cblas.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/gram.h"
#include "kernel/tile/cross.h"

enum { PANEL_ROWS = 64 };

typedef struct partial_state {
    const kfe_i_gram *source; /* tiled */
    const kfe_i_kernel *kernel;
    const kfe_i_points *points;
    int64_t rows;
    float *kept; /* rows × n */
} partial_state;

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const partial_state *s = gram->state;
    return kfe_i_gram_block(s->source, row, rows, col, cols, out, stride);
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const partial_state *s = gram->state;
    return kfe_i_gram_columns(s->source, index, count, out);
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    const partial_state *s = gram->state;
    return kfe_i_gram_diagonal(s->source, out);
}

/* out += [S; S12ᵀ]·v for the kept rows from `row` on, a panel of them, converted to double in `panel`. */
static void multiply_panel(const partial_state *s, int64_t row, kfe_i_vectors vectors, double *panel,
                           double *out)
{
    int64_t n = s->source->size;
    int64_t rows = s->rows - row < PANEL_ROWS ? s->rows - row : PANEL_ROWS;
    int64_t rest = n - s->rows;
    const double *v = vectors.values;
    int64_t k = vectors.k;

    for (int64_t i = 0; i < rows * n; i++)
        panel[i] = (double)s->kept[row * n + i];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)n, 1, panel,
                (blasint)n, v, (blasint)k, 1, out + row * k, (blasint)k);
    if (rest > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)rest, (blasint)k, (blasint)rows, 1,
                    panel + s->rows, (blasint)n, v + row * k, (blasint)k, 1, out + s->rows * k, (blasint)k);
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const partial_state *s = gram->state;
    int64_t n = gram->size;
    int64_t engine = kfe_i_self_times_work(gram->ctx, s->kernel, s->points, s->rows, k);
    double *work = kfe_i_gram_workspace(gram, engine > PANEL_ROWS * n ? engine : PANEL_ROWS * n);

    if (!work)
        return kfe_i_lack(gram->ctx);
    memset(out, 0, (size_t)(n * k) * sizeof *out);
    for (int64_t row = 0; row < s->rows; row += PANEL_ROWS)
        multiply_panel(s, row, (kfe_i_vectors){v, k}, work, out);
    return kfe_i_self_times(gram->ctx, s->kernel, s->points, s->rows, (kfe_i_vectors){v + s->rows * k, k},
                            out + s->rows * k, work);
}

static void release(kfe_i_gram *gram)
{
    kfe_i_free(gram->ctx, ((partial_state *)gram->state)->kept);
}

static const kfe_i_gram_form form = {
    .name = "partly stored in single precision, the rest computed tile by tile",
    .block = block,
    .columns = columns,
    .diagonal = diagonal,
    .times = times,
    .release = release,
    .single = 1,
};

static kfe_status keep_rows(partial_state *s, int64_t n)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->source->ctx;
    double *panel = NULL;

    KFE_ALLOC(ctx, s->kept, s->rows * n);
    KFE_ALLOC(ctx, panel, PANEL_ROWS * n);
    for (int64_t row = 0; row < s->rows; row += PANEL_ROWS) {
        int64_t rows = s->rows - row < PANEL_ROWS ? s->rows - row : PANEL_ROWS;
        KFE_TRY(kfe_i_gram_block(s->source, row, rows, 0, n, panel, n));
        for (int64_t i = 0; i < rows * n; i++)
            s->kept[row * n + i] = (float)panel[i];
    }
cleanup:
    kfe_i_free(ctx, panel);
    return status;
}

kfe_status kfe_i_gram_partial(kfe_context *ctx, const kfe_i_gram *source, int64_t rows, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    assert(rows >= 0);
    KFE_TRY(kfe_i_gram_new(ctx, &form, source->size, sizeof(partial_state), out));
    partial_state *s = (*out)->state;
    s->source = source;
    s->rows = rows < source->size ? rows : source->size;
    if (!kfe_i_gram_tiles(source, &s->kernel, &s->points))
        KFE_FAIL(ctx, KFE_EINVAL, "only a tiled operator can be kept in part");
    KFE_TRY(keep_rows(s, source->size));
cleanup:
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}
