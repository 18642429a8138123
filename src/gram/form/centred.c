/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The centred operator PGP with P = I − eeᵀ/n, for kpca, kpls and other methods that centre in feature space.
 *
 * Entries are G[i,j] − rᵢ − rⱼ + m with row means r and overall mean m. Products need neither: P(G(Pv)) subtracts
 * only the means of vectors.
 *
 * With weights, s stands for e in all of this (gram.h): P = I − ssᵀ/sᵀs, r = Gs/sᵀs, m = sᵀr/sᵀs, and the entries are
 * G[i,j] − sⱼrᵢ − sᵢrⱼ + sᵢsⱼm.
 */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/gram.h"

typedef struct centred_state {
    const kfe_i_gram *inner;
    double *row_means; /* NULL until they are needed, since they cost a pass over the operator */
    double overall;
    double mass; /* n, or sᵀs */
} centred_state;

/* The entry of s, or of the vector of ones. */
static double root_of(const centred_state *s, int64_t i)
{
    return s->inner->roots ? s->inner->roots[i] : 1;
}

static kfe_status measure_means(centred_state *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->inner->ctx;
    int64_t n = s->inner->size;
    double *uniform = NULL;
    double *means = NULL;

    if (s->row_means)
        return KFE_OK;
    KFE_ALLOC(ctx, means, n);
    KFE_ALLOC(ctx, uniform, n);
    for (int64_t i = 0; i < n; i++)
        uniform[i] = root_of(s, i) / s->mass;
    KFE_TRY(kfe_i_gram_times(s->inner, uniform, 1, means));
    s->overall = 0;
    for (int64_t i = 0; i < n; i++)
        s->overall += root_of(s, i) * means[i] / s->mass;
    s->row_means = means;
    means = NULL;
cleanup:
    kfe_i_free(ctx, means);
    kfe_i_free(ctx, uniform);
    return status;
}

/* What centring adds to the entry (i, j). */
static double correction(const centred_state *s, int64_t i, int64_t j)
{
    double si = root_of(s, i);
    double sj = root_of(s, j);

    return si * sj * s->overall - sj * s->row_means[i] - si * s->row_means[j];
}

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    centred_state *s = gram->state;
    kfe_status status = measure_means(s);

    if (status == KFE_OK)
        status = kfe_i_gram_block(s->inner, row, rows, col, cols, out, stride);

    for (int64_t i = 0; status == KFE_OK && s->inner->roots && i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out[i * stride + j] += correction(s, row + i, col + j);
    for (int64_t i = 0; status == KFE_OK && !s->inner->roots && i < rows; i++) {
        double shift = s->overall - s->row_means[row + i];
        for (int64_t j = 0; j < cols; j++)
            out[i * stride + j] += shift - s->row_means[col + j];
    }
    return status;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    centred_state *s = gram->state;
    kfe_status status = measure_means(s);

    if (status == KFE_OK)
        status = kfe_i_gram_columns(s->inner, index, count, out);

    for (int64_t i = 0; status == KFE_OK && i < gram->size; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] += correction(s, i, index[j]);
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    centred_state *s = gram->state;
    kfe_status status = measure_means(s);

    if (status == KFE_OK)
        status = kfe_i_gram_among(s->inner, index, count, out);

    for (int64_t i = 0; status == KFE_OK && i < count; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] += correction(s, index[i], index[j]);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    centred_state *s = gram->state;
    kfe_status status = measure_means(s);

    if (status == KFE_OK)
        status = kfe_i_gram_diagonal(s->inner, out);

    for (int64_t i = 0; status == KFE_OK && i < gram->size; i++)
        out[i] += root_of(s, i) * (root_of(s, i) * s->overall - 2 * s->row_means[i]);
    return status;
}

enum {
    GROUP = 16
}; /* columns of vectors at a time, so that rows are read in order without memory for the means */

/* Fewer rows are shifted by one thread: starting others would take longer. */
enum { SERIAL_ROWS = 4096 };

