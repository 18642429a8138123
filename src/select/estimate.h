/* SPDX-License-Identifier: Apache-2.0 */
/* Estimate how far a metric may be off: the one standard error behind every ± of a result. */
#ifndef KFE_SELECT_ESTIMATE_H
#define KFE_SELECT_ESTIMATE_H

#include "select/metric.h"
#include "select/splits.h"

/* What ± means, for readers of text. */
#define KFE_STANDARD_ERROR_NOTE "± is the standard error of the mean over the splits"

/* NaN: not available. */
typedef struct kfe_i_estimate {
    double mean;
    double error; /* standard error of the mean */
    double sd;    /* standard deviation over the splits */
} kfe_i_estimate;

/* The splits that a metric was measured on. */
typedef struct kfe_i_extent {
    int64_t count;              /* splits */
    double test_share;          /* mean rows of the test parts over mean rows of the training parts */
    double rows;                /* different rows in the test parts */
    const kfe_i_splits *splits; /* sizes of the test parts, borrowed; NULL: all alike */
} kfe_i_extent;

kfe_status kfe_i_extent_of(kfe_context *ctx, const kfe_i_splits *splits, kfe_i_extent *out);

/* Of one metric: values[s * stride] on split s, NaN where it failed, and variances[s * stride], see
 * kfe_i_metric_measure. */
kfe_i_estimate kfe_i_estimate_over(const kfe_i_extent *extent, const double *values, const double *variances,
                                   int64_t stride);

/* Mean and standard deviation (n − 1) of what is not NaN; NaN where there is too little. */
void kfe_i_mean_sd(int64_t count, const double *values, int64_t stride, double *mean, double *sd);
/* Mean rows of the test parts over mean rows of the training parts, as the corrected t-test wants it. */
double kfe_i_test_share(const kfe_i_splits *splits);

#endif
