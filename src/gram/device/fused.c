/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator whose kernel values are computed on a device at every pass and never stored: Σ weight·κ over the kernels, with the
 * examples in the device's memory. It owns the CPU's operator, which answers when the device cannot. gram.c makes it.
 */
#include <string.h>

#include "core/least.h"
#include "core/memory.h"
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

/* Up to so many columns a device computes a Gaussian kernel in single precision as fast as it reads it: on an H200, 1.3 ps against
 * 1.7 ps for an entry. */
enum { KFE_NARROW_COLS = 128 };

/* A part of the matrix. */
typedef struct span {
    int64_t row, rows, col, cols;
} span;

/* Bytes of one piece of a block on its way to the host, if a fourth of the free memory is not less. */
#define KFE_PIECE_BYTES ((int64_t)256 << 20)

/* Rows of such a piece with this many columns. */
static int64_t piece_rows(const fused_state *s, int64_t rows, int64_t cols)
{
    int64_t bytes = kfe_i_least(KFE_PIECE_BYTES, (int64_t)(kfe_i_device_room(s->device) / 4));

    return kfe_i_least(rows, bytes / (8 * cols) + 1);
}

/* Whether the CPU has to answer this call, since the device gives up. */
static int must_leave(const kfe_i_gram *gram, kfe_device_status result, const char *what, kfe_status *status)
{
    const fused_state *s = gram->state;

    *status = KFE_OK;
    if (result == KFE_DEVICE_OK)
        return 0;
    if (kfe_i_device_gives_up(s->device, result, what))
        return 1;
    *status = kfe_i_device_status(s->device, result);
    return 0;
}

/* ---- blocks ---- */

static kfe_device_status fill(const fused_state *s, double scale, span at, const kfe_device_matrix *out,
                              int how)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        const kfe_device_points *points = s->terms[m].points;
        kfe_device_kernel kernel = s->terms[m].kernel;
        kernel.weight *= scale;
        status = s->device->table->block(
            s->device->handle, &kernel, (kfe_device_range){points, at.row, at.rows},
            (kfe_device_range){points, at.col, at.cols}, out, how | (m > 0 ? KFE_DEVICE_ADD : 0));
    }
    return status;
}

/* The block passes through a piece of device memory. Of the whole matrix only the lower half is computed. */
static kfe_device_status download_block(const fused_state *s, span at, int whole, double *out, int64_t stride)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix piece = {0};
    int64_t step = piece_rows(s, at.rows, at.cols);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, step, at.cols, KFE_DEVICE_F64, &piece));
    for (int64_t first = 0; first < at.rows; first += step) {
        int64_t rows = kfe_i_least(step, at.rows - first);
        int64_t cols = whole ? first + rows : at.cols;
        kfe_device_matrix part = kfe_device_part(piece, 0, rows, 0, cols);
        KFE_DEVICE_TRY(fill(s, 1, (span){at.row + first, rows, at.col, cols}, &part, 0));
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

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const fused_state *s = gram->state;
    int whole = rows == gram->size && cols == gram->size;
    kfe_status status = KFE_OK;

    if (rows == 0 || cols == 0)
        return KFE_OK;
    s->device->stage = "computing the kernel matrix";
    if (s->left || must_leave(gram, download_block(s, (span){row, rows, col, cols}, whole, out, stride),
                              "kernel matrix", &status))
        return kfe_i_gram_block(s->source, row, rows, col, cols, out, stride);
    if (status == KFE_OK && whole)
        mirror(gram->size, out, stride);
    return status;
}

/* Copies of the points listed, one set for each kernel; the caller frees them, also after a failure. */
static kfe_device_status gather(const fused_state *s, const int64_t *index, int64_t count, fused_state *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        out->terms[m].kernel = s->terms[m].kernel;
        status = s->device->table->points_gather(s->device->handle, s->terms[m].points, index, count,
                                                 &out->terms[m].points);
    }
    return status;
}

static void free_points(const fused_state *s)
{
    for (int64_t m = 0; s->terms && m < s->count; m++)
        if (s->terms[m].points)
            s->device->table->points_free(s->device->handle, s->terms[m].points);
}

