/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator of some rows and columns of a kernel matrix on a device: the training part of a split in a search. Entries are
 * gathered there. Products are with the whole matrix, with zeros for the other rows, so that no part of it is copied.
 */
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/device/shared_matrix.h"

typedef struct subset_state {
    kfe_i_device_shared *shared;
    const int64_t *index;
    int64_t *source; /* of every row of the matrix: its place in the subset, or `count` */
} subset_state;

/* Out of memory: the search goes on with a matrix in host memory (shared.h). */
static kfe_status settle(const kfe_i_gram *gram, kfe_device_status result)
{
    const subset_state *s = gram->state;

    if (result != KFE_DEVICE_OK)
        s->shared->gave_up = kfe_i_device_gives_up(s->shared->device, result, "search");
    return kfe_i_device_status(s->shared->device, result);
}

/* ---- entries ---- */

/* The places of examples in the whole matrix: where they are, or in *made, which the caller frees. NULL: out of memory. */
static const int64_t *places_of(const kfe_i_gram *gram, kfe_i_places examples, int64_t **made)
{
    const subset_state *s = gram->state;

    if (!examples.index)
        return s->index + examples.first;
    *made = kfe_i_alloc(gram->ctx, examples.count, sizeof **made);
    for (int64_t i = 0; *made && i < examples.count; i++)
        (*made)[i] = s->index[examples.index[i]];
    return *made;
}

/* Gathers entries of the matrix on the device and downloads them. */
static kfe_device_status download_entries(const subset_state *s, const int64_t *rows, int64_t row_count,
                                          const int64_t *cols, int64_t col_count, double *out, int64_t stride)
{
    kfe_i_device *device = s->shared->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix piece = {0};
    int64_t step = ((int64_t)256 << 20) / (8 * col_count) + 1;

    step = step < row_count ? step : row_count;
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, step, col_count, KFE_DEVICE_F64, &piece));
    for (int64_t first = 0; first < row_count; first += step) {
        int64_t count = row_count - first < step ? row_count - first : step;
        kfe_device_matrix part = kfe_device_part(piece, 0, count, 0, col_count);
        KFE_DEVICE_TRY(device->table->gather(device->handle, &s->shared->values, rows + first, cols, &part));
        KFE_DEVICE_TRY(device->table->download(device->handle, &part, out + first * stride, stride));
    }
cleanup:
    kfe_i_device_matrix_free(device, &piece);
    return status;
}

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    kfe_status status = KFE_OK;
    int64_t *made[2] = {NULL, NULL};
    const int64_t *left = NULL;
    const int64_t *right = NULL;

    KFE_CHECK_ALLOC_BY(gram->ctx, left, places_of(gram, rows, &made[0]));
    KFE_CHECK_ALLOC_BY(gram->ctx, right, places_of(gram, cols, &made[1]));
    KFE_TRY(settle(gram, download_entries(gram->state, left, rows.count, right, cols.count, out, stride)));
cleanup:
    kfe_i_free(gram->ctx, made[0]);
    kfe_i_free(gram->ctx, made[1]);
    return status;
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    const subset_state *s = gram->state;
    subset_state along = *s;
    kfe_i_device_shared values = *s->shared;
    int64_t first = 0;

    if (gram->size == 0)
        return KFE_OK;
    values.values = kfe_device_diagonal(values.values);
    along.shared = &values;
    return settle(gram, download_entries(&along, s->index, gram->size, &first, 1, out, 1));
}

/* ---- products ---- */

/* out (all × k) = matrix·v with zeros for the rows outside; all on the device. */
static kfe_device_status expand(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                const kfe_device_matrix *out)
{
    const subset_state *s = gram->state;
    kfe_i_device *device = s->shared->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix with_zeros = {0};
    kfe_device_matrix padded = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, gram->size + 1, v->cols, KFE_DEVICE_F64, &with_zeros));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, s->shared->size, v->cols, KFE_DEVICE_F64, &padded));
    kfe_device_matrix top = kfe_device_part(with_zeros, 0, gram->size, 0, v->cols);
    kfe_device_matrix last = kfe_device_part(with_zeros, gram->size, 1, 0, v->cols);
    KFE_DEVICE_TRY(device->table->copy(device->handle, v, &top));
    KFE_DEVICE_TRY(device->table->fill(device->handle, &last, 0));
    KFE_DEVICE_TRY(device->table->gather(device->handle, &with_zeros, s->source, NULL, &padded));
    KFE_DEVICE_TRY(device->table->gemm(device->handle, 0, 0, 1, &s->shared->values, &padded, 0, out));
