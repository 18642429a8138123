/* SPDX-License-Identifier: Apache-2.0 */
/* Long vectors in host memory or on a device; krylov.c computes with them. */
#include "gram/solve/space.h"

#include <cblas.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/cluster/on_devices.h"
#include "gram/dense/basis.h"
#include "gram/device/form.h"

/* ---- where vectors are ---- */

static double *host_of(kfe_i_span v)
{
    return v.memory->host + v.first;
}

static kfe_device_matrix device_of(const kfe_i_space *space, kfe_i_span v)
{
    return (kfe_device_matrix){.address = v.memory->address + (uint64_t)v.first * sizeof(double),
                               .rows = space->n,
                               .cols = v.count,
                               .stride = v.stride,
                               .type = KFE_DEVICE_F64};
}

/* The library's status; a device without memory gives up. */
static kfe_status settle(kfe_i_space *space, kfe_device_status result)
{
    if (result == KFE_DEVICE_OK)
        return KFE_OK;
    if (!space->agreed)
        space->gave_up = kfe_i_device_gives_up(space->device, result, "vectors of the iteration");
    return kfe_i_device_status(space->device, result);
}

static const kfe_i_gram *without_centring(const kfe_i_gram *gram)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    return inner ? inner : gram;
}

/* The device for the vectors; NULL: host memory, in all processes if one of them has no device. */
static kfe_status find_device(kfe_i_space *space)
{
    const kfe_i_gram *inner = without_centring(space->gram);
    double all = 1;
    kfe_status status = KFE_OK;

    space->together = kfe_i_gram_is_on_devices(inner);
    space->device = kfe_i_gram_device(kfe_i_gram_own_device(inner));
    if (space->together) {
        all = space->device != NULL;
        status = kfe_i_cluster_least(space->gram->ctx, &all);
    }
    if (status != KFE_OK || !(all > 0))
        space->device = NULL;
    return status;
}

kfe_status kfe_i_space_agree(kfe_i_space *space, kfe_status status)
{
    double going = status == KFE_OK;

    if (!space->device || !space->together || (status != KFE_OK && !space->gave_up))
        return status;
    kfe_status shared = kfe_i_cluster_least(space->gram->ctx, &going);
    if (shared != KFE_OK)
        return shared;
    space->agreed = 1;
    if (going > 0 || status != KFE_OK)
        return status;
    space->gave_up = 1;
    return kfe_i_fail(space->gram->ctx, KFE_EDEVICE,
                      "the device of another process has no room for the vectors");
}

/* All processes that compute together take the numbers of process 0. */
static kfe_status share(const kfe_i_space *space, double *values, int64_t count)
{
    return space->together
               ? kfe_i_cluster_broadcast(space->gram->ctx, 0, values, count * (int64_t)sizeof *values)
               : KFE_OK;
}

kfe_status kfe_i_space_open(const kfe_i_gram *gram, const kfe_i_gram *exact, int device, int64_t small,
                            int64_t most, kfe_i_space *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_space){.gram = gram, .exact = exact, .n = gram->size, .small_count = small};
    if (device)
        KFE_TRY(find_device(out));
    if (!out->device)
        return KFE_OK;
    KFE_TRY(settle(out, out->device->table->allocate(out->device->handle, (uint64_t)small * sizeof(double),
                                                     &out->small)));
    if (kfe_i_gram_centred_inner(gram))
        KFE_TRY(kfe_i_long_new(out, most, &out->shifted));
cleanup:
    return status;
}

void kfe_i_space_close(kfe_i_space *space)
{
    if (space->device) {
        space->device->table->release(space->device->handle, space->small);
        kfe_i_long_free(space, &space->shifted);
    }
    *space = (kfe_i_space){0};
}

