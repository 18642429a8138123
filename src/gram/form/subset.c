/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of some rows and columns of a kernel matrix in memory, without a copy: the training part of a split
 * in a search over settings. Products read the whole matrix, with zeros for the other rows. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/dense/thin.h"
#include "gram/gram.h"

typedef struct subset_state {
    const double *matrix; /* all × all */
    int64_t all;
    const int64_t *index;
    double *padded, *product; /* all × k, kept between calls */
    int64_t width;
} subset_state;

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const subset_state *s = gram->state;

    for (int64_t i = 0; i < rows; i++) {
        const double *from = s->matrix + s->index[row + i] * s->all;
        for (int64_t j = 0; j < cols; j++)
            out[i * stride + j] = from[s->index[col + j]];
    }
    return KFE_OK;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const subset_state *s = gram->state;

    for (int64_t i = 0; i < gram->size; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] = s->matrix[s->index[i] * s->all + s->index[index[j]]];
    return KFE_OK;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const subset_state *s = gram->state;

    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] = s->matrix[s->index[index[i]] * s->all + s->index[index[j]]];
    return KFE_OK;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    const subset_state *s = gram->state;

    for (int64_t i = 0; i < gram->size; i++)
        out[i] = s->matrix[s->index[i] * (s->all + 1)];
    return KFE_OK;
}

static kfe_status reserve(const kfe_i_gram *gram, int64_t k)
{
    kfe_status status = KFE_OK;
    subset_state *s = gram->state;

    if (k <= s->width)
        return KFE_OK;
    s->width = 0;
    kfe_i_free(gram->ctx, s->padded);
    kfe_i_free(gram->ctx, s->product);
    s->padded = s->product = NULL;
    KFE_ALLOC(gram->ctx, s->padded, s->all * k);
    KFE_ALLOC(gram->ctx, s->product, s->all * k);
    s->width = k;
cleanup:
    return status;
}

static kfe_status expand(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const subset_state *s = gram->state;
    double *work = NULL;

    assert(k >= 0 && v != out);
    KFE_TRY(reserve(gram, k));
    KFE_CHECK_ALLOC_BY(gram->ctx, work, kfe_i_gram_workspace(gram, kfe_i_thin_work(s->all, s->all)));
    memset(s->padded, 0, (size_t)(s->all * k) * sizeof *s->padded);
    for (int64_t i = 0; i < gram->size; i++)
        memcpy(s->padded + s->index[i] * k, v + i * k, (size_t)k * sizeof *v);
    memset(out, 0, (size_t)(s->all * k) * sizeof *out);
    kfe_i_thin_times(gram->ctx, &(kfe_i_thin_matrix){s->all, s->all, s->all, s->matrix, NULL}, s->padded, k,
                     out, work);
cleanup:
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const subset_state *s = gram->state;

    KFE_TRY(reserve(gram, k));
    KFE_TRY(expand(gram, v, k, s->product));
    for (int64_t i = 0; i < gram->size; i++)
        memcpy(out + i * k, s->product + s->index[i] * k, (size_t)k * sizeof *out);
cleanup:
    return status;
}

static void release(kfe_i_gram *gram)
{
    subset_state *s = gram->state;

    kfe_i_free(gram->ctx, s->padded);
    kfe_i_free(gram->ctx, s->product);
}

static const kfe_i_gram_form form_subset = {
    .name = "part of a stored matrix",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .expand = expand,
    .release = release,
};

kfe_status kfe_i_gram_subset(kfe_context *ctx, int64_t all, const double *matrix, const int64_t *index,
                             int64_t count, kfe_i_gram **out)
{
    kfe_status status = kfe_i_gram_new(ctx, &form_subset, count, sizeof(subset_state), out);

    assert(kfe_i_all_below(index, count, all));
    if (status == KFE_OK)
        *(subset_state *)(*out)->state = (subset_state){.matrix = matrix, .all = all, .index = index};
    return status;
}
