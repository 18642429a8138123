/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator whose kernel values are computed on a device at every pass and never stored: Σ weight·κ over the kernels, with the
 * examples in the device's memory. It owns the CPU's operator, which answers when the device cannot. gram.c makes it.
 */
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "gram/device/form.h"

typedef struct fused_state {
    kfe_i_gram *source; /* the same matrix on the CPU; owned */
    kfe_i_device *device;
    kfe_i_device_term *terms;
    int64_t count;
    int left;         /* the device failed: the CPU answers */
    int narrow;       /* all examples are dense, with few columns */
    double *diagonal; /* NULL until it is asked for */
} fused_state;

/* Up to this number of columns, a device computes a Gaussian kernel in single precision as fast as it reads it: on an H200, 1.3 ps against
 * 1.7 ps for an entry. */
enum { KFE_NARROW_COLS = 128 };

/* Examples of rows or of columns: consecutive ones of all, or copies of those listed. */
typedef struct side {
    kfe_device_points **copies; /* one for each kernel; NULL: no copies */
    int64_t first, count;
} side;

/* Bytes of one piece of a block on its way to the host, if a fourth of the free memory is not less. */
#define KFE_PIECE_BYTES ((int64_t)256 << 20)

/* Rows of such a piece with this many columns. */
static int64_t piece_rows(const fused_state *s, int64_t rows, int64_t cols)
{
    int64_t bytes = kfe_i_least(KFE_PIECE_BYTES, (int64_t)(kfe_i_device_room(s->device) / 4));

    return kfe_i_least(rows, bytes / (8 * cols) + 1);
}

/* ---- entries ---- */

static kfe_device_range range_of(const fused_state *s, const side *x, int64_t term)
{
    return (kfe_device_range){x->copies ? x->copies[term] : s->terms[term].points, x->first, x->count};
}

/* out = scale·(entries of these rows and columns) */
static kfe_device_status fill(const fused_state *s, double scale, side rows, side cols,
                              const kfe_device_matrix *out, int how)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        kfe_device_kernel kernel = s->terms[m].kernel;
        kernel.weight *= scale;
        status = s->device->table->block(s->device->handle, &kernel, range_of(s, &rows, m),
                                         range_of(s, &cols, m), out, how | (m > 0 ? KFE_DEVICE_ADD : 0));
    }
    return status;
}

static side consecutive(int64_t first, int64_t count)
{
    return (side){NULL, first, count};
}

static void close_side(const fused_state *s, side *x)
{
    for (int64_t m = 0; x->copies && m < s->count; m++)
        if (x->copies[m])
            s->device->table->points_free(s->device->handle, x->copies[m]);
    kfe_i_free(s->device->ctx, x->copies);
}

/* Close it also after a failure. */
static kfe_device_status open_side(const fused_state *s, kfe_i_places places, side *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    *out = consecutive(places.first, places.count);
    if (!places.index)
        return KFE_DEVICE_OK;
    out->copies = kfe_i_alloc_zero(s->device->ctx, s->count, sizeof *out->copies);
    for (int64_t m = 0; out->copies && m < s->count && status == KFE_DEVICE_OK; m++)
        status = s->device->table->points_gather(s->device->handle, s->terms[m].points, places.index,
                                                 places.count, &out->copies[m]);
    return out->copies ? status : KFE_DEVICE_NO_MEMORY;
}

/* The entries pass through a piece of device memory. Of the same rows and columns only the lower half is computed. */
static kfe_device_status download_entries(const fused_state *s, side rows, side cols, int same, double *out,
                                          int64_t stride)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix piece = {0};
    int64_t step = piece_rows(s, rows.count, cols.count);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, step, cols.count, KFE_DEVICE_F64, &piece));
    for (int64_t first = 0; first < rows.count; first += step) {
        side some_rows = {rows.copies, rows.first + first, kfe_i_least(step, rows.count - first)};
        side some_cols = {cols.copies, cols.first, same ? first + some_rows.count : cols.count};
        kfe_device_matrix part = kfe_device_part(piece, 0, some_rows.count, 0, some_cols.count);
        KFE_DEVICE_TRY(fill(s, 1, some_rows, some_cols, &part, 0));
        KFE_DEVICE_TRY(s->device->table->download(s->device->handle, &part, out + first * stride, stride));
    }
cleanup:
    kfe_i_device_matrix_free(s->device, &piece);
    return status;
}

static void mirror(int64_t n, double *matrix, int64_t stride)
{
    enum { TILE = 64 };

    for (int64_t row = 0; row < n; row += TILE)
        for (int64_t col = 0; col <= row; col += TILE)
            for (int64_t i = row; i < kfe_i_least(row + TILE, n); i++)
                for (int64_t j = col; j < kfe_i_least(col + TILE, i); j++)
                    matrix[j * stride + i] = matrix[i * stride + j];
}

