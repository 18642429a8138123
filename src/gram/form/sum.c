/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a weighted sum of kernels, made of one operator for each. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/form.h"

typedef struct sum_state {
    int64_t count;
    kfe_i_gram **terms;
    double *weights;
} sum_state;

static void add_scaled(double *out, int64_t stride, const double *part, int64_t rows, int64_t cols,
                       double weight, int first)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            double value = weight * part[i * cols + j];
            out[i * stride + j] = first ? value : out[i * stride + j] + value;
        }
}

/* Some rows at a time, so that a term needs little room. */
static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    enum { PANEL = 256 };
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, kfe_i_least(PANEL, rows.count) * cols.count);
    for (int64_t first = 0; first < rows.count; first += PANEL) {
        kfe_i_places some = kfe_i_places_part(rows, first, kfe_i_least(PANEL, rows.count - first));
        for (int64_t m = 0; m < s->count; m++) {
            KFE_TRY(kfe_i_gram_entries(s->terms[m], some, cols, part, cols.count));
            add_scaled(out + first * stride, stride, part, some.count, cols.count, s->weights[m], m == 0);
        }
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, gram->size);
    for (int64_t m = 0; m < s->count; m++) {
        KFE_TRY(kfe_i_gram_diagonal(s->terms[m], part));
        add_scaled(out, 1, part, gram->size, 1, s->weights[m], m == 0);
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, gram->size * k);
    for (int64_t m = 0; m < s->count; m++) {
        KFE_TRY(kfe_i_gram_times(s->terms[m], v, k, part));
        add_scaled(out, k, part, gram->size, k, s->weights[m], m == 0);
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static kfe_status group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group, int64_t groups,
                             double *out)
{
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, groups * groups);
    for (int64_t m = 0; m < s->count; m++) {
        KFE_TRY(kfe_i_gram_group_share(s->terms[m], share, group, groups, part));
        add_scaled(out, groups, part, groups, groups, s->weights[m], m == 0);
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static kfe_status add_share(const kfe_i_gram *gram, kfe_i_share share, int64_t from, double weight,
                            kfe_i_vectors v, double *out)
{
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;

    for (int64_t m = 0; m < s->count; m++)
        KFE_TRY(kfe_i_gram_add_share(s->terms[m], share, from, weight * s->weights[m], v, out));
cleanup:
    return status;
}

static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    const sum_state *s = gram->state;
    int divides = 1; /* all of its kernels are evaluated tile by tile */

    for (int64_t m = 0; m < s->count; m++)
        divides = divides && s->terms[m]->form->add_share;
    return kfe_i_keep_in_memory(gram, how, reserve, divides ? kfe_i_gram_partial : NULL, out);
}

static void release(kfe_i_gram *gram)
{
    sum_state *s = gram->state;

    for (int64_t m = 0; m < s->count; m++)
        kfe_i_gram_free(s->terms[m]);
    kfe_i_free(gram->ctx, s->terms);
    kfe_i_free(gram->ctx, s->weights);
}

static const kfe_i_gram_form form = {
    .name = "a weighted sum of kernels",
    .entries = entries,
    .diagonal = diagonal,
    .times = times,
    .group_sums = group_sums,
    .add_share = add_share,
    .column_seconds = kfe_i_gram_time_columns,
    .keep = keep,
    .release = release,
};

kfe_status kfe_i_gram_sum(kfe_context *ctx, kfe_i_gram **terms, const double *weights, int64_t count,
                          kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t taken = 0;

    assert(count >= 1);
    KFE_TRY(kfe_i_gram_new(ctx, &form, terms[0]->size, sizeof(sum_state), out));
    sum_state *s = (*out)->state;
    KFE_ALLOC_ZERO(ctx, s->terms, count);
    KFE_ALLOC(ctx, s->weights, count);
    for (; taken < count; taken++) {
        kfe_i_gram_inherit(*out, terms[taken]);
        s->terms[taken] = terms[taken];
        s->weights[taken] = weights[taken];
        s->count = taken + 1;
    }
cleanup:
    for (; taken < count; taken++)
        kfe_i_gram_free(terms[taken]);
    return kfe_i_gram_made(status, out);
}
