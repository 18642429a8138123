/* SPDX-License-Identifier: Apache-2.0 */
/* Make a small classification problem for the tests of methods and models: clouds of points with classes and,
 * on request, new points, real targets and kernel matrices. */
#ifndef KFE_TESTS_SUPPORT_SAMPLE_H
#define KFE_TESTS_SUPPORT_SAMPLE_H

#include "support/fit.h"

enum { SAMPLE_KERNELS = 4 };

/* Fields that the test did not request are NULL. */
typedef struct support_sample {
    int64_t rows, cols, test_rows;
    int classes;
    double *x; /* rows × cols */
    int *class_of;
    kfe_data *data;            /* x with its classes */
    double *test;              /* new points without labels, test_rows × cols */
    kfe_data *test_data;       /* wraps `test` */
    int64_t targets;           /* number of real targets */
    double *y;                 /* rows × targets */
    kfe_data *real;            /* x with the real targets */
    double *k[SAMPLE_KERNELS]; /* kernel matrices, rows × rows */
    double *label;             /* targets that a test computes from the classes; freed with the sample */
} support_sample;

typedef struct support_shape {
    uint64_t seed;
    int64_t rows, cols;
    int classes;
    double apart; /* distance between the classes, in standard deviations of a cloud */
    int64_t test_rows;
    uint64_t test_seed;
} support_shape;

/* Makes x, class_of and data, and also test and test_data if there are test rows. */
support_sample support_sample_make(kfe_context *ctx, const support_shape *shape);
/* Sets the real targets (rows × targets) and makes `real`. The sample frees y, which comes from malloc. */
void support_sample_set_targets(kfe_context *ctx, support_sample *s, int64_t targets, double *y);
/* Sets k[i] to the Gaussian kernel matrix exp(−gammas[i]·|x − y|²). */
void support_sample_kernels(support_sample *s, int count, const double *gammas);
/* Centres k[0…count−1]; if `trace_one`, also divides each by its trace. */
void support_sample_centre(support_sample *s, int count, int trace_one);
void support_sample_free(support_sample *s);

#endif