static kfe_device_status entries_on_device(const fused_state *s, kfe_i_places rows, kfe_i_places cols,
                                           int same, double *out, int64_t stride)
{
    kfe_device_status status = KFE_DEVICE_OK;
    side left = {0};
    side right = {0};

    KFE_DEVICE_TRY(open_side(s, rows, &left));
    KFE_DEVICE_TRY(open_side(s, cols, &right));
    KFE_DEVICE_TRY(download_entries(s, left, right, same, out, stride));
cleanup:
    close_side(s, &left);
    close_side(s, &right);
    return status;
}

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    const fused_state *s = gram->state;
    int same = kfe_i_places_are_same(gram, rows, cols);
    kfe_status status = KFE_OK;

    s->device->stage = "computing the kernel matrix";
    if (s->left || kfe_i_device_leaves_to_cpu(s->device, entries_on_device(s, rows, cols, same, out, stride),
                                              "kernel matrix", &status))
        return kfe_i_gram_entries(s->source, rows, cols, out, stride);
    if (status == KFE_OK && same)
        mirror(rows.count, out, stride);
    return status;
}

/* The columns listed as rows, on the device. */
static kfe_device_status fill_columns(const kfe_i_gram *gram, double scale, const int64_t *index,
                                      const kfe_device_matrix *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    side listed = {0};

    KFE_DEVICE_TRY(open_side(gram->state, kfe_i_listed(index, out->rows), &listed));
    KFE_DEVICE_TRY(fill(gram->state, scale, listed, consecutive(0, out->cols), out, 0));
cleanup:
    close_side(gram->state, &listed);
    return status;
}

/* Kernels of a distance have the same value at all κ(x, x); returns 0 for others. */
static int has_constant_diagonal(const fused_state *s, double *value)
{
    *value = 0;
    for (int64_t m = 0; m < s->count; m++) {
        const kfe_i_formula *f = &s->terms[m].kernel.formula;
        int of_distance =
            f->base == KFE_FORMULA_DISTANCE || f->map == KFE_KERNEL_laplacian || f->map == KFE_KERNEL_chi2;
        if (!of_distance)
            return 0;
        *value += s->terms[m].kernel.weight * kfe_i_map_f64(f->map, 0, 0, 0, f->params);
    }
    return 1;
}

/* n numbers: not worth a device, but solvers ask for them several times. */
static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    fused_state *s = gram->state;
    double *values = NULL;
    double constant = 0;

    if (has_constant_diagonal(s, &constant)) {
        for (int64_t i = 0; i < gram->size; i++)
            out[i] = constant;
        return KFE_OK;
    }
    if (!s->diagonal) {
        KFE_ALLOC(gram->ctx, values, gram->size);
        KFE_TRY(kfe_i_gram_diagonal(s->source, values));
        s->diagonal = values;
        values = NULL;
    }
    memcpy(out, s->diagonal, (size_t)gram->size * sizeof *out);
cleanup:
    kfe_i_free(gram->ctx, values);
    return status;
}

/* ---- products and sums ---- */

kfe_device_status kfe_i_fused_times_from(const kfe_i_gram *gram, kfe_device_type precision, int64_t first,
                                         int add, const kfe_device_matrix *v, const kfe_device_matrix *out)
{
    const fused_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        kfe_device_product product = {.precision = precision, .add = add || m > 0, .v = v, .out = out};
        kfe_device_range range = {s->terms[m].points, first, gram->size - first};
        status = s->device->table->times(s->device->handle, &s->terms[m].kernel, range, range, &product);
    }
    return status;
}

kfe_device_status kfe_i_fused_times(const kfe_i_gram *gram, kfe_device_type precision,
                                    const kfe_device_matrix *v, const kfe_device_matrix *out)
{
    return kfe_i_fused_times_from(gram, precision, 0, 0, v, out);
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    fused_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (k == 0)
        return KFE_OK;
    s->device->stage = "multiplying with the kernel matrix";
    /* loops multiply again and again: after one failure they stay on the CPU */
    s->left =
        s->left || kfe_i_device_leaves_to_cpu(s->device, kfe_i_device_times_host(s->device, gram, v, k, out),
                                              "kernel products", &status);
    return s->left ? kfe_i_gram_times(s->source, v, k, out) : status;
}

static kfe_device_status add_group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups,
                                        double *part, double *out)
{
    const fused_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_OK;

    memset(out, 0, (size_t)(groups * groups) * sizeof *out);
    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        status = s->device->table->group_sums(s->device->handle, &s->terms[m].kernel, s->terms[m].points,
                                              group, groups, KFE_DEVICE_F64, part);
        for (int64_t c = 0; c < groups * groups && status == KFE_DEVICE_OK; c++)
            out[c] += part[c];
    }
    return status;
}

