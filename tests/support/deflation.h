/* SPDX-License-Identifier: Apache-2.0 */
/* Make problems with real targets and deflate them as the paper does, with every matrix formed. For the tests
 * of the deflation methods. */
#ifndef KFE_TESTS_SUPPORT_DEFLATION_H
#define KFE_TESTS_SUPPORT_DEFLATION_H

#include "support/fit.h"

enum { DEFLATION_ROWS = 30, DEFLATION_TEST_ROWS = 8 };

typedef struct deflation_problem {
    int64_t cols, targets;
    double *x, *test, *y; /* y: rows × targets, not centred */
    double *centred;      /* y minus its column means */
    kfe_data *data, *test_data;
} deflation_problem;

/* Points away from the origin; the targets are smooth functions of the points plus noise. */
deflation_problem deflation_make(kfe_context *ctx, uint64_t seed, int64_t cols, int64_t targets);
/* The same points with two overlapping classes; y is ±1. */
deflation_problem deflation_make_classes(kfe_context *ctx, uint64_t seed, int64_t cols);
void deflation_free(deflation_problem *problem);

/* The unit eigenvector of the largest eigenvalue of a symmetric matrix; returns the eigenvalue. */
double deflation_leading(int64_t n, const double *a, double *vector);
/* a (n × k) ← (I − ττᵀ/τᵀτ)a */
void deflation_remove(int64_t n, int64_t k, const double *tau, double *a);
/* Cosine of the angle between two columns; 1 if they agree up to a positive factor. */
double deflation_cosine(int64_t n, const double *a, int64_t a_step, const double *b, int64_t b_step);

#endif
