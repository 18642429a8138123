/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out = K v for the Gaussian kernel in single precision; kernel values stay in registers. Used by times.cu for up to 128 columns.
 *
 * With z = √(2γ log2 e)·x and h = ‖z‖²/2 the kernel value is 2^(⟨z, z′⟩ − h − h′). Tensor cores multiply half precision, whose 11
 * bits are too few, so every number is split into two halves:
 *
 *     z = z₁ + z₂,   ⟨z, z′⟩ ≈ ⟨z₁, z₁′⟩ + ⟨z₁, z₂′⟩ + ⟨z₂, z₁′⟩      (22 bits; ⟨z₂, z₂′⟩ is below single precision)
 *
 * and likewise the product of kernel values and vectors. Kernel values are over 2⁻¹⁵ and vectors over a power of two, so that their
 * second halves are not subnormal.
 *
 * A warp owns 16·MT rows, whose halves stay in its registers. Columns pass through shared memory in tiles of 64. The fragment that
 * the first product leaves in a thread's registers is the one that the second product reads, after exp. Sums over a tile of
 * columns are in single precision, sums over 16 tiles are too, and beyond that in double precision; each is made by one thread in
 * a fixed order.
 *
 * The exponent has an error of about 2⁻²²·(h + h′). Entries that are close, whose exponent is below TAU·(h + h′), are computed again
 * from differences.
 */
#include <math.h>

#include "rbf.cuh"

enum {
    PART = 16, /* columns whose kernel values are in registers at a time */
    WARPS = 4, /* per block */
    FLUSH = 16 /* tiles whose sums are added in single precision */
};
static const float TAU = 1e-3f;
/* With larger h the exponent has an error of more than 1e-5, and products are made in double precision. */
static const float H_MOST = 64;

/* ---- instructions ---- */

static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Four 8 × 8 blocks of halves; lane l gives the address of row l % 8 of block l / 8. */
static __device__ __forceinline__ void load_blocks(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

static __device__ __forceinline__ void load_two_blocks(uint32_t &r0, uint32_t &r1, uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r0), "=r"(r1)
                 : "r"(address));
}

