/* SPDX-License-Identifier: Apache-2.0 */
/* The rules behind kfe_i_landmarks_choose; call that one. Each writes up to `most` of the candidates to `index`. */
#ifndef KFE_GRAM_LANDMARK_RULES_H
#define KFE_GRAM_LANDMARK_RULES_H

#include "gram/landmark/candidates.h"

kfe_status kfe_i_landmarks_greedy(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from, int64_t most,
                                  int64_t *index, int64_t *count);
kfe_status kfe_i_landmarks_kmeans(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from, int64_t most,
                                  int64_t *index, int64_t *count);

#endif
