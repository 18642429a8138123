/* SPDX-License-Identifier: Apache-2.0 */
/* Moves matrices between host and device, converts, fills and gathers them: the memory part of the table. */
#include "each.cuh"

/* Numbers that pass through the device at a time when they are converted. */
#define KFE_STAGE_NUMBERS ((int64_t)8 << 20)

static int is_empty(const kfe_device_matrix *m)
{
    return m->rows <= 0 || m->cols <= 0;
}

template <class A, class B> struct convert_entry {
    const A *from;
    int64_t from_stride;
    B *to;
    int64_t to_stride;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        to[i * to_stride + j] = (B)from[i * from_stride + j];
    }
};

template <class A, class B>
static kfe_device_status convert(kfe_device *device, const kfe_device_matrix *from,
                                 const kfe_device_matrix *to)
{
    convert_entry<A, B> f = {kfe_cuda_at<A>(from), from->stride, kfe_cuda_at<B>(to), to->stride};

    return kfe_cuda_each(device, f, to->rows, to->cols, "convert");
}

kfe_device_status kfe_cuda_convert(kfe_device *device, const kfe_device_matrix *from,
                                   const kfe_device_matrix *to)
{
    return KFE_EACH_TYPES(from, to, convert, device, from, to);
}

kfe_device_status kfe_cuda_copy(kfe_device *device, const kfe_device_matrix *from,
                                const kfe_device_matrix *to)
{
    return kfe_cuda_convert(device, from, to);
}

/* ---- host memory ---- */

static kfe_device_status upload_wide(kfe_device *device, const double *from, int64_t stride,
                                     const kfe_device_matrix *to)
{
    KFE_CUDA(device, cudaMemcpy2DAsync(kfe_cuda_at<double>(to), (size_t)to->stride * 8, from,
                                       (size_t)stride * 8, (size_t)to->cols * 8, (size_t)to->rows,
                                       cudaMemcpyHostToDevice, device->stream));
    return KFE_DEVICE_OK;
}

/* Rows per piece such that a piece has about KFE_STAGE_NUMBERS. */
static int64_t piece_rows(const kfe_device_matrix *m)
{
    int64_t rows = KFE_STAGE_NUMBERS / m->cols;

    return rows < 1 ? 1 : rows > m->rows ? m->rows : rows;
}

kfe_device_status kfe_cuda_upload(kfe_device *device, const double *from, int64_t stride,
                                  const kfe_device_matrix *to)
{
    double *stage = NULL;

    if (is_empty(to))
        return KFE_DEVICE_OK;
    if (to->type == KFE_DEVICE_F64) {
        KFE_CUDA_OK(upload_wide(device, from, to->rows == 1 ? to->cols : stride, to));
        return kfe_cuda_wait(device); /* the caller may change its memory now */
    }
    int64_t rows = piece_rows(to);
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_STAGE, rows * to->cols, &stage));
    for (int64_t first = 0; first < to->rows; first += rows) {
        int64_t count = kfe_cuda_least(rows, to->rows - first);
        kfe_device_matrix piece = kfe_cuda_matrix(stage, count, to->cols, KFE_DEVICE_F64);
        kfe_device_matrix part = kfe_device_part(*to, first, count, 0, to->cols);
        KFE_CUDA_OK(upload_wide(device, from + first * stride, count == 1 ? to->cols : stride, &piece));
        KFE_CUDA_OK(kfe_cuda_convert(device, &piece, &part));
    }
    return kfe_cuda_wait(device);
}

static kfe_device_status download_wide(kfe_device *device, const kfe_device_matrix *from, double *to,
                                       int64_t stride)
{
    KFE_CUDA(device, cudaMemcpy2DAsync(to, (size_t)stride * 8, kfe_cuda_at<double>(from),
                                       (size_t)from->stride * 8, (size_t)from->cols * 8, (size_t)from->rows,
                                       cudaMemcpyDeviceToHost, device->stream));
    return kfe_cuda_wait(device);
}

/* Copies do not accept a pitch below the number of columns, as the stride of a single row may be, nor a pitch of more than 2 GB. */
static int is_plain(const kfe_device_matrix *m, int64_t stride)
{
    return m->type == KFE_DEVICE_F64 && m->stride >= m->cols && stride >= m->cols &&
           m->stride < ((int64_t)1 << 27);
}

