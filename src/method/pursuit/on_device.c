/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a pursuit whose columns and features are on a device: pool.c and pursuit.c call them instead of working on host
 * memory. Decisions are the same; they need a few numbers per candidate. */
#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "method/pursuit/pursuit.h"

/* Directions of several examples, the bound and low memory need columns on the host. */
static int suits(const kfe_i_pursuit *p)
{
    return p->gram && p->sparsity == 1 && !p->settings->low_memory && !p->settings->bound;
}

kfe_status kfe_i_pursuit_open_device_pool(kfe_i_pursuit *p, int64_t size, kfe_i_device_pool *long_arrays)
{
    kfe_i_device_pool_shape shape = {.size = size,
                                     .most = p->found.most,
                                     .targets = p->targets,
                                     .type = kfe_i_pool_is_small(p, size) ? KFE_DEVICE_F64 : KFE_DEVICE_F32,
                                     .scale = 1 / p->kernel_unit};
    int open = 0;
    kfe_status status = KFE_OK;

    p->device_pool = NULL;
    if (suits(p))
        status = kfe_i_device_pool_open(p->gram, &shape, p->residual, long_arrays, &open);
    if (open)
        p->device_pool = long_arrays;
    return status;
}

kfe_status kfe_i_pool_load(kfe_i_pool *pool, const int64_t *places, int64_t count, int along, double *squares,
                           double *work)
{
    kfe_status status = KFE_OK;
    const kfe_i_pursuit *p = pool->pursuit;
    int64_t index[KFE_DEVICE_POOL_CHUNK];
    double *covariance = NULL;

    for (int64_t c = 0; c < count; c++)
        index[c] = pool->example[places[c]];
    KFE_ALLOC(pool->ctx, covariance, count * p->targets);
    KFE_TRY(kfe_i_device_pool_load(p->device_pool, index, places, count, p->found.count,
                                   &(kfe_i_device_pool_measures){squares, covariance, along ? work : NULL}));
    for (int64_t c = 0; c < count; c++)
        for (int64_t t = 0; t < p->targets; t++)
            pool->covariance[places[c] * p->targets + t] = covariance[c * p->targets + t];
cleanup:
    kfe_i_free(pool->ctx, covariance);
    return status;
}

kfe_status kfe_i_pursuit_pick(kfe_i_pursuit *p, int64_t example, double weight, double *column,
                              double *length)
{
    double whole = 0;
    kfe_status status =
        kfe_i_device_pool_pick(p->device_pool, example, weight, p->found.count, column, &whole, length);

    if (!(*length > sqrt(DBL_EPSILON) * whole))
        *length = 0;
    return status;
}