static __device__ __forceinline__ void copy_async(uint32_t to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

static __device__ __forceinline__ float power_of_two(float x)
{
    float y;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ uint32_t as_bits(__half2 h)
{
    return *reinterpret_cast<uint32_t *>(&h);
}

/* a, b → their first halves, and what is left of them. */
static __device__ __forceinline__ void split_pair(float a, float b, uint32_t &high, uint32_t &low)
{
    __half2 h = __floats2half2_rn(a, b);
    float2 back = __half22float2(h);

    high = as_bits(h);
    low = as_bits(__floats2half2_rn(a - back.x, b - back.y));
}

/* ---- shared memory ---- */

template <int KS, int NV> struct layout {
    /* eight halves more per row: the rows of an 8 × 8 block are then in different banks */
    static constexpr int z_stride = KS * KFE_RBF_STEP + 8;
    static constexpr int v_stride = KFE_RBF_TILE + 8;
    static constexpr int z_low = KFE_RBF_TILE * z_stride;
    static constexpr int v_high = 2 * KFE_RBF_TILE * z_stride;
    static constexpr int v_low = v_high + 8 * NV * v_stride;
    static constexpr int h = v_low + 8 * NV * v_stride;      /* KFE_RBF_TILE floats, then the largest */
    static constexpr int stage = h + 2 * (KFE_RBF_TILE + 4); /* halves */
    static constexpr int sums = 2 * stage;                   /* doubles, after two stages */
    static constexpr size_t bytes(int mt)
    {
        return (size_t)sums * 2 + (size_t)(WARPS * 32) * (size_t)(mt * NV * 4) * 8;
    }
};

/* Starts the copies of column tile `tile` into a stage. */
template <int KS, int NV>
static __device__ __forceinline__ void fetch_tile(const kfe_cuda_rbf_args &p, int64_t tile, uint32_t stage)
{
    typedef layout<KS, NV> L;
    constexpr int chunks = KS * KFE_RBF_STEP / 8; /* of 16 bytes, per row */
    int64_t first = tile * KFE_RBF_TILE;

    for (int c = threadIdx.x; c < KFE_RBF_TILE * chunks; c += WARPS * 32) {
        int row = c / chunks;
        int part = c % chunks;
        int64_t from = (first + row) * (KS * KFE_RBF_STEP) + part * 8;
        uint32_t to = stage + (uint32_t)(row * L::z_stride + part * 8) * 2;
        copy_async(to, p.col_high + from);
        copy_async(to + L::z_low * 2, p.col_low + from);
    }
    for (int c = threadIdx.x; c < 8 * NV * (KFE_RBF_TILE / 8); c += WARPS * 32) {
        int vector = c / (KFE_RBF_TILE / 8);
        int part = c % (KFE_RBF_TILE / 8);
        int64_t from = vector * p.v_stride + first + part * 8;
        uint32_t to = stage + (uint32_t)(L::v_high + vector * L::v_stride + part * 8) * 2;
        copy_async(to, p.v_high + from);
        copy_async(to + (L::v_low - L::v_high) * 2, p.v_low + from);
    }
    if (threadIdx.x < KFE_RBF_TILE / 4)
        copy_async(stage + (uint32_t)(L::h * 2 + threadIdx.x * 16), p.col_h + first + threadIdx.x * 4);
    asm volatile("cp.async.commit_group;");
}

/* ---- close points ---- */

/* The exponent from differences, in double precision. */
static __device__ __noinline__ float exact_exponent(const kfe_cuda_rbf_args &p, int64_t row, int64_t col)
{
    double sum = 0;

    if (row >= p.rows || col >= p.cols)
        return -1000;
    const double *x = p.row_given + row * p.dim;
    const double *y = p.col_given + col * p.dim;
    for (int64_t j = 0; j < p.dim; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return (float)(p.minus_gamma * sum);
}

/* ---- the kernel ---- */

/* What a thread keeps: its share of MT blocks of 16 rows. */
template <int KS, int NV, int MT> struct fragments {
    uint32_t high[MT][KS][4], low[MT][KS][4];
    float minus_h[MT][2];
    int64_t row[MT]; /* of its first row; the second is 8 below */
    float sums[MT][NV][4];
};

template <int KS, int NV, int MT>
static __device__ __forceinline__ void load_rows(const kfe_cuda_rbf_args &p, fragments<KS, NV, MT> &f)
{
    int lane = threadIdx.x % 32;
    int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * (16 * MT);

#pragma unroll
    for (int m = 0; m < MT; m++) {
        f.row[m] = first + m * 16 + lane / 4;
        f.minus_h[m][0] = -p.row_h[f.row[m]];
        f.minus_h[m][1] = -p.row_h[f.row[m] + 8];
#pragma unroll
        for (int k = 0; k < KS; k++)
#pragma unroll
            for (int r = 0; r < 4; r++) {
                int64_t at = (f.row[m] + (r & 1) * 8) * (KS * KFE_RBF_STEP) + k * KFE_RBF_STEP +
                             (r >> 1) * 8 + lane % 4 * 2;
                f.high[m][k][r] = *reinterpret_cast<const uint32_t *>(p.row_high + at);
                f.low[m][k][r] = *reinterpret_cast<const uint32_t *>(p.row_low + at);
            }
    }
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int v = 0; v < NV; v++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                f.sums[m][v][r] = 0;
}

/* Three products of one step for 16 columns of the tile. */
static __device__ __forceinline__ void three_products(const uint32_t (&a_high)[4], const uint32_t (&a_low)[4],
                                                      const uint32_t (&high)[4], const uint32_t (&low)[4],
                                                      float (&left)[4], float (&right)[4])
{
    multiply(left, a_low, high[0], high[1]);
    multiply(right, a_low, high[2], high[3]);
    multiply(left, a_high, low[0], low[1]);
    multiply(right, a_high, low[2], low[3]);
    multiply(left, a_high, high[0], high[1]);
    multiply(right, a_high, high[2], high[3]);
}

/* e = exponents of PART columns from `column` of the tile on. */
template <int KS, int NV, int MT>
static __device__ __forceinline__ void exponents(const fragments<KS, NV, MT> &f, uint32_t stage,
                                                 const float *h, int column, float (&e)[MT][PART / 8][4])
{
    typedef layout<KS, NV> L;
    int lane = threadIdx.x % 32;

#pragma unroll
    for (int t = 0; t < PART / 8; t++) {
        float2 other = *reinterpret_cast<const float2 *>(h + column + t * 8 + lane % 4 * 2);
#pragma unroll
        for (int m = 0; m < MT; m++) {
            e[m][t][0] = f.minus_h[m][0] - other.x;
            e[m][t][1] = f.minus_h[m][0] - other.y;
            e[m][t][2] = f.minus_h[m][1] - other.x;
            e[m][t][3] = f.minus_h[m][1] - other.y;
        }
    }
    uint32_t address =
        stage + (uint32_t)((column + lane / 16 * 8 + lane % 8) * L::z_stride + (lane / 8 % 2) * 8) * 2;
#pragma unroll
    for (int t = 0; t < PART / 8; t += 2)
#pragma unroll
        for (int k = 0; k < KS; k++) {
            uint32_t high[4], low[4];
            uint32_t at = address + (uint32_t)(t * 8 * L::z_stride + k * KFE_RBF_STEP) * 2;
            load_blocks(high, at);
            load_blocks(low, at + L::z_low * 2);
#pragma unroll
            for (int m = 0; m < MT; m++) {
                three_products(f.high[m][k], f.low[m][k], high, low, e[m][t], e[m][t + 1]);
            }
        }
}

/* Computes the exponents of close points again. */
template <int KS, int NV, int MT>
static __device__ __forceinline__ void repair(const kfe_cuda_rbf_args &p, const fragments<KS, NV, MT> &f,
                                              int64_t first, float largest, float (&e)[MT][PART / 8][4])
{
    int lane = threadIdx.x % 32;

#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float bound = TAU * (f.minus_h[m][r] - largest);
            float most = e[m][0][2 * r];
#pragma unroll
            for (int t = 0; t < PART / 8; t++)
                most = fmaxf(most, fmaxf(e[m][t][2 * r], e[m][t][2 * r + 1]));
            if (most > bound) {
#pragma unroll
                for (int t = 0; t < PART / 8; t++)
#pragma unroll
                    for (int c = 0; c < 2; c++)
                        if (e[m][t][2 * r + c] > bound)
                            e[m][t][2 * r + c] =
                                exact_exponent(p, f.row[m] + 8 * r, first + t * 8 + lane % 4 * 2 + c);
            }
        }
}

/* sums += values·v for PART columns. */
template <int KS, int NV, int MT>
static __device__ __forceinline__ void weigh(uint32_t stage, int column, const float (&e)[MT][PART / 8][4],
                                             float (&sums)[MT][NV][4])
{
    typedef layout<KS, NV> L;
    int lane = threadIdx.x % 32;

#pragma unroll
    for (int k = 0; k < PART / KFE_RBF_STEP; k++) {
        uint32_t high[MT][4], low[MT][4];
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const float(&from)[4] = e[m][2 * k + r / 2];
                split_pair(power_of_two(from[r % 2 * 2]) * KFE_RBF_VALUE_SCALE,
                           power_of_two(from[r % 2 * 2 + 1]) * KFE_RBF_VALUE_SCALE, high[m][r], low[m][r]);
            }
#pragma unroll
        for (int v = 0; v < NV; v++) {
            uint32_t b0, b1, l0, l1;
            uint32_t at = stage + (uint32_t)(L::v_high + (v * 8 + lane % 8) * L::v_stride + column +
                                             k * KFE_RBF_STEP + lane / 8 % 2 * 8) *
                                      2;
            load_two_blocks(b0, b1, at);
            load_two_blocks(l0, l1, at + (L::v_low - L::v_high) * 2);
#pragma unroll
            for (int m = 0; m < MT; m++) {
                multiply(sums[m][v], low[m], b0, b1);
                multiply(sums[m][v], high[m], l0, l1);
                multiply(sums[m][v], high[m], b0, b1);
            }
        }
    }
}

/* The largest exponent of each row so far. */
template <int MT>
static __device__ __forceinline__ void follow_largest(const float (&e)[MT][PART / 8][4], float (&most)[MT][2])
{
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int t = 0; t < PART / 8; t++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                most[m][r / 2] = fmaxf(most[m][r / 2], e[m][t][r]);
}

/* A tile without close points, which almost all are. There is no branch, and the exponents of the next columns are computed
 * before the values of these are multiplied, so that tensor cores and exp work at the same time. */
template <int KS, int NV, int MT>
static __device__ __forceinline__ void fast_tile(const fragments<KS, NV, MT> &f, uint32_t stage,
                                                 const float *h, float (&sums)[MT][NV][4],
                                                 float (&most)[MT][2])
{
    float e[2][MT][PART / 8][4];

    exponents<KS, NV, MT>(f, stage, h, 0, e[0]);
#pragma unroll
    for (int part = 0; part < KFE_RBF_TILE / PART; part++) {
        if (part + 1 < KFE_RBF_TILE / PART)
            exponents<KS, NV, MT>(f, stage, h, (part + 1) * PART, e[(part + 1) % 2]);
        follow_largest<MT>(e[part % 2], most);
        weigh<KS, NV, MT>(stage, part * PART, e[part % 2], sums);
    }
}

/* The same tile with its close points computed again. */
template <int KS, int NV, int MT>
static __device__ __forceinline__ void
careful_tile(const kfe_cuda_rbf_args &p, const fragments<KS, NV, MT> &f, int64_t tile, uint32_t stage,
             const float *h, float largest, float (&sums)[MT][NV][4])
{
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int v = 0; v < NV; v++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                sums[m][v][r] = 0;
#pragma unroll 1
    for (int column = 0; column < KFE_RBF_TILE; column += PART) {
        float e[MT][PART / 8][4];
        exponents<KS, NV, MT>(f, stage, h, column, e);
        repair<KS, NV, MT>(p, f, tile * KFE_RBF_TILE + column, largest, e);
        weigh<KS, NV, MT>(stage, column, e, sums);
    }
}

template <int KS, int NV, int MT>
static __device__ __forceinline__ void one_tile(const kfe_cuda_rbf_args &p, fragments<KS, NV, MT> &f,
                                                int64_t tile, uint32_t stage, const float *h)
{
    float sums[MT][NV][4] = {};
    float most[MT][2];
    float largest = __ldg(p.col_largest + tile);
    int close = 0;

#pragma unroll
    for (int m = 0; m < MT; m++)
        most[m][0] = most[m][1] = -INFINITY;
    fast_tile<KS, NV, MT>(f, stage, h, sums, most);
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int r = 0; r < 2; r++)
            close |= most[m][r] > TAU * (f.minus_h[m][r] - largest);
    if (__any_sync(0xffffffffu, close))
        careful_tile<KS, NV, MT>(p, f, tile, stage, h, largest, sums);
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int v = 0; v < NV; v++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                f.sums[m][v][r] += sums[m][v][r];
}

