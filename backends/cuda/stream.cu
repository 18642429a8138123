/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel values of rows in host memory with points on the device, times coefficients: the transform of large data. Rows pass
 * through three pairs of pinned buffers, so that copying in host memory, the two directions of transfer and the kernels all run at
 * the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "copier.h"
#include "internal.cuh"

enum { BUFFERS = 3 };
/* Numbers per buffer and per tile of kernel values. */
static const int64_t BUFFER_NUMBERS = (int64_t)4 << 20;
static const int64_t TILE_NUMBERS = (int64_t)64 << 20;

/* One pair of buffers. */
typedef struct buffer {
    double *host_in, *host_out; /* pinned */
    double *in, *out;           /* on the device */
    cudaEvent_t arrived, computed, left;
    int64_t first, count; /* rows that are on their way; count 0: none */
} buffer;

typedef struct pipeline {
    kfe_device *device;
    const kfe_device_kernel *kernel;
    const kfe_device_rows *rows;
    const kfe_device_points *support;
    const kfe_device_matrix *v;
    const kfe_device_output *out;
    kfe_device_type precision;
    int64_t piece; /* rows at a time */
    buffer buffers[BUFFERS];
    kfe_device_points points; /* the rows of a piece */
    double *centre;
    kfe_device_matrix tile;
    cudaStream_t inward, outward;
    kfe_cuda_copier *copier;
} pipeline;

/* ---- beginning and end ---- */

static int64_t piece_rows(const pipeline *p)
{
    int64_t widest = p->rows->cols > p->v->cols ? p->rows->cols : p->v->cols;
    int64_t rows = BUFFER_NUMBERS / (widest < 1 ? 1 : widest);
    int64_t tile = TILE_NUMBERS / (p->support->rows < 1 ? 1 : p->support->rows);

    rows = rows < tile ? rows : tile;
    rows = rows < 256 ? 256 : rows;
    return kfe_cuda_least(rows, p->rows->rows);
}

/* Cuts `count` numbers of type T off the memory. */
template <class T> static T *cut(char **memory, int64_t count)
{
    T *here = (T *)*memory;

    *memory += ((size_t)count * sizeof(T) + 255) / 256 * 256;
    return here;
}

/* Lays out the device's memory; returns its end. */
static char *lay_out(pipeline *p, char *memory)
{
    int64_t numbers = p->piece * p->rows->cols;

    for (int b = 0; b < BUFFERS; b++) {
        p->buffers[b].in = cut<double>(&memory, numbers);
        p->buffers[b].out = cut<double>(&memory, p->piece * p->v->cols);
    }
    p->centre = cut<double>(&memory, p->rows->cols);
    p->points.norms = cut<double>(&memory, p->piece);
    p->points.centred = cut<double>(&memory, p->rows->centre ? numbers : 0);
    if (p->precision == KFE_DEVICE_F32) {
        p->points.narrow = cut<float>(&memory, numbers);
        p->points.narrow_norms = cut<float>(&memory, p->piece);
    }
    return memory;
}

static kfe_device_status get_pinned(pipeline *p)
{
    kfe_cuda_slot *pinned = &p->device->pinned;
    int64_t in = p->piece * p->rows->cols;
    int64_t out = p->piece * p->v->cols;
    size_t bytes = (size_t)(BUFFERS * (in + out)) * sizeof(double);

    if (pinned->bytes < bytes) {
        cudaFreeHost(pinned->memory);
        *pinned = kfe_cuda_slot{NULL, 0};
        KFE_CUDA(p->device, cudaMallocHost(&pinned->memory, bytes));
        pinned->bytes = bytes;
    }
    double *at = (double *)pinned->memory;
    for (int b = 0; b < BUFFERS; b++, at += in + out) {
        p->buffers[b].host_in = at;
        p->buffers[b].host_out = at + in;
    }
    return KFE_DEVICE_OK;
}

static kfe_device_status make_events(pipeline *p)
{
    KFE_CUDA(p->device, cudaStreamCreateWithFlags(&p->inward, cudaStreamNonBlocking));
    KFE_CUDA(p->device, cudaStreamCreateWithFlags(&p->outward, cudaStreamNonBlocking));
    for (int b = 0; b < BUFFERS; b++) {
        KFE_CUDA(p->device, cudaEventCreateWithFlags(&p->buffers[b].arrived, cudaEventDisableTiming));
        KFE_CUDA(p->device, cudaEventCreateWithFlags(&p->buffers[b].computed, cudaEventDisableTiming));
        KFE_CUDA(p->device, cudaEventCreateWithFlags(&p->buffers[b].left, cudaEventDisableTiming));
    }
    return KFE_DEVICE_OK;
}

