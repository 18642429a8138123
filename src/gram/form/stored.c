/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a kernel matrix in memory: evaluated once, in double or single precision, or given by the user.
 * Sums are always in double precision. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/dense/thin.h"
#include "gram/gram.h"
#include "kernel/tile/cross.h"

typedef struct stored_state {
    const double *wide; /* n × stride, or NULL */
    float *narrow;      /* n × n, or NULL */
    double *owned;      /* the same memory as `wide`, if the operator owns it */
    int64_t stride;
} stored_state;

/* Fewer entries than SERIAL_ENTRIES are copied by one thread: starting others would take longer. */
enum { PANEL_ROWS = 64, SERIAL_ENTRIES = 1 << 17 };

static void copy_row(const stored_state *s, int64_t i, int64_t col, int64_t cols, double *out)
{
    if (s->wide) {
        memcpy(out, s->wide + i * s->stride + col, (size_t)cols * sizeof *out);
        return;
    }
    for (int64_t j = 0; j < cols; j++)
        out[j] = (double)s->narrow[i * s->stride + col + j];
}

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
#pragma omp parallel for num_threads(kfe_context_threads(gram->ctx)) if (rows * cols >= SERIAL_ENTRIES)
    for (int64_t i = 0; i < rows; i++)
        copy_row(gram->state, row + i, col, cols, out + i * stride);
    return KFE_OK;
}

static double entry(const stored_state *s, int64_t i, int64_t j)
{
    return s->wide ? s->wide[i * s->stride + j] : (double)s->narrow[i * s->stride + j];
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    for (int64_t i = 0; i < gram->size; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] = entry(gram->state, i, index[j]);
    return KFE_OK;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * count + j] = entry(gram->state, index[i], index[j]);
    return KFE_OK;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    for (int64_t i = 0; i < gram->size; i++)
        out[i] = entry(gram->state, i, i);
    return KFE_OK;
}

/* For more vectors than this, GEMM is faster than reading the matrix once for every sixteen of them. */
enum { MANY_VECTORS = 96 };

static kfe_status times_thin(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const stored_state *s = gram->state;
    int64_t n = gram->size;
    double *work = kfe_i_gram_workspace(gram, kfe_i_thin_work(n, n));

    if (!work)
        return kfe_i_lack(gram->ctx);
    memset(out, 0, (size_t)(n * k) * sizeof *out);
    kfe_i_thin_times(gram->ctx, &(kfe_i_thin_matrix){n, n, s->stride, s->wide, s->narrow}, v, k, out, work);
    return KFE_OK;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const stored_state *s = gram->state;

    if (!s->wide || k <= MANY_VECTORS)
        return times_thin(gram, v, k, out);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)gram->size, (blasint)k,
                (blasint)gram->size, 1, s->wide, (blasint)s->stride, v, (blasint)k, 0, out, (blasint)k);
    return KFE_OK;
}

static void release(kfe_i_gram *gram)
{
    stored_state *s = gram->state;
    kfe_i_free(gram->ctx, s->owned);
    kfe_i_free(gram->ctx, s->narrow);
}

static const kfe_i_gram_form form_f64 = {
    .name = "stored in double precision",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
};
static const kfe_i_gram_form form_f32 = {
    .name = "stored in single precision",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
    .single = 1,
};
static const kfe_i_gram_form form_precomputed = {
    .name = "as given",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
};

const double *kfe_i_gram_row(const kfe_i_gram *gram, int64_t index)
{
    const stored_state *s = gram->state;

    assert(index >= 0 && index < gram->size);
    if (gram->form != &form_f64 && gram->form != &form_precomputed)
        return NULL;
    return s->wide + index * s->stride;
}

/* ---- evaluated once ---- */

/* Fills the matrix from tiles whose dot products are in single precision. */
static kfe_status fill_from_tiles(const kfe_i_kernel *kernel, const kfe_i_points *points, float *out)
{
    kfe_status status = KFE_OK;
    kfe_i_points narrowed = *points; /* borrows everything but the narrow copy */

    KFE_TRY(kfe_i_points_narrow(kernel, &narrowed));
    KFE_TRY(kfe_i_self_matrix(points->ctx, kernel, &narrowed, NULL, out));
cleanup:
    kfe_i_free(points->ctx, narrowed.narrow);
    return status;
}

static kfe_status fill_narrow(const kfe_i_gram *source, float *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    int64_t n = source->size;
    double *panel = NULL;

    if (kfe_i_gram_tiles(source, &kernel, &points))
        return fill_from_tiles(kernel, points, out);
    KFE_ALLOC(source->ctx, panel, PANEL_ROWS * n);
    for (int64_t row = 0; row < n; row += PANEL_ROWS) {
        int64_t rows = n - row < PANEL_ROWS ? n - row : PANEL_ROWS;
        KFE_TRY(kfe_i_gram_block(source, row, rows, 0, n, panel, n));
        for (int64_t i = 0; i < rows * n; i++)
            out[row * n + i] = (float)panel[i];
    }
cleanup:
    kfe_i_free(source->ctx, panel);
    return status;
}

kfe_status kfe_i_gram_stored(kfe_context *ctx, const kfe_i_gram *source, int single, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    int64_t n = source->size;
    double bytes = (single ? 4.0 : 8.0) * (double)n * (double)n;

    assert(source->size >= 0);
    KFE_TRY(kfe_i_gram_new(ctx, single ? &form_f32 : &form_f64, n, sizeof(stored_state), out));
    stored_state *s = (*out)->state;
    s->stride = n;
    (*out)->roots = source->roots;
    KFE_TRY(kfe_i_check_stored(ctx, bytes));
    if (single) {
        KFE_ALLOC(ctx, s->narrow, n * n);
        KFE_TRY(fill_narrow(source, s->narrow));
    } else {
        KFE_TRY(kfe_i_gram_materialise(source, &s->owned));
        s->wide = s->owned;
    }
cleanup:
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
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

kfe_status kfe_i_gram_precomputed(kfe_context *ctx, const kfe_i_table *table, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    assert(table->rows == table->cols);
    *out = NULL;
    KFE_TRY(check_symmetric(ctx, table));
    KFE_TRY(kfe_i_gram_new(ctx, &form_precomputed, table->rows, sizeof(stored_state), out));
    stored_state *s = (*out)->state;
    s->wide = table->values;
    s->stride = table->stride;
cleanup:
    return status;
}
