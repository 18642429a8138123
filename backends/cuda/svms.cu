/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear SVMs with squared loss: each block of threads solves one problem by the finite Newton method of src/learn/linear/newton.c,
 * from beginning to end, so that thousands of problems need one launch.
 *
 * At every point that is tried, the rows pass through shared memory. With z = (x, output − goal) one sum over the rows with a
 * loss has everything: Σ c·z·zᵀ is half of the Hessian without I, and in its last row half of the gradient without w, and the
 * loss. Each thread sums a square of SIDE × SIDE entries over a slice of the rows; slices are added in order.
 */
#include <cuda_pipeline.h>
#include <stdlib.h>

#include "internal.cuh"

enum {
    THREADS = 512,
    SIDE = 4,
    SQUARE = SIDE * SIDE,
    TILE_LEAST = 32, /* rows in shared memory */
    TILE_MOST = THREADS,
    SHARED_WANTED = 112 << 10 /* bytes: two blocks on a multiprocessor */
};
/* Multiply-adds of one problem between two questions whether to stop. */
static const double WORK_MOST = 2e11;

/* What a problem keeps between launches, and in the end its result. */
typedef struct outcome {
    kfe_device_svm result;
    int64_t steps;
    int64_t running;
} outcome;

typedef struct svms_args {
    const double *rows;
    int64_t count, stride;
    int dim, cols;    /* columns of the rows; with that of the bias */
    int width, pitch; /* of z: a multiple of SIDE, and one more against conflicts of banks */
    int tile;         /* rows */
    int squares;      /* of the lower triangle of width × width */
    int slices;
    int area; /* doubles of the tiles, or of the partial sums */
    int64_t classes;
    const int32_t *codes; /* NULL: values are given */
    const signed char *sides;
    const double *values;
    const int64_t *target;
    const double *cost;
    double epsilon, decrease, rounding;
    int steps_most, halvings_most, steps_now;
    double *w; /* problems × cols */
    outcome *outcomes;
} svms_args;

/* Shared memory of a block. */
typedef struct shared_parts {
    double *area;                            /* two tiles of z; then the partial sums */
    double *weights;                         /* per row of a tile: c, or 0 without a loss */
    double *sums;                            /* width × width, lower triangle */
    double *w, *next, *direction, *gradient; /* width */
    int *changes;                            /* per warp */
    double *scalar;
} shared_parts;

static __host__ __device__ int shared_doubles(const svms_args &p)
{
    return p.area + p.tile + p.width * p.width + 4 * p.width + THREADS / 32 + 1;
}

static __device__ shared_parts parts_of(const svms_args &p, double *memory)
{
    shared_parts s;

    s.area = memory;
    s.weights = s.area + p.area;
    s.sums = s.weights + p.tile;
    s.w = s.sums + p.width * p.width;
    s.next = s.w + p.width;
    s.direction = s.next + p.width;
    s.gradient = s.direction + p.width;
    s.changes = (int *)(s.gradient + p.width);
    s.scalar = s.gradient + p.width + THREADS / 32;
    return s;
}

/* ---- sums over the rows ---- */

/* Starts copying a tile of rows. */
static __device__ void fetch_tile(const svms_args &p, int64_t first, double *z)
{
    int rows = (int)min((int64_t)p.tile, p.count - first);
    int r = (int)threadIdx.x / p.dim;
    int c = (int)threadIdx.x % p.dim;

    while (r < rows) {
        __pipeline_memcpy_async(z + r * p.pitch + c, p.rows + (first + r) * p.stride + c, sizeof(double));
        r += THREADS / p.dim;
        c += THREADS % p.dim;
        if (c >= p.dim) {
            c -= p.dim;
            r++;
        }
    }
    __pipeline_commit();
}

/* The columns behind those of the rows: the bias, and zeros up to the width. */
static __device__ void fill_rest(const svms_args &p, double *z)
{
    for (int r = (int)threadIdx.x; r < p.tile; r += THREADS)
        for (int c = p.dim; c < p.width; c++)
            z[r * p.pitch + c] = c < p.cols ? 1 : 0;
}

static __device__ __forceinline__ double target_of(const svms_args &p, int64_t problem, int64_t row)
{
    int64_t target = p.target[problem];

    return p.codes ? (double)p.sides[target * p.classes + p.codes[row]] : p.values[target * p.count + row];
}

