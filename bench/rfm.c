/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times rfm against its parts, and on many rows with landmarks. Prints tables of bench/RESULTS.md.
 *
 * usage: bench_rfm fit [N [COLUMNS [REPEATS]]]        (default 20000 100 1)
 *        bench_rfm landmarks [N [COLUMNS [LANDMARKS [MEMORY]]]] (default 1000000 100 2000 7; MEMORY in GB)
 *
 * The columns are normal, the target depends on four of them, the kernel is rbf, the ridge is given and nothing is held out, so
 * that five iterations are six solves and five gradient products. A solve is a fit without iterations. The floors are measured in the same
 * run:
 *
 *   a solve                   half of the kernel values (GEMM on tiles, one exp each) and LAPACK's Cholesky factorisation
 *   a solve with landmarks    all kernel values with the landmarks, and FᵀF by BLAS
 *   a product                 kernel values, and GEMM with the columns and one more
 *
 * Large sizes are measured on a part and extrapolated by the number of operations. Fits and solves alternate.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "floor.h"
#include "kfe.h"

enum { ITERATIONS = 5, MOST_REPEATS = 21 };

static void check(kfe_context *ctx, kfe_status status)
{
    if (status != KFE_OK) {
        fprintf(stderr, "rfm: %s\n", kfe_error_message(ctx));
        exit(1);
    }
}

typedef struct problem {
    kfe_context *ctx;
    int64_t rows, cols;
    double *values, *target;
    kfe_data *data;
} problem;

static problem make_problem(int64_t rows, int64_t cols)
{
    problem p = {.rows = rows, .cols = cols};
    kfe_i_rng rng;

    check(NULL, kfe_context_new(&p.ctx));
    p.values = malloc((size_t)(rows * cols) * sizeof *p.values);
    p.target = malloc((size_t)rows * sizeof *p.target);
    if (!p.values || !p.target)
        exit(1);
    kfe_i_rng_init(&rng, 1, 1);
    for (int64_t i = 0; i < rows; i++) {
        double *x = p.values + i * cols;
        for (int64_t j = 0; j < cols; j++)
            x[j] = kfe_i_rng_normal(&rng);
        p.target[i] = sin(x[0]) + x[1] * x[2] + 0.5 * x[3] + 0.1 * kfe_i_rng_normal(&rng);
    }
    check(p.ctx, kfe_data_wrap_dense(p.ctx, rows, cols, cols, p.values, &p.data));
    check(p.ctx, kfe_data_set_targets(p.ctx, p.data, 1, p.target));
    return p;
}

static void free_problem(problem *p)
{
    kfe_data_free(p->data);
    kfe_context_free(p->ctx);
    free(p->values);
    free(p->target);
}

static double fit_seconds(const problem *p, int iterations, const char *more)
{
    char params[160];
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    snprintf(params, sizeof params, "iterations=%d,held-out=0,ridge=0.1,distance=full,scale=none%s",
             iterations, more);
    check(p->ctx, kfe_spec_parse(p->ctx, "rfm", params, "rbf:gamma=scale", &spec));
    double start = bench_now();
    check(p->ctx, kfe_fit(p->ctx, spec, p->data, &model));
    double seconds = bench_now() - start;
    kfe_model_free(model);
    kfe_spec_free(spec);
    return seconds;
}

/* Kernel values of rows × others, measured on some of the rows. */
static double kernel_floor(const problem *p, int64_t others)
{
    enum { MOST_ROWS = 32768 };
    int threads = kfe_context_threads(p->ctx);
    int64_t rows = p->rows < MOST_ROWS ? p->rows : MOST_ROWS;
    double seconds =
        bench_gemm_seconds(rows, others, p->cols, threads) + bench_exp_seconds(rows * others, threads);

    return seconds * (double)p->rows / (double)rows;
}