static kfe_status group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group, int64_t groups,
                             double *out)
{
    const fused_state *s = gram->state;
    kfe_status status = KFE_OK;
    double *part = NULL;

    (void)share; /* processes divide such operators in on_devices.c */
    KFE_ALLOC(gram->ctx, part, groups * groups);
    s->device->stage = "summing the kernel over classes";
    if (s->left || kfe_i_device_leaves_to_cpu(s->device, add_group_sums(gram, group, groups, part, out),
                                              "sums over classes", &status))
        status = kfe_i_gram_group_sums(s->source, group, groups, out);
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static void release(kfe_i_gram *gram)
{
    fused_state *s = gram->state;

    for (int64_t m = 0; s->terms && m < s->count; m++)
        if (s->terms[m].points)
            s->device->table->points_free(s->device->handle, s->terms[m].points);
    kfe_i_free(gram->ctx, s->terms);
    kfe_i_free(gram->ctx, s->diagonal);
    kfe_i_gram_free(s->source);
}

/* ---- on the device ---- */

kfe_i_device *kfe_i_fused_device(const kfe_i_gram *gram)
{
    const fused_state *s = gram->state;

    return s->left ? NULL : s->device;
}

/* Panels of values in double precision, each rounded into its place; of the first rows if `out` has fewer. */
kfe_device_status kfe_i_device_fill_rounded(const kfe_i_gram *gram, double scale, int lower,
                                            const kfe_device_matrix *out)
{
    const fused_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix panel = {0};
    int64_t step = kfe_i_device_panel_rows(gram->size);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, step, gram->size, KFE_DEVICE_F64, &panel));
    for (int64_t row = 0; row < out->rows; row += step) {
        int64_t rows = kfe_i_least(step, out->rows - row);
        int64_t cols = lower ? row + rows : gram->size;
        kfe_device_matrix from = kfe_device_part(panel, 0, rows, 0, cols);
        kfe_device_matrix to = kfe_device_part(*out, row, rows, 0, cols);
        KFE_DEVICE_TRY(fill(s, scale, consecutive(row, rows), consecutive(0, cols), &from, 0));
        KFE_DEVICE_TRY(s->device->table->copy(s->device->handle, &from, &to));
    }
cleanup:
    kfe_i_device_matrix_free(s->device, &panel);
    return status;
}

static kfe_device_status fill_matrix(const kfe_i_gram *gram, double scale, int lower,
                                     const kfe_device_matrix *out)
{
    if (out->type == KFE_DEVICE_F32)
        return kfe_i_device_fill_rounded(gram, scale, lower, out);
    return fill(gram->state, scale, consecutive(0, out->rows), consecutive(0, out->cols), out,
                lower ? KFE_DEVICE_LOWER : KFE_DEVICE_MIRROR);
}

static kfe_device_status multiply(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                  const kfe_device_matrix *out)
{
    return kfe_i_fused_times(gram, KFE_DEVICE_F64, v, out);
}

static const kfe_i_device_calls on_device = {
    .device = kfe_i_fused_device, .fill = fill_matrix, .columns = fill_columns, .times = multiply};

/* Callers that want rows get them in host memory. */
static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *stored = NULL;

    if (how == KFE_KEEP_ROWS || !kfe_i_fused_device(gram))
        return kfe_i_keep_in_memory(gram, how, reserve, NULL, out);
    KFE_TRY(kfe_i_device_keep(gram, how == KFE_KEEP_DOUBLE ? KFE_DEVICE_F64 : 0, reserve, &stored));
    if (!stored)
        return KFE_OK;
    kfe_i_kept_take(out, stored);
    kfe_i_log(gram->ctx, KFE_LOG_INFO, "kernel matrix of %lld examples: %s", (long long)gram->size,
              stored->form->name);
cleanup:
    return status;
}

static const kfe_i_gram_form form = {
    .name = "computed on the device, not stored",
    .entries = entries,
    .diagonal = diagonal,
    .column_seconds = kfe_i_gram_time_columns,
    .times = times,
    .group_sums = group_sums,
    .keep = keep,
    .device = &on_device,
    .release = release,
    KFE_DEVICE_SOLUTIONS,
};

/* ---- for the other files ---- */

int kfe_i_fused_is_fast(const kfe_i_gram *gram)
{
    const fused_state *s = gram->state;

    return s->count == 1 && s->terms[0].kernel.formula.map == KFE_KERNEL_rbf && s->narrow;
}

kfe_device_status kfe_i_fused_part(const kfe_i_gram *gram, int64_t row, int64_t col,
                                   const kfe_device_matrix *out, int how)
{
    return fill(gram->state, 1, consecutive(row, out->rows), consecutive(col, out->cols), out, how);
}