/* out (rows × count) = the kernel between the points of `s` and those chosen, rows at a time. */
static kfe_device_status download_columns(const fused_state *s, const fused_state *chosen, int64_t n,
                                          int64_t count, double *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix piece = {0};
    int64_t step = piece_rows(s, n, count);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(s->device, step, count, KFE_DEVICE_F64, &piece));
    for (int64_t first = 0; first < n; first += step) {
        kfe_device_matrix part = kfe_device_part(piece, 0, kfe_i_least(step, n - first), 0, count);
        for (int64_t m = 0; m < s->count; m++)
            KFE_DEVICE_TRY(s->device->table->block(s->device->handle, &s->terms[m].kernel,
                                                   (kfe_device_range){s->terms[m].points, first, part.rows},
                                                   (kfe_device_range){chosen->terms[m].points, 0, count},
                                                   &part, m > 0 ? KFE_DEVICE_ADD : 0));
        KFE_DEVICE_TRY(s->device->table->download(s->device->handle, &part, out + first * count, count));
    }
cleanup:
    kfe_i_device_matrix_free(s->device, &piece);
    return status;
}

/* The columns listed, of all rows or of the rows listed too. */
static kfe_device_status chosen_columns(const kfe_i_gram *gram, const int64_t *index, int64_t count,
                                        int among, double *out)
{
    const fused_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_NO_MEMORY;
    fused_state chosen = {.device = s->device, .count = s->count};

    chosen.terms = kfe_i_alloc_zero(gram->ctx, s->count, sizeof *chosen.terms);
    if (chosen.terms) {
        status = gather(s, index, count, &chosen);
        if (status == KFE_DEVICE_OK)
            status = among ? download_block(&chosen, (span){0, count, 0, count}, 1, out, count)
                           : download_columns(s, &chosen, gram->size, count, out);
    }
    free_points(&chosen);
    kfe_i_free(gram->ctx, chosen.terms);
    return status;
}

/* The columns listed as rows, on the device. */
static kfe_device_status evaluate_columns(const fused_state *s, const fused_state *chosen, double scale,
                                          const kfe_device_matrix *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t m = 0; m < s->count && status == KFE_DEVICE_OK; m++) {
        kfe_device_kernel kernel = s->terms[m].kernel;
        kernel.weight *= scale;
        status = s->device->table->block(
            s->device->handle, &kernel, (kfe_device_range){chosen->terms[m].points, 0, out->rows},
            (kfe_device_range){s->terms[m].points, 0, out->cols}, out, m > 0 ? KFE_DEVICE_ADD : 0);
    }
    return status;
}

kfe_device_status kfe_i_fused_columns(const kfe_i_gram *gram, double scale, const int64_t *index,
                                      const kfe_device_matrix *out)
{
    const fused_state *s = gram->state;
    kfe_device_status status = KFE_DEVICE_NO_MEMORY;
    fused_state chosen = {.device = s->device, .count = s->count};

    chosen.terms = kfe_i_alloc_zero(gram->ctx, s->count, sizeof *chosen.terms);
    if (chosen.terms) {
        status = gather(s, index, out->rows, &chosen);
        if (status == KFE_DEVICE_OK)
            status = evaluate_columns(s, &chosen, scale, out);
    }
    free_points(&chosen);
    kfe_i_free(gram->ctx, chosen.terms);
    return status;
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const fused_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (count == 0)
        return KFE_OK;
    if (s->left || must_leave(gram, chosen_columns(gram, index, count, 0, out), "kernel columns", &status))
        return kfe_i_gram_columns(s->source, index, count, out);
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    const fused_state *s = gram->state;
    kfe_status status = KFE_OK;

    if (count == 0)
        return KFE_OK;
    if (s->left || must_leave(gram, chosen_columns(gram, index, count, 1, out), "kernel values", &status))
        return kfe_i_gram_among(s->source, index, count, out);
    if (status == KFE_OK)
        mirror(count, out, count);
    return status;
}

