/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator of a matrix in memory in double precision, or of some of its rows and columns: evaluated once, given by the user, or the
 * training part of a split in a search over settings. A part is not copied: products read the whole matrix, with zeros for the other
 * rows.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/form.h"
#include "linalg/thin.h"

typedef struct stored_state {
    const double *matrix; /* all × all, rows `stride` apart */
    int64_t all, stride;
    const int64_t *index;     /* the rows and columns of the part; NULL: all */
    double *owned;            /* the same memory as `matrix`, if the operator owns it */
    double *padded, *product; /* all × width, for a part; kept between calls */
    int64_t width;
} stored_state;

/* Fewer entries than SERIAL_ENTRIES are copied by one thread: starting others would take longer. */
enum { SERIAL_ENTRIES = 1 << 17 };

/* ---- entries ---- */

/* The place in the matrix of row or column i of the operator. */
static int64_t place_of(const stored_state *s, int64_t i)
{
    return s->index ? s->index[i] : i;
}

static void copy_row(const stored_state *s, int64_t i, const kfe_i_places *cols, double *out)
{
    const double *row = s->matrix + place_of(s, i) * s->stride;

    if (!s->index && !cols->index) {
        memcpy(out, row + cols->first, (size_t)cols->count * sizeof *out);
        return;
    }
    for (int64_t j = 0; j < cols->count; j++)
        out[j] = row[place_of(s, kfe_i_place(cols, j))];
}

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
#pragma omp parallel for num_threads(kfe_context_threads(gram->ctx)) if (rows.count * cols.count >=          \
                                                                         SERIAL_ENTRIES)
    for (int64_t i = 0; i < rows.count; i++)
        copy_row(gram->state, kfe_i_place(&rows, i), &cols, out + i * stride);
    return KFE_OK;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    const stored_state *s = gram->state;

    for (int64_t i = 0; i < gram->size; i++)
        out[i] = s->matrix[place_of(s, i) * (s->stride + 1)];
    return KFE_OK;
}

/* ---- products ---- */

/* For more vectors than this, GEMM is faster than reading the matrix once for every sixteen of them. */
enum { MANY_VECTORS = 96 };

/* out (all × k) = matrix·v for v (all × k). */
static kfe_status times_matrix(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const stored_state *s = gram->state;
    blasint n = (blasint)s->all;

    if (!s->index && k > MANY_VECTORS) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, (blasint)k, n, 1, s->matrix,
                    (blasint)s->stride, v, (blasint)k, 0, out, (blasint)k);
        return KFE_OK;
    }
    double *work = kfe_i_gram_workspace(gram, kfe_i_thin_work(s->all, s->all));
    if (!work)
        return kfe_i_lack(gram->ctx);
    memset(out, 0, (size_t)(s->all * k) * sizeof *out);
    kfe_i_thin_times(gram->ctx, &(kfe_i_thin_matrix){s->all, s->all, s->stride, s->matrix, NULL}, v, k, out,
                     work);
    return KFE_OK;
}

static kfe_status reserve(const kfe_i_gram *gram, int64_t k)
{
    kfe_status status = KFE_OK;
    stored_state *s = gram->state;

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
    const stored_state *s = gram->state;

    KFE_TRY(reserve(gram, k));
    memset(s->padded, 0, (size_t)(s->all * k) * sizeof *s->padded);
    for (int64_t i = 0; i < gram->size; i++)
        memcpy(s->padded + place_of(s, i) * k, v + i * k, (size_t)k * sizeof *v);
    KFE_TRY(times_matrix(gram, s->padded, k, out));
cleanup:
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const stored_state *s = gram->state;

    if (!s->index)
        return times_matrix(gram, v, k, out);
    KFE_TRY(reserve(gram, k));
    KFE_TRY(expand(gram, v, k, s->product));
    for (int64_t i = 0; i < gram->size; i++)
        memcpy(out + i * k, s->product + s->index[i] * k, (size_t)k * sizeof *out);
cleanup:
    return status;
}

