/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nearest neighbours. Tiles of squared distances by dot products (block.cu) rule out almost all columns, with a bound of their
 * rounding error; those that are left are measured from differences. A warp keeps the list of the k nearest columns of one row in its
 * registers, entry e in lane e mod 32, and takes the columns in rising order, so that of equals the lower one stays.
 */
#include <float.h>

#include "internal.cuh"

enum {
    WARP = 32,
    WARPS = 8,      /* of a block */
    SLOTS_MOST = 4, /* entries of a list that a lane holds */
    ROWS = 8192,    /* of a tile */
    COLS = 4096
};

typedef struct neighbour {
    double distance;
    int64_t number;
} neighbour;

typedef struct scan_args {
    const double *tile; /* rows × cols */
    int64_t stride;
    const double *row_norms, *col_norms;
    const double *row_points, *col_points; /* as given, of the first row and column of the tile */
    int64_t rows, cols, dim;
    int64_t first; /* number of the first column */
    int64_t k;
    double share;      /* of the norms: bound of a rounding error */
    double *distances; /* rows × k: the lists between tiles */
    int64_t *numbers;
} scan_args;

static __device__ __forceinline__ bool is_nearer(neighbour a, neighbour b)
{
    return a.distance < b.distance || (a.distance == b.distance && a.number < b.number);
}

static __device__ __forceinline__ neighbour from_lane(neighbour mine, int lane)
{
    mine.distance = __shfl_sync(0xffffffff, mine.distance, lane);
    mine.number = __shfl_sync(0xffffffff, (long long)mine.number, lane);
    return mine;
}

static __device__ double measure(const scan_args &p, int64_t row, int64_t col)
{
    const double *x = p.row_points + row * p.dim;
    const double *y = p.col_points + col * p.dim;
    double sum = 0;

    for (int64_t j = 0; j < p.dim; j++) {
        double difference = __dsub_rn(x[j], y[j]);
        sum = __dadd_rn(sum, __dmul_rn(difference, difference));
    }
    return sum;
}

/* Puts a candidate, the same in all lanes, in its place; the last entry falls off. */
template <int SLOTS> static __device__ void insert(neighbour list[SLOTS], neighbour candidate)
{
    int lane = (int)threadIdx.x % WARP;
    int place = 0;

#pragma unroll
    for (int s = 0; s < SLOTS; s++)
        place += __popc(__ballot_sync(0xffffffff, is_nearer(list[s], candidate)));
#pragma unroll
    for (int s = SLOTS - 1; s >= 0; s--) {
        neighbour before = from_lane(list[s], (lane + WARP - 1) % WARP);
        neighbour last = s > 0 ? from_lane(list[s > 0 ? s - 1 : 0], WARP - 1) : before;
        int entry = s * WARP + lane;
        if (entry > place)
            list[s] = lane == 0 ? last : before;
        if (entry == place)
            list[s] = candidate;
    }
}

/* The farthest of the k entries. */
template <int SLOTS>
static __device__ __forceinline__ neighbour last_of(const neighbour list[SLOTS], int64_t k)
{
    neighbour at = list[0];

#pragma unroll
    for (int s = 1; s < SLOTS; s++)
        at = (k - 1) / WARP == s ? list[s] : at;
    return from_lane(at, (int)((k - 1) % WARP));
}

template <int SLOTS> static __device__ void load(const scan_args &p, int64_t row, neighbour list[SLOTS])
{
    for (int s = 0; s < SLOTS; s++) {
        int64_t entry = s * WARP + (int64_t)(threadIdx.x % WARP);
        list[s] = neighbour{INFINITY, INT64_MAX};
        if (p.first > 0 && entry < p.k)
            list[s] = neighbour{p.distances[row * p.k + entry], p.numbers[row * p.k + entry]};
    }
}

template <int SLOTS>
static __device__ void store(const scan_args &p, int64_t row, const neighbour list[SLOTS])
{
    for (int s = 0; s < SLOTS; s++) {
        int64_t entry = s * WARP + (int64_t)(threadIdx.x % WARP);
        if (entry < p.k) {
            p.distances[row * p.k + entry] = list[s].distance;
            p.numbers[row * p.k + entry] = list[s].number;
        }
    }
}

/* One warp per row. The test is written so that NaN passes it: where norms overflow, differences give the distance. */
template <int SLOTS>
static __global__ void __launch_bounds__(WARP *WARPS) scan(const __grid_constant__ scan_args p)
{
    int lane = (int)threadIdx.x % WARP;
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    neighbour list[SLOTS];

    if (row >= p.rows)
        return;
    load<SLOTS>(p, row, list);
    neighbour last = last_of<SLOTS>(list, p.k);
    for (int64_t first = 0; first < p.cols; first += WARP) {
        int64_t col = first + lane;
        bool passes = false;
        if (col < p.cols) {
            double error = p.share * (p.row_norms[row] + p.col_norms[col]);
            passes = !(p.tile[row * p.stride + col] - error > last.distance);
        }
        unsigned left = __ballot_sync(0xffffffff, passes);
        if (!left)
            continue;
        neighbour mine = {passes ? measure(p, row, col) : 0, p.first + col};
        while (left) {
            neighbour candidate = from_lane(mine, __ffs((int)left) - 1);
            left &= left - 1;
            if (!is_nearer(candidate, last))
                continue;
            insert<SLOTS>(list, candidate);
            last = last_of<SLOTS>(list, p.k);
        }
    }
    store<SLOTS>(p, row, list);
}

