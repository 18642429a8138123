/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator of a kernel matrix in a device's memory, in double or single precision, and of one that is too large for it: as many rows
 * as fit are kept in single precision, and the rest is computed in single precision at every pass. policy.c makes them for many
 * passes. All borrow the operator that computes (fused.c), which answers whatever the matrix does not.
 */
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "gram/device/form.h"

typedef struct kept_state {
    const kfe_i_gram *source; /* fused.c */
    kfe_i_gram *owned;        /* the same, if it is freed with this operator */
    kfe_i_device *device;
    kfe_device_matrix matrix;  /* its first rows; address 0: computed, or taken away */
    kfe_device_type precision; /* of products for which it is computed */
} kept_state;

/* Whether the whole matrix is there. */
static int is_whole(const kept_state *s)
{
    return s->matrix.address && s->matrix.rows == s->matrix.cols;
}

/* ---- entries ---- */

/* Where rows or columns are not consecutive, they are gathered first. */
static kfe_device_status download_entries(const kept_state *s, kfe_i_places rows, kfe_i_places cols,
                                          double *out, int64_t stride)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *table = s->device->table;
    kfe_device_matrix part =
        kfe_device_part(s->matrix, rows.index ? 0 : rows.first, rows.index ? s->matrix.rows : rows.count,
                        cols.index ? 0 : cols.first, cols.index ? s->matrix.cols : cols.count);
    kfe_device_matrix piece = {0};

    if (!rows.index && !cols.index)
        return table->download(s->device->handle, &part, out, stride);
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, rows.count, cols.count, KFE_DEVICE_F64, &piece));
    KFE_DEVICE_TRY(table->gather(s->device->handle, &part, rows.index, cols.index, &piece));
    KFE_DEVICE_TRY(table->download(s->device->handle, &piece, out, stride));
cleanup:
    kfe_i_device_matrix_free(s->device, &piece);
    return status;
}

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    const kept_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (!is_whole(s) || kfe_i_device_leaves_to_cpu(s->device, download_entries(s, rows, cols, out, stride),
                                                   "kernel matrix", &status))
        return kfe_i_gram_entries(s->source, rows, cols, out, stride);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    return kfe_i_gram_diagonal(((const kept_state *)gram->state)->source, out);
}

/* ---- products ---- */

/* With the first rows S and the square L behind and below them:
 * the first rows of the product are S·v, the others the last columns of S, transposed, times the first rows of v, plus L times the others. */
static kfe_device_status multiply_parts(const kept_state *s, const kfe_device_matrix *v,
                                        const kfe_device_matrix *out)
{
    const kfe_device_table *table = s->device->table;
    kfe_device *handle = s->device->handle;
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t kept = s->matrix.rows;
    int64_t left = s->matrix.cols - kept;
    kfe_device_matrix beside = kfe_device_part(s->matrix, 0, kept, kept, left);
    kfe_device_matrix v_first = kfe_device_part(*v, 0, kept, 0, v->cols);
    kfe_device_matrix v_last = kfe_device_part(*v, kept, left, 0, v->cols);
    kfe_device_matrix out_first = kfe_device_part(*out, 0, kept, 0, v->cols);
    kfe_device_matrix out_last = kfe_device_part(*out, kept, left, 0, v->cols);

    KFE_DEVICE_TRY(table->gemm(handle, 0, 0, 1, &s->matrix, v, 0, &out_first));
    KFE_DEVICE_TRY(table->gemm(handle, 1, 0, 1, &beside, &v_first, 0, &out_last));
    KFE_DEVICE_TRY(kfe_i_fused_times_from(s->source, KFE_DEVICE_F32, kept, 1, &v_last, &out_last));
cleanup:
    return status;
}

static kfe_device_status multiply(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                  const kfe_device_matrix *out)
{
    const kept_state *s = gram->state;

    if (is_whole(s))
        return s->device->table->gemm(s->device->handle, 0, 0, 1, &s->matrix, v, 0, out);
    if (s->matrix.address)
        return multiply_parts(s, v, out);
    return kfe_i_fused_times(s->source, s->precision, v, out);
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const kept_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (k == 0)
        return KFE_OK;
    s->device->stage = "multiplying with the kernel matrix";
    if (!kfe_i_fused_device(s->source) ||
        kfe_i_device_leaves_to_cpu(s->device, kfe_i_device_times_host(s->device, gram, v, k, out),
                                   "kernel products", &status))
        return kfe_i_gram_times(s->source, v, k, out);
    return status;
}

/* ---- on the device ---- */

