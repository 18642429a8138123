/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the calls of a device plug-in that large fits are made of, at the sizes of bench/GPU.md; bench/gpu.sh runs it.
 *
 *     gpu PLUGIN.so NAME...      NAME: fused, fused-small, gram, gram-single, stored, pool, pool-small, stream, svms,
 *                                nearest, sparse
 *
 * A time is the median of three calls after one that is not counted, or one call where a call takes seconds. Kernel products are
 * checked on 128 rows against double precision.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu_calls.h"

/* ---- products that are never stored ---- */

/* The largest difference from double precision in the first rows, relative to the largest number. */
static double product_error(bench *b, kfe_device_points *points, int64_t n, const kfe_device_kernel *kernel,
                            const kfe_device_matrix *v, const kfe_device_matrix *out)
{
    enum { ROWS = 128 };
    int64_t k = v->cols;
    double *fast = malloc((size_t)(ROWS * k) * sizeof *fast);
    double *exact = malloc((size_t)(ROWS * k) * sizeof *exact);
    kfe_device_matrix some = matrix(b, ROWS, k, KFE_DEVICE_F64);
    kfe_device_product product = {KFE_DEVICE_F64, 0, v, &some};
    kfe_device_matrix part = kfe_device_part(*out, 0, ROWS, 0, k);
    double most = 0;
    double largest = 0;

    CALL(times, kernel, (kfe_device_range){points, 0, ROWS}, (kfe_device_range){points, 0, n}, &product);
    CALL(download, &some, exact, k);
    CALL(download, &part, fast, k);
    for (int64_t i = 0; i < ROWS * k; i++) {
        most = fmax(most, fabs(fast[i] - exact[i]));
        largest = fmax(largest, fabs(exact[i]));
    }
    release(b, &some);
    free(fast);
    free(exact);
    return most / largest;
}

static void fused(bench *b, int64_t n, int64_t d, int64_t k, int repeats)
{
    kfe_device_points *points = random_points(b, n, d);
    kfe_device_kernel kernel = gaussian(0.5 / (double)d);
    kfe_device_matrix v = random_matrix(b, n, k, KFE_DEVICE_F64);
    kfe_device_matrix out = matrix(b, n, k, KFE_DEVICE_F64);
    kfe_device_product product = {KFE_DEVICE_F32, 0, &v, &out};
    kfe_device_range all = {points, 0, n};
    double best = INFINITY;

    for (int r = 0; r < repeats; r++) {
        double began = seconds();
        CALL(times, &kernel, all, all, &product);
        check(b, b->table->wait(b->device), "wait");
        best = fmin(best, seconds() - began);
    }
    printf("fused product f32 n=%lld d=%lld k=%lld: %.3f s (%.0f TF of n*n*(2d+2k)), error %.1e\n",
           (long long)n, (long long)d, (long long)k, best,
           (double)n * (double)n * (double)(2 * d + 2 * k) / best / 1e12,
           product_error(b, points, n, &kernel, &v, &out));
    release(b, &v);
    release(b, &out);
    b->table->points_free(b->device, points);
}

/* ---- the whole matrix ---- */

