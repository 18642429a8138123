/* SPDX-License-Identifier: Apache-2.0 */
/* Test whether two methods, measured on the same splits, differ. */
#ifndef KFE_SELECT_SIGNIFICANCE_H
#define KFE_SELECT_SIGNIFICANCE_H

#include "core/context.h"

typedef struct kfe_i_test_result {
    double mean_difference;
    /* Student's t; ±infinity if all differences are equal but not zero, 0 if all are zero. */
    double statistic;
    double degrees;
    /* Two-sided. NaN with fewer than two pairs, and if all differences are equal but not zero: without a spread the test
     * cannot tell luck from a difference, and three folds that each have one error more prove nothing. */
    double p;
} kfe_i_test_result;

/* Values of one of two methods: values[i * stride] on split i. */
typedef struct kfe_i_tested {
    const double *values;
    int64_t stride;
} kfe_i_tested;

/* Paired t-test of a − b; pairs with a NaN are left out. `test_share` 0: pairs are independent. Else Nadeau & Bengio's corrected resampled
 * t-test: the variance of the mean is s²(1/count + test_share), where test_share is test rows / training rows, because training sets of
 * different splits overlap. */
kfe_i_test_result kfe_i_paired_t(int64_t count, kfe_i_tested a, kfe_i_tested b, double test_share);

#endif
