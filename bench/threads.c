/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread against all: dgemm, the fits of kpca and koc, and a transform, in one run, with each ratio beside that of dgemm. Prints a
 * table in Markdown.
 *
 *     bench_threads [THREADS [ROWS [REPEATS]]]
 *
 * The data has ten clusters of normally distributed examples in each of ten classes, 256 columns. Times are the smallest of the repeats.
 */
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_data.h"

enum { COLUMNS = 256, CLASSES = 10, GEMM_ORDER = 4000, FITS = 2 };
static const char *const methods[FITS] = {"kpca", "koc"};

typedef struct times {
    double dgemm, fit[FITS], transform;
} times;

static double dgemm_seconds(int threads)
{
    size_t size = (size_t)GEMM_ORDER * GEMM_ORDER;
    double *memory = malloc(3 * size * sizeof *memory);
    int saved = omp_get_max_threads();

    for (size_t i = 0; i < 3 * size; i++)
        memory[i] = 1.0 / (double)(1 + i % 64);
    omp_set_num_threads(threads);
    double began = gpu_seconds();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, GEMM_ORDER, GEMM_ORDER, GEMM_ORDER, 1, memory,
                GEMM_ORDER, memory + size, GEMM_ORDER, 0, memory + 2 * size, GEMM_ORDER);
    double seconds = gpu_seconds() - began;
    omp_set_num_threads(saved);
    free(memory);
    return seconds;
}

static void fit_seconds(kfe_context *ctx, const kfe_data *data, int which, times *out)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    char kernel[64];

    snprintf(kernel, sizeof kernel, "rbf:gamma=%g", 1.0 / (4 * COLUMNS));
    gpu_check(ctx, kfe_spec_parse(ctx, methods[which], which == 0 ? "dim=10" : "", kernel, &spec));
    double began = gpu_seconds();
    gpu_check(ctx, kfe_fit(ctx, spec, data, &model));
    out->fit[which] = fmin(out->fit[which], gpu_seconds() - began);
    if (which == 0) {
        began = gpu_seconds();
        gpu_check(ctx, kfe_transform(ctx, model, data, &features));
        out->transform = fmin(out->transform, gpu_seconds() - began);
        kfe_matrix_free(&features);
    }
    kfe_model_free(model);
    kfe_spec_free(spec);
}

static times measure(const gpu_data *p, int threads, int repeats)
{
    times found = {INFINITY, {INFINITY, INFINITY}, INFINITY};
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;

    gpu_check(NULL, kfe_context_new(&ctx));
    gpu_check(ctx, kfe_context_set_threads(ctx, threads));
    gpu_check(ctx, kfe_data_wrap_dense(ctx, p->rows, p->cols, p->cols, p->x, &data));
    gpu_check(ctx, kfe_data_set_labels(ctx, data, p->labels));
    for (int r = 0; r < repeats; r++) {
        found.dgemm = fmin(found.dgemm, dgemm_seconds(threads));
        for (int which = 0; which < FITS; which++)
            fit_seconds(ctx, data, which, &found);
    }
    kfe_data_free(data);
    kfe_context_free(ctx);
    return found;
}

static void print_row(const char *what, double one, double many, double dgemm_ratio)
{
    double ratio = one / many;

    printf("| %s | %.3f | %.3f | %.2f | %.2f |\n", what, one, many, ratio, ratio / dgemm_ratio);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : omp_get_num_procs();
    int repeats = argc > 3 ? atoi(argv[3]) : 2;
    gpu_data p = {.rows = argc > 2 ? atoll(argv[2]) : 10000, .cols = COLUMNS, .classes = CLASSES};

    gpu_data_make(&p);
    times one = measure(&p, 1, repeats);
    times many = measure(&p, threads, repeats);
    double ratio = one.dgemm / many.dgemm;
    printf("| n=%lld, d=%d | 1 thread, s | %d threads, s | ratio | of dgemm's |\n|---|---|---|---|---|\n",
           (long long)p.rows, COLUMNS, threads);
    print_row("dgemm of order 4,000", one.dgemm, many.dgemm, ratio);
    for (int which = 0; which < FITS; which++)
        print_row(methods[which], one.fit[which], many.fit[which], ratio);
    print_row("transform", one.transform, many.transform, ratio);
    gpu_data_free(&p);
    return 0;
}
