/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates blocks of kernel matrices: base values first, then the kernel's formula. Used by the table (block, map) and by times.cu.
 *
 * Dot products of dense rows are products by cuBLAS. Sparse rows are multiplied with a panel of columns made dense. Sums over
 * coordinates have a kernel of their own. Squared distances nᵢ + nⱼ − 2⟨x, y⟩ that have lost digits are computed again from
 * differences of the rows as given, in double precision; NaN counts as lost.
 */
#include "internal.cuh"

enum {
    THREADS = 256,
    SIDE = 4096,          /* rows and columns of a tile */
    PAIR_TILE = 64,       /* sums over coordinates: rows and columns of a block */
    PAIR_DEPTH = 16,      /* coordinates in shared memory at a time */
    MAP_ROWS = 8,         /* rows that a block of the map works on */
    LINES_MOST = 1 << 18, /* rows or columns of a tile */
    TURN = 32             /* side of the squares that mirror turns over */
};
/* A squared distance below this share of nᵢ + nⱼ is computed from differences. */
static const double CANCELLATION = 1e-5;
static const float CANCELLATION_SINGLE = 1e-3f;
/* Numbers in a panel of sparse columns. */
static const int64_t PANEL_NUMBERS = (int64_t)32 << 20;

/* ---- the map ---- */

/* One side of a tile. */
typedef struct side {
    const double *norms;
    const float *narrow_norms;
    const double *given; /* of the first row; NULL: compressed rows */
    const int64_t *row_start;
    const int32_t *columns;
    const double *values;
} side;

typedef struct map_args {
    side row, col;
    int64_t rows, cols, dim;
    int32_t map;
    int add;
    double weight;
    double params[KFE_FORMULA_PARAMS];
    float narrow_params[KFE_FORMULA_PARAMS];
} map_args;