/* Kernels of a distance have the same value at all κ(x, x); returns 0 for others. */
static int has_constant_diagonal(const fused_state *s, double *value)
{
    *value = 0;
    for (int64_t m = 0; m < s->count; m++) {
        const kfe_i_formula *f = &s->terms[m].kernel.formula;
        int of_distance = f->base == KFE_FORMULA_DISTANCE || f->term == KFE_TERM_CITY_BLOCK ||
                          f->term == KFE_TERM_CHI_SQUARE;
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
        s->left || must_leave(gram, kfe_i_device_times_host(gram, v, k, out), "kernel products", &status);
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

static kfe_status group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out)
{
    const fused_state *s = gram->state;
    kfe_status status = KFE_OK;
    double *part = NULL;

    KFE_ALLOC(gram->ctx, part, groups * groups);
    s->device->stage = "summing the kernel over classes";
    if (s->left ||
        must_leave(gram, add_group_sums(gram, group, groups, part, out), "sums over classes", &status))
        status = kfe_i_gram_group_sums(s->source, group, groups, out);
cleanup:
    kfe_i_free(gram->ctx, part);
    return status;
}

static void release(kfe_i_gram *gram)
{
    fused_state *s = gram->state;

    free_points(s);
    kfe_i_free(gram->ctx, s->terms);
    kfe_i_free(gram->ctx, s->diagonal);
    kfe_i_gram_free(s->source);
}

static const kfe_i_gram_form form = {
    .name = "computed on the device, not stored",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .group_sums = group_sums,
    .release = release,
    .evaluates = 1,
};

/* ---- for the other files ---- */

kfe_i_device *kfe_i_fused_device(const kfe_i_gram *gram)
{
    const fused_state *s = gram->state;

    return gram->form == &form && !s->left ? s->device : NULL;
}

int kfe_i_fused_is_fast(const kfe_i_gram *gram)
{
    const fused_state *s = gram->state;

    return s->count == 1 && s->terms[0].kernel.formula.map == KFE_MAP_RBF && s->narrow;
}

kfe_device_status kfe_i_fused_fill(const kfe_i_gram *gram, double scale, int64_t row,
                                   const kfe_device_matrix *out, int how)
{
    return fill(gram->state, scale, (span){row, out->rows, 0, out->cols}, out, how);
}

kfe_device_status kfe_i_fused_part(const kfe_i_gram *gram, int64_t row, int64_t col,
                                   const kfe_device_matrix *out, int how)
{
    return fill(gram->state, 1, (span){row, out->rows, col, out->cols}, out, how);
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

static kfe_status upload_terms(const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                               const kfe_i_gram *on_cpu, fused_state *s, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *same = NULL;
    const kfe_i_points *points = NULL;
    int one = kfe_i_gram_tiles(on_cpu, &same, &points);

    *result = KFE_DEVICE_OK;
    s->narrow = 1;
    for (int64_t m = 0; m < kernels->count && *result == KFE_DEVICE_OK; m++) {
        const kfe_i_kernel *kernel = &kernels->items[m];
        const kfe_i_table *table = &views[kernel->view];
        s->narrow = s->narrow && table->kind == KFE_TABLE_DENSE && table->cols <= KFE_NARROW_COLS;
        s->terms[m].kernel.weight = kernel->common.weight;
        kernel->def->describe(kernel->settings, &s->terms[m].kernel.formula);
        KFE_TRY(kfe_i_device_upload_points(s->device, table, &s->terms[m].kernel.formula,
                                           one ? points->centre : NULL, &s->terms[m].points, result));
    }
cleanup:
    return status;
}

kfe_status kfe_i_fused_new(kfe_i_device *device, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                           kfe_i_gram **gram)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *made = NULL;
    kfe_device_status result = KFE_DEVICE_OK;

    KFE_TRY(kfe_i_gram_new(device->ctx, &form, (*gram)->size, sizeof(fused_state), &made));
    fused_state *s = made->state;
    s->device = device;
    s->count = kernels->count;
    KFE_ALLOC_ZERO(device->ctx, s->terms, s->count);
    KFE_TRY(upload_terms(kernels, views, *gram, s, &result));
    if (result == KFE_DEVICE_OK) {
        s->source = *gram;
        *gram = made;
        made = NULL;
    } else if (!kfe_i_device_gives_up(device, result, "kernel matrix")) {
        status = kfe_i_device_status(device, result);
    }
cleanup:
    kfe_i_gram_free(made);
    return status;
}