static kfe_i_device *device_of(const kfe_i_gram *gram)
{
    return kfe_i_fused_device(((const kept_state *)gram->state)->source);
}

static int is_wide(const kept_state *s)
{
    return is_whole(s) && s->matrix.type == KFE_DEVICE_F64;
}

static kfe_device_status fill(const kfe_i_gram *gram, double scale, int lower, const kfe_device_matrix *out)
{
    const kept_state *s = gram->state;

    if (is_wide(s))
        return s->device->table->add(s->device->handle, scale, &s->matrix, 0, out);
    return s->source->form->device->fill(s->source, scale, lower, out);
}

static kfe_device_status gather_columns(const kfe_i_gram *gram, double scale, const int64_t *index,
                                        const kfe_device_matrix *out)
{
    const kept_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_OK;

    if (!is_wide(s))
        return s->source->form->device->columns(s->source, scale, index, out);
    KFE_DEVICE_TRY(s->device->table->gather(s->device->handle, &s->matrix, index, NULL, out));
    KFE_DEVICE_TRY(kfe_i_device_scale_rows(s->device, scale, out));
cleanup:
    return status;
}

static kfe_device_matrix take(const kfe_i_gram *gram, kfe_device_type type)
{
    kept_state *s = gram->state;
    kfe_device_matrix taken = {0};

    if (is_whole(s) && s->matrix.type == type) {
        taken = s->matrix;
        s->matrix = (kfe_device_matrix){0};
    }
    return taken;
}

static const kfe_i_device_calls on_device = {
    .device = device_of, .fill = fill, .columns = gather_columns, .times = multiply, .take = take};

static void release(kfe_i_gram *gram)
{
    kept_state *s = gram->state;

    kfe_i_device_matrix_free(s->device, &s->matrix);
    kfe_i_gram_free(s->owned);
}

#define KFE_KEPT_CALLS                                                                                       \
    .entries = entries, .diagonal = diagonal, .times = times, .device = &on_device, .release = release,      \
    KFE_DEVICE_SOLUTIONS

static const kfe_i_gram_form form_f64 = {.name = "stored on the device in double precision", KFE_KEPT_CALLS};
static const kfe_i_gram_form form_f32 = {.name = "stored on the device in single precision", KFE_KEPT_CALLS};
static const kfe_i_gram_form form_partial = {
    .name = "some rows stored on the device in single precision, the others computed", KFE_KEPT_CALLS};
static const kfe_i_gram_form form_single = {.name = "computed on the device in single precision, not stored",
                                            KFE_KEPT_CALLS};

/* ---- making one ---- */

static double bytes_of(const kfe_i_gram *gram, kfe_device_type type)
{
    return (double)type * (double)gram->size * (double)gram->size;
}

/* Needed in addition to the matrix: vectors, or a panel of values in double precision. */
static double bytes_beside(const kfe_i_gram *gram)
{
    return 8.0 * (double)gram->size * (double)(2 * kfe_i_device_panel_rows(gram->size) + 64);
}

static int fits(const kfe_i_gram *source, kfe_device_type type, double reserve)
{
    kfe_i_device *device = kfe_i_fused_device(source);
    double beside = reserve > bytes_beside(source) ? reserve : bytes_beside(source);

    return device && bytes_of(source, type) + beside <= kfe_i_device_room(device);
}

int kfe_i_device_wide_fits(const kfe_i_gram *source, double reserve)
{
    return fits(source, KFE_DEVICE_F64, reserve);
}

/* Rows in single precision that fit beside what products need; 0: not worth it. A Gaussian kernel of few columns is computed faster
 * than it is read. */
static int64_t rows_that_fit(const kfe_i_gram *source, double reserve)
{
    enum { WORTH_IT = 20 }; /* at least a twentieth of the rows, a tenth of the matrix */
    double beside = reserve > bytes_beside(source) ? reserve : bytes_beside(source);
    kfe_i_device *device = kfe_i_fused_device(source);

    if (!device || kfe_i_fused_is_fast(source))
        return 0;
    double rows = (kfe_i_device_room(device) - beside) / (4.0 * (double)source->size);
    return rows < (double)source->size / WORTH_IT ? 0 : kfe_i_least((int64_t)rows, source->size);
}

static kfe_device_status fill_kept(kept_state *s, kfe_device_type type, int64_t rows)
{
    kfe_device_status status = KFE_DEVICE_OK;

    s->device->stage = "computing the kernel matrix";
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, rows, s->source->size, type, &s->matrix));
    KFE_DEVICE_TRY(rows < s->source->size ? kfe_i_device_fill_rounded(s->source, 1, 0, &s->matrix)
                                          : s->source->form->device->fill(s->source, 1, 0, &s->matrix));
