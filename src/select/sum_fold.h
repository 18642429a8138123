/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fit one split from sums over rows: the training rows are neither copied nor multiplied. For linear methods with a learner that
 * is fitted from sums too, and for kernel methods on shared landmarks, with any learner. fold.h fits the other splits.
 */
#ifndef KFE_SELECT_SUM_FOLD_H
#define KFE_SELECT_SUM_FOLD_H

#include "select/fold.h"
#include "select/landmark_sums.h"

/* How the folds of a spec are fitted from sums. */
typedef struct kfe_i_sum_plan {
    int usable;            /* 0: they are not */
    int needs_features;    /* some learner takes the features of the training rows */
    kfe_i_scale_kind kind; /* of the scaling, perhaps auto */
} kfe_i_sum_plan;

/* Whether the spec, with these learners in place of its own, can be fitted from sums over the rows of the data. */
kfe_status kfe_i_sum_plan_make(kfe_context *ctx, const kfe_spec *spec, kfe_spec *const *learners,
                               int64_t learner_count, const kfe_data *data, kfe_i_sum_plan *out);

/* The same for kernel methods on shared landmarks. */
kfe_status kfe_i_landmark_plan_make(kfe_context *ctx, const kfe_spec *spec, kfe_spec *const *learners,
                                    int64_t learner_count, const kfe_data *data, kfe_i_sum_plan *out);

/* What splits share: one of them. */
typedef struct kfe_i_sum_source {
    const kfe_i_row_sums *sums; /* of the columns of the data */
    const kfe_i_landmark_sums *landmarks;
} kfe_i_sum_source;

/* As kfe_i_fold_extract; out->sums takes the place of the training features unless they are needed. *done is 0, and `out` empty, if this split needs its rows: digits
 * would be lost, a class has no examples left, or too few landmarks are among its training rows. */
kfe_status kfe_i_sum_fold_extract(kfe_context *ctx, kfe_context *owner, const kfe_i_sum_source *source,
                                  const kfe_i_split *split, const kfe_spec *spec, const kfe_i_sum_plan *plan,
                                  kfe_i_fold *out, int *done);

#endif
