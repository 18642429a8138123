/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply some rows of a matrix with a few vectors, in double or single precision: the inner loop of symmetric.c and thin.c. */
#ifndef KFE_LINALG_STRIP_H
#define KFE_LINALG_STRIP_H

#include <stdint.h>

/* A strip has at most this number of columns: their vectors and sums then stay in the first-level cache, or nearly. */
enum { KFE_STRIP_COLS = 256 };

/* `rows` rows and `cols` columns of a matrix in double (`wide`) or single precision (`narrow`); the other is NULL. v and out are the
 * vectors and sums of the columns, own_v and own_out those of the rows. They have one or two registers of numbers per row, in the
 * precision of the product, without gaps. */
typedef struct kfe_i_strip {
    const double *wide;
    const float *narrow;
    int64_t stride, rows, cols;
    const void *v, *own_v;
    void *out, *own_out;
} kfe_i_strip;

/* own_out_i += a_ij·v_j and, if `mirrored`, out_j += a_ij·own_v_i. Without it, out and own_v are not used. */
typedef void (*kfe_i_strip_fn)(int registers, int mirrored, const kfe_i_strip *s);

/* The fastest one on this machine; `lanes` numbers fit in a register. */
typedef struct kfe_i_strip_way {
    kfe_i_strip_fn multiply;
    int64_t lanes;
} kfe_i_strip_way;
kfe_i_strip_way kfe_i_best_strip(int single);

#endif
