/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator of a kernel matrix in a device's memory, in double or single precision, and of one that is too large for it: as many rows
 * as fit are kept in single precision, and the rest is computed in single precision at every pass. policy.c makes them for many
 * passes. All borrow the operator that computes (fused.c), which answers whatever the matrix does not.
 */
#include <string.h>

#include "core/least.h"
#include "core/memory.h"
#include "gram/device/shared.h"

typedef struct kept_state {
    const kfe_i_gram *source; /* fused.c */
    kfe_i_gram *owned;        /* the same, if it is freed with this operator */
    kfe_i_device *device;
    kfe_device_matrix matrix; /* its first rows; address 0: computed in single precision, or taken away */
} kept_state;

static const kfe_i_gram_form form_f64;
static const kfe_i_gram_form form_f32;
static const kfe_i_gram_form form_partial;
static const kfe_i_gram_form form_single;

/* Whether the whole matrix is there. */
static int is_whole(const kept_state *s)
{
    return s->matrix.address && s->matrix.rows == s->matrix.cols;
}

/* Whether the source must answer: the device gives up on the matrix. */
static int must_ask_source(const kept_state *s, kfe_device_status result, const char *what,
                           kfe_status *status)
{
    *status = KFE_OK;
    if (result == KFE_DEVICE_OK)
        return 0;
    if (kfe_i_device_gives_up(s->device, result, what))
        return 1;
    *status = kfe_i_device_status(s->device, result);
    return 0;
}

/* ---- reading ---- */

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const kept_state *s = gram->state;
    kfe_device_matrix part = kfe_device_part(s->matrix, row, rows, col, cols);
    kfe_status status = KFE_OK;

    if (!is_whole(s) || must_ask_source(s, s->device->table->download(s->device->handle, &part, out, stride),
                                        "kernel matrix", &status))
        return kfe_i_gram_block(s->source, row, rows, col, cols, out, stride);
    return status;
}

static kfe_device_status download_gathered(const kept_state *s, const int64_t *rows, int64_t count_rows,
                                           const int64_t *cols, int64_t count, double *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix piece = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, count_rows, count, KFE_DEVICE_F64, &piece));
    KFE_DEVICE_TRY(s->device->table->gather(s->device->handle, &s->matrix, rows, cols, &piece));
    KFE_DEVICE_TRY(s->device->table->download(s->device->handle, &piece, out, count));
cleanup:
    kfe_i_device_matrix_free(s->device, &piece);
    return status;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const kept_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (!is_whole(s) || must_ask_source(s, download_gathered(s, NULL, gram->size, index, count, out),
                                        "kernel columns", &status))
        return kfe_i_gram_columns(s->source, index, count, out);
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const kept_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (!is_whole(s) ||
        must_ask_source(s, download_gathered(s, index, count, index, count, out), "kernel values", &status))
        return kfe_i_gram_among(s->source, index, count, out);
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

    if (gram->form == &form_partial)
        return multiply_parts(s, v, out);
    if (s->matrix.address)
        return s->device->table->gemm(s->device->handle, 0, 0, 1, &s->matrix, v, 0, out);
    return kfe_i_fused_times(s->source, gram->form == &form_single ? KFE_DEVICE_F32 : KFE_DEVICE_F64, v, out);
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const kept_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (k == 0)
        return KFE_OK;
    s->device->stage = "multiplying with the kernel matrix";
    if (!kfe_i_fused_device(s->source) ||
        must_ask_source(s, kfe_i_device_times_host(gram, v, k, out), "kernel products", &status))
        return kfe_i_gram_times(s->source, v, k, out);
    return status;
}

static void release(kfe_i_gram *gram)
{
    kept_state *s = gram->state;

    kfe_i_device_matrix_free(s->device, &s->matrix);
    kfe_i_gram_free(s->owned);
}

