/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures sma or smc on many rows.
 *
 *     bench_pursuit METHOD ROWS DIM COLUMNS [PARAMS]
 *         seconds of the fit and of the transform, and peak memory
 *     bench_pursuit threads ROWS DIM COLUMNS [THREADS...]
 *         sma and smc on 1 and on THREADS (all) threads: seconds of the fit, in stages, and how many times faster than one thread; beside
 *         them how many times faster the machine itself reads memory, which is the floor of an iteration
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kfe.h"

enum { COLS = 50, REPEATS = 3 };
/* No fit is repeated after so many seconds. */
#define LONG 4.0

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(1 - uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/* Normally distributed columns, and a target that is a smooth function of four of them plus noise. */
static void fill(int64_t rows, double *x, double *y)
{
    uint64_t state = 1;

    for (int64_t i = 0; i < rows; i++) {
        double *row = x + i * COLS;
        for (int j = 0; j < COLS; j++)
            row[j] = normal(&state);
        y[i] = sin(row[0] + row[1]) + 0.5 * row[2] * row[3] + 0.3 * normal(&state);
    }
}

static void check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    fprintf(stderr, "%s\n", kfe_error_message(ctx));
    exit(1);
}

typedef struct bench {
    kfe_context *ctx;
    kfe_data *data;
    double *x, *y;
    int64_t rows;
    const char *dim, *columns;
} bench;

static void begin(bench *b, char **argv)
{
    *b = (bench){.rows = atoll(argv[2]), .dim = argv[3], .columns = argv[4]};
    b->x = malloc((size_t)(b->rows * COLS) * sizeof *b->x);
    b->y = malloc((size_t)b->rows * sizeof *b->y);
    if (!b->x || !b->y || kfe_context_new(&b->ctx) != KFE_OK)
        exit(1);
    fill(b->rows, b->x, b->y);
    check(b->ctx, kfe_data_wrap_dense(b->ctx, b->rows, COLS, COLS, b->x, &b->data));
    check(b->ctx, kfe_data_set_targets(b->ctx, b->data, 1, b->y));
}

static void end(bench *b)
{
    kfe_data_free(b->data);
    kfe_context_free(b->ctx);
    free(b->x);
    free(b->y);
}

static kfe_spec *make_spec(const bench *b, const char *method, const char *more)
{
    kfe_spec *spec = NULL;
    char params[256];

    snprintf(params, sizeof params, "dim=%s,columns=%s%s%s", b->dim, b->columns, more ? "," : "",
             more ? more : "");
    check(b->ctx, kfe_spec_parse(b->ctx, method, params, "rbf:gamma=0.01", &spec));
    return spec;
}

/* ---- one fit ---- */

static void measure_fit(const bench *b, const char *method, const char *more)
{
    kfe_spec *spec = make_spec(b, method, more);
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    struct rusage usage;

    double began = seconds();
    check(b->ctx, kfe_fit(b->ctx, spec, b->data, &model));
    double fitted = seconds();
    check(b->ctx, kfe_transform(b->ctx, model, b->data, &features));
    double transformed = seconds();
    getrusage(RUSAGE_SELF, &usage);
    printf("| %s --dim %s --columns %s, n = %lld, d = %d | %.1f | %.1f | %.2f |\n", method, b->dim,
           b->columns, (long long)b->rows, COLS, fitted - began, transformed - fitted,
           (double)usage.ru_maxrss / 1048576);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
}

/* ---- threads ---- */

enum { BEFORE, FIRST_COLUMNS, PICKS, NEW_COLUMNS, AFTER, STAGES };
static const char *const stage_names[] = {"before", "first columns", "picks", "new columns", "after"};

typedef struct stages {
    double last, spent[STAGES];
    int picked;
} stages;

/* A report comes after the work that it names. */
static void take_report(void *user, const char *stage, int64_t done, int64_t total)
{
    stages *s = user;
    double now = seconds();
    int which = BEFORE;

    (void)done;
    (void)total;
    if (strcmp(stage, "picking examples") == 0)
        which = PICKS;
    else if (strcmp(stage, "evaluating candidate columns") == 0)
        which = s->picked ? NEW_COLUMNS : FIRST_COLUMNS;
    s->picked |= which == PICKS;
    s->spent[which] += now - s->last;
    s->last = now;
}

