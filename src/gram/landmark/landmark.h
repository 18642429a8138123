/* SPDX-License-Identifier: Apache-2.0 */
/* Choose landmarks: a few examples whose kernel columns stand for the whole Gram matrix (form/landmarks.h). */
#ifndef KFE_GRAM_LANDMARK_LANDMARK_H
#define KFE_GRAM_LANDMARK_LANDMARK_H

#include "data/table/table.h"
#include "gram/gram.h"

typedef enum kfe_i_landmark_rule {
    KFE_LANDMARKS_RPCHOLESKY, /* randomly pivoted Cholesky */
    KFE_LANDMARKS_RANDOM,     /* a uniform sample */
    KFE_LANDMARKS_SMA,        /* greedily: the best of a few random candidates */
    KFE_LANDMARKS_KMEANS      /* the examples nearest to the centres of clusters */
} kfe_i_landmark_rule;
#define KFE_LANDMARK_RULE_WORDS "rpcholesky|random|sma|kmeans"

typedef struct kfe_i_landmark_plan {
    int64_t count; /* 0: no landmarks */
    kfe_i_landmark_rule rule;
    const int64_t *index;      /* `count` examples that were chosen before; NULL: the rule chooses */
    const kfe_i_row_key *keys; /* of all examples (data/rows/distinct.h); NULL: places decide what is drawn */
    const double *weights;     /* of all examples; NULL: one each */
    int streamed; /* rows of F are asked for by kfe_i_landmark_stream alone, which also measures what the landmarks leave */
} kfe_i_landmark_plan;

/* With very many rows, landmarks are chosen from a random sample: this number of rows for each landmark, and at least this number in all. */
enum { KFE_ROWS_PER_LANDMARK = 20, KFE_LANDMARK_ROWS_LEAST = 2000 };
int kfe_i_landmarks_are_sampled(int64_t rows, int64_t landmarks);

/* Writes up to plan->count (at most n) different examples to `index`, and their number. The rule may stop early,
 * when the examples found span all others. The context's seed and the content of the examples decide (candidates.h). */
kfe_status kfe_i_landmarks_choose(const kfe_i_gram *gram, const kfe_i_landmark_plan *plan, int64_t *index,
                                  int64_t *count);

#endif
