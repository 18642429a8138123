/* SPDX-License-Identifier: Apache-2.0 */
/* Run the inner loops of rough_sums.c and rough_products.c over a block of rows, with the instructions that this processor has. Rows lie
 * `stride` numbers apart. */
#ifndef KFE_METHOD_DEFLATION_ROUGH_LOOPS_H
#define KFE_METHOD_DEFLATION_ROUGH_LOOPS_H

#include <stdint.h>

typedef struct kfe_i_row_block {
    const double *values;
    int64_t rows, cols, stride;
} kfe_i_row_block;

/* Directions that are multiplied at a time. */
enum { KFE_ROUGH_TILE = 8 };

/* Adds v = x − base of each row to sum[cols] and its squares to square[cols]. singles (rows × cols) = v·scale; NULL: not wanted. */
void kfe_i_rough_add(const kfe_i_row_block *x, const double *base, double scale, double *sum, double *square,
                     float *singles);
/* along[cols] += Xᵀ(Xw − ahead), where each number is read from memory once. */
void kfe_i_rough_multiply(const kfe_i_row_block *x, const double *w, double ahead, double *along);
/* The same for KFE_ROUGH_TILE directions: w and along are cols × KFE_ROUGH_TILE. `images` is scratch,
 * rows × KFE_ROUGH_TILE. */
void kfe_i_rough_multiply_tile(const kfe_i_row_block *x, const double *w, const double *ahead, double *images,
                               double *along);

#endif