/* Adds the sums in single precision to those in double precision, in shared memory. */
template <int KS, int NV, int MT>
static __device__ __forceinline__ void flush(fragments<KS, NV, MT> &f, double *totals)
{
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int v = 0; v < NV; v++)
#pragma unroll
            for (int r = 0; r < 4; r++) {
                totals[((m * NV + v) * 4 + r) * (WARPS * 32) + threadIdx.x] += (double)f.sums[m][v][r];
                f.sums[m][v][r] = 0;
            }
}

template <int KS, int NV, int MT>
static __device__ __forceinline__ void write_rows(const kfe_cuda_rbf_args &p, const fragments<KS, NV, MT> &f,
                                                  const double *totals)
{
    int lane = threadIdx.x % 32;
    double *out = p.out + (int64_t)blockIdx.y * p.rows * (8 * NV);

#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int v = 0; v < NV; v++)
#pragma unroll
            for (int r = 0; r < 4; r++) {
                int64_t row = f.row[m] + r / 2 * 8;
                int vector = v * 8 + lane % 4 * 2 + r % 2;
                if (row < p.rows)
                    out[row * (8 * NV) + vector] =
                        totals[((m * NV + v) * 4 + r) * (WARPS * 32) + threadIdx.x] *
                        (double)p.v_scale[vector];
            }
}