static __device__ __noinline__ double dense_difference(const double *x, const double *y, int64_t dim)
{
    double sum = 0;

    for (int64_t j = 0; j < dim; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* A walk along two sparse rows. */
static __device__ __noinline__ double sparse_difference(const side &a, int64_t i, const side &b, int64_t j)
{
    int64_t p = a.row_start[i];
    int64_t q = b.row_start[j];
    int64_t p_end = a.row_start[i + 1];
    int64_t q_end = b.row_start[j + 1];
    double sum = 0;

    while (p < p_end || q < q_end) {
        int32_t left = p < p_end ? a.columns[p] : INT32_MAX;
        int32_t right = q < q_end ? b.columns[q] : INT32_MAX;
        double difference = (left <= right ? a.values[p] : 0) - (right <= left ? b.values[q] : 0);
        sum += difference * difference;
        p += left <= right;
        q += right <= left;
    }
    return sum;
}

/* A dense row x and row j of `b`, which is sparse. */
static __device__ __noinline__ double mixed_difference(const double *x, int64_t dim, const side &b, int64_t j)
{
    int64_t q = b.row_start[j];
    double sum = 0;

    for (int64_t c = 0; c < dim; c++) {
        int here = q < b.row_start[j + 1] && b.columns[q] == c;
        double difference = x[c] - (here ? b.values[q] : 0);
        sum += difference * difference;
        q += here;
    }
    return sum;
}

static __device__ double from_differences(const map_args &p, int64_t i, int64_t j)
{
    if (p.row.given && p.col.given)
        return dense_difference(p.row.given + i * p.dim, p.col.given + j * p.dim, p.dim);
    if (p.row.given)
        return mixed_difference(p.row.given + i * p.dim, p.dim, p.col, j);
    if (p.col.given)
        return mixed_difference(p.col.given + j * p.dim, p.dim, p.row, i);
    return sparse_difference(p.row, i, p.col, j);
}

static __device__ __forceinline__ double squared_distance(const map_args &p, int64_t i, int64_t j, double dot)
{
    double norms = p.row.norms[i] + p.col.norms[j];
    double distance = norms - 2 * dot;

    return distance >= CANCELLATION * norms ? distance : from_differences(p, i, j);
}

static __device__ __forceinline__ float squared_distance(const map_args &p, int64_t i, int64_t j, float dot)
{
    float norms = p.row.narrow_norms[i] + p.col.narrow_norms[j];
    float distance = norms - 2 * dot;

    return distance >= CANCELLATION_SINGLE * norms ? distance : (float)from_differences(p, i, j);
}

static __device__ __forceinline__ double formula(const map_args &p, int64_t i, int64_t j, double base)
{
    return kfe_i_map_f64(p.map, base, p.row.norms ? p.row.norms[i] : 0, p.col.norms ? p.col.norms[j] : 0,
                         p.params);
}

static __device__ __forceinline__ float formula(const map_args &p, int64_t i, int64_t j, float base)
{
    return kfe_i_map_f32(p.map, base, p.row.narrow_norms ? p.row.narrow_norms[i] : 0,
                         p.col.narrow_norms ? p.col.narrow_norms[j] : 0, p.narrow_params);
}

/* out[i, j] = or += weight·map(base[i, j]); DISTANCE: base holds dot products, of which distances are made first. */
template <class T, bool DISTANCE>
static __global__ void map_tile(const __grid_constant__ map_args p, const T *base, int64_t base_stride,
                                T *out, int64_t stride)
{
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (j >= p.cols)
        return;
    for (int64_t i = (int64_t)blockIdx.y * MAP_ROWS; i < p.rows && i < ((int64_t)blockIdx.y + 1) * MAP_ROWS;
         i++) {
        T value = base[i * base_stride + j];
        if (DISTANCE)
            value = squared_distance(p, i, j, value);
        value = (T)p.weight * formula(p, i, j, value);
        out[i * stride + j] = p.add ? out[i * stride + j] + value : value;
    }
}

static side side_of(kfe_device_range range)
{
    const kfe_device_points *p = range.points;
    side s = {};

    s.norms = p->norms ? p->norms + range.first : NULL;
    s.narrow_norms = p->narrow_norms ? p->narrow_norms + range.first : NULL;
    s.given = p->given ? p->given + range.first * p->cols : NULL;
    s.row_start = p->row_start ? p->row_start + range.first : NULL;
    s.columns = p->columns;
    s.values = p->values;
    return s;
}

static map_args map_arguments(const kfe_device_kernel *kernel, kfe_device_range rows, kfe_device_range cols)
{
    map_args p = {};

    p.row = side_of(rows);
    p.col = side_of(cols);
    p.rows = rows.count;
    p.cols = cols.count;
    p.dim = rows.points->cols;
    p.map = kernel->formula.map;
    p.weight = kernel->weight;
    for (int i = 0; i < KFE_FORMULA_PARAMS; i++) {
        p.params[i] = kernel->formula.params[i];
        p.narrow_params[i] = (float)kernel->formula.params[i];
    }
    return p;
}

template <class T>
static kfe_device_status launch_map(kfe_device *device, const map_args *p, int distance, const T *base,
                                    int64_t base_stride, T *out, int64_t stride)
{
    dim3 grid(kfe_cuda_blocks(p->cols, THREADS), kfe_cuda_blocks(p->rows, MAP_ROWS));

    if (distance)
        map_tile<T, true><<<grid, THREADS, 0, device->stream>>>(*p, base, base_stride, out, stride);
    else
        map_tile<T, false><<<grid, THREADS, 0, device->stream>>>(*p, base, base_stride, out, stride);
    KFE_LAUNCHED(device, "map_tile");
    return KFE_DEVICE_OK;
}

static kfe_device_status map_piece(kfe_device *device, const kfe_device_kernel *kernel,
                                   const kfe_device_matrix *base, kfe_device_range rows,
                                   kfe_device_range cols, const kfe_device_matrix *out)
{
    map_args p = map_arguments(kernel, rows, cols);

    if (base->type != out->type)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "a map between precisions");
    if (out->type == KFE_DEVICE_F64)
        return launch_map(device, &p, 0, kfe_cuda_at<double>(base), base->stride, kfe_cuda_at<double>(out),
                          out->stride);
    return launch_map(device, &p, 0, kfe_cuda_at<float>(base), base->stride, kfe_cuda_at<float>(out),
                      out->stride);
}

kfe_device_status kfe_cuda_map(kfe_device *device, const kfe_device_kernel *kernel,
                               const kfe_device_matrix *base, kfe_device_range rows, kfe_device_range cols,
                               const kfe_device_matrix *out)
{
    for (int64_t i = 0; i < rows.count && cols.count > 0; i += LINES_MOST) {
        kfe_device_range r = {rows.points, rows.first + i, kfe_cuda_least(LINES_MOST, rows.count - i)};
        kfe_device_matrix from = kfe_device_part(*base, i, r.count, 0, cols.count);
        kfe_device_matrix to = kfe_device_part(*out, i, r.count, 0, cols.count);
        KFE_CUDA_OK(map_piece(device, kernel, &from, r, cols, &to));
    }
    return KFE_DEVICE_OK;
}

/* ---- sums over coordinates ---- */

template <int TERM> static __device__ __forceinline__ double term(double x, double y)
{
    return kfe_i_term_f64(TERM, x, y);
}
template <int TERM> static __device__ __forceinline__ float term(float x, float y)
{
    return kfe_i_term_f32(TERM, x, y);
}

/* Each thread sums 4 × 4 entries of a block of 64 × 64. Coordinates beyond `dim` are zeros, whose term is zero. */
template <class T, int TERM>
static __global__ void pair_sums(const T *a, int64_t rows, const T *b, int64_t cols, int64_t dim, T *out,
                                 int64_t stride)
{
    __shared__ T x[PAIR_DEPTH][PAIR_TILE + 1];
    __shared__ T y[PAIR_DEPTH][PAIR_TILE + 1];
    int64_t row = (int64_t)blockIdx.y * PAIR_TILE;
    int64_t col = (int64_t)blockIdx.x * PAIR_TILE;
    int tx = threadIdx.x % 16;
    int ty = threadIdx.x / 16;
    T sums[4][4] = {};

    for (int64_t first = 0; first < dim; first += PAIR_DEPTH) {
        for (int e = threadIdx.x; e < PAIR_TILE * PAIR_DEPTH; e += THREADS) {
            int i = e / PAIR_DEPTH;
            int c = e % PAIR_DEPTH;
            int inside = first + c < dim;
            x[c][i] = inside && row + i < rows ? a[(row + i) * dim + first + c] : 0;
            y[c][i] = inside && col + i < cols ? b[(col + i) * dim + first + c] : 0;
        }
        __syncthreads();
        for (int c = 0; c < PAIR_DEPTH; c++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sums[i][j] += term<TERM>(x[c][ty + 16 * i], y[c][tx + 16 * j]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (row + ty + 16 * i < rows && col + tx + 16 * j < cols)
                out[(row + ty + 16 * i) * stride + col + tx + 16 * j] = sums[i][j];
}

template <class T>
static kfe_device_status coordinate_tile(kfe_device *device, int32_t which, kfe_device_range rows,
                                         kfe_device_range cols, const T *a, const T *b, T *out,
                                         int64_t stride)
{
    dim3 grid(kfe_cuda_blocks(cols.count, PAIR_TILE), kfe_cuda_blocks(rows.count, PAIR_TILE));
    int64_t d = rows.points->cols;

    a += rows.first * d;
    b += cols.first * d;
    if (which == KFE_KERNEL_laplacian)
        pair_sums<T, KFE_KERNEL_laplacian>
            <<<grid, THREADS, 0, device->stream>>>(a, rows.count, b, cols.count, d, out, stride);
    else if (which == KFE_KERNEL_chi2)
        pair_sums<T, KFE_KERNEL_chi2>
            <<<grid, THREADS, 0, device->stream>>>(a, rows.count, b, cols.count, d, out, stride);
    else if (which == KFE_KERNEL_intersection)
        pair_sums<T, KFE_KERNEL_intersection>
            <<<grid, THREADS, 0, device->stream>>>(a, rows.count, b, cols.count, d, out, stride);
    else
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "a sum over coordinates of number %d",
                             (int)which);
    KFE_LAUNCHED(device, "pair_sums");
    return KFE_DEVICE_OK;
}

/* ---- sparse rows ---- */

/* panel[column·width + j] = entry of row first + j; the panel is zero before. One block per row. */
static __global__ void lay_out_sparse(const int64_t *row_start, const int32_t *columns, const double *values,
                                      int64_t width, double *panel)
{
    int64_t j = blockIdx.x;

    for (int64_t p = row_start[j] + threadIdx.x; p < row_start[j + 1]; p += blockDim.x)
        panel[columns[p] * width + j] = values[p];
}

static __global__ void lay_out_dense(const double *rows, int64_t dim, int64_t width, double *panel)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;

    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < dim * width; e += step)
        panel[e % dim * width + e / dim] = rows[e];
}

/* out[i, j] = Σ value·panel[column, j] over the entries of sparse row i; BY_COLUMN: out[j, i]. */
template <class T, bool BY_COLUMN>
static __global__ void sparse_dots(const int64_t *row_start, const int32_t *columns, const double *values,
                                   const double *panel, int64_t width, T *out, int64_t stride)
{
    int64_t i = blockIdx.x;
    int64_t j = (int64_t)blockIdx.y * blockDim.x + threadIdx.x;
    double sum = 0;

    if (j >= width)
        return;
    for (int64_t p = row_start[i]; p < row_start[i + 1]; p++)
        sum += values[p] * panel[columns[p] * width + j];
    out[BY_COLUMN ? j * stride + i : i * stride + j] = (T)sum;
}

/* Lays `width` points from `first` on out as columns of a panel. */
static kfe_device_status make_panel(kfe_device *device, const kfe_device_points *p, int64_t first,
                                    int64_t width, double *panel)
{
    if (p->given) {
        lay_out_dense<<<(unsigned)(device->processors * 16), THREADS, 0, device->stream>>>(
            p->given + first * p->cols, p->cols, width, panel);
    } else {
        KFE_CUDA(device, cudaMemsetAsync(panel, 0, (size_t)(p->cols * width) * 8, device->stream));
        lay_out_sparse<<<(unsigned)width, 64, 0, device->stream>>>(p->row_start + first, p->columns,
                                                                   p->values, width, panel);
    }
    KFE_LAUNCHED(device, "make_panel");
    return KFE_DEVICE_OK;
}

/* At least one side is sparse; the other one is laid out, in pieces. */
template <class T>
static kfe_device_status sparse_tile(kfe_device *device, kfe_device_range rows, kfe_device_range cols, T *out,
                                     int64_t stride)
{
    int by_column = rows.points->given != NULL;
    kfe_device_range thin = by_column ? cols : rows;
    kfe_device_range wide = by_column ? rows : cols;
    int64_t d = thin.points->cols;
    int64_t width = PANEL_NUMBERS / (d > 0 ? d : 1) / 32 * 32;
    double *panel = NULL;

    width = kfe_cuda_least(width < 32 ? 32 : width, wide.count);
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PANEL, d * width, &panel));
    for (int64_t first = 0; first < wide.count; first += width) {
        int64_t count = kfe_cuda_least(width, wide.count - first);
        dim3 grid((unsigned)thin.count, kfe_cuda_blocks(count, 128));
        const int64_t *starts = thin.points->row_start + thin.first;
        KFE_CUDA_OK(make_panel(device, wide.points, wide.first + first, count, panel));
        if (by_column)
            sparse_dots<T, true><<<grid, 128, 0, device->stream>>>(starts, thin.points->columns,
                                                                   thin.points->values, panel, count,
                                                                   out + first * stride, stride);
        else
            sparse_dots<T, false><<<grid, 128, 0, device->stream>>>(
                starts, thin.points->columns, thin.points->values, panel, count, out + first, stride);
        KFE_LAUNCHED(device, "sparse_dots");
    }
    return KFE_DEVICE_OK;
}