static const kfe_i_gram_form form_f64 = {
    .name = "stored on the device in double precision",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
};
static const kfe_i_gram_form form_f32 = {
    .name = "stored on the device in single precision",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
    .single = 1,
};
static const kfe_i_gram_form form_partial = {
    .name = "some rows stored on the device in single precision, the others computed",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
    .single = 1,
};
static const kfe_i_gram_form form_single = {
    .name = "computed on the device in single precision, not stored",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .release = release,
    .single = 1,
};

static int is_kept(const kfe_i_gram *gram)
{
    return gram->form == &form_f64 || gram->form == &form_f32 || gram->form == &form_partial ||
           gram->form == &form_single;
}

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

static kfe_device_status fill_rounded(const kfe_i_gram *gram, double scale, int lower,
                                      const kfe_device_matrix *out);

static kfe_device_status fill_kept(kept_state *s, kfe_device_type type, int64_t rows)
{
    kfe_device_status status = KFE_DEVICE_OK;

    s->device->stage = "computing the kernel matrix";
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, rows, s->source->size, type, &s->matrix));
    KFE_DEVICE_TRY(rows < s->source->size ? fill_rounded(s->source, 1, 0, &s->matrix)
                                          : kfe_i_device_fill(s->source, 1, 0, &s->matrix));
cleanup:
    return status;
}

/* An operator of this form that keeps so many rows, in this type; *out NULL if memory was less than it seemed. */
static kfe_status make(const kfe_i_gram *source, const kfe_i_gram_form *form, kfe_device_type type,
                       int64_t rows, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_OK;

    KFE_TRY(kfe_i_gram_new(source->ctx, form, source->size, sizeof(kept_state), out));
    kept_state *s = (*out)->state;
    s->source = source;
    s->device = kfe_i_fused_device(source);
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

kfe_status kfe_i_device_keep_owned(kfe_i_gram **source, int type, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    if (kfe_i_fused_device(*source))
        status = kfe_i_device_keep(*source, type, 0, out);
    if (*out) {
        ((kept_state *)(*out)->state)->owned = *source;
        *source = NULL;
    }
    return status;
}

kfe_device_matrix kfe_i_device_take(const kfe_i_gram *gram, kfe_device_type type)
{
    kept_state *s = gram->state;
    kfe_device_matrix taken = {0};

    if (is_kept(gram) && is_whole(s) && s->matrix.type == type) {
        taken = s->matrix;
        s->matrix = (kfe_device_matrix){0};
    }
    return taken;
}

/* ---- for the other files ---- */

kfe_i_device *kfe_i_gram_device(const kfe_i_gram *gram)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);

    if (inner)
        return kfe_i_gram_device(inner);
    if (kfe_i_device_subset_device(gram))
        return kfe_i_device_subset_device(gram);
    return kfe_i_fused_device(is_kept(gram) ? ((const kept_state *)gram->state)->source : gram);
}

/* 512 rows, or a sixteenth of a small matrix. */
int64_t kfe_i_device_panel_rows(int64_t n)
{
    return n > 8192 ? 512 : n / 16 + 1;
}

/* Panels of values in double precision, each rounded into its place; of the first rows if `out` has fewer. */
static kfe_device_status fill_rounded(const kfe_i_gram *gram, double scale, int lower,
                                      const kfe_device_matrix *out)
{
    kfe_i_device *device = kfe_i_fused_device(gram);
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix panel = {0};
    int64_t step = kfe_i_device_panel_rows(gram->size);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, step, gram->size, KFE_DEVICE_F64, &panel));
    for (int64_t row = 0; row < out->rows; row += step) {
        int64_t rows = out->rows - row < step ? out->rows - row : step;
        int64_t cols = lower ? row + rows : gram->size;
        kfe_device_matrix from = kfe_device_part(panel, 0, rows, 0, cols);
        kfe_device_matrix to = kfe_device_part(*out, row, rows, 0, cols);
        KFE_DEVICE_TRY(kfe_i_fused_fill(gram, scale, row, &from, 0));
        KFE_DEVICE_TRY(device->table->copy(device->handle, &from, &to));
    }