static kfe_device_status begin(pipeline *p)
{
    const kfe_device_rows *rows = p->rows;
    char *memory = NULL;
    void *tile = NULL;

    p->piece = piece_rows(p);
    p->points.device = p->device;
    p->points.cols = rows->cols;
    p->points.base = p->support->base;
    p->points.precision = p->precision;
    p->points.split.gamma = -1;
    int64_t bytes = (int64_t)(lay_out(p, NULL) - (char *)NULL);
    KFE_CUDA_OK(kfe_cuda_scratch(p->device, KFE_SLOT_STREAM, bytes, &memory));
    lay_out(p, memory);
    int64_t numbers = p->piece * p->support->rows;
    KFE_CUDA_OK(kfe_cuda_slot_get(p->device, KFE_SLOT_TILE, (size_t)numbers * (size_t)p->precision, &tile));
    p->tile = kfe_cuda_matrix(tile, p->piece, p->support->rows, p->precision);
    KFE_CUDA_OK(get_pinned(p));
    KFE_CUDA_OK(make_events(p));
    if (rows->centre)
        KFE_CUDA(p->device, cudaMemcpyAsync(p->centre, rows->centre, (size_t)rows->cols * 8,
                                            cudaMemcpyHostToDevice, p->device->stream));
    p->copier = kfe_cuda_copier_new(8.0 * (double)rows->rows * (double)(rows->cols + p->v->cols));
    return p->copier ? kfe_cuda_wait(p->device)
                     : kfe_cuda_fail(p->device, KFE_DEVICE_FAILED, "out of host memory");
}

static void end(pipeline *p)
{
    cudaStreamSynchronize(p->device->stream);
    if (p->inward) {
        cudaStreamSynchronize(p->inward);
        cudaStreamDestroy(p->inward);
    }
    if (p->outward) {
        cudaStreamSynchronize(p->outward);
        cudaStreamDestroy(p->outward);
    }
    for (int b = 0; b < BUFFERS; b++) {
        cudaEvent_t events[] = {p->buffers[b].arrived, p->buffers[b].computed, p->buffers[b].left};
        for (cudaEvent_t event : events)
            if (event)
                cudaEventDestroy(event);
    }
    kfe_cuda_copier_free(p->copier);
    cudaGetLastError();
}

/* ---- one piece ---- */

/* Brings the numbers that a buffer holds to the caller. */
static kfe_device_status finish_piece(pipeline *p, buffer *b)
{
    int64_t k = p->v->cols;

    if (b->count == 0)
        return KFE_DEVICE_OK;
    KFE_CUDA(p->device, cudaEventSynchronize(b->left));
    kfe_cuda_copy_job job = {
        b->host_out, k, p->out->values + b->first * p->out->stride, p->out->stride, b->count, k, p->out->add};
    kfe_cuda_copier_run(p->copier, &job);
    b->count = 0;
    return KFE_DEVICE_OK;
}

static kfe_device_status send_piece(pipeline *p, buffer *b)
{
    int64_t d = p->rows->cols;
    kfe_cuda_copy_job job = {
        p->rows->values + b->first * p->rows->stride, p->rows->stride, b->host_in, d, b->count, d, 0};

    kfe_cuda_copier_run(p->copier, &job);
    KFE_CUDA(p->device, cudaMemcpyAsync(b->in, b->host_in, (size_t)(b->count * d) * 8, cudaMemcpyHostToDevice,
                                        p->inward));
    KFE_CUDA(p->device, cudaEventRecord(b->arrived, p->inward));
    return KFE_DEVICE_OK;
}

/* Kernel values of the piece with the support, times v. */
static kfe_device_status compute_piece(pipeline *p, buffer *b)
{
    kfe_device *device = p->device;
    kfe_device_points points = p->points;
    kfe_device_range rows = {&points, 0, b->count};
    kfe_device_range cols = {p->support, 0, p->support->rows};
    kfe_device_matrix tile = p->tile;
    kfe_device_matrix out = kfe_cuda_matrix(b->out, b->count, p->v->cols, KFE_DEVICE_F64);

    KFE_CUDA(device, cudaStreamWaitEvent(device->stream, b->arrived, 0));
    points.rows = b->count;
    points.given = b->in;
    points.centred = p->rows->centre ? p->points.centred : b->in;
    KFE_CUDA_OK(kfe_cuda_points_prepare(device, &points, p->centre));
    tile.rows = b->count;
    KFE_CUDA_OK(kfe_cuda_tile(device, p->kernel, rows, cols, &tile, 0));
    KFE_CUDA_OK(kfe_cuda_gemm_any(device, 0, 0, 1, &tile, p->v, 0, &out));
    KFE_CUDA(device, cudaEventRecord(b->computed, device->stream));
    return KFE_DEVICE_OK;
}

static kfe_device_status receive_piece(pipeline *p, buffer *b)
{
    KFE_CUDA(p->device, cudaStreamWaitEvent(p->outward, b->computed, 0));
    KFE_CUDA(p->device, cudaMemcpyAsync(b->host_out, b->out, (size_t)(b->count * p->v->cols) * 8,
                                        cudaMemcpyDeviceToHost, p->outward));
    KFE_CUDA(p->device, cudaEventRecord(b->left, p->outward));
    return KFE_DEVICE_OK;
}

/* The watch function is asked without waiting for the device. */
static kfe_device_status ask(pipeline *p, int64_t done)
{
    if (p->device->watch && p->device->watch(p->device->watch_user, done, p->rows->rows))
        return kfe_cuda_fail(p->device, KFE_DEVICE_STOPPED, "stopped");
    return KFE_DEVICE_OK;
}

