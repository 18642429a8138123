/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes a device, turns failing calls into statuses, and keeps the device's memory; every call of the table comes
 * through here first. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.cuh"

/* Tensor cores of this generation and asynchronous copies are what the kernels are written for. */
enum { LEAST_CAPABILITY = 8 };
/* cuBLAS works in memory of ours, so that it never allocates. */
#define KFE_CUBLAS_WORKSPACE ((size_t)64 << 20)

/* ---- failures ---- */

kfe_device_status kfe_cuda_fail(kfe_device *device, kfe_device_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(device->text, sizeof device->text, format, arguments);
    va_end(arguments);
    return status;
}

/* The name of a call without its arguments. */
static int name_length(const char *call)
{
    return (int)strcspn(call, "(");
}

kfe_device_status kfe_cuda_check(kfe_device *device, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return KFE_DEVICE_OK;
    cudaGetLastError(); /* forgets an error that does not last */
    return kfe_cuda_fail(device,
                         error == cudaErrorMemoryAllocation ? KFE_DEVICE_NO_MEMORY : KFE_DEVICE_FAILED,
                         "%.*s: %s", name_length(call), call, cudaGetErrorString(error));
}

kfe_device_status kfe_cuda_check_blas(kfe_device *device, cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return KFE_DEVICE_OK;
    return kfe_cuda_fail(device,
                         status == CUBLAS_STATUS_ALLOC_FAILED ? KFE_DEVICE_NO_MEMORY : KFE_DEVICE_FAILED,
                         "%s: %s", call, kfe_cuda_lib.cublasGetStatusString(status));
}

kfe_device_status kfe_cuda_check_solver(kfe_device *device, cusolverStatus_t status, const char *call)
{
    if (status == CUSOLVER_STATUS_SUCCESS)
        return KFE_DEVICE_OK;
    return kfe_cuda_fail(device,
                         status == CUSOLVER_STATUS_ALLOC_FAILED ? KFE_DEVICE_NO_MEMORY : KFE_DEVICE_FAILED,
                         "%s: status %d of cuSOLVER", call, (int)status);
}

const char *kfe_cuda_message(const kfe_device *device)
{
    return device->text;
}

void kfe_cuda_set_watch(kfe_device *device, kfe_device_watch watch, void *user)
{
    device->watch = watch;
    device->watch_user = user;
}

kfe_device_status kfe_cuda_ask(kfe_device *device, int64_t done, int64_t total)
{
    if (!device->watch)
        return KFE_DEVICE_OK;
    KFE_CUDA(device, cudaStreamSynchronize(device->stream));
    if (device->watch(device->watch_user, done, total))
        return kfe_cuda_fail(device, KFE_DEVICE_STOPPED, "stopped");
    return KFE_DEVICE_OK;
}

/* ---- opening ---- */

static kfe_device_status say(kfe_device_error *error, kfe_device_status status, const char *what,
                             const char *why)
{
    if (error)
        snprintf(error->text, sizeof error->text, "%s%s%s", what, *why ? ": " : "", why);
    return status;
}

kfe_device_status kfe_cuda_count(int *devices, kfe_device_error *error)
{
    cudaError_t status = cudaGetDeviceCount(devices);

    if (status == cudaSuccess && *devices > 0)
        return KFE_DEVICE_OK;
    *devices = 0;
    cudaGetLastError();
    if (status == cudaSuccess || status == cudaErrorNoDevice)
        return say(error, KFE_DEVICE_NO_DEVICE, "the NVIDIA driver finds no GPU", "");
    return say(error, KFE_DEVICE_NO_DRIVER, "the NVIDIA driver is missing or older than CUDA 13 needs",
               cudaGetErrorString(status));
}