/* Block (x, y): 16·MT·WARPS rows times the y-th slice of the column tiles. */
template <int KS, int NV, int MT>
static __global__ void __launch_bounds__(WARPS * 32, 2) rbf_times(const __grid_constant__ kfe_cuda_rbf_args p)
{
    typedef layout<KS, NV> L;
    extern __shared__ __align__(16) __half shared[];
    uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
    double *totals = reinterpret_cast<double *>(shared + L::sums);
    fragments<KS, NV, MT> f;
    int64_t begin = p.col_tiles * blockIdx.y / gridDim.y;
    int64_t end = p.col_tiles * (blockIdx.y + 1) / gridDim.y;

    for (int i = 0; i < MT * NV * 4; i++)
        totals[i * (WARPS * 32) + threadIdx.x] = 0;
    load_rows<KS, NV, MT>(p, f);
    if (begin < end)
        fetch_tile<KS, NV>(p, begin, base);
    for (int64_t tile = begin; tile < end; tile++) {
        int which = (int)(tile - begin) & 1;
        if (tile + 1 < end) {
            fetch_tile<KS, NV>(p, tile + 1, base + (uint32_t)((which ^ 1) * L::stage * 2));
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        const float *h = reinterpret_cast<const float *>(shared + which * L::stage + L::h);
        one_tile<KS, NV, MT>(p, f, tile, base + (uint32_t)(which * L::stage * 2), h);
        __syncthreads();
        if ((tile - begin) % FLUSH == FLUSH - 1)
            flush<KS, NV, MT>(f, totals);
    }
    flush<KS, NV, MT>(f, totals);
    write_rows<KS, NV, MT>(p, f, totals);
}

/* ---- launching ---- */

/* out (rows × vectors) = or += weight·Σ slices, in order */
static __global__ void add_slices(const double *slices, int64_t count, int width, int64_t rows, double weight,
                                  int add, double *out, int64_t stride, int vectors)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;

    if (e >= rows * vectors)
        return;
    int64_t i = e / vectors;
    int64_t j = e - i * vectors;
    for (int64_t s = 0; s < count; s++)
        sum += slices[(s * rows + i) * width + j];
    out[i * stride + j] = weight * sum + (add ? out[i * stride + j] : 0);
}

