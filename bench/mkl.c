/* SPDX-License-Identifier: Apache-2.0 */
/* Times the solver of hsic-mkl: the weights of four kernels, on Breiman's waveforms (three classes). Prints a Markdown table with the
 * time of the solver alone and with that of computing the kernels.
 * usage: bench_mkl [ROWS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "floor.h"
#include "method/mkl/ridge_weights.h"

enum { KERNELS = 4, REPEATS = 5 };
#define TOLERANCE 1e-8

static const char *const kernel_texts[KERNELS] = {"rbf:gamma=0.001", "rbf:gamma=0.01", "rbf:gamma=0.1",
                                                  "rbf:gamma=1"};

typedef struct measured {
    double kernels, solver; /* seconds */
    double objective, gap, iterations;
} measured;

static void check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    fprintf(stderr, "mkl: %s\n", kfe_error_message(ctx));
    exit(1);
}

/* Y(YᵀY)^(−1/2) */
static void fill_labels(const kfe_i_target *target, double *labels)
{
    int64_t sizes[64];
    int64_t c = target->class_count;

    kfe_i_target_count(target, sizes);
    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t g = 0; g < c; g++)
            labels[i * c + g] = target->codes[i] == g ? 1 / sqrt((double)sizes[g]) : 0;
}

static measured run(kfe_context *ctx, const kfe_i_fit_source *source)
{
    kfe_i_ridge_weights_settings settings = {.xi = -1, .tolerance = TOLERANCE, .max_iterations = 1000};
    kfe_i_bank bank = {0};
    kfe_i_ridge_weights weights = {0};
    double began = bench_now();

    check(ctx, kfe_i_bank_open(ctx, "hsic-mkl", source, NULL, 1, &bank));
    double made = bench_now();
    check(ctx, kfe_i_ridge_weights_open(ctx, &bank, source->target->class_count, &weights));
    kfe_i_ridge_weights_configure(&weights, "hsic-mkl", &settings);
    fill_labels(source->target, weights.labels);
    check(ctx, kfe_i_ridge_weights_solve(&weights));
    measured out = {made - began, bench_now() - made, weights.result.objective,
                    kfe_i_simplex_gap(&weights.result), (double)weights.result.iterations};
    kfe_i_ridge_weights_free(&weights);
    kfe_i_bank_free(&bank);
    return out;
}

/* Repeats a run and takes medians. */
static measured run_often(kfe_context *ctx, const kfe_i_fit_source *source)
{
    double kernels[REPEATS], solving[REPEATS];
    measured last = {0};

    for (int r = 0; r < REPEATS; r++) {
        last = run(ctx, source);
        kernels[r] = last.kernels;
        solving[r] = last.solver;
    }
    last.kernels = bench_median(kernels, REPEATS);
    last.solver = bench_median(solving, REPEATS);
    return last;
}

static void print(measured m)
{
    puts("| seconds | with the kernels, seconds | objective | relative gap | iterations "
         "|\n|---|---|---|---|---|");
    printf("| %.3f | %.3f | %.9f | %.1e | %.0f |\n", m.solver, m.kernels + m.solver, m.objective, m.gap,
           m.iterations);
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_i_kernel_list kernels;
    char params[64];

    if (kfe_context_new(&ctx) != KFE_OK)
        return 1;
    kfe_i_threads_enter(ctx);
    snprintf(params, sizeof params, "n=%lld", argc > 1 ? atoll(argv[1]) : 900);
    check(ctx, kfe_data_generate(ctx, "waveform", params, &data));
    kfe_i_kernel_list_init(ctx, &kernels);
    for (int m = 0; m < KERNELS; m++) {
        kfe_i_kernel kernel = {0};
        check(ctx, kfe_i_kernel_parse(ctx, kernel_texts[m], &kernel));
        check(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    }
    kfe_i_fit_source source = {
        .target = &data->target, .kernels = &kernels, .views = &data->views[0].table, .view_count = 1};
    print(run_often(ctx, &source));
    kfe_i_kernel_list_free(&kernels);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
