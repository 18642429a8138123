/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure how well a kernel suits its labels without fitting anything: kfe_i_measure_kernel, then the `value`
 * of a row of the table.
 *
 * The label kernel is T = YYᵀ with Y (n × k)
 *     two classes     one column, +1 for the first class and −1 for the second
 *     more classes    one indicator column per class
 *     real targets    the target columns
 */
#ifndef KFE_SELECT_MEASURE_H
#define KFE_SELECT_MEASURE_H

#include "data/target/target.h"
#include "gram/gram.h"

/* The numbers that the measures are made of, from three passes over the operator. */
typedef struct kfe_i_measured {
    double n;
    double squared_norm;         /* ‖K‖² */
    double centred_squared_norm; /* ‖PKP‖² */
    double centred_trace;        /* tr PKP */
    int has_target;
    double with_target;         /* ⟨K, T⟩, T the label kernel */
    double centred_with_target; /* ⟨PKP, T⟩ */
    double target_norm;         /* ‖T‖ */
    double centred_target_norm; /* ‖PTP‖ */
} kfe_i_measured;

typedef struct kfe_i_measure {
    const char *name;
    const char *summary;
    int needs_target;
    double (*value)(const kfe_i_measured *moments);
} kfe_i_measure;

/* NULL past the end. */
const kfe_i_measure *kfe_i_measure_at(int index);

kfe_status kfe_i_measure_kernel(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                kfe_i_measured *out);

#endif