static kfe_device_status run(pipeline *p)
{
    int64_t number = 0;

    for (int64_t first = 0; first < p->rows->rows; first += p->piece, number++) {
        buffer *b = &p->buffers[number % BUFFERS];
        KFE_CUDA_OK(finish_piece(p, b));
        KFE_CUDA_OK(ask(p, first));
        b->first = first;
        b->count = kfe_cuda_least(p->piece, p->rows->rows - first);
        KFE_CUDA_OK(send_piece(p, b));
        KFE_CUDA_OK(compute_piece(p, b));
        KFE_CUDA_OK(receive_piece(p, b));
    }
    for (int64_t left = 0; left < BUFFERS; left++, number++)
        KFE_CUDA_OK(finish_piece(p, &p->buffers[number % BUFFERS]));
    return KFE_DEVICE_OK;
}

/* ---- sparse rows ---- */

static kfe_device_status sparse_piece(pipeline *p, const kfe_device_points *points, double *sums,
                                      double *host)
{
    kfe_device_range rows = {points, 0, points->rows};
    kfe_device_range cols = {p->support, 0, p->support->rows};
    kfe_device_matrix out = kfe_cuda_matrix(sums, points->rows, p->v->cols, KFE_DEVICE_F64);
    kfe_device_matrix tile = p->tile;

    tile.rows = points->rows;
    KFE_CUDA_OK(kfe_cuda_tile(p->device, p->kernel, rows, cols, &tile, 0));
    KFE_CUDA_OK(kfe_cuda_gemm_any(p->device, 0, 0, 1, &tile, p->v, 0, &out));
    return kfe_cuda_download(p->device, &out, host, p->v->cols);
}

static kfe_device_status sparse_pieces(pipeline *p, double *host)
{
    kfe_device_rows part = *p->rows;
    kfe_device_points *points = NULL;
    double *sums = NULL;
    void *tile = NULL;
    size_t numbers = (size_t)(p->piece * p->support->rows);

    KFE_CUDA_OK(kfe_cuda_slot_get(p->device, KFE_SLOT_TILE, numbers * (size_t)p->precision, &tile));
    p->tile = kfe_cuda_matrix(tile, p->piece, p->support->rows, p->precision);
    KFE_CUDA_OK(kfe_cuda_scratch(p->device, KFE_SLOT_STREAM, p->piece * p->v->cols, &sums));
    for (int64_t first = 0; first < p->rows->rows; first += p->piece) {
        part.rows = kfe_cuda_least(p->piece, p->rows->rows - first);
        part.row_start = p->rows->row_start + first;
        part.values = p->rows->values;
        KFE_CUDA_OK(ask(p, first));
        KFE_CUDA_OK(kfe_cuda_points_new(p->device, &part, p->support->base, p->precision, &points));
        kfe_device_status status = sparse_piece(p, points, sums, host);
        kfe_cuda_points_free(p->device, points);
        KFE_CUDA_OK(status);
        kfe_cuda_copy_job job = {host,           p->v->cols, p->out->values + first * p->out->stride,
                                 p->out->stride, part.rows,  p->v->cols,
                                 p->out->add};
        kfe_cuda_copier_run(p->copier, &job);
    }
    return KFE_DEVICE_OK;
}

static kfe_device_status run_sparse(pipeline *p)
{
    p->piece =
        kfe_cuda_least(TILE_NUMBERS / 8 / (p->support->rows < 1 ? 1 : p->support->rows) + 1, p->rows->rows);
    double *host = (double *)malloc((size_t)(p->piece * p->v->cols) * sizeof *host);
    kfe_device_status status = KFE_DEVICE_FAILED;

    p->copier = kfe_cuda_copier_new(0);
    if (host && p->copier)
        status = sparse_pieces(p, host);
    else
        kfe_cuda_fail(p->device, KFE_DEVICE_FAILED, "out of host memory");
    free(host);
    kfe_cuda_copier_free(p->copier);
    return status;
}

kfe_device_status kfe_cuda_stream(kfe_device *device, const kfe_device_kernel *kernel,
                                  const kfe_device_rows *rows, const kfe_device_points *support,
                                  const kfe_device_matrix *v, kfe_device_type precision,
                                  const kfe_device_output *out)
{
    pipeline p;
    kfe_device_rows used = *rows;

    if (rows->rows <= 0 || v->cols <= 0)
        return KFE_DEVICE_OK;
    if (support->base == KFE_FORMULA_COORDINATE)
        used.centre = NULL;
    memset(&p, 0, sizeof p);
    p.device = device;
    p.kernel = kernel;
    p.rows = &used;
    p.support = support;
    p.v = v;
    p.out = out;
    p.precision = support->precision == KFE_DEVICE_F32 ? precision : KFE_DEVICE_F64;
    if (rows->row_start)
        return run_sparse(&p);
    kfe_device_status status = begin(&p);
    if (status == KFE_DEVICE_OK)
        status = run(&p);
    end(&p);
    return status;
}