cleanup:
    kfe_i_device_matrix_free(device, &panel);
    return status;
}

kfe_device_status kfe_i_device_fill(const kfe_i_gram *gram, double scale, int lower,
                                    const kfe_device_matrix *out)
{
    const kept_state *s = gram->state;
    kfe_i_device *device = kfe_i_gram_device(gram);

    if (kfe_i_device_subset_device(gram))
        return kfe_i_device_subset_fill(gram, scale, out);
    if (is_kept(gram) && s->matrix.address && s->matrix.type == KFE_DEVICE_F64)
        return device->table->add(device->handle, scale, &s->matrix, 0, out);
    if (is_kept(gram))
        gram = s->source;
    if (out->type == KFE_DEVICE_F32)
        return fill_rounded(gram, scale, lower, out);
    return kfe_i_fused_fill(gram, scale, 0, out, lower ? KFE_DEVICE_LOWER : KFE_DEVICE_MIRROR);
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

kfe_device_status kfe_i_device_columns(const kfe_i_gram *gram, double scale, const int64_t *index,
                                       const kfe_device_matrix *out)
{
    const kept_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_OK;

    if (kfe_i_device_subset_device(gram))
        return kfe_i_device_subset_columns(gram, scale, index, out);
    if (!is_kept(gram))
        return kfe_i_fused_columns(gram, scale, index, out);
    if (!s->matrix.address || s->matrix.type != KFE_DEVICE_F64)
        return kfe_i_fused_columns(s->source, scale, index, out);
    KFE_DEVICE_TRY(s->device->table->gather(s->device->handle, &s->matrix, index, NULL, out));
    KFE_DEVICE_TRY(kfe_i_device_scale_rows(s->device, scale, out));
cleanup:
    return status;
}

kfe_device_status kfe_i_device_times(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                     const kfe_device_matrix *out)
{
    if (kfe_i_device_subset_device(gram))
        return kfe_i_device_subset_times(gram, v, out);
    return is_kept(gram) ? multiply(gram, v, out) : kfe_i_fused_times(gram, KFE_DEVICE_F64, v, out);
}

kfe_device_status kfe_i_device_times_host(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    kfe_i_device *device = kfe_i_gram_device(gram);
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix vectors = {0};
    kfe_device_matrix product = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, gram->size, k, KFE_DEVICE_F64, &vectors));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, gram->size, k, KFE_DEVICE_F64, &product));
    KFE_DEVICE_TRY(device->table->upload(device->handle, v, k, &vectors));
    KFE_DEVICE_TRY(kfe_i_device_times(gram, &vectors, &product));
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

/* ---- the operator of a fit ---- */

/* Why these kernels stay on the CPU; NULL: they need not. */
static const char *reason_for_cpu(const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                  const kfe_i_gram *gram)
{
    if (kfe_i_gram_factor(gram))
        return "a linear kernel works on the columns";
    for (int64_t m = 0; m < kernels->count; m++) {
        if (!kernels->items[m].def->describe)
            return kernels->items[m].def->name;
        if (views[kernels->items[m].view].kind == KFE_TABLE_TEXT)
            return "strings";
    }
    return NULL;
}

kfe_status kfe_i_device_wrap(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                             kfe_i_gram **gram)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = NULL;
    double n = (double)(*gram)->size;
    const char *reason = NULL;

    KFE_TRY(kfe_i_device_get(ctx, n * n, &device));
    if (!device)
        return KFE_OK;
    reason = reason_for_cpu(kernels, views, *gram);
    if (reason) {
        kfe_i_log(ctx, KFE_LOG_INFO, "kernel matrix: on the CPU, not on %s (%s)", device->name, reason);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_fused_new(device, kernels, views, gram));
cleanup:
    return status;
}
