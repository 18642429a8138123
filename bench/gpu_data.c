/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of the benchmarks on a GPU: normally distributed around the centres of ten clusters in each class. gpu_fit.c and
 * gpu_cv.c use them. */
#include "gpu_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double gpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gpu_print_log(void *user, kfe_level level, const char *message)
{
    double began = *(double *)user;

    (void)level;
    fprintf(stderr, "    %7.3f s  %s\n", gpu_seconds() - began, message);
}

void gpu_check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    printf("%s\n", kfe_error_message(ctx));
    exit(1);
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

void gpu_data_make(gpu_data *p)
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

void gpu_data_free(gpu_data *p)
{
    free(p->x);
    free(p->y);
    free(p->names);
    free(p->labels);
}