/* On which side of its goal the output is, 0 without a loss; the goal is where the loss ends. */
static __device__ __forceinline__ int side_of(const svms_args &p, double y, double output, double *goal)
{
    if (p.codes) {
        *goal = y;
        return y != 0 && y * output < 1 ? -1 : 0;
    }
    int side = output > y + p.epsilon ? 1 : output < y - p.epsilon ? -1 : 0;
    *goal = y + side * p.epsilon;
    return side;
}

/* Weights and errors of the rows of a tile, a thread for each; returns how many changed sides between w and next. */
static __device__ int judge_tile(const svms_args &p, const shared_parts &s, int64_t problem, int64_t first,
                                 double *z)
{
    int changes = 0;

    for (int r = (int)threadIdx.x; r < p.tile; r += THREADS) {
        double weight = 0;
        if (first + r < p.count) {
            double y = target_of(p, problem, first + r);
            double before = 0;
            double output = 0;
            double goal;
            for (int c = 0; c < p.cols; c++) {
                before += z[r * p.pitch + c] * s.w[c];
                output += z[r * p.pitch + c] * s.next[c];
            }
            int was = side_of(p, y, before, &goal);
            int side = side_of(p, y, output, &goal);
            changes += side != was;
            if (side != 0) {
                weight = p.cost[2 * problem + (y < 0)];
                z[r * p.pitch + p.cols] = output - goal;
            }
        }
        s.weights[r] = weight;
    }
    return changes;
}

/* Adds the rows of a tile to the thread's square. */
static __device__ __forceinline__ void add_tile(const svms_args &p, const shared_parts &s, const double *z,
                                                int row, int col, int slice, double sums[SQUARE])
{
    for (int r = slice; r < p.tile; r += p.slices) {
        double weight = s.weights[r];
        if (weight == 0)
            continue;
        double a[SIDE];
        double b[SIDE];
#pragma unroll
        for (int e = 0; e < SIDE; e++) {
            a[e] = weight * z[r * p.pitch + row + e];
            b[e] = z[r * p.pitch + col + e];
        }
#pragma unroll
        for (int e = 0; e < SIDE; e++)
#pragma unroll
            for (int f = 0; f < SIDE; f++)
                sums[e * SIDE + f] += a[e] * b[f];
    }
}

/* Where square q of the lower triangle begins. */
static __device__ void find_square(int q, int *row, int *col)
{
    int r = 0;

    while ((r + 1) * (r + 2) / 2 <= q)
        r++;
    *row = r * SIDE;
    *col = (q - r * (r + 1) / 2) * SIDE;
}

/* Adds the slices of every entry in order. */
static __device__ void combine(const svms_args &p, const shared_parts &s, int slice, int square,
                               const double sums[SQUARE])
{
    int entries = p.squares * SQUARE;

    __syncthreads(); /* the tiles are used up */
    if (slice < p.slices)
#pragma unroll
        for (int e = 0; e < SQUARE; e++)
            s.area[slice * entries + square * SQUARE + e] = sums[e];
    __syncthreads();
    for (int e = (int)threadIdx.x; e < entries; e += THREADS) {
        double sum = 0;
        int row;
        int col;
        for (int t = 0; t < p.slices; t++)
            sum += s.area[t * entries + e];
        find_square(e / SQUARE, &row, &col);
        s.sums[(row + e % SQUARE / SIDE) * p.width + col + e % SIDE] = sum;
    }
    __syncthreads();
}

static __device__ int sum_changes(const shared_parts &s, int changes)
{
    int sum = 0;

    changes = __reduce_add_sync(0xffffffff, changes);
    if (threadIdx.x % 32 == 0)
        s.changes[threadIdx.x / 32] = changes;
    __syncthreads();
    for (int t = 0; t < THREADS / 32; t++)
        sum += s.changes[t];
    __syncthreads();
    return sum;
}

/* All threads get the same sum, in the same order. */
static __device__ double dot(int n, const double *a, const double *b)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

