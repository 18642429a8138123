/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply, scale and centre blocks of rows or vectors (row-major n × k). Nothing here allocates. */
#ifndef KFE_LINALG_BASIS_H
#define KFE_LINALG_BASIS_H

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
/* The same without strides: out (n × m) = a·b, a·bᵀ or aᵀ·b. In the first two a is n × k, in the last k × n. */
void kfe_i_times(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out);
void kfe_i_times_transpose(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out);
void kfe_i_transpose_times(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out);

/* Multiplies row i of a (n × k) by factors[i]; NULL: ones. */
void kfe_i_scale_rows(int64_t n, int64_t k, const double *factors, double *a);
/* Divides column j of a (n × k) by √values[j]: eigenvectors become coefficients of unit vectors. */
void kfe_i_divide_by_roots(int64_t n, int64_t k, const double *values, double *a);
/* mean (k) = Σ roots[i]·a[i, :] / mass: of rows that carry the roots of weights of the sum `mass`; NULL: ones. */
void kfe_i_mean_row(int64_t n, int64_t k, const double *a, const double *roots, double mass, double *mean);
/* a[i, :] −= roots[i]·row */
void kfe_i_subtract_row(int64_t n, int64_t k, const double *row, const double *roots, double *a);
/* The sum of the diagonal of a (n × n). */
double kfe_i_trace(int64_t n, const double *a);
void kfe_i_add_to_diagonal(int64_t n, double value, double *a);
/* How many of the falling values are above `least`. */
int64_t kfe_i_count_above(int64_t count, const double *falling, double least);
/* Copies n × k between leading dimensions, which may shrink in place. */
void kfe_i_copy_block(int64_t n, int64_t k, const double *from, int64_t from_stride, double *to,
                      int64_t to_stride);

#endif
