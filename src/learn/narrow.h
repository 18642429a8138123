/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skip rows that cannot be near. Dot products in single precision take half the time of those in double precision, and
 * their rounding has a known bound: a row whose distance, less this bound, exceeds that of the farthest neighbour so far
 * is not a neighbour. The caller measures the other rows exactly, which are a few dozen among thousands.
 *
 * Points are centred and scaled so that the longest support row has length 1.
 */
#ifndef KFE_LEARN_NARROW_H
#define KFE_LEARN_NARROW_H

#include "kernel/tile/points.h"

typedef struct kfe_i_narrow {
    kfe_context *ctx;
    int64_t rows, cols;
    float *values; /* rows × cols */
    float *levels; /* half of the squared length of each row, less its share of the bound */
    double scale;  /* a squared distance here is `scale` times that of the points */
} kfe_i_narrow;

/* A scale for these support points, or 0 if they do not suit: sparse, all equal, or of an odd magnitude. */
double kfe_i_narrow_scale(const kfe_i_points *support);
/* Whether these queries suit it too. */
int kfe_i_narrow_suits(const kfe_i_points *queries, double scale);
kfe_status kfe_i_narrow_make(kfe_context *ctx, const kfe_i_points *points, double scale, kfe_i_narrow *out);
void kfe_i_narrow_free(kfe_i_narrow *narrow);

/* products[i·cols + j] = ⟨x, y⟩ for `rows` queries x from `row` on and `cols` support rows y from `col` on. */
void kfe_i_narrow_products(const kfe_i_narrow *queries, int64_t row, int64_t rows,
                           const kfe_i_narrow *support, int64_t col, int64_t cols, float *products);
/* A support row is within the squared distance `distance` of query i if their product minus the row's level reaches this
 * number. */
float kfe_i_narrow_threshold(const kfe_i_narrow *queries, int64_t i, double distance);

#endif