/* Gram + Cholesky + solve: what hsic and kfd cannot be faster than. */
static void gram(bench *b, int64_t n, int64_t d, kfe_device_type type)
{
    kfe_device_points *points = random_points(b, n, d);
    kfe_device_kernel kernel = gaussian(0.5 / (double)d);
    kfe_device_range all = {points, 0, n};
    kfe_device_matrix a = matrix(b, n, n, type);
    kfe_device_matrix right = random_matrix(b, n, 10, KFE_DEVICE_F64);
    kfe_device_matrix diagonal = kfe_device_diagonal(a);
    double *ridge = malloc((size_t)n * sizeof *ridge);
    int definite = 0;
    double at[5];

    for (int64_t i = 0; i < n; i++)
        ridge[i] = 0.1;
    CALL(block, &kernel, all, all, &a, KFE_DEVICE_LOWER);
    check(b, b->table->wait(b->device), "wait");
    at[0] = seconds();
    CALL(block, &kernel, all, all, &a, KFE_DEVICE_LOWER);
    check(b, b->table->wait(b->device), "wait");
    at[1] = seconds();
    CALL(shift, &diagonal, ridge, NULL);
    CALL(potrf, &a, &definite);
    at[2] = seconds();
    CALL(potrs, &a, &right);
    check(b, b->table->wait(b->device), "wait");
    at[3] = seconds();
    CALL(potrs, &a, &right);
    check(b, b->table->wait(b->device), "wait");
    at[4] = seconds();
    printf("gram %s n=%lld d=%lld: lower half %.3f s, potrf %.3f s (%.1f TF, definite %d), potrs of 10 %.3f "
           "s, again %.3f s\n",
           type == KFE_DEVICE_F64 ? "f64" : "f32", (long long)n, (long long)d, at[1] - at[0], at[2] - at[1],
           pow((double)n, 3) / 3 / (at[2] - at[1]) / 1e12, definite, at[3] - at[2], at[4] - at[3]);
    free(ridge);
    release(b, &a);
    release(b, &right);
    b->table->points_free(b->device, points);
}

static double time_gemm(bench *b, int transpose, const kfe_device_matrix *a, const kfe_device_matrix *v,
                        const kfe_device_matrix *out)
{
    double best = INFINITY;

    for (int r = 0; r < 4; r++) {
        double began = seconds();
        CALL(gemm, transpose, 0, 1, a, v, 0, out);
        check(b, b->table->wait(b->device), "wait");
        best = r ? fmin(best, seconds() - began) : INFINITY;
    }
    return best;
}

static void stored(bench *b, int64_t n, int64_t k, kfe_device_type type)
{
    kfe_device_points *points = random_points(b, n, 64);
    kfe_device_kernel kernel = gaussian(0.5 / 64);
    kfe_device_range all = {points, 0, n};
    kfe_device_matrix a = matrix(b, n, n, type);
    kfe_device_matrix v = random_matrix(b, n, k, KFE_DEVICE_F64);
    kfe_device_matrix out = matrix(b, n, k, KFE_DEVICE_F64);
    double began = seconds();

    CALL(block, &kernel, all, all, &a, KFE_DEVICE_MIRROR);
    check(b, b->table->wait(b->device), "wait");
    double made = seconds() - began;
    double time = time_gemm(b, 0, &a, &v, &out);
    double turned = time_gemm(b, 1, &a, &v, &out);
    printf("stored %s n=%lld: whole matrix %.3f s, times %lld vectors %.4f s (%.2f TB/s), its transpose %.4f "
           "s\n",
           type == KFE_DEVICE_F64 ? "f64" : "f32", (long long)n, made, (long long)k, time,
           (double)n * (double)n * (double)type / time / 1e12, turned);
    time = time_gemm(b, 1, &v, &out, &(kfe_device_matrix){a.address, k, k, k, KFE_DEVICE_F64});
    printf("inner products of %lld and %lld columns of %lld rows: %.5f s\n", (long long)k, (long long)k,
           (long long)n, time);
    release(b, &a);
    release(b, &v);
    release(b, &out);
    b->table->points_free(b->device, points);
}

/* ---- pursuit ---- */

/* What one iteration of a pursuit works on: candidate columns, features, and the residual of one target. */
typedef struct pursuit {
    kfe_device_points *points;
    kfe_device_kernel kernel;
    kfe_device_matrix candidates, features, residual, chunk, rounded, small;
    int64_t n, columns, dim;
} pursuit;

enum { NEW_COLUMNS = 25 };

