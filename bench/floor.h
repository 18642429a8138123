/* SPDX-License-Identifier: Apache-2.0 */
/* Time the unavoidable work of Gaussian kernels: GEMM on tiles in the cache, exp, and dense factorisations. */
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
/* The time in seconds of LAPACK's Cholesky factorisation of order n, and of XᵀX (half of it) for X of rows × cols. Both are
 * measured on a part of large sizes and extrapolated by their number of operations. */
double bench_cholesky_seconds(int64_t n);
double bench_syrk_seconds(int64_t rows, int64_t cols);
/* The peak resident memory of this process in bytes. */
double bench_peak_memory(void);

#endif