kfe_device_status kfe_cuda_download(kfe_device *device, const kfe_device_matrix *from, double *to,
                                    int64_t stride)
{
    double *stage = NULL;

    if (is_empty(from))
        return KFE_DEVICE_OK;
    if (is_plain(from, stride) && from->cols > 8)
        return download_wide(device, from, to, stride);
    int64_t rows = piece_rows(from);
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_STAGE, rows * from->cols, &stage));
    for (int64_t first = 0; first < from->rows; first += rows) {
        int64_t count = kfe_cuda_least(rows, from->rows - first);
        kfe_device_matrix piece = kfe_cuda_matrix(stage, count, from->cols, KFE_DEVICE_F64);
        kfe_device_matrix part = kfe_device_part(*from, first, count, 0, from->cols);
        KFE_CUDA_OK(kfe_cuda_convert(device, &part, &piece));
        KFE_CUDA_OK(download_wide(device, &piece, to + first * stride, count == 1 ? from->cols : stride));
    }
    return KFE_DEVICE_OK;
}

/* ---- filling and gathering ---- */

template <class T> struct fill_entry {
    T *to;
    int64_t stride;
    T value;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        to[i * stride + j] = value;
    }
};

kfe_device_status kfe_cuda_fill(kfe_device *device, const kfe_device_matrix *to, double value)
{
    fill_entry<double> wide = {kfe_cuda_at<double>(to), to->stride, value};
    fill_entry<float> narrow = {kfe_cuda_at<float>(to), to->stride, (float)value};

    return to->type == KFE_DEVICE_F64 ? kfe_cuda_each(device, wide, to->rows, to->cols, "fill")
                                      : kfe_cuda_each(device, narrow, to->rows, to->cols, "fill");
}

/* rows and cols: NULL stands for 0, 1, 2, … */
template <class A, class B> struct gather_entry {
    const A *from;
    int64_t from_stride;
    const int64_t *rows, *cols;
    B *to;
    int64_t to_stride;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        to[i * to_stride + j] = (B)from[(rows ? rows[i] : i) * from_stride + (cols ? cols[j] : j)];
    }
};

static kfe_device_status upload_indices(kfe_device *device, const int64_t *rows, int64_t row_count,
                                        const int64_t *cols, int64_t col_count, int64_t **out)
{
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_INDEX, row_count + col_count, out));
    if (rows)
        KFE_CUDA(device,
                 cudaMemcpyAsync(*out, rows, (size_t)row_count * 8, cudaMemcpyHostToDevice, device->stream));
    if (cols)
        KFE_CUDA(device, cudaMemcpyAsync(*out + row_count, cols, (size_t)col_count * 8,
                                         cudaMemcpyHostToDevice, device->stream));
    return kfe_cuda_wait(device);
}

template <class A, class B>
static kfe_device_status gather(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                                const int64_t *cols, const kfe_device_matrix *to)
{
    gather_entry<A, B> f = {kfe_cuda_at<A>(from), from->stride, rows, cols, kfe_cuda_at<B>(to), to->stride};

    return kfe_cuda_each(device, f, to->rows, to->cols, "gather");
}

kfe_device_status kfe_cuda_gather(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                                  const int64_t *cols, const kfe_device_matrix *to)
{
    int64_t *index = NULL;

    if (is_empty(to))
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(upload_indices(device, rows, to->rows, cols, to->cols, &index));
    const int64_t *r = rows ? index : NULL;
    const int64_t *c = cols ? index + to->rows : NULL;
    return KFE_EACH_TYPES(from, to, gather, device, from, r, c, to);
}

kfe_device_status kfe_cuda_upload_index(kfe_device *device, const int64_t *index, int64_t count,
                                        int64_t **out)
{
    return upload_indices(device, index, count, NULL, 0, out);
}

kfe_device_status kfe_cuda_gather_rows(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                                       const kfe_device_matrix *to)
{
    return KFE_EACH_TYPES(from, to, gather, device, from, rows, NULL, to);
}
