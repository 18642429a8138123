/* SPDX-License-Identifier: Apache-2.0 */
/* Reference timings of GEMM, exp and memory for the benchmarks: the least time that a task can take on this
 * machine. */
#include "floor.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kernel/tile/tile.h"
#include "kernel/tile/vexp.h"

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

static double *filled(int64_t count, double value)
{
    double *block = malloc((size_t)count * sizeof *block);
    for (int64_t i = 0; block && i < count; i++)
        block[i] = value;
    return block;
}

double bench_gemm_seconds(int64_t rows, int64_t cols, int64_t d, int threads)
{
    int64_t tiles = (rows * cols + KFE_TILE_SIDE * KFE_TILE_SIDE - 1) / (KFE_TILE_SIDE * KFE_TILE_SIDE);
    double start = 0;

#pragma omp parallel num_threads(threads)
    {
        double *a = filled(KFE_TILE_SIDE * d, 0.5);
        double *b = filled(KFE_TILE_SIDE * d, 0.25);
        double *out = filled(KFE_TILE_SIDE * KFE_TILE_SIDE, 0);
#pragma omp barrier
#pragma omp master
        start = bench_now();
#pragma omp for schedule(static)
        for (int64_t t = 0; t < tiles; t++)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, KFE_TILE_SIDE, KFE_TILE_SIDE, (blasint)d, 1,
                        a, (blasint)d, b, (blasint)d, 0, out, KFE_TILE_SIDE);
        free(a);
        free(b);
        free(out);
    }
    return bench_now() - start;
}

double bench_exp_seconds(int64_t count, int threads)
{
    enum { CHUNK = 8192 };
    double start = 0;

#pragma omp parallel num_threads(threads)
    {
        double *values = filled(CHUNK, -0.7);
#pragma omp barrier
#pragma omp master
        start = bench_now();
        /* keeps arguments near -1 in every iteration, so that every exp does its full work */
#pragma omp for schedule(static)
        for (int64_t c = 0; c < count / CHUNK; c++)
            kfe_i_vexp_scaled(values, CHUNK, -1.5);
        free(values);
    }
    return bench_now() - start;
}

double bench_cholesky_seconds(int64_t n)
{
    enum { LARGEST = 6000 };
    int64_t part = n < LARGEST ? n : LARGEST;
    double *a = filled(part * part, 0);
    if (!a)
        return 0;
    for (int64_t i = 0; i < part; i++)
        a[i * part + i] = 1;
    double start = bench_now();
    LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', (lapack_int)part, a, (lapack_int)part);
    double seconds = bench_now() - start;
    free(a);
    return seconds * pow((double)n / (double)part, 3);
}

double bench_syrk_seconds(int64_t rows, int64_t cols)
{
    enum { PANEL = 1024, MOST_PANELS = 32 };
    int64_t panels = rows / PANEL < 1 ? 1 : rows / PANEL < MOST_PANELS ? rows / PANEL : MOST_PANELS;
    double *x = filled(PANEL * cols, 0.5);
    double *out = filled(cols * cols, 0);
    double start = bench_now();
    for (int64_t p = 0; x && out && p < panels; p++)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)cols, PANEL, 1, x, (blasint)cols, 1, out,
                    (blasint)cols);
    double seconds = bench_now() - start;
    free(x);
    free(out);
    return seconds * (double)rows / (double)(panels * PANEL);
}

double bench_peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}
