/* SPDX-License-Identifier: Apache-2.0 */
/* Time the unavoidable work of Gaussian kernels: GEMM on tiles in the cache, and exp. */
#ifndef KFE_BENCH_FLOOR_H
#define KFE_BENCH_FLOOR_H

#include <stdint.h>

double bench_now(void);
/* The median of `count` times; sorts the array. */
double bench_median(double *times, int count);
/* The time in seconds of rows × cols dot products of length d; each of `threads` threads works on a tile of
 * its own. */
double bench_gemm_seconds(int64_t rows, int64_t cols, int64_t d, int threads);
/* The time in seconds of `count` exponentials. */
double bench_exp_seconds(int64_t count, int threads);
/* The peak resident memory of this process in bytes. */
double bench_peak_memory(void);

#endif
