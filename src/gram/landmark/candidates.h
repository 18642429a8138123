/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List the examples that may become landmarks, so that the choice depends on what the rows contain and not on where they stand: the first of
 * each group of equal rows, in a random order that their content decides, with the weight of the group.
 */
#ifndef KFE_GRAM_LANDMARK_CANDIDATES_H
#define KFE_GRAM_LANDMARK_CANDIDATES_H

#include "gram/landmark/landmark.h"

typedef struct kfe_i_landmark_candidates {
    kfe_context *ctx;
    int64_t count;
    int64_t *index; /* the examples; those at the front are a random sample */
    double *mass;   /* the sum of the weights of the examples that each stands for */
} kfe_i_landmark_candidates;

/* The candidates among `rows` examples. Free them also after a failure. */
kfe_status kfe_i_landmark_candidates_make(kfe_context *ctx, int64_t rows, const kfe_i_landmark_plan *plan,
                                          kfe_i_landmark_candidates *out);
void kfe_i_landmark_candidates_free(kfe_i_landmark_candidates *candidates);

#endif