/* ---- one tile ---- */

static const double *rows_in(const kfe_device_points *p, double)
{
    return p->centred;
}
static const float *rows_in(const kfe_device_points *p, float)
{
    return p->narrow;
}

/* Base values: dot products, or sums over coordinates. */
template <class T>
static kfe_device_status base_tile(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                   kfe_device_range cols, T *out, int64_t stride)
{
    const kfe_device_points *a = rows.points;
    const kfe_device_points *b = cols.points;
    const T *x = rows_in(a, T());
    const T *y = rows_in(b, T());
    int64_t d = a->cols;

    if (kernel->formula.base == KFE_FORMULA_COORDINATE)
        return coordinate_tile(device, kernel->formula.term, rows, cols, x, y, out, stride);
    if (!a->given || !b->given)
        return sparse_tile(device, rows, cols, out, stride);
    kfe_cuda_gemm_args g = {0, 1, rows.count, cols.count, d, 1, 0};
    return kfe_cuda_gemm(device, &g, x + rows.first * d, d, y + cols.first * d, d, out, stride);
}

template <class T>
static kfe_device_status whole_tile(kfe_device *device, const kfe_device_kernel *kernel,
                                    kfe_device_range rows, kfe_device_range cols, T *out, int64_t stride,
                                    int add)
{
    map_args p = map_arguments(kernel, rows, cols);
    int distance = kernel->formula.base == KFE_FORMULA_DISTANCE;
    T *base = out;
    int64_t base_stride = stride;

    if (add) {
        base_stride = cols.count;
        KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_BASE, rows.count * cols.count, &base));
    }
    p.add = add;
    KFE_CUDA_OK(base_tile(device, kernel, rows, cols, base, base_stride));
    if (!distance && kernel->formula.map == KFE_KERNEL_NONE && kernel->weight == 1 && !add)
        return KFE_DEVICE_OK;
    return launch_map(device, &p, distance, base, base_stride, out, stride);
}

