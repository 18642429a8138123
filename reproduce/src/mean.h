/* SPDX-License-Identifier: Apache-2.0 */
/* Compute means and standard deviations of numbers that arrive one by one. */
#ifndef REP_MEAN_H
#define REP_MEAN_H

#include <stdint.h>

/* Begin with {0}. NaN values are skipped. */
typedef struct rep_mean {
    int64_t count;
    double mean, squares; /* squares: Σ (value − mean)² */
} rep_mean;

void rep_mean_add(rep_mean *sum, double value);
/* NaN without a value. */
double rep_mean_value(const rep_mean *sum);
/* With n − 1 in the denominator; NaN with fewer than two values. */
double rep_mean_sd(const rep_mean *sum);

#endif
