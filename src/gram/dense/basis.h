/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply tall blocks of vectors (row-major n × k) with each other. Nothing here allocates. */
#ifndef KFE_GRAM_DENSE_BASIS_H
#define KFE_GRAM_DENSE_BASIS_H

#include "core/context.h"

/* A block of vectors as a product reads it: one vector per column, as many rows as the product says. */
typedef struct kfe_i_columns {
    const double *values;
    int64_t count;
    int64_t stride; /* from one row to the next; at least count */
} kfe_i_columns;

static inline kfe_i_columns kfe_i_strided(const double *values, int64_t count, int64_t stride)
{
    return (kfe_i_columns){.values = values, .count = count, .stride = stride};
}

static inline kfe_i_columns kfe_i_packed(const double *values, int64_t count)
{
    return kfe_i_strided(values, count, count);
}

/* out (a.count × b.count, packed) = aᵀb for a and b of n rows. */
void kfe_i_inner_products(int64_t n, kfe_i_columns a, kfe_i_columns b, double *out);
/* c (n × s.count, packed) = beta·c + alpha·a·s for a of n rows, s of a.count rows. */
void kfe_i_combine(int64_t n, double alpha, kfe_i_columns a, kfe_i_columns s, double beta, double *c);
/* Copies n × k between leading dimensions. */
void kfe_i_copy_block(int64_t n, int64_t k, const double *from, int64_t from_stride, double *to,
                      int64_t to_stride);

#endif
