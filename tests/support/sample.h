/* SPDX-License-Identifier: Apache-2.0 */
/* One small classification problem for the tests of methods and models: clouds of points with their classes,
 * and, where a test asks for them, new points, real targets and kernel matrices. */
#ifndef KFE_TESTS_SUPPORT_SAMPLE_H
#define KFE_TESTS_SUPPORT_SAMPLE_H

#include "support/fit.h"

enum { SAMPLE_KERNELS = 4 };

/* Fields that a test did not ask for are NULL. */
typedef struct support_sample {
    int64_t rows, cols, test_rows;
    int classes;
    double *x; /* rows × cols */
    int *class_of;
    kfe_data *data;            /* x with its classes */
    double *test;              /* test_rows × cols, not labelled */
    kfe_data *test_data;       /* of test */
    int64_t targets;           /* real ones */
    double *y;                 /* rows × targets */
    kfe_data *real;            /* x with the real targets */
    double *k[SAMPLE_KERNELS]; /* kernel matrices, rows × rows */
    double *label;             /* what a test makes of the classes */
} support_sample;

typedef struct support_shape {
    uint64_t seed;
    int64_t rows, cols;
    int classes;
    double apart; /* distance of the classes, in standard deviations of the clouds */
    int64_t test_rows;
    uint64_t test_seed;
} support_shape;

/* x, class_of and data; test and test_data if there are test rows. */
support_sample support_sample_make(kfe_context *ctx, const support_shape *shape);
/* Sets the real targets (rows × targets, by malloc, freed with the sample) and makes `real`. */
void support_sample_set_targets(kfe_context *ctx, support_sample *s, int64_t targets, double *y);
/* k[i]: the Gaussian kernel exp(−gammas[i]·|x − y|²). */
void support_sample_kernels(support_sample *s, int count, const double *gammas);
/* Centres k[0…count−1] and divides each by its trace if `trace_one`. */
void support_sample_centre(support_sample *s, int count, int trace_one);
void support_sample_free(support_sample *s);

#endif