cleanup:
    return status;
}

/* An operator of this form that keeps this number of rows, in this type; *out NULL if there was less memory than expected. */
static kfe_status make(const kfe_i_gram *source, const kfe_i_gram_form *form, kfe_device_type type,
                       int64_t rows, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_OK;

    KFE_TRY(kfe_i_gram_new(source->ctx, form, source->size, sizeof(kept_state), out));
    kept_state *s = (*out)->state;
    s->source = source;
    s->device = kfe_i_fused_device(source);
    s->precision = rows == 0 ? type : KFE_DEVICE_F64;
    if (type == KFE_DEVICE_F32)
        (*out)->precision = &kfe_i_single;
    if (rows > 0)
        result = fill_kept(s, type, rows);
    if (result != KFE_DEVICE_OK && result != KFE_DEVICE_NO_MEMORY)
        KFE_TRY(kfe_i_device_status(s->device, result));
cleanup:
    if (status != KFE_OK || result != KFE_DEVICE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}

kfe_status kfe_i_device_keep(const kfe_i_gram *source, int type, double reserve, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    int64_t n = source->size;

    *out = NULL;
    if (type != KFE_DEVICE_F32 && fits(source, KFE_DEVICE_F64, reserve))
        KFE_TRY(make(source, &form_f64, KFE_DEVICE_F64, n, out));
    if (!*out && type != KFE_DEVICE_F64 && fits(source, KFE_DEVICE_F32, reserve))
        KFE_TRY(make(source, &form_f32, KFE_DEVICE_F32, n, out));
    if (!*out && type == 0 && rows_that_fit(source, reserve) > 0)
        KFE_TRY(make(source, &form_partial, KFE_DEVICE_F32, rows_that_fit(source, reserve), out));
    if (!*out && type == 0 && kfe_i_fused_device(source))
        KFE_TRY(make(source, &form_single, KFE_DEVICE_F32, 0, out));
cleanup:
    return status;
}

kfe_status kfe_i_device_keep_owned(kfe_i_gram **source, int single, kfe_i_gram **out)
{
    kfe_status status = kfe_i_device_keep(*source, single ? KFE_DEVICE_F32 : KFE_DEVICE_F64, 0, out);

    if (*out) {
        ((kept_state *)(*out)->state)->owned = *source;
        *source = NULL;
    }
    return status;
}

/* ---- for operators of all forms ---- */

kfe_i_device *kfe_i_gram_device(const kfe_i_gram *gram, const kfe_i_gram **alone)
{
    *alone = kfe_i_gram_alone(gram);
    return (*alone)->form->device ? (*alone)->form->device->device(*alone) : NULL;
}

/* 512 rows, or a sixteenth of a small matrix. */
int64_t kfe_i_device_panel_rows(int64_t n)
{
    return n > 8192 ? 512 : n / 16 + 1;
}

kfe_device_status kfe_i_device_scale_rows(const kfe_i_device *device, double scale,
                                          const kfe_device_matrix *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t c = 0; scale != 1 && c < out->rows && status == KFE_DEVICE_OK; c++) {
        kfe_device_matrix row = kfe_device_part(*out, c, 1, 0, out->cols);
        status = device->table->scale(device->handle, &row, &scale, NULL);
    }
    return status;
}

kfe_device_status kfe_i_device_times_host(kfe_i_device *device, const kfe_i_gram *gram, const double *v,
                                          int64_t k, double *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix vectors = {0};
    kfe_device_matrix product = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, gram->size, k, KFE_DEVICE_F64, &vectors));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, gram->size, k, KFE_DEVICE_F64, &product));
    KFE_DEVICE_TRY(device->table->upload(device->handle, v, k, &vectors));
    KFE_DEVICE_TRY(gram->form->device->times(gram, &vectors, &product));
    KFE_DEVICE_TRY(device->table->download(device->handle, &product, out, k));
cleanup:
    kfe_i_device_matrix_free(device, &vectors);
    kfe_i_device_matrix_free(device, &product);
    return status;
}

kfe_device_rows kfe_i_device_rows(const kfe_i_table *table)
{
    kfe_device_rows rows = {
        .rows = table->rows, .cols = table->cols, .values = table->values, .stride = table->stride};

    if (table->kind == KFE_TABLE_CSR) {
        rows.row_start = table->row_start;
        rows.columns = table->columns;
    }
    return rows;
}