/* The pool says how it is kept before its first column is evaluated. */
static void take_log(void *user, kfe_level level, const char *message)
{
    (void)level;
    if (strstr(message, "a pool of"))
        take_report(user, "", 0, 0);
}

/* The fastest of some fits, and its stages. */
static double time_fit(const bench *b, const char *method, int threads, stages *out)
{
    kfe_spec *spec = make_spec(b, method, NULL);
    double best = INFINITY;

    check(b->ctx, kfe_context_set_threads(b->ctx, threads));
    double all_began = seconds();
    for (int r = 0; r < REPEATS && (r == 0 || seconds() - all_began < LONG); r++) {
        kfe_model *model = NULL;
        stages s = {.last = seconds()};
        double began = s.last;
        kfe_context_on_progress(b->ctx, take_report, &s);
        kfe_context_on_log(b->ctx, take_log, &s);
        check(b->ctx, kfe_fit(b->ctx, spec, b->data, &model));
        double now = seconds();
        s.spent[AFTER] = now - s.last;
        kfe_context_on_progress(b->ctx, NULL, NULL);
        kfe_context_on_log(b->ctx, NULL, NULL);
        kfe_model_free(model);
        if (now - began < best) {
            best = now - began;
            *out = s;
        }
    }
    kfe_spec_free(spec);
    return best;
}

/* Bytes per second that `threads` threads read together, each from memory that it touched first. */
static double read_rate(int threads)
{
    enum { PASSES = 4, LANES = 32 };
    const int64_t count = (int64_t)1 << 23; /* of LANES numbers: 2 GB */
    double *values = malloc((size_t)count * LANES * sizeof *values);
    double best = INFINITY;
    double sum = 0;

    if (!values)
        exit(1);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++)
        for (int l = 0; l < LANES; l++)
            values[i * LANES + l] = 1;
    for (int p = 0; p < PASSES; p++) {
        double began = seconds();
        double sums[LANES] = {0};
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sums)
        for (int64_t i = 0; i < count; i++)
            for (int l = 0; l < LANES; l++)
                sums[l] += values[i * LANES + l];
        best = fmin(best, seconds() - began);
        sum += sums[0];
    }
    free(values);
    return sum > 0 ? (double)count * LANES * sizeof *values / best : 0;
}

static void print_stages(const stages *s)
{
    for (int i = 0; i < STAGES; i++)
        printf(" %s %.3f%s", stage_names[i], s->spent[i], i + 1 < STAGES ? "," : " |\n");
}

static void measure_threads(const bench *b, int count, char **numbers)
{
    static const char *const methods[] = {"sma", "smc"};
    double one = read_rate(1);

    printf(
        "n = %lld, d = %d, %s features, a pool of %s columns\n| | threads | s | times faster | stages, s |\n",
        (long long)b->rows, COLS, b->dim, b->columns);
    printf("| reading memory, GB/s | 1 | %.1f | 1.0 | |\n", one / 1e9);
    for (int c = 0; c < count || c == 0; c++) {
        int threads = count ? atoi(numbers[c]) : omp_get_num_procs();
        double rate = read_rate(threads);
        printf("| reading memory, GB/s | %d | %.1f | %.1f | |\n", threads, rate / 1e9, rate / one);
    }
    for (int m = 0; m < 2; m++) {
        stages s;
        double alone = time_fit(b, methods[m], 1, &s);
        printf("| %s | 1 | %.3f | 1.0 |", methods[m], alone);
        print_stages(&s);
        for (int c = 0; c < count || c == 0; c++) {
            int threads = count ? atoi(numbers[c]) : omp_get_num_procs();
            double together = time_fit(b, methods[m], threads, &s);
            printf("| %s | %d | %.3f | %.1f |", methods[m], threads, together, alone / together);
            print_stages(&s);
        }
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    bench b;

    if (argc < 5) {
        fprintf(stderr, "usage: bench_pursuit METHOD ROWS DIM COLUMNS [PARAMS]\n"
                        "       bench_pursuit threads ROWS DIM COLUMNS [THREADS...]\n");
        return 2;
    }
    begin(&b, argv);
    if (strcmp(argv[1], "threads") == 0)
        measure_threads(&b, argc - 5, argv + 5);
    else
        measure_fit(&b, argv[1], argc > 5 ? argv[5] : NULL);
    end(&b);
    return 0;
}