kfe_status kfe_i_long_new(kfe_i_space *space, int64_t columns, kfe_i_long *out)
{
    kfe_status status = KFE_OK;
    uint64_t bytes = (uint64_t)(space->n * columns) * sizeof(double);

    *out = (kfe_i_long){0};
    if (space->device)
        return settle(space, space->device->table->allocate(space->device->handle, bytes, &out->address));
    KFE_ALLOC(space->gram->ctx, out->host, space->n * columns);
cleanup:
    return status;
}

void kfe_i_long_free(const kfe_i_space *space, kfe_i_long *memory)
{
    if (memory->address)
        space->device->table->release(space->device->handle, memory->address);
    if (memory->host)
        kfe_i_free(space->gram->ctx, memory->host);
    *memory = (kfe_i_long){0};
}

/* ---- products ---- */

kfe_status kfe_i_space_inner(kfe_i_space *space, kfe_i_span a, kfe_i_span b, double *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    if (!space->device) {
        kfe_i_inner_products(space->n, kfe_i_strided(host_of(a), a.count, a.stride),
                             kfe_i_strided(host_of(b), b.count, b.stride), out);
        return KFE_OK;
    }
    const kfe_device_table *table = space->device->table;
    kfe_device *handle = space->device->handle;
    kfe_device_matrix left = device_of(space, a);
    kfe_device_matrix right = device_of(space, b);
    kfe_device_matrix small = {space->small, a.count, b.count, b.count, KFE_DEVICE_F64};
    KFE_DEVICE_TRY(table->gemm(handle, 1, 0, 1, &left, &right, 0, &small));
    KFE_DEVICE_TRY(table->download(handle, &small, out, b.count));
cleanup:
    return status == KFE_DEVICE_OK ? share(space, out, a.count * b.count) : settle(space, status);
}

/* Rows that one thread combines at once. OpenBLAS copies its operands into memory that it never frees; the copy of a few rows is small and
 * stays in cache. */
enum { COMBINED_ROWS = 512 };

static void combine_on_host(const kfe_i_space *space, double alpha, kfe_i_span a, const double *s,
                            int64_t stride, double beta, kfe_i_span c)
{
    int64_t n = space->n;

#pragma omp parallel for num_threads(kfe_context_threads(space->gram->ctx)) if (n > COMBINED_ROWS)
    for (int64_t row = 0; row < n; row += COMBINED_ROWS) {
        int64_t rows = n - row < COMBINED_ROWS ? n - row : COMBINED_ROWS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)c.count,
                    (blasint)a.count, alpha, host_of(a) + row * a.stride, (blasint)a.stride, s,
                    (blasint)stride, beta, host_of(c) + row * c.stride, (blasint)c.stride);
    }
}

kfe_status kfe_i_space_combine(kfe_i_space *space, double alpha, kfe_i_span a, const double *s,
                               int64_t stride, double beta, kfe_i_span c)
{
    kfe_device_status status = KFE_DEVICE_OK;

    if (!space->device) {
        combine_on_host(space, alpha, a, s, stride, beta, c);
        return KFE_OK;
    }
    const kfe_device_table *table = space->device->table;
    kfe_device *handle = space->device->handle;
    kfe_device_matrix left = device_of(space, a);
    kfe_device_matrix sum = device_of(space, c);
    kfe_device_matrix small = {space->small, a.count, c.count, c.count, KFE_DEVICE_F64};
    KFE_DEVICE_TRY(table->upload(handle, s, stride, &small));
    KFE_DEVICE_TRY(table->gemm(handle, 0, 0, alpha, &left, &small, beta, &sum));
cleanup:
    return settle(space, status);
}

kfe_status kfe_i_space_copy(kfe_i_space *space, kfe_i_span from, kfe_i_span to)
{
    if (!space->device) {
        kfe_i_copy_block(space->n, from.count, host_of(from), from.stride, host_of(to), to.stride);
        return KFE_OK;
    }
    kfe_device_matrix source = device_of(space, from);
    kfe_device_matrix target = device_of(space, to);
    return settle(space, space->device->table->copy(space->device->handle, &source, &target));
}

