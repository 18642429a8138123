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
    cudaDeviceProp properties;

    KFE_CUDA(device, cudaSetDevice(device->index));
    KFE_CUDA(device, cudaGetDeviceProperties(&properties, device->index));
    snprintf(device->name, sizeof device->name, "%.127s", properties.name);
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
        return say(error, KFE_DEVICE_NO_DEVICE, "there is no GPU with this number", "");
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
    while (device->memory)
        kfe_cuda_put(device, device->memory->address);
    kfe_cuda_spare_free(device);
    cudaFree(device->slots[KFE_SLOT_LIBRARY].memory);
    cudaFreeHost(device->pinned.memory);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    cudaGetLastError();
    free(device);
}

kfe_device_status kfe_cuda_info(kfe_device *device, kfe_device_info *out)
{
    size_t available = 0;
    size_t total = 0;
    size_t spare = device->idle_bytes; /* what allocate takes back when memory is short */

    KFE_CUDA(device, cudaMemGetInfo(&available, &total));
    snprintf(out->name, sizeof out->name, "%s", device->name);
    for (int slot = 0; slot < KFE_SLOTS; slot++)
        spare += slot == KFE_SLOT_LIBRARY ? 0 : device->slots[slot].bytes;
    available += spare;
    out->total = device->limit && device->limit < total ? device->limit : total;
    out->free = available;
    if (device->limit) {
        uint64_t used = device->used - spare;
        uint64_t left = device->limit > used ? device->limit - used : 0;
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

/* Tests: whether this is the allocation that fails. */
static int must_fail(kfe_device *device)
{
    device->allocations++;
    return device->allocations == device->fail_at;
}

static cudaError_t device_malloc(kfe_device *device, size_t bytes, void **out)
{
    if (device->limit && device->used + bytes > device->limit)
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

/* Loops ask for the same few sizes again and again, and cudaFree waits for the device. */
#define KFE_IDLE_LARGEST ((size_t)256 << 20)
#define KFE_IDLE_MOST ((size_t)1 << 30)

static size_t rounded(size_t bytes)
{
    return (bytes + 511) / 512 * 512;
}

/* Idle memory of this size, taken off the list; NULL: none. */
static kfe_cuda_memory *take_idle(kfe_device *device, size_t bytes)
{
    for (kfe_cuda_memory **at = &device->idle; *at; at = &(*at)->next)
        if ((*at)->bytes == bytes) {
            kfe_cuda_memory *entry = *at;
            *at = entry->next;
            device->idle_bytes -= bytes;
            return entry;
        }
    return NULL;
}

static void free_idle(kfe_device *device)
{
    while (device->idle) {
        kfe_cuda_memory *entry = device->idle;
        device->idle = entry->next;
        device_free(device, entry->address, entry->bytes);
        free(entry);
    }
    device->idle_bytes = 0;
}

static kfe_device_status new_memory(kfe_device *device, size_t bytes, kfe_cuda_memory **out)
{
    kfe_cuda_memory *entry = (kfe_cuda_memory *)calloc(1, sizeof *entry);

    *out = NULL;
    if (!entry)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    cudaError_t error = device_malloc(device, bytes, &entry->address);
    if (error == cudaErrorMemoryAllocation && device->idle) {
        cudaGetLastError();
        free_idle(device);
        error = device_malloc(device, bytes, &entry->address);
    }
    if (error != cudaSuccess) {
        free(entry);
        return error == cudaErrorMemoryAllocation ? no_memory(device, bytes)
                                                  : kfe_cuda_check(device, error, "cudaMalloc");
    }
    entry->bytes = bytes;
    *out = entry;
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_get(kfe_device *device, size_t bytes, void **out)
{
    *out = NULL;
    if (must_fail(device))
        return no_memory(device, bytes);
    bytes = rounded(bytes ? bytes : 1);
    kfe_cuda_memory *entry = take_idle(device, bytes);
    if (!entry)
        KFE_CUDA_OK(new_memory(device, bytes, &entry));
    entry->next = device->memory;
    device->memory = entry;
    *out = entry->address;
    return KFE_DEVICE_OK;
}

void kfe_cuda_put(kfe_device *device, void *memory)
{
    kfe_cuda_memory **at = &device->memory;

    while (memory && *at && (*at)->address != memory)
        at = &(*at)->next;
    if (!memory || !*at)
        return;
    kfe_cuda_memory *entry = *at;
    *at = entry->next;
    if (entry->bytes <= KFE_IDLE_LARGEST && device->idle_bytes + entry->bytes <= KFE_IDLE_MOST) {
        entry->next = device->idle;
        device->idle = entry;
        device->idle_bytes += entry->bytes;
        return;
    }
    device_free(device, memory, entry->bytes);
    free(entry);
}

/* Memory for a slot; what is idle is given back if there is no other. */
static cudaError_t slot_malloc(kfe_device *device, size_t bytes, void **out)
{
    cudaError_t error = device_malloc(device, bytes, out);

    if (error != cudaErrorMemoryAllocation)
        return error;
    cudaGetLastError();
    if (!device->idle)
        return error;
    free_idle(device);
    return device_malloc(device, bytes, out);
}

kfe_device_status kfe_cuda_slot_get(kfe_device *device, int slot, size_t bytes, void **out)
{
    kfe_cuda_slot *s = &device->slots[slot];
    /* a loop whose calls need a little more each time must not wait for cudaFree every time */
    size_t roomy = s->memory ? bytes + bytes / 2 : bytes;

    *out = s->memory;
    if (bytes <= s->bytes && s->memory)
        return KFE_DEVICE_OK;
    device_free(device, s->memory, s->bytes);
    *s = kfe_cuda_slot{NULL, 0};
    *out = NULL;
    if (must_fail(device))
        return no_memory(device, bytes);
    cudaError_t error = slot_malloc(device, roomy, out);
    if (error == cudaErrorMemoryAllocation && roomy > bytes) {
        roomy = bytes;
        error = slot_malloc(device, roomy, out);
    }
    if (error == cudaErrorMemoryAllocation)
        return no_memory(device, bytes);
    KFE_CUDA_OK(kfe_cuda_check(device, error, "cudaMalloc"));
    *s = kfe_cuda_slot{*out, roomy};
    return KFE_DEVICE_OK;
}

void kfe_cuda_spare_free(kfe_device *device)
{
    free_idle(device);
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
        kfe_cuda_spare_free(device);
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