/* A gradient product with `support` coefficients. */
static double product_floor(const problem *p, int64_t support)
{
    enum { MOST_ROWS = 32768 };
    int64_t rows = p->rows < MOST_ROWS ? p->rows : MOST_ROWS;

    return kernel_floor(p, support) +
           bench_gemm_seconds(rows, p->cols + 1, support, kfe_context_threads(p->ctx)) * (double)p->rows /
               (double)rows;
}

static void time_fit(int64_t rows, int64_t cols, int repeats)
{
    problem p = make_problem(rows, cols);
    double whole[MOST_REPEATS];
    double solve[MOST_REPEATS];
    double least[MOST_REPEATS];
    double floor[MOST_REPEATS];

    for (int r = 0; r < repeats; r++) {
        whole[r] = fit_seconds(&p, ITERATIONS, "");
        solve[r] = fit_seconds(&p, 0, "");
        least[r] = kernel_floor(&p, rows / 2) + bench_cholesky_seconds(rows);
        floor[r] = product_floor(&p, rows);
    }
    double fit = bench_median(whole, repeats);
    double one = bench_median(solve, repeats);
    double one_floor = bench_median(least, repeats);
    double product = bench_median(floor, repeats);
    printf("| rows | columns | rfm, 5 iterations, s | one solve, s | floor of a solve, s | floor of a "
           "product, s "
           "| rfm / (5 solves + 5 products) | rfm / floor of 5 solves + 5 products | peak memory, GB |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    printf("| %lld | %lld | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f |\n", (long long)rows,
           (long long)cols, fit, one, one_floor, product, fit / (ITERATIONS * (one + product)),
           fit / (ITERATIONS * (one_floor + product)), bench_peak_memory() / 1e9);
    free_problem(&p);
}

static void time_landmarks(int64_t rows, int64_t cols, int64_t landmarks, double memory)
{
    problem p = make_problem(rows, cols);
    char more[64];

    check(p.ctx, kfe_context_set_memory(p.ctx, (int64_t)(memory * 1e9)));
    snprintf(more, sizeof more, ",landmarks=%lld", (long long)landmarks);
    double seconds = fit_seconds(&p, ITERATIONS, more);
    double peak = bench_peak_memory();
    double one = fit_seconds(&p, 0, more);
    double one_floor = kernel_floor(&p, landmarks) + bench_syrk_seconds(rows, landmarks);
    double product = product_floor(&p, landmarks);
    printf("| rows | columns | landmarks | rfm, 5 iterations, s | one solve, s | floor of a solve, s | floor "
           "of a "
           "product, s | rfm / floor of 6 solves + 5 products | peak memory, GB |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    printf("| %lld | %lld | %lld | %.1f | %.1f | %.1f | %.1f | %.2f | %.1f |\n", (long long)rows,
           (long long)cols, (long long)landmarks, seconds, one, one_floor, product,
           seconds / ((ITERATIONS + 1) * one_floor + ITERATIONS * product), peak / 1e9);
    free_problem(&p);
}

static int64_t number(int argc, char **argv, int index, int64_t usual)
{
    return argc > index ? atoll(argv[index]) : usual;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "fit";

    if (strcmp(what, "landmarks") == 0) {
        time_landmarks(number(argc, argv, 2, 1000000), number(argc, argv, 3, 100),
                       number(argc, argv, 4, 2000), argc > 5 ? atof(argv[5]) : 7);
        return 0;
    }
    int64_t repeats = number(argc, argv, 4, 1);
    if (strcmp(what, "fit") != 0 || repeats < 1 || repeats > MOST_REPEATS) {
        fprintf(stderr, "usage: bench_rfm fit [N [COLUMNS [REPEATS]]] | landmarks [N [COLUMNS [LANDMARKS "
                        "[MEMORY]]]]\n");
        return 2;
    }
    time_fit(number(argc, argv, 2, 20000), number(argc, argv, 3, 100), (int)repeats);
    return 0;
}
