/* SPDX-License-Identifier: Apache-2.0 */
/* Make the examples of the benchmarks on a GPU, and report what they do. */
#ifndef KFE_BENCH_GPU_DATA_H
#define KFE_BENCH_GPU_DATA_H

#include "kfe.h"

/* The first three are given; classes 0: a numeric target. */
typedef struct gpu_data {
    int64_t rows, cols, classes;
    double *x, *y;
    char (*names)[8];
    const char **labels;
} gpu_data;

void gpu_data_make(gpu_data *data);
void gpu_data_free(gpu_data *data);

double gpu_seconds(void);
/* A log hook: prints lines with the seconds since *(double *)user to standard error. */
void gpu_print_log(void *user, kfe_level level, const char *message);
/* Ends the program with the message of a failure. */
void gpu_check(kfe_context *ctx, kfe_status status);

#endif