static kfe_device_status start(kfe_device *device)
{
    void *workspace = NULL;

    KFE_CUDA(device, cudaSetDevice(device->index));
    KFE_CUDA(device,
             cudaDeviceGetAttribute(&device->processors, cudaDevAttrMultiProcessorCount, device->index));
    KFE_CUDA(device, cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
    KFE_BLAS(device, cublasCreate_v2, &device->blas);
    KFE_BLAS(device, cublasSetStream_v2, device->blas, device->stream);
    KFE_CUDA_OK(kfe_cuda_slot_get(device, KFE_SLOT_LIBRARY, KFE_CUBLAS_WORKSPACE, &workspace));
    KFE_BLAS(device, cublasSetWorkspace_v2, device->blas, workspace, KFE_CUBLAS_WORKSPACE);
    return KFE_DEVICE_OK;
}

static kfe_device_status check_capability(int index, kfe_device_error *error)
{
    int major = 0;

    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index) != cudaSuccess) {
        cudaGetLastError();
        return say(error, KFE_DEVICE_NO_DEVICE, "there is no GPU of this number", "");
    }
    if (major < LEAST_CAPABILITY)
        return say(error, KFE_DEVICE_NO_DEVICE, "the GPU is older than compute capability 8.0", "");
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_open(int index, kfe_device **out, kfe_device_error *error)
{
    int devices = 0;
    kfe_device_status status = kfe_cuda_count(&devices, error);

    *out = NULL;
    if (status != KFE_DEVICE_OK)
        return status;
    KFE_CUDA_OK(check_capability(index, error));
    const char *missing = kfe_cuda_load_cublas();
    if (missing)
        return say(error, KFE_DEVICE_NO_DRIVER, missing, "");
    kfe_device *device = (kfe_device *)calloc(1, sizeof *device);
    if (!device)
        return say(error, KFE_DEVICE_FAILED, "out of host memory", "");
    const char *fail_at = getenv("KFE_DEVICE_FAIL_ALLOCATION");
    const char *limit = getenv("KFE_DEVICE_MEMORY");
    device->index = index;
    device->fail_at = fail_at ? strtol(fail_at, NULL, 10) : 0;
    device->limit = limit ? strtoull(limit, NULL, 10) : 0;
    status = start(device);
    if (status != KFE_DEVICE_OK) {
        say(error, status, device->text, "");
        kfe_cuda_close(device);
        return status;
    }
    *out = device;
    return KFE_DEVICE_OK;
}

void kfe_cuda_close(kfe_device *device)
{
    if (!device)
        return;
    while (device->points)
        kfe_cuda_points_free(device, device->points);
    if (device->stream)
        cudaStreamSynchronize(device->stream);
    if (device->solver_params)
        kfe_cuda_lib.cusolverDnDestroyParams(device->solver_params);
    if (device->solver)
        kfe_cuda_lib.cusolverDnDestroy(device->solver);
    if (device->blas)
        kfe_cuda_lib.cublasDestroy_v2(device->blas);
    kfe_cuda_slots_free(device);
    cudaFree(device->slots[KFE_SLOT_LIBRARY].memory);
    cudaFreeHost(device->pinned.memory);
    while (device->memory)
        kfe_cuda_put(device, device->memory->address);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    cudaGetLastError();
    free(device);
}

