/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate columns and orthonormal features on a device, for the pursuit methods. Long arrays stay there; numbers per candidate,
 * per feature and per target come to the host. */
#include "gram/device/device_pool.h"

#include <math.h>

#include "core/memory.h"

static kfe_status settle(kfe_i_device_pool *pool, kfe_device_status result)
{
    if (result == KFE_DEVICE_OK)
        return KFE_OK;
    pool->gave_up = kfe_i_device_gives_up(pool->device, result, "pool of columns");
    return kfe_i_device_status(pool->device, result);
}

/* ---- opening ---- */

static double bytes_of(const kfe_i_device_pool_shape *s, int64_t n)
{
    double columns = (double)s->size * (double)s->type + 8.0 * (double)(s->most + s->targets) +
                     KFE_DEVICE_POOL_CHUNK * (8.0 + 8.0 + (double)s->type);

    return (double)n * columns;
}

static kfe_device_status allocate(kfe_i_device_pool *b)
{
    const kfe_i_device_pool_shape *s = &b->shape;
    int64_t n = b->gram->size;
    int64_t widest = s->most > s->targets ? s->most : s->targets;
    kfe_device_status status = KFE_DEVICE_OK;

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(b->device, s->size, n, s->type, &b->candidates));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(b->device, s->most, n, KFE_DEVICE_F64, &b->basis));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(b->device, n, s->targets, KFE_DEVICE_F64, &b->residual));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(b->device, KFE_DEVICE_POOL_CHUNK, n, KFE_DEVICE_F64, &b->chunk));
    if (s->type == KFE_DEVICE_F32)
        KFE_DEVICE_TRY(
            kfe_i_device_matrix_new(b->device, KFE_DEVICE_POOL_CHUNK, n, KFE_DEVICE_F32, &b->rounded));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(b->device, 1, KFE_DEVICE_POOL_CHUNK * widest + s->size,
                                           KFE_DEVICE_F64, &b->small));
cleanup:
    return status;
}

kfe_status kfe_i_device_pool_open(const kfe_i_gram *gram, const kfe_i_device_pool_shape *shape,
                                  const double *residual, kfe_i_device_pool *out, int *open)
{
    kfe_device_status result = KFE_DEVICE_OK;

    *out = (kfe_i_device_pool){.shape = *shape};
    out->device = kfe_i_gram_device(gram, &out->gram);
    *open = 0;
    if (!out->device)
        return KFE_OK;
    if (bytes_of(shape, gram->size) > kfe_i_device_room(out->device))
        result = KFE_DEVICE_NO_MEMORY;
    if (result == KFE_DEVICE_OK)
        result = allocate(out);
    if (result == KFE_DEVICE_OK && shape->targets > 0)
        result = out->device->table->upload(out->device->handle, residual, shape->targets, &out->residual);
    *open = result == KFE_DEVICE_OK;
    if (*open || kfe_i_device_gives_up(out->device, result, "pool of columns"))
        return KFE_OK;
    return kfe_i_device_status(out->device, result);
}

void kfe_i_device_pool_close(kfe_i_device_pool *pool)
{
    kfe_device_matrix *all[] = {&pool->candidates, &pool->basis,   &pool->residual,
                                &pool->chunk,      &pool->rounded, &pool->small};

    for (size_t i = 0; pool->device && i < sizeof all / sizeof *all; i++)
        kfe_i_device_matrix_free(pool->device, all[i]);
    *pool = (kfe_i_device_pool){0};
}

/* ---- columns ---- */

/* The first rows × cols numbers of the room for small products. */
static kfe_device_matrix small_of(const kfe_i_device_pool *b, int64_t rows, int64_t cols)
{
    kfe_device_matrix m = b->small;

    m.rows = rows;
    m.cols = m.stride = cols;
    return m;
}

/* out (a.rows × b.cols or b.rows, on the host) = a·b or a·bᵀ */
static kfe_device_status product(const kfe_i_device_pool *pool, const kfe_device_matrix *a,
                                 const kfe_device_matrix *b, int transpose_b, double *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *table = pool->device->table;
    kfe_device_matrix small = small_of(pool, a->rows, transpose_b ? b->rows : b->cols);

    KFE_DEVICE_TRY(table->gemm(pool->device->handle, 0, transpose_b, 1, a, b, 0, &small));
    KFE_DEVICE_TRY(table->download(pool->device->handle, &small, out, small.cols));
cleanup:
    return status;
}

/* Puts the columns of the chunk into their places and measures their norms as they are kept. */
static kfe_device_status keep_columns(kfe_i_device_pool *b, const int64_t *places, int64_t count,
                                      double *squares)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *table = b->device->table;
    int64_t n = b->gram->size;
    kfe_device_matrix from = kfe_device_part(b->chunk, 0, count, 0, n);

    if (b->rounded.address) {
        kfe_device_matrix rounded = kfe_device_part(b->rounded, 0, count, 0, n);
        KFE_DEVICE_TRY(table->copy(b->device->handle, &from, &rounded));
        from = rounded;
    }
    KFE_DEVICE_TRY(table->row_dots(b->device->handle, &from, &from, squares));
    for (int64_t c = 0; c < count; c++) {
        kfe_device_matrix column = kfe_device_part(from, c, 1, 0, n);
        kfe_device_matrix place = kfe_device_part(b->candidates, places[c], 1, 0, n);
        KFE_DEVICE_TRY(table->copy(b->device->handle, &column, &place));
    }