/* Slices of the columns, so that few rows keep all processors busy. */
static int64_t slice_count(const kfe_device *device, const kfe_cuda_rbf_args *p, int rows_per_block)
{
    int64_t blocks = (p->rows + rows_per_block - 1) / rows_per_block;
    int64_t wanted = ((int64_t)device->processors * 8 + blocks - 1) / blocks;
    int64_t most = (p->col_tiles + FLUSH - 1) / FLUSH;

    wanted = wanted > most ? most : wanted;
    return wanted < 1 ? 1 : wanted > 64 ? 64 : wanted;
}

template <int KS, int NV, int MT>
static kfe_device_status launch(kfe_device *device, kfe_cuda_rbf_args *p, int64_t *slices)
{
    size_t bytes = layout<KS, NV>::bytes(MT);
    int rows_per_block = 16 * MT * WARPS;

    *slices = slice_count(device, p, rows_per_block);
    KFE_CUDA_OK(kfe_cuda_scratch(device, KFE_SLOT_PARTIAL, *slices * p->rows * 8 * NV, &p->out));
    KFE_CUDA(device, cudaFuncSetAttribute(rbf_times<KS, NV, MT>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)bytes));
    dim3 grid(kfe_cuda_blocks(p->rows, rows_per_block), (unsigned)*slices);
    rbf_times<KS, NV, MT><<<grid, WARPS * 32, bytes, device->stream>>>(*p);
    KFE_LAUNCHED(device, "rbf_times");
    return KFE_DEVICE_OK;
}

