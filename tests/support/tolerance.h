/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far results may be from the truth, from the usual bounds of rounding error: a sum of n products in any
 * order is off by at most n·u·Σ|terms|, u = ε/2, and factorisations are backward stable with a modest
 * multiple of n·ε·‖A‖. The constants are no larger than they need be for a mistake to show.
 */
#ifndef KFE_TESTS_SUPPORT_TOLERANCE_H
#define KFE_TESTS_SUPPORT_TOLERANCE_H

#include <float.h>
#include <math.h>
#include <stdint.h>

/* A sum of `count` terms whose magnitudes add up to `magnitude`, each from a few operations. */
static inline double tolerance_sum(int64_t count, double magnitude)
{
    return ((double)count + 8) * DBL_EPSILON * magnitude;
}

/* Squared distances, of points whose squared norms are at most `norm`: by way of dot products. */
static inline double tolerance_distance(int64_t cols, double norm)
{
    return tolerance_sum(cols, 4 * norm);
}

/* The relative error that a squared distance may have however small it is: the share of the norms below which
 * it is computed from differences is 1e-5. */
static inline double tolerance_distance_relative(int64_t cols)
{
    return tolerance_sum(cols, 1) / 1e-5;
}

/* Residuals and orthonormality of factorisations of an n × n matrix of this (Frobenius) norm. */
static inline double tolerance_factorisation(int64_t n, double norm)
{
    return 4 * (double)n * DBL_EPSILON * norm;
}

/* Units in the last place that the vector exponential may be off by: 1 is SLEEF's own, 0.5 the product before
 * it. */
#define TOLERANCE_EXP_ULP 2

/* One rounding to single precision. */
#define TOLERANCE_SINGLE (1.0 / (1 << 24))

/* Relative errors of what a method gives. The bounds of the textbooks have constants that depend on the order
 * of operations; this covers them. */
#define TOLERANCE_CONSTANT 16

/* The solution of a system of `order` equations, or what a triangular factor gives, at this condition number.
 */
static inline double tolerance_solve(int64_t order, double condition)
{
    return TOLERANCE_CONSTANT * (double)order * DBL_EPSILON * fmax(condition, 1);
}

/* Eigenvectors: the rounding of the matrix over the gap to the next eigenvalue, both relative to the largest.
 */
static inline double tolerance_eigenvector(int64_t order, double relative_gap)
{
    return TOLERANCE_CONSTANT * (double)order * DBL_EPSILON / fmin(relative_gap, 1);
}

/* A result that answers a relative change of its input with `sensitivity` times that change, when the input
 * is known to a relative `precision` in each of its `order`² entries. */
static inline double tolerance_sensitivity(int64_t order, double precision, double sensitivity)
{
    return TOLERANCE_CONSTANT * (double)order * precision * fmax(sensitivity, 1);
}

#endif
