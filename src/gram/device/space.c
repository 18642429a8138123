/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long vectors on a device. If the operator is divided over the devices of several processes, each process has all vectors on its device, and
 * the small results of process 0, so that all take the same decisions.
 */
#include "gram/device/space.h"

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/form/centred.h"

typedef struct device_state {
    kfe_i_device *device;
    const kfe_i_gram *gram, *exact; /* those of the space, without centring */
    int centred;
    int together;       /* with other processes */
    int agreed;         /* all of them have the memory, and none gives up any more */
    uint64_t small;     /* room for a small matrix */
    kfe_i_long shifted; /* vectors minus their means, for centred operators */
} device_state;

static const kfe_device_table *table_of(const kfe_i_space *space)
{
    return ((const device_state *)space->state)->device->table;
}

static kfe_device *handle_of(const kfe_i_space *space)
{
    return ((const device_state *)space->state)->device->handle;
}

static kfe_device_matrix matrix_of(const kfe_i_space *space, kfe_i_span v)
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
    const device_state *s = space->state;

    if (result == KFE_DEVICE_OK)
        return KFE_OK;
    if (!s->agreed)
        space->gave_up = kfe_i_device_gives_up(s->device, result, "vectors of the iteration");
    return kfe_i_device_status(s->device, result);
}

/* All processes that compute together take the numbers of process 0. */
static kfe_status share(const kfe_i_space *space, double *values, int64_t count)
{
    const device_state *s = space->state;

    return s->together ? kfe_i_cluster_broadcast(space->gram->ctx, 0, values, count * (int64_t)sizeof *values)
                       : KFE_OK;
}

/* ---- memory ---- */

static kfe_status allocate(kfe_i_space *space, int64_t columns, kfe_i_long *out)
{
    uint64_t bytes = (uint64_t)(space->n * columns) * sizeof(double);

    *out = (kfe_i_long){0};
    return settle(space, table_of(space)->allocate(handle_of(space), bytes, &out->address));
}

static void release(const kfe_i_space *space, kfe_i_long *memory)
{
    table_of(space)->release(handle_of(space), memory->address);
}

static kfe_status put(kfe_i_space *space, const double *from, kfe_i_span to)
{
    kfe_device_matrix target = matrix_of(space, to);

    return settle(space, table_of(space)->upload(handle_of(space), from, to.count, &target));
}

static kfe_status get(kfe_i_space *space, kfe_i_span from, double *to)
{
    kfe_device_matrix source = matrix_of(space, from);

    return settle(space, table_of(space)->download(handle_of(space), &source, to, from.count));
}

static kfe_status copy(kfe_i_space *space, kfe_i_span from, kfe_i_span to)
{
    kfe_device_matrix source = matrix_of(space, from);
    kfe_device_matrix target = matrix_of(space, to);

    return settle(space, table_of(space)->copy(handle_of(space), &source, &target));
}

/* ---- products ---- */

static kfe_status inner(kfe_i_space *space, kfe_i_span a, kfe_i_span b, double *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const device_state *s = space->state;
    kfe_device_matrix left = matrix_of(space, a);
    kfe_device_matrix right = matrix_of(space, b);
    kfe_device_matrix small = {s->small, a.count, b.count, b.count, KFE_DEVICE_F64};

    KFE_DEVICE_TRY(table_of(space)->gemm(handle_of(space), 1, 0, 1, &left, &right, 0, &small));
    KFE_DEVICE_TRY(table_of(space)->download(handle_of(space), &small, out, b.count));
cleanup:
    return status == KFE_DEVICE_OK ? share(space, out, a.count * b.count) : settle(space, status);
}

static kfe_status combine(kfe_i_space *space, double alpha, kfe_i_span a, const double *values,
                          int64_t stride, double beta, kfe_i_span c)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const device_state *s = space->state;
    kfe_device_matrix left = matrix_of(space, a);
    kfe_device_matrix sum = matrix_of(space, c);
    kfe_device_matrix small = {s->small, a.count, c.count, c.count, KFE_DEVICE_F64};

    KFE_DEVICE_TRY(table_of(space)->upload(handle_of(space), values, stride, &small));
    KFE_DEVICE_TRY(table_of(space)->gemm(handle_of(space), 0, 0, alpha, &left, &small, beta, &sum));
cleanup:
    return settle(space, status);
}

