/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a weighted sum of kernels, made of one operator for each. */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/gram.h"

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

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    enum { PANEL = 256 };
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, PANEL * cols);
    for (int64_t first = 0; first < rows; first += PANEL) {
        int64_t count = rows - first < PANEL ? rows - first : PANEL;
        for (int64_t m = 0; m < s->count; m++) {
            KFE_TRY(kfe_i_gram_block(s->terms[m], row + first, count, col, cols, part, cols));
            add_scaled(out + first * stride, stride, part, count, cols, s->weights[m], m == 0);
        }
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, gram->size * count);
    for (int64_t m = 0; m < s->count; m++) {
        KFE_TRY(kfe_i_gram_columns(s->terms[m], index, count, part));
        add_scaled(out, count, part, gram->size, count, s->weights[m], m == 0);
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

static kfe_status group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out)
{
    kfe_status status = KFE_OK;
    const sum_state *s = gram->state;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, groups * groups);
    for (int64_t m = 0; m < s->count; m++) {
        KFE_TRY(kfe_i_gram_group_sums(s->terms[m], group, groups, part));
        add_scaled(out, groups, part, groups, groups, s->weights[m], m == 0);
    }
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
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
    .block = block,
    .columns = columns,
    .diagonal = diagonal,
    .times = times,
    .group_sums = group_sums,
    .release = release,
    .evaluates = 1,
};

kfe_status kfe_i_gram_sum(kfe_context *ctx, kfe_i_gram **terms, const double *weights, int64_t count,
                          kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t taken = 0;

    assert(count >= 1);
    KFE_TRY(kfe_i_gram_new(ctx, &form, terms[0]->size, sizeof(sum_state), out));
    sum_state *s = (*out)->state;
    (*out)->roots = terms[0]->roots;
    KFE_ALLOC_ZERO(ctx, s->terms, count);
    KFE_ALLOC(ctx, s->weights, count);
    for (; taken < count; taken++) {
        s->terms[taken] = terms[taken];
        s->weights[taken] = weights[taken];
        s->count = taken + 1;
    }
cleanup:
    for (; taken < count; taken++)
        kfe_i_gram_free(terms[taken]);
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}

int64_t kfe_i_gram_sum_terms(const kfe_i_gram *gram, kfe_i_gram *const **terms, const double **weights)
{
    const sum_state *s = gram->state;

    if (gram->form != &form)
        return 0;
    *terms = s->terms;
    *weights = s->weights;
    return s->count;
}
