/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of the linear kernel: G = XXᵀ is multiplied as X(Xᵀv) and never formed; sparse X stays sparse. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/form.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/tile.h"
#include "linalg/linalg.h"

typedef struct factored_state {
    kfe_i_kernel linear;
    kfe_i_points points;
    kfe_i_table transposed; /* only if X is sparse: both products then go along rows, in parallel */
    kfe_i_table own;        /* what the points are of, if the operator owns it */
} factored_state;

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    kfe_status status = KFE_OK;
    const factored_state *s = gram->state;
    kfe_i_points copies[2] = {{0}};
    kfe_i_range left;
    kfe_i_range right;

    KFE_TRY(kfe_i_points_at(&s->points, rows, &copies[0], &left));
    KFE_TRY(kfe_i_points_at(&s->points, cols, &copies[1], &right));
    KFE_TRY(kfe_i_cross_block(gram->ctx, &s->linear, left, right, out, stride));
cleanup:
    kfe_i_points_free(&copies[0]);
    kfe_i_points_free(&copies[1]);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    const factored_state *s = gram->state;

    memcpy(out, s->points.norms, (size_t)gram->size * sizeof *out);
    return KFE_OK;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const factored_state *s = gram->state;
    const kfe_i_table *table = &s->points.table;
    double *primal = kfe_i_gram_workspace(gram, table->cols * k);

    if (!primal)
        return kfe_i_lack(gram->ctx);
    if (table->kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_table_times(gram->ctx, &s->transposed, v, k, primal));
    else
        KFE_TRY(kfe_i_table_transpose_times(gram->ctx, table, v, k, primal));
    KFE_TRY(kfe_i_table_times(gram->ctx, table, primal, k, out));
cleanup:
    return status;
}

static int64_t rank_bound(const kfe_i_gram *gram)
{
    const factored_state *s = gram->state;

    return kfe_i_least(s->points.table.cols, gram->size);
}

/* The rows of the table times s. */
static kfe_status weigh_table(kfe_context *ctx, const kfe_i_table *table, const double *roots,
                              kfe_i_table *out)
{
    kfe_status status = kfe_i_table_copy(ctx, table, out);
    int dense = table->kind == KFE_TABLE_DENSE;

    if (status == KFE_OK)
        status = kfe_i_table_widen(ctx, out);
    for (int64_t i = 0; status == KFE_OK && i < out->rows; i++) {
        int64_t begin = dense ? i * out->stride : out->row_start[i];
        int64_t end = dense ? begin + out->cols : out->row_start[i + 1];
        for (int64_t p = begin; p < end; p++)
            out->values[p] *= roots[i];
    }
    return status;
}

static kfe_status weigh(const kfe_i_gram *gram, const double *roots, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    kfe_i_table weighted = {0};

    *out = NULL;
    KFE_TRY(weigh_table(ctx, &((const factored_state *)gram->state)->points.table, roots, &weighted));
    KFE_TRY(kfe_i_gram_factored(ctx, &weighted, out));
    ((factored_state *)(*out)->state)->own = weighted;
    memset(&weighted, 0, sizeof weighted);
    (*out)->roots = roots;
cleanup:
    kfe_i_table_free(&weighted);
    return status;
}

static const kfe_i_table *factor(const kfe_i_gram *gram, const kfe_i_table **transposed)
{
    const factored_state *s = gram->state;
    const kfe_i_table *table = &s->points.table;

    if (table->kind == KFE_TABLE_CSR)
        *transposed = &s->transposed;
    return table;
}

static void release(kfe_i_gram *gram)
{
    factored_state *s = gram->state;
    kfe_i_points_free(&s->points);
    kfe_i_table_free(&s->transposed);
    kfe_i_table_free(&s->own);
    kfe_i_kernel_free(&s->linear);
}

static const kfe_i_gram_form form = {
    .name = "factored as the data times its transpose",
    .entries = entries,
    .diagonal = diagonal,
    .factor = factor,
    .times = times,
    .least_eigenvalue = kfe_i_gram_no_negative,
    .rank_bound = rank_bound,
    .weigh = weigh,
    .release = release,
};

kfe_status kfe_i_gram_factored(kfe_context *ctx, const kfe_i_table *table, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    assert(table->kind != KFE_TABLE_TEXT);
    KFE_TRY(kfe_i_gram_new(ctx, &form, table->rows, sizeof(factored_state), out));
    factored_state *s = (*out)->state;
    KFE_TRY(kfe_i_kernel_parse(ctx, "linear", &s->linear));
    KFE_TRY(kfe_i_points_prepare_wide(ctx, &s->linear, table, &s->points));
    if (table->kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_table_transpose(ctx, table, &s->transposed));
cleanup:
    return kfe_i_gram_made(status, out);
}

void kfe_i_gram_factored_refresh(const kfe_i_gram *gram)
{
    kfe_i_points_refresh(&((factored_state *)gram->state)->points);
}