cleanup:
    kfe_i_device_matrix_free(device, &with_zeros);
    kfe_i_device_matrix_free(device, &padded);
    return status;
}

static kfe_device_status multiply(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                  const kfe_device_matrix *out)
{
    const subset_state *s = gram->state;
    kfe_i_device *device = s->shared->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix all = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, s->shared->size, v->cols, KFE_DEVICE_F64, &all));
    KFE_DEVICE_TRY(expand(gram, v, &all));
    KFE_DEVICE_TRY(device->table->gather(device->handle, &all, s->index, NULL, out));
cleanup:
    kfe_i_device_matrix_free(device, &all);
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const subset_state *s = gram->state;

    if (k == 0 || gram->size == 0)
        return KFE_OK;
    s->shared->device->stage = "multiplying with the kernel matrix";
    return settle(gram, kfe_i_device_times_host(s->shared->device, gram, v, k, out));
}

static kfe_device_status expand_host(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const subset_state *s = gram->state;
    kfe_i_device *device = s->shared->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix vectors = {0};
    kfe_device_matrix product = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, gram->size, k, KFE_DEVICE_F64, &vectors));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, s->shared->size, k, KFE_DEVICE_F64, &product));
    KFE_DEVICE_TRY(device->table->upload(device->handle, v, k, &vectors));
    KFE_DEVICE_TRY(expand(gram, &vectors, &product));
    KFE_DEVICE_TRY(device->table->download(device->handle, &product, out, k));
cleanup:
    kfe_i_device_matrix_free(device, &vectors);
    kfe_i_device_matrix_free(device, &product);
    return status;
}

static kfe_status expand_all(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    return k == 0 ? KFE_OK : settle(gram, expand_host(gram, v, k, out));
}

/* z (all × groups) = row place[i] of the identity for every row of the matrix, or zeros for those outside. */
static kfe_device_status make_indicators(const kfe_i_device *device, const double *identity,
                                         const int64_t *place, const kfe_device_matrix *z)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix rows = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, z->cols + 1, z->cols, KFE_DEVICE_F64, &rows));
    KFE_DEVICE_TRY(device->table->upload(device->handle, identity, z->cols, &rows));
    KFE_DEVICE_TRY(device->table->gather(device->handle, &rows, place, NULL, z));
cleanup:
    kfe_i_device_matrix_free(device, &rows);
    return status;
}

/* ZᵀKZ with the indicators Z of the groups. Only their numbers and the sums are moved. */
static kfe_device_status sum_groups(const kfe_i_gram *gram, const double *identity, const int64_t *place,
                                    int64_t groups, double *out)
{
    const subset_state *s = gram->state;
    kfe_i_device *device = s->shared->device;
    int64_t all = s->shared->size;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix z = {0};
    kfe_device_matrix product = {0};
    kfe_device_matrix sums = {0};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, all, groups, KFE_DEVICE_F64, &z));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, all, groups, KFE_DEVICE_F64, &product));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, groups, groups, KFE_DEVICE_F64, &sums));
    KFE_DEVICE_TRY(make_indicators(device, identity, place, &z));
    KFE_DEVICE_TRY(device->table->gemm(device->handle, 0, 0, 1, &s->shared->values, &z, 0, &product));
    KFE_DEVICE_TRY(device->table->gemm(device->handle, 1, 0, 1, &z, &product, 0, &sums));
    KFE_DEVICE_TRY(device->table->download(device->handle, &sums, out, groups));
cleanup:
    kfe_i_device_matrix_free(device, &z);
    kfe_i_device_matrix_free(device, &product);
    kfe_i_device_matrix_free(device, &sums);
    return status;
}

