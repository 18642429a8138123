/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of rounding errors for tests. A sum of n products in any order is off by at most n·u·Σ|terms| with
 * u = ε/2, and factorisations are backward stable with a modest multiple of n·ε·‖A‖. The constants are no
 * larger than necessary, so that mistakes show.
 */
#ifndef KFE_TESTS_SUPPORT_TOLERANCE_H
#define KFE_TESTS_SUPPORT_TOLERANCE_H

#include <float.h>
#include <math.h>
#include <stdint.h>

/* The error of a sum of `count` terms whose magnitudes add up to `magnitude`; each term takes a few
 * operations. */
static inline double tolerance_sum(int64_t count, double magnitude)
{
    return ((double)count + 8) * DBL_EPSILON * magnitude;
}

/* The error of squared distances computed by dot products, for points whose squared norms are at most `norm`. */
static inline double tolerance_distance(int64_t cols, double norm)
{
    return tolerance_sum(cols, 4 * norm);
}

/* The relative error of a squared distance, however small: below 1e-5 of the norms it is computed from
 * differences. */
static inline double tolerance_distance_relative(int64_t cols)
{
    return tolerance_sum(cols, 1) / 1e-5;
}

/* The error of residuals and of orthonormality for factorisations of an n × n matrix with this Frobenius
 * norm. */
static inline double tolerance_factorisation(int64_t n, double norm)
{
    return 4 * (double)n * DBL_EPSILON * norm;
}

/* Error of the vector exponential in units in the last place: 1 from the vector loops, 0.5 from the product before it. */
#define TOLERANCE_EXP_ULP 2
/* Of a product of two square roots: 3.5 halves of an ulp, each twice as large after a carry. */
#define TOLERANCE_POW_ULP 4

/* The relative error of one rounding to single precision. */
#define TOLERANCE_SINGLE (1.0 / (1 << 24))

/* The constant of relative errors of a method's results. Textbook bounds have constants that depend on the
 * order of operations; this one covers them. */
#define TOLERANCE_CONSTANT 16

/* The error of the solution of `order` equations, or of a product with a triangular factor, at this condition
 * number. */
static inline double tolerance_solve(int64_t order, double condition)
{
    return TOLERANCE_CONSTANT * (double)order * DBL_EPSILON * fmax(condition, 1);
}

/* The error of eigenvectors: the rounding error of the matrix divided by the gap to the next eigenvalue, both
 * relative to the largest eigenvalue. */
static inline double tolerance_eigenvector(int64_t order, double relative_gap)
{
    return TOLERANCE_CONSTANT * (double)order * DBL_EPSILON / fmin(relative_gap, 1);
}

/* The error of a result that multiplies relative changes of its input by `sensitivity`, if each of the
 * `order`² entries of the input has a relative error of `precision`. */
static inline double tolerance_sensitivity(int64_t order, double precision, double sensitivity)
{
    return TOLERANCE_CONSTANT * (double)order * precision * fmax(sensitivity, 1);
}

#endif