static pursuit pursuit_new(bench *b, int64_t n, int64_t d, int64_t columns, int64_t dim)
{
    pursuit p = {random_points(b, n, d), gaussian(0.5 / (double)d), .n = n, .columns = columns, .dim = dim};

    p.candidates = matrix(b, columns, n, KFE_DEVICE_F32);
    p.features = matrix(b, dim + 1, n, KFE_DEVICE_F64);
    p.residual = random_matrix(b, n, 1, KFE_DEVICE_F64);
    p.chunk = matrix(b, NEW_COLUMNS, n, KFE_DEVICE_F64);
    p.rounded = matrix(b, NEW_COLUMNS, n, KFE_DEVICE_F32);
    p.small = matrix(b, columns + dim, NEW_COLUMNS, KFE_DEVICE_F64);
    CALL(fill, &p.candidates, 0.5);
    CALL(fill, &p.features, 0.25);
    return p;
}

static void pursuit_free(bench *b, pursuit *p)
{
    kfe_device_matrix *all[] = {&p->candidates, &p->features, &p->residual,
                                &p->chunk,      &p->rounded,  &p->small};

    for (int i = 0; i < 6; i++)
        release(b, all[i]);
    b->table->points_free(b->device, p->points);
}

static kfe_device_matrix as_column(kfe_device_matrix row)
{
    return (kfe_device_matrix){row.address, row.cols, 1, 1, row.type};
}

static kfe_device_matrix small_part(const pursuit *p, int64_t rows, int64_t cols)
{
    return (kfe_device_matrix){p->small.address, rows, cols, cols, KFE_DEVICE_F64};
}

static void step_columns(bench *b, const pursuit *p, const kfe_device_matrix *out)
{
    kfe_device_points *some = NULL;
    int64_t index[NEW_COLUMNS];

    for (int i = 0; i < NEW_COLUMNS; i++)
        index[i] = i * 1001 + 7;
    CALL(points_gather, p->points, index, out->rows, &some);
    CALL(block, &p->kernel, (kfe_device_range){some, 0, out->rows}, (kfe_device_range){p->points, 0, p->n},
         out, 0);
    b->table->points_free(b->device, some);
}

static void step_new_columns(bench *b, const pursuit *p)
{
    step_columns(b, p, &p->chunk);
}

static void step_keep(bench *b, const pursuit *p)
{
    double squares[NEW_COLUMNS];

    CALL(copy, &p->chunk, &p->rounded);
    CALL(row_dots, &p->rounded, &p->rounded, squares);
    for (int64_t c = 0; c < NEW_COLUMNS; c++) {
        kfe_device_matrix from = kfe_device_part(p->rounded, c, 1, 0, p->n);
        kfe_device_matrix to = kfe_device_part(p->candidates, 3 * c, 1, 0, p->n);
        CALL(copy, &from, &to);
    }
}

static void step_covariances(bench *b, const pursuit *p)
{
    kfe_device_matrix out = small_part(p, NEW_COLUMNS, 1);

    CALL(gemm, 0, 0, 1, &p->chunk, &p->residual, 0, &out);
}

static void step_new_along(bench *b, const pursuit *p)
{
    kfe_device_matrix basis = kfe_device_part(p->features, 0, p->dim, 0, p->n);
    kfe_device_matrix out = small_part(p, p->dim, NEW_COLUMNS);

    CALL(gemm, 0, 1, 1, &basis, &p->chunk, 0, &out);
}

static void step_pick(bench *b, const pursuit *p)
{
    kfe_device_matrix row = kfe_device_part(p->features, p->dim, 1, 0, p->n);

    step_columns(b, p, &row);
}

static void step_norm(bench *b, const pursuit *p)
{
    kfe_device_matrix row = kfe_device_part(p->features, p->dim, 1, 0, p->n);
    double square;

    CALL(row_dots, &row, &row, &square);
}

static void step_measure(bench *b, const pursuit *p)
{
    kfe_device_matrix basis = kfe_device_part(p->features, 0, p->dim, 0, p->n);
    kfe_device_matrix q = as_column(kfe_device_part(p->features, p->dim, 1, 0, p->n));
    kfe_device_matrix out = small_part(p, p->dim, 1);

    CALL(gemm, 0, 0, 1, &basis, &q, 0, &out);
}