static kfe_status group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group, int64_t groups,
                             double *out)
{
    kfe_status status = KFE_OK;
    const subset_state *s = gram->state;
    double *identity = NULL;
    int64_t *place = NULL;

    (void)share; /* of one process */
    KFE_ALLOC_ZERO(gram->ctx, identity, (groups + 1) * groups);
    KFE_ALLOC(gram->ctx, place, s->shared->size);
    for (int64_t g = 0; g < groups; g++)
        identity[g * groups + g] = 1;
    for (int64_t i = 0; i < s->shared->size; i++)
        place[i] = s->source[i] < gram->size ? group[s->source[i]] : groups;
    s->shared->device->stage = "summing the kernel over classes";
    KFE_TRY(settle(gram, sum_groups(gram, identity, place, groups, out)));
cleanup:
    kfe_i_free(gram->ctx, identity);
    kfe_i_free(gram->ctx, place);
    return status;
}

/* ---- on the device ---- */

static kfe_i_device *device_of(const kfe_i_gram *gram)
{
    return ((const subset_state *)gram->state)->shared->device;
}

/* Panels in double precision, each scaled and rounded into its place. */
static kfe_device_status fill_scaled(const kfe_i_gram *gram, double scale, const kfe_device_matrix *out)
{
    const subset_state *s = gram->state;
    const kfe_i_device *device = s->shared->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix panel = {0};
    int64_t n = gram->size;
    int64_t step = kfe_i_device_panel_rows(n);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, step, n, KFE_DEVICE_F64, &panel));
    for (int64_t row = 0; row < n; row += step) {
        int64_t rows = n - row < step ? n - row : step;
        kfe_device_matrix from = kfe_device_part(panel, 0, rows, 0, n);
        kfe_device_matrix to = kfe_device_part(*out, row, rows, 0, n);
        KFE_DEVICE_TRY(
            device->table->gather(device->handle, &s->shared->values, s->index + row, s->index, &from));
        KFE_DEVICE_TRY(device->table->add(device->handle, scale, &from, 0, &to));
    }
cleanup:
    kfe_i_device_matrix_free(device, &panel);
    return status;
}

static kfe_device_status fill(const kfe_i_gram *gram, double scale, int lower, const kfe_device_matrix *out)
{
    const subset_state *s = gram->state;
    const kfe_i_device *device = s->shared->device;

    (void)lower; /* gathering all of it is as fast */
    if (scale != 1 || out->type != KFE_DEVICE_F64)
        return fill_scaled(gram, scale, out);
    return device->table->gather(device->handle, &s->shared->values, s->index, s->index, out);
}

static kfe_device_status gather_columns(const kfe_i_gram *gram, double scale, const int64_t *index,
                                        const kfe_device_matrix *out)
{
    const subset_state *s = gram->state;
    const kfe_i_device *device = s->shared->device;
    int64_t *made = NULL;
    const int64_t *places = places_of(gram, kfe_i_listed(index, out->rows), &made);
    kfe_device_status status = KFE_DEVICE_NO_MEMORY;

    if (places)
        status = device->table->gather(device->handle, &s->shared->values, places, s->index, out);
    kfe_i_free(gram->ctx, made);
    return status == KFE_DEVICE_OK ? kfe_i_device_scale_rows(device, scale, out) : status;
}

static const kfe_i_device_calls on_device = {
    .device = device_of, .fill = fill, .columns = gather_columns, .times = multiply};

static void release(kfe_i_gram *gram)
{
    kfe_i_free(gram->ctx, ((subset_state *)gram->state)->source);
}

static const kfe_i_gram_form form = {
    .name = "part of a matrix on the device",
    .entries = entries,
    .diagonal = diagonal,
    .times = times,
    .group_sums = group_sums,
    .expand = expand_all,
    .device = &on_device,
    .release = release,
    KFE_DEVICE_SOLUTIONS,
};

kfe_status kfe_i_device_subset(kfe_context *ctx, kfe_i_device_shared *shared, const int64_t *index,
                               int64_t count, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;

    assert(kfe_i_all_below(index, count, shared->size));
    KFE_TRY(kfe_i_gram_new(ctx, &form, count, sizeof(subset_state), out));
    subset_state *s = (*out)->state;
    s->shared = shared;
    s->index = index;
    KFE_ALLOC(ctx, s->source, shared->size);
    for (int64_t i = 0; i < shared->size; i++)
        s->source[i] = count;
    for (int64_t i = 0; i < count; i++)
        s->source[index[i]] = i;
cleanup:
    return kfe_i_gram_made(status, out);
}
