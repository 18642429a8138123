/* SPDX-License-Identifier: Apache-2.0 */
/* Measures sma or smc on many rows: seconds of the fit and of the transform, and peak memory.
 * usage: bench_pursuit METHOD ROWS DIM COLUMNS [PARAMS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kfe.h"

enum { COLS = 50 };

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

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    struct rusage usage;
    char params[256];

    if (argc < 5)
        return 2;
    int64_t rows = atoll(argv[2]);
    double *x = malloc((size_t)(rows * COLS) * sizeof *x);
    double *y = malloc((size_t)rows * sizeof *y);
    if (!x || !y || kfe_context_new(&ctx) != KFE_OK)
        return 1;
    fill(rows, x, y);
    check(ctx, kfe_data_wrap_dense(ctx, rows, COLS, COLS, x, &data));
    check(ctx, kfe_data_set_targets(ctx, data, 1, y));
    snprintf(params, sizeof params, "dim=%s,columns=%s%s%s", argv[3], argv[4], argc > 5 ? "," : "",
             argc > 5 ? argv[5] : "");
    check(ctx, kfe_spec_parse(ctx, argv[1], params, "rbf:gamma=0.01", &spec));
    double began = seconds();
    check(ctx, kfe_fit(ctx, spec, data, &model));
    double fitted = seconds();
    check(ctx, kfe_transform(ctx, model, data, &features));
    double transformed = seconds();
    getrusage(RUSAGE_SELF, &usage);
    printf("| %s --dim %s --columns %s, n = %lld, d = %d | %.1f | %.1f | %.2f |\n", argv[1], argv[3], argv[4],
           (long long)rows, COLS, fitted - began, transformed - fitted, (double)usage.ru_maxrss / 1048576);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    free(x);
    free(y);
    return 0;
}