kfe_device_status kfe_i_fused_times_rows(const kfe_i_gram *gram, int64_t row, const kfe_device_matrix *v,
                                         const kfe_device_matrix *out)
{
    const fused_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        kfe_device_product product = {.precision = KFE_DEVICE_F32, .add = m > 0, .v = v, .out = out};
        const kfe_device_points *points = s->terms[m].points;
        status = s->device->table->times(s->device->handle, &s->terms[m].kernel,
                                         (kfe_device_range){points, row, out->rows},
                                         (kfe_device_range){points, 0, gram->size}, &product);
    }
    return status;
}

const kfe_i_gram *kfe_i_fused_source(const kfe_i_gram *gram)
{
    return ((const fused_state *)gram->state)->source;
}

void kfe_i_fused_unwrap(kfe_i_gram **gram)
{
    fused_state *s = (*gram)->state;
    kfe_i_gram *source = s->source;

    s->source = NULL;
    kfe_i_gram_free(*gram);
    *gram = source;
}

/* ---- making one ---- */

kfe_status kfe_i_device_upload_points(kfe_i_device *device, const kfe_i_table *table,
                                      const kfe_i_formula *formula, const double *known,
                                      kfe_device_points **out, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    double *centre = NULL;
    kfe_device_rows rows = kfe_i_device_rows(table);

    if (formula->base == KFE_FORMULA_DISTANCE && table->kind == KFE_TABLE_DENSE) {
        if (!known) {
            KFE_ALLOC(device->ctx, centre, table->cols);
            kfe_i_column_means(device->ctx, table, centre);
        }
        rows.centre = known ? known : centre;
    }
    *result = device->table->points_new(device->handle, &rows, formula->base, KFE_DEVICE_F32, out);
cleanup:
    kfe_i_free(device->ctx, centre);
    return status;
}

static kfe_status upload_terms(const kfe_i_kernel_list *kernels, const kfe_i_table *views, fused_state *s,
                               kfe_device_status *result)
{
    kfe_status status = KFE_OK;

    *result = KFE_DEVICE_OK;
    s->narrow = 1;
    for (int64_t m = 0; m < kernels->count && *result == KFE_DEVICE_OK; m++) {
        const kfe_i_kernel *kernel = &kernels->items[m];
        const kfe_i_table *table = &views[kernel->view];
        s->narrow = s->narrow && table->kind == KFE_TABLE_DENSE && table->cols <= KFE_NARROW_COLS;
        s->terms[m].kernel = (kfe_device_kernel){kfe_i_kernel_formula(kernel), kernel->common.weight};
        KFE_TRY(kfe_i_device_upload_points(s->device, table, &s->terms[m].kernel.formula, NULL,
                                           &s->terms[m].points, result));
    }
cleanup:
    return status;
}

static kfe_status wrap(kfe_i_device *device, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                       kfe_i_gram **gram, int *done)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;
    kfe_device_status result = KFE_DEVICE_OK;

    KFE_TRY(kfe_i_gram_new(device->ctx, &form, (*gram)->size, sizeof(fused_state), &made));
    fused_state *s = made->state;
    s->device = device;
    s->count = kernels->count;
    KFE_ALLOC_ZERO(device->ctx, s->terms, s->count);
    KFE_TRY(upload_terms(kernels, views, s, &result));
    if (result == KFE_DEVICE_OK) {
        s->source = *gram;
        *gram = made;
        made = NULL;
        *done = 1;
    } else if (!kfe_i_device_gives_up(device, result, "kernel matrix")) {
        status = kfe_i_device_status(device, result);
    }
cleanup:
    kfe_i_gram_free(made);
    return status;
}

/* Why these kernels stay on the CPU; NULL: they need not. */
static const char *reason_for_cpu(const kfe_i_kernel_list *kernels, const kfe_i_table *views)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_kernel *kernel = &kernels->items[m];
        if (kernels->count == 1 && kernel->def->base == KFE_BASE_DOT && !kernel->def->map &&
            kernel->common.weight == 1)
            return "a linear kernel works on the columns";
        if (!kfe_i_kernel_has_formula(kernel))
            return kernel->def->name;
        if (views[kernel->view].kind == KFE_TABLE_TEXT)
            return "strings";
    }
    return NULL;
}

kfe_status kfe_i_device_wrap(kfe_i_device *device, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                             kfe_i_gram **gram, int *done)
{
    const char *reason = reason_for_cpu(kernels, views);

    if (!reason)
        return wrap(device, kernels, views, gram, done);
    kfe_i_log(device->ctx, KFE_LOG_INFO, "kernel matrix: on the CPU, not on %s (%s)", device->name, reason);
    return KFE_OK;
}