static kfe_device_status scan_tile(kfe_device *device, const scan_args *p)
{
    unsigned blocks = kfe_cuda_blocks(p->rows, WARPS);

    if (p->k <= WARP)
        scan<1><<<blocks, WARP * WARPS, 0, device->stream>>>(*p);
    else if (p->k <= 2 * WARP)
        scan<2><<<blocks, WARP * WARPS, 0, device->stream>>>(*p);
    else
        scan<SLOTS_MOST><<<blocks, WARP * WARPS, 0, device->stream>>>(*p);
    KFE_LAUNCHED(device, "nearest");
    return KFE_DEVICE_OK;
}

/* The columns of some rows, tile by tile. */
static kfe_device_status scan_rows(kfe_device *device, kfe_device_range rows, kfe_device_range cols,
                                   double *tile, scan_args p)
{
    kfe_device_kernel plain = {};

    plain.formula.base = KFE_FORMULA_DISTANCE;
    plain.formula.map = KFE_KERNEL_NONE;
    plain.weight = 1;
    p.dim = rows.points->cols;
    p.share = 8 * ((double)p.dim + 8) * DBL_EPSILON; /* as in src/learn/neighbours.c */
    p.tile = tile;
    p.rows = rows.count;
    p.row_norms = rows.points->norms + rows.first;
    p.row_points = rows.points->given + rows.first * p.dim;
    for (p.first = 0; p.first < cols.count; p.first += COLS) {
        kfe_device_range part = {cols.points, cols.first + p.first,
                                 kfe_cuda_least(COLS, cols.count - p.first)};
        kfe_device_matrix out = kfe_cuda_matrix(tile, rows.count, part.count, KFE_DEVICE_F64);
        KFE_CUDA_OK(kfe_cuda_tile(device, &plain, rows, part, &out, 0));
        p.stride = p.cols = part.count;
        p.col_norms = cols.points->norms + part.first;
        p.col_points = cols.points->given + part.first * p.dim;
        KFE_CUDA_OK(scan_tile(device, &p));
    }
    return KFE_DEVICE_OK;
}

static kfe_device_status download(kfe_device *device, const scan_args *p, int64_t count, int64_t *numbers,
                                  double *distances)
{
    KFE_CUDA(device, cudaMemcpyAsync(numbers, p->numbers, (size_t)(count * p->k) * sizeof *numbers,
                                     cudaMemcpyDeviceToHost, device->stream));
    KFE_CUDA(device, cudaMemcpyAsync(distances, p->distances, (size_t)(count * p->k) * sizeof *distances,
                                     cudaMemcpyDeviceToHost, device->stream));
    return kfe_cuda_wait(device);
}

typedef struct nearest_memory {
    double *tile, *distances;
    int64_t *numbers;
} nearest_memory;

static kfe_device_status search(kfe_device *device, kfe_device_range rows, kfe_device_range cols, int64_t k,
                                nearest_memory *m, int64_t *numbers, double *distances)
{
    int64_t most = kfe_cuda_least(ROWS, rows.count);
    scan_args p = {};

    KFE_CUDA_OK(kfe_cuda_array(device, most * kfe_cuda_least(COLS, cols.count), &m->tile));
    KFE_CUDA_OK(kfe_cuda_array(device, most * k, &m->distances));
    KFE_CUDA_OK(kfe_cuda_array(device, most * k, &m->numbers));
    p.k = k;
    p.distances = m->distances;
    p.numbers = m->numbers;
    for (int64_t first = 0; first < rows.count; first += most) {
        kfe_device_range part = {rows.points, rows.first + first, kfe_cuda_least(most, rows.count - first)};
        KFE_CUDA_OK(scan_rows(device, part, cols, m->tile, p));
        KFE_CUDA_OK(download(device, &p, part.count, numbers + first * k, distances + first * k));
        KFE_CUDA_OK(kfe_cuda_ask(device, first + part.count, rows.count));
    }
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_nearest(kfe_device *device, kfe_device_range rows, kfe_device_range cols,
                                   int64_t k, int64_t *numbers, double *distances)
{
    nearest_memory m = {};

    if (rows.count <= 0 || k <= 0)
        return KFE_DEVICE_OK;
    if (!rows.points->given || !cols.points->given || rows.points->base != KFE_FORMULA_DISTANCE ||
        k > SLOTS_MOST * WARP)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED,
                             "neighbours of sparse rows, or more than %d of them", SLOTS_MOST * WARP);
    kfe_device_status status = search(device, rows, cols, k, &m, numbers, distances);
    kfe_cuda_put(device, m.tile);
    kfe_cuda_put(device, m.distances);
    kfe_cuda_put(device, m.numbers);
    return status;
}