cleanup:
    return status;
}

kfe_status kfe_i_device_pool_load(kfe_i_device_pool *pool, const int64_t *index, const int64_t *places,
                                  int64_t count, int64_t features, const kfe_i_device_pool_measures *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t n = pool->gram->size;
    kfe_device_matrix chunk = kfe_device_part(pool->chunk, 0, count, 0, n);
    kfe_device_matrix basis = kfe_device_part(pool->basis, 0, features, 0, n);

    pool->device->stage = "evaluating candidate columns";
    KFE_DEVICE_TRY(pool->gram->form->device->columns(pool->gram, pool->shape.scale, index, &chunk));
    KFE_DEVICE_TRY(keep_columns(pool, places, count, out->squares));
    if (pool->shape.targets > 0)
        KFE_DEVICE_TRY(product(pool, &chunk, &pool->residual, 0, out->covariance));
    if (out->along && features > 0)
        KFE_DEVICE_TRY(product(pool, &basis, &chunk, 1, out->along));
cleanup:
    return settle(pool, status);
}

/* Row j of the basis as a column. */
static kfe_device_matrix feature_of(const kfe_i_device_pool *pool, int64_t j)
{
    kfe_device_matrix q = kfe_device_part(pool->basis, j, 1, 0, pool->gram->size);

    q.rows = pool->gram->size;
    q.cols = q.stride = 1;
    return q;
}

kfe_status kfe_i_device_pool_along(kfe_i_device_pool *pool, int64_t j, double *along)
{
    kfe_device_matrix q = feature_of(pool, j);

    pool->device->stage = "picking examples";
    return settle(pool, product(pool, &pool->candidates, &q, 0, along));
}

/* ---- features ---- */

/* q ← q − Qᵀ(Qq) for the first `features` rows Q; parts[features] += Qq. */
static kfe_device_status orthogonalise(kfe_i_device_pool *pool, int64_t features, double *parts,
                                       double *again)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *table = pool->device->table;
    kfe_device_matrix basis = kfe_device_part(pool->basis, 0, features, 0, pool->gram->size);
    kfe_device_matrix q = feature_of(pool, features);
    kfe_device_matrix small = small_of(pool, features, 1);

    KFE_DEVICE_TRY(product(pool, &basis, &q, 0, again));
    KFE_DEVICE_TRY(table->gemm(pool->device->handle, 1, 0, -1, &basis, &small, 1, &q));
    for (int64_t j = 0; j < features; j++)
        parts[j] += again[j];
cleanup:
    return status;
}

static kfe_device_status length_of(const kfe_i_device_pool *pool, int64_t j, double *length)
{
    kfe_device_matrix q = kfe_device_part(pool->basis, j, 1, 0, pool->gram->size);
    kfe_device_status status = pool->device->table->row_dots(pool->device->handle, &q, &q, length);

    *length = sqrt(*length);
    return status;
}

static kfe_device_status pick(kfe_i_device_pool *pool, int64_t example, double weight, int64_t features,
                              double *work, double *lengths)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix row = kfe_device_part(pool->basis, features, 1, 0, pool->gram->size);

    KFE_DEVICE_TRY(pool->gram->form->device->columns(pool->gram, weight * pool->shape.scale, &example, &row));
    KFE_DEVICE_TRY(length_of(pool, features, &lengths[0]));
    for (int64_t j = 0; j < features; j++)
        work[j] = 0;
    for (int pass = 0; pass < 2 && features > 0; pass++)
        KFE_DEVICE_TRY(orthogonalise(pool, features, work, work + features));
    KFE_DEVICE_TRY(length_of(pool, features, &lengths[1]));
cleanup:
    return status;
}

kfe_status kfe_i_device_pool_pick(kfe_i_device_pool *pool, int64_t example, double weight, int64_t features,
                                  double *column, double *whole, double *length)
{
    kfe_status status = KFE_OK;
    double lengths[2] = {0};
    double *work = NULL;

    KFE_ALLOC(pool->gram->ctx, work, 2 * features + 1);
    pool->device->stage = "picking examples";
    KFE_TRY(settle(pool, pick(pool, example, weight, features, work, lengths)));
    for (int64_t j = 0; j < features; j++)
        column[j] = work[j];
    *whole = lengths[0];
    *length = lengths[1];
cleanup:
    kfe_i_free(pool->gram->ctx, work);
    return status;
}

static kfe_device_status accept(kfe_i_device_pool *pool, int64_t features, double length, double *along)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *table = pool->device->table;
    kfe_device_matrix row = kfe_device_part(pool->basis, features, 1, 0, pool->gram->size);
    kfe_device_matrix q = feature_of(pool, features);
    kfe_device_matrix small = small_of(pool, 1, pool->shape.targets);
    double factor = 1 / length;

    KFE_DEVICE_TRY(table->scale(pool->device->handle, &row, &factor, NULL));
    if (pool->shape.targets == 0)
        return KFE_DEVICE_OK;
    KFE_DEVICE_TRY(product(pool, &row, &pool->residual, 0, along));
    KFE_DEVICE_TRY(table->gemm(pool->device->handle, 0, 0, -1, &q, &small, 1, &pool->residual));
cleanup:
    return status;
}

kfe_status kfe_i_device_pool_accept(kfe_i_device_pool *pool, int64_t features, double length, double *along)
{
    return settle(pool, accept(pool, features, length, along));
}
