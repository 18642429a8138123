/* SPDX-License-Identifier: Apache-2.0 */
/* Times the Gram engine and, for comparison, the work that it cannot avoid (floor.c). Prints rows of
 * bench/RESULTS.md.
 * usage: bench_engine [NAME...] */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "floor.h"
#include "gram/gram.h"

enum { REPEATS = 5 };

static void check(kfe_context *ctx, kfe_status status)
{
    if (status != KFE_OK) {
        fprintf(stderr, "engine: %s\n", kfe_error_message(ctx));
        exit(1);
    }
}

static void fill(double *values, int64_t count, uint64_t state)
{
    for (int64_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = (double)(state >> 11) * 0x1.0p-53;
    }
}

/* A Gaussian kernel on random points, its Gram operator and its workspace. */
typedef struct problem {
    kfe_context *ctx;
    double *values;
    kfe_i_table table;
    kfe_i_kernel kernel;
    kfe_i_gram *gram;
} problem;

static void open_problem(problem *p, int64_t n, int64_t d, const char *kernel)
{
    memset(p, 0, sizeof *p);
    check(NULL, kfe_context_new(&p->ctx));
    kfe_i_threads_enter(p->ctx);
    p->values = malloc((size_t)(n * d) * sizeof *p->values);
    fill(p->values, n * d, 88172645463325252u);
    p->table = (kfe_i_table){
        .ctx = p->ctx, .kind = KFE_TABLE_DENSE, .rows = n, .cols = d, .stride = d, .values = p->values};
    check(p->ctx, kfe_i_kernel_parse(p->ctx, kernel, &p->kernel));
    check(p->ctx, kfe_i_gram_tiled(p->ctx, &p->kernel, &p->table, &p->gram));
}

static void close_problem(problem *p)
{
    kfe_i_gram_free(p->gram);
    kfe_i_kernel_free(&p->kernel);
    kfe_context_free(p->ctx);
    free(p->values);
}

static void report(const char *what, double *times, double *floors, int count, double target)
{
    double ratios[REPEATS];
    for (int r = 0; r < count; r++)
        ratios[r] = times[r] / floors[r];
    printf("| %s | %.3f | %.3f | %.2f | %s %.2f |\n", what, bench_median(times, count),
           bench_median(floors, count), bench_median(ratios, count), "<=", target);
    fflush(stdout);
}

static void bench_gram(void)
{
    int64_t n = 10000;
    int64_t d = 256;
    double times[REPEATS];
    double floors[REPEATS];
    problem p;
    double *out = malloc((size_t)(n * n) * sizeof *out);

    open_problem(&p, n, d, "rbf:gamma=0.01");
    memset(out, 1, (size_t)(n * n) * sizeof *out);
    for (int r = 0; r < REPEATS; r++) {
        double start = bench_now();
        check(p.ctx, kfe_i_gram_block(p.gram, 0, n, 0, n, out, n));
        times[r] = bench_now() - start;
        start = bench_now();
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)n, (blasint)d, 1, p.values, (blasint)d,
                    0, out, (blasint)n);
        double middle = bench_now();
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++)
            memset(out + i * n, r, (size_t)n * sizeof *out);
        floors[r] = bench_now() - start;
        fprintf(stderr, "gram: dsyrk %.3f, write %.3f, ours %.3f\n", middle - start, bench_now() - middle,
                times[r]);
    }
    report("Gram matrix, rbf, n=10,000, d=256, double; floor dsyrk + one write", times, floors, REPEATS,
           1.25);
    free(out);
    close_problem(&p);
}

static void bench_times(void)
{
    int64_t n = 20000;
    int64_t d = 50;
    int64_t k = 16;
    double times[REPEATS];
    double floors[REPEATS];
    problem p;
    double *v = malloc((size_t)(n * k) * sizeof *v);
    double *out = malloc((size_t)(n * k) * sizeof *out);

    open_problem(&p, n, d, "rbf:gamma=0.1");
    fill(v, n * k, 12345);
    for (int r = 0; r < REPEATS; r++) {
        int threads = kfe_context_threads(p.ctx);
        double start = bench_now();
        check(p.ctx, kfe_i_gram_times(p.gram, v, k, out));
        times[r] = bench_now() - start;
        /* all products with vectors, but dot products and exp for half of the matrix only, because it is
         * symmetric */
        floors[r] = bench_gemm_seconds(n, n / 2, d, threads) + bench_exp_seconds(n * n / 2, threads) +
                    bench_gemm_seconds(n, n, k, threads);
    }
    report("times block, not stored, n=20,000, d=50, 16 vectors; floor GEMM + exp of half the matrix", times,
           floors, REPEATS, 1.5);
    free(v);
    free(out);
    close_problem(&p);
}

static double cholesky_seconds(problem *p, int64_t n)
{
    double *matrix = NULL;

    check(p->ctx, kfe_i_gram_materialise(p->gram, &matrix));
    for (int64_t i = 0; i < n; i++)
        matrix[i * n + i] += 1e-3 * (double)n;
    double start = bench_now();
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, matrix, (lapack_int)n);
    double seconds = bench_now() - start;
    kfe_i_free(p->ctx, matrix);
    return seconds;
}

static void bench_solve(int64_t n, int64_t d, int compare)
{
    int64_t k = 10;
    problem p;
    double residual = 0;
    double *right = malloc((size_t)(n * k) * sizeof *right);
    double *out = malloc((size_t)(n * k) * sizeof *out);

    open_problem(&p, n, d, "rbf:gamma=0.1");
    if (!compare)
        check(p.ctx, kfe_context_set_memory(p.ctx, 7000000000));
    fill(right, n * k, 777);
    double start = bench_now();
    check(p.ctx, kfe_i_gram_solve(p.gram, 1e-3 * (double)n, right, k, 1e-8, out, &residual));
    double seconds = bench_now() - start;
    if (compare) {
        double floor = cholesky_seconds(&p, n);
        printf("| block solve, n=%lld, 10 right-hand sides, ridge 1e-3 n, residual %.0e; peer: the Cholesky "
               "factorisation "
               "alone | %.2f | %.2f | %.2f | <= 0.33 |\n",
               (long long)n, residual, seconds, floor, seconds / floor);
    } else {
        printf("| block solve, n=%lld, d=%lld, residual %.0e, peak memory %.1f GB | %.1f | | | <= 8 GB |\n",
               (long long)n, (long long)d, residual, bench_peak_memory() / 1e9, seconds);
    }
    fflush(stdout);
    free(right);
    free(out);
    close_problem(&p);
}

static int wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    if (wanted(argc, argv, "gram"))
        bench_gram();
    if (wanted(argc, argv, "times"))
        bench_times();
    if (wanted(argc, argv, "solve"))
        bench_solve(20000, 50, 1);
    if (wanted(argc, argv, "solve-large"))
        bench_solve(60000, 50, 0);
    return 0;
}