/* The sums at `next`; returns the objective there. */
static __device__ double look(const svms_args &p, const shared_parts &s, int64_t problem, int *changes)
{
    double sums[SQUARE] = {0};
    int square = (int)threadIdx.x % p.squares;
    int slice = (int)threadIdx.x / p.squares;
    int size = p.tile * p.pitch;
    int row;
    int col;
    int changed = 0;
    int turn = 0;

    find_square(square, &row, &col);
    fill_rest(p, s.area);
    fill_rest(p, s.area + size);
    fetch_tile(p, 0, s.area);
    for (int64_t first = 0; first < p.count; first += p.tile, turn ^= 1) {
        double *z = s.area + turn * size;
        if (first + p.tile < p.count) {
            fetch_tile(p, first + p.tile, s.area + (turn ^ 1) * size);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        changed += judge_tile(p, s, problem, first, z);
        __syncthreads();
        if (slice < p.slices)
            add_tile(p, s, z, row, col, slice, sums);
        __syncthreads();
    }
    combine(p, s, slice, square, sums);
    *changes = sum_changes(s, changed);
    return dot(p.cols, s.next, s.next) / 2 + s.sums[p.cols * p.width + p.cols];
}

/* ---- Newton's method ---- */

/* w = next, where the sums were taken; returns the norm of the gradient there. */
static __device__ double arrive(const svms_args &p, const shared_parts &s)
{
    __syncthreads();
    for (int j = (int)threadIdx.x; j < p.cols; j += THREADS) {
        s.w[j] = s.next[j];
        s.gradient[j] = s.w[j] + 2 * s.sums[p.cols * p.width + j];
    }
    __syncthreads();
    return sqrt(dot(p.cols, s.gradient, s.gradient));
}

/* The factor L of I + 2Σ in place of the sums; 0: not positive definite. */
static __device__ int factor(const svms_args &p, const shared_parts &s)
{
    int k = p.cols;

    for (int e = (int)threadIdx.x; e < k * k; e += THREADS) {
        double *at = &s.sums[e / k * p.width + e % k];
        if (e % k <= e / k)
            *at = 2 * *at + (e / k == e % k);
    }
    for (int j = 0; j < k; j++) {
        __syncthreads();
        double pivot = s.sums[j * p.width + j];
        if (!(pivot > 0) || isinf(pivot))
            return 0;
        double root = sqrt(pivot);
        __syncthreads();
        for (int i = j + (int)threadIdx.x; i < k; i += THREADS)
            s.sums[i * p.width + j] = i == j ? root : s.sums[i * p.width + j] / root;
        __syncthreads();
        int left = k - j - 1;
        for (int e = (int)threadIdx.x; e < left * left; e += THREADS) {
            int i = j + 1 + e / left;
            int l = j + 1 + e % left;
            if (l <= i)
                s.sums[i * p.width + l] -= s.sums[i * p.width + j] * s.sums[l * p.width + j];
        }
    }
    __syncthreads();
    return 1;
}

/* direction = −(LLᵀ)⁻¹·gradient, by the first warp */
static __device__ void substitute(const svms_args &p, const shared_parts &s)
{
    int k = p.cols;
    int lane = (int)threadIdx.x;

    if (lane < 32) {
        for (int j = lane; j < k; j += 32)
            s.direction[j] = -s.gradient[j];
        for (int j = 0; j < k; j++) {
            __syncwarp();
            double value = s.direction[j] / s.sums[j * p.width + j];
            __syncwarp();
            if (lane == 0)
                s.direction[j] = value;
            for (int i = j + 1 + lane; i < k; i += 32)
                s.direction[i] -= value * s.sums[i * p.width + j];
        }
        for (int j = k - 1; j >= 0; j--) {
            __syncwarp();
            double value = s.direction[j] / s.sums[j * p.width + j];
            __syncwarp();
            if (lane == 0)
                s.direction[j] = value;
            for (int i = lane; i < j; i += 32)
                s.direction[i] -= value * s.sums[j * p.width + i];
        }
    }
    __syncthreads();
}

/* 0: the Hessian is not positive definite */
static __device__ int find_direction(const svms_args &p, const shared_parts &s)
{
    if (!factor(p, s))
        return 0;
    substitute(p, s);
    return 1;
}

/* Goes along the direction as far as the objective falls enough; returns that share of it, 0 if there is none. */
static __device__ double move(const svms_args &p, const shared_parts &s, int64_t problem, double *value,
                              int *changes)
{
    double slope = dot(p.cols, s.gradient, s.direction);
    double step = 1;

    for (int halving = 0; halving < p.halvings_most; halving++) {
        __syncthreads();
        for (int j = (int)threadIdx.x; j < p.cols; j += THREADS)
            s.next[j] = s.w[j] + step * s.direction[j];
        __syncthreads();
        double reached = look(p, s, problem, changes);
        if (reached <= *value * (1 + p.rounding) + p.decrease * step * slope) {
            *value = reached;
            return step;
        }
        step /= 2;
    }
    return 0;
}

/* Block b solves problem b, or goes on with it. All threads of a block take the same decisions, since they read the same numbers. */
static __global__ void __launch_bounds__(THREADS) solve(const __grid_constant__ svms_args p)
{
    extern __shared__ double memory[];
    shared_parts s = parts_of(p, memory);
    int64_t problem = blockIdx.x;
    outcome o = p.outcomes[problem];
    double *w = p.w + problem * p.cols;
    int changes = 0;

    if (!o.running)
        return;
    for (int j = (int)threadIdx.x; j < p.cols; j += THREADS)
        s.w[j] = s.next[j] = w[j];
    __syncthreads();
    o.result.objective = look(p, s, problem, &changes);
    o.result.gradient = arrive(p, s);
    if (o.steps == 0)
        o.result.start = o.result.gradient;
    for (int now = 0; o.running && now < p.steps_now; now++) {
        double step = o.steps < p.steps_most && find_direction(p, s)
                          ? move(p, s, problem, &o.result.objective, &changes)
                          : 0;
        o.running = step > 0;
        if (!o.running)
            break;
        o.steps++;
        o.result.gradient = arrive(p, s);
        o.result.solved = o.result.gradient <= p.rounding * o.result.start || (changes == 0 && step == 1);
        o.running = !o.result.solved;
    }
    __syncthreads();
    for (int j = (int)threadIdx.x; j < p.cols; j += THREADS)
        w[j] = s.w[j];
    if (threadIdx.x == 0)
        p.outcomes[problem] = o;
}

/* ---- the call ---- */

/* The largest tile that the device's shared memory has room for; 0: none. */
static int choose_tile(kfe_device *device, svms_args *p)
{
    int limit = 0;

    if (cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device->index) != cudaSuccess)
        return 0;
    limit = limit < SHARED_WANTED || p->width > 32 ? limit : SHARED_WANTED;
    p->slices = THREADS / p->squares;
    for (p->tile = TILE_MOST; p->tile >= TILE_LEAST; p->tile /= 2) {
        int sums = p->slices * p->squares * SQUARE;
        p->area = 2 * p->tile * p->pitch > sums ? 2 * p->tile * p->pitch : sums;
        if (shared_doubles(*p) * (int)sizeof(double) <= limit)
            return 1;
        while (p->slices > 1 && p->slices * p->squares * SQUARE > 2 * p->tile * p->pitch)
            p->slices--;
    }
    return 0;
}