/* Many columns of z leave registers for 16 rows per warp only. */
template <int NV>
static kfe_device_status launch_depth(kfe_device *device, kfe_cuda_rbf_args *p, int depth, int64_t *slices)
{
    switch (depth / KFE_RBF_STEP) {
    case 1:
        return launch<1, NV, 2>(device, p, slices);
    case 2:
        return launch<2, NV, 2>(device, p, slices);
    case 3:
        return launch<3, NV, 2>(device, p, slices);
    case 4:
        return launch<4, NV, 2>(device, p, slices);
    case 6:
        return launch<6, NV, 1>(device, p, slices);
    default:
        return launch<8, NV, 1>(device, p, slices);
    }
}

static kfe_device_status launch_vectors(kfe_device *device, kfe_cuda_rbf_args *p, int depth, int vectors,
                                        int *width, int64_t *slices)
{
    *width = kfe_cuda_rbf_width(vectors);
    if (*width == 8)
        return launch_depth<1>(device, p, depth, slices);
    if (*width == 16)
        return launch_depth<2>(device, p, depth, slices);
    return launch_depth<4>(device, p, depth, slices);
}

int kfe_cuda_rbf_applies(const kfe_device_kernel *kernel, kfe_device_range rows, kfe_device_range cols)
{
    const kfe_device_points *a = rows.points;
    const kfe_device_points *b = cols.points;

    return kernel->formula.base == KFE_FORMULA_DISTANCE && kernel->formula.map == KFE_KERNEL_rbf &&
           kernel->formula.params[0] >= 0 && a->given && b->given && a->cols <= KFE_RBF_DEPTH_MOST &&
           rows.first % KFE_RBF_ROWS == 0 && cols.first % KFE_RBF_ROWS == 0 &&
           (cols.first + cols.count == b->rows || cols.count % KFE_RBF_TILE == 0);
}

kfe_device_status kfe_cuda_rbf_times(kfe_device *device, const kfe_device_kernel *kernel,
                                     kfe_device_range rows, kfe_device_range cols,
                                     const kfe_device_product *product)
{
    const kfe_device_points *a = rows.points;
    const kfe_device_points *b = cols.points;
    double gamma = kernel->formula.params[0];
    int64_t padded = (cols.count + KFE_RBF_TILE - 1) / KFE_RBF_TILE * KFE_RBF_TILE;
    int width = 0;
    int64_t slices = 0;

    KFE_CUDA_OK(kfe_cuda_split_points(device, a, gamma));
    KFE_CUDA_OK(kfe_cuda_split_points(device, b, gamma));
    if (!(a->split.most <= H_MOST && b->split.most <= H_MOST))
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "exponents too large for single precision");
    int depth = a->split.depth;
    kfe_cuda_rbf_args p = {};
    p.row_high = a->split.high + rows.first * depth;
    p.row_low = a->split.low + rows.first * depth;
    p.row_h = a->split.exponents + rows.first;
    p.col_high = b->split.high + cols.first * depth;
    p.col_low = b->split.low + cols.first * depth;
    p.col_h = b->split.exponents + cols.first;
    p.col_largest = b->split.largest + cols.first / KFE_RBF_TILE;
    p.row_given = a->given + rows.first * a->cols;
    p.col_given = b->given + cols.first * b->cols;
    p.rows = rows.count;
    p.cols = cols.count;
    p.dim = a->cols;
    p.col_tiles = padded / KFE_RBF_TILE;
    p.minus_gamma = -gamma * 1.4426950408889634;
    for (int64_t first = 0; first < product->v->cols; first += KFE_RBF_VECTORS_MOST) {
        int vectors = (int)kfe_cuda_least(KFE_RBF_VECTORS_MOST, product->v->cols - first);
        KFE_CUDA_OK(kfe_cuda_split_vectors(device, product->v, first, vectors, padded, &p));
        KFE_CUDA_OK(launch_vectors(device, &p, depth, vectors, &width, &slices));
        add_slices<<<kfe_cuda_blocks(p.rows * vectors, 256), 256, 0, device->stream>>>(
            p.out, slices, width, p.rows, kernel->weight, product->add,
            kfe_cuda_at<double>(product->out) + first, product->out->stride, vectors);
        KFE_LAUNCHED(device, "add_slices");
    }
    return KFE_DEVICE_OK;
}