static void step_subtract(bench *b, const pursuit *p)
{
    kfe_device_matrix basis = kfe_device_part(p->features, 0, p->dim, 0, p->n);
    kfe_device_matrix q = as_column(kfe_device_part(p->features, p->dim, 1, 0, p->n));
    kfe_device_matrix parts = small_part(p, p->dim, 1);

    CALL(gemm, 1, 0, -1, &basis, &parts, 1, &q);
}

static void step_scale(bench *b, const pursuit *p)
{
    kfe_device_matrix row = kfe_device_part(p->features, p->dim, 1, 0, p->n);
    double factor = 0.5;

    CALL(scale, &row, &factor, NULL);
}

static void step_explain(bench *b, const pursuit *p)
{
    kfe_device_matrix row = kfe_device_part(p->features, p->dim, 1, 0, p->n);
    kfe_device_matrix q = as_column(row);
    kfe_device_matrix slope = small_part(p, 1, 1);

    CALL(gemm, 0, 0, 1, &row, &p->residual, 0, &slope);
    CALL(gemm, 0, 0, -1e-9, &q, &slope, 1, &p->residual);
}

static void step_along(bench *b, const pursuit *p)
{
    kfe_device_matrix q = as_column(kfe_device_part(p->features, p->dim, 1, 0, p->n));
    kfe_device_matrix out = small_part(p, p->columns, 1);

    CALL(gemm, 0, 0, 1, &p->candidates, &q, 0, &out);
}

/* Every call of an iteration with `dim` features (gram/device/device_pool.c), and how often the iteration makes it. */
static void pool(bench *b, int64_t n, int64_t d, int64_t columns, int64_t dim)
{
    static const struct {
        const char *name;
        void (*run)(bench *b, const pursuit *p);
        int times;
    } steps[] = {{"25 new columns", step_new_columns, 1},
                 {"keeping them", step_keep, 1},
                 {"their covariances", step_covariances, 1},
                 {"features times new columns", step_new_along, 1},
                 {"column of the pick", step_pick, 1},
                 {"its norm", step_norm, 2},
                 {"features times vector", step_measure, 2},
                 {"transposed", step_subtract, 2},
                 {"scaling", step_scale, 1},
                 {"residual", step_explain, 1},
                 {"pool times vector", step_along, 1}};
    pursuit p = pursuit_new(b, n, d, columns, dim);
    double total = 0;

    printf("iteration of a pursuit, n=%lld d=%lld, %lld columns, %lld features; ms:", (long long)n,
           (long long)d, (long long)columns, (long long)dim);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        double best = INFINITY;
        for (int r = 0; r < 4; r++) {
            double began = seconds();
            steps[s].run(b, &p);
            check(b, b->table->wait(b->device), "wait");
            best = r ? fmin(best, seconds() - began) : INFINITY;
        }
        total += steps[s].times * best;
        printf(" %s %.3f%s,", steps[s].name, 1e3 * best, steps[s].times == 2 ? " twice" : "");
    }
    printf(" in all %.3f\n", 1e3 * total);
    pursuit_free(b, &p);
}

/* ---- transform ---- */