static void shape(const kfe_device_svms *svms, svms_args *p)
{
    int side_squares;

    *p = svms_args{};
    p->rows = kfe_cuda_at<double>(svms->rows);
    p->count = svms->rows->rows;
    p->stride = svms->rows->stride;
    p->dim = (int)svms->rows->cols;
    p->cols = p->dim + (svms->bias != 0);
    side_squares = (p->cols + SIDE) / SIDE; /* of cols + 1 columns */
    p->width = side_squares * SIDE;
    p->pitch = p->width + 1;
    p->squares = side_squares * (side_squares + 1) / 2;
    p->classes = svms->classes;
    p->epsilon = svms->epsilon;
    p->decrease = svms->decrease;
    p->rounding = svms->rounding;
    p->steps_most = svms->steps_most;
    p->halvings_most = svms->halvings_most;
    double steps = WORK_MOST / ((double)p->count * p->width * p->width + 1);
    p->steps_now = steps < 1 ? 1 : steps > svms->steps_most ? svms->steps_most + 1 : (int)steps;
}

/* Memory of one call: what is uploaded, and what comes back. */
typedef struct svms_memory {
    int32_t *codes;
    signed char *sides;
    double *values, *cost, *w;
    int64_t *target;
    outcome *outcomes;
    outcome *host;
} svms_memory;

static void free_memory(kfe_device *device, svms_memory *m)
{
    kfe_cuda_put(device, m->codes);
    kfe_cuda_put(device, m->sides);
    kfe_cuda_put(device, m->values);
    kfe_cuda_put(device, m->cost);
    kfe_cuda_put(device, m->w);
    kfe_cuda_put(device, m->target);
    kfe_cuda_put(device, m->outcomes);
    free(m->host);
}

