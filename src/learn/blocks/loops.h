/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call the inner loops of the SVM solver in blocks.c, compiled for each instruction set and chosen at run time. Arrays
 * `rise` and `fall` hold 0 for a coefficient that may rise or fall, and −∞ or +∞ for one that may not.
 */
#ifndef KFE_LEARN_BLOCKS_LOOPS_H
#define KFE_LEARN_BLOCKS_LOOPS_H

#include <stdint.h>

/* *highest = max residual[t] + rise[t], *lowest = min residual[t] + fall[t] */
typedef struct kfe_i_extremes {
    double highest, lowest;
} kfe_i_extremes;
kfe_i_extremes kfe_i_find_extremes(const double *residual, const double *rise, const double *fall,
                                   int64_t count);
/* The first t with residual[t] + rise[t] = value; count: none. */
int64_t kfe_i_find_value(const double *residual, const double *rise, double value, int64_t count);

/* The search for the coefficient that falls when another one rises. */
typedef struct kfe_i_partner_search {
    const double *residual, *fall;
    double highest; /* the residual of the coefficient that rises */
    double own;     /* its diagonal entry */
    const float *row;
    const double *diagonal;
} kfe_i_partner_search;
/* gain[t] = d²/c for d = highest − residual[t] − fall[t] above 0 and the curvature c = own + diagonal[t] − 2·row[t], or a
 * tiny one if that is not positive; −1 for other t. Returns the first t with the largest gain; -1: no d is above 0. */
int64_t kfe_i_find_partner(const kfe_i_partner_search *search, int64_t count, float *gain);

/* residual[t] −= step·(first[t] − second[t]) */
void kfe_i_step_residuals(double *residual, double step, const float *first, const float *second,
                          int64_t count);

/* values[i] += Σ weights[r]·rows[r][i] for i < count */
void kfe_i_add_kernel_rows(const double *weights, const float *const *rows, int64_t row_count, int64_t count,
                           double *values);

/* A row of dot products of one point with others; norms are squared. */
typedef struct kfe_i_products {
    const float *values;
    const float *norms;
    float norm; /* of the one point */
} kfe_i_products;
/* out[j] = exp(−gamma·d) with the squared distance d = norm + norms[j] − 2·values[j], or 0 if that is negative. Relative
 * error: about 2e-7, and gamma times the error of d. `out` may be `values`. */
void kfe_i_gaussian_row(const kfe_i_products *products, float gamma, int64_t count, float *out);

#define KFE_TINY_CURVATURE 1e-12 /* LIBSVM's value */

#endif