static const double *rows_of(const kfe_i_gram *gram, int64_t *stride)
{
    const stored_state *s = gram->state;

    *stride = s->stride;
    return s->matrix;
}

/* It is kept already. */
static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double beside, kfe_i_kept *out)
{
    const stored_state *s = gram->state;

    (void)how;
    (void)beside;
    if (!s->index)
        out->rows = rows_of(gram, &out->stride);
    return KFE_OK;
}

static void release(kfe_i_gram *gram)
{
    stored_state *s = gram->state;

    kfe_i_free(gram->ctx, s->owned);
    kfe_i_free(gram->ctx, s->padded);
    kfe_i_free(gram->ctx, s->product);
}

#define KFE_STORED_CALLS                                                                                     \
    .entries = entries, .diagonal = diagonal, .times = times, .expand = expand, .keep = keep,                \
    .release = release

static const kfe_i_gram_form form_stored = {
    .name = "stored in double precision", KFE_STORED_CALLS, .rows = rows_of};
static const kfe_i_gram_form form_given = {.name = "as given", KFE_STORED_CALLS, .rows = rows_of};
static const kfe_i_gram_form form_part = {.name = "part of a stored matrix", KFE_STORED_CALLS};

/* ---- evaluated once ---- */

kfe_status kfe_i_gram_stored(kfe_context *ctx, const kfe_i_gram *source, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t n = source->size;

    KFE_TRY(kfe_i_gram_new(ctx, &form_stored, n, sizeof(stored_state), out));
    stored_state *s = (*out)->state;
    kfe_i_gram_inherit(*out, source);
    (*out)->processes = 1;
    KFE_TRY(kfe_i_check_stored(ctx, 8.0 * (double)n * (double)n));
    KFE_TRY(kfe_i_gram_materialise(source, &s->owned));
    s->matrix = s->owned;
    s->all = s->stride = n;
cleanup:
    return kfe_i_gram_made(status, out);
}

/* ---- given ---- */

/* A kernel matrix that was written to a file in decimal may differ from its transpose in the last digits. */
#define KFE_SYMMETRY_TOLERANCE 1e-8

static kfe_status check_symmetric(kfe_context *ctx, const kfe_i_table *table)
{
    double largest = 0;

    for (int64_t i = 0; i < table->rows; i++)
        largest = fmax(largest, fabs(table->values[i * table->stride + i]));
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < i; j++) {
            double lower = table->values[i * table->stride + j];
            double upper = table->values[j * table->stride + i];
            if (fabs(lower - upper) > KFE_SYMMETRY_TOLERANCE * (largest + fabs(lower)))
                return kfe_i_fail(
                    ctx, KFE_EINPUT,
                    "a precomputed kernel must be symmetric, but row %lld, column %lld is %g and row "
                    "%lld, column %lld is %g",
                    (long long)i + 1, (long long)j + 1, lower, (long long)j + 1, (long long)i + 1, upper);
        }
    return KFE_OK;
}

static kfe_status borrow(kfe_context *ctx, const kfe_i_gram_form *form, stored_state state, int64_t size,
                         kfe_i_gram **out)
{
    kfe_status status = kfe_i_gram_new(ctx, form, size, sizeof state, out);

    if (status == KFE_OK)
        *(stored_state *)(*out)->state = state;
    return status;
}

kfe_status kfe_i_gram_precomputed(kfe_context *ctx, const kfe_i_table *table, kfe_i_gram **out)
{
    kfe_status status = check_symmetric(ctx, table);

    assert(table->rows == table->cols);
    *out = NULL;
    if (status != KFE_OK)
        return status;
    return borrow(ctx, &form_given,
                  (stored_state){.matrix = table->values, .all = table->rows, .stride = table->stride},
                  table->rows, out);
}

kfe_status kfe_i_gram_subset(kfe_context *ctx, int64_t all, const double *matrix, const int64_t *index,
                             int64_t count, kfe_i_gram **out)
{
    assert(!index || kfe_i_all_below(index, count, all));
    return borrow(ctx, &form_part,
                  (stored_state){.matrix = matrix, .all = all, .stride = all, .index = index}, count, out);
}
