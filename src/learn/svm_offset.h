/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the offset of an SVM from the residuals r of its examples: the mean of −r over free coefficients. If no coefficient is free, it
 * is the middle of the interval that the others allow; if they bound it on one side only, it is that bound. A coefficient that rounding alone keeps from a
 * bound is at the bound: if all of them are, as with a small C, it must not decide alone. For smo/ and blocks/.
 */
#ifndef KFE_LEARN_SVM_OFFSET_H
#define KFE_LEARN_SVM_OFFSET_H

#include <math.h>
#include <stdint.h>

/* Rounding of a coefficient, relative to its range. */
#define KFE_AT_BOUND 1e-12

typedef struct kfe_i_svm_offset {
    double sum, highest, lowest; /* over free coefficients; of residuals that may rise, and that may fall */
    int64_t inside;
} kfe_i_svm_offset;

static inline kfe_i_svm_offset kfe_i_svm_offset_begin(void)
{
    return (kfe_i_svm_offset){.highest = -INFINITY, .lowest = INFINITY};
}

/* The signed coefficient of an example lies between `least` and `most`. */
static inline void kfe_i_svm_offset_add(kfe_i_svm_offset *o, double residual, double beta, double least,
                                        double most)
{
    double rounding = KFE_AT_BOUND * (most - least);
    int rises = beta < most - rounding;
    int falls = beta > least + rounding;

    if (rises && falls) {
        o->sum -= residual;
        o->inside++;
    }
    if (rises && residual > o->highest)
        o->highest = residual;
    if (falls && residual < o->lowest)
        o->lowest = residual;
}

static inline double kfe_i_svm_offset_end(const kfe_i_svm_offset *o)
{
    if (o->inside > 0)
        return o->sum / (double)o->inside;
    if (isinf(o->highest))
        return -o->lowest;
    return isinf(o->lowest) ? -o->highest : -(o->highest / 2 + o->lowest / 2);
}

#endif
