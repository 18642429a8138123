/* SPDX-License-Identifier: Apache-2.0 */
/* The unavoidable work of Gaussian kernels: GEMM at this machine's rate on tiles in cache, and exp. */
#ifndef KFE_BENCH_FLOOR_H
#define KFE_BENCH_FLOOR_H

#include <stdint.h>

double bench_now(void);
/* The middle one of `count` times; sorts them. */
double bench_median(double *times, int count);
/* Seconds of rows × cols dot products of length d, by `threads` threads, each on a tile of its own. */
double bench_gemm_seconds(int64_t rows, int64_t cols, int64_t d, int threads);
/* Seconds of `count` exponentials. */
double bench_exp_seconds(int64_t count, int threads);
/* Peak resident memory of this process so far, in bytes. */
double bench_peak_memory(void);

#endif
