/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PGP with P = I − eeᵀ/n, from G: entries are G[i,j] − rᵢ − rⱼ + m with row means r and overall mean m;
 * products need neither, since P(G(Pv)) subtracts means of vectors only.
 */
#include <string.h>

#include "core/memory.h"
#include "gram/gram.h"

typedef struct centred_state {
    const kfe_i_gram *inner;
    double *row_means;
    double overall;
} centred_state;

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const centred_state *s = gram->state;
    kfe_status status = kfe_i_gram_block(s->inner, row, rows, col, cols, out, stride);

    for (int64_t i = 0; status == KFE_OK && i < rows; i++) {
        double shift = s->overall - s->row_means[row + i];
        for (int64_t j = 0; j < cols; j++)
            out[i * stride + j] += shift - s->row_means[col + j];
    }
    return status;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const centred_state *s = gram->state;
    kfe_status status = kfe_i_gram_columns(s->inner, index, count, out);

    for (int64_t i = 0; status == KFE_OK && i < gram->size; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] += s->overall - s->row_means[i] - s->row_means[index[j]];
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    const centred_state *s = gram->state;
    kfe_status status = kfe_i_gram_diagonal(s->inner, out);

    for (int64_t i = 0; status == KFE_OK && i < gram->size; i++)
        out[i] += s->overall - 2 * s->row_means[i];
    return status;
}

/* out = v minus its column means; in place is fine. */
static void subtract_means(int64_t n, int64_t k, const double *v, double *out)
{
    for (int64_t j = 0; j < k; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += v[i * k + j];
        mean /= (double)n;
        for (int64_t i = 0; i < n; i++)
            out[i * k + j] = v[i * k + j] - mean;
    }
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const centred_state *s = gram->state;
    double *shifted = NULL;

    KFE_ALLOC(gram->ctx, shifted, gram->size * k);
    subtract_means(gram->size, k, v, shifted);
    KFE_TRY(kfe_i_gram_times(s->inner, shifted, k, out));
    subtract_means(gram->size, k, out, out);
cleanup:
    kfe_i_free(gram->ctx, shifted);
    return status;
}

static void release(kfe_i_gram *gram)
{
    kfe_i_free(gram->ctx, ((centred_state *)gram->state)->row_means);
}

static const kfe_i_gram_form form = {"centred", block, columns, diagonal, times, NULL, release, 0};

static kfe_status measure_means(centred_state *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->inner->ctx;
    int64_t n = s->inner->size;
    double *uniform = NULL;

    KFE_ALLOC(ctx, s->row_means, n);
    KFE_ALLOC(ctx, uniform, n);
    for (int64_t i = 0; i < n; i++)
        uniform[i] = 1 / (double)n;
    KFE_TRY(kfe_i_gram_times(s->inner, uniform, 1, s->row_means));
    for (int64_t i = 0; i < n; i++)
        s->overall += s->row_means[i] / (double)n;
cleanup:
    kfe_i_free(ctx, uniform);
    return status;
}

kfe_status kfe_i_gram_centred(kfe_context *ctx, const kfe_i_gram *inner, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_gram_new(ctx, &form, inner->size, sizeof(centred_state), out));
    centred_state *s = (*out)->state;
    s->inner = inner;
    KFE_TRY(measure_means(s));
cleanup:
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}

const double *kfe_i_gram_row_means(const kfe_i_gram *centred, double *overall)
{
    const centred_state *s = centred->state;

    if (centred->form != &form)
        return NULL;
    *overall = s->overall;
    return s->row_means;
}