/* out = v minus its column means; out may be v. */
static void subtract_means(const kfe_context *ctx, int64_t n, int64_t k, const double *v, double *out)
{
    for (int64_t first = 0; first < k; first += GROUP) {
        int64_t count = k - first < GROUP ? k - first : GROUP;
        double means[GROUP] = {0};
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < count; j++)
                means[j] += v[i * k + first + j];
        for (int64_t j = 0; j < count; j++)
            means[j] /= (double)n;
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) if (n >= SERIAL_ROWS)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < count; j++)
                out[i * k + first + j] = v[i * k + first + j] - means[j];
    }
}

/* out = v − s(sᵀv)/sᵀs. */
static void subtract_weighted_means(const centred_state *s, int64_t k, const double *v, double *out)
{
    const double *roots = s->inner->roots;

    for (int64_t first = 0; first < k; first += GROUP) {
        int64_t count = k - first < GROUP ? k - first : GROUP;
        double means[GROUP] = {0};
        for (int64_t i = 0; i < s->inner->size; i++)
            for (int64_t j = 0; j < count; j++)
                means[j] += roots[i] * v[i * k + first + j] / s->mass;
        for (int64_t i = 0; i < s->inner->size; i++)
            for (int64_t j = 0; j < count; j++)
                out[i * k + first + j] = v[i * k + first + j] - roots[i] * means[j];
    }
}

static void centre_vectors(const centred_state *s, int64_t k, const double *v, double *out)
{
    if (s->inner->roots)
        subtract_weighted_means(s, k, v, out);
    else
        subtract_means(s->inner->ctx, s->inner->size, k, v, out);
}

static kfe_status multiply(const kfe_i_gram *gram, int single, const double *v, int64_t k, double *out)
{
    const centred_state *s = gram->state;
    double *shifted = kfe_i_gram_workspace(gram, gram->size * k);
    kfe_status status = kfe_i_lack(gram->ctx);

    if (shifted) {
        centre_vectors(s, k, v, shifted);
        status = (single ? kfe_i_gram_times_single : kfe_i_gram_times)(s->inner, shifted, k, out);
    }
    if (status == KFE_OK)
        centre_vectors(s, k, out, out);
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return multiply(gram, 0, v, k, out);
}

static kfe_status times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return multiply(gram, 1, v, k, out);
}

static void release(kfe_i_gram *gram)
{
    kfe_i_free(gram->ctx, ((centred_state *)gram->state)->row_means);
}

static const kfe_i_gram_form form = {
    .name = "centred",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .times_single = times_single,
    .release = release,
};

kfe_status kfe_i_gram_centred(kfe_context *ctx, const kfe_i_gram *inner, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    assert(inner->size > 0);
    KFE_TRY(kfe_i_gram_new(ctx, &form, inner->size, sizeof(centred_state), out));
    centred_state *s = (*out)->state;
    s->inner = inner;
    s->mass = kfe_i_gram_mass(inner);
    (*out)->roots = inner->roots;
cleanup:
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}

kfe_status kfe_i_gram_row_means(const kfe_i_gram *centred, const double **means, double *overall)
{
    centred_state *s = centred->state;
    kfe_status status = measure_means(s);

    *means = s->row_means;
    *overall = s->overall;
    return status;
}

kfe_status kfe_i_gram_share_means(const kfe_i_gram *from, const kfe_i_gram *to)
{
    kfe_status status = KFE_OK;
    centred_state *source = from->state;
    centred_state *target = to->state;

    assert(from->size == to->size);
    if (target->row_means)
        return KFE_OK;
    KFE_TRY(measure_means(source));
    KFE_ALLOC(to->ctx, target->row_means, to->size);
    memcpy(target->row_means, source->row_means, (size_t)to->size * sizeof *target->row_means);
    target->overall = source->overall;
cleanup:
    return status;
}

const kfe_i_gram *kfe_i_gram_centred_inner(const kfe_i_gram *gram)
{
    return gram->form == &form ? ((const centred_state *)gram->state)->inner : NULL;
}
