/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with kernel matrices that are never stored. The Gaussian kernel of up to 128 columns in single precision has a kernel
 * of its own (rbf_times.cu); everything else is evaluated tile by tile and multiplied by cuBLAS. A symmetric product evaluates the
 * lower half of the tiles and multiplies each with both sides. Sums over tiles are in double precision.
 */
#include "internal.cuh"

enum { SIDE = 8192, SIDE_WIDE = 4096 };

/* One tile, its vectors and its sums. */
typedef struct tile_product {
    const kfe_device_kernel *kernel;
    kfe_device_range rows, cols;
    const kfe_device_product *product;
    int64_t row, col; /* where the tile is in the product */
    int both;         /* multiply the transpose as well */
} tile_product;

/* out[range] += op(tile)·v[range] in double precision. */
static kfe_device_status multiply_wide(kfe_device *device, const tile_product *t, const double *tile)
{
    const kfe_device_matrix *v = t->product->v;
    const kfe_device_matrix *out = t->product->out;
    kfe_cuda_gemm_args g = {0, 0, t->rows.count, v->cols, t->cols.count, 1, 1};
    kfe_cuda_gemm_args turned = {1, 0, t->cols.count, v->cols, t->rows.count, 1, 1};
    const double *from = kfe_cuda_at<double>(v);
    double *to = kfe_cuda_at<double>(out);

    KFE_CUDA_OK(kfe_cuda_gemm(device, &g, tile, t->cols.count, from + t->col * v->stride, v->stride,
                              to + t->row * out->stride, out->stride));
    if (!t->both)
        return KFE_DEVICE_OK;
    return kfe_cuda_gemm(device, &turned, tile, t->cols.count, from + t->row * v->stride, v->stride,
                         to + t->col * out->stride, out->stride);
}

/* The same for tile and vectors in single precision; narrow_v has v->cols numbers per row. */
static kfe_device_status multiply_narrow(kfe_device *device, const tile_product *t, const float *tile,
                                         const float *narrow_v, float *sums)
{
    int64_t k = t->product->v->cols;
    kfe_cuda_gemm_args g = {0, 0, t->rows.count, k, t->cols.count, 1, 0};
    kfe_cuda_gemm_args turned = {1, 0, t->cols.count, k, t->rows.count, 1, 0};
    kfe_device_matrix from = kfe_cuda_matrix(sums, t->rows.count, k, KFE_DEVICE_F32);
    kfe_device_matrix to = kfe_device_part(*t->product->out, t->row, t->rows.count, 0, k);

    KFE_CUDA_OK(kfe_cuda_gemm(device, &g, tile, t->cols.count, narrow_v + t->col * k, k, sums, k));
    KFE_CUDA_OK(kfe_cuda_add(device, 1, &from, 1, &to));
    if (!t->both)
        return KFE_DEVICE_OK;
    from.rows = t->cols.count;
    to = kfe_device_part(*t->product->out, t->col, t->cols.count, 0, k);
    KFE_CUDA_OK(kfe_cuda_gemm(device, &turned, tile, t->cols.count, narrow_v + t->row * k, k, sums, k));
    return kfe_cuda_add(device, 1, &from, 1, &to);
}

/* What all tiles share. */
typedef struct tile_memory {
    void *tile;
    float *narrow_v, *sums; /* single precision only */
    int64_t side;
} tile_memory;

static kfe_device_status get_memory(kfe_device *device, const kfe_device_product *product, int64_t rows,
                                    int64_t cols, tile_memory *m)
{
    const kfe_device_matrix *v = product->v;

    m->side = product->precision == KFE_DEVICE_F64 ? (int64_t)SIDE_WIDE : (int64_t)SIDE;
    int64_t numbers = kfe_cuda_least(m->side, rows) * kfe_cuda_least(m->side, cols);
    KFE_CUDA_OK(
        kfe_cuda_slot_get(device, KFE_SLOT_TILE, (size_t)numbers * (size_t)product->precision, &m->tile));
    if (product->precision == KFE_DEVICE_F64)
        return KFE_DEVICE_OK;
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_VECTORS, v->rows * v->cols, &m->narrow_v));
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PRODUCT, m->side * v->cols, &m->sums));
    kfe_device_matrix to = kfe_cuda_matrix(m->narrow_v, v->rows, v->cols, KFE_DEVICE_F32);
    return kfe_cuda_convert(device, v, &to);
}

static kfe_device_status one_tile(kfe_device *device, const tile_product *t, const tile_memory *m)
{
    kfe_device_matrix tile = kfe_cuda_matrix(m->tile, t->rows.count, t->cols.count, t->product->precision);

    KFE_CUDA_OK(kfe_cuda_tile(device, t->kernel, t->rows, t->cols, &tile, 0));
    if (t->product->precision == KFE_DEVICE_F64)
        return multiply_wide(device, t, (const double *)m->tile);
    return multiply_narrow(device, t, (const float *)m->tile, m->narrow_v, m->sums);
}