static void stream(bench *b, int64_t n, int64_t d, int64_t support, int64_t k)
{
    double *values = normals(b, n * d);
    double *out = malloc((size_t)(n * k) * sizeof *out);
    double *centre = calloc((size_t)d, sizeof *centre);
    kfe_device_points *points = random_points(b, support, d);
    kfe_device_kernel kernel = gaussian(0.5 / (double)d);
    kfe_device_matrix v = random_matrix(b, support, k, KFE_DEVICE_F64);
    kfe_device_rows rows = {.rows = n, .cols = d, .values = values, .stride = d, .centre = centre};
    kfe_device_output output = {out, k, 0};
    kfe_device_matrix in = matrix(b, n, d, KFE_DEVICE_F64);
    kfe_device_matrix result = matrix(b, n, k, KFE_DEVICE_F64);

    memset(out, 0, (size_t)(n * k) * sizeof *out);
    for (int r = 0; r < 2; r++) {
        double began = seconds();
        CALL(upload, values, d, &in);
        double there = seconds();
        CALL(download, &result, out, k);
        printf("plain copies of %.1f GB and back %.1f GB: %.3f + %.3f s\n", 8e-9 * (double)(n * d),
               8e-9 * (double)(n * k), there - began, seconds() - there);
    }
    for (int r = 0; r < 3; r++) {
        double began = seconds();
        CALL(stream, &kernel, &rows, points, &v, r < 2 ? KFE_DEVICE_F64 : KFE_DEVICE_F32, &output);
        printf("transform %s %lld x %lld through %lld points to %lld features: %.3f s\n",
               r < 2 ? "f64" : "f32", (long long)n, (long long)d, (long long)support, (long long)k,
               seconds() - began);
    }
    free(values);
    free(out);
    free(centre);
    release(b, &v);
    release(b, &in);
    release(b, &result);
    b->table->points_free(b->device, points);
}

static void run(bench *b, const char *name)
{
    if (!strcmp(name, "fused-small")) {
        fused(b, 20000, 50, 16, 3);
        fused(b, 131072, 50, 16, 3);
        fused(b, 131072, 20, 8, 3);
        fused(b, 131072, 50, 32, 3);
        fused(b, 131072, 100, 16, 3);
        fused(b, 65536, 200, 16, 3);
    } else if (!strcmp(name, "fused")) {
        fused(b, 1000000, 50, 16, 2);
    } else if (!strcmp(name, "gram")) {
        gram(b, 20000, 256, KFE_DEVICE_F64);
        gram(b, 100000, 256, KFE_DEVICE_F64);
    } else if (!strcmp(name, "gram-single")) {
        gram(b, 150000, 256, KFE_DEVICE_F32);
    } else if (!strcmp(name, "stored")) {
        stored(b, 100000, 16, KFE_DEVICE_F64);
        stored(b, 100000, 16, KFE_DEVICE_F32);
    } else if (!strcmp(name, "pool-small")) {
        pool(b, 30000, 20, 80, 30);
    } else if (!strcmp(name, "pool")) {
        pool(b, 1000000, 50, 500, 200);
        pool(b, 1000000, 50, 500, 400);
    } else if (!strcmp(name, "stream")) {
        stream(b, 10000000, 50, 400, 10);
    } else if (!strcmp(name, "svms")) {
        bench_svms(b, 16000, 10);
        bench_svms(b, 16000, 50);
        bench_svms(b, 1000000, 10);
    } else if (!strcmp(name, "nearest")) {
        bench_nearest(b, 20000, 50, 10);
        bench_nearest(b, 100000, 50, 25);
    } else if (!strcmp(name, "sparse")) {
        bench_sparse(b, 20000, 100000, 100);
    } else {
        printf("%s: not a bench\n", name);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bench state = {.random = 88172645463325252u};
    bench *b = &state;
    kfe_device_error error = {""};
    kfe_device_info info;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, KFE_DEVICE_SYMBOL) : NULL;
    kfe_device_plugin_fn plugin;

    if (!symbol) {
        fprintf(stderr, "usage: gpu PLUGIN.so NAME...\n");
        return 2;
    }
    memcpy(&plugin, &symbol, sizeof plugin);
    b->table = plugin();
    double began = seconds();
    if (b->table->open(0, &b->device, &error) != KFE_DEVICE_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 3;
    }
    CALL(info, &info);
    printf("%s, %.1f of %.1f GB free, opened in %.2f s\n", info.name, (double)info.free / 1e9,
           (double)info.total / 1e9, seconds() - began);
    for (int i = 2; i < argc; i++)
        run(b, argv[i]);
    b->table->close(b->device);
    return 0;
}