kfe_device_status kfe_cuda_tile(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                kfe_device_range cols, const kfe_device_matrix *out, int add)
{
    if (rows.count <= 0 || cols.count <= 0)
        return KFE_DEVICE_OK;
    if (out->type == KFE_DEVICE_F64)
        return whole_tile(device, kernel, rows, cols, kfe_cuda_at<double>(out), out->stride, add);
    if (rows.points->precision != KFE_DEVICE_F32 || cols.points->precision != KFE_DEVICE_F32)
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED,
                             "points were prepared for double precision only");
    return whole_tile(device, kernel, rows, cols, kfe_cuda_at<float>(out), out->stride, add);
}

/* ---- blocks ---- */

/* Copies the part below the diagonal above it, or, with `upper`, the part above below. */
template <class T> static __global__ void mirror(T *matrix, int64_t n, int64_t stride, int upper)
{
    __shared__ T square[TURN][TURN + 1];
    int64_t row = (int64_t)(upper ? blockIdx.x : blockIdx.y) * TURN;
    int64_t col = (int64_t)(upper ? blockIdx.y : blockIdx.x) * TURN;

    if (blockIdx.x > blockIdx.y)
        return;
    for (int r = threadIdx.y; r < TURN; r += blockDim.y)
        if (row + r < n && col + threadIdx.x < n)
            square[r][threadIdx.x] = matrix[(row + r) * stride + col + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < TURN; r += blockDim.y) {
        int64_t i = col + r;
        int64_t j = row + threadIdx.x;
        if (i < n && j < n && (upper ? i > j : i < j))
            matrix[i * stride + j] = square[threadIdx.x][r];
    }
}