static kfe_device_status tiled_times(kfe_device *device, const kfe_device_kernel *kernel,
                                     kfe_device_range rows, kfe_device_range cols,
                                     const kfe_device_product *product)
{
    tile_memory m = {};
    int symmetric = rows.points == cols.points && rows.first == cols.first && rows.count == cols.count;

    if (!product->add)
        KFE_CUDA_OK(kfe_cuda_fill(device, product->out, 0));
    KFE_CUDA_OK(get_memory(device, product, rows.count, cols.count, &m));
    for (int64_t i = 0; i < rows.count; i += m.side) {
        kfe_device_range r = {rows.points, rows.first + i, kfe_cuda_least(m.side, rows.count - i)};
        for (int64_t j = 0; j < cols.count && (!symmetric || j <= i); j += m.side) {
            kfe_device_range c = {cols.points, cols.first + j, kfe_cuda_least(m.side, cols.count - j)};
            tile_product t = {kernel, r, c, product, i, j, symmetric && j < i};
            KFE_CUDA_OK(one_tile(device, &t, &m));
        }
        KFE_CUDA_OK(kfe_cuda_ask(device, i, rows.count));
    }
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_times(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                 kfe_device_range cols, const kfe_device_product *product)
{
    kfe_device_product wide = *product;

    if (rows.count <= 0 || product->v->cols <= 0)
        return KFE_DEVICE_OK;
    if (cols.count <= 0)
        return product->add ? KFE_DEVICE_OK : kfe_cuda_fill(device, product->out, 0);
    if (product->precision == KFE_DEVICE_F64)
        return tiled_times(device, kernel, rows, cols, product);
    if (kfe_cuda_rbf_applies(kernel, rows, cols)) {
        kfe_device_status status = kfe_cuda_rbf_times(device, kernel, rows, cols, product);
        if (status != KFE_DEVICE_UNSUPPORTED)
            return status;
        wide.precision = KFE_DEVICE_F64; /* exponents too large for single precision */
        return tiled_times(device, kernel, rows, cols, &wide);
    }
    return tiled_times(device, kernel, rows, cols, product);
}

/* ---- sums over groups ---- */

/* indicator (n × groups): 1 where group(i) = g */
static __global__ void indicate(const int32_t *group, int64_t n, int64_t groups, double *indicator)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (e < n * groups)
        indicator[e] = group[e / groups] == e % groups;
}

typedef struct group_memory {
    double *indicator, *product, *sums;
    int32_t *group;
} group_memory;

static void put_memory(kfe_device *device, group_memory *m)
{
    kfe_cuda_put(device, m->indicator);
    kfe_cuda_put(device, m->product);
    kfe_cuda_put(device, m->sums);
    kfe_cuda_put(device, m->group);
}

static kfe_device_status sum_groups(kfe_device *device, const kfe_device_kernel *kernel,
                                    const kfe_device_points *points, const int32_t *group, int64_t groups,
                                    kfe_device_type precision, group_memory *m)
{
    int64_t n = points->rows;

    KFE_CUDA_OK(kfe_cuda_array(device, n * groups, &m->indicator));
    KFE_CUDA_OK(kfe_cuda_array(device, n * groups, &m->product));
    KFE_CUDA_OK(kfe_cuda_array(device, groups * groups, &m->sums));
    KFE_CUDA_OK(kfe_cuda_array(device, n, &m->group));
    KFE_CUDA(device, cudaMemcpyAsync(m->group, group, (size_t)n * 4, cudaMemcpyHostToDevice, device->stream));
    indicate<<<kfe_cuda_blocks(n * groups, 256), 256, 0, device->stream>>>(m->group, n, groups, m->indicator);
    KFE_LAUNCHED(device, "indicate");
    kfe_device_matrix v = kfe_cuda_matrix(m->indicator, n, groups, KFE_DEVICE_F64);
    kfe_device_matrix out = kfe_cuda_matrix(m->product, n, groups, KFE_DEVICE_F64);
    kfe_device_product product = {precision, 0, &v, &out};
    kfe_device_range all = {points, 0, n};
    KFE_CUDA_OK(kfe_cuda_times(device, kernel, all, all, &product));
    kfe_cuda_gemm_args g = {1, 0, groups, groups, n, 1, 0};
    return kfe_cuda_gemm(device, &g, m->indicator, groups, m->product, groups, m->sums, groups);
}

kfe_device_status kfe_cuda_group_sums(kfe_device *device, const kfe_device_kernel *kernel,
                                      const kfe_device_points *points, const int32_t *group, int64_t groups,
                                      kfe_device_type precision, double *out)
{
    group_memory m = {};
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t e = 0; points->rows <= 0 && e < groups * groups; e++)
        out[e] = 0;
    if (points->rows <= 0 || groups <= 0)
        return KFE_DEVICE_OK;
    status = sum_groups(device, kernel, points, group, groups, precision, &m);
    if (status == KFE_DEVICE_OK) {
        kfe_device_matrix from = kfe_cuda_matrix(m.sums, groups, groups, KFE_DEVICE_F64);
        status = kfe_cuda_download(device, &from, out, groups);
    }
    put_memory(device, &m);
    return status;
}
