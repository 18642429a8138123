/* SPDX-License-Identifier: Apache-2.0 */
/* Times the solvers of hsic-mkl: the weights of four kernels, to the same gap, on Breiman's waveforms (three
 * classes). Prints a Markdown table with the time of the solver alone and with that of computing the
 * kernels.
 * usage: bench_mkl [ROWS [SOLVER...]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "floor.h"
#include "method/mkl/ridge_weights.h"

enum { KERNELS = 4, REPEATS = 5, SOLVERS = 3 };
#define TOLERANCE 1e-8

static const char *const kernel_texts[KERNELS] = {"rbf:gamma=0.001", "rbf:gamma=0.01", "rbf:gamma=0.1",
                                                  "rbf:gamma=1"};
static const char *const solver_names[SOLVERS] = {"gradient", "silp", "sdp"};

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

static measured run(kfe_context *ctx, const kfe_i_problem *problem, int solver)
{
    kfe_i_ridge_weights_settings settings = {
        .xi = -1, .tolerance = TOLERANCE, .max_iterations = 1000, .solver = solver};
    kfe_i_bank bank = {0};
    kfe_i_ridge_weights weights = {0};
    double began = bench_now();

    check(ctx, kfe_i_bank_open(ctx, "hsic-mkl", problem, 1, &bank));
    double made = bench_now();
    check(ctx, kfe_i_ridge_weights_open(ctx, &bank, problem->target->class_count, &weights));
    kfe_i_ridge_weights_configure(&weights, "hsic-mkl", &settings);
    fill_labels(problem->target, weights.labels);
    check(ctx, kfe_i_ridge_weights_solve(&weights, solver));
    measured out = {made - began, bench_now() - made, weights.result.objective,
                    kfe_i_simplex_gap(&weights.result), (double)weights.result.iterations};
    kfe_i_ridge_weights_free(&weights);
    kfe_i_bank_free(&bank);
    return out;
}

/* Repeats a run and takes medians; long runs are made only once. */
static measured run_often(kfe_context *ctx, const kfe_i_problem *problem, int solver)
{
    double kernels[REPEATS], solving[REPEATS];
    int repeats = solver == KFE_SOLVER_SDP ? 1 : REPEATS;
    measured last = {0};

    for (int r = 0; r < repeats; r++) {
        last = run(ctx, problem, solver);
        kernels[r] = last.kernels;
        solving[r] = last.solver;
    }
    last.kernels = bench_median(kernels, repeats);
    last.solver = bench_median(solving, repeats);
    return last;
}

static void compare(kfe_context *ctx, const kfe_i_problem *problem, const int *wanted)
{
    measured first = {0};

    printf(
        "| solver | seconds | against gradient | with the kernels, seconds | against gradient | objective | "
        "relative gap | iterations |\n|---|---|---|---|---|---|---|---|\n");
    for (int s = 0; s < SOLVERS; s++) {
        if (!wanted[s])
            continue;
        measured m = run_often(ctx, problem, s);
        first = s == 0 ? m : first;
        printf("| %s | %.3f | %.1f | %.3f | %.1f | %.9f | %.1e | %.0f |\n", solver_names[s], m.solver,
               m.solver / first.solver, m.kernels + m.solver,
               (m.kernels + m.solver) / (first.kernels + first.solver), m.objective, m.gap, m.iterations);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_i_kernel_list kernels;
    char params[64];
    int wanted[SOLVERS] = {1, 1, 1};

    for (int s = 0; s < SOLVERS && argc > 2; s++) {
        wanted[s] = s == 0;
        for (int a = 2; a < argc; a++)
            wanted[s] |= strcmp(argv[a], solver_names[s]) == 0;
    }
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
    kfe_i_problem problem = {
        .target = &data->target, .kernels = &kernels, .views = &data->views[0].table, .view_count = 1};
    compare(ctx, &problem, wanted);
    kfe_i_kernel_list_free(&kernels);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
