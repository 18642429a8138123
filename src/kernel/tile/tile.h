/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluate one tile of a kernel matrix: consecutive points of one set against consecutive points of another. */
#ifndef KFE_KERNEL_TILE_TILE_H
#define KFE_KERNEL_TILE_TILE_H

#include "kernel/tile/points.h"

/* KFE_TILE_SIDE: rows and columns of a tile that is multiplied while it is in the second-level cache.
 * KFE_TILE_LARGEST: the largest tile, used for whole matrices, which are only written. Larger tiles make GEMM
 * copy less. */
enum { KFE_TILE_SIDE = 256, KFE_TILE_LARGEST = 512 };
/* Distance between rows of a tile in memory. It is not a power of two, because the entries of a column would
 * then compete for the same cache set. */
enum { KFE_TILE_STRIDE = KFE_TILE_SIDE + 8, KFE_TILE_SIZE = KFE_TILE_SIDE * KFE_TILE_STRIDE };

/* Doubles of scratch that one thread needs for tiles between points of these tables. They must be zero before
 * the first tile; each tile leaves them ready for the next one of the same kernel. */
int64_t kfe_i_tile_scratch(const kfe_i_points *a, const kfe_i_points *b);

/* Room for evaluating the largest tiles between these points, of each thread: a tile of `tile` doubles, in rows that
 * lie KFE_LARGEST_STRIDE apart, and the scratch behind it. A small matrix takes no more than its own rows. */
enum { KFE_LARGEST_STRIDE = KFE_TILE_LARGEST + 8 };
typedef struct kfe_i_tile_room {
    double *work;
    int64_t tile, own; /* doubles of a tile; of a thread */
    int threads;       /* that have a tile of the lower triangle */
} kfe_i_tile_room;
kfe_status kfe_i_tile_room_new(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                               kfe_i_tile_room *out);

/* How many threads may evaluate this kernel at once: one if it is a function of the user. */
int kfe_i_tile_threads(const kfe_context *ctx, const kfe_i_kernel *kernel);

/* out[i·stride + j] = κ(x, y) with x the i-th point of `rows` and y the j-th of `cols`. Cannot fail, does not
 * allocate; thread-safe if every thread has its own scratch. For a GIVEN kernel the points of `cols` are
 * column numbers of the table of `rows`. */
void kfe_i_tile_eval(const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols, double *out,
                     int64_t stride, double *scratch);

/* The same for one of the largest tiles of the lower triangle of a symmetric matrix. On the diagonal, little more than the
 * lower triangle of a tile is evaluated, and copied to the upper, so that the tile is symmetric to the last bit. */
void kfe_i_triangle_tile_eval(const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols, double *tile,
                              double *scratch);

#endif