static kfe_status squares(kfe_i_space *space, kfe_i_span v, double *out)
{
    kfe_device_matrix vectors = matrix_of(space, v);
    kfe_device_status result = table_of(space)->column_dots(handle_of(space), &vectors, &vectors, out);

    return result == KFE_DEVICE_OK ? share(space, out, v.count) : settle(space, result);
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
        KFE_DEVICE_TRY(table_of(space)->column_dots(handle_of(space), &part, NULL, means));
        for (int64_t j = 0; j < part.cols; j++)
            means[j] = -means[j] / (double)space->n;
        KFE_DEVICE_TRY(table_of(space)->shift(handle_of(space), &part, NULL, means));
    }
cleanup:
    return status;
}

/* By the operator on this device, or by those of all processes. */
static kfe_status multiply(kfe_i_space *space, const kfe_i_gram *gram, const kfe_device_matrix *v,
                           const kfe_device_matrix *out)
{
    const kfe_i_device_calls *calls = gram->form->device;

    return calls->times_together ? calls->times_together(gram, v, out)
                                 : settle(space, calls->times(gram, v, out));
}

static kfe_status times(kfe_i_space *space, int fast, kfe_i_span v, kfe_i_span out)
{
    kfe_status status = KFE_OK;
    device_state *s = space->state;
    const kfe_i_gram *gram = fast ? s->gram : s->exact;
    kfe_device_matrix vectors = matrix_of(space, v);
    kfe_device_matrix product = matrix_of(space, out);

    s->device->stage = NULL;
    if (!s->centred)
        return multiply(space, gram, &vectors, &product);
    kfe_device_matrix shifted = matrix_of(space, kfe_i_span_of(&s->shifted, v.count, v.count));
    KFE_TRY(settle(space, table_of(space)->copy(handle_of(space), &vectors, &shifted)));
    KFE_TRY(settle(space, subtract_means(space, &shifted)));
    KFE_TRY(multiply(space, gram, &shifted, &product));
    KFE_TRY(settle(space, subtract_means(space, &product)));
cleanup:
    return status;
}

/* ---- opening ---- */

static kfe_status agree(kfe_i_space *space, kfe_status status)
{
    device_state *s = space->state;
    double going = status == KFE_OK;

    if (!s->together || (status != KFE_OK && !space->gave_up))
        return status;
    kfe_status shared = kfe_i_cluster_least(space->gram->ctx, &going);
    if (shared != KFE_OK)
        return shared;
    s->agreed = 1;
    if (going > 0 || status != KFE_OK)
        return status;
    space->gave_up = 1;
    return kfe_i_fail(space->gram->ctx, KFE_EDEVICE,
                      "the device of another process has no room for the vectors");
}

static void close_space(kfe_i_space *space)
{
    device_state *s = space->state;

    if (s->small)
        table_of(space)->release(handle_of(space), s->small);
    kfe_i_long_free(space, &s->shifted);
    kfe_i_free(space->gram->ctx, s);
}

static const kfe_i_space_calls on_device = {.allocate = allocate,
                                            .release = release,
                                            .inner = inner,
                                            .combine = combine,
                                            .copy = copy,
                                            .times = times,
                                            .squares = squares,
                                            .put = put,
                                            .get = get,
                                            .agree = agree,
                                            .close = close_space};

static const kfe_i_gram *without_centring(const kfe_i_gram *gram, int centred)
{
    return centred ? kfe_i_centred_inner(gram) : gram;
}

kfe_status kfe_i_device_space_open(const kfe_i_gram *gram, const kfe_i_gram *exact, int centred,
                                   int64_t small, int64_t most, kfe_i_space *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *inside = without_centring(gram, centred);
    const kfe_i_gram *alone = NULL;
    kfe_i_device *device = kfe_i_gram_device(inside, &alone);
    device_state *s = NULL;
    double all = device != NULL;

    *out = (kfe_i_space){0};
    if (inside->processes > 1)
        KFE_TRY(kfe_i_cluster_least(gram->ctx, &all));
    if (!device || !(all > 0))
        return kfe_i_space_open(gram, exact, out);
    KFE_ALLOC_ZERO(gram->ctx, s, 1);
    *s = (device_state){.device = device,
                        .gram = inside,
                        .exact = without_centring(exact, centred),
                        .centred = centred,
                        .together = inside->processes > 1};
    *out = (kfe_i_space){.calls = &on_device, .gram = gram, .exact = exact, .n = gram->size, .state = s};
    KFE_TRY(
        settle(out, device->table->allocate(device->handle, (uint64_t)small * sizeof(double), &s->small)));
    if (centred)
        KFE_TRY(allocate(out, most, &s->shifted));
cleanup:
    return status;
}
