/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits one method to data in memory on a device and says how long that took; bench/gpu.sh runs it.
 *
 *     gpu_fit DEVICE METHOD PARAMS GAMMA ROWS COLS CLASSES [TRANSFORM_ROWS]
 *
 * The data has ten clusters of normally distributed examples in each class; CLASSES 0 gives a numeric target. The time begins with
 * data in host memory and ends with the model. The log of the fit goes to standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kfe.h"

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* About normal, with variance 1. */
static double normal(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 4; i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        sum += (double)(*state >> 11) / 9007199254740992.0 - 0.5;
    }
    return sum * 1.7320508;
}

typedef struct problem {
    int64_t rows, cols, classes;
    double *x, *y;
    char (*names)[8];
    const char **labels;
} problem;

static void make(problem *p)
{
    uint64_t state = 88172645463325252u;
    int64_t clusters = 10 * (p->classes > 0 ? p->classes : 1);
    double *centres = malloc((size_t)(clusters * p->cols) * sizeof *centres);

    p->x = malloc((size_t)(p->rows * p->cols) * sizeof *p->x);
    p->y = malloc((size_t)p->rows * sizeof *p->y);
    p->names = malloc((size_t)p->rows * sizeof *p->names);
    p->labels = malloc((size_t)p->rows * sizeof *p->labels);
    for (int64_t i = 0; i < clusters * p->cols; i++)
        centres[i] = normal(&state);
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t cluster = i * 7919 % clusters;
        for (int64_t j = 0; j < p->cols; j++)
            p->x[i * p->cols + j] = centres[cluster * p->cols + j] + normal(&state);
        p->y[i] = p->x[i * p->cols] * p->x[i * p->cols] + normal(&state);
        snprintf(p->names[i], sizeof p->names[i], "c%d", (int)(cluster % (p->classes > 0 ? p->classes : 1)));
        p->labels[i] = p->names[i];
    }
    free(centres);
}

static void print_log(void *user, kfe_level level, const char *message)
{
    double began = *(double *)user;

    (void)level;
    fprintf(stderr, "    %7.3f s  %s\n", seconds() - began, message);
}

static void check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    printf("%s\n", kfe_error_message(ctx));
    exit(1);
}

static void transform(kfe_context *ctx, const kfe_model *model, const problem *p, int64_t rows)
{
    kfe_data *data = NULL;
    kfe_matrix features = {0};
    double *x = malloc((size_t)(rows * p->cols) * sizeof *x);

    for (int64_t i = 0; i < rows; i++)
        memcpy(x + i * p->cols, p->x + i % p->rows * p->cols, (size_t)p->cols * sizeof *x);
    check(ctx, kfe_data_wrap_dense(ctx, rows, p->cols, p->cols, x, &data));
    double began = seconds();
    check(ctx, kfe_transform(ctx, model, data, &features));
    printf("  transform of %lld rows: %.3f s\n", (long long)rows, seconds() - began);
    kfe_matrix_free(&features);
    kfe_data_free(data);
    free(x);
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    char kernel[64];

    if (argc < 8 || kfe_context_new(&ctx) != KFE_OK) {
        fprintf(stderr, "usage: gpu_fit DEVICE METHOD PARAMS GAMMA ROWS COLS CLASSES [TRANSFORM_ROWS]\n");
        return 2;
    }
    problem p = {.rows = atoll(argv[5]), .cols = atoll(argv[6]), .classes = atoll(argv[7])};
    make(&p);
    double began = seconds();
    kfe_context_on_log(ctx, print_log, &began);
    check(ctx, kfe_context_set_device(ctx, argv[1]));
    double opened = seconds() - began;
    began = seconds();
    snprintf(kernel, sizeof kernel, "rbf:gamma=%s", argv[4]);
    check(ctx, kfe_spec_parse(ctx, argv[2], argv[3], kernel, &spec));
    check(ctx, kfe_data_wrap_dense(ctx, p.rows, p.cols, p.cols, p.x, &data));
    if (p.classes > 0)
        check(ctx, kfe_data_set_labels(ctx, data, p.labels));
    else
        check(ctx, kfe_data_set_targets(ctx, data, 1, p.y));
    check(ctx, kfe_fit(ctx, spec, data, &model));
    printf("%s %s on %s, n=%lld d=%lld classes=%lld: %.3f s (opening the device %.3f s)\n", argv[2], argv[3],
           kfe_context_device(ctx), (long long)p.rows, (long long)p.cols, (long long)p.classes,
           seconds() - began, opened);
    if (argc > 8)
        transform(ctx, model, &p, atoll(argv[8]));
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    free(p.x);
    free(p.y);
    free(p.names);
    free(p.labels);
    return 0;
}