template <class T> static kfe_device_status upload(kfe_device *device, const T *from, int64_t count, T **out)
{
    KFE_CUDA_OK(kfe_cuda_array(device, count, out));
    KFE_CUDA(device,
             cudaMemcpyAsync(*out, from, (size_t)count * sizeof(T), cudaMemcpyHostToDevice, device->stream));
    return KFE_DEVICE_OK;
}

static kfe_device_status upload_all(kfe_device *device, const kfe_device_svms *svms, svms_args *p,
                                    svms_memory *m)
{
    m->host = (outcome *)calloc((size_t)svms->problems, sizeof *m->host);
    if (!m->host)
        return kfe_cuda_fail(device, KFE_DEVICE_FAILED, "out of host memory");
    for (int64_t i = 0; i < svms->problems; i++)
        m->host[i].running = 1;
    if (svms->codes) {
        KFE_CUDA_OK(upload(device, svms->codes, p->count, &m->codes));
        KFE_CUDA_OK(upload(device, svms->sides, svms->targets * svms->classes, &m->sides));
    } else {
        KFE_CUDA_OK(upload(device, svms->values, svms->targets * p->count, &m->values));
    }
    KFE_CUDA_OK(upload(device, svms->target, svms->problems, &m->target));
    KFE_CUDA_OK(upload(device, svms->cost, 2 * svms->problems, &m->cost));
    KFE_CUDA_OK(upload(device, (const outcome *)m->host, svms->problems, &m->outcomes));
    KFE_CUDA_OK(kfe_cuda_array(device, svms->problems * p->cols, &m->w));
    KFE_CUDA(device,
             cudaMemsetAsync(m->w, 0, (size_t)(svms->problems * p->cols) * sizeof(double), device->stream));
    p->codes = m->codes;
    p->sides = m->sides;
    p->values = m->values;
    p->target = m->target;
    p->cost = m->cost;
    p->outcomes = m->outcomes;
    p->w = m->w;
    return KFE_DEVICE_OK;
}

/* Launches until no problem is running. */
static kfe_device_status run(kfe_device *device, const kfe_device_svms *svms, const svms_args *p,
                             svms_memory *m)
{
    size_t bytes = (size_t)shared_doubles(*p) * sizeof(double);
    int64_t running = svms->problems;

    KFE_CUDA(device, cudaFuncSetAttribute(solve, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    while (running > 0) {
        solve<<<(unsigned)svms->problems, THREADS, bytes, device->stream>>>(*p);
        KFE_LAUNCHED(device, "linear_svms");
        KFE_CUDA(device, cudaMemcpyAsync(m->host, m->outcomes, (size_t)svms->problems * sizeof *m->host,
                                         cudaMemcpyDeviceToHost, device->stream));
        KFE_CUDA_OK(kfe_cuda_wait(device));
        running = 0;
        for (int64_t i = 0; i < svms->problems; i++)
            running += m->host[i].running != 0;
        KFE_CUDA_OK(kfe_cuda_ask(device, svms->problems - running, svms->problems));
    }
    return KFE_DEVICE_OK;
}

static kfe_device_status solve_all(kfe_device *device, const kfe_device_svms *svms, svms_args *p,
                                   svms_memory *m, double *w, kfe_device_svm *out)
{
    KFE_CUDA_OK(upload_all(device, svms, p, m));
    KFE_CUDA_OK(run(device, svms, p, m));
    KFE_CUDA(device, cudaMemcpyAsync(w, m->w, (size_t)(svms->problems * p->cols) * sizeof(double),
                                     cudaMemcpyDeviceToHost, device->stream));
    KFE_CUDA_OK(kfe_cuda_wait(device));
    for (int64_t i = 0; i < svms->problems; i++)
        out[i] = m->host[i].result;
    return KFE_DEVICE_OK;
}

kfe_device_status kfe_cuda_linear_svms(kfe_device *device, const kfe_device_svms *svms, double *w,
                                       kfe_device_svm *out)
{
    svms_args p;
    svms_memory m = {};

    shape(svms, &p);
    if (svms->problems <= 0)
        return KFE_DEVICE_OK;
    if (p.cols > KFE_DEVICE_SVM_COLS || p.dim < 1 || p.count < 1 || svms->problems > INT32_MAX ||
        !choose_tile(device, &p))
        return kfe_cuda_fail(device, KFE_DEVICE_UNSUPPORTED, "linear SVMs with so many columns");
    kfe_device_status status = solve_all(device, svms, &p, &m, w, out);
    free_memory(device, &m);
    return status;
}
