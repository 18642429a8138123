/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times fits whose ridge is chosen by leave-one-out beside fits with a given ridge. Prints a table of bench/RESULTS.md.
 *
 * usage: bench_ridge [REPEATS [N ...]]   (default 15 repeats, N = 100 300 700 1000 2000)
 *
 * The data are two clouds in 20 columns (as `kfe generate twonorm` draws them), the kernel is rbf, and one thread is used.
 * Seconds are of the processor, so that other programs on the machine count little. Fits with and without the choice
 * alternate; the table has the medians, and the median of the ratios of neighbouring fits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/rng.h"
#include "floor.h"
#include "kfe.h"

enum { COLUMNS = 20, MOST_REPEATS = 101 };

static const struct {
    const char *name, *given;
} methods[] = {{"kfd", "ridge=0.1"}, {"hsic", "lambda=0.1"}, {"uhsic", "xi=0.1"}, {"kopls", "ridge=0.1"}};

static void check(kfe_context *ctx, kfe_status status)
{
    if (status != KFE_OK) {
        fprintf(stderr, "ridge: %s\n", kfe_error_message(ctx));
        exit(1);
    }
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Classes at (a, …, a) and (−a, …, −a), a = 2/√20, with unit noise. */
static kfe_data *make_data(kfe_context *ctx, int64_t rows, double *values)
{
    const char **labels = malloc((size_t)rows * sizeof *labels);
    kfe_data *data = NULL;
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, 1, 1);
    for (int64_t i = 0; i < rows; i++) {
        labels[i] = i % 2 ? "a" : "b";
        for (int64_t j = 0; j < COLUMNS; j++)
            values[i * COLUMNS + j] = kfe_i_rng_normal(&rng) + (i % 2 ? 2 : -2) / sqrt(COLUMNS);
    }
    check(ctx, kfe_data_wrap_dense(ctx, rows, COLUMNS, COLUMNS, values, &data));
    check(ctx, kfe_data_set_labels(ctx, data, labels));
    free(labels);
    return data;
}

static double fit_seconds(kfe_context *ctx, const kfe_data *data, const char *method, const char *settings)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    check(ctx, kfe_spec_parse(ctx, method, settings, "rbf", &spec));
    double start = processor_seconds();
    check(ctx, kfe_fit(ctx, spec, data, &model));
    double seconds = processor_seconds() - start;
    kfe_model_free(model);
    kfe_spec_free(spec);
    return seconds;
}

static void compare(kfe_context *ctx, const kfe_data *data, int64_t rows, int repeats, int m)
{
    double given[MOST_REPEATS];
    double chosen[MOST_REPEATS];
    double ratio[MOST_REPEATS];

    fit_seconds(ctx, data, methods[m].name, NULL);
    for (int r = 0; r < repeats; r++) {
        given[r] = fit_seconds(ctx, data, methods[m].name, methods[m].given);
        chosen[r] = fit_seconds(ctx, data, methods[m].name, NULL);
        ratio[r] = chosen[r] / given[r];
    }
    printf("| %lld | `%s` | %.2f | %.2f | %.2f |\n", (long long)rows, methods[m].name,
           1e3 * bench_median(given, repeats), 1e3 * bench_median(chosen, repeats),
           bench_median(ratio, repeats));
    fflush(stdout);
}

static void compare_all(int64_t rows, int repeats)
{
    kfe_context *ctx = NULL;
    double *values = malloc((size_t)(rows * COLUMNS) * sizeof *values);

    check(NULL, kfe_context_new(&ctx));
    check(ctx, kfe_context_set_threads(ctx, 1));
    kfe_data *data = make_data(ctx, rows, values);
    for (int m = 0; m < (int)(sizeof methods / sizeof methods[0]); m++)
        compare(ctx, data, rows, repeats, m);
    kfe_data_free(data);
    kfe_context_free(ctx);
    free(values);
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {100, 300, 700, 1000, 2000};
    int repeats = argc > 1 ? atoi(argv[1]) : 15;

    if (repeats < 1 || repeats > MOST_REPEATS) {
        fprintf(stderr, "ridge: 1 to %d repeats\n", MOST_REPEATS);
        return 2;
    }
    printf("| rows | method | ridge given, ms | by leave-one-out, ms | ratio |\n|---|---|---|---|---|\n");
    for (int i = 2; i < argc; i++)
        compare_all(atoll(argv[i]), repeats);
    for (int i = 0; argc <= 2 && i < 5; i++)
        compare_all(usual[i], repeats);
    return 0;
}