kfe_device_status kfe_cuda_info(kfe_device *device, kfe_device_info *out)
{
    cudaDeviceProp properties;
    size_t available = 0;
    size_t total = 0;

    KFE_CUDA(device, cudaGetDeviceProperties(&properties, device->index));
    KFE_CUDA(device, cudaMemGetInfo(&available, &total));
    snprintf(out->name, sizeof out->name, "%.127s", properties.name);
    for (int slot = 0; slot < KFE_SLOTS; slot++) /* allocate takes these back when memory is short */
        available += slot == KFE_SLOT_LIBRARY ? 0 : device->slots[slot].bytes;
    out->total = device->limit && device->limit < total ? device->limit : total;
    out->free = available;
    if (device->limit) {
        uint64_t left = device->limit > device->used ? device->limit - device->used : 0;
        out->free = left < available ? left : available;
    }
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_wait(kfe_device *device)
{
    KFE_CUDA(device, cudaStreamSynchronize(device->stream));
    return KFE_DEVICE_OK;
}

/* ---- memory ---- */

static cudaError_t device_malloc(kfe_device *device, size_t bytes, void **out)
{
    device->allocations++;
    if (device->allocations == device->fail_at || (device->limit && device->used + bytes > device->limit))
        return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc(out, bytes ? bytes : 1);
    if (error == cudaSuccess)
        device->used += bytes;
    return error;
}

/* Waits for work that uses the memory. */
static void device_free(kfe_device *device, void *memory, size_t bytes)
{
    if (memory)
        device->used -= bytes;
    cudaFree(memory);
}

static kfe_device_status no_memory(kfe_device *device, size_t bytes)
{
    size_t available = 0;
    size_t total = 0;

    cudaGetLastError();
    cudaMemGetInfo(&available, &total);
    return kfe_cuda_fail(device, KFE_DEVICE_NO_MEMORY,
                         "cudaMalloc: %.1f MB asked for, %.1f of %.1f MB of GPU memory are free",
                         (double)bytes / 1e6, (double)available / 1e6, (double)total / 1e6);
}

kfe_device_status kfe_cuda_get(kfe_device *device, size_t bytes, void **out)
{
    kfe_cuda_memory *entry = (kfe_cuda_memory *)malloc(sizeof *entry);

    *out = NULL;
    if (!entry)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    cudaError_t error = device_malloc(device, bytes, out);
    if (error != cudaSuccess) {
        free(entry);
        *out = NULL;
        return error == cudaErrorMemoryAllocation ? no_memory(device, bytes)
                                                  : kfe_cuda_check(device, error, "cudaMalloc");
    }
    entry->address = *out;
    entry->bytes = bytes;
    entry->next = device->memory;
    device->memory = entry;
    return KFE_DEVICE_OK;
}

void kfe_cuda_put(kfe_device *device, void *memory)
{
    for (kfe_cuda_memory **at = &device->memory; memory && *at; at = &(*at)->next)
        if ((*at)->address == memory) {
            kfe_cuda_memory *entry = *at;
            *at = entry->next;
            device_free(device, memory, entry->bytes);
            free(entry);
            return;
        }
}

kfe_device_status kfe_cuda_slot_get(kfe_device *device, int slot, size_t bytes, void **out)
{
    kfe_cuda_slot *s = &device->slots[slot];

    *out = s->memory;
    if (bytes <= s->bytes && s->memory)
        return KFE_DEVICE_OK;
    device_free(device, s->memory, s->bytes);
    *s = kfe_cuda_slot{NULL, 0};
    *out = NULL;
    cudaError_t error = device_malloc(device, bytes, out);
    if (error == cudaErrorMemoryAllocation)
        return no_memory(device, bytes);
    KFE_CUDA_OK(kfe_cuda_check(device, error, "cudaMalloc"));
    *s = kfe_cuda_slot{*out, bytes};
    return KFE_DEVICE_OK;
}

void kfe_cuda_slots_free(kfe_device *device)
{
    for (int slot = 0; slot < KFE_SLOTS; slot++) {
        if (slot == KFE_SLOT_LIBRARY)
            continue;
        device_free(device, device->slots[slot].memory, device->slots[slot].bytes);
        device->slots[slot] = kfe_cuda_slot{NULL, 0};
    }
}

/* When memory is short, what calls keep for the next one is given back first. */
kfe_device_status kfe_cuda_allocate(kfe_device *device, uint64_t bytes, uint64_t *address)
{
    void *memory = NULL;
    kfe_device_status status = kfe_cuda_get(device, (size_t)bytes, &memory);

    *address = 0;
    if (status == KFE_DEVICE_NO_MEMORY && device->allocations != device->fail_at) {
        kfe_cuda_slots_free(device);
        status = kfe_cuda_get(device, (size_t)bytes, &memory);
    }
    KFE_CUDA_OK(status);
    *address = (uint64_t)(uintptr_t)memory;
    return KFE_DEVICE_OK;
}

void kfe_cuda_release(kfe_device *device, uint64_t address)
{
    kfe_cuda_put(device, (void *)(uintptr_t)address);
}
