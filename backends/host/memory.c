/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host plug-in: blocks of the heap in a list, counted against a limit, and copies between matrices. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/host.h"

/* In front of every block. */
struct host_allocation {
    alignas(64) host_allocation *next;
    host_allocation *before;
    uint64_t bytes;
};

void *host_allocate(kfe_device *device, uint64_t bytes)
{
    int fails = device->until_failure == 1;

    if (device->until_failure > 0)
        device->until_failure--;
    if (fails || bytes > device->limit - (device->used < device->limit ? device->used : device->limit)) {
        (void)host_fail(device, KFE_DEVICE_NO_MEMORY, "the memory of the device is used up");
        return NULL;
    }
    size_t size = (sizeof(host_allocation) + (size_t)bytes + 63) / 64 * 64;
    host_allocation *block = aligned_alloc(64, size);
    if (!block) {
        (void)host_fail(device, KFE_DEVICE_NO_MEMORY, "aligned_alloc: out of memory");
        return NULL;
    }
    memset(block, 0, size);
    block->bytes = bytes;
    block->next = device->allocations;
    if (block->next)
        block->next->before = block;
    device->allocations = block;
    device->used += bytes;
    return block + 1;
}

void host_release(kfe_device *device, void *memory)
{
    host_allocation *block = memory;

    if (!block)
        return;
    block--;
    if (block->next)
        block->next->before = block->before;
    if (block->before)
        block->before->next = block->next;
    else
        device->allocations = block->next;
    device->used -= block->bytes;
    free(block);
}

void host_release_all(kfe_device *device)
{
    for (host_allocation *block = device->allocations; block;) {
        host_allocation *next = block->next;
        free(block);
        block = next;
    }
    device->allocations = NULL;
    device->used = 0;
}

/* ---- copies ---- */

kfe_device_status host_upload(kfe_device *device, const double *from, int64_t stride,
                              const kfe_device_matrix *to)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j, from[i * stride + j]);
    return KFE_DEVICE_OK;
}

kfe_device_status host_download(kfe_device *device, const kfe_device_matrix *from, double *to, int64_t stride)
{
    (void)device;
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t j = 0; j < from->cols; j++)
            to[i * stride + j] = host_get(from, i, j);
    return KFE_DEVICE_OK;
}

kfe_device_status host_copy(kfe_device *device, const kfe_device_matrix *from, const kfe_device_matrix *to)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j, host_get(from, i, j));
    return KFE_DEVICE_OK;
}

kfe_device_status host_fill(kfe_device *device, const kfe_device_matrix *to, double value)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j, value);
    return KFE_DEVICE_OK;
}

kfe_device_status host_gather(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                              const int64_t *cols, const kfe_device_matrix *to)
{
    (void)device;
    for (int64_t i = 0; i < to->rows; i++)
        for (int64_t j = 0; j < to->cols; j++)
            host_set(to, i, j, host_get(from, rows ? rows[i] : i, cols ? cols[j] : j));
    return KFE_DEVICE_OK;
}
