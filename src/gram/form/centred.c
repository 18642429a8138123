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
#include "gram/form/centred.h"

#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"

typedef struct centred_state {
    const kfe_i_gram *inner;
    kfe_i_gram *owned; /* the same, if it is freed with this operator */
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

/* What centring adds to the entries of row i. */
static void correct_row(const centred_state *s, int64_t i, const kfe_i_places *cols, double *out)
{
    double si = root_of(s, i);
    double shift = si * s->overall - s->row_means[i];

    if (!s->inner->roots)
        for (int64_t j = 0; j < cols->count; j++)
            out[j] += shift - s->row_means[kfe_i_place(cols, j)];
    else
        for (int64_t j = 0; j < cols->count; j++) {
            int64_t col = kfe_i_place(cols, j);
            out[j] += shift * root_of(s, col) - si * s->row_means[col];
        }
}

kfe_status kfe_i_centred_entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                                 int64_t stride)
{
    kfe_status status = KFE_OK;
    centred_state *s = gram->state;

    KFE_TRY(measure_means(s));
    KFE_TRY(kfe_i_gram_entries(s->inner, rows, cols, out, stride));
    for (int64_t i = 0; i < rows.count; i++)
        correct_row(s, kfe_i_place(&rows, i), &cols, out + i * stride);
cleanup:
    return status;
}

kfe_status kfe_i_centred_diagonal(const kfe_i_gram *gram, double *out)
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
    kfe_status status;

    if (!shifted)
        return kfe_i_lack(gram->ctx);
    centre_vectors(s, k, v, shifted);
    status = (single ? kfe_i_gram_times_single : kfe_i_gram_times)(s->inner, shifted, k, out);
    if (status == KFE_OK)
        centre_vectors(s, k, out, out);
    return status;
}

kfe_status kfe_i_centred_times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return multiply(gram, 0, v, k, out);
}

kfe_status kfe_i_centred_times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return multiply(gram, 1, v, k, out);
}

/* ---- asked of the operator inside ---- */

static const kfe_i_gram *inner_of(const kfe_i_gram *centred)
{
    return ((const centred_state *)centred->state)->inner;
}

const kfe_i_gram *kfe_i_centred_inner(const kfe_i_gram *centred)
{
    return inner_of(centred);
}

/* The entries of PGP may be much smaller than those of G, which have the rounding errors: 1 for a wide Gaussian. */
kfe_status kfe_i_centred_largest(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_largest(inner_of(gram), out);
}

/* Without the pass for the means. */
kfe_status kfe_i_centred_column_seconds(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_column_seconds(inner_of(gram), out);
}

int64_t kfe_i_centred_rank_bound(const kfe_i_gram *gram)
{
    return kfe_i_gram_rank_bound(inner_of(gram));
}

/* Copies the row means of `from` to `to`, a centred operator over the same matrix, which saves it a pass. */
static kfe_status share_means(const kfe_i_gram *from, const kfe_i_gram *to)
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

kfe_status kfe_i_centred_keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kept inside = {0};
    kfe_i_gram *made = NULL;

    KFE_TRY(kfe_i_gram_keep(inner_of(gram), how, reserve, &inside));
    if (!inside.stored)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_centred(gram->ctx, inside.stored, &made));
    ((centred_state *)made->state)->owned = inside.stored;
    inside.stored = NULL;
    if (inside.gram == inside.exact)
        KFE_TRY(share_means(made, gram));
    kfe_i_kept_take(out, made);
    made = NULL;
cleanup:
    kfe_i_gram_free(made);
    kfe_i_gram_keep_free(&inside);
    return status;
}

void kfe_i_centred_release(kfe_i_gram *gram)
{
    centred_state *s = gram->state;

    kfe_i_free(gram->ctx, s->row_means);
    kfe_i_gram_free(s->owned);
}

/* ---- making one ---- */

static const kfe_i_gram_form form = {.name = "centred", KFE_CENTRED_CALLS};

kfe_status kfe_i_centred_new(const kfe_i_gram *inner, const kfe_i_gram_form *own_form, kfe_i_gram **out)
{
    kfe_status status =
        kfe_i_gram_new(inner->ctx, own_form ? own_form : &form, inner->size, sizeof(centred_state), out);

    if (status != KFE_OK)
        return status;
    *(centred_state *)(*out)->state = (centred_state){.inner = inner, .mass = kfe_i_gram_mass(inner)};
    kfe_i_gram_inherit(*out, inner);
    return KFE_OK;
}

kfe_status kfe_i_gram_row_means(const kfe_i_gram *centred, const double **means, double *overall)
{
    centred_state *s = centred->state;
    kfe_status status = measure_means(s);

    *means = s->row_means;
    *overall = s->overall;
    return status;
}
