/* SPDX-License-Identifier: Apache-2.0 */
/* Call a device plug-in with random data of any size: what gpu.c and gpu_learn.c share. */
#ifndef KFE_BENCH_GPU_CALLS_H
#define KFE_BENCH_GPU_CALLS_H

#include "plugin/device.h"

typedef struct bench {
    const kfe_device_table *table;
    kfe_device *device;
    uint64_t random;
} bench;

double seconds(void);
/* Ends the program with the name of the call unless the status is good. */
void check(bench *b, kfe_device_status status, const char *call);
#define CALL(function, ...) check(b, b->table->function(b->device, __VA_ARGS__), #function)

/* About normal: the sum of four uniform numbers, with variance 1. */
double normal(bench *b);
double *normals(bench *b, int64_t count);
kfe_device_matrix matrix(bench *b, int64_t rows, int64_t cols, kfe_device_type type);
kfe_device_matrix random_matrix(bench *b, int64_t rows, int64_t cols, kfe_device_type type);
void release(bench *b, kfe_device_matrix *m);
kfe_device_points *random_points(bench *b, int64_t n, int64_t d);
kfe_device_kernel gaussian(double gamma);

/* gpu_learn.c; each prints a line */

/* Linear SVMs, one against the rest for ten classes, each with eight costs. */
void bench_svms(bench *b, int64_t n, int64_t d);
/* The k nearest of all rows to each of them. */
void bench_nearest(bench *b, int64_t n, int64_t d, int64_t k);
/* The Gaussian kernel matrix of sparse rows like those of texts. */
void bench_sparse(bench *b, int64_t n, int64_t d, int64_t per_row);

#endif
