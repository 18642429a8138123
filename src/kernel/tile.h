/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel values between a range of rows of one set of points and a range of another. */
#ifndef KFE_KERNEL_TILE_H
#define KFE_KERNEL_TILE_H

#include "kernel/points.h"

/* Rows and columns of tiles that are multiplied while they are in the second-level cache; and the largest
 * tiles there are, for whole matrices: their GEMM packs less, and they are only mapped and written. */
enum { KFE_TILE_SIDE = 256, KFE_TILE_LARGEST = 512 };
/* Between rows of a tile in memory: not a power of two, so that walking down a column does not meet the same
 * cache set again and again. */
enum { KFE_TILE_STRIDE = KFE_TILE_SIDE + 8, KFE_TILE_SIZE = KFE_TILE_SIDE * KFE_TILE_STRIDE };

/* Doubles of scratch that one thread needs for tiles between points of these tables. They are zeros at first;
 * each tile leaves them so that the next one of the same kernel can use them. */
int64_t kfe_i_tile_scratch(const kfe_i_points *a, const kfe_i_points *b);

/* Threads that may evaluate this kernel at once: functions of the user get one. */
int kfe_i_tile_threads(const kfe_context *ctx, const kfe_i_kernel *kernel);

/* out[i·stride + j] = κ(a_{row+i}, b_{col+j}). Cannot fail, does not allocate; thread-safe with scratch
 * of the thread's own. For a GIVEN kernel b holds column numbers of a's table. */
void kfe_i_tile_eval(const kfe_i_kernel *kernel, const kfe_i_points *a, int64_t row, int64_t rows,
                     const kfe_i_points *b, int64_t col, int64_t cols, double *out, int64_t stride,
                     double *scratch);

#endif