/* v ← v minus the mean of each vector. */
static kfe_device_status subtract_means(const kfe_i_space *space, const kfe_device_matrix *v)
{
    enum { GROUP = 64 };
    kfe_device_status status = KFE_DEVICE_OK;
    double means[GROUP];

    for (int64_t first = 0; first < v->cols; first += GROUP) {
        kfe_device_matrix part =
            kfe_device_part(*v, 0, v->rows, first, v->cols - first < GROUP ? v->cols - first : GROUP);
        KFE_DEVICE_TRY(space->device->table->column_dots(space->device->handle, &part, NULL, means));
        for (int64_t j = 0; j < part.cols; j++)
            means[j] = -means[j] / (double)space->n;
        KFE_DEVICE_TRY(space->device->table->shift(space->device->handle, &part, NULL, means));
    }
cleanup:
    return status;
}

/* By the operator on this device, or by those of all processes. */
static kfe_status multiply(kfe_i_space *space, const kfe_i_gram *gram, const kfe_device_matrix *v,
                           const kfe_device_matrix *out)
{
    return space->together ? kfe_i_devices_times(gram, v, out)
                           : settle(space, kfe_i_device_times(gram, v, out));
}

static kfe_status times_on_device(kfe_i_space *space, const kfe_i_gram *gram, kfe_i_span v, kfe_i_span out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    kfe_device_matrix vectors = device_of(space, v);
    kfe_device_matrix product = device_of(space, out);
    kfe_device_matrix shifted = device_of(space, kfe_i_span_of(&space->shifted, v.count, v.count));

    if (!inner)
        return multiply(space, gram, &vectors, &product);
    KFE_TRY(settle(space, space->device->table->copy(space->device->handle, &vectors, &shifted)));
    KFE_TRY(settle(space, subtract_means(space, &shifted)));
    KFE_TRY(multiply(space, inner, &shifted, &product));
    KFE_TRY(settle(space, subtract_means(space, &product)));
cleanup:
    return status;
}

kfe_status kfe_i_space_times(kfe_i_space *space, int fast, kfe_i_span v, kfe_i_span out)
{
    const kfe_i_gram *gram = fast ? space->gram : space->exact;

    if (!space->device && fast)
        return kfe_i_gram_times_single(gram, host_of(v), v.count, host_of(out));
    if (!space->device)
        return kfe_i_gram_times(gram, host_of(v), v.count, host_of(out));
    space->device->stage = NULL;
    return times_on_device(space, gram, v, out);
}

kfe_status kfe_i_space_squares(kfe_i_space *space, kfe_i_span v, double *out)
{
    if (space->device) {
        kfe_device_matrix vectors = device_of(space, v);
        kfe_device_status result =
            space->device->table->column_dots(space->device->handle, &vectors, &vectors, out);
        return result == KFE_DEVICE_OK ? share(space, out, v.count) : settle(space, result);
    }
    memset(out, 0, (size_t)v.count * sizeof *out);
    for (int64_t i = 0; i < space->n; i++)
        for (int64_t j = 0; j < v.count; j++)
            out[j] += host_of(v)[i * v.stride + j] * host_of(v)[i * v.stride + j];
    return KFE_OK;
}

kfe_status kfe_i_space_put(kfe_i_space *space, const double *from, kfe_i_span to)
{
    if (space->device) {
        kfe_device_matrix target = device_of(space, to);
        return settle(space, space->device->table->upload(space->device->handle, from, to.count, &target));
    }
    kfe_i_copy_block(space->n, to.count, from, to.count, host_of(to), to.stride);
    return KFE_OK;
}

kfe_status kfe_i_space_get(kfe_i_space *space, kfe_i_span from, double *to)
{
    if (space->device) {
        kfe_device_matrix source = device_of(space, from);
        return settle(space, space->device->table->download(space->device->handle, &source, to, from.count));
    }
    kfe_i_copy_block(space->n, from.count, host_of(from), from.stride, to, from.count);
    return KFE_OK;
}