kfe_device_status kfe_cuda_mirror(kfe_device *device, const kfe_device_matrix *m, int upper)
{
    dim3 grid(kfe_cuda_blocks(m->rows, TURN), kfe_cuda_blocks(m->rows, TURN));
    dim3 threads(TURN, 8);

    if (m->type == KFE_DEVICE_F64)
        mirror<<<grid, threads, 0, device->stream>>>(kfe_cuda_at<double>(m), m->rows, m->stride, upper);
    else
        mirror<<<grid, threads, 0, device->stream>>>(kfe_cuda_at<float>(m), m->rows, m->stride, upper);
    KFE_LAUNCHED(device, "mirror");
    return KFE_DEVICE_OK;
}

/* Rows of a tile with so many columns, or the reverse: more if there are few, so that every tile has work for the whole device. */
static int64_t other_side(int64_t side)
{
    int64_t other = (int64_t)SIDE * SIDE / (side < 1 ? 1 : side);

    return other < SIDE ? (int64_t)SIDE : kfe_cuda_least(other, LINES_MOST);
}

kfe_device_status kfe_cuda_block(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                                 kfe_device_range cols, const kfe_device_matrix *out, int how)
{
    int half = how & (KFE_DEVICE_LOWER | KFE_DEVICE_MIRROR);
    int64_t down = half ? (int64_t)SIDE : other_side(cols.count);
    int64_t across = half ? (int64_t)SIDE : other_side(rows.count);

    for (int64_t i = 0; i < rows.count; i += down) {
        kfe_device_range r = {rows.points, rows.first + i, kfe_cuda_least(down, rows.count - i)};
        for (int64_t j = 0; j < cols.count && (!half || j <= i); j += across) {
            kfe_device_range c = {cols.points, cols.first + j, kfe_cuda_least(across, cols.count - j)};
            kfe_device_matrix part = kfe_device_part(*out, i, r.count, j, c.count);
            KFE_CUDA_OK(kfe_cuda_tile(device, kernel, r, c, &part, how & KFE_DEVICE_ADD));
        }
        if (device->watch && i / down % 4 == 3)
            KFE_CUDA_OK(kfe_cuda_ask(device, i, rows.count));
    }
    return how & KFE_DEVICE_MIRROR && rows.count > 0 ? kfe_cuda_mirror(device, out, 0) : KFE_DEVICE_OK;
}
