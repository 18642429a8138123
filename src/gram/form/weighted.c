/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator diag(s)·G·diag(s) of examples with weights s², for every method that sees weighted examples through products. Entries
 * and vectors are multiplied by s on the way in and out.
 */
#include "core/memory.h"
#include "gram/form.h"

typedef struct weighted_state {
    const kfe_i_gram *inner;
} weighted_state;

static const kfe_i_gram *inner_of(const kfe_i_gram *gram)
{
    return ((const weighted_state *)gram->state)->inner;
}

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    kfe_status status = kfe_i_gram_entries(inner_of(gram), rows, cols, out, stride);

    for (int64_t i = 0; status == KFE_OK && i < rows.count; i++)
        for (int64_t j = 0; j < cols.count; j++)
            out[i * stride + j] *= gram->roots[kfe_i_place(&rows, i)] * gram->roots[kfe_i_place(&cols, j)];
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

static kfe_status column_seconds(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_column_seconds(inner_of(gram), out);
}

static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    return kfe_i_keep_in_memory(gram, how, reserve, NULL, out);
}

#define KFE_WEIGHTED_CALLS                                                                                   \
    .name = "weighted", .entries = entries, .diagonal = diagonal, .times = times, .release = release

static const kfe_i_gram_form form_stored = {KFE_WEIGHTED_CALLS};
/* Every pass evaluates the kernel. */
static const kfe_i_gram_form form_evaluated = {KFE_WEIGHTED_CALLS, .column_seconds = column_seconds,
                                               .keep = keep};

kfe_status kfe_i_gram_weighted(kfe_context *ctx, const kfe_i_gram *inner, const double *roots,
                               kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    if (inner->form->weigh)
        return inner->form->weigh(inner, roots, out);
    KFE_TRY(kfe_i_gram_new(ctx, inner->form->column_seconds ? &form_evaluated : &form_stored, inner->size,
                           sizeof(weighted_state), out));
    ((weighted_state *)(*out)->state)->inner = inner;
    kfe_i_gram_inherit(*out, inner);
    (*out)->pinned = inner->pinned;
    (*out)->roots = roots;
cleanup:
    return status;
}
