/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator diag(s)·G·diag(s) of examples with weights s², for every method that sees weighted examples through products. Entries
 * and vectors are multiplied by s on the way in and out. A linear operator XXᵀ becomes that of the table diag(s)X, so that methods
 * find the factor.
 */
#include "core/memory.h"
#include "gram/gram.h"

typedef struct weighted_state {
    const kfe_i_gram *inner;
} weighted_state;

static const kfe_i_gram *inner_of(const kfe_i_gram *gram)
{
    return ((const weighted_state *)gram->state)->inner;
}

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    kfe_status status = kfe_i_gram_block(inner_of(gram), row, rows, col, cols, out, stride);

    for (int64_t i = 0; status == KFE_OK && i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out[i * stride + j] *= gram->roots[row + i] * gram->roots[col + j];
    return status;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = kfe_i_gram_columns(inner_of(gram), index, count, out);

    for (int64_t i = 0; status == KFE_OK && i < gram->size; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] *= gram->roots[i] * gram->roots[index[j]];
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = kfe_i_gram_among(inner_of(gram), index, count, out);

    for (int64_t i = 0; status == KFE_OK && i < count; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] *= gram->roots[index[i]] * gram->roots[index[j]];
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    kfe_status status = kfe_i_gram_diagonal(inner_of(gram), out);

    for (int64_t i = 0; status == KFE_OK && i < gram->size; i++)
        out[i] *= gram->roots[i] * gram->roots[i];
    return status;
}

/* out (n × k) = diag(s)·v; out may be v. */
static void scale_rows(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    for (int64_t i = 0; i < gram->size; i++)
        for (int64_t j = 0; j < k; j++)
            out[i * k + j] = gram->roots[i] * v[i * k + j];
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    double *scaled = kfe_i_gram_workspace(gram, gram->size * k);
    kfe_status status = kfe_i_lack(gram->ctx);

    if (scaled) {
        scale_rows(gram, v, k, scaled);
        status = kfe_i_gram_times(inner_of(gram), scaled, k, out);
    }
    if (status == KFE_OK)
        scale_rows(gram, out, k, out);
    return status;
}

static void release(kfe_i_gram *gram)
{
    (void)gram;
}

#define WEIGHTED_FORM(its_evaluates, its_single)                                                             \
    {                                                                                                        \
        .name = "weighted", .block = block, .columns = columns, .among = among, .diagonal = diagonal,        \
        .times = times, .release = release, .evaluates = (its_evaluates), .single = (its_single),            \
    }

/* By whether every pass evaluates the kernel, and whether entries are in single precision. */
static const kfe_i_gram_form forms[2][2] = {{WEIGHTED_FORM(0, 0), WEIGHTED_FORM(0, 1)},
                                            {WEIGHTED_FORM(1, 0), WEIGHTED_FORM(1, 1)}};

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

static kfe_status weigh_factor(kfe_context *ctx, const kfe_i_table *table, const double *roots,
                               kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_table weighted = {0};

    KFE_TRY(weigh_table(ctx, table, roots, &weighted));
    KFE_TRY(kfe_i_gram_factored_owned(ctx, &weighted, out));
    (*out)->roots = roots;
cleanup:
    kfe_i_table_free(&weighted);
    return status;
}

kfe_status kfe_i_gram_weighted(kfe_context *ctx, const kfe_i_gram *inner, const double *roots,
                               kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    if (kfe_i_gram_factor(inner))
        return weigh_factor(ctx, kfe_i_gram_factor(inner), roots, out);
    KFE_TRY(kfe_i_gram_new(ctx, &forms[inner->form->evaluates != 0][kfe_i_gram_is_single(inner) != 0],
                           inner->size, sizeof(weighted_state), out));
    ((weighted_state *)(*out)->state)->inner = inner;
    (*out)->pinned = inner->pinned;
    (*out)->roots = roots;
cleanup:
    return status;
}
